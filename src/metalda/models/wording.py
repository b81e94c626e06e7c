"""How groups of documents word a topic: the words that set them apart, and how alike they talk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import polygamma

from metalda.errors import InputError
from metalda.meta.label_index import LabelIndex
from metalda.models.chains import in_chain
from metalda.models.curation import merge_words
from metalda.models.estimator import available_if
from metalda.models.fitted import Fitted
from metalda.models.fitted_model import FittedModel
from metalda.models.weights import check_interval
from metalda.samplers.group_topics import (
    N_DRAWS,
    draw_group_concentrations,
    draw_side_logs,
    frequent_words,
    group_totals,
    mean_group_phi,
)

if TYPE_CHECKING:
    import pandas as pd

TYPICAL = 0.01  # probability of the word in a topic for which the difference between groups is stated
_INTERVAL = 0.9


class WordingTables(FittedModel):
    """Methods of models with groups of documents that word topics in their own way."""

    @property
    def wording_groups_(self) -> tuple[str, ...]:
        """Groups of documents that word topics in their own way: the labels of the column `wording`, or none."""
        return self.fitted_.wording

    @property
    def wording_(self) -> pd.DataFrame:
        """How alike groups word each topic, with 90 % intervals.

        A row has the `topic` and its `concentration` c, with the interval `low` to `high`. A group with c tokens in the
        topic words it half by its own tokens and half like all groups. So groups talk alike where c is large. `factor`
        restates c: the probability of a word that has 1 % of the topic typically differs between two groups by this
        factor. The concentration of a merged topic is the geometric mean over its parts, weighted by their tokens.
        Empty without `wording`.
        """
        return concentration_table(self.fitted_)

    @available_if(lambda model: model.wording is not None)
    def group_components(self, group: str) -> NDArray[np.float32]:
        """Return the probabilities of words [topic, word] in a group; rows sum to 1.

        Averaged over groups, by the shares of groups in the tokens of a topic, they are `components_`. After a fit with
        several chains, they are those of the first. The words of a merged topic are the mean of those of its parts,
        weighted by the tokens of the group.
        """
        fitted, number = self.fitted_, find_group(self.fitted_, group)
        phi = mean_group_phi(fitted.draws, fitted.word_prior, number)
        if fitted.curation:
            merged = [place for place, part in enumerate(fitted.parts) if len(part) > 1]
            phi = phi[:, [part[0] for part in fitted.parts]]
            if merged:
                phi[:, merged] = merge_words(
                    fitted.draws,
                    [fitted.parts[place] for place in merged],
                    lambda draw: mean_group_phi((draw,), fitted.word_prior, number),
                    lambda draw: group_totals(draw)[number],
                )
        transposed: NDArray[np.float32] = phi.T
        return transposed

    @available_if(lambda model: model.wording is not None)
    def wording_contrasts(
        self, topic: int | str, first: str, second: str | None = None, top_n: int | None = 10, interval: float = 0.9
    ) -> pd.DataFrame:
        """Return the words that set two groups apart within a topic, the most certain differences first.

        Parameters
        ----------
        topic : int or str
            Number of the topic, or its name.
        first : str
            A group: a label of the column `wording`.
        second : str, optional
            Another group. By default all other groups together, by their shares in the tokens of the topic.
        top_n : int, optional
            Words of each of the two; None for all words with three tokens or more in the topic.
        interval : float
            Posterior probability of the intervals.

        Returns
        -------
        DataFrame
            A row for each word: first those that `first` uses more, then those that `second` uses more. Within each,
            the words whose interval is farthest from 0 come first. `effect` is the median log ratio of the word's
            probabilities in the topic: 0.7 means that `first` uses the word twice as often as `second` when it writes
            about the topic. `low` and `high` are its interval. `probability_first` and `probability_second` are the
            probabilities. With several chains, `chains` is the number of chains that have the topic. A group words a
            merged topic by all its tokens of the parts.

        Examples
        --------
        >>> import pandas as pd
        >>> from metalda import Corpus, MetaLDA
        >>> speeches = pd.DataFrame(
        ...     {
        ...         "text": ["tax relief growth tax relief", "tax fairness growth tax fairness"] * 20,
        ...         "party": ["right", "left"] * 20,
        ...     }
        ... )
        >>> corpus = Corpus.from_frame(speeches, labels="party")
        >>> model = MetaLDA(1, wording="party", n_iter=100, random_state=0, verbose=False).fit(corpus)
        >>> table = model.wording_contrasts(0, "left", "right", top_n=1)
        >>> table[["word", "first", "second"]].values.tolist()
        [['fairness', 'left', 'right'], ['relief', 'left', 'right']]
        """
        fitted = self.fitted_
        pair = find_group(fitted, first), None if second is None else find_group(fitted, second)
        if pair[0] == pair[1]:
            raise InputError(f"{first!r} and {second!r} are the same group; give two groups")
        return contrast_tables(fitted, fitted.find_topic(topic), [pair], top_n, interval)[0]


def require_wording(model: FittedModel) -> WordingTables:
    """Return a model with groups that word topics in their own way; InputError for any other."""
    if not model.fitted_.wording or not isinstance(model, WordingTables):
        raise InputError(
            f"this {type(model).__name__} has no groups of documents with their own wording; fit MetaLDA with wording= "
            "(--wording COLUMN)"
        )
    return model


def find_group(fitted: Fitted, group: str) -> int:
    """Return the number of a group, by its name or by its value in the column."""
    return fitted.wording.index(LabelIndex(fitted.wording, "group").require(group))


def concentration_table(fitted: Fitted) -> pd.DataFrame:
    """Return a row for each topic with its concentration, from the chains that have it."""
    import pandas as pd

    if not fitted.wording:
        return pd.DataFrame(columns=["topic", "concentration", "low", "high", "factor"])
    drawn: list[list[NDArray[np.float64]]] = [[] for _ in range(fitted.n_topics)]
    for chain, parts in _chains(fitted):
        rng, each = np.random.default_rng(chain.seed), _each(chain)
        found = np.log(np.concatenate([draw_group_concentrations(d, each, rng) for d in chain.draws]))
        tokens = np.repeat([draw.topic_totals for draw in chain.draws], each, axis=0).astype(np.float64)
        for topic, part in enumerate(map(list, parts)):
            if len(part) == 1:
                drawn[topic].append(found[:, part[0]])
            elif part:
                shares = tokens[:, part] + 1e-9  # of an empty topic as well
                drawn[topic].append((found[:, part] * shares).sum(axis=1) / shares.sum(axis=1))
    logs = [np.concatenate(own) for own in drawn]
    ends = np.array([np.quantile(own, [(1 - _INTERVAL) / 2, 0.5, (1 + _INTERVAL) / 2]) for own in logs])
    low, middle, high = np.exp(ends.T)
    factor = np.exp(np.sqrt(2 * polygamma(1, TYPICAL * middle)))
    columns = {"concentration": middle, "low": low, "high": high, "factor": factor}
    table = pd.DataFrame({**fitted.named(np.arange(fitted.n_topics)), **columns})
    return table.assign(chains=fitted.chain_counts) if fitted.chains else table


Pair = tuple[int, int | None]  # two groups, or a group and all others


def contrast_tables(
    fitted: Fitted, topic: int, pairs: Sequence[Pair], top_n: int | None = 10, interval: float = 0.9
) -> list[pd.DataFrame]:
    """Return log ratios of the probabilities of words in pairs of groups, with intervals over draws of the topic."""
    check_interval(interval)
    if top_n is not None and top_n < 1:
        raise InputError(f"top_n must be at least 1, not {top_n}")
    chains = [(chain, parts[topic]) for chain, parts in _chains(fitted) if parts[topic]]
    words = np.unique(np.concatenate([frequent_words(chain.draws, part) for chain, part in chains]))
    found = []
    for pair in pairs:
        logs = np.concatenate([_draw_logs(chain, own, words, pair) for chain, own in chains])
        table = _contrasts(fitted, topic, words, pair, logs, top_n, interval)
        found.append(table.assign(chains=len(chains)) if fitted.chains else table)
    return found


def _contrasts(
    fitted: Fitted,
    topic: int,
    words: NDArray[np.int64],
    pair: Pair,
    logs: NDArray[np.float64],
    top_n: int | None,
    interval: float,
) -> pd.DataFrame:
    """Return the table of one pair, given draws of log probabilities [draw, side, word]."""
    import pandas as pd

    first, second = pair
    ratios = logs[:, 0] - logs[:, 1]
    low, high = np.quantile(ratios, [(1 - interval) / 2, (1 + interval) / 2], axis=0)
    effect, probabilities = np.median(ratios, axis=0), np.exp(logs).mean(axis=0)
    table = pd.DataFrame(
        {
            "first": fitted.wording[first],
            "second": "all others" if second is None else fitted.wording[second],
            **{name: column[0] for name, column in fitted.named(np.array([topic])).items()},
            "word": [fitted.vocabulary[v] for v in words],
            "effect": effect,
            "low": low,
            "high": high,
            "probability_first": probabilities[0],
            "probability_second": probabilities[1],
        }
    )
    certain = np.argsort(-np.maximum(low, -high), kind="stable")
    sides = [certain[effect[certain] > 0], certain[effect[certain] <= 0]]
    table = table.iloc[np.concatenate([own[:top_n] for own in sides])].reset_index(drop=True)
    table.attrs["n_draws"] = len(ratios)
    return table


def _draw_logs(chain: Fitted, part: tuple[int, ...], words: NDArray[np.int64], pair: Pair) -> NDArray[np.float64]:
    """Return draws of log probabilities of words [draw, side, word] for the two sides of a pair.

    The pair in the other order has the same draws. A side words a merged topic by the mean over the parts of the topic,
    weighted by its tokens in the draw.
    """
    first, second = pair
    rest = [group for group in range(len(chain.wording)) if group not in pair]
    if second is None:
        sides, order = [[first], rest], [0, 1]
    else:
        sides = [[min(first, second)], [max(first, second)], *([rest] if rest else [])]
        order = [0, 1] if first < second else [1, 0]
    each = []
    for topic in part:
        rng = np.random.default_rng([chain.seed, topic, *sides[0], *sides[1]])
        each.append(draw_side_logs(chain.draws, chain.word_prior, topic, words, sides, rng)[:, order])
    if len(part) == 1:
        return each[0]
    shares = _shares_of_parts(chain, part, [sides[side] for side in order])
    averages = np.einsum("dsk,kdsv->dsv", shares, np.exp(each))
    logarithms: NDArray[np.float64] = np.log(np.maximum(averages, 1e-300))
    return logarithms


def _shares_of_parts(chain: Fitted, part: tuple[int, ...], sides: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Return the shares of parts in the tokens of a topic on each side [draw, side, part]; equal without tokens."""
    totals = [group_totals(draw)[:, list(part)] for draw in chain.draws]
    tokens = np.array([[own[list(groups)].sum(axis=0) for groups in sides] for own in totals])
    tokens = np.where(tokens.any(axis=2, keepdims=True), tokens, 1.0)
    shares: NDArray[np.float64] = tokens / tokens.sum(axis=2, keepdims=True)
    return np.repeat(shares, _each(chain), axis=0)


def _each(chain: Fitted) -> int:
    """Return how many topics are drawn from each kept state."""
    return math.ceil(N_DRAWS / len(chain.draws))


def _chains(fitted: Fitted) -> list[tuple[Fitted, list[tuple[int, ...]]]]:
    """Return every chain, with its topics that each topic of the model consists of; none if the chain lacks one."""
    if fitted.partners is None:
        return [(fitted, fitted.parts)]
    return [
        (chain, [in_chain(partners, part) for part in fitted.parts])
        for chain, partners in zip(fitted.chains, fitted.partners, strict=True)
    ]
