"""The order of the words of a topic, and pairs of topics with the same words."""

import numpy as np
import pytest

from contracts import QUICK
from metalda import LDA, Corpus
from metalda.errors import InputError
from metalda.models.word_scores import score_words

PHI = np.array([[0.5, 0.3, 0.15, 0.05, 0.0], [0.5, 0.02, 0.08, 0.3, 0.1]])
MARGINAL = 0.75 * PHI[0] + 0.25 * PHI[1]
SUMS = PHI.sum(axis=0)


def ecdf(values: np.ndarray) -> np.ndarray:
    """The share of values that are not larger."""
    return np.array([(values <= value).mean() for value in values])


def test_lift_is_the_probability_over_that_in_the_corpus():
    np.testing.assert_allclose(score_words(PHI, MARGINAL, SUMS, "lift"), PHI / MARGINAL)


def test_frex_is_the_harmonic_mean_of_the_ranks_of_probability_and_exclusivity():
    scores = score_words(PHI, MARGINAL, SUMS, "frex")
    for k in (0, 1):
        frequency, exclusivity = ecdf(PHI[k]), ecdf(PHI[k] / PHI.sum(axis=0))
        np.testing.assert_allclose(scores[k], 2 / (1 / frequency + 1 / exclusivity))
    assert scores[0].argmax() == 1  # frequent and exclusive, unlike word 0, which both topics have
    assert scores[1].argmax() == 3


def test_relevance_is_between_probability_and_lift():
    scores = score_words(PHI, MARGINAL, SUMS, "relevance")
    positive = PHI > 0
    expected = 0.6 * np.log(PHI[positive]) + 0.4 * np.log((PHI / MARGINAL)[positive])
    np.testing.assert_allclose(scores[positive], expected)
    assert np.isfinite(scores).all()


def test_words_are_ordered_by_the_score_asked_for():
    corpus = Corpus.from_texts(["cat cat dog sun", "dog cat sun", "rain sun rain", "sun rain hail"] * 5)
    model = LDA(2, **QUICK).fit(corpus)
    for by in ("probability", "relevance", "frex", "lift"):
        phi = model.components_.astype(float)
        scores = score_words(phi, model.topics()["share"].to_numpy() @ phi, phi.sum(axis=0), by)
        for k in (0, 1):
            order = [corpus.vocabulary[v] for v in np.argsort(-scores[k], kind="stable")]
            assert model.topics(3, words_by=by)["words"][k] == order[:3]
            table = model.topic_words(k, 3, by)
            assert table["word"].tolist() == order[:3]
            np.testing.assert_allclose(table[by], np.sort(scores[k])[::-1][:3], rtol=1e-6)
    words = model.words_frame(2)
    assert words.columns.tolist() == ["topic", "word", "probability", "relevance", "frex", "lift"]
    assert words["word"].tolist() == [word for own in model.top_words(2) for word in own]
    with pytest.raises(InputError, match=r"words_by='rank': give 'probability', 'relevance', 'frex', 'lift'"):
        model.topics(words_by="rank")


def test_topics_with_the_same_words_are_found():
    rng = np.random.default_rng(0)
    documents = [list(rng.choice(["cat", "dog", "cow", "pig"], 20)) for _ in range(30)]
    documents += [list(rng.choice(["rain", "sun", "fog", "hail"], 20)) for _ in range(30)]
    model = LDA(3, **QUICK).fit(documents)
    found = model.similar_topics()
    assert found.columns.tolist() == ["topic", "other_topic", "similarity"]
    assert len(found) == 1
    first, second, similarity = found.iloc[0]
    phi = model.components_.astype(float)
    assert similarity == pytest.approx(np.sqrt(phi[int(first)] * phi[int(second)]).sum(), abs=1e-6)
    assert len(model.similar_topics(0)) == 3
    with pytest.raises(InputError, match="min_similarity must lie between 0 and 1"):
        model.similar_topics(2)
