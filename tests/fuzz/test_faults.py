"""A small number of simultaneous saves and of kills; ``python -m tests.fuzz.faults`` runs many."""

import os
import subprocess
import sys

import pytest

from repository import ROOT

pytestmark = pytest.mark.slow


def run(*arguments: str) -> str:
    """Run the program in the root of the repository, and require that it finds nothing."""
    command = [sys.executable, "-m", "tests.fuzz.faults", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_simultaneous_saves_leave_one_whole_model() -> None:
    assert run("saves", "--n", "4").startswith("4 rounds of 3 saves")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_kills_lose_nothing() -> None:
    assert "\n5 kills, 0 losses\n" in run("kills", "--n", "5", "--seed", "1")
