"""Datasets of Hugging Face and tables of Arrow say what frames of pandas say."""

import numpy as np
import pandas as pd
import pytest

from metalda import LDA, Corpus, MetaLDA
from metalda.errors import InputError, MissingExtraError

pa = pytest.importorskip("pyarrow")
QUICK = {"n_iter": 10, "random_state": 0, "verbose": False}
TEXTS = ["cat dog cat", "rain sun rain", None, "dog cat dog"]
SECTIONS = ["pets", "sky", None, "pets"]
TAGS = [["tame", "loud"], [], ["loud"], ["tame"]]
YEARS = [1990, 2000, None, 2010]
HOW = {"text": "body", "labels": ["section", "tags"], "bins": {"year": [1995]}}
FRAME = pd.DataFrame({"body": TEXTS, "section": SECTIONS, "tags": TAGS, "year": YEARS})


@pytest.fixture
def dataset():
    """Rows with numbered classes, in memory; -1 is a class that is not known."""
    pytest.importorskip("huggingface_hub")  # else `datasets` is the folder of tests
    import datasets

    features = {
        "body": datasets.Value("string"),
        "section": datasets.ClassLabel(names=["pets", "sky"]),
        "tags": datasets.Sequence(datasets.ClassLabel(names=["loud", "tame"])),
        "year": datasets.Value("int32"),
    }
    columns = {"body": TEXTS, "section": [0, 1, -1, 0], "tags": [[1, 0], [], [0], [1]], "year": YEARS}
    return datasets.Dataset.from_dict(columns, features=datasets.Features(features))


def same(one: Corpus, other: Corpus) -> bool:
    labels = [(each.labels.names, each.labels.matrix.toarray().tolist()) for each in (one, other)]
    return list(one) == list(other) and labels[0] == labels[1]


def test_a_dataset_is_read_like_a_frame_with_the_names_of_its_classes(dataset):
    assert same(Corpus.from_frame(dataset, **HOW), Corpus.from_frame(FRAME, **HOW))


def test_rows_that_were_selected_are_read_in_their_order(dataset):
    chosen = Corpus.from_frame(dataset.select([3, 0]), **HOW)
    assert same(chosen, Corpus.from_frame(FRAME.iloc[[3, 0]], **HOW))


def test_columns_that_are_not_named_are_not_read(dataset, monkeypatch):
    read = []
    select = type(dataset).select_columns
    monkeypatch.setattr(type(dataset), "select_columns", lambda self, names: read.extend(names) or select(self, names))
    Corpus.from_frame(dataset, text="body", labels="section")
    assert sorted(read) == ["body", "section"]


def test_a_dataset_with_a_format_of_its_own_is_read_all_the_same(dataset):
    assert same(Corpus.from_frame(dataset.with_format("numpy"), **HOW), Corpus.from_frame(FRAME, **HOW))


def test_models_take_columns_of_a_dataset_and_new_rows(dataset):
    model = MetaLDA(2, **QUICK).fit(dataset["body"], dataset["section"])
    expected = MetaLDA(2, **QUICK).fit(TEXTS, SECTIONS)
    np.testing.assert_array_equal(model.components_, expected.components_)
    assert model.label_names_ == ("pets", "sky")
    of_rows = MetaLDA(2, **QUICK).fit(Corpus.from_frame(dataset, **HOW))
    np.testing.assert_array_equal(of_rows.transform(dataset), of_rows.transform(FRAME))


def test_what_load_dataset_returns_beside_datasets_is_refused_with_the_remedy(dataset):
    import datasets

    with pytest.raises(InputError, match=r"not DatasetDict; choose one of its parts, such as \['train'\]"):
        Corpus.from_frame(datasets.DatasetDict(train=dataset), text="body")
    with pytest.raises(InputError, match="not IterableDataset; load the dataset without streaming=True"):
        Corpus.from_frame(dataset.to_iterable_dataset(), text="body")
    with pytest.raises(InputError, match=r"X is a Dataset, which has columns: give Corpus.from_frame"):
        LDA(2, **QUICK).fit(dataset)


class Relation:
    """A table of which only the Arrow interface is known."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def test_tables_of_arrow_are_read_with_or_without_pandas_in_their_interface():
    table = pa.table({"body": TEXTS, "section": SECTIONS, "tags": TAGS, "year": YEARS})
    expected = Corpus.from_frame(FRAME, **HOW)
    assert same(Corpus.from_frame(table, **HOW), expected)
    assert same(Corpus.from_frame(Relation(table), **HOW), expected)


def test_a_table_of_arrow_without_pyarrow_names_the_extra(monkeypatch):
    table = Relation(pa.table({"body": ["cat"]}))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"reading a Relation needs .*metalda\[parquet\]"):
        Corpus.from_frame(table, text="body")
