"""Frames of polars say what those of pandas say, without pyarrow between them."""

import numpy as np
import pandas as pd
import pytest

from metalda import LDA, Corpus, WordFeatures
from metalda.corpus.labels import as_labels
from metalda.errors import InputError

pl = pytest.importorskip("polars")

COLUMNS = {
    "id": [7, 8, 9],
    "body": ["cat dog cat", None, "rain sun"],
    "tags": [["pets", "home"], [], ["sky"]],
    "year": [1990, 2000, None],
}


@pytest.fixture(autouse=True)
def _without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra: a frame of polars must not need it."""
    for way in ("to_pandas", "to_arrow"):
        monkeypatch.setattr(pl.DataFrame, way, lambda self: pytest.fail("polars needs pyarrow for this"))


def same(one: Corpus, other: Corpus) -> bool:
    labels = [
        None if each.labels is None else (each.labels.names, each.labels.matrix.toarray().tolist())
        for each in (one, other)
    ]
    return list(one) == list(other) and one.ids == other.ids and labels[0] == labels[1]


@pytest.mark.parametrize("lazy", [False, True])
def test_a_corpus_is_the_same_from_either_frame(lazy: bool) -> None:
    keywords = {"text": "body", "labels": "tags", "bins": {"year": [1995]}}
    frame = pl.DataFrame(COLUMNS)
    assert same(
        Corpus.from_frame(frame.lazy() if lazy else frame, **keywords),
        Corpus.from_frame(pd.DataFrame(COLUMNS), **keywords),
    )


def test_lists_of_tokens_and_columns_of_labels_are_read() -> None:
    tokens = pl.Series([["cat", "dog"], ["rain"]])
    assert list(Corpus.from_tokens(tokens, pl.Series([["a", "b"], []]))) == [["cat", "dog"], ["rain"]]
    labels = as_labels(pl.Series([["a", "b"], []]), 2)
    assert (labels.names, labels.matrix.toarray().tolist()) == (("a", "b"), [[1, 1], [0, 0]])
    assert as_labels(pl.Series([3, 10, 3]), 3).names == ("3", "10")


def test_indicators_and_counts_are_read() -> None:
    labels = as_labels(pl.DataFrame({"p": [1, 0], "q": [0.5, 1]}), 2)
    assert (labels.names, labels.matrix.toarray().tolist()) == (("p", "q"), [[1, 0.5], [0, 1]])
    corpus = Corpus.from_counts(pl.DataFrame({"cat": [2, 0], "rain": [0, 1]}))
    assert list(corpus) == [["cat", "cat"], ["rain"]]
    with pytest.raises(InputError, match="NaN"):
        as_labels(pl.DataFrame({"p": [1, None]}), 2)
    with pytest.raises(InputError, match="a column per label"):
        as_labels(pl.DataFrame({"p": ["x", "y"]}), 2)


def test_the_first_column_of_a_frame_without_index_holds_the_words() -> None:
    columns = {"animal": [1, 0], "kind": ["noun", None]}
    found = WordFeatures.from_frame(pl.DataFrame({"word": ["cat", "rain"], **columns}))
    expected = WordFeatures.from_frame(pd.DataFrame(columns, index=["cat", "rain"]))
    assert (found.words, found.features.names) == (expected.words, expected.features.names)
    assert (found.features.matrix != expected.features.matrix).nnz == 0
    with pytest.raises(InputError, match="empty"):
        WordFeatures.from_frame(pl.DataFrame())


def test_a_model_takes_columns_and_counts_and_gives_frames() -> None:
    texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
    model = LDA(2, n_iter=10, random_state=0, verbose=False).fit(pl.Series(texts))
    expected = LDA(2, n_iter=10, random_state=0, verbose=False).fit(texts)
    np.testing.assert_array_equal(model.components_, expected.components_)
    proportions = model.set_output(transform="polars").transform(pl.Series(texts))
    assert isinstance(proportions, pl.DataFrame)
    assert proportions.columns == ["topic0", "topic1"]
    np.testing.assert_array_equal(proportions.to_numpy(), expected.transform(texts))
    assert isinstance(model.set_output(transform="pandas").transform(texts), pd.DataFrame)
    counts = pl.DataFrame({"cat": [2, 0, 1], "rain": [0, 1, 1]})
    named = LDA(2, n_iter=10, random_state=0, verbose=False).fit(counts)
    assert named.vocabulary_ == ("cat", "rain")
    assert named.transform(["cat"]).shape == (1, 2)


def test_two_columns_with_one_name_are_refused() -> None:
    frame = pd.DataFrame([["cat dog", "a", "b"]] * 4, columns=["text", "kind", "kind"])
    with pytest.raises(InputError, match="two columns have the same name, 'kind'"):
        Corpus.from_frame(frame, labels="kind")
    assert len(Corpus.from_frame(frame, text="text", max_df=1.0)) == 4, "columns that are not read may have one name"
