"""``metalda fit --wording`` and ``metalda wording``."""

import csv
import io
import json
from pathlib import Path

import pytest

import metalda
from cli.helpers import Run, error_line, news

FIT = ("--text", "body", "-k", 2, "--iterations", 40, "-q")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wording") / "news.jsonl"
    records = [{**record, "city": "LMN"[i % 3], "same": "x"} for i, record in enumerate(news())]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def worded(run: Run, data: Path) -> Path:
    """A model with groups, whose column is read because it is named; tests must not change it."""
    result = run("fit", data, "-o", data.parent / "worded", *FIT, "--wording", "city", "--labels", "section")
    assert result.exit_code == 0, result.output
    return data.parent / "worded"


def test_the_column_is_read_and_informs_topics_too(worded: Path) -> None:
    model = metalda.load(worded)
    assert model.wording_groups_ == ("city=L", "city=M", "city=N")
    assert {"section=pets", "city=L"} <= set(model.label_names_)


def test_a_formula_leaves_the_column_out(run: Run, data: Path, tmp_path: Path) -> None:
    how = ("--wording", "city", "--prevalence", "section")
    assert run("fit", data, "-o", tmp_path / "m", *FIT, *how).exit_code == 0
    model = metalda.load(tmp_path / "m")
    assert set(model.label_names_) == {"section=pets", "section=sky"}
    assert len(model.wording_groups_) == 3


def test_the_tables_are_the_librarys(run: Run, worded: Path) -> None:
    model = metalda.load(worded)
    chosen = ("wording", worded, "--topic", 1, "--groups", "L,M", "--top-n", 3, "--interval", 0.5)
    rows = json.loads(run(*chosen, "--format", "json").stdout)
    table = model.wording_contrasts(1, "L", "M", top_n=3, interval=0.5)
    assert [row["word"] for row in rows] == table["word"].tolist()
    assert [row["effect"] for row in rows] == pytest.approx(table["effect"].tolist())
    assert len(list(csv.DictReader(io.StringIO(run(*chosen, "--format", "csv").stdout)))) == len(table)
    shown = run(*chosen).stdout
    assert "50% interval" in shown
    assert "used more by" in shown
    topics = json.loads(run("wording", worded, "--format", "json").stdout)
    assert [row["concentration"] for row in topics] == pytest.approx(model.wording_["concentration"].tolist())
    assert "concentration" in run("wording", worded).stdout


def test_without_groups_each_is_compared_with_all_others(run: Run, worded: Path) -> None:
    rows = json.loads(run("wording", worded, "--topic", 0, "--top-n", 1, "--format", "json").stdout)
    assert {(row["first"], row["second"]) for row in rows} == {(f"city={c}", "all others") for c in "LMN"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--topic", 9), "no topic 9; topics are numbered 0 to 1"),
        (("--topic", 0, "--groups", "L,M,N"), "--groups L,M,N: give two groups"),
        (("--topic", 0, "--groups", "X"), "the model has no group 'X'; it has 'city=L'"),
        (("--topic", 0, "--groups", "L,L"), "the same group"),
        (("--groups", "L,M"), "--groups needs --topic N"),
        (("--topic", 0, "--interval", 2), "interval must lie between 0 and 1"),
    ],
)
def test_mistakes_are_one_line(run: Run, worded: Path, arguments: tuple[object, ...], message: str) -> None:
    assert message in error_line(run("wording", worded, *arguments))


def test_a_model_without_groups_says_how_to_fit_one(run: Run, data: Path, tmp_path: Path) -> None:
    assert run("fit", data, "-o", tmp_path / "m", *FIT, "--labels", "city").exit_code == 0
    assert "fit MetaLDA with wording= (--wording COLUMN)" in error_line(run("wording", tmp_path / "m"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--wording", "town"), "town"),
        (("--wording", "same"), "all documents have the value 'x'"),
        (("--wording", "city", "--model", "lda"), "--wording is not an option of --model lda"),
        (("--wording", "year", "--numbers", "year"), "holds numbers"),
    ],
)
def test_columns_without_groups_are_one_line(
    run: Run, data: Path, tmp_path: Path, arguments: tuple[object, ...], message: str
) -> None:
    assert message in error_line(run("fit", data, "-o", tmp_path / "m", *FIT, *arguments))
