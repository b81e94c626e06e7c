"""Texts become the words that scikit-learn's CountVectorizer counts, in their order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from metalda import LDA
from metalda.corpus import Corpus
from metalda.corpus.vocabulary import document_frequency
from metalda.errors import InputError

TEXTS = [
    "The cat sat on the mat. The CAT!",
    "A dog, a cat & a bird; don't stop",
    "",
    "Über straße naïve 日本語 テキスト x",
    "the the the dog dog mat zebra apple",
    "apple banana cherry apple the",
    "banana mat",
]
SETTINGS = [
    {},
    {"lowercase": False},
    {"min_df": 2},
    {"min_df": 0.3},
    {"min_df": 2 / 7},
    {"max_df": 0.4},
    {"max_df": 2},
    {"min_df": 2, "max_df": 0.5},
    {"stop_words": "english"},
    {"stop_words": ["the", "cat"]},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3), "stop_words": "english", "min_df": 1},
    {"max_features": 3},
    {"max_features": 7},
    {"max_features": 2, "min_df": 2},
    {"token_pattern": r"[a-z]+"},
    {"token_pattern": r"(\w)\w*"},
    {"analyzer": "char", "ngram_range": (1, 3), "min_df": 2},
    {"analyzer": "char_wb", "ngram_range": (2, 2)},
    {"analyzer": str.split},
    {"vocabulary": ["mat", "dog", "nowhere"]},
    {"vocabulary": {"dog": 0, "mat": 1}},
    {"vocabulary": {"mat", "dog"}, "min_df": 5},
]


@pytest.mark.filterwarnings("ignore:.*(token_pattern|lowercase|ngram_range|stop_words).*:UserWarning")
@pytest.mark.parametrize("setting", SETTINGS)
def test_counts_and_vocabulary_are_those_of_count_vectorizer(setting):
    reference = {"analyzer": "word"} | setting
    vectorizer = CountVectorizer(**reference)
    expected = vectorizer.fit_transform(TEXTS)
    corpus = Corpus.from_texts(TEXTS, **{"stop_words": None, **setting})
    assert list(corpus.vocabulary) == vectorizer.get_feature_names_out().tolist()
    np.testing.assert_array_equal(corpus.counts().toarray(), expected.toarray())


@given(
    st.lists(st.lists(st.sampled_from(["aa", "bb", "cc", "dd", "The", "ee"]), max_size=6).map(" ".join), min_size=1),
    st.sampled_from([1, 2, 0.25, 0.5]),
    st.sampled_from([1.0, 0.5, 0.75, 3]),
    st.sampled_from([None, 1, 2, 4]),
)
@settings(deadline=None)
def test_filters_are_those_of_count_vectorizer(texts, min_df, max_df, max_features):
    keywords = {"min_df": min_df, "max_df": max_df, "max_features": max_features, "stop_words": None}
    try:
        vectorizer = CountVectorizer(**keywords)
        expected = vectorizer.fit_transform(texts)
    except ValueError:
        with pytest.raises(InputError):
            Corpus.from_texts(texts, **keywords)
        return
    corpus = Corpus.from_texts(texts, **keywords)
    assert list(corpus.vocabulary) == vectorizer.get_feature_names_out().tolist()
    np.testing.assert_array_equal(corpus.counts().toarray(), expected.toarray())


def test_word_order_is_kept_through_every_filter():
    corpus = Corpus.from_texts(["zz the aa zz mm aa", "zz aa once"], stop_words=["the"], min_df=2)
    assert list(corpus) == [["zz", "aa", "zz", "aa"], ["zz", "aa"]]
    assert corpus.vocabulary == ("aa", "zz")


def test_missing_texts_are_empty_documents():
    assert list(Corpus.from_texts(["ab cd", None, float("nan"), "ab"])) == [["ab", "cd"], [], [], ["ab"]]


def test_texts_may_come_from_a_generator_with_labels_and_ids():
    corpus = Corpus.from_texts((t for t in ["ab", "cd"]), labels=["x", None], ids=np.array([5, 6]))
    assert corpus.ids == ("5", "6")
    assert corpus.labels.matrix.toarray().tolist() == [[1], [0]]


def test_tokens_are_used_as_they_are():
    documents = [["The", "a", "", "x y"], (), np.array(["The", "b"])]
    corpus = Corpus.from_tokens(documents)
    assert list(corpus) == [list(d) for d in documents]
    assert all(type(word) is str for word in corpus.vocabulary)
    assert list(Corpus.from_tokens(documents, stop_words=["The"], min_df=1)) == [["a", "", "x y"], [], ["b"]]
    assert list(Corpus.from_tokens([["the", "cat"]], stop_words="english")) == [["cat"]]
    assert list(Corpus.from_tokens(documents, vocabulary=["b", "a"])) == [["a"], [], ["b"]]
    assert Corpus.from_tokens(documents, vocabulary=["b", "a"]).vocabulary == ("b", "a")


def test_a_document_of_a_million_words_is_fine():
    corpus = Corpus.from_texts(["word " * 1_000_000 + "more", "more"], stop_words=None)
    assert corpus.n_tokens == 1_000_002
    assert corpus.shape == (2, 2)


@given(st.lists(st.lists(st.integers(0, 5), max_size=5), min_size=1, max_size=6))
def test_document_frequency_counts_documents(documents):
    words = np.array([w for d in documents for w in d], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, documents)])
    expected = [sum(w in d for d in documents) for w in range(6)]
    assert document_frequency(words, offsets, 6).tolist() == expected


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"min_df": 50}, "no words left: 16 words in 7 documents, and none passes min_df=50"),
        ({"min_df": 5, "max_df": 2}, "no words left: .* passes min_df=5, max_df=2: lower min_df"),
        ({"min_df": -1}, "min_df=-1"),
        ({"min_df": 1.5}, "a float is a share between 0 and 1"),
        ({"max_df": "a"}, "max_df='a'"),
        ({"min_df": True}, "min_df=True"),
        ({"max_df": float("nan")}, "max_df=nan"),
        ({"max_features": 0}, "max_features=0"),
        ({"token_pattern": "("}, "is not a regular expression"),
        ({"token_pattern": "(a)(b)"}, "capturing group"),
        ({"token_pattern": "QQQ"}, "no words in 7 documents: check the text field, token_pattern"),
        ({"ngram_range": (2, 1)}, "ngram_range"),
        ({"ngram_range": (0, 1)}, "ngram_range"),
        ({"stop_words": "klingon"}, "klingon"),
        ({"analyzer": "sentence"}, "sentence"),
        ({"vocabulary": []}, "vocabulary is empty"),
        ({"vocabulary": ["a", "a"]}, "'a' twice"),
        ({"vocabulary": "abc"}, "vocabulary is one string"),
    ],
)
def test_bad_settings_are_one_line(keywords, message):
    with pytest.raises(InputError, match=message) as error:
        Corpus.from_texts(TEXTS, **keywords)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Corpus.from_texts("one text"), "not one string"),
        (lambda: Corpus.from_texts([]), "no documents"),
        (lambda: Corpus.from_texts(["ab", 3]), "document 1 is int, not a text"),
        (lambda: Corpus.from_texts([["ab"]]), "document 0 is list.*from_tokens"),
        (lambda: Corpus.from_texts(["ab"], labels=["x", "y"]), "labels for 2 documents, but there are 1 documents"),
        (lambda: Corpus.from_texts(["ab"], ids=["x", "y"]), "ids for 2 documents, but there are 1 documents"),
        (lambda: Corpus.from_texts(["ab"], ids="x"), "ids must be a list"),
        (lambda: Corpus.from_texts(["", None]), "no words in 2 documents"),
        (lambda: Corpus.from_tokens("one text"), "not one string"),
        (lambda: Corpus.from_tokens([["a"], "b c"]), "document 1 is one string.*from_texts"),
        (lambda: Corpus.from_tokens([["a"], [3]]), "tokens must be strings, but 3 is int"),
        (lambda: Corpus.from_tokens([["a"], [[3]]]), "document 1: tokens must be strings"),
        (lambda: Corpus.from_tokens([["a"], None]), "document 1: tokens must be strings"),
        (lambda: Corpus.from_tokens([[], []]), "no words in 2 documents"),
        (lambda: Corpus.from_tokens([["a"]], stop_words="klingon"), "stop_words='klingon'"),
    ],
)
def test_bad_documents_are_one_line(make, message):
    with pytest.raises(InputError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def _documents(n_documents: int) -> list[str]:
    """Documents with a word of their own, a word that d of them share for d = 2 to 5, and one that all have."""
    shared = {d: range(d) for d in (2, 3, 4, 5)}
    return [
        " ".join(["common", f"own{i}", *(f"df{d}" for d, places in shared.items() if i in places)])
        for i in range(n_documents)
    ]


@pytest.mark.parametrize(
    ("n_documents", "kept"),
    [
        (20, {"common", "df2", "df3", "df4", "df5", "own0"}),
        (99, {"common", "df2", "df3", "df4", "df5", "own0"}),
        (100, {"df2", "df3", "df4", "df5"}),
        (999, {"df2", "df3", "df4", "df5"}),
        (1000, {"df5"}),
    ],
)
def test_auto_filters_grow_with_the_corpus(n_documents, kept, tmp_path, caplog):
    texts = _documents(n_documents)
    with caplog.at_level("INFO", "metalda.corpus"):
        corpus = Corpus.from_texts(texts)
    assert {word for word in corpus.vocabulary if not word.startswith("own")} | {"own0"} & set(
        corpus.vocabulary
    ) == kept
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts))
    assert Corpus.read(path).vocabulary == corpus.vocabulary
    assert Corpus.prepare(path, tmp_path / "corpus").vocabulary == corpus.vocabulary
    assert len(Corpus.from_texts(texts, min_df=1, max_df=1.0).vocabulary) == n_documents + 5
    assert len(Corpus.from_tokens([text.split() for text in texts]).vocabulary) == n_documents + 5
    said = [record.getMessage() for record in caplog.records if "dropped" in record.getMessage()]
    if n_documents < 100:
        assert said == []
    if n_documents == 1000:
        assert said == [
            "dropped 1,003 of 1,005 words: in fewer than 5 documents, 50.1% of the tokens; min_df=1 (--min-df 1) keeps "
            "them",
            "dropped 1 of 1,005 words: in more than 500 documents, 49.7% of the tokens; max_df=1.0 (--max-df 1.0) "
            "keeps them",
        ]


def test_auto_filters_never_drop_all_words():
    assert len(Corpus.from_texts([f"word{i}" for i in range(200)]).vocabulary) == 200
    with pytest.raises(InputError, match=r"none passes min_df=2, max_df=0\.5: lower min_df"):
        Corpus.from_texts([f"word{i}" for i in range(200)], min_df=2)


def test_auto_filters_are_for_training_only():
    texts = _documents(200)
    model = LDA(2, n_iter=2, random_state=0, verbose=False).fit(texts)
    assert model.vocabulary_ == ("df2", "df3", "df4", "df5")
    frame = pd.DataFrame({"text": texts})
    by_frame = LDA(2, n_iter=2, random_state=0, verbose=False).fit(Corpus.from_frame(frame))
    assert by_frame.vocabulary_ == model.vocabulary_
    new = ["df2 df2 df3", *["df4 df5"] * 200]  # df4 and df5 are in most of them, df2 in one
    assert model.to_corpus(new).n_tokens == 403
    assert by_frame.to_corpus(pd.DataFrame({"text": new})).n_tokens == 403
    np.testing.assert_array_equal(model.transform(new), np.vstack([model.transform([text]) for text in new]))
