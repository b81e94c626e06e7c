"""``metalda effects``."""

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest

import metalda
from cli.helpers import Run, Write, error_line
from metalda.cli import effects


def test_effects_show_the_labels_that_raise_a_topic_most(run: Run, model: Path) -> None:
    rows = json.loads(run("effects", model, "--top", 1, "--format", "json").stdout)
    table = metalda.load(model).label_effects()
    best = table.loc[table.groupby("topic")["difference_low"].idxmax()]
    assert [(row["topic"], row["label"]) for row in rows] == list(zip(best["topic"], best["label"], strict=True))
    shown = run("effects", model, "--top", 1).stdout
    assert "90% interval" in shown
    assert all(row["label"] in shown for row in rows)


def test_effects_of_one_label_cover_its_topics(run: Run, model: Path) -> None:
    rows = json.loads(run("effects", model, "--label", "pets", "--top", 0, "--format", "json").stdout)
    assert {row["label"] for row in rows} == {"pets"}
    assert sorted(row["topic"] for row in rows) == [0, 1]
    csv_rows = list(csv.DictReader(io.StringIO(run("effects", model, "--label", "pets", "--format", "csv").stdout)))
    assert [int(row["topic"]) for row in csv_rows] == [row["topic"] for row in rows]


def test_effects_of_features(run: Run, model: Path) -> None:
    rows = json.loads(run("effects", model, "--features", "--top", 0, "--format", "json").stdout)
    assert {row["feature"] for row in rows} == {"0", "1"}
    assert run("effects", model, "--features").exit_code == 0


def test_an_unknown_label_is_answered_with_the_nearest(run: Run, model: Path) -> None:
    assert "no label 'pet'; did you mean 'pets'?" in error_line(run("effects", model, "--label", "pet"))
    assert "it has 'pets', 'sky'" in error_line(run("effects", model, "--label", "zzz"))


def test_effects_without_labels_are_an_error(run: Run, write: Write, tmp_path: Path) -> None:
    data = write("a.txt", "cat dog\nsun rain\n")
    run("fit", data, "-o", tmp_path / "m", "-k", 2, "--iterations", 4)
    assert "learned from no labels" in error_line(run("effects", tmp_path / "m"))
    run("fit", data, "-o", tmp_path / "lda", "--model", "lda", "-k", 2, "--iterations", 4)
    for options in ((), ("--contrast", "a", "b"), ("--proportions",)):
        assert "this LDA does not learn from labels" in error_line(run("effects", tmp_path / "lda", *options))
    assert "fit MetaLDA or WFLDA" in error_line(run("effects", tmp_path / "lda", "--features"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--interval", "1.5"), "interval"),
        (("--contrast", "pets", "sk"), "no label 'sk'; did you mean 'sky'?"),
        (("--contrast", "pets", "sky", "--label", "sky"), "choose one"),
        (("--proportions", "--features"), "leave out --features"),
        (("--proportions", "--plot", "a.png"), "leave out --proportions"),
        (("--plot", "effects.txt"), "that ends in .png"),
        (("--plot", "nowhere/effects.png"), "there is no folder"),
    ],
)
def test_options_that_make_no_sense_are_one_line(run: Run, model: Path, options: tuple, message: str) -> None:
    assert message in error_line(run("effects", model, *options))


def test_a_contrast_is_the_librarys(run: Run, model: Path) -> None:
    rows = json.loads(run("effects", model, "--contrast", "pets", "sky", "--top", 0, "--format", "json").stdout)
    table = metalda.load(model).label_contrasts("pets", "sky").set_index("topic")
    assert {row["topic"]: row["effect"] for row in rows} == pytest.approx(table["effect"].to_dict())
    shown = run("effects", model, "--contrast", "pets", "sky").stdout
    assert shown.startswith("pets vs. sky:")
    features = json.loads(run("effects", model, "--features", "--contrast", "0", "1", "--format", "json").stdout)
    assert {(row["first"], row["second"]) for row in features} == {("0", "1")}


