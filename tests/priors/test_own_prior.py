"""The smallest prior that learns, as CONTRIBUTING says: one alpha for all, by Minka's fixed-point iteration."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import digamma

import reference
from metalda.meta.design import Design
from metalda.priors import AssignedDocuments, LearnsFromDocuments, Stripes

N_TOPICS = 3
STRIPES = Stripes(((0, N_TOPICS),), (), map)


@dataclass(frozen=True, eq=False)
class Symmetric(LearnsFromDocuments):
    """a <- a sum_dk [psi(m[d, k] + a) - psi(a)] / (K sum_d [psi(N[d] + K a) - psi(K a)]), after every sweep."""

    def observe_documents(self, documents, alpha, rng):
        n_topics, a = alpha.values.shape[1], math.exp(alpha.log_weights[-1, 0])
        _, _, counts = documents.count_topics(n_topics)
        above = (digamma(counts + a) - digamma(a)).sum()
        below = (digamma(np.diff(documents.offsets) + n_topics * a) - digamma(n_topics * a)).sum()
        return (np.array([above, n_topics * below]),)

    def learn_from_documents(self, alpha, observed, stripes):
        above, below = np.sum([sums for (sums,) in observed], axis=0)
        log_weights = alpha.log_weights.copy()
        if below > 0:
            log_weights[-1] += math.log(max(above / below, 1e-6))
        return log_weights


def _learn(prior, weights, offsets, topics, cuts):
    alpha = prior.alpha(weights)
    parts = [
        AssignedDocuments(offsets[a : b + 1] - offsets[a], prior.design.row_of[a:b], topics[offsets[a] : offsets[b]])
        for a, b in cuts
    ]
    observed = [prior.observe_documents(part, alpha, np.random.default_rng(0)) for part in parts]
    return prior.learn_from_documents(alpha, observed, STRIPES)


@pytest.mark.parametrize("cuts", [[(0, 40)], [(0, 13), (13, 40)]], ids=["one shard", "two shards"])
def test_it_climbs_to_the_maximum_of_the_likelihood(cuts):
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 30, 40)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    drawn = [rng.choice(N_TOPICS, n, p=rng.dirichlet([0.5] * N_TOPICS)) for n in lengths]
    topics = np.concatenate(drawn).astype(np.uint16)

    def height(log_a):
        alpha = np.full(N_TOPICS, np.exp(log_a))
        tables = (np.bincount(topics[i:j], minlength=N_TOPICS) for i, j in pairwise(offsets))
        return sum(reference.dirichlet_multinomial(alpha, table) for table in tables)

    prior = Symmetric(Design.build(None, 40), 5.0)
    weights = [prior.start_weights(N_TOPICS)]
    for _ in range(150):
        weights.append(_learn(prior, weights[-1], offsets, topics, cuts))
    assert np.diff([height(each[0, 0]) for each in weights]).min() > -1e-8
    best = minimize_scalar(lambda log_a: -height(log_a), bounds=(-6, 6), method="bounded")
    np.testing.assert_allclose(weights[-1], best.x, atol=1e-3)


def test_documents_without_words_teach_it_nothing():
    prior = Symmetric(Design.build(None, 2), 0.3)
    start = prior.start_weights(N_TOPICS)
    found = _learn(prior, start, np.zeros(3, np.int64), np.zeros(0, np.uint16), [(0, 2)])
    np.testing.assert_array_equal(found, start)
