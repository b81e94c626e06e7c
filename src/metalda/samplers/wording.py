"""Topics that every group of documents words in its own way: the sampler of MetaLDA with `wording`.

A word in a group is a word of its own: v of group g is ``v * n_groups + g``. Its Dirichlet parameter c[k] phi[k, v] is
the same in all groups. So the sampler of tokens sweeps documents, group after group, in threads or on a cluster. What
groups share is drawn between the sweeps: phi[k], which is never kept, because it follows from the tables; the tables,
which are the counts from which phi[k] and the prior of words learn; and the concentrations c[k].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.kernels.border import Kernel, frozen
from metalda.kernels.wording import (
    accept_factors,
    add_word_changes,
    draw_concentrations,
    draw_log_gammas,
    group_tables,
)
from metalda.meta.design import DEFAULT, Design
from metalda.priors import Alpha, Beta, LearnsFromDocuments, LogLinear
from metalda.priors.loglinear import Statistics
from metalda.samplers.base import Assignment, Problem, check_topics
from metalda.samplers.counts import PackedCounts, TopicCounts, Topics
from metalda.samplers.draws import Draw, check_tables
from metalda.samplers.tokens import TokenAssignment, Tokens
from metalda.utils.checks import Array, Arrays, check_array, check_ascending, check_indices, check_keys, check_range
from metalda.utils.chunks import spans, tally
from metalda.utils.threads import RunEach

SHAPE, RATE = 0.1, 1e-5  # of the gamma prior of c[k]: nearly flat on the scale of log c[k], up to about 100,000
LEAST, MOST = 1e-9, 1e12  # of c[k]
FLOOR = np.float32(1e-28)  # of c[k] phi[k, v]; denormal products of smaller values would make sweeps five times slower
STEPS = (0.05, 0.3, 1.5)  # standard deviations of proposed moves of log c[k]
_TABLES = ("table_sizes", "table_topics", "table_counts")


class Shared(LogLinear):
    """Dirichlet parameters c[k] phi[k, v] of words in groups. Their log weights are their logarithms [word, topic]."""

    @classmethod
    def of(cls, n_words: int, n_groups: int) -> Shared:
        """Return the prior of words in groups: all groups have the parameters of the word."""
        row_of = np.repeat(np.arange(n_words, dtype=np.int32), n_groups)
        rows = sparse.csr_array(np.ones((n_words, 1)))
        return cls(Design.from_rows((DEFAULT,), row_of, rows), 1.0)

    def beta(self, log_weights: Array, bounds: object = ()) -> Beta:
        """Return the parameters; their sums over words are c[k]."""
        values = np.exp(np.maximum(log_weights, np.log(FLOOR)))
        sums = values.sum(axis=0, dtype=np.float64)
        return Beta(values, sums, sums, log_weights)


@dataclass(frozen=True, eq=False)
class GroupTokens(Tokens):
    """Draws every token given the counts of its document's group, and the concentrations and tables of all topics."""

    groups: NDArray[np.int32]  # of every document
    n_groups: int
    initial_sweeps: int = 0  # without groups
    shape: float = SHAPE  # of the gamma prior of c[k]
    rate: float = RATE

    kernels: ClassVar[tuple[Kernel, ...]] = (
        *Tokens.kernels,
        draw_log_gammas,
        add_word_changes,
        accept_factors,
        group_tables,
        draw_concentrations,
    )

    def start(self, problem: Problem, rng: np.random.Generator, n_threads: int) -> Assignment:
        """Return an assignment with random topics.

        The initial sweeps are those of the model without groups, so that all groups learn the same topics. From the
        start, a topic could become sport in one group and war in another. The sampler without groups also mixes faster,
        because it has no phi.
        """
        made = GroupAssignment.without_groups(problem, self, super().start(problem, rng, n_threads))
        if self.initial_sweeps == 0:
            made.tell_groups()
        return made

    def restore(self, problem: Problem, arrays: Arrays, n_threads: int) -> Assignment:
        if "concentrations" not in arrays:  # in the initial sweeps
            return GroupAssignment.without_groups(problem, self, super().restore(problem, arrays, n_threads))
        check_keys("the assignment", arrays, ("topics", "concentrations", *_TABLES))
        check_topics(problem, arrays["topics"])
        check_concentrations(arrays["concentrations"], (problem.n_topics,))
        tokens = TokenAssignment(self.by_group(problem), arrays["topics"].copy())
        packed = PackedCounts(*(arrays[name] for name in _TABLES))
        _check_tables(packed, problem, tokens.counts.to_matrix(), self.n_groups)
        tables = self.fill_tables(problem, packed)
        return GroupAssignment(problem, self, tokens, tables, arrays["concentrations"].copy())

    def by_group(self, problem: Problem) -> Problem:
        """Return the problem in which a word in a group is a word of its own."""
        n_groups, words = self.n_groups, np.empty(len(problem.words), np.int32)
        for first, last in spans(problem.offsets):
            tokens = slice(int(problem.offsets[first]), int(problem.offsets[last]))
            own = np.repeat(self.groups[first:last], np.diff(problem.offsets[first : last + 1]))
            words[tokens] = problem.words[tokens] * np.int32(n_groups) + own
        return replace(
            problem,
            words=words,
            n_words=problem.n_words * n_groups,
            word_prior=Shared.of(problem.n_words, n_groups),
            sampler=Tokens(),
            corpus_words=None,
            n_groups=n_groups,
        )

    def fill_tables(self, problem: Problem, packed: PackedCounts) -> TopicCounts:
        """Return lists of tables, with room for all that a word can have."""
        room = np.minimum(tally(problem.words, problem.n_words), problem.n_topics)
        starts = frozen(np.concatenate([[0], np.cumsum(room)]), np.int64)
        totals = np.bincount(packed.topics, packed.counts, minlength=problem.n_topics).astype(np.int64)
        tables = TopicCounts(
            starts,
            np.zeros(problem.n_words, np.int32),
            np.zeros(starts[-1], np.uint16),
            np.zeros(starts[-1], np.int32),
            totals,
            problem.word_prior.design,
        )
        tables.unpack(0, problem.n_words, packed)
        return tables

    def check_extra(self, extra: Arrays, n_draws: int, n_topics: int) -> None:
        check_extra(extra, n_draws, n_topics)

    @property
    def n_wording_groups(self) -> int:
        return self.n_groups

    @property
    def inputs(self) -> tuple[NDArray[np.generic], ...]:
        return (self.groups,)

    def memory(self, problem: Problem, n_threads: int) -> int:
        """Return the bytes of words in groups, of their lists, and of log phi and phi."""
        lists = self.n_groups * (16 * problem.n_words + 6 * problem.n_cells)
        return 4 * len(problem.words) + lists + 8 * problem.n_words * problem.n_topics

    def draw_memory(self, problem: Problem) -> int:
        """Return the bytes of n[k, g, v], of which there are at most as many as tokens."""
        return 8 * min(len(problem.words), self.n_groups * problem.n_cells) + 4 * self.n_groups * problem.n_words


