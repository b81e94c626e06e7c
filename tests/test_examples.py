"""The programs of examples/ run, with small settings."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from repository import ROOT

SMALL = ["--topics", "4", "--iterations", "40", "--limit", "3000"]  # enough for intervals
ARGUMENTS = {
    "cluster.py": ["--topics", "4", "--iterations", "5", "--limit", "300"],
    "compare_models.py": [*SMALL, "--seeds", "1", "--models", "metalda,lda"],
    "effects_plot.py": ["effects.png", *SMALL],
    "labeled_texts.py": SMALL,
    "short_texts.py": SMALL,
}
SHOWN = {  # printed at the end of the program
    "cluster.py": "Identical proportions: True",
    "compare_models.py": "seconds_per_iteration",
    "effects_plot.py": "words",
    "labeled_texts.py": "Perplexity of",
    "short_texts.py": "without out-of-vocabulary words",
}
WRITTEN = {"effects_plot.py": ["effects.png"]}


def run(name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    rising = "ignore:the log-likelihood still rises:UserWarning"  # after few iterations
    program = [sys.executable, "-W", "error", "-W", rising, str(ROOT / "examples" / name), *ARGUMENTS[name]]
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(program, capture_output=True, text=True, cwd=folder, env={**os.environ, "PYTHONPATH": paths})


def test_every_example_is_run() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == set(ARGUMENTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_example_runs_without_a_warning(name: str, tmp_path: Path) -> None:
    done = run(name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert SHOWN[name] in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == WRITTEN.get(name, [])
