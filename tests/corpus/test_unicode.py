"""One spelling for what looks the same; ASCII stays as it is."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalda import Corpus, count_windows
from metalda.corpus.unicode import find_words, normalize, word_marks


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_is_unchanged(text):
    assert normalize(text) is text


@given(st.text())
def test_normalizing_twice_changes_nothing_more(text):
    once = normalize(text)
    assert unicodedata.is_normalized("NFC", once)
    assert normalize(once) == once


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cafe\u0301 café", ["café", "café"]),
        ("Donau\u00addampf\u00adschiff", ["donaudampfschiff"]),
        ("l’homme l'homme", ["homme", "homme"]),
        ("eﬃcient ﬁle", ["efficient", "file"]),
        ("ＡＢＣ ﾊﾞｽ", ["abc", "バス"]),
        ("ﻻﺯﻡ", ["لازم"]),
        ("Windows™ ½ 5m²", ["windows", "5m²"]),
        ("great 👍🏽 party 🎉❤️", ["great", "party"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("İstanbul", ["i\u0307stanbul"]),
    ],
)
def test_words_of_a_text(text, words):
    assert list(Corpus.from_texts([text], stop_words=None)) == [words]


def test_apostrophes_are_alike_for_a_pattern_of_your_own():
    corpus = Corpus.from_texts(["don’t don't"], stop_words=None, token_pattern=r"[\w']+")
    assert corpus.vocabulary == ("don't",)


def test_emoji_are_words_for_a_pattern_that_names_them():
    pattern = r"\w\w+|[\U0001F300-\U0001FAFF]"
    assert list(Corpus.from_texts(["great 👍 party 🎉"], token_pattern=pattern)) == [["great", "👍", "party", "🎉"]]


def test_stop_words_of_your_own_are_normalized():
    assert Corpus.from_texts(["cafe\u0301 the"], stop_words=["cafe\u0301"]).vocabulary == ("the",)


def test_characters_are_counted_after_normalizing():
    assert Corpus.from_texts(["cafe\u0301"], analyzer="char").vocabulary == ("a", "c", "f", "é")


def test_marks_are_part_of_words_and_python_cuts_there():
    assert re.findall(r"\w\w+", "हिन्दी") == []
    assert ord("\u0301") in word_marks()
    assert find_words("หนึ่ง") == ["หนึ่ง"]


def test_references_of_coherence_are_read_like_texts():
    texts = ["cafe\u0301 l’eau", "हिन्दी café"]
    counts = count_windows(["café", "eau", "हिन्दी"], texts, window=0)
    assert counts.together.diagonal().tolist() == [2, 1, 1]
    same = count_windows(["café", "eau", "हिन्दी"], texts, window=0, token_pattern=r"\w[\w\u0900-\u097f]+")
    assert same.together.tolist() == counts.together.tolist()
