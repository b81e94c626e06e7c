"""Expected proportions are averages over documents, not the proportions of an average document."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from metalda import Corpus
from metalda.meta import margins
from metalda.meta.design import Design
from metalda.meta.margins import find_margin
from metalda.meta.terms import Terms


def _fit(formula, n_documents=60, seed=0):
    """Return terms, and a function that makes the design of a frame."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "text": ["w"] * n_documents,
            "genre": rng.choice(["war", "love", "war/air"], n_documents),
            "tags": rng.choice(["", "new", "new|old", "old"], n_documents),
            "year": rng.integers(1950, 2000, n_documents),
            "age": rng.integers(1, 5, n_documents),
        }
    )

    def read(frame):
        return Corpus.from_frame(
            frame,
            labels=["genre", "tags"],
            label_delimiter="|",
            numbers=["year", "age"],
            token_pattern=r"\w",
            max_df=1.0,
        )

    corpus = read(frame)
    terms = Terms.fit(formula, corpus.labels, corpus.schema)
    columns = terms.fit_columns(corpus.labels, corpus.schema, None)
    design = Design.build(columns, n_documents, real=True, numbers=True)

    def columns_of(replaced):
        new = read(pd.concat([replaced, frame]))  # a column of one number cannot be read
        return terms.design_columns(new.labels, new.schema, columns.names).matrix[:n_documents]

    return terms, design, frame, columns_of


@pytest.mark.parametrize(
    "formula", ["genre + tags + year + age", "genre*s(year, df=4) + tags", "levels(genre) + tags + year:tags + age"]
)
@pytest.mark.parametrize("at", [{"year": [1960, 1990]}, {"year": [1970], "genre": ["love", "war"]}])
def test_proportions_are_averaged_over_documents_with_the_given_columns_replaced(formula, at):
    terms, design, frame, columns_of = _fit(formula)
    weights = np.random.default_rng(1).normal(0, 2, (len(design.names), 3))
    margin = find_margin(terms, design, at)
    found = margin.mean_proportions(weights)
    for point, mean in zip(product(*at.values()), found, strict=True):
        replaced = frame.assign(**dict(zip(at, point, strict=True)))
        expected = softmax(columns_of(replaced) @ weights[:-1] + weights[-1], axis=1).mean(axis=0)
        assert mean == pytest.approx(expected, abs=1e-9)


def test_documents_that_differ_in_given_columns_only_are_one():
    terms, design, *_ = _fit("s(year, df=4)")
    margin = find_margin(terms, design, {"year": [1960, 1990]})
    assert margin.documents.shape[0] == 1
    assert margin.shares.tolist() == [1.0]


def test_a_sample_of_documents_has_labels_in_their_shares(monkeypatch):
    terms, design, frame, _ = _fit("genre + tags + year + age", n_documents=2000)
    monkeypatch.setattr(margins, "MOST_DOCUMENTS", 30)
    margin = find_margin(terms, design, {"year": [1970]})
    assert margin.documents.shape[0] == 30
    assert margin.shares == pytest.approx(1 / 30)
    shares = margin.documents.toarray().mean(axis=0)
    for genre, share in frame["genre"].value_counts(normalize=True).items():
        assert shares[design.names.index(f"genre={genre}")] == pytest.approx(share, abs=1.5 / 30)


def test_a_column_of_interactions_only_is_at_its_average():
    terms, design, *_ = _fit("genre + genre:age")
    margin = find_margin(terms, design, {"genre": ["war"]})
    assert margin.both is not None
    places = [design.names.index(name) for name in ("genre=war", "genre=war:age")]
    assert margin.both.toarray()[0][places].tolist() == [1, 0]
