"""The benchmark of ``metalda.load`` makes models that can be loaded, with and without checks."""

import subprocess
import sys

import pytest

from repository import ROOT


@pytest.mark.slow
def test_the_benchmark_of_loading_runs() -> None:
    command = [sys.executable, "-m", "benchmarks.loading", "--scale", "0.001", "--repeats", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("checked / unchecked: ") == 2
