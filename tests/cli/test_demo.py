"""``metalda demo``: everything that it promises is on the screen."""

import re
from pathlib import Path
from typing import Any

import pytest

import metalda
from cli.helpers import Run, error_line
from metalda.datasets import load_python_docs


@pytest.fixture(scope="module")
def corpus() -> metalda.Corpus:
    return load_python_docs(min_df=1, limit=400)


def test_the_demo_shows_topics_effects_perplexities_and_what_is_next(
    run: Run, monkeypatch: pytest.MonkeyPatch, corpus: metalda.Corpus, tmp_path: Path
) -> None:
    def load(**options: Any) -> metalda.Corpus:
        return corpus

    monkeypatch.setattr("metalda.datasets.load_python_docs", load)
    result = run("demo", "--topics", 4, "--iterations", 20, "--jobs", 1, "--save", tmp_path / "m")
    assert result.exit_code == 0, result.output
    shown = result.stdout
    assert "400 documents" in shown
    assert re.search(r"^topic +share +words$", shown, re.MULTILINE)
    assert re.search(r"^module +raises topic +to +points +words of the topic$", shown, re.MULTILINE)
    assert re.search(r"\d%  +\+\d+ \(–\)  ", shown)  # ten draws have no interval
    assert "nan" not in shown
    for unseen in ("ignored", "predicted"):
        numbers = re.search(rf"out-of-vocabulary words {unseen} +([\d,]+) +([\d,]+) +([+-]\d+)%", shown)
        assert numbers is not None
        lda, meta = (int(numbers[i].replace(",", "")) for i in (1, 2))
        assert round(100 * (meta / lda - 1)) == pytest.approx(int(numbers[3]), abs=1)
    assert "metalda fit" in shown
    assert metalda.load(tmp_path / "m").n_components == 4
    (tmp_path / "new.txt").write_text("json decoder of strings\n")
    assert run("transform", tmp_path / "m", tmp_path / "new.txt", "-o", "-").exit_code == 0


def test_the_demo_checks_its_output_first(run: Run, tmp_path: Path) -> None:
    assert "no folder" in error_line(run("demo", "--save", tmp_path / "no" / "model"))
