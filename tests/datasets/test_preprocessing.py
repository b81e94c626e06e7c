"""The paper's preprocessing."""

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalda import Corpus, Embeddings, WordFeatures
from metalda.corpus.english import ENGLISH_STOP_WORDS
from metalda.datasets import NLTK_STOP_WORDS
from metalda.datasets.preprocessing import keep_words_with_vectors, mallet_pattern, paper_corpus
from metalda.errors import InputError


def words_by_definition(text: str) -> list[str]:
    """Runs of letters and punctuation, from their first letter to their last, of three characters at least."""
    words, start = [], 0
    kinds = ["L" if (k := unicodedata.category(c)[0]) == "L" else "P" if k == "P" else " " for c in text] + [" "]
    for end, kind in enumerate(kinds):
        if kind == " ":
            letters = [i for i in range(start, end) if kinds[i] == "L"]
            if letters and letters[-1] - letters[0] >= 2:
                words.append(text[letters[0] : letters[-1] + 1])
            start = end + 1
    return words


@given(st.text(alphabet="ab-.'_ é9²½+$«中\n", max_size=30))
def test_a_word_runs_from_a_letter_over_letters_and_punctuation_to_a_letter(text):
    assert re.findall(mallet_pattern(), text) == words_by_definition(text)


def test_words_of_mallet():
    text = "long-term U.S. trade; don't say at 1987's end, x_y $5.3mln ok bold</b> a--b ..."
    expected = ["long-term", "U.S", "trade", "don't", "say", "end", "x_y", "mln", "bold</b", "a--b"]
    assert re.findall(mallet_pattern(), text.replace("<", "/")) == [word.replace("<", "/") for word in expected]


def test_rare_words_and_those_of_nearly_all_texts_go_as_do_stop_words():
    texts = [f"the reuter market {'rally' if i < 5 else 'crash'} {'boom' if i < 4 else ''}" for i in range(40)]
    texts[0] = "the market rally boom"
    texts[1:3] = ["the rally", "the rally"]
    corpus = paper_corpus(texts, ["a"] * 40, map(str, range(40)))
    assert corpus.vocabulary == ("crash", "market", "rally", "reuter")  # 35, 38, 5 and 37 of 40
    assert paper_corpus([t + " fed" for t in texts], ["a"] * 40, map(str, range(40))).vocabulary == corpus.vocabulary
    assert "boom" in paper_corpus(texts, ["a"] * 40, map(str, range(40)), min_df=1).vocabulary


def test_the_stop_words_are_the_127_that_nltk_had_before_contractions():
    words = set(NLTK_STOP_WORDS)
    assert len(NLTK_STOP_WORDS) == len(words) == 127
    assert words - ENGLISH_STOP_WORDS == {"did", "does", "doing", "don", "having", "just", "s", "t", "theirs"}
    assert not words & {"ain", "d", "don't", "ll", "m", "o", "re", "shan", "ve", "y"}  # of later versions


def test_words_that_only_longer_lists_have_are_kept():
    texts = ["the system would fall", "having a system would do", "just a system", "theirs would", "does it fall"]
    corpus = paper_corpus(texts, None, map(str, range(5)), min_df=2)
    assert list(corpus) == [["system", "would", "fall"], ["system", "would"], ["system"], ["would"], ["fall"]]
    shorter = paper_corpus(texts, None, map(str, range(5)), min_df=2, stop_words="english")
    assert shorter.vocabulary == ("fall",)  # scikit-learn's list has "system" and "would"


@pytest.mark.parametrize("kind", ["embeddings", "features", "path", "words"])
def test_words_without_a_vector_go_but_documents_stay(tmp_path, kind):
    corpus = Corpus.from_tokens([["goal", "zzz", "vote"], ["zzz"]], labels=["a", "b"], ids=["1", "2"])
    vectors = Embeddings(("vote", "goal", "other"), np.eye(3))
    (tmp_path / "glove.txt").write_text("vote 1 0\ngoal 0 1\n")
    given = {
        "embeddings": vectors,
        "features": WordFeatures.from_mapping({"vote": ["x"], "goal": ["y"]}),
        "path": tmp_path / "glove.txt",
        "words": ["vote", "goal"],
    }
    kept = keep_words_with_vectors(corpus, given[kind])
    assert list(kept) == [["goal", "vote"], []]
    assert kept.vocabulary == ("goal", "vote")
    assert kept.label_names == ("a", "b")
    assert kept.ids == ("1", "2")


def test_no_word_with_a_vector_is_an_error():
    corpus = Corpus.from_tokens([["goal"]])
    with pytest.raises(InputError, match="none of the 1 words"):
        keep_words_with_vectors(corpus, ["vote"])
