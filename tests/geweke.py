"""Geweke's joint test: a sampler of p(parameters | data), alternated with draws of the data, must keep the joint.

`forward` draws weights, topics and words from the model itself. `joint_test` starts there and alternates one sweep of
the sampler under test with new words given the topics. The means of any function of the state must agree.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import stats

from metalda.priors import Gamma, Normal
from metalda.samplers import Problem
from metalda.training.gibbs import Generators, resume_chain, sweep


def _log_gamma(shape, rng):
    """log Gamma(shape, 1), finite for tiny shapes."""
    shape = np.asarray(shape, float)
    return np.log(rng.standard_gamma(shape + 1)) + np.log(1 - rng.random(shape.shape)) / shape


def _dirichlet(concentration, rng):
    logs = _log_gamma(concentration, rng)
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def _dense(design):
    return design.matrix.toarray()[design.row_of]


def _prior_weights(prior, n_topics, rng):
    if isinstance(prior, Normal):
        variances = prior.scale_rate / rng.standard_gamma(prior.scale_shape, len(prior.design.group_names))
        scales = np.sqrt(variances[prior.design.groups])[:, None]
        if prior.default_precision > 0:
            default = rng.standard_normal((1, n_topics)) / np.sqrt(prior.default_precision)
        else:
            default = _log_gamma(np.full((1, n_topics), prior.shape), rng) - np.log(prior.shape)
        return np.concatenate([scales * rng.standard_normal((len(scales), n_topics)), default])
    if isinstance(prior, Gamma):
        size = (len(prior.design.names), n_topics)
        return _log_gamma(np.full(size, prior.shape), rng) - np.log(prior.shape)
    return prior.start_weights(n_topics)


def _draw_words(problem, topics, log_word_weights, rng):
    """w given z and delta, with phi drawn from its prior."""
    beta = np.exp(_dense(problem.word_prior.design) @ log_word_weights)
    phi = np.array([_dirichlet(np.maximum(beta[:, k], 1e-290), rng) for k in range(problem.n_topics)])
    return np.array([rng.choice(problem.n_words, p=phi[k]) for k in topics], np.int32)


class Sample(NamedTuple):
    """Data, topics and weights: one point of the joint distribution."""

    words: np.ndarray
    topics: np.ndarray
    log_doc_weights: np.ndarray
    log_word_weights: np.ndarray


def forward(problem: Problem, rng) -> Sample:
    log_lambda = _prior_weights(problem.doc_prior, problem.n_topics, rng)
    log_delta = _prior_weights(problem.word_prior, problem.n_topics, rng)
    alpha = np.exp(_dense(problem.doc_prior.design) @ log_lambda)
    lengths = np.diff(problem.offsets)
    topics = np.concatenate(
        [
            rng.choice(problem.n_topics, n, p=_dirichlet(np.maximum(a, 1e-290), rng))
            for a, n in zip(alpha, lengths, strict=True)
        ]
    ).astype(np.uint16)
    return Sample(_draw_words(problem, topics, log_delta, rng), topics, log_lambda, log_delta)


def statistics(problem: Problem, sample: Sample) -> np.ndarray:
    """Bounded functions of the state, so that their means exist and settle whatever the prior's tails."""
    topics, n_topics, n_tokens = sample.topics, problem.n_topics, max(len(sample.topics), 1)
    counts = np.bincount(sample.words * n_topics + topics, minlength=problem.n_words * n_topics)
    totals = counts.reshape(-1, n_topics).sum(axis=0)
    weights = np.concatenate([sample.log_doc_weights.ravel(), sample.log_word_weights.ravel()])
    squashed = 1 / (1 + np.exp(-np.clip(weights, -500, 500)))  # lambda / (1 + lambda)
    spread = weights**2 / (1 + weights**2)
    doc_topics = [
        np.bincount(topics[a:b], minlength=n_topics) / max(b - a, 1)
        for a, b in zip(problem.offsets[:-1], problem.offsets[1:], strict=True)
    ]
    concentration = [np.mean([(m**2).sum() for m in doc_topics]), (totals**2).sum() / n_tokens**2]
    return np.concatenate([squashed, spread, weights < -5, *doc_topics, counts / n_tokens, concentration])


def _relabel(sample: Sample, n_topics: int, rng) -> Sample:
    """Renumber the topics at random. The joint is the same for any numbering, and a chain that gets stuck mixes."""
    order = rng.permutation(n_topics)
    topics = np.argsort(order)[sample.topics].astype(np.uint16)
    return Sample(sample.words, topics, sample.log_doc_weights[:, order], sample.log_word_weights[:, order])


def joint_test(
    problem: Problem, *, n_forward: int, n_sweeps: int, seed: int, relabel: bool = False, step=sweep
) -> np.ndarray:
    """z-scores of the differences in means; standard errors of the chain by batches."""
    rng = np.random.default_rng(seed)
    expected = np.array([statistics(problem, forward(problem, rng)) for _ in range(n_forward)])
    sample = forward(problem, rng)
    rngs = Generators.spawn(seed, problem)
    found = []
    for _ in range(n_sweeps):
        current = replace(problem, words=sample.words)
        state = resume_chain(current, {"topics": sample.topics}, sample.log_doc_weights, sample.log_word_weights)
        state, _ = step(current, state, rngs)
        words = _draw_words(problem, state.topics, state.log_word_weights, rng)
        sample = Sample(words, state.topics, state.log_doc_weights, state.log_word_weights)
        if relabel:
            sample = _relabel(sample, problem.n_topics, rng)
        found.append(statistics(problem, sample))
    batches = np.array([batch.mean(axis=0) for batch in np.array_split(np.array(found), 50)])
    error = np.sqrt(expected.var(axis=0) / n_forward + batches.var(axis=0, ddof=1) / len(batches))
    difference = batches.mean(axis=0) - expected.mean(axis=0)
    settled = error > 1e-12
    assert np.abs(difference[~settled]).max(initial=0) < 1e-9
    return difference[settled] / error[settled]


def smallest_p_value(z: np.ndarray) -> float:
    """Bonferroni over the statistics; Student's t with the degrees of freedom of the batches."""
    return float(min(1.0, 2 * stats.t.sf(np.abs(z).max(), 49) * len(z)))
