"""Phrases: found by their NPMI in training, kept in the schema, and joined in new texts."""

import json
import logging
import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metalda
from metalda import LDA, Corpus
from metalda.corpus import Schema, parts
from metalda.corpus.phrases import PhraseJoiner, TokenArrays, find_pairs, join_pairs
from metalda.errors import InputError
from metalda.utils import chunks

WORDS = ("aa", "bb", "cc", "aa_bb", "dd")
DOCUMENTS = st.lists(st.lists(st.integers(0, 4), max_size=8), min_size=1, max_size=6)
CITIES = [
    "I moved to New York last year",
    "New York is larger than San Francisco",
    "the fog of San Francisco",
    "a new house in New York",
    "San Francisco or New York",
] * 4


def flat(documents):
    words = np.array([word for document in documents for word in document], np.int32)
    return words, np.cumsum([0, *map(len, documents)])


@given(DOCUMENTS, st.integers(1, 3), st.sampled_from([-1, 0, 0.3, 0.9]), st.sampled_from([3, 100]))
@settings(deadline=None)
def test_pairs_are_those_of_the_formula(documents, min_count, threshold, chunk):
    words, offsets = flat(documents)
    totals = Counter(words.tolist())
    counts = Counter(pair for document in documents for pair in pairwise(document) if pair[0] != pair[1])
    n = len(words)
    expected = []
    for (a, b), count in sorted(counts.items()):
        information = math.log(count * n / (totals[a] * totals[b]))
        if count >= min_count and information >= threshold * math.log(n / count) - 1e-12:
            expected.append([a, b])
    pieces = [TokenArrays(*flat([document])) for document in documents]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK", chunk)
        patch.setattr("metalda.corpus.phrases._MOST_COUNTED", chunk)
        for given_pieces in ([TokenArrays(words, offsets)], pieces):
            found = find_pairs(given_pieces, np.bincount(words, minlength=5), min_count, threshold - 1e-12)
            assert found.tolist() == expected


@given(DOCUMENTS, st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4))), st.sampled_from([3, 100]))
@settings(deadline=None)
def test_arrays_are_joined_like_lists_of_tokens(documents, pairs, chunk):
    joiner = PhraseJoiner([(WORDS[a], WORDS[b]) for a, b in pairs])
    expected = [list(joiner([WORDS[word] for word in document])) for document in documents]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK", chunk)
        ids = np.array(sorted(pairs), np.int64).reshape(-1, 2)
        words, offsets, vocabulary = join_pairs(*flat(documents), WORDS, ids)
    found = [[vocabulary[w] for w in words[offsets[d] : offsets[d + 1]]] for d in range(len(documents))]
    assert found == expected
    assert set(vocabulary) == {word for document in expected for word in document}
    assert len(set(vocabulary)) == len(vocabulary)


