"""Chains of our models and of tomotopy's, which can be swept and timed."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np


class Ours:
    """A chain of one of our models, swept as in `fit`."""

    def __init__(self, corpus: Any, model: Any, n_jobs: int = 1) -> None:
        from metalda.training.gibbs import Generators, start_chain

        self.problem = model._build_problem(corpus)
        self.rngs = Generators.spawn(0, self.problem)
        self.state = start_chain(self.problem, np.random.default_rng(0), n_jobs)
        self.run: Any = ThreadPoolExecutor(n_jobs).map if n_jobs > 1 else map
        self.records: list[Any] = []

    def sweep(self, n: int) -> float:
        """Return the seconds of n sweeps."""
        from metalda.training.gibbs import sweep

        start = time.perf_counter()
        for _ in range(n):
            self.state, record = sweep(self.problem, self.state, self.rngs, self.run)
            self.records.append(record)
        return time.perf_counter() - start

    def stages(self, n: int = 50) -> dict[str, float]:
        """Run n sweeps and return the mean seconds of their stages; tables belong to the weights drawn from them."""
        from metalda.training.gibbs import update_doc_weights, update_word_weights

        times = []
        for _ in range(n):
            state, start = self.state, time.perf_counter()
            state.assignment.sweep(state.alpha, state.beta, self.rngs.shards, self.run, state.n_sweeps)
            tokens = time.perf_counter()
            state, _ = update_doc_weights(self.problem, state, self.rngs, self.run)
            documents = time.perf_counter()
            state, _ = update_word_weights(self.problem, state, self.rngs, self.run)
            times.append((tokens - start, documents - tokens, time.perf_counter() - documents))
            self.state = state._replace(n_sweeps=state.n_sweeps + 1)
        return dict(zip(("tokens", "doc_weights", "word_weights"), np.mean(times, axis=0).tolist(), strict=True))

    @property
    def log_likelihood(self) -> float:
        return self.records[-1].log_likelihood / len(self.problem.words)

    @property
    def phi(self) -> Any:
        """Word probabilities [topic, word] of the current state of LDA."""
        counts = self.state.counts.to_matrix().toarray().T + 0.01
        return counts / counts.sum(axis=1, keepdims=True)


class Tomotopy:
    """A model of tomotopy with fixed, symmetric priors."""

    def __init__(
        self, corpus: Any, n_topics: int | None, kind: str = "LDAModel", optimize_interval: int = 0, **settings: Any
    ) -> None:
        import tomotopy

        if n_topics is not None:
            settings["k"] = n_topics
        self.model: Any = getattr(tomotopy, kind)(alpha=0.1, eta=0.01, seed=1, **settings)
        names = _labels(corpus) if kind in ("LLDAModel", "PLDAModel", "DMRModel") else None
        for d, document in enumerate(corpus):
            if not document:
                continue
            if names is None:
                self.model.add_doc(document)
            elif kind == "DMRModel":
                self.model.add_doc(document, multi_metadata=names[d])
            else:
                self.model.add_doc(document, labels=names[d])
        self.model.optim_interval = optimize_interval
        self.model.burn_in = 0

    def sweep(self, n: int) -> float:
        """Return the seconds of n sweeps."""
        start = time.perf_counter()
        self.model.train(n, workers=1)
        return time.perf_counter() - start

    def log_likelihood(self, corpus: Any) -> float:
        """log p(w, z) per token of its current topics, by our formula."""
        from scipy import sparse
        from scipy.special import gammaln

        from metalda.meta.design import Design
        from metalda.priors import Fixed
        from metalda.samplers import TopicCounts

        index = {word: v for v, word in enumerate(corpus.vocabulary)}
        documents = [([index[self.model.vocabs[w]] for w in doc.words], doc.topics) for doc in self.model.docs]
        words = np.concatenate([np.array(w, np.int32) for w, _ in documents])
        topics = np.concatenate([np.array(z, np.uint16) for _, z in documents])
        offsets = np.concatenate([[0], np.cumsum([len(w) for w, _ in documents])]).astype(np.int64)
        prior = Fixed(Design.build(None, len(index)), 0.01)
        counts = TopicCounts.count(words, topics, self.model.k, prior.design)
        by_words = counts.log_likelihood(prior.beta(prior.start_weights(self.model.k)))
        rows = np.repeat(np.arange(len(documents)), np.diff(offsets))
        by_document = sparse.coo_array((np.ones(len(words)), (rows, topics))).tocsr().data  # m[d, k] > 0
        total = 0.1 * self.model.k
        by_topics = (gammaln(0.1 + by_document) - gammaln(0.1)).sum()
        by_topics -= (gammaln(total + np.diff(offsets)) - gammaln(total)).sum()
        return float(by_words + by_topics) / len(words)


def held_out(corpus: Any, phi: Any, n_steps: int = 20) -> float:
    """Return the mean log probability of every second word given the others, with theta by expectation-maximization."""
    total, n_words = 0.0, 0
    for first, last in pairwise(corpus.offsets):
        observed, scored = phi[:, corpus.words[first:last:2]], phi[:, corpus.words[first + 1 : last : 2]]
        theta = np.full(len(phi), 1 / len(phi))
        for _ in range(n_steps):
            theta = 0.1 + theta * (observed @ (1 / (theta @ observed)))
            theta /= theta.sum()
        total += float(np.log(theta @ scored).sum())
        n_words += scored.shape[1]
    return total / n_words


def _labels(corpus: Any) -> list[list[str]]:
    """Return the labels of every document, by name."""
    matrix = corpus.labels.matrix
    return [[corpus.labels.names[j] for j in row] for row in np.split(matrix.indices, matrix.indptr[1:-1])]


def compare(ours: Any, peer: Any, *, warm: int, rounds: int = 5, sweeps: int = 10) -> tuple[float, float, float]:
    """Return the seconds per sweep of both and the ratio of theirs to ours: medians over alternating rounds.

    Rounds alternate because the speed of a shared machine changes over minutes.
    """
    ours.sweep(warm)
    peer.sweep(warm)
    pairs = np.array([(ours.sweep(sweeps) / sweeps, peer.sweep(sweeps) / sweeps) for _ in range(rounds)])
    own, other = np.median(pairs, axis=0)
    return float(own), float(other), float(np.median(pairs[:, 1] / pairs[:, 0]))
