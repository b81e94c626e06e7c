"""The section of a report on wording: the words that set groups of documents apart, topic by topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metalda.models.wording import WordingTables, contrast_tables
from metalda.report.values import Numbers, cut, rounded, significant
from metalda.samplers.group_topics import group_totals
from metalda.utils.threads import count_jobs, thread_map

if TYPE_CHECKING:
    import pandas as pd

    from metalda.models.base import TopicModel

_WORDS = 12  # on each side of a contrast
_MAX_CONTRASTS = 600  # in the report; of more groups and topics, the largest groups are shown


@dataclass(frozen=True)
class Contrast:
    """The words that a group uses more, or less, than all other groups in a topic."""

    words: tuple[str, ...]  # those of the group first, then those of the others
    effect: Numbers  # log ratio
    low: Numbers
    high: Numbers
    own: Numbers  # probability in the group, and in all others
    others: Numbers


@dataclass(frozen=True)
class WordingSection:
    """Groups of documents that word topics in their own way."""

    column: str
    groups: tuple[str, ...]  # the largest
    n_groups: int
    concentration: Numbers  # by topic
    low: Numbers
    high: Numbers
    factor: Numbers
    contrasts: tuple[tuple[Contrast, ...], ...]  # [topic][group]


def summarize_wording(model: TopicModel, interval: float) -> WordingSection | None:
    """Summarize how groups word the topics; None for a model without groups."""
    groups, n_topics = model.fitted_.wording, len(model.components_)
    if not groups or not isinstance(model, WordingTables):
        return None
    shown = _largest(model, max(_MAX_CONTRASTS // n_topics, 2))
    table = model.wording_
    pairs = [(group, None) for group in shown]

    def contrast(topic: int) -> tuple[Contrast, ...]:
        return tuple(map(_contrast, contrast_tables(model.fitted_, topic, pairs, _WORDS, interval)))

    contrasts = tuple(thread_map(contrast, range(n_topics), count_jobs(model.n_jobs)))
    return WordingSection(
        column=cut(str(model.get_params(deep=False)["wording"])),
        groups=tuple(cut(groups[group]) for group in shown),
        n_groups=len(groups),
        concentration=significant(table["concentration"], 3),
        low=significant(table["low"], 3),
        high=significant(table["high"], 3),
        factor=significant(table["factor"], 3),
        contrasts=contrasts,
    )


def _largest(model: TopicModel, n: int) -> list[int]:
    """Return the groups with the most tokens, in the order of the model."""
    sizes = group_totals(model.draws_[-1]).sum(axis=1)
    return sorted(np.argsort(-sizes, kind="stable")[:n].tolist())


def _contrast(table: pd.DataFrame) -> Contrast:
    return Contrast(
        words=tuple(map(cut, table["word"])),
        effect=rounded(table["effect"], 2),
        low=rounded(table["low"], 2),
        high=rounded(table["high"], 2),
        own=significant(table["probability_first"], 3),
        others=significant(table["probability_second"], 3),
    )
