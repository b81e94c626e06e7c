"""Vectors of documents: columns of numbers that no file holds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from metalda import DMR, Corpus, MetaLDA, load
from metalda.corpus.vectors import read_vectors
from metalda.errors import InputError

TEXTS = ["cat dog cat", "rain sun rain", "dog cat", "sun wind"] * 10
QUICK = {"n_iter": 40, "random_state": 0, "verbose": False}
VECTORS = np.random.default_rng(0).normal(5, 3, (40, 3))


def test_columns_are_standardized_as_in_training():
    corpus = Corpus.from_texts(TEXTS).with_vectors(VECTORS)
    assert corpus.label_names == ("vector0", "vector1", "vector2")
    expected = (VECTORS - VECTORS.mean(axis=0)) / VECTORS.std(axis=0)
    np.testing.assert_allclose(corpus.labels.matrix.toarray(), expected)
    new = Corpus.from_frame(pd.DataFrame({"text": TEXTS[:2]}), text="text", schema=corpus.schema).with_vectors(
        VECTORS[:2]
    )
    np.testing.assert_allclose(new.labels.matrix.toarray(), expected[:2])
    assert new.schema.vectors == corpus.schema.vectors
    assert corpus.without_labels().schema.vectors == {}


def test_vectors_that_come_as_labels_are_in_their_own_units():
    corpus = Corpus.from_texts(TEXTS).with_vectors(VECTORS)
    model = MetaLDA(2, **QUICK).fit(corpus)
    given = model.transform(TEXTS, pd.DataFrame(VECTORS, columns=corpus.label_names))
    np.testing.assert_allclose(given, model.transform(corpus), rtol=1e-5)


def test_labels_keep_their_columns_and_vectors_share_a_variance():
    frame = pd.DataFrame({"text": TEXTS, "kind": ["pets", "sky"] * 20})
    corpus = Corpus.from_frame(frame, labels="kind").with_vectors(VECTORS)
    assert corpus.label_names == ("pets", "sky", "vector0", "vector1", "vector2")
    model = MetaLDA(2, **QUICK).fit(corpus)
    assert model.pooling_[["group", "n"]].values.tolist() == [["kind", 2], ["vectors", 3]]
    assert model.prevalence_at({"vector1": [2, 8], "kind": "pets"}).shape[0] == 4


def test_a_formula_may_name_single_columns():
    corpus = Corpus.from_texts(TEXTS).with_vectors(VECTORS)
    model = MetaLDA(2, prevalence="s(vector1) + vector2", **QUICK).fit(corpus)
    assert model.label_names_[:1] == ("vector1",)
    np.testing.assert_array_equal(model.transform(corpus), model.transform(corpus))
    assert Corpus.from_texts(TEXTS[:3]).with_vectors(VECTORS[:3]).label_names == corpus.label_names


@pytest.mark.parametrize("model", [MetaLDA(2, **QUICK), DMR(2, optimize_burn_in=10, **QUICK)], ids=["metalda", "dmr"])
def test_new_documents_are_those_of_training(model, tmp_path):
    corpus = Corpus.from_tokens([text.split() for text in TEXTS]).with_vectors(VECTORS)
    model.fit(corpus).save(tmp_path)
    same = load(tmp_path)
    assert same.schema_.vectors == corpus.schema.vectors
    alone = Corpus.from_tokens([TEXTS[3].split()]).with_vectors(VECTORS[3:4])  # with a scale of its own
    np.testing.assert_allclose(same.transform(alone), model.transform(corpus[[3]]), rtol=1e-6)
    again = Corpus.from_frame(pd.DataFrame({"text": [TEXTS[3]]}), text="text", schema=same.schema_)
    np.testing.assert_allclose(same.transform(again.with_vectors(VECTORS[3:4])), model.transform(corpus[[3]]))


def test_constant_columns_are_dropped_in_training():
    vectors = VECTORS.copy()
    vectors[:, 1] = 0.1
    model = MetaLDA(2, **QUICK).fit(Corpus.from_texts(TEXTS).with_vectors(vectors))
    assert model.label_names_ == ("vector0", "vector2")
    with pytest.warns(UserWarning, match="vectors of all documents are equal"):
        corpus = Corpus.from_texts(TEXTS).with_vectors(VECTORS * 0 + 7.1)
    assert MetaLDA(2, **QUICK).fit(corpus).label_names_ == ()


@pytest.mark.parametrize(
    ("vectors", "expected"),
    [
        (VECTORS[:39], "39 rows, but there are 40 documents"),
        (VECTORS[:, 0], "dense matrix of numbers with a row per document"),
        (VECTORS.astype(str), "dense matrix of numbers"),
        (VECTORS.astype(complex), "complex128"),
        (VECTORS[:, :0], "with the shape"),
        (sparse.csr_array(VECTORS), "dense matrix of numbers"),
        (np.where(np.arange(40)[:, None] == 3, np.nan, VECTORS), "hold nan in row 3, column 0"),
        (np.where(np.arange(40)[:, None] == 3, -np.inf, VECTORS), "hold -inf in row 3, column 0"),
        (VECTORS * 1e300, "too large to standardize"),
    ],
)
def test_bad_matrices_are_refused(vectors, expected):
    with pytest.raises(InputError, match=expected):
        Corpus.from_texts(TEXTS).with_vectors(vectors)


def test_other_columns_than_in_training_are_refused():
    corpus = Corpus.from_texts(TEXTS).with_vectors(VECTORS)
    with pytest.raises(InputError, match="2 columns, and those of training 3"):
        replace(corpus, labels=None).with_vectors(VECTORS[:, :2])
    with pytest.raises(InputError, match="'vector0' already"):
        corpus.with_vectors(VECTORS)


def test_files_are_read_without_unpickling(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    np.testing.assert_array_equal(read_vectors(tmp_path / "v.npy"), VECTORS)
    np.save(tmp_path / "objects.npy", np.array([[print]], dtype=object))
    np.savez(tmp_path / "several.npz", VECTORS, VECTORS)
    (tmp_path / "text.npy").write_text("0.1 0.2\n")
    for name, expected in (
        ("objects.npy", "not a matrix of numbers in NumPy's format"),
        ("several.npz", "holds several arrays"),
        ("text.npy", "not a matrix of numbers in NumPy's format"),
        ("none.npy", "no such file"),
    ):
        with pytest.raises(InputError, match=expected):
            read_vectors(tmp_path / name)
