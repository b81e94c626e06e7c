"""Datasets by name, and the paper's corpora as they were distributed."""

import numpy as np
import pytest

from metalda import datasets
from metalda.errors import InputError


@pytest.fixture
def folder(tmp_path):
    """The layouts of the real data, with a few words in them."""
    (tmp_path / "WS").mkdir()
    (tmp_path / "WS" / "train_doc.txt").write_text("1\tsport\tfootball goal\n2\thealth\tdoctor football\n")
    (tmp_path / "WS" / "test_doc.txt").write_text("1\tsport\tgoal keeper\n")
    (tmp_path / "TMN").mkdir()
    (tmp_path / "TMN" / "TMN_train.txt").write_bytes(b"us\tu.s. house\nworld\tcaf\xe9 u.s.\n")
    (tmp_path / "TMN" / "TMN_val.txt").write_text("us\tsenate\n")
    (tmp_path / "TMN" / "TMN_test.txt").write_text("sport\tgoal\n")
    return tmp_path


def test_every_dataset_says_what_it_is_and_can_be_loaded(folder):
    names = [dataset.name for dataset in datasets.available()]
    assert names == ["python-docs", "ws", "tmn"]
    assert all(dataset.description and dataset.how for dataset in datasets.available())
    for name in names:
        loaded = datasets.load(name, folder)
        assert all(len(corpus) for corpus in (loaded if isinstance(loaded, tuple) else (loaded,)))


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match="no dataset 'nyt'; there are: python-docs, ws, tmn"):
        datasets.load("nyt")


def test_web_snippets_keep_their_split_and_their_words(folder):
    train, test = datasets.load("ws", folder)
    assert list(train) == [["football", "goal"], ["doctor", "football"]]
    assert list(test) == [["goal", "keeper"]]
    assert set(train.labels.names) == {"sport", "health"}


def test_tag_my_news_is_one_corpus_of_three_files_whatever_its_bytes(folder):
    corpus = datasets.load("tmn", folder)
    assert list(corpus) == [["u.s.", "house"], ["caf\ufffd", "u.s."], ["senate"], ["goal"]]
    assert corpus.ids == ("train-1", "train-2", "val-1", "test-1")
    assert corpus.labels.shape == (4, 3)


def test_the_environment_names_the_folder_unless_an_argument_does(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("METALDA_DATA", str(folder))
    assert len(datasets.load("tmn")) == 4
    with pytest.raises(InputError, match="is missing"):
        datasets.load("tmn", tmp_path / "elsewhere")


def test_missing_data_is_one_line_that_says_what_is_expected_where(folder, monkeypatch):
    monkeypatch.delenv("METALDA_DATA", raising=False)
    with pytest.raises(InputError, match=r"'ws' needs WS/train_doc.txt: .*folder=.*METALDA_DATA"):
        datasets.load("ws")
    (folder / "WS" / "test_doc.txt").unlink()
    with pytest.raises(InputError, match=r"test_doc\.txt is missing; expected WS/train_doc.txt and WS/test_doc.txt in"):
        datasets.load("ws", folder)


def test_a_broken_line_is_named(folder):
    (folder / "TMN" / "TMN_val.txt").write_text("us\tsenate\nno tab here\n")
    with pytest.raises(InputError, match=r"TMN_val.txt line 2: no TAB"):
        datasets.load("tmn", folder)


@pytest.mark.data
def test_web_snippets_are_the_papers(data_folder):
    train, test = datasets.load("ws", data_folder)
    assert (len(train), len(test)) == (9867, 2470)
    assert len(train.vocabulary) == 9936
    assert train.labels.shape[1] == 8
    assert set(test.labels.names) == set(train.labels.names)
    assert (train.labels.matrix.sum(axis=1) == 1).all()


@pytest.mark.data
def test_tag_my_news_is_the_papers(data_folder):
    corpus = datasets.load("tmn", data_folder)
    assert len(corpus) == 32_597
    assert corpus.labels.shape[1] == 7
    assert np.bincount(corpus.labels.matrix.indices).sum() == 32_597
