"""Priors on the weights of labels and features that MetaLDA learns from tables: gamma, and normal on log weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError
from metalda.kernels.border import frozen
from metalda.kernels.covariates import draw_real_weights
from metalda.kernels.weights import HIGHEST, document_tables, draw_weights
from metalda.priors import scaling
from metalda.priors.loglinear import (
    Alpha,
    AssignedDocuments,
    Beta,
    LearnsFromDocuments,
    LearnsFromWords,
    Statistics,
    Stripes,
    Weights,
    WordTopicCounts,
    require_binary,
)


class Augmentation(NamedTuple):
    """Sums of the auxiliary variables of an iteration. The scale of a cell is ``row_scales * topic_scales``."""

    label_tables: NDArray[np.float64]  # sum of t[., k] times the value of label l over documents (words)
    row_scales: NDArray[np.float64]  # documents: sum of -log q[d] over a row. Words: number of words in the row
    topic_scales: NDArray[np.float64]  # documents: 1. Words: -log q'[k]

    @classmethod
    def merge(cls, parts: Sequence[Augmentation]) -> Augmentation:
        """Add the sums of several shards, in the order of the shards."""
        label_tables = reduce(np.add, [part.label_tables for part in parts])
        row_scales = reduce(np.add, [part.row_scales for part in parts])
        return cls(label_tables, row_scales, parts[0].topic_scales)

    @classmethod
    def join(cls, stripes: Sequence[Statistics]) -> Augmentation:
        """Put together the variables of stripes of topics, each of which has zeros for the topics of the others."""
        label_tables, row_scales, topic_scales = zip(*stripes, strict=True)
        return cls(reduce(np.add, label_tables), row_scales[0], reduce(np.add, topic_scales))


class SeedWeights(NamedTuple):
    """The prior on the weights of seed sets: Gamma(shape, rate=shape / mean) in the topic of the set, 1 elsewhere."""

    features: tuple[str, ...]  # of the design; those of set s belong to topic s
    mean: float
    shape: float


class Blocks(NamedTuple):
    """Numbers that are drawn together: block b has ``numbers[starts[b]:starts[b + 1]]``, and so on."""

    starts: NDArray[np.int64]
    numbers: NDArray[np.int64]  # columns of the design
    row_starts: NDArray[np.int64]
    rows: NDArray[np.int64]  # rows of the design in which some number of the block is not 0
    cell_starts: NDArray[np.int64]
    cells: NDArray[np.float64]  # values [number, row] of a block


@dataclass(frozen=True, eq=False)
class Gamma(LearnsFromDocuments, LearnsFromWords):
    """lambda[l, k] ~ Gamma(shape, rate=shape), which has mean 1. Smaller shapes allow wider variation."""

    shape: float
    seeds: SeedWeights | None = field(default=None, kw_only=True)  # features whose weights have priors of their own

    def __post_init__(self) -> None:
        require_binary(self.design, "the gamma prior")

    @cached_property
    def own_topics(self) -> NDArray[np.int64]:
        """Return the only topic in which each label has a weight, or -1 for all topics."""
        own = {} if self.seeds is None else {name: topic for topic, name in enumerate(self.seeds.features)}
        return np.array([own.get(name, -1) for name in self.design.names], np.int64)

    @property
    def label_shapes(self) -> NDArray[np.float64]:
        """Return the shape of the gamma prior of each label that is no seed set."""
        return np.full(len(self.design.names), float(self.shape))

    @cached_property
    def shapes(self) -> NDArray[np.float64]:
        """Return the shape of the gamma prior of each label."""
        return (
            self.label_shapes
            if self.seeds is None
            else np.where(self.own_topics < 0, self.label_shapes, self.seeds.shape)
        )

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """Return the rate of the gamma prior of each label."""
        return (
            self.shapes
            if self.seeds is None
            else np.where(self.own_topics < 0, self.shapes, self.shapes / self.seeds.mean)
        )

    def start_weights(self, n_topics: int) -> Weights:
        """Start the weights of seed sets at the mean of their prior."""
        log_weights = super().start_weights(n_topics)
        if self.seeds is not None:
            seeded = np.flatnonzero(self.own_topics >= 0)
            log_weights[seeded, self.own_topics[seeded]] = math.log(self.seeds.mean)
        return log_weights

    def start_topics(self, n_topics: int) -> NDArray[np.bool_] | None:
        """Let the tokens of seed words start in the topics that the words are seeds of."""
        if self.seeds is None:
            return None
        starts = np.zeros((self.design.n_rows, n_topics), bool)
        cells = self.design.matrix.tocoo()
        topics = self.own_topics[cells.col]
        starts[cells.row[topics >= 0], topics[topics >= 0]] = True
        return starts

    def draw_precisions(self, log_weights: Weights, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the precision of the normal prior of each log weight; 0 for a label whose weight has a gamma prior."""
        return np.zeros(len(self.design.names))

    def rescale(
        self,
        log_weights: Weights,
        precisions: NDArray[np.float64],
        augmentation: Augmentation,
        rng: np.random.Generator,
    ) -> None:
        """Move the weights of each group together with its scale, in place; a fixed prior has no scales."""

    def observe_documents(self, documents: AssignedDocuments, alpha: Alpha, rng: np.random.Generator) -> Augmentation:
        """Draw q[d] and t[d, k] (step 2)."""
        tables, minus_log_q = document_tables(
            *documents.frozen(),
            frozen(alpha.values, np.float32),
            frozen(alpha.row_sums, np.float64),
            *self._rows(),
            frozen(self.design.row_values, np.float64),
            len(self.design.names),
            rng,
        )
        return Augmentation(tables, minus_log_q, np.ones(tables.shape[1]))

    def learn_from_documents(self, alpha: Alpha, observed: Sequence[Statistics], stripes: Stripes) -> Weights:
        """Draw new weights of labels (step 3)."""
        augmentation = Augmentation.merge([Augmentation(*part) for part in observed])
        log_weights: Weights = alpha.log_weights.copy()
        precisions = self.draw_precisions(log_weights, stripes.rngs[0])

        def update(stripe: int, first: int, last: int, rng: np.random.Generator) -> None:
            self._draw(log_weights, precisions, alpha.values, not alpha.is_rescaled, augmentation, first, last, rng)

        stripes.each(update)
        self.rescale(log_weights, precisions, augmentation, stripes.rngs[0])
        return log_weights

    def observe_words(self, beta: Beta, counts: WordTopicCounts, stripes: Stripes) -> list[Augmentation]:
        """Draw q'[k] and t'[k, v] by stripe (first half of step 4)."""

        def observe(stripe: int, first: int, last: int, rng: np.random.Generator) -> Augmentation:
            drawn = counts.draw_tables(beta, first, last, rng)
            return Augmentation(drawn.label_tables, self.design.row_sizes, drawn.minus_log_q)

        return stripes.each(observe)

    def learn_from_words(self, beta: Beta, observed: Sequence[Statistics], stripes: Stripes) -> Weights:
        """Draw new weights of features (second half of step 4)."""
        log_weights: Weights = beta.log_weights.copy()
        precisions = self.draw_precisions(log_weights, stripes.rngs[0])

        def update(stripe: int, first: int, last: int, rng: np.random.Generator) -> None:
            are_exact = np.array_equal(beta.rescaled_sums[first:last], beta.topic_sums[first:last])
            self._draw(
                log_weights, precisions, beta.values, are_exact, Augmentation(*observed[stripe]), first, last, rng
            )

        stripes.each(update)
        self.rescale(log_weights, precisions, Augmentation.join(observed), stripes.rngs[0])
        return log_weights

    def count_tables(self, observed: Sequence[Statistics]) -> int:
        """Sum the tables of the default label, which is the last and which every document and word has."""
        return int(sum(Augmentation(*part).label_tables[-1].sum() for part in observed))

    def _draw(
        self,
        log_weights: Weights,
        precisions: NDArray[np.float64],
        values: NDArray[np.float32],
        values_are_exact: bool,
        augmentation: Augmentation,
        first: int,
        last: int,
        rng: np.random.Generator,
    ) -> None:
        """Draw the weights of topics first … last - 1 from their conditionals, label after label, in place.

        `values` are the products of the weights before the update.
        """
        moderate = np.abs(log_weights[:, first:last]).max() < HIGHEST
        draw_weights(
            log_weights,
            frozen(augmentation.label_tables, np.float64),
            frozen(augmentation.row_scales, np.float64),
            frozen(augmentation.topic_scales, np.float64),
            *self._rows(),
            frozen(self.design.label_starts, np.int64),
            frozen(self.design.label_rows, np.int32),
            frozen(values, np.float32),
            bool(moderate and values_are_exact),
            frozen(self.shapes, np.float64),
            frozen(self.rates, np.float64),
            frozen(self.own_topics, np.int64),
            frozen(precisions, np.float64),
            first,
            last,
            rng,
        )

    def _rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        return frozen(self.design.row_starts, np.int64), frozen(self.design.row_labels, np.int32)


