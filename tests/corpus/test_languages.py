"""Texts in any language: stop words by language, a guess that is said, stems, and one line where words are missing."""

import json
import logging
import warnings

import pandas as pd
import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS as OF_SCIKIT_LEARN

import metalda
from corpus.samples import ENGLISH, SAMPLES, UNSPACED
from metalda import LDA, Corpus
from metalda.corpus import Schema
from metalda.corpus.english import ENGLISH_STOP_WORDS
from metalda.corpus.languages import NAMES, guess_language, stop_word_code, stop_words
from metalda.corpus.unicode import find_words
from metalda.errors import InputError

WORDS = {"de": "kartoffeln", "fr": "gouvernement", "ar": "البطاطس", "ru": "картофель", "hi": "आलू"}
DROPPED = {"de": "die", "fr": "les", "ar": "من", "ru": "не", "hi": "के"}


def hints_of(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("language", SAMPLES)
def test_the_language_is_guessed_and_said_and_its_stop_words_are_dropped(language, caplog):
    with caplog.at_level(logging.INFO, "metalda.corpus"):
        corpus = Corpus.from_texts(SAMPLES[language])
    assert WORDS[language] in corpus.vocabulary
    assert DROPPED[language] not in corpus.vocabulary
    assert corpus.schema.stop_words == language
    (message,) = [record.getMessage() for record in caplog.records if "seem to be" in record.getMessage()]
    assert message == (
        f"the texts seem to be {NAMES[language].capitalize()} ({language}), so its stop words are dropped: "
        f"'{language}' in place of stop_words='auto' (--stop-words)"
    )


@pytest.mark.parametrize(
    "texts",
    [ENGLISH, ["war die man hat"], ["cat dog"] * 50, ["quick brown fox lazy jumps tax vote"] * 20, [""] * 3 + ["a1"]],
)
def test_english_and_unclear_texts_have_english_stop_words_without_a_message(texts, caplog):
    with caplog.at_level(logging.INFO, "metalda.corpus"):
        guessed = Corpus.from_texts(texts)
    assert not caplog.records
    assert guessed.schema.stop_words == "english"
    english = Corpus.from_texts(texts, stop_words="english")
    assert guessed.vocabulary == english.vocabulary
    assert list(guessed) == list(english)


def test_english_stop_words_for_another_language_are_one_hint():
    frame = pd.DataFrame({"text": SAMPLES["de"]})
    hints = hints_of(lambda: Corpus.from_texts(SAMPLES["de"], stop_words="english"))
    assert hints == [
        "the texts seem to be German (de), but English stop words are dropped: give stop_words='de' (--stop-words de)"
    ]
    assert hints == hints_of(lambda: Corpus.from_frame(frame, stop_words="english"))
    assert hints_of(lambda: Corpus.from_texts(ENGLISH, stop_words="english")) == []
    assert hints_of(lambda: Corpus.from_texts(SAMPLES["de"], stop_words=None)) == []
    assert hints_of(lambda: Corpus.from_texts(SAMPLES["de"])) == []


def test_new_documents_are_not_guessed_and_give_no_hint():
    schema = Corpus.from_frame(pd.DataFrame({"text": ENGLISH})).schema
    new = pd.DataFrame({"text": SAMPLES["de"]})
    assert hints_of(lambda: Corpus.from_frame(new, schema=schema)) == []
    assert hints_of(lambda: Corpus.texts_like(SAMPLES["de"], None, schema)) == []
    assert Corpus.from_frame(new, schema=schema).schema.stop_words == "english"


def test_files_frames_texts_and_prepared_corpora_are_guessed_alike(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(SAMPLES["fr"]), encoding="utf-8")
    expected = Corpus.from_texts(SAMPLES["fr"])
    for corpus in (
        Corpus.read(path),
        Corpus.from_frame(pd.DataFrame({"text": SAMPLES["fr"]})),
        Corpus.prepare(path, tmp_path / "corpus"),
    ):
        assert (list(corpus), corpus.schema.stop_words) == (list(expected), "fr")


def test_a_list_of_tokens_is_neither_guessed_nor_changed(tmp_path):
    tokens = [text.lower().split() for text in SAMPLES["de"]]
    path = tmp_path / "tokens.jsonl"
    path.write_text("\n".join(json.dumps({"text": each}) for each in tokens), encoding="utf-8")
    assert list(Corpus.read(path, stem="german")) == tokens


def test_languages_have_codes_and_names():
    assert stop_word_code("de") == stop_word_code("German") == "de"
    assert stop_word_code("en") == stop_word_code("english") == "english"
    assert Schema(stop_words="french").stop_words == "fr"
    assert {"aujourd", "hui", "les"} <= stop_words("fr")
    assert stop_words("en") == metalda.stop_words("english") >= {"the", "of"}
    for code in set(NAMES) - {"ne", "sr", "ta", "yi"}:  # these have a stemmer only
        words = stop_words(code)
        assert len(words) > 25
        assert not any(character.isspace() for word in words for character in word)


@pytest.mark.parametrize("language", ["klingon", "xx", "ta", ""])
def test_a_language_without_a_list_is_one_line(language):
    with pytest.raises(InputError, match=r"no list for this language; .* af, ar, bg.*\(--stop-words\)"):
        Corpus.from_texts(["a b"], stop_words=language)


def test_in_a_list_codes_are_words():
    assert Corpus.from_texts(["de la maison german"], stop_words=["de", "la"]).vocabulary == ("german", "maison")


def test_a_stop_word_that_is_no_token_is_one_hint():
    (hint,) = hints_of(lambda: Corpus.from_texts(["don't stop"], stop_words=["don't"]))
    assert hint == "stop_words: texts have no token \"don't\", but 'don', which is kept: add it to stop_words"
    assert hints_of(lambda: Corpus.from_texts(["don't stop"], stop_words=["don't", "don"])) == []


def test_a_few_words_tell_no_language():
    assert guess_language(["die", "der", "und"] * 20) is None
    assert guess_language(find_words(" ".join(SAMPLES["de"]).lower())) == "de"
    assert guess_language([]) is None


def test_words_are_reduced_to_stems_after_stop_words_and_before_n_grams():
    texts = ["Die Häuser der Stadt", "Das Haus und die Städte"]
    corpus = Corpus.from_texts(texts, stop_words="de", stem="de")
    assert list(corpus) == [["haus", "stadt"], ["haus", "stadt"]]
    assert corpus.schema.stem == "german"
    assert "haus stadt" in Corpus.from_texts(texts, stop_words="de", stem="german", ngram_range=(1, 2)).vocabulary


def test_a_loaded_model_stems_and_drops_like_the_one_that_was_saved(tmp_path):
    corpus = Corpus.from_texts(SAMPLES["de"] * 3, stem="de")
    model = LDA(2, n_iter=20, random_state=0, verbose=False).fit(corpus)
    model.save(tmp_path / "model")
    loaded = metalda.load(tmp_path / "model")
    assert loaded.schema_ == model.schema_
    assert (loaded.schema_.stem, loaded.schema_.stop_words) == ("german", "de")
    new = ["Die Kartoffel und der Minister mit den Steuern"]
    assert (loaded.transform(new) == model.transform(new)).all()
    assert list(Corpus.texts_like(new, None, loaded.schema_)) == [["kartoffel", "minist", "steu"]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stem": "klingon"}, r"stem='klingon': no Snowball stemmer .*german.*\(--stem\)"),
        ({"stem": "zh"}, "no Snowball stemmer"),
        ({"stem": 3}, "stem=3"),
        ({"stem": "de", "analyzer": "char"}, "stem has no effect on the analyzer 'char'"),
        ({"stem": "de", "analyzer": str.split}, "stem has no effect"),
    ],
)
def test_bad_stemmers_are_one_line(settings, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_texts(["a b"], **settings)


@pytest.mark.parametrize("language", UNSPACED)
def test_scripts_without_spaces_are_one_hint_and_pairs_of_characters(language):
    (hint,) = hints_of(lambda: Corpus.from_texts(UNSPACED[language]))
    assert "of the letters are of scripts without spaces between words" in hint
    assert "tokenizer='jieba:lcut'" in hint
    assert "\n" not in hint
    corpus = Corpus.from_texts(UNSPACED[language])
    assert corpus.schema.tokenizer == "characters:2"
    assert max(map(len, corpus.vocabulary)) <= 6  # two letters with their marks
    assert hints_of(lambda: Corpus.from_texts(UNSPACED[language], tokenizer="characters:2")) == []


def test_a_few_letters_of_such_scripts_are_no_hint():
    texts = [*ENGLISH, "the city of 北京 is large"]
    assert hints_of(lambda: Corpus.from_texts(texts)) == []
    assert Corpus.from_texts(texts).schema.tokenizer is None
    assert hints_of(lambda: Corpus.from_texts(UNSPACED["zh"], token_pattern=r"\w")) == []


def test_english_stop_words_are_those_of_scikit_learn() -> None:
    assert ENGLISH_STOP_WORDS == OF_SCIKIT_LEARN
