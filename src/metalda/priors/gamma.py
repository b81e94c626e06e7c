"""Gamma weights on labels and features: the prior of MetaLDA, with its conjugate update."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.kernels.border import frozen
from metalda.kernels.weights import HIGHEST, document_tables, draw_weights
from metalda.meta.design import Concentration
from metalda.meta.shards import Shard
from metalda.priors.loglinear import Blocks, LearnsFromDocuments, LearnsFromWords, Lesson, WordCounts


class Augmentation(NamedTuple):
    """The auxiliary variables of a sweep, summed as the update needs them. The scale of a cell is their product."""

    label_tables: NDArray[np.int64]  # sum of t[., k] over documents (words) with label l
    row_scales: NDArray[np.float64]  # documents: sum of -log q[d] over a row. Words: how many there are in the row
    topic_scales: NDArray[np.float64]  # documents: 1. Words: -log q'[k]

    @classmethod
    def merge(cls, parts: Sequence[Augmentation]) -> Augmentation:
        """The documents of several shards together, added in the order of the shards."""
        label_tables = reduce(np.add, [part.label_tables for part in parts])
        row_scales = reduce(np.add, [part.row_scales for part in parts])
        return cls(label_tables, row_scales, parts[0].topic_scales)


@dataclass(frozen=True, eq=False)
class Gamma(LearnsFromDocuments, LearnsFromWords):
    """lambda[l, k] ~ Gamma(shape, rate=shape): mean 1, the smaller the shape the wider."""

    shape: float

    def observe(
        self, shard: Shard, topics: NDArray[np.uint16], alpha: Concentration, rng: np.random.Generator
    ) -> Augmentation:
        """Step 2: q[d] and t[d, k] for the documents of a shard."""
        tables, minus_log_q = document_tables(
            shard.offsets,
            shard.doc_rows,
            frozen(topics, np.uint16),
            frozen(alpha.values, np.float32),
            frozen(alpha.row_sums, np.float64),
            *self._rows(),
            len(self.design.names),
            rng,
        )
        return Augmentation(tables, minus_log_q, np.ones(tables.shape[1]))

    def count_tables(self, observed: Sequence[tuple[Any, ...]]) -> int:
        """All documents have the default label, which is the last."""
        return int(sum(Augmentation(*part).label_tables[-1].sum() for part in observed))

    def learn_from_documents(
        self, alpha: Concentration, observed: Sequence[tuple[Any, ...]], blocks: Blocks
    ) -> NDArray[np.float64]:
        """Step 3."""
        augmentation = Augmentation.merge([Augmentation(*part) for part in observed])
        log_weights = alpha.log_weights.copy()

        def update(stripe: int) -> None:
            self.update(log_weights, alpha, augmentation, *blocks.stripes[stripe], blocks.rngs[stripe])

        list(blocks.run(update, range(len(blocks.stripes))))
        return log_weights

    def learn_from_words(self, beta: Concentration, counts: WordCounts, blocks: Blocks) -> Lesson:
        """Step 4."""
        start = time.perf_counter()

        def update(stripe: int) -> tuple[float, float, int]:
            (first, last), rng = blocks.stripes[stripe], blocks.rngs[stripe]
            begin = time.perf_counter()
            drawn = counts.draw_tables(beta, first, last, rng)
            middle = time.perf_counter()
            augmentation = Augmentation(drawn.label_tables, self.design.row_sizes, drawn.minus_log_q)
            self.update(beta.log_weights, beta, augmentation, first, last, rng)
            self.renew_beta(beta, first, last)
            return middle - begin, time.perf_counter() - middle, int(drawn.label_tables[-1].sum())

        tables, weights, n_tables = np.sum(list(blocks.run(update, range(len(blocks.stripes)))), axis=0)
        return Lesson(float((time.perf_counter() - start) * tables / (tables + weights)), int(n_tables))

    def update(
        self,
        log_weights: NDArray[np.float64],
        current: Concentration,
        augmentation: Augmentation,
        first: int,
        last: int,
        rng: np.random.Generator,
    ) -> None:
        """Draw the weights of topics first … last - 1 from their gamma conditionals, label after label, in place.

        `current` has the parameters that the weights multiply up to now.
        """
        moderate = np.abs(log_weights[:, first:last]).max() < HIGHEST
        plain = np.array_equal(current.lifted_sums[first:last], current.topic_sums[first:last])
        draw_weights(
            log_weights,
            frozen(augmentation.label_tables, np.int64),
            frozen(augmentation.row_scales, np.float64),
            frozen(augmentation.topic_scales, np.float64),
            *self._rows(),
            frozen(self.design.label_starts, np.int64),
            frozen(self.design.label_rows, np.int32),
            frozen(current.values, np.float32),
            bool(moderate and plain),
            float(self.shape),
            first,
            last,
            rng,
        )

    def _rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        return frozen(self.design.row_starts, np.int64), frozen(self.design.row_labels, np.int32)