@dataclass(frozen=True, eq=False)
class Normal(Gamma):
    """log lambda[l, k] ~ Normal(0, sigma²) with a variance for each group of labels, which is learned.

    The groups are those of the design: the columns that labels come from, or the sources of word features. The weight
    of the default label is a level and not an effect, so it has a prior of its own: normal with `default_precision`, or
    gamma if that is 0. If every document has one label of a column, only the priors divide the level between these
    labels and the default label. A vague prior of the default label leaves it there, so that sigma² measures
    differences; `_move_levels` draws the division. sigma² ~ InverseGamma(`scale_shape`, `scale_rate`) is drawn from its
    conditional given the weights before they are updated, so it is no state of the chain. With the default rate, 90%
    intervals of sigma cover from 0.1 on with as few as three weights; a rate of 0.5 would draw small scales towards 1.
    The first update of a group has sigma = `start_scale` instead. Its weights start at 0, and the conditional given
    thousands of weights near 0 would keep sigma there for a hundred iterations.
    """

    scale_shape: float = 0.5
    scale_rate: float = 0.02
    start_scale: float = 1.0
    default_precision: float = 0.0
    group_shapes: tuple[tuple[str, float], ...] = ()  # groups whose weights have gamma priors with these shapes instead
    slices: float = 0.1  # share of the updates of numbers that use a slice sampler
    block_size: int = 16  # largest number of numbers that are drawn together
    interval: int = 1  # iterations from one update to the next

    def __post_init__(self) -> None:
        numbers = set(self.design.groups[self.design.is_number[:-1]].tolist())
        for name, _ in self.group_shapes:
            if name not in self.design.group_names:
                known = ", ".join(map(repr, self.design.group_names))
                raise InputError(f"there is no column {name!r} for its shape (mu); columns are: {known}")
            if self.design.group_names.index(name) in numbers:
                raise InputError(f"the column {name!r} holds numbers, and gamma priors (mu) are for labels")

    def is_due(self, n_sweeps: int) -> bool:
        return n_sweeps % self.interval == 0

    def draw_precisions(self, log_weights: Weights, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw 1 / sigma² of each label's group; 0 for a group with gamma priors."""
        precisions = np.where(self.is_normal, self.draw_group_precisions(log_weights, rng), 0.0)
        return np.append(precisions[self.design.groups], self.default_precision)

    def rescale(
        self,
        log_weights: Weights,
        precisions: NDArray[np.float64],
        augmentation: Augmentation,
        rng: np.random.Generator,
    ) -> None:
        """Multiply the weights of each group with a normal prior and their scale by one factor, in place."""
        design, n_topics = self.design, log_weights.shape[1]
        groups = np.flatnonzero(self.is_normal)
        if not len(groups) or not scaling.is_due(len(design.row_labels) * len(groups), n_topics, rng):
            return
        for group in groups:
            labels = np.flatnonzero(design.groups == group)
            precision = precisions[labels[0]]
            in_group = np.zeros(len(design.names), bool)
            in_group[labels] = True
            rates = scaling.GroupRates(
                design.matrix, in_group, log_weights, augmentation.row_scales, augmentation.topic_scales
            )
            tables = float((augmentation.label_tables[labels] * log_weights[labels]).sum())
            density = scaling.ScaleDensity(tables, rates, self.scale_shape, self.scale_rate * precision)
            log_weights[labels] *= math.exp(density.draw(rng))

    @cached_property
    def is_normal(self) -> NDArray[np.bool_]:
        """Return which groups have normal priors."""
        of_seeds = self.design.groups[self.own_topics[:-1] >= 0]
        return np.array(
            [
                name not in dict(self.group_shapes) and group not in of_seeds
                for group, name in enumerate(self.design.group_names)
            ],
            bool,
        )

    @property
    def label_shapes(self) -> NDArray[np.float64]:
        """Return the shape of the gamma prior of each label, where it has one, that is no seed set."""
        of_group = np.array([dict(self.group_shapes).get(name, self.shape) for name in self.design.group_names])
        return np.append(of_group[self.design.groups], self.shape)

    def _draw(
        self,
        log_weights: Weights,
        precisions: NDArray[np.float64],
        values: NDArray[np.float32],
        values_are_exact: bool,
        augmentation: Augmentation,
        first: int,
        last: int,
        rng: np.random.Generator,
    ) -> None:
        """Draw the weights of labels that are 0 or 1 one by one, and those of numbers together; then move levels."""
        if not self.design.has_numbers:
            super()._draw(log_weights, precisions, values, values_are_exact, augmentation, first, last, rng)
        else:
            self._draw_real(log_weights, precisions, augmentation, first, last, rng)
        self._move_levels(log_weights[:, first:last], precisions, rng)

    def _draw_real(
        self,
        log_weights: Weights,
        precisions: NDArray[np.float64],
        augmentation: Augmentation,
        first: int,
        last: int,
        rng: np.random.Generator,
    ) -> None:
        draw_real_weights(
            log_weights,
            frozen(augmentation.label_tables, np.float64),
            frozen(augmentation.row_scales, np.float64),
            frozen(augmentation.topic_scales, np.float64),
            *self._rows(),
            frozen(self.design.row_values, np.float64),
            frozen(self.design.label_starts, np.int64),
            frozen(self.design.label_rows, np.int32),
            *self._blocks,
            frozen(self.shapes, np.float64),
            frozen(self.rates, np.float64),
            frozen(self.own_topics, np.int64),
            frozen(precisions, np.float64),
            self.slices,
            first,
            last,
            rng,
        )

    def _move_levels(self, log_weights: Weights, precisions: NDArray[np.float64], rng: np.random.Generator) -> None:
        """Draw the level that columns of the design and their sum divide, topic by topic, in place.

        If every document has exactly one label of a column, adding a number to the log weights of all of them and
        subtracting it from that of the default label changes no alpha. So the conditional of this number is normal,
        from the priors alone. Updates of one label at a time would need thousands of iterations for the same way.
        """
        for parts, whole in self._sums:
            precision = precisions[parts[0]]
            total = precision * len(parts) + precisions[whole]
            means = precisions[whole] * log_weights[whole] - precision * log_weights[parts].sum(axis=0)
            moves = means / total + rng.standard_normal(log_weights.shape[1]) / np.sqrt(total)
            log_weights[parts] += moves
            log_weights[whole] -= moves

    @cached_property
    def _sums(self) -> list[tuple[NDArray[np.int64], int]]:
        """Return the sums of the design whose columns all have normal priors."""
        return [own for own in self.design.sums if self._has_normal(int(own[0][0])) and self._has_normal(own[1])]

    def _has_normal(self, label: int) -> bool:
        is_default = label == len(self.design.names) - 1
        return self.default_precision > 0 if is_default else bool(self.is_normal[self.design.groups[label]])

    @cached_property
    def _blocks(self) -> Blocks:
        """Return the numbers in blocks that are drawn together, each with the rows in which it is not 0.

        The interactions of a label are a block, because they are 0 in the same rows. Larger blocks are cut, because the
        time of a block grows with the square of its size.
        """
        matrix = self.design.matrix.tocsc()
        blocks: list[list[int]] = []
        rows: list[NDArray[np.int64]] = []
        for number in np.flatnonzero(self.design.is_number):
            own = matrix.indices[matrix.indptr[number] : matrix.indptr[number + 1]].astype(np.int64)
            common = len(np.intersect1d(own, rows[-1])) if blocks else 0
            if blocks and len(blocks[-1]) < self.block_size and 2 * common > max(len(own), len(rows[-1])):
                blocks[-1].append(int(number))
                rows[-1] = np.union1d(rows[-1], own)
            else:
                blocks.append([int(number)])
                rows.append(np.sort(own))
        cells = [matrix[:, block].T.toarray()[:, own].ravel() for block, own in zip(blocks, rows, strict=True)]
        return Blocks(
            frozen(np.cumsum([0, *map(len, blocks)]), np.int64),
            frozen(np.concatenate(blocks), np.int64),
            frozen(np.cumsum([0, *map(len, rows)]), np.int64),
            frozen(np.concatenate(rows), np.int64),
            frozen(np.cumsum([0, *map(len, cells)]), np.int64),
            frozen(np.concatenate(cells), np.float64),
        )

    def draw_group_precisions(self, log_weights: Weights, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw 1 / sigma² of each group from its gamma conditional, given the log weights [label, topic].

        A group whose weights are all 0 has not been updated yet.
        """
        groups, n_groups, n_topics = self.design.groups, len(self.design.group_names), log_weights.shape[1]
        squares = np.bincount(groups, (log_weights[:-1] ** 2).sum(axis=1), minlength=n_groups)
        shapes = self.scale_shape + np.bincount(groups, minlength=n_groups) * n_topics / 2
        precisions: NDArray[np.float64] = rng.standard_gamma(shapes) / (self.scale_rate + squares / 2)
        return np.where(squares > 0, precisions, self.start_scale**-2.0)
