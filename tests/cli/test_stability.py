"""``metalda stability``."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

import metalda
from cli.helpers import Run, error_line
from metalda.evaluation import recurring_topics


@pytest.mark.parametrize("measure", ["words", "probabilities"])
def test_stability_prints_what_the_library_gives(run: Run, chains: list[Path], measure: str) -> None:
    expected = metalda.stability([metalda.load(path) for path in chains], measure=measure, top_n=4)
    options = ("--measure", measure, "--top-n", 4)
    shown = json.loads(run("stability", *chains, *options, "--format", "json").stdout)
    assert shown["stability"] == pytest.approx(expected.score)
    assert [row["similarity"] for row in shown["topics"]] == pytest.approx(list(expected.topics["similarity"]))
    assert [row["model"] for row in shown["topics"][::2]] == [str(path) for path in chains]
    rows = list(csv.DictReader(io.StringIO(run("stability", *chains, *options, "--format", "csv").stdout)))
    assert [float(row["similarity"]) for row in rows] == pytest.approx(list(expected.topics["similarity"]), rel=1e-5)
    table = run("stability", *chains, *options).stdout
    assert f"Stability {expected.score:.3f}: mean over all topics of 3 models" in table
    first, *others = map(metalda.load, chains)
    recurring = [len(recurring_topics(first, other)) for other in others]
    assert shown["recurring"] == recurring
    for path, n in zip(chains[1:], recurring, strict=True):
        assert f"{n} of {len(first.components_)} topics recur in {path}." in table
    steadiest = expected.topics[:2].sort_values("similarity", ascending=False)["topic"]
    assert re.findall(r"^ +(\d)  ", table, re.MULTILINE) == list(map(str, steadiest))


def test_hostile_words_and_labels_reach_no_terminal(run: Run, chains: list[Path]) -> None:
    for format in ("table", "json", "csv"):
        result = run("stability", *chains, "--format", format)
        assert result.exit_code == 0, result.output
        assert "\x1b" not in result.output
        assert "31mred" in result.output


def test_bad_input_is_one_line(run: Run, chains: list[Path], tmp_path: Path) -> None:
    assert "give two or more" in error_line(run("stability", chains[0]))
    assert "no such folder" in error_line(run("stability", chains[0], tmp_path / "none"))
    assert "MODEL" in error_line(run("stability"))
