"""Words are found again in texts as written, wherever tokenizing took them from."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalda import Corpus
from metalda.corpus.spans import WordFinder

ENGLISH = "The CATS of New York saw “cats”, co-op; the Bank of England's NEW York.\nCats 42 x 3.14!"
GERMAN = "Die Kö\N{SOFT HYPHEN}che kochten Ko\N{COMBINING DIAERESIS}ln — ﬁndige Straße. ’s ist STRASSE"
GREEK = "ΟΔΟΣ ΣΟΦΙΑΣ οδος İstanbul"
CHINESE = "我喜欢Python编程。编程很有趣, 我喜欢编程"
HINDI = "हिन्दी में लिखना, हिन्दी"
EMOJI = "🙂 rain 🌧️ rain 👩‍👩‍👧 sun"
KEEP = {"min_df": 1, "max_df": 1.0, "stop_words": None}


def found_in(corpus: Corpus, text: str) -> list[tuple[str, str]]:
    """Return the words that are found, as written and as in the vocabulary."""
    find = WordFinder({word: i for i, word in enumerate(corpus.vocabulary)}, corpus.schema)
    spans = find(text)
    assert all(first.end <= second.start for first, second in pairwise(spans))
    return [(text[start:end], corpus.vocabulary[word]) for start, end, word in spans]


@pytest.mark.parametrize("text", [ENGLISH, GERMAN, GREEK, HINDI, EMOJI])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"lowercase": False},
        {"stop_words": "english"},
        {"stem": "english"},
        {"stem": "german", "stop_words": "german"},
        {"token_pattern": r"\w+"},
        {"token_pattern": r"[^\W\d_]{2,}"},
        {"phrases": [("new", "york"), ("bank", "england")], "stop_words": "english"},
        {"ngram_range": (2, 2)},
    ],
)
def test_the_words_found_are_the_tokens_of_the_corpus(text, how):
    corpus = Corpus.from_texts([text], **{**KEEP, **how})
    words = [word for _, word in found_in(corpus, text)]
    if "ngram_range" in how:  # pairs overlap: every other one is found
        assert words == corpus.document(0)[::2]
    else:
        assert words == corpus.document(0)


CLUSTERS = [
    "a",
    "à",
    "a\u0300",
    "ß",
    " ",
    "Σ",
    "ς",
    "İ",
    "ﬁ",
    "\u00ad",
    "’",
    "'",
    "ｶﾞ",
    "한",
    "ᄒ\u1161\u11ab",
    "我",
    "🙂",
]


@given(st.lists(st.sampled_from(CLUSTERS), max_size=12).map("".join))
def test_places_in_any_text_are_those_of_its_words(text):
    corpus = Corpus.from_texts([text, "padding"], **KEEP, token_pattern=r"\w+")
    found = found_in(corpus, text)
    assert [word for _, word in found] == corpus.document(0)
    for written, word in found:
        plain = unicodedata.normalize("NFKC", written).lower().replace("\u00ad", "")
        assert word.replace("ς", "σ") in unicodedata.normalize("NFC", plain).replace("ς", "σ")


def test_written_forms_are_shown_not_those_of_the_vocabulary():
    phrases = Corpus.from_texts([ENGLISH], **{**KEEP, "stop_words": "english"}, phrases=[("bank", "england")])
    assert ("Bank of England", "bank_england") in found_in(phrases, ENGLISH)
    german = Corpus.from_texts([GERMAN], **KEEP)
    assert [written for written, word in found_in(german, GERMAN) if word in ("köche", "köln", "findige")] == [
        "Kö\N{SOFT HYPHEN}che",
        "Ko\N{COMBINING DIAERESIS}ln",
        "ﬁndige",
    ]
    emoji = Corpus.from_texts([EMOJI], **KEEP)
    assert [written for written, _ in found_in(emoji, EMOJI)] == ["rain", "rain", "sun"]


def test_words_of_scripts_without_spaces_are_found_without_their_tokenizer():
    pairs = Corpus.from_texts([CHINESE], **KEEP, tokenizer="characters:2")
    found = found_in(pairs, CHINESE)
    assert found[:3] == [("我喜", "我喜"), ("Python", "python"), ("编程", "编程")]
    cut = {
        "我喜欢Python编程。编程很有趣, 我喜欢编程": [
            "我",
            "喜欢",
            "python",
            "编程",
            "编程",
            "很",
            "有趣",
            "我",
            "喜欢",
            "编程",
        ]
    }
    words = Corpus.from_texts([CHINESE], **KEEP, tokenizer=lambda text: cut[CHINESE])
    assert [word for _, word in found_in(words, CHINESE)] == cut[CHINESE]


def test_tokens_of_the_caller_are_found_as_they_are_or_in_lowercase():
    tokens = Corpus.from_tokens([["cat", "NASA", "sleep"]])
    assert found_in(tokens, "Cats? The Cat of NASA, not nasa, slept.") == [("Cat", "cat"), ("NASA", "NASA")]
    function = Corpus.from_texts(["Rain RAIN"], **KEEP, analyzer=str.split)
    assert found_in(function, "Rain RAIN rain") == [("Rain", "Rain"), ("RAIN", "RAIN")]


@pytest.mark.parametrize(
    ("text", "pattern", "places"),
    [
        ("concatenate cat", r"\bcat\b|\bdog\b", [(12, 15)]),
        ("art of smart art", r"\b\w{3}\b", [(0, 3), (13, 16)]),
        ("cat #cat dog", r"(?<=#)\w+", [(5, 8)]),
        ("cat #cat dog", r"#(\w+)", [(5, 8)]),
        ("cat #cat dog", r"#(\w+)|cat", [(5, 8)]),  # the first match has no group
        ("smart art", r"\b(?=(art))", [(6, 9)]),
    ],
)
def test_tokens_of_a_pattern_are_marked_where_it_found_them(text, pattern, places):
    corpus = Corpus.from_texts([text], **KEEP, token_pattern=pattern)
    find = WordFinder({word: i for i, word in enumerate(corpus.vocabulary)}, corpus.schema)
    assert [(span.start, span.end) for span in find(text)] == places


def test_parts_of_words_are_not_marked():
    corpus = Corpus.from_texts(["cat dog"], **KEEP, analyzer="char_wb", ngram_range=(2, 3))
    assert found_in(corpus, "cat dog") == []


def test_a_word_within_another_is_not_found():
    corpus = Corpus.from_texts(["cat concatenate"], **KEEP)
    assert found_in(corpus[[0]], "Concatenated cats: cat") == [("cat", "cat")]