@given(st.lists(st.sampled_from("abc"), max_size=8), st.sets(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"))))
def test_tokens_are_joined_from_left_to_right(tokens, pairs):
    expected, i = [], 0
    while i < len(tokens):
        is_phrase = tuple(tokens[i : i + 2]) in pairs
        expected.append("_".join(tokens[i : i + 2]) if is_phrase else tokens[i])
        i += 2 if is_phrase else 1
    assert list(PhraseJoiner(pairs)(tokens)) == expected


def test_phrases_are_found_said_and_kept(caplog):
    with caplog.at_level(logging.INFO, "metalda.corpus"):
        corpus = Corpus.from_texts(CITIES, phrases=True, phrase_min_count=5)
    assert corpus.schema.phrases == (("new", "york"), ("san", "francisco"))
    assert "found 2 phrases, such as new_york, san_francisco" in caplog.text
    assert list(corpus[:3]) == [
        ["moved", "new_york", "year"],
        ["new_york", "larger", "san_francisco"],
        ["fog", "san_francisco"],
    ]
    assert list(corpus[3:4]) == [["new", "house", "new_york"]]
    assert Schema.from_json(json.loads(json.dumps(corpus.schema.to_json()))) == corpus.schema


def test_new_documents_have_the_phrases_of_training_also_as_tokens(tmp_path):
    corpus = Corpus.from_frame(pd.DataFrame({"text": CITIES}), phrases=True, phrase_min_count=5)
    model = LDA(2, n_iter=10, random_state=0, verbose=False).fit(corpus)
    model.save(tmp_path / "model")
    loaded = metalda.load(tmp_path / "model")
    assert loaded.schema_ == model.schema_
    assert list(Corpus.texts_like(["San Francisco and York"], None, loaded.schema_)) == [["san_francisco", "york"]]
    tokens = pd.DataFrame({"text": [["san", "francisco", "new"]]})
    assert list(Corpus.from_frame(tokens, schema=loaded.schema_)) == [["san_francisco", "new"]]
    new = ["the fog in San Francisco"]
    assert (loaded.transform(new) == model.transform(new)).all()


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_prepared_corpus_has_the_phrases_of_one_that_is_read(n_jobs, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "MAX_DOCUMENTS", 3)
    (tmp_path / "texts.txt").write_text("\n".join([*CITIES, "new_york", "only here"]))
    how = {"phrases": True, "phrase_min_count": 5, "min_df": 2}
    read = Corpus.read(tmp_path / "texts.txt", **how)
    prepared = Corpus.prepare(tmp_path / "texts.txt", tmp_path / "corpus", n_jobs=n_jobs, **how)
    assert prepared.vocabulary == read.vocabulary
    assert "new_york" in prepared.vocabulary
    assert list(prepared) == list(read)
    assert prepared.schema == read.schema
    assert not (tmp_path / "corpus" / "joined").exists()


def test_phrases_of_your_own_are_joined_and_none_is_found():
    corpus = Corpus.from_texts(CITIES, phrases=[("last", "year"), ["new", "york"]], stop_words=None)
    assert {"last_year", "new_york", "san"} <= set(corpus.vocabulary)
    assert "san_francisco" not in corpus.vocabulary
    fixed = Corpus.from_texts(["to New York"], phrases=[("new", "york")], vocabulary=["new_york", "york"])
    assert list(fixed) == [["new_york"]]


def test_a_corpus_without_phrases_says_so(caplog):
    with caplog.at_level(logging.INFO, "metalda.corpus"):
        corpus = Corpus.from_texts(["cat dog", "dog cat"], phrases=True)
    assert corpus.schema.phrases == ()
    assert "found no phrases: lower phrase_min_count" in caplog.text


def test_phrases_are_stems_if_words_are():
    corpus = Corpus.from_texts(["New York cities", "New York city"] * 3, stem="en", phrases=True, phrase_min_count=3)
    assert corpus.vocabulary == ("citi", "new_york")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"phrases": True, "ngram_range": (1, 2)}, "phrases and ngram_range exclude each other"),
        ({"phrases": True, "analyzer": "char"}, "phrases consist of words, but the analyzer is 'char'"),
        ({"phrases": True, "vocabulary": ["a"]}, "phrases=True and vocabulary= exclude each other"),
        ({"phrases": "new york"}, "give True, or a list of pairs"),
        ({"phrases": ["new york"]}, "'new york' is not a pair of words"),
        ({"phrases": [("a", "b", "c")]}, "is not a pair of words"),
        ({"phrases": [("a", "")]}, "is not a pair of words"),
        ({"phrases": 5}, "give True, or a list of pairs"),
        ({"phrase_min_count": 0}, "phrase_min_count=0"),
        ({"phrase_min_count": 2.5}, "phrase_min_count=2.5"),
        ({"phrase_threshold": 2}, "phrase_threshold=2"),
        ({"phrase_threshold": float("nan")}, "phrase_threshold=nan"),
    ],
)
def test_bad_settings_are_one_line(settings, message):
    with pytest.raises(InputError, match=message) as error:
        Corpus.from_texts(CITIES, **settings)
    assert "\n" not in str(error.value)
