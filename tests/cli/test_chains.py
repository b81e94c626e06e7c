"""``metalda chains``."""

import csv
import io
import json
from pathlib import Path

import pytest

import metalda
from cli.helpers import Run, error_line


def test_chains_prints_what_the_library_gives(run: Run, chains: list[Path]) -> None:
    expected = metalda.diagnose_chains([metalda.load(path) for path in chains])
    shown = json.loads(run("chains", *chains, "--format", "json").stdout)
    assert [row["rhat"] for row in shown["quantities"]] == pytest.approx(list(expected["rhat"]))
    assert [row["topic"] for row in shown["quantities"]] == [None, 0, 1, 0, 1]
    assert shown["verdicts"] == expected["verdict"].value_counts().to_dict()
    rows = list(csv.DictReader(io.StringIO(run("chains", *chains, "--format", "csv").stdout)))
    assert [float(row["ess"]) for row in rows] == pytest.approx(list(expected["ess"]), rel=1e-5)
    table = run("chains", *chains, "--top", 1).stdout.splitlines()
    assert table[1].split()[:3] == ["log", "likelihood", f"{expected['rhat'][0]:.3f}"]
    assert f"{expected['rhat'][1:].max():.3f}" in table[2]  # the worst first
    assert table[3] == ""
    assert any("matched by their words" in line for line in table)


def test_hostile_words_and_labels_reach_no_terminal(run: Run, chains: list[Path]) -> None:
    for format in ("table", "json", "csv"):
        result = run("chains", *chains, "--format", format)
        assert result.exit_code == 0, result.output
        assert "\x1b" not in result.output
        assert "31mred" in result.output


def test_bad_input_is_one_line(run: Run, chains: list[Path], tmp_path: Path) -> None:
    assert "fit with n_chains (--chains) of 2 or more" in error_line(run("chains", chains[0]))
    assert "no such folder" in error_line(run("chains", chains[0], tmp_path / "none"))
    assert "MODEL" in error_line(run("chains"))
    assert "it is the same chain" in error_line(run("chains", chains[0], chains[0]))


def test_a_fit_with_chains_says_which_topics_all_of_them_have(run: Run, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    options = ("--text", "body", "--labels", "section", "-k", 3, "--iterations", 60, "--chains", 3)
    shown = run("fit", data, "-o", folder, *options).stdout
    model = metalda.load(folder)
    assert len(model.chains_) == 3
    assert "3 chains of 15 draws" in shown
    assert f"metalda chains {folder}" in shown
    cells = ["1 of 3, not matched" if n == 1 else f"{n} of 3" for n in model.topics()["chains"]]
    in_all, alone = (int((model.topics()["chains"] == n).sum()) for n in (3, 1))
    summary = f"Of 3 topics, {in_all} were found in all 3 chains and {alone} in one only (not matched)."
    for table in (shown, *(run(command, folder).stdout for command in ("topics", "effects"))):
        assert summary in table
        assert all(cell in table for cell in cells)
    rows = json.loads(run("effects", folder, "--format", "json").stdout)
    assert {(row["topic"], row["chains"]) for row in rows} == set(enumerate(model.topics()["chains"]))
    quantities = json.loads(run("chains", folder, "--format", "json").stdout)["quantities"]
    assert {row["chains"] for row in quantities} == {3}
    assert len(quantities) == 1 + 2 * 3
