"""Datasets by name, and the paper's corpora as they were distributed."""

import doctest

import numpy as np
import pytest

from metalda import Corpus, datasets
from metalda.datasets import Statistics, registry
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
    (tmp_path / "AN").mkdir()
    (tmp_path / "AN" / "train_doc.txt").write_text("1\tsport health\tfootball goal\n")
    (tmp_path / "AN" / "test_doc.txt").write_text("2\tlaw\tgoal\n")
    return tmp_path


def test_every_dataset_says_what_it_is_and_has_a_loader():
    entries = datasets.available()
    names = [entry.name for entry in entries]
    assert names == ["python-docs", "ws", "tmn", "an", "reuters", "20ng", "nyt", "arxiv", "wikipedia"]
    assert names == list(registry._LOADERS)
    assert all(entry.description and entry.files and entry.how for entry in entries)
    assert [entry.name for entry in entries if entry.paper] == ["ws", "tmn", "an", "reuters", "20ng", "nyt"]


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match="no dataset 'bbc'; there are: python-docs, ws, tmn, an, reuters"):
        datasets.load("bbc")


def test_a_setting_that_a_dataset_does_not_have_is_refused(folder):
    with pytest.raises(InputError, match=r"'ws': embeddings= .* is not a setting of it; it is tokenized"):
        datasets.load("ws", folder, embeddings=["goal"])
    with pytest.raises(InputError, match=r"'reuters': remove= .* is not a setting of it; .*embeddings, .*min_df"):
        datasets.load("reuters", folder, remove=["headers"])


def test_statistics_count_train_and_test_together(folder):
    assert datasets.statistics(datasets.load("ws", folder)) == Statistics(3, 2, 4, 2.0)
    assert datasets.statistics(datasets.load("tmn", folder)) == Statistics(4, 3, 5, 1.5)


def test_the_examples_run():
    found = doctest.testmod(registry)
    assert found.attempted >= 6
    assert found.failed == 0


def test_empty_documents_are_counted():
    corpus = Corpus.from_tokens([["goal"], [], []])
    assert datasets.count_empty(corpus) == 2
    assert datasets.count_empty((corpus, corpus)) == 4


def test_abc_news_has_several_labels_per_document(folder):
    train, test = datasets.load("an", folder)
    assert list(train) == [["football", "goal"]]
    assert train.label_names == ("health", "sport")
    assert train.labels.matrix.sum() == 2
    assert list(test) == [["goal"]]


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


def test_a_broken_line_is_named(folder):
    (folder / "TMN" / "TMN_val.txt").write_text("us\tsenate\nno tab here\n")
    with pytest.raises(InputError, match=r"TMN_val.txt line 2: no TAB"):
        datasets.load("tmn", folder)


@pytest.mark.data
def test_web_snippets_are_the_papers(data_folder):
    train, test = datasets.load("ws", data_folder)
    assert (len(train), len(test)) == (9867, 2470)
    assert len(train.vocabulary) == 9936
    assert datasets.statistics((train, test)).vocabulary == 10_052
    assert train.labels.shape[1] == 8
    assert set(test.labels.names) == set(train.labels.names)
    assert (train.labels.matrix.sum(axis=1) == 1).all()


@pytest.mark.data
def test_tag_my_news_is_the_papers(data_folder):
    corpus = datasets.load("tmn", data_folder)
    assert len(corpus) == 32_597
    assert len(corpus.vocabulary) == pytest.approx(13_370, rel=0.02)
    assert corpus.labels.shape[1] == 7
    assert np.bincount(corpus.labels.matrix.indices).sum() == 32_597
