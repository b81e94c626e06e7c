"""Terms of a formula become columns of the design."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.interpolate import BSpline

from metalda import Corpus
from metalda.corpus import NamedMatrix, Schema
from metalda.errors import InputError
from metalda.meta.curves import Curve
from metalda.meta.formulas import Factor, parse
from metalda.meta.terms import Terms

YEARS = np.array([1950.0, 1960, 1960, 1975, 1980, 1995, 2000, 2020])
GENRES = ["war", "love", "war", "war", "love", "love", "war", "love"]
SECTIONS = ["sport/football", "sport/tennis", "news", "sport/football/uk", "news", "news/world", "sport", "news"]


def _corpus(**columns):
    frame = pd.DataFrame({"text": ["a b"] * 8, "year": YEARS, "genre": GENRES, "section": SECTIONS})
    return Corpus.from_frame(frame, text="text", token_pattern=r"\w", stop_words=None, **columns)


CORPUS = _corpus(labels=["genre", "section"], numbers="year")


def _fit(formula, corpus=CORPUS, resolution=None):
    terms = Terms.fit(formula, corpus.labels, corpus.schema)
    return terms, terms.fit_columns(corpus.labels, corpus.schema, resolution)


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("genre + s(year)", [[Factor("genre")], [Factor("year", 5)]]),
        ("1 + genre*s(year, df=7)", [[Factor("genre")], [Factor("year", 7)], [Factor("genre"), Factor("year", 7)]]),
        ("~ `my column`:b", [[Factor("my column"), Factor("b")]]),
        ("s(`a (b), c`, df=3)", [[Factor("a (b), c", 3)]]),
        ("s(`my column`, 4) + levels(section)", [[Factor("my column", 4)], [Factor("section", levels=True)]]),
    ],
)
def test_a_formula_has_terms(formula, terms):
    assert parse(formula) == tuple(map(tuple, terms))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("", "has no term"),
        ("genre +", "is not a formula"),
        ("genre|year", r"'\|' has no meaning in a formula; join columns with"),
        ("genre + (1|year)", r"'\|' has no meaning"),
        ("genre, year", "',' has no meaning"),
        ("my genre", "backticks around names with spaces"),
        ("~", "has no term"),
        ("s(year, df=abc)", r"'s\(year, df=abc\)' is not known"),
        ("s()", r"'s\(\)' is not known"),
        ("gnre", r"no column 'gnre'; it has .*\. Did you mean 'genre'\?"),
        ("Year", r"Did you mean 'year'\?"),
        ("s(year", "is not a formula"),
        ("y ~ genre", "without a left side"),
        ("log(year)", r"'log\(year\)' is not known"),
        ("__import__('os').system('true')", "is not a formula"),
        ("{print(1)}", "'{' has no meaning"),
        ("s(year, df=2)", "between 3 and 50"),
        ("(genre + section)**9", "write interactions as a:b"),
        ("genre" + " + genre" * 10_000, "at most 10,000 characters"),
        ("gnre", "no column 'gnre'; it has 'genre', 'section', 'year'"),
        ("s(genre)", "'genre' has labels, and s"),
        ("levels(year)", "'year' has numbers, and levels"),
        ("s(year, df=7)", "needs more than 7 distinct numbers, but there are 7"),
    ],
)
def test_a_bad_formula_is_one_clear_line(formula, message):
    with pytest.raises(InputError, match=message) as raised:
        _fit(formula)
    assert "\n" not in str(raised.value)


def test_an_interaction_that_no_document_has():
    frame = pd.DataFrame({"text": ["a", "b", "c"], "x": ["1", None, None], "y": [None, "2", "3"]})
    corpus = Corpus.from_frame(frame, text="text", labels=["x", "y"], token_pattern=r"\w", stop_words=None)
    with pytest.raises(InputError, match="no document has x:y, so nothing can be learned of it"):
        _fit("x*y", corpus)


def test_columns_have_names_and_groups():
    terms, columns = _fit("genre*s(year, df=3)")
    assert columns.names[:5] == ("genre=love", "genre=war", "year", "s(year) 1", "s(year) 2")
    assert columns.names[5:8] == ("genre=love:year", "genre=love:s(year) 1", "genre=love:s(year) 2")
    assert terms.groups_of(columns.names)[3:7] == ("s(year)", "s(year)", "genre:year", "genre:s(year)")
    values = columns.matrix.toarray()
    np.testing.assert_allclose(values[:, 2], (YEARS - YEARS.mean()) / YEARS.std(), rtol=1e-5)
    is_war = np.array(GENRES) == "war"
    np.testing.assert_allclose(values[:, columns.names.index("genre=war:year")], values[:, 2] * is_war)
    assert [terms.is_curve(name) for name in columns.names[1:5]] == [False, False, True, True]


def test_an_interaction_with_too_many_columns_is_refused(monkeypatch):
    n_columns = len(_fit("genre:section")[1].names)
    assert n_columns < 12  # possible columns that no document has do not count
    monkeypatch.setattr("metalda.meta.terms.MOST_COLUMNS", n_columns)
    assert len(_fit("genre:section")[1].names) == n_columns
    monkeypatch.setattr("metalda.meta.terms.MOST_COLUMNS", n_columns - 1)
    with pytest.raises(InputError, match=f"genre:section has {n_columns} columns in these documents, and at most"):
        _fit("genre:section")


def test_interactions_of_many_labels_cost_what_occurs():
    """A billion columns are possible, of which 40 occur."""
    n = 40
    matrix = sparse.eye_array(n, format="csr")
    wide = sparse.csr_array((matrix.data, matrix.indices * 700, matrix.indptr), shape=(n, 30_000))
    names = tuple(f"{column}={i}" for column in "ab" for i in range(30_000))
    labels = NamedMatrix(sparse.csr_array(sparse.hstack([wide, wide])), names)
    schema = Schema(labels=("a", "b")).fitted()
    terms = Terms.fit("a:b", labels, schema)
    columns = terms.fit_columns(labels, schema, None)
    assert columns.names[:2] == ("a=0:b=0", "a=700:b=700")
    assert set(terms.groups_of(columns.names)) == {"a:b"}
    again = terms.design_columns(labels[::2], schema, columns.names).matrix.toarray()
    np.testing.assert_array_equal(again, columns.matrix.toarray()[::2])
    grid = terms.grid({"a": ["700"]}, columns.names)
    assert grid.names == columns.names
    np.testing.assert_allclose(grid.matrix.toarray(), np.eye(n)[[1]] / n)


def test_labels_of_two_columns_interact_where_documents_have_both():
    _, columns = _fit("genre:section")
    assert "genre=war:section=sport" in columns.names
    assert "genre=love:section=sport" not in columns.names
    assert (columns.matrix.toarray().sum(axis=1) == 1).all()


def test_nested_labels_have_their_upper_levels():
    terms, columns = _fit("levels(section)")
    expected = ["section=news", "section=sport", "section=news/world", "section=sport/football", "section=sport/tennis"]
    assert columns.names == (*expected, "section=sport/football/uk")
    assert terms.groups_of(columns.names) == (*["section"] * 2, *["section (level 2)"] * 3, "section (level 3)")
    assert columns.matrix.toarray()[3].tolist() == [0, 1, 0, 1, 0, 1]


def test_curves_are_centered_so_that_level_and_slope_are_left_to_others():
    numbers = np.random.default_rng(0).gamma(2, size=200)
    columns = Curve.fit(6, numbers, "s(x)").columns(numbers)
    assert columns.shape == (200, 5)
    np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(numbers @ columns, 0, atol=1e-9)
    assert (columns**2).sum(axis=1).mean() == pytest.approx(1)


def test_a_curve_is_a_spline_whose_second_differences_are_its_weights():
    """So that a variance of the weights is that of a random walk of second order, of rank df - 1."""
    numbers = np.sort(np.random.default_rng(1).normal(size=80))
    curve = Curve.fit(7, numbers, "s(x)")
    u = np.random.default_rng(2).normal(size=6)
    step = (curve.high - curve.low) / 5
    basis = BSpline.design_matrix(
        np.clip(numbers, curve.low, curve.high), curve.low + step * np.arange(-3, 9), 3
    ).toarray()
    straight = np.column_stack([np.ones(80), numbers])
    coefficients = np.linalg.lstsq(basis, curve.columns(numbers) @ u * curve.size, rcond=None)[0]
    np.testing.assert_allclose(np.diff(coefficients, 2), u, atol=1e-6)
    assert np.linalg.matrix_rank(np.column_stack([straight, curve.columns(numbers)])) == 8


def test_beyond_the_training_range_a_curve_is_straight():
    curve = Curve.fit(5, np.linspace(-1, 1, 50), "s(x)")
    outside = curve.columns(np.array([1.0, 2, 3, 4]))
    np.testing.assert_allclose(np.diff(outside, 2, axis=0), 0, atol=1e-10)
    slope = (curve.columns(np.array([1.0])) - curve.columns(np.array([1 - 1e-6]))) / 1e-6
    np.testing.assert_allclose(outside[1] - outside[0], slope[0], atol=1e-3)


def test_many_numbers_are_rounded_to_quantiles_in_training_only():
    numbers = np.random.default_rng(0).normal(size=3000)
    frame = pd.DataFrame({"text": ["a"] * 3000, "x": numbers})
    corpus = Corpus.from_frame(frame, text="text", numbers="x", token_pattern=r"\w", stop_words=None)
    terms, columns = _fit(None, corpus, resolution=100)
    own, rounded = corpus.labels.matrix.toarray()[:, 0], columns.matrix.toarray()[:, 0]
    assert len(np.unique(rounded)) == 100
    assert rounded.mean() == pytest.approx(own.mean(), abs=1e-9)
    assert np.sqrt(((rounded - own) ** 2).mean()) < 0.05
    assert (np.diff(rounded[np.argsort(own)]) >= 0).all()
    new = terms.design_columns(corpus.labels, corpus.schema, ["x"])
    assert (new.matrix.toarray()[:, 0] == own).all()
    assert (_fit(None, corpus, resolution=3000)[1].matrix.toarray()[:, 0] == own).all()


def test_new_documents_have_the_columns_of_training_in_any_units():
    terms, columns = _fit("genre + s(year)")
    same = terms.design_columns(CORPUS.labels, CORPUS.schema, columns.names)
    assert (same.matrix != columns.matrix).nnz == 0
    raw = NamedMatrix(sparse.csr_array([[1990.0, 1, 0]]), ("year", "genre=war", "genre=new"))
    found = terms.design_columns(raw, None, columns.names).matrix.toarray()[0]
    grid = terms.grid({"year": [1990], "genre": ["war"]})
    assert grid.names == columns.names
    np.testing.assert_allclose(found, grid.matrix.toarray()[0])
    nothing = NamedMatrix(sparse.csr_array((1, 0)), ())
    average = terms.design_columns(nothing, None, columns.names).matrix.toarray()[0]
    np.testing.assert_allclose(average[2:], terms.grid({"genre": ["war"]}).matrix.toarray()[0, 2:])


def test_a_grid_has_shares_for_labels_that_are_not_given():
    terms, _ = _fit("genre + section + year")
    grid = terms.grid({"year": [1950, 2000], "genre": ["love", "war"]})
    rows = dict(zip(grid.names, grid.matrix.toarray().T, strict=True))
    assert rows["genre=love"].tolist() == [1, 0, 1, 0]
    assert rows["section=news"].tolist() == [3 / 8] * 4
    assert rows["year"][0] == rows["year"][1] < 0 < rows["year"][2]
    with pytest.raises(InputError, match="no column 'age'; it has 'genre', 'section', 'year'"):
        terms.grid({"age": [1]})
    with pytest.raises(InputError, match="'year' is a number, and 'x' is not"):
        terms.grid({"year": ["x"]})
    with pytest.raises(InputError, match="no label 'genre=wr'"):
        terms.grid({"genre": ["wr"]})


def test_a_bin_is_found_by_a_number():
    corpus = _corpus(bins={"year": [1970, 1990]})
    terms, _ = _fit("year", corpus)
    assert terms.grid({"year": [1955, 1980, 2050]}).matrix.toarray().tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("formula", [None, "genre*s(year, df=4) + levels(section)"])
def test_terms_are_the_same_after_json(formula):
    terms, columns = _fit(formula)
    again = Terms.from_json(json.loads(json.dumps(terms.to_json())))
    new = again.design_columns(CORPUS.labels, CORPUS.schema, columns.names)
    assert (new.matrix != columns.matrix).nnz == 0


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["formula"], "s(other)"),
        (["formula"], "genre + s(year, df=6)"),
        (["formula"], 3),
        (["numbers", "year", "scale"], 0),
        (["numbers", "year", "center"], "x"),
        (["curves", "s(year)", "df"], 40),
        (["curves", "s(year)", "size"], float("nan")),
        (["curves", "s(year)", "high"], -100.0),
        (["curves", "s(year)", "offsets"], [0.0]),
        (["labels", "genre", "genre=war"], 7),
        (["labels"], []),
        (["extra"], 1),
    ],
)
def test_damaged_terms_are_refused(path, value):
    saved = json.loads(json.dumps(_fit("genre + s(year)")[0].to_json()))
    part = saved
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        Terms.from_json(saved)


def test_one_curve_has_one_df():
    with pytest.raises(InputError, match=r"s\(year\) has several values of df"):
        parse("s(year) + genre:s(year, df=3)")
    assert len(parse("s(year, df=3) + genre:s(year, df=3)")) == 2


def test_a_label_column_without_labels_has_no_columns():
    terms = Terms.fit(None, NamedMatrix(sparse.csr_array((2, 0)), ()), None)
    assert terms.groups_of(()) == ()
    with pytest.raises(KeyError):
        terms.groups_of(("a",))
