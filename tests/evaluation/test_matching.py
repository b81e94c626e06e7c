"""Topics of several fits are matched as well as can be, whatever their order, and scored as worked out by hand."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from contracts import QUICK, corpus, known_topics
from metalda import LDA, exclusivity, stability
from metalda.errors import InputError
from metalda.evaluation.matching import (
    affinity,
    jensen_shannon,
    match,
    pool_rare,
    recurring_topics,
    same_topics,
    word_overlap,
    word_stability,
)


def known(components: Any, vocabulary: Any) -> LDA:
    return known_topics(np.array(components, np.float32), vocabulary)


def random_model(seed: int, n_topics: int = 5, vocabulary: Any = None, sparsity: float = 0.05) -> LDA:
    words = [f"w{v}" for v in range(200)] if vocabulary is None else vocabulary
    rng = np.random.default_rng(seed)
    return known(rng.dirichlet([sparsity] * len(words), n_topics), words)


def shuffled(model: LDA, seed: int = 0) -> LDA:
    """The same topics in another order, the words in another one too."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(model.components_.shape[0]), rng.permutation(model.components_.shape[1])
    return known(model.components_[rows][:, columns], [model.vocabulary_[v] for v in columns])


def test_exclusivity_is_the_mean_share_of_the_top_words_by_hand() -> None:
    model = known([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]], "abc")
    assert exclusivity(model, top_n=1) == pytest.approx((0.6 / 0.8 + 0.6 / 0.7) / 2)
    assert exclusivity(model, top_n=2) == pytest.approx((0.6 / 0.8 + 0.3 / 0.5 + 0.6 / 0.7 + 0.2 / 0.8) / 4)
    assert exclusivity(known([[1, 0], [0, 1]], "ab"), top_n=1) == 1
    assert exclusivity(known([[0.5, 0.5]] * 4, "ab")) == pytest.approx(1 / 4)
    with pytest.raises(InputError, match="top_n must be at least 1"):
        exclusivity(model, top_n=0)


@pytest.mark.parametrize("measure", ["words", "probabilities"])
def test_a_model_agrees_with_itself_in_any_order(measure: str) -> None:
    model = random_model(0)
    for other in (model, shuffled(model)):
        found = stability([model, other], measure=measure)
        assert found.score == pytest.approx(1, abs=1e-6)
        np.testing.assert_allclose(found.topics["similarity"], 1, atol=1e-6)
    pairs = stability([model, shuffled(model)], measure=measure).pairs
    order = np.random.default_rng(0).permutation(5)
    assert list(order[pairs["second_topic"]]) == list(pairs["first_topic"])


@pytest.mark.parametrize("measure", ["words", "probabilities"])
def test_the_score_depends_on_no_order(measure: str) -> None:
    models = [random_model(seed, sparsity=0.5) for seed in range(3)]
    score = stability(models, measure=measure).score
    assert 0 < score < 1
    for order in permutations(range(3)):
        again = stability([shuffled(models[i], seed=i) for i in order], measure=measure)
        assert again.score == pytest.approx(score)


@pytest.mark.parametrize("measure", ["words", "probabilities"])
def test_unrelated_models_score_low_and_related_ones_in_between(measure: str) -> None:
    model, stranger = random_model(1), random_model(2)
    near = known(0.8 * model.components_ + 0.2 * stranger.components_, model.vocabulary_)
    low, middle = (stability([model, other], measure=measure).score for other in (stranger, near))
    assert low < 0.35
    assert low + 0.2 < middle < 1
    disjoint = random_model(1, vocabulary=[f"x{v}" for v in range(200)])
    assert stability([model, disjoint], measure=measure).score == 0


def test_the_overlap_of_words_is_the_average_jaccard_by_hand() -> None:
    first, second = [["a", "b", "c"]], [["a", "c", "d"], ["x", "y", "z"], ["c", "b", "a"]]
    expected = [(1 / 1 + 1 / 3 + 2 / 4) / 3, 0, (0 + 1 / 3 + 1) / 3]
    assert word_overlap(first, second)[0] == pytest.approx(expected)
    assert word_overlap(second, first)[:, 0] == pytest.approx(expected)


