"""``metalda stability`` and ``metalda chains``: saved models beside each other."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest

import metalda
from cli.helpers import Run, error_line, news
from metalda import Corpus, MetaLDA

HOSTILE = "\x1b[31mred"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three chains; tests must not change them. One word and one label would command a terminal."""
    folder = tmp_path_factory.mktemp("chains")
    records = news() * 3
    tokens = [[*record["body"].lower().split(), HOSTILE] for record in records]
    labels = [HOSTILE if record["section"] == "sky" else "pets" for record in records]
    corpus = Corpus.from_tokens(tokens, labels)
    for seed in range(3):
        model = MetaLDA(2, n_iter=30, thin=1, n_draws=12, random_state=seed, verbose=False)
        model.fit(corpus).save(folder / f"m{seed}")
    return [folder / f"m{seed}" for seed in range(3)]


@pytest.mark.parametrize("measure", ["words", "probabilities"])
def test_stability_prints_what_the_library_gives(run: Run, saved: list[Path], measure: str) -> None:
    expected = metalda.stability([metalda.load(path) for path in saved], measure=measure, top_n=4)
    options = ("--measure", measure, "--top-n", 4)
    shown = json.loads(run("stability", *saved, *options, "--format", "json").stdout)
    assert shown["stability"] == pytest.approx(expected.score)
    assert [row["similarity"] for row in shown["topics"]] == pytest.approx(list(expected.topics["similarity"]))
    assert [row["model"] for row in shown["topics"][::2]] == [str(path) for path in saved]
    rows = list(csv.DictReader(io.StringIO(run("stability", *saved, *options, "--format", "csv").stdout)))
    assert [float(row["similarity"]) for row in rows] == pytest.approx(list(expected.topics["similarity"]), rel=1e-5)
    table = run("stability", *saved, *options).stdout
    assert f"Stability {expected.score:.3f}: the mean over all topics of all 3 models" in table
    steadiest = expected.topics[:2].sort_values("similarity", ascending=False)["topic"]
    assert re.findall(r"^ +(\d)  ", table, re.MULTILINE) == list(map(str, steadiest))


def test_chains_prints_what_the_library_gives(run: Run, saved: list[Path]) -> None:
    expected = metalda.diagnose_chains([metalda.load(path) for path in saved])
    shown = json.loads(run("chains", *saved, "--format", "json").stdout)
    assert [row["rhat"] for row in shown["quantities"]] == pytest.approx(list(expected["rhat"]))
    assert [row["topic"] for row in shown["quantities"]] == [None, 0, 1, 0, 1]
    assert shown["verdicts"] == expected["verdict"].value_counts().to_dict()
    rows = list(csv.DictReader(io.StringIO(run("chains", *saved, "--format", "csv").stdout)))
    assert [float(row["ess"]) for row in rows] == pytest.approx(list(expected["ess"]), rel=1e-5)
    table = run("chains", *saved, "--top", 1).stdout.splitlines()
    assert table[1].split()[:3] == ["log", "likelihood", f"{expected['rhat'][0]:.3f}"]
    assert f"{expected['rhat'][1:].max():.3f}" in table[2]  # the worst first
    assert table[3] == ""
    assert any("matched by their words" in line for line in table)


def test_hostile_words_and_labels_reach_no_terminal(run: Run, saved: list[Path]) -> None:
    for command in ("stability", "chains"):
        for format in ("table", "json", "csv"):
            result = run(command, *saved, "--format", format)
            assert result.exit_code == 0, result.output
            assert "\x1b" not in result.output
            assert "31mred" in result.output


def test_bad_input_is_one_line(run: Run, saved: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in ("stability", "chains"):
        assert "give two or more" in error_line(run(command, saved[0]))
        assert "no such folder" in error_line(run(command, saved[0], tmp_path / "none"))
        assert "MODEL" in error_line(run(command))
    assert "it is the same chain" in error_line(run("chains", saved[0], saved[0]))
    monkeypatch.setitem(sys.modules, "arviz", None)
    assert "pip install 'metalda[chains]'" in error_line(run("chains", *saved))
