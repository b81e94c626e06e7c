"""The result of training, frozen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import Schema
from metalda.errors import InputError
from metalda.meta.design import Design
from metalda.models.background import find_background
from metalda.models.chains import NO_PARTNER, average_proportions, average_topics, match_chains
from metalda.models.curation import Curation, Floats, Parts, sum_parts
from metalda.priors import LogLinear
from metalda.samplers import Draw
from metalda.utils.checks import Arrays

if TYPE_CHECKING:
    pass

BACKGROUND = "(background: rare words without a theme)"  # instead of the words of a background topic
Parameters: TypeAlias = Mapping[str, Any]  # of an estimator by name; scikit-learn's constraints check the values


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of training. `TopicModel` builds it after `fit`, `load` and the Mallet import.

    With several chains, `chains` has the result of each. phi and doc_topics are then averaged over the chains, and all
    other values are those of the first chain.

    With a curation, phi, doc_topics, topic_names and what follows from them have the topics that are shown: see
    `topic_numbers`. Draws, weights and chains are always those of `trained`.
    """

    draws: tuple[Draw, ...]  # posterior samples, in the order of the chain
    weights: Mapping[str, NDArray[np.float32]]  # of "label" and "feature" [draw, l, k], of more iterations than draws
    phi: NDArray[np.float32]  # [word, topic], averaged over draws
    proportions: Callable[[], NDArray[np.float32]]  # returns doc_topics; a saved model reads them when they are needed
    vocabulary: tuple[str, ...]
    doc_prior: LogLinear  # alpha of the training documents
    word_prior: LogLinear  # beta of the vocabulary
    history: Arrays  # columns of `history_`
    schema: Schema | None  # how raw data became a corpus; None if tokens or counts were given
    seed: int
    n_iter: int  # iterations done; 0 if another program trained the model
    n_shards: int
    named_words: bool  # False if the vocabulary only numbers the columns of a matrix
    topic_names: tuple[str | None, ...] = ()  # None for a topic without a name; empty if no topic has one
    parameters: Parameters = field(default_factory=dict)  # at the time of `fit`, which `save` writes
    chains: tuple[Fitted, ...] = ()  # empty for a single chain
    partners: NDArray[np.int64] | None = None  # [chain, topic] the same topic in each chain, or NO_PARTNER
    wording: tuple[str, ...] = ()  # groups of documents that word topics in their own way
    curation: Curation = field(default_factory=Curation)
    before_curation: Fitted | None = None

    @cached_property
    def doc_topics(self) -> NDArray[np.float32]:
        """Return theta of the training documents, averaged over draws."""
        return self.proportions()

    @property
    def trained(self) -> Fitted:
        """Return the result without the curation: all topics as the sampler has them."""
        return self.before_curation or self

    def curate(self, curation: Curation, phi: NDArray[np.float32]) -> Fitted:
        """Return the result with a curation, which was checked, and phi [word, shown topic]."""
        trained = self.trained
        if not curation:
            return trained
        parts = curation.parts(trained.n_topics)
        names = tuple(curation.name_of(part, trained.topic_names) for part in parts)
        return replace(
            trained,
            phi=phi,
            proportions=partial(_proportions_of_parts, trained, parts),
            topic_names=names if any(names) else (),
            curation=curation,
            before_curation=trained,
        )

    @cached_property
    def parts(self) -> list[tuple[int, ...]]:
        """Return of each topic the topics of `trained` that it consists of: itself, unless it was merged."""
        return self.curation.parts(self.trained.n_topics)

    @cached_property
    def topic_numbers(self) -> NDArray[np.int64]:
        """Return the number of each topic. Topics keep the numbers of training: hidden topics leave gaps."""
        return np.array([part[0] for part in self.parts], np.int64)

    @property
    def column_names(self) -> list[str]:
        """Return the name of each topic, or topic0, topic1, … by its number."""
        names = self.topic_names or [None] * self.n_topics
        return [name or f"topic{number}" for name, number in zip(names, self.topic_numbers, strict=True)]

    def sum_parts(self, values: Floats) -> Floats:
        """Return values [..., topic], the sums of values [..., topic of `trained`]."""
        return sum_parts(values, self.parts) if self.curation else values

    def named(self, topics: NDArray[np.int64]) -> dict[str, NDArray[np.generic]]:
        """Return columns of a table, given topics by position: their numbers and, if topics have names, the names."""
        columns: dict[str, NDArray[np.generic]] = {"topic": self.topic_numbers[topics]}
        if self.topic_names:
            columns["name"] = np.array([name or "" for name in self.topic_names], dtype=object)[topics]
        return columns

    @classmethod
    def pool(cls, chains: Sequence[Fitted], groups: NDArray[np.int64], parameters: Parameters) -> Fitted:
        """Return the result of several chains, given the groups of topics that are exchangeable."""
        partners = match_chains([chain.phi for chain in chains], groups)
        return replace(
            chains[0],
            phi=average_topics([chain.phi for chain in chains], partners),
            proportions=partial(_average_proportions, tuple(chains), partners),
            parameters=parameters,
            chains=tuple(chains),
            partners=partners,
        )

    @cached_property
    def chain_counts(self) -> NDArray[np.int64]:
        """Return the number of chains that have each topic; of a merged one, all its parts."""
        if self.partners is None:
            return np.ones(self.n_topics, np.int64)
        has = self.partners != NO_PARTNER
        return np.array([has[:, part].all(axis=1).sum() for part in map(list, self.parts)], np.int64)

    @property
    def labels(self) -> Design:
        """Return the labels of the training documents."""
        return self.doc_prior.design

    @property
    def features(self) -> Design:
        """Return the features of the vocabulary."""
        return self.word_prior.design

    @property
    def label_names(self) -> tuple[str, ...]:
        """Return the names of labels, without the default label."""
        return self.labels.names[:-1]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the names of word features, without the default feature."""
        return self.features.names[:-1]

    @property
    def n_topics(self) -> int:
        return int(self.phi.shape[1])

    def find_topic(self, topic: int | str) -> int:
        """Return the position of a topic, given its number or its name; InputError if there is none.

        The position is that in phi, doc_topics and the other values: the number, unless topics are hidden or merged.
        """
        if isinstance(topic, str):
            if topic in self.topic_names:
                return self.topic_names.index(topic)
            if (hidden := next((k for k in self.curation.hidden if self.all_names[k] == topic), None)) is not None:
                raise InputError(self._hidden(hidden))
            known = ", ".join(repr(name) for name in self.topic_names if name is not None)
            raise InputError(f"no topic is named {topic!r}; " + (f"names are: {known}" if known else "give its number"))
        whole = self._whole(topic)
        if whole in self.curation.hidden:
            raise InputError(self._hidden(whole))
        if whole != topic:
            raise InputError(f"topic {topic} was merged into topic {whole}: give that number")
        return self._positions[whole]

    def find_hidden(self, topic: int | str) -> int:
        """Return the number of a hidden topic, given its number or its name; InputError if there is none."""
        if isinstance(topic, str):
            found = [number for number in self.curation.hidden if self.all_names[number] == topic]
        else:
            found = [number for number in (self._whole(topic),) if number in self.curation.hidden]
        if not found:
            hidden = ", ".join(map(self._title, sorted(self.curation.hidden)))
            raise InputError(f"topic {topic!r} is not hidden; hidden topics are: {hidden or 'none'}")
        return found[0]

    def _whole(self, topic: int) -> int:
        """Return the number of the topic that a topic of training is now part of, or itself."""
        n_topics = self.trained.n_topics
        if isinstance(topic, bool) or not isinstance(topic, int | np.integer) or not 0 <= topic < n_topics:
            raise InputError(f"no topic {topic!r}; topics are numbered 0 to {n_topics - 1}")
        return self._wholes[int(topic)]

    @cached_property
    def _wholes(self) -> dict[int, int]:
        return {topic: group[0] for group in self.curation.groups(self.trained.n_topics) for topic in group}

    def _title(self, number: int) -> str:
        """Return the number of a topic and its name, if it has one."""
        name = self.all_names[number]
        return str(number) if name is None else f"{number} ({name!r})"

    def _hidden(self, number: int) -> str:
        title = self._title(number)
        return f"topic {title} is hidden; show([{number}]) (metalda curate --show {number}) shows it again"

    @cached_property
    def all_names(self) -> dict[int, str | None]:
        """Return the names of all topics by number, also of hidden ones."""
        groups, given = self.curation.groups(self.trained.n_topics), self.trained.topic_names
        return {group[0]: self.curation.name_of(group, given) for group in groups}

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {part[0]: position for position, part in enumerate(self.parts)}

    @cached_property
    def word_index(self) -> dict[str, int]:
        """Return the row of phi by word."""
        return {word: v for v, word in enumerate(self.vocabulary)}

    @cached_property
    def topic_shares(self) -> NDArray[np.float64]:
        """Return the share of each topic in the training tokens, averaged over draws and chains."""
        if self.before_curation is not None:
            return np.asarray(self.sum_parts(self.before_curation.topic_shares), np.float64)
        if self.partners is not None:
            each = [chain.topic_shares[None].astype(np.float32) for chain in self.chains]
            averages = average_proportions(each, self.partners)
            return np.asarray(averages[0], np.float64)
        totals = np.mean([draw.topic_totals for draw in self.draws], axis=0)
        shares: NDArray[np.float64] = totals / max(totals.sum(), 1)
        return shares

    @cached_property
    def word_probabilities(self) -> NDArray[np.float64]:
        """Return p(word) over all topics of training, so that hiding and merging topics do not change it."""
        shares = self.trained.topic_shares
        marginal: NDArray[np.float64] = (shares / max(shares.sum(), np.finfo(np.float64).tiny)) @ self.trained.phi.T
        return marginal

    @property
    def phi_sums(self) -> NDArray[np.float64]:
        """Return the sums of phi [word] over all topics of training, hidden ones included.

        With merged topics they are [topic, word]: a merged topic itself counts once, instead of its parts.
        """
        phi = np.asarray(self.trained.phi.T, np.float64)
        total: NDArray[np.float64] = phi.sum(axis=0)
        if not self.curation.merged:
            return total
        sums = np.repeat(total[None], self.n_topics, axis=0)
        for place, part in enumerate(self.parts):
            if len(part) > 1:
                sums[place] += self.phi[:, place] - phi[list(part)].sum(axis=0)
        return sums

    @cached_property
    def is_background(self) -> NDArray[np.bool_]:
        """Return which topics are background topics, without a theme."""
        return find_background(self.draws, self.parts)

    @property
    def hidden_share(self) -> float:
        """Return the share of hidden topics in the training tokens."""
        return float(self.trained.topic_shares.sum() - self.topic_shares.sum()) if self.curation.hidden else 0.0


def _proportions_of_parts(trained: Fitted, parts: Parts) -> NDArray[np.float32]:
    return sum_parts(trained.doc_topics, parts)


def _average_proportions(chains: Sequence[Fitted], partners: NDArray[np.int64]) -> NDArray[np.float32]:
    return average_proportions([chain.doc_topics for chain in chains], partners)
