"""Geweke's joint test: a sampler of p(parameters | data), alternated with draws of the data, must keep the joint.

`forward` draws weights, topics and words from the model itself. `joint_test` starts there and alternates one sweep of
the sampler under test with new words given the topics. The means of any function of the state must agree.

Draws of the model are cheap because all are made at once, in arrays whose first axis counts the samples.
"""

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import stats

from metalda.priors import Gamma, Normal
from metalda.samplers import Problem
from metalda.training.gibbs import Generators, resume_chain, sweep

BATCHES = 50  # of a chain
FORWARD = 50_000  # so many that the error of their means is small beside that of a chain


def _log_gamma(shape, rng):
    """log Gamma(shape, 1), finite for tiny shapes."""
    shape = np.asarray(shape, float)
    return np.log(rng.standard_gamma(shape + 1)) + np.log(1 - rng.random(shape.shape)) / shape


def _dirichlet(concentrations, rng):
    """Dirichlet along the last axis."""
    logs = _log_gamma(np.maximum(concentrations, 1e-290), rng)
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _choose(probabilities, rng):
    """An index along the last axis."""
    bounds = np.cumsum(probabilities, axis=-1)[..., :-1]  # the last one is 1, but for rounding
    return (rng.random(bounds.shape[:-1])[..., None] >= bounds).sum(axis=-1)


@cache
def _dense(design):
    return design.matrix.toarray()[design.row_of]


def _prior_weights(prior, n, n_topics, rng):
    log_weights = _label_weights(prior, n, n_topics, rng)
    if getattr(prior, "seeds", None) is not None:
        shape, rate = prior.seeds.shape, prior.seeds.shape / prior.seeds.mean
        for topic, feature in enumerate(map(prior.design.names.index, prior.seeds.features)):
            log_weights[:, feature] = 0
            log_weights[:, feature, topic] = _log_gamma(np.full(n, shape), rng) - np.log(rate)
    return log_weights


def _label_weights(prior, n, n_topics, rng):
    if isinstance(prior, Normal):
        variances = prior.scale_rate / rng.standard_gamma(prior.scale_shape, (n, len(prior.design.group_names)))
        scales = np.sqrt(variances[:, prior.design.groups])[:, :, None]
        if prior.default_precision > 0:
            default = rng.standard_normal((n, 1, n_topics)) / np.sqrt(prior.default_precision)
        else:
            default = _log_gamma(np.full((n, 1, n_topics), prior.shape), rng) - np.log(prior.shape)
        return np.concatenate([scales * rng.standard_normal((*scales.shape[:2], n_topics)), default], axis=1)
    if isinstance(prior, Gamma):
        size = (n, len(prior.design.names), n_topics)
        return _log_gamma(np.full(size, prior.shape), rng) - np.log(prior.shape)
    return np.repeat(prior.start_weights(n_topics)[None], n, axis=0)


def _draw_words(problem, topics, log_word_weights, rng):
    """w given z and delta, with phi drawn from its prior."""
    beta = np.exp(_dense(problem.word_prior.design) @ log_word_weights)
    phi = _dirichlet(beta.swapaxes(1, 2), rng)
    return _choose(phi[np.arange(len(topics))[:, None], topics], rng).astype(np.int32)


class Sample(NamedTuple):
    """Data, topics and weights: points of the joint distribution, along the first axis of every array."""

    words: np.ndarray
    topics: np.ndarray
    log_doc_weights: np.ndarray
    log_word_weights: np.ndarray


def forward(problem: Problem, n: int, rng) -> Sample:
    log_lambda = _prior_weights(problem.doc_prior, n, problem.n_topics, rng)
    log_delta = _prior_weights(problem.word_prior, n, problem.n_topics, rng)
    theta = _dirichlet(np.exp(_dense(problem.doc_prior.design) @ log_lambda), rng)
    topics = _choose(np.repeat(theta, np.diff(problem.offsets), axis=1), rng).astype(np.uint16)
    return Sample(_draw_words(problem, topics, log_delta, rng), topics, log_lambda, log_delta)