class GroupAssignment(Assignment):
    """Topics of tokens, the tables of words, and the concentrations of topics."""

    def __init__(
        self,
        problem: Problem,
        sampler: GroupTokens,
        tokens: Assignment,
        tables: TopicCounts | None,
        concentrations: NDArray[np.float64],
    ) -> None:
        self.problem = problem
        self.sampler = sampler
        self.concentrations = concentrations  # c[k]
        self._tables = tables  # None in the initial sweeps
        self._tokens = tokens

    @classmethod
    def without_groups(cls, problem: Problem, sampler: GroupTokens, tokens: Assignment) -> GroupAssignment:
        """Return the assignment of the initial sweeps."""
        start = max(len(problem.words) / problem.n_topics, 1.0)  # groups are mostly worded alike
        return cls(problem, sampler, tokens, None, np.full(problem.n_topics, start))

    def tell_groups(self) -> None:
        """Count the words of groups from now on. Every token begins with a table of its own, as if c[k] were large."""
        self._tables = self._first_tables()
        self._tokens = self._tokens.restart(self.sampler.by_group(self.problem))

    def _first_tables(self) -> TopicCounts:
        return self.sampler.fill_tables(self.problem, self._tokens.counts.pack(0, self.problem.n_words))

    @property
    def counts(self) -> TopicCounts:  # type: ignore[override]
        """Return the sums of t[k, g, v] over groups, from which the prior of words learns; at first n[k, v]."""
        return self._tokens.counts if self._tables is None else self._tables

    @property
    def tokens(self) -> Assignment:
        return self._tokens

    def with_tokens(self, tokens: Assignment) -> Assignment:
        return GroupAssignment(self.problem, self.sampler, tokens, self._tables, self.concentrations)

    @property
    def topics(self) -> Topics:  # type: ignore[override]
        return self._tokens.topics

    @property
    def arrays(self) -> Arrays:
        if self._tables is None:
            return {"topics": self.topics}
        packed = self._tables.pack(0, self.problem.n_words)
        tables: dict[str, NDArray[np.generic]] = dict(zip(_TABLES, packed, strict=True))
        return {"topics": self.topics, "concentrations": self.concentrations.copy(), **tables}

    def sweep(
        self, alpha: Alpha, beta: Beta, rngs: Sequence[np.random.Generator], run: RunEach, n_sweeps: int
    ) -> tuple[int, float]:
        """Draw phi, then every token, then tables and concentrations.

        The initial sweeps are those of the model without groups.

        phi follows from the tables, so it is drawn after the prior of words has learned from them, at the beginning of
        the next sweep. The log-likelihood is log p(w, z | alpha, phi, c).
        """
        if self._tables is None:
            if n_sweeps < self.sampler.initial_sweeps:
                return self._tokens.sweep(alpha, beta, rngs, run, n_sweeps)
            self.tell_groups()
        shared = self.draw_shared(beta, rngs, run)
        moved, log_likelihood = self._tokens.sweep(alpha, shared, rngs, run, n_sweeps)
        shared = self.move_concentrations(shared, rngs, run)
        self.draw_tables(shared, rngs, run)
        self.draw_concentrations(rngs[0])
        return moved, log_likelihood

    def observe_documents(
        self, prior: LearnsFromDocuments, alpha: Alpha, rngs: Sequence[np.random.Generator], run: RunEach
    ) -> list[Statistics]:
        return self._tokens.observe_documents(prior, alpha, rngs, run)

    def draw_shared(self, beta: Beta, rngs: Sequence[np.random.Generator], run: RunEach) -> Beta:
        """Draw phi[k] ~ Dirichlet(beta[k] + t[k]), and return c[k] phi[k, v] as the parameters of words in groups."""
        log_phi = np.empty((self.problem.n_words, self.problem.n_topics), np.float32)
        values, tables = frozen(beta.values, np.float32), self.counts

        def draw(s: int) -> None:
            rows = frozen(tables.design.row_of, np.int32)
            draw_log_gammas(*_frozen_lists(tables), rows, values, *self._words_of(s), log_phi, rngs[s])

        list(run(draw, range(len(rngs))))
        log_phi -= log_phi.max(axis=0)
        totals = np.exp(np.maximum(log_phi, np.log(FLOOR))).sum(axis=0, dtype=np.float64)
        log_phi += np.log(self.concentrations / totals).astype(np.float32)
        parameters: Array = log_phi  # in single precision, because a cluster sends them
        return self._tokens.problem.word_prior.beta(parameters)

    def move_concentrations(self, shared: Beta, rngs: Sequence[np.random.Generator], run: RunEach) -> Beta:
        """Move c[k] by a Metropolis step, given the counts of groups and phi; returns the new c[k] phi[k, v].

        Given the tables, as in `draw_concentrations`, c[k] changes by a few percent in a sweep. Without them it can
        change by any factor.
        """
        counts, n_groups, n_topics = self._tokens.counts, self.sampler.n_groups, self.problem.n_topics
        steps = rngs[0].choice(STEPS, n_topics) * rngs[0].standard_normal(n_topics)
        factors = np.clip(self.concentrations * np.exp(steps), LEAST, MOST) / self.concentrations
        values, lists = frozen(shared.values, np.float32), _frozen_lists(counts)

        def add(s: int) -> NDArray[np.float64]:
            changes = np.zeros(n_topics)
            add_word_changes(*lists, n_groups, values, frozen(factors, np.float64), *self._words_of(s), changes)
            return changes

        changes = frozen(sum(run(add, range(len(rngs)))), np.float64)
        group_totals = frozen(np.atleast_2d(counts.topic_totals), np.int64)
        prior = float(self.sampler.shape), float(self.sampler.rate)
        accept_factors(group_totals, changes, factors, *prior, self.concentrations, rngs[0])
        return shared._replace(values=np.maximum(shared.values * factors.astype(np.float32), FLOOR))

    def draw_tables(self, shared: Beta, rngs: Sequence[np.random.Generator], run: RunEach) -> None:
        """Draw t[k, g, v] ~ CRP(c[k] phi[k, v], n[k, g, v]), and keep their sums over groups."""
        counts, tables, n_groups = self._tokens.counts, self.counts, self.sampler.n_groups
        values, lists = frozen(shared.values, np.float32), _frozen_lists(counts)

        def draw(s: int) -> NDArray[np.int64]:
            totals = np.zeros(self.problem.n_topics, np.int64)
            own = tables.starts, tables.sizes, tables.topics, tables.counts, totals
            group_tables(*lists, n_groups, values, *self._words_of(s), *own, rngs[s])
            return totals

        tables.topic_totals[:] = sum(run(draw, range(len(rngs))))

    def draw_concentrations(self, rng: np.random.Generator) -> None:
        """Draw c[k], given the tables and the tokens of groups."""
        group_totals = frozen(np.atleast_2d(self._tokens.counts.topic_totals), np.int64)
        table_totals = frozen(self.counts.topic_totals, np.int64)
        prior = float(self.sampler.shape), float(self.sampler.rate)
        draw_concentrations(group_totals, table_totals, *prior, self.concentrations, rng)
        np.clip(self.concentrations, LEAST, MOST, out=self.concentrations)

    def keep(self, alpha: Alpha, beta: Beta) -> Draw:
        """Return the draw with the tables as counts of words, and with the counts of groups and the concentrations."""
        if self._tables is None:  # Ctrl-C ended the initial sweeps; a checkpoint of this state goes on with them
            tokens = TokenAssignment(self.sampler.by_group(self.problem), self.topics)
            told = GroupAssignment(self.problem, self.sampler, tokens, self._first_tables(), self.concentrations)
            return told.keep(alpha, beta)
        counts = self._tokens.counts
        return replace(
            super().keep(alpha, beta),
            topic_totals=np.atleast_2d(counts.topic_totals).sum(axis=0),
            group_counts=counts.to_matrix(),
            extra={"concentrations": self.concentrations.copy()},
        )

    def _words_of(self, s: int) -> tuple[int, int]:
        """Return the word group that is drawn with the generator of shard s: first word, and end."""
        bounds = self.problem.word_groups
        return int(bounds[s]), int(bounds[s + 1])