def test_combinations_have_commas_between_labels(run: Run, write: Write, tmp_path: Path) -> None:
    records = [
        {"body": text, "tags": [section, year]}
        for text, section in (("cat dog", "pets, all"), ("rain sun", "sky"))
        for year in ("2019", "2020")
    ]
    fitting = ("--text", "body", "--labels", "tags", "-k", 2, "--iterations", 9, "-q")
    run("fit", write("a.jsonl", records), "-o", tmp_path / "m", *fitting)
    shown = run("effects", tmp_path / "m", "--contrast", "sky,2019", "sky,2020", "--format", "csv")
    first, second = next(csv.reader(io.StringIO(shown.stdout.splitlines()[1])))[:2]
    assert (first, second) == ("sky + 2019", "sky + 2020")
    own = run("effects", tmp_path / "m", "--contrast", "pets, all", "sky", "--format", "json")
    assert json.loads(own.stdout)[0]["first"] == "pets, all"
    quoted = run("effects", tmp_path / "m", "--contrast", '"pets, all",2019', "sky,2019", "--format", "json")
    assert json.loads(quoted.stdout)[0]["first"] == "pets, all + 2019"


def test_labels_are_typed_by_value_and_by_number(run: Run, data: Path, tmp_path: Path) -> None:
    fitting = ("--text", "body", "--labels", "section", "--bins", "year=1994,1998", "-k", 2, "--iterations", 9, "-q")
    assert run("fit", data, "-o", tmp_path / "m", *fitting).exit_code == 0
    for typed, name in (
        ("pets", "section=pets"),
        ("1994 <= year < 1998", "1994 ≤ year < 1998"),
        ("year=1990", "year < 1994"),
    ):
        for option in ((), ("--proportions",)):
            rows = json.loads(run("effects", tmp_path / "m", "--label", typed, *option, "--format", "json").stdout)
            assert {row["label"] for row in rows} == {name}
    shown = run("effects", tmp_path / "m", "--contrast", "pets,year=2003", "sky,year>=1998").stdout
    assert shown.startswith("section=pets + year ≥ 1998 vs. section=sky + year ≥ 1998:")
    assert "did you mean 'section=pets'?" in error_line(run("effects", tmp_path / "m", "--label", "pet"))


def test_proportions_are_the_librarys(run: Run, model: Path) -> None:
    rows = json.loads(run("effects", model, "--proportions", "--top", 0, "--format", "json").stdout)
    table = metalda.load(model).label_proportions().set_index(["label", "topic"])["proportion"]
    assert {(row["label"], row["topic"]): row["proportion"] for row in rows} == pytest.approx(table.to_dict())
    assert "proportion" in run("effects", model, "--proportions", "--label", "sky").stdout


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_effects_are_drawn(run: Run, model: Path, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"effects.{suffix}"
    path.write_text("old")
    result = run("effects", model, "--contrast", "pets", "sky", "--plot", path)
    assert result.exit_code == 0
    assert "pets vs. sky" in result.stdout
    assert path.read_bytes().startswith({"png": b"\x89PNG", "svg": b"<?xml"}[suffix])
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_pooling_has_a_row_for_each_group(run: Run, model: Path) -> None:
    rows = json.loads(run("effects", model, "--pooling", "--format", "json").stdout)
    assert [(row["kind"], row["n"]) for row in rows] == [("label", 2), ("feature", 2)]
    assert "standard deviation of log weights" in run("effects", model, "--pooling").stdout
    assert "leave out the other options" in error_line(run("effects", model, "--pooling", "--features"))


def test_a_model_without_learned_scales_has_no_pooling(run: Run, write: Write, tmp_path: Path) -> None:
    data = write("a.txt", "cat dog\nsun rain\n")
    for model in ("lda", "metalda"):
        run("fit", data, "-o", tmp_path / model, "--model", model, "-k", 2, "--iterations", 4)
        assert "no learned scales" in error_line(run("effects", tmp_path / model, "--pooling"))


def test_labels_that_lower_the_share_of_a_topic_are_not_those_that_raise_it() -> None:
    """The label `big` doubles the weight of topic 0, and raises that of others so much that the share falls."""
    table = pd.DataFrame(
        {
            "label": ["big", "small"],
            "topic": [0, 0],
            "difference": [-0.2, 0.1],
            "difference_low": [-0.3, 0.05],
            "difference_high": [-0.1, 0.15],
            "effect": [0.7, 0.3],
            "low": [0.5, 0.1],
            "high": [0.9, 0.5],
        }
    )
    assert effects.strongest(table, "topic", 1)["label"].tolist() == ["small"]
    assert effects._count_opposed(table) == 1
    assert effects._farthest_from_zero(table, 1)["label"].tolist() == ["big"]
