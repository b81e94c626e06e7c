"""A corpus keeps the texts of its documents as written: all, none, or those of a corpus that is not huge."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

from corpus.files import FILES, ROWS, write
from metalda import Corpus
from metalda.corpus import parts, texts
from metalda.errors import InputError, StorageError
from metalda.storage import read_folder, write_folder
from metalda.utils.packed import PackedStrings

TEXTS = ["The CAT saw\nthe dog!", "", "Wolken über Köln — 雨", "It rains; it POURS.", "half \ud800 of a pair"]


@pytest.fixture
def frame():
    return pd.DataFrame({"text": pd.Series(TEXTS, dtype=object), "kind": ["pets", "", "sky", "sky", "odd"]})


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    return path


def test_files_frames_lists_and_prepared_folders_keep_texts_as_written(data, frame, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "MAX_DOCUMENTS", 2)
    prepared = Corpus.prepare(data, tmp_path / "corpus")
    assert isinstance(prepared.texts, PackedStrings)
    for corpus in (Corpus.read(data), Corpus.from_frame(frame), Corpus.from_texts(TEXTS), prepared):
        assert list(corpus.texts) == TEXTS
    missing = Corpus.from_texts(["cat", None])
    assert missing.texts == ("cat", "")


def test_texts_of_selected_documents_are_equal_to_a_list_and_shown_as_texts(data, tmp_path):
    some = Corpus.prepare(data, tmp_path / "corpus")[[3, 0, 1, 2]].texts
    assert some == (TEXTS[3], *TEXTS[:3])
    assert some != TEXTS[:4]
    assert repr(some) == f"SelectedStrings: {TEXTS[3]!r}, {TEXTS[0]!r}, '', … (4)"


@pytest.mark.parametrize("suffix", sorted(FILES))
def test_every_format_with_fields_keeps_texts(tmp_path, suffix):
    path = write(tmp_path / f"data{suffix}", FILES[suffix]())
    for corpus in (Corpus.read(path), Corpus.prepare(path, tmp_path / "corpus")):
        assert list(corpus.texts) == [row["text"] for row in ROWS]


def test_formats_without_fields_keep_texts_if_they_have_some(tmp_path):
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder" / "a.txt", "Rain,\nRAIN!")
    assert Corpus.read(tmp_path / "folder").texts == ("Rain,\nRAIN!",)
    assert Corpus.read(write(tmp_path / "a.txt", "Rain,\nRAIN!")).texts == ("Rain,", "RAIN!")
    assert Corpus.read(write(tmp_path / "java", "1\tx\tRain rain\n"), format="java").texts is None


def test_several_text_columns_are_kept_joined(frame):
    corpus = Corpus.from_frame(frame.assign(title="News"), text=["title", "text"])
    assert corpus.texts[0] == "News\n\n" + TEXTS[0]


def test_tokens_and_counts_have_no_texts_until_they_are_given():
    tokens = Corpus.from_tokens([["cat", "sleep"], ["rain"]])
    assert tokens.texts is None
    assert Corpus.from_frame(pd.DataFrame({"text": [["cat"], None]})).texts is None
    assert Corpus.from_counts(np.eye(2, dtype=int)).texts is None
    given = tokens.with_texts(["Cats slept.", "It rained."])
    assert given.texts == ("Cats slept.", "It rained.")
    assert given.with_texts(None).texts is None
    with pytest.raises(InputError, match="texts for 1 documents, but there are 2 documents"):
        tokens.with_texts(["one"])
    with pytest.raises(InputError, match="a list with a text per document, not one string"):
        tokens.with_texts("one")


def test_texts_follow_their_documents(data, tmp_path):
    read = Corpus.read(data)
    for corpus in (read, Corpus.prepare(data, tmp_path / "corpus")):
        assert list(corpus[[3, 0]].texts) == [TEXTS[3], TEXTS[0]]
        assert list(corpus[[3, 0]][[1]].texts) == [TEXTS[0]]
        assert corpus[[3, 0]].texts[-1] == TEXTS[0]
        train, test = corpus.split(test_size=2, random_state=1)
        assert sorted([*train.texts, *test.texts]) == sorted(TEXTS)
        assert list(corpus.with_labels(list("abcde")).trim().texts) == TEXTS
        assert list(pickle.loads(pickle.dumps(corpus[[3, 0]])).texts) == [TEXTS[3], TEXTS[0]]
        corpus[[3, 0]].save(tmp_path / "saved")
        assert list(Corpus.load(tmp_path / "saved").texts) == [TEXTS[3], TEXTS[0]]


def test_texts_of_a_prepared_corpus_stay_on_disk(data, tmp_path):
    from metalda.storage.arrays import is_mapped

    corpus = Corpus.prepare(data, tmp_path / "corpus")
    assert is_mapped(corpus.texts.data)
    assert is_mapped(corpus.split(test_size=2)[0].texts.strings.data)


@pytest.mark.parametrize("size", [1, 2, 100])
def test_texts_above_the_limit_are_kept_only_if_asked_for(data, tmp_path, monkeypatch, size, caplog):
    monkeypatch.setattr(parts, "MAX_DOCUMENTS", size)
    n_bytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in TEXTS)
    for limit, is_kept in ((n_bytes, True), (n_bytes - 1, False)):
        monkeypatch.setattr(texts, "MAX_TEXT_BYTES", limit)
        for keep, expected in (("auto", is_kept), (True, True), (False, False)):
            assert (Corpus.read(data, keep_text=keep).texts is not None) == expected
            prepared = Corpus.prepare(data, tmp_path / f"{limit} {keep}", keep_text=keep)
            assert (prepared.texts is not None) == expected
    with caplog.at_level("INFO", "metalda"):
        Corpus.read(data)
    assert "are not kept as written; keep_text=True (--keep-text) keeps them" in caplog.text


def test_the_setting_is_checked_and_not_part_of_the_fitted_schema(data):
    with pytest.raises(InputError, match=r"keep_text='yes': True, False or 'auto' is needed \(--keep-text\)"):
        Corpus.read(data, keep_text="yes")
    assert Corpus.read(data, keep_text=False).schema == Corpus.read(data).schema


def test_phrases_leave_texts_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "MAX_DOCUMENTS", 4)
    written = ["New York, NEW YORK!", "a new york minute"] * 10
    path = tmp_path / "data.txt"
    path.write_text("\n".join(written))
    corpus = Corpus.prepare(path, tmp_path / "corpus", phrases=True, phrase_min_count=2, min_df=1, max_df=1.0)
    assert "new_york" in corpus.vocabulary
    assert list(corpus.texts) == written


def falls(starts):
    starts[1] = starts[2] + 1


def too_long(starts):
    starts[-1] += 1


def not_from_zero(starts):
    starts[0] = 1


@pytest.mark.parametrize("change", [falls, too_long, not_from_zero])
def test_starts_of_texts_that_do_not_fit_are_one_line(data, tmp_path, change):
    with pytest.raises(StorageError, match=r"corpus is damaged.*the offsets of its texts must rise from 0 to") as error:
        load_changed(data, tmp_path, lambda arrays: change(arrays["text_offsets"]))
    assert "\n" not in str(error.value)


def test_texts_that_do_not_fit_the_documents_are_one_line(data, tmp_path):
    def shorten(arrays):
        arrays["text_offsets"] = arrays["text_offsets"][:-1]
        arrays["text_bytes"] = arrays["text_bytes"][: arrays["text_offsets"][-1]]

    with pytest.raises(StorageError, match=r"corpus is damaged.*texts for 4 documents, but there are 5"):
        load_changed(data, tmp_path, shorten)
    with pytest.raises(StorageError, match="the corpus is damaged"):
        load_changed(data, tmp_path, lambda arrays: arrays.pop("text_offsets"))


def test_texts_that_are_not_utf8_are_one_line_when_they_are_read(data, tmp_path):
    def spoil(arrays):
        arrays["text_bytes"][0] = 0xFF

    corpus = load_changed(data, tmp_path, spoil)
    assert corpus.texts[2] == TEXTS[2]
    with pytest.raises(StorageError, match=r"corpus: damaged: the saved string .* is not UTF-8"):
        corpus.texts[0]


def load_changed(data, tmp_path, change):
    folder = tmp_path / "corpus"
    Corpus.prepare(data, folder)
    document, arrays = read_folder(folder, "corpus")
    arrays = {name: np.array(array) for name, array in arrays.items()}
    change(arrays)
    write_folder(folder, "corpus", document, arrays, layout="npy")
    return Corpus.load(folder)