def _frozen_lists(
    counts: TopicCounts,
) -> tuple[NDArray[np.int64], NDArray[np.int32], Topics, NDArray[np.int32]]:
    sizes, topics, numbers = counts.sizes, counts.topics, counts.counts
    return counts.starts, frozen(sizes, np.int32), frozen(topics, np.uint16), frozen(numbers, np.int32)


def check_concentrations(concentrations: Array, shape: tuple[int | None, ...]) -> None:
    """Raise StorageError unless these are concentrations of topics."""
    check_array("concentrations", concentrations, np.float64, shape)
    check_range("concentrations", concentrations, LEAST, MOST)


def check_extra(extra: Arrays, n_draws: int, n_topics: int) -> None:
    """Raise StorageError unless the draws have a concentration for each topic."""
    check_keys("the draws", extra, ("concentrations",))
    check_concentrations(extra["concentrations"], (n_draws, n_topics))


def _check_tables(packed: PackedCounts, problem: Problem, counts: sparse.csr_array, n_groups: int) -> None:
    """Raise StorageError unless every word of a topic has from one table for each group to one for each token."""
    check_array("table_sizes", packed.sizes, np.int32, (problem.n_words,))
    check_range("table_sizes", packed.sizes, 0, problem.n_topics)
    n_cells = int(packed.sizes.sum(dtype=np.int64))
    check_array("table_topics", packed.topics, np.uint16, (n_cells,))
    check_array("table_counts", packed.counts, np.int32, (n_cells,))
    check_indices("table_topics", packed.topics, problem.n_topics)
    starts = np.concatenate([[0], np.cumsum(packed.sizes, dtype=np.int64)])
    check_ascending("table_topics", packed.topics, starts)
    shape = (problem.n_words, problem.n_topics)
    check_tables(sparse.csr_array((packed.counts, packed.topics.astype(np.int32), starts), shape), counts, n_groups)