def test_words_that_a_vocabulary_lacks_have_probability_zero() -> None:
    first, second = np.array([[0.5, 0.5, 0.0]]), np.array([[0.25, 0.25, 0.5]])
    assert affinity(known(first, "abc"), known(second, "bcd")) == pytest.approx(np.sqrt(0.5 * 0.25) + 0)
    assert affinity(known(first, "abc"), known(second, "xyz")) == 0


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**31))
@settings(max_examples=50, deadline=None)
def test_no_other_matching_is_better(n_first: int, n_second: int, seed: int) -> None:
    similarity = np.random.default_rng(seed).random((n_first, n_second))
    found = match(similarity)
    small, large = sorted((n_first, n_second))
    wide = similarity if n_first <= n_second else similarity.T
    best = max(sum(wide[i, j] for i, j in enumerate(order)) for order in permutations(range(large), small))
    assert found.similarity.sum() == pytest.approx(best)
    assert len(set(found.first)) == len(set(found.second)) == small


def test_a_topic_without_partner_counts_as_zero() -> None:
    both = known(np.eye(3), "abc")
    fewer = known(np.eye(3)[:2], "abc")
    found = stability([both, fewer], top_n=1)
    assert list(found.topics["similarity"]) == [1, 1, 0, 1, 1]
    assert list(found.topics["model"]) == [0, 0, 0, 1, 1]
    assert list(found.topics["words"]) == ["a", "b", "c", "a", "b"]
    assert found.score == 4 / 5


def test_the_stability_of_runs_is_that_of_their_models() -> None:
    models = [random_model(seed, sparsity=0.5) for seed in range(3)]
    found = stability(models, top_n=10)
    words = [[own.split(", ") for own in rows["words"]] for _, rows in found.topics.groupby("model")]
    assert word_stability(words) == pytest.approx(list(found.topics.groupby("model")["similarity"].mean()))
    assert np.isnan(word_stability(words[:1])).all()


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        ([], {}, "give two or more, not 0"),
        ([random_model(0)], {}, "give two or more, not 1"),
        ([random_model(0)] * 2, {"measure": "magic"}, "measure must be one of words, probabilities, not 'magic'"),
        ([random_model(0)] * 2, {"top_n": 0}, "top_n must be at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(models: list[LDA], options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        stability(models, **options)


def test_distances_are_those_of_jensen_and_shannon() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.dirichlet(np.full(30, 0.1), 4), rng.dirichlet(np.full(30, 0.1), 3)
    first[0, :5] = 0
    first[0] /= first[0].sum()
    expected = [[jensenshannon(a, b, base=2) for b in second] for a in first]
    np.testing.assert_allclose(jensen_shannon(first, second), expected, atol=1e-7)
    same = jensen_shannon(first, first)
    np.testing.assert_allclose(np.diagonal(same), 0, atol=1e-7)
    np.testing.assert_allclose(same, same.T, atol=1e-7)


def test_pooling_rare_words_never_moves_topics_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = np.random.default_rng(0).dirichlet(np.full(200, 0.05), 6)
    whole = jensen_shannon(topics, topics)
    monkeypatch.setattr("metalda.evaluation.matching.MAX_WORDS", 150)
    (pooled,) = pool_rare(topics)
    assert pooled.shape == (6, 151)
    np.testing.assert_allclose(pooled.sum(axis=1), 1)
    near = jensen_shannon(pooled, pooled)
    assert (near <= whole + 1e-7).all()
    np.testing.assert_allclose(near, whole, atol=0.05)


def test_a_topic_recurs_if_each_is_the_most_similar_to_the_other() -> None:
    similarity = np.array([[0.9, 0.85, 0.1], [0.95, 0.2, 0.1], [0.1, 0.1, 0.79]])
    first, second = same_topics(similarity)  # 0 is most like 0, which is most like 1; 2 is not similar enough
    assert (first.tolist(), second.tolist()) == ([1], [0])


def test_recurring_topics_have_the_numbers_of_their_models() -> None:
    model = LDA(3, **QUICK).fit(corpus())
    found = recurring_topics(model, model.hide([0]))
    assert sorted(found["topic"]) == sorted(found["other_topic"]) == [1, 2]
    assert found["similarity"].to_list() == pytest.approx([1, 1])
