"""Tokenizers by import path: recorded by name, imported and run only if the caller allows it."""

import json
import sys
import textwrap

import pandas as pd
import pytest

import metalda
from corpus.samples import UNSPACED
from metalda import LDA, Corpus
from metalda.corpus import Schema
from metalda.corpus.tokenizers import CharacterTokenizer, unspaced_share
from metalda.errors import InputError
from metalda.storage import read_folder, write_folder


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module with tokenizers, which writes a file when it is imported."""
    folder = tmp_path / "modules"
    folder.mkdir()
    source = """
        from pathlib import Path
        Path(__file__).with_name("imported").write_text("")
        def halves(text):
            return (part for word in text.split() for part in (word[:2], word[2:]))
        def fails(text):
            raise RuntimeError("no\\nluck")
        def numbers(text):
            return [1]
        class Namespace:
            split = staticmethod(str.split)
        constant = 5
    """
    (folder / "own_tokenizer.py").write_text(textwrap.dedent(source))
    (folder / "broken_tokenizer.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(str(folder))
    yield folder / "imported"
    sys.modules.pop("own_tokenizer", None)
    sys.modules.pop("broken_tokenizer", None)


@pytest.fixture
def model_path(module, tmp_path):
    corpus = Corpus.from_texts(["katzhund ,. nebl", "hundkatz", "neblwind"] * 5, tokenizer="own_tokenizer:halves")
    assert list(corpus[:1]) == [["ka", "tzhund", "ne", "bl"]]  # punctuation is dropped
    LDA(2, n_iter=10, random_state=0, verbose=False).fit(corpus).save(tmp_path / "model")
    corpus.save(tmp_path / "corpus")
    sys.modules.pop("own_tokenizer")
    module.unlink()
    return tmp_path / "model"


def test_loading_imports_nothing_and_all_but_new_texts_works(model_path, module, tmp_path):
    model = metalda.load(model_path)
    assert model.schema_.tokenizer == "own_tokenizer:halves"
    assert len(model.topics()) > 0
    assert model.transform([["ka", "tzhund"]]).shape == (1, 2)
    assert model.transform(Corpus.load(tmp_path / "corpus")).shape == (15, 2)
    (tmp_path / "new.jsonl").write_text(json.dumps({"text": ["ka", "tzhund"]}))
    assert list(Corpus.read(tmp_path / "new.jsonl", schema=model.schema_, text="text")) == [["ka", "tzhund"]]
    for use in (
        lambda: model.transform(["katzhund"]),
        lambda: Corpus.from_frame(pd.DataFrame({"text": ["x"]}), schema=model.schema_),
        lambda: metalda.load(model_path).perplexity(["katzhund nebl"]),
        lambda: Corpus.load(tmp_path / "corpus").schema.require_tokenizer(),
    ):
        with pytest.raises(InputError, match=r"'own_tokenizer:halves'.*allow_tokenizer=True \(--allow-tokenizer\)"):
            use()
    assert "own_tokenizer" not in sys.modules
    assert not module.exists()


def test_an_allowed_tokenizer_tokenizes_like_the_one_that_was_saved(model_path, module, tmp_path):
    model = metalda.load(model_path, allow_tokenizer=True)
    assert not module.exists()  # not before it is needed
    (expected,) = metalda.load(model_path).transform([["ka", "tzhund", "ne", "bl"]])
    (found,) = model.transform(["katzhund ,. nebl"])
    assert (found == expected).all()
    assert module.exists()
    corpus = Corpus.load(tmp_path / "corpus", allow_tokenizer=True)
    assert list(Corpus.texts_like(["katzhund"], None, corpus.schema)) == [["ka", "tzhund"]]


def test_who_names_a_tokenizer_allows_it_but_no_other_setting_does(model_path, module):
    schema = metalda.load(model_path).schema_
    for other in (schema.override(labels=()), schema.override(stop_words=None), schema.fitted()):
        assert not other.allow_tokenizer
    assert schema.override(tokenizer="own_tokenizer:halves").allow_tokenizer
    assert not module.exists()


def test_a_prepared_corpus_keeps_the_permission_of_its_caller_only(module, tmp_path):
    (tmp_path / "texts.txt").write_text("katzhund nebl\nhundkatz\n")
    how = {"tokenizer": "own_tokenizer:halves"}
    prepared = Corpus.prepare(tmp_path / "texts.txt", tmp_path / "prepared", **how)
    assert (
        list(prepared)
        == list(Corpus.read(tmp_path / "texts.txt", **how))
        == [["ka", "tzhund", "ne", "bl"], ["hu", "ndkatz"]]
    )
    assert prepared.schema.allow_tokenizer
    assert not Corpus.load(tmp_path / "prepared").schema.allow_tokenizer


@pytest.mark.parametrize("tokenizer", ["os:system", "os.path:join", "characters:2", "antigravity:geohash"])
def test_a_hostile_tokenizer_is_not_imported_by_loading(tokenizer, tmp_path, monkeypatch):
    corpus = Corpus.from_texts(["cat dog", "rain sun"] * 3)
    LDA(2, n_iter=5, random_state=0, verbose=False).fit(corpus).save(tmp_path / "model")
    document, arrays = read_folder(tmp_path / "model", "model")
    document["schema"]["tokenizer"] = tokenizer
    write_folder(tmp_path / "model", "model", document, arrays)
    monkeypatch.setattr("metalda.corpus.tokenizers.import_module", lambda name: pytest.fail(f"imported {name}"))
    model = metalda.load(tmp_path / "model")
    if tokenizer == "characters:2":
        assert model.transform(["cat"]).shape == (1, 2)
    else:
        with pytest.raises(InputError, match="allow_tokenizer=True"):
            model.transform(["cat"])
    assert "antigravity" not in sys.modules


def test_a_function_is_used_but_not_saved():
    corpus = Corpus.from_texts(
        ["a-b c", "b-c"], tokenizer=lambda text: text.replace("-", " ").split(), stop_words=["c"]
    )
    assert list(corpus) == [["a", "b"], ["b"]]
    assert corpus.schema.tokenizer == "(function)"
    with pytest.raises(InputError, match="your own function tokenized, and functions are not saved"):
        corpus.schema.require_tokenizer()


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        ("own_tokenizer:absent", "cannot be imported: AttributeError: .*absent"),
        ("broken_tokenizer:x", "cannot be imported: ZeroDivisionError"),
        ("no_such_module_at_all:x", "there is no module 'no_such_module_at_all'; install its package"),
        ("own_tokenizer:constant", "is int, not a function"),
        ("own_tokenizer:fails", r"failed on the text 'cat dog': RuntimeError: no luck"),
        ("own_tokenizer:numbers", "tokens must be strings, not int"),
        ("jieba", "give module:function, such as 'jieba:lcut'"),
        ("a b:c", "give module:function"),
        ("characters:0", "give module:function"),
        ("os:" + "a" * 300, "give module:function"),
        (5, "tokenizer=5"),
    ],
)
def test_bad_tokenizers_are_one_line(tokenizer, message, module):
    with pytest.raises(InputError, match=message) as error:
        Corpus.from_texts(["cat dog"], tokenizer=tokenizer)
    assert "\n" not in str(error.value)


def test_settings_that_exclude_a_tokenizer_are_one_line():
    with pytest.raises(InputError, match="tokenizer and token_pattern exclude each other"):
        Schema(tokenizer="a:b", token_pattern=r"\w")
    with pytest.raises(InputError, match="tokenizer has no effect on the analyzer 'char'"):
        Schema(tokenizer="a:b", analyzer="char")


def test_a_nested_name_is_found(module):
    assert list(Corpus.from_texts(["ab cd"], tokenizer="own_tokenizer:Namespace.split")) == [["ab", "cd"]]


def test_characters_are_cut_in_scripts_without_spaces_only():
    cut = CharacterTokenizer(2)
    assert cut("我喜欢 Python3 编程。京") == ["我喜", "喜欢", "Python3", "编程", "京"]
    assert cut("") == []
    assert cut("naïve words") == ["naïve", "words"]
    assert CharacterTokenizer(3)("東京タワー") == ["東京タ", "京タワ", "タワー"]
    assert cut("ที่นี่") == ["ที่นี่"]  # two letters with their marks
    assert CharacterTokenizer(1)("ที่นี่") == ["ที่", "นี่"]


def test_the_share_of_letters_without_spaces():
    assert unspaced_share(["我们 ab"]) == 0.5
    assert unspaced_share(["123", ""]) == 0
    assert unspaced_share(UNSPACED["th"]) == 1


def test_pairs_of_characters_are_recorded_and_need_no_permission(tmp_path):
    texts = UNSPACED["zh"] * 3
    model = LDA(2, n_iter=20, random_state=0, verbose=False).fit(texts)
    model.save(tmp_path / "model")
    loaded = metalda.load(tmp_path / "model")
    assert loaded.schema_.tokenizer == "characters:2"
    assert (loaded.transform(["政府决定税收"]) == model.transform(["政府决定税收"])).all()
    assert list(Corpus.texts_like(["土豆汤"], None, loaded.schema_)) == [["土豆", "豆汤"]]
