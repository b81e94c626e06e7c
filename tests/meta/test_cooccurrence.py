"""Word vectors from the co-occurrences of a corpus."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metalda import Corpus, Embeddings, MetaLDA
from metalda.errors import InputError
from metalda.meta.cooccurrence import count_pairs, positive_information
from metalda.utils import chunks

THEMES = [["cat", "dog", "bone", "milk", "fur"], ["rain", "sun", "storm", "wind", "hail"]]


def themed_corpus(n_documents=200):
    rng = np.random.default_rng(0)
    return Corpus.from_tokens([list(rng.choice(THEMES[d % 2], size=4)) for d in range(n_documents)])


@given(
    st.lists(st.lists(st.integers(0, 4), max_size=7), min_size=1, max_size=5),
    st.integers(1, 4),
    st.sampled_from([2, 9]),
)
@settings(deadline=None)
def test_pairs_are_counted_within_the_window_and_the_document(documents, window, chunk):
    words = np.array([w for d in documents for w in d], np.int32)
    offsets = np.cumsum([0, *map(len, documents)])
    expected = np.zeros((5, 5), int)
    for document in documents:
        for i, a in enumerate(document):
            for j, b in enumerate(document):
                expected[a, b] += 0 < abs(i - j) <= window
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK", chunk)
        np.testing.assert_array_equal(count_pairs(words, offsets, 5, window).toarray(), expected)


def test_information_is_positive_and_that_of_its_formula():
    corpus = themed_corpus(30)
    counts = count_pairs(corpus.words, corpus.offsets, 10, 3)
    information, table = positive_information(counts).toarray(), counts.toarray()
    totals = Counter({i: int(table[i].sum()) for i in range(10)})
    smooth = sum(n**0.75 for n in totals.values())
    for i in range(10):
        for j in range(10):
            share = table[i, j] / totals[i]
            expected = max(0, math.log(share / (totals[j] ** 0.75 / smooth))) if share else 0
            assert information[i, j] == pytest.approx(expected)


def test_words_of_one_theme_have_similar_vectors():
    vectors = Embeddings.learn(themed_corpus(), dimension=2)
    unit = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    theme = np.array([word in THEMES[0] for word in vectors.words])
    similar = unit @ unit.T
    assert similar[theme][:, theme].min() > 0.9 > 0.1 > abs(similar[theme][:, ~theme]).max()


def test_learning_twice_gives_the_same_bits_and_features_for_a_model():
    corpus = themed_corpus()
    first, second = Embeddings.learn(corpus, dimension=3), Embeddings.learn(corpus, dimension=3)
    assert first.words == second.words == corpus.vocabulary
    np.testing.assert_array_equal(first.vectors, second.vectors)
    model = MetaLDA(2, word_features=first.binarize(), n_iter=20, random_state=0, verbose=False).fit(corpus)
    assert len(model.feature_names_) > 0


def test_words_that_occur_alone_have_no_vector():
    corpus = Corpus.from_tokens([["cat", "dog"], ["dog", "cat"], ["alone"], ["rain", "sun"]])
    assert Embeddings.learn(corpus, dimension=2).words == ("cat", "dog", "rain", "sun")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dimension": 11}, "dimension=11, but the corpus has 10 words"),
        ({"dimension": 0}, "dimension=0: an integer of at least 1"),
        ({"dimension": 2.5}, "dimension=2.5"),
        ({"dimension": 2, "window": 0}, "window=0"),
        ({"dimension": 2, "window": True}, "window=True"),
    ],
)
def test_bad_settings_are_one_line(settings, message):
    with pytest.raises(InputError, match=message):
        Embeddings.learn(themed_corpus(), **settings)


def test_a_corpus_without_pairs_is_refused():
    with pytest.raises(InputError, match="no two words of the corpus occur together"):
        Embeddings.learn(Corpus.from_tokens([["a"], ["b"], []]), dimension=1)