def _tally(cells, n_cells):
    """How often each cell occurs in each row."""
    rows = np.arange(len(cells))[:, None] * n_cells
    return np.bincount((rows + cells).ravel(), minlength=len(cells) * n_cells).reshape(len(cells), n_cells)


def statistics(problem: Problem, samples: Sample) -> np.ndarray:
    """Bounded functions of the state, so that their means exist and settle whatever the prior's tails."""
    topics, n_topics = samples.topics.astype(np.int64), problem.n_topics
    n, n_tokens = topics.shape
    lengths = np.diff(problem.offsets)
    counts = _tally(samples.words * n_topics + topics, problem.n_words * n_topics) / max(n_tokens, 1)
    totals = counts.reshape(n, -1, n_topics).sum(axis=1)
    documents = np.repeat(np.arange(len(lengths)), lengths)
    doc_topics = _tally(documents * n_topics + topics, len(lengths) * n_topics).reshape(n, -1, n_topics)
    doc_topics = doc_topics / np.maximum(lengths, 1)[:, None]
    weights = np.concatenate([samples.log_doc_weights, samples.log_word_weights], axis=1).reshape(n, -1)
    squashed = 1 / (1 + np.exp(-np.clip(weights, -500, 500)))  # lambda / (1 + lambda)
    spread = weights**2 / (1 + weights**2)
    concentration = [(doc_topics**2).sum(axis=2).mean(axis=1), (totals**2).sum(axis=1)]
    parts = [squashed, spread, weights < -5, doc_topics.reshape(n, -1), counts, np.transpose(concentration)]
    return np.concatenate(parts, axis=1)


def joint_test(problem: Problem, *, n_sweeps: int, seed: int, restart: bool = False, step=sweep) -> np.ndarray:
    """z-scores of the differences in means; standard errors of the chain by batches.

    With `restart` every batch starts from a draw of the model. So batches are independent, and their errors are right
    even if a chain is stuck for longer than a batch.
    """
    rng = np.random.default_rng(seed)
    expected = statistics(problem, forward(problem, FORWARD, rng))
    words, *latent = (each[0] for each in forward(problem, 1, rng))
    rngs = Generators.spawn(seed, problem)
    found = []
    for i in range(n_sweeps):
        if restart and i % (n_sweeps // BATCHES) == 0:
            words, *latent = (each[0] for each in forward(problem, 1, rng))
        topics, *weights = latent
        current = replace(problem, words=words)
        state, _ = step(current, resume_chain(current, {"topics": topics}, *weights), rngs)
        latent = state.topics, state.log_doc_weights.copy(), state.log_word_weights.copy()
        words = _draw_words(problem, latent[0][None], latent[2][None], rng)[0]
        found.append((words, *latent))
    chain = statistics(problem, Sample(*map(np.array, zip(*found, strict=True))))
    return compare(expected, chain)


def compare(expected: np.ndarray, chain: np.ndarray) -> np.ndarray:
    """z-scores of the differences in means between independent draws and a chain."""
    n_sweeps = len(chain)
    batches = np.array([batch.mean(axis=0) for batch in np.array_split(chain, BATCHES)])
    # A chain that happens to lack a rare event has no variance, so it gets at least that of independent draws.
    of_chain = np.maximum(batches.var(axis=0, ddof=1) / len(batches), expected.var(axis=0) / n_sweeps)
    error = np.sqrt(expected.var(axis=0) / len(expected) + of_chain)
    difference = batches.mean(axis=0) - expected.mean(axis=0)
    settled = error > 1e-12
    assert np.abs(difference[~settled]).max(initial=0) < 1e-9
    return difference[settled] / error[settled]


def smallest_p_value(z: np.ndarray) -> float:
    """Bonferroni over the statistics; Student's t with the degrees of freedom of the batches."""
    return float(min(1.0, 2 * stats.t.sf(np.abs(z).max(), BATCHES - 1) * len(z)))
