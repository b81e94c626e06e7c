"""``metalda prevalence``, and formulas on the command line."""

import csv
import io
import json
from pathlib import Path

import pytest

import metalda
from cli.helpers import Run, Write, error_line, news

FIT = ("--text", "body", "-k", 2, "--iterations", 40, "-q")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The news with a column whose name is not a plain word."""
    path = tmp_path_factory.mktemp("prevalence") / "news.jsonl"
    records = [{**record, "page no": i % 5, "city": "LM"[i % 3 > 1]} for i, record in enumerate(news())]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def curved(run: Run, data: Path) -> Path:
    """A model with a formula; tests must not change it."""
    formula = ("--prevalence", "section * s(year, df=4)")
    result = run("fit", data, "-o", data.parent / "curved", *FIT, *formula)
    assert result.exit_code == 0, result.output
    return data.parent / "curved"


def test_the_table_is_the_librarys(run: Run, curved: Path) -> None:
    arguments = ("prevalence", curved, "--over", "year", "--by", "section", "--points", 3, "--interval", 0.5)
    rows = json.loads(run(*arguments, "--format", "json").stdout)
    grid = {"section": ["pets", "sky"], "year": [1990, 1997.5, 2005]}
    table = metalda.load(curved).prevalence_at(grid, 0.5).sort_values("topic", kind="stable")
    assert [row["mean"] for row in rows] == pytest.approx(table["mean"].tolist())
    assert [[row[name] for name in ("section", "year", "topic")] for row in rows] == table[
        ["section", "year", "topic"]
    ].values.tolist()
    shown = run(*arguments).stdout
    assert "50% interval" in shown
    assert "Intervals are over 20 draws." in shown
    assert len(list(csv.DictReader(io.StringIO(run(*arguments, "--format", "csv").stdout)))) == 12


def test_values_and_topics_can_be_chosen(run: Run, curved: Path) -> None:
    chosen = ("--at", "year=1991,1999.5", "--at", "section=sky", "--topics", "1")
    rows = json.loads(run("prevalence", curved, "--over", "year", *chosen, "--format", "json").stdout)
    assert [(row["section"], row["year"], row["topic"]) for row in rows] == [("sky", 1991, 1), ("sky", 1999.5, 1)]


def test_a_contrast_has_the_first_value_as_its_reference(run: Run, curved: Path) -> None:
    chosen = ("--over", "year", "--by", "section", "--at", "section=sky,pets", "--contrast", "--points", 2)
    rows = json.loads(run("prevalence", curved, *chosen, "--format", "json").stdout)
    assert {(row["section"], row["reference"]) for row in rows} == {("pets", "sky")}
    table = metalda.load(curved).prevalence_at({"section": ["sky", "pets"], "year": [1990, 2005]}, contrast="section")
    assert sorted(row["mean"] for row in rows) == pytest.approx(sorted(table["mean"]))
    assert run("prevalence", curved, *chosen).stdout.startswith("Differences from sky:")


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_files_are_written(run: Run, curved: Path, tmp_path: Path, suffix: str) -> None:
    picture, table = tmp_path / f"years.{suffix}", tmp_path / "years.csv"
    result = run("prevalence", curved, "--over", "year", "-o", table, "--plot", picture)
    assert result.output == f"80 rows saved to {table}.\n"
    assert picture.read_bytes().startswith({"png": b"\x89PNG", "svg": b"<?xml"}[suffix])
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    assert len(rows) == 80
    assert (rows[0]["year"], rows[-1]["year"]) == ("1990", "2005")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--over", "decade"), "no column 'decade'; it has 'section', 'year'"),
        (("--over", "year", "--by", "decade"), "no column 'decade'"),
        (("--over", "year", "--by", "year"), "give two columns"),
        (("--over", "year", "--at", "decade=1"), "no column 'decade'"),
        (("--over", "year", "--at", "year"), "expected COLUMN=VALUE"),
        (("--over", "year", "--at", "year=old"), "'old' is not"),
        (("--over", "year", "--at", "year=nan"), "must be finite"),
        (("--over", "year", "--at", "section=pet"), "did you mean 'section=pets'"),
        (("--over", "year", "--at", "year=1990", "--contrast"), "two values or more"),
        (("--over", "year", "--topics", "2"), "no topic 2"),
        (("--over", "year", "--topics", "a"), "no topic is named 'a'"),
        (("--over", "year", "--interval", "1.5"), "interval"),
        (("--over", "year", "-o", "a.txt"), "must end in .csv"),
        (("--over", "year", "-o", "nowhere/a.csv"), "there is no folder"),
        (("--over", "year", "--plot", "a.txt"), "that ends in .png"),
        (("--over", "year", "--points", "1"), "--points"),
        ((), "--over"),
    ],
)
def test_bad_input_is_one_line(run: Run, curved: Path, options: tuple, message: str) -> None:
    assert message in error_line(run("prevalence", curved, *options))


def test_a_model_without_columns_is_one_line(run: Run, write: Write, tmp_path: Path) -> None:
    data = write("a.txt", "cat dog\nsun rain\n")
    for name, message in (("metalda", "learned from no labels"), ("lda", "this LDA does not learn from labels")):
        run("fit", data, "-o", tmp_path / name, "--model", name, "-k", 2, "--iterations", 4)
        assert message in error_line(run("prevalence", tmp_path / name, "--over", "year"))


def test_dmr_has_no_intervals(run: Run, data: Path, tmp_path: Path) -> None:
    how = ("--model", "dmr", "--numbers", "year", "--optimize-burn-in", 4)
    assert run("fit", data, "-o", tmp_path / "m", *FIT, *how).exit_code == 0
    shown = run("prevalence", tmp_path / "m", "--over", "year", "--plot", tmp_path / "a.svg").stdout
    assert "no intervals: the weights of DMR are point estimates" in shown


def fitted(run: Run, data: Path, folder: Path, *how: object) -> tuple[metalda.MetaLDA, str]:
    """A quick model with these options, and what the command printed."""
    result = run("fit", data, "-o", folder, "--text", "body", "-k", 2, "--iterations", 4, *how)
    assert result.exit_code == 0, result.output
    return metalda.load(folder), result.output


def test_a_formula_names_the_columns_that_are_read(run: Run, data: Path, tmp_path: Path) -> None:
    formula = "section + s(year, df=4) + `page no`"
    model, shown = fitted(run, data, tmp_path / "m", "--prevalence", formula)
    assert f"Terms: {formula}\n" in shown
    assert f"metalda prevalence {tmp_path / 'm'} --over year" in shown
    assert (model.schema_.labels, list(model.schema_.numbers)) == (("section", "page no"), ["year"])
    assert model.fitted_.labels.group_names == ("section", "year", "s(year)", "page no")
    model, _ = fitted(run, data, tmp_path / "m", "--prevalence", "s(year)", "--numbers", "page no", "--labels", "city")
    assert (model.schema_.labels, list(model.schema_.numbers)) == (("city",), ["page no", "year"])
    model, _ = fitted(run, data, tmp_path / "m", "--prevalence", "`page no` + city", "--numbers", "page no")
    assert (model.schema_.labels, list(model.schema_.numbers)) == (("city",), ["page no"])


def test_splines_and_interactions_are_a_formula_of_all_columns(run: Run, data: Path, tmp_path: Path) -> None:
    columns = ("--labels", "section,city", "--numbers", "page no")
    made = ("--splines", "year=4", "--interactions", "section:year,city:page no")
    model, shown = fitted(run, data, tmp_path / "m", *columns, *made)
    expected = "section + city + `page no` + s(year, df=4) + section:s(year, df=4) + city:`page no`"
    assert model.prevalence == expected
    assert f"Terms: {expected}\n" in shown
    prepared = tmp_path / "corpus"
    assert run("prepare", data, "-o", prepared, "--text", "body", *columns, "--numbers", "year").exit_code == 0
    result = run("fit", prepared, "-o", tmp_path / "p", "-k", 2, "--iterations", 4, *made)
    assert f"Terms: {expected}\n" in result.output
    model, _ = fitted(run, data, tmp_path / "m", "--splines", "year", "--splines", "page no=3")
    assert model.prevalence == "s(year) + s(`page no`, df=3)"
    model, shown = fitted(run, data, tmp_path / "m", "--labels", "section")
    assert model.prevalence is None
    assert "Terms" not in shown


def test_subfolders_are_terms(run: Run, tmp_path: Path) -> None:
    for i, section in enumerate(["pets", "sky", "sky"]):
        (tmp_path / "texts" / section).mkdir(parents=True, exist_ok=True)
        (tmp_path / "texts" / section / f"{i}.txt").write_text("cat dog sun", encoding="utf-8")
    result = run("fit", tmp_path / "texts", "-o", tmp_path / "m", "--prevalence", "sky", "-k", 2, "--iterations", 4)
    assert result.exit_code == 0, result.output
    assert metalda.load(tmp_path / "m").label_names_ == ("sky",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--splines", "year", "--prevalence", "s(year)"), "give --splines or --prevalence, not both"),
        (("--interactions", "a:b", "--prevalence", "s(year)"), "give --interactions or --prevalence, not both"),
        (("--splines", "year=x"), "expected COLUMN, or COLUMN=5"),
        (("--splines", "=5"), "expected COLUMN, or COLUMN=5"),
        (("--splines", "year=2"), "must lie between 3 and 50"),
        (("--splines", "section"), "not a number"),
        (("--splines", "century"), "no field 'century'"),
        (("--splines", "year", "--interactions", "section:year"), "no column 'section' is read"),
        (("--interactions", "year"), "expected two columns or more"),
        (("--interactions", "year:year"), "expected two columns or more"),
        (("--splines", "year", "--model", "lda"), "--splines is not an option of --model lda"),
        (("--splines", "year", "--bins", "year=2"), "both in bins and in numbers"),
        (("--prevalence", "s(year) + s(year, df=3)"), "several values of df"),
        (("--prevalence", "century"), "no field 'century'"),
        (("--prevalence", "s(year"), "not a formula"),
        (("--prevalence", "s(section)"), "not a number"),
    ],
)
def test_formulas_that_make_no_sense_are_one_line(run: Run, data: Path, options: tuple, message: str) -> None:
    folder = data.parent / "none"
    assert message in error_line(run("fit", data, "-o", folder, *FIT, *options))
    assert not folder.exists()


def test_new_documents_have_the_columns_of_the_formula(run: Run, curved: Path, data: Path, tmp_path: Path) -> None:
    for command in (("transform", curved, data, "-o", "-"), ("evaluate", curved, data)):
        assert run(*command).exit_code == 0
    assert "cannot predict" in error_line(run("predict", curved, data))
    how = (
        "--text",
        "body",
        "--labels",
        "section",
        "--numbers",
        "year",
        "--iterations",
        4,
        "--seeds",
        1,
        "--test",
        data,
    )
    models = ("--models", "metalda:prevalence=section:s(year, df=4),n_draws=2,lda", "-k", 2)
    result = run("compare", data, *how, *models, "-o", tmp_path / "c", "--format", "csv")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["model"] for row in rows] == ["metalda:prevalence=section:s(year, df=4),n_draws=2", "lda"]
    result = run("search", data, *how, "--model", "metalda:prevalence=section+s(year)", "-k", "2", "-o", tmp_path / "s")
    assert result.exit_code == 0, result.output
