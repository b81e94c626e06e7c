"""``--cluster``: processes here, or a scheduler somewhere."""

import sys
from pathlib import Path

import numpy as np
import pytest

import metalda
from cli.helpers import Run, error_line

pytest.importorskip("distributed", reason="no dask.distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("swept_up"),
]

FIT = ("--text", "body", "--labels", "section", "-k", 2, "--iterations", 6, "--n-shards", 3, "--quiet")


@pytest.mark.slow
def test_processes_on_this_machine_give_the_same_model_proportions_and_scores(
    run: Run, data: Path, tmp_path: Path
) -> None:
    for name, where in (("here", ()), ("there", ("--cluster", "local", "--jobs", 2))):
        result = run("fit", data, "-o", tmp_path / name, *FIT, *where)
        assert (result.exit_code, result.stdout) == (0, "")
        result = run("transform", tmp_path / name, data, "-o", tmp_path / f"{name}.npy", *where)
        assert result.exit_code == 0, result.output
        scored = run("coherence", tmp_path / name, "--reference", data, "--text", "body", "--format", "json", *where)
        assert scored.exit_code == 0, scored.output
        (tmp_path / f"{name}.json").write_text(scored.stdout.replace(f"{tmp_path / name}", "model"))
    here, there = (metalda.load(tmp_path / name) for name in ("here", "there"))
    np.testing.assert_array_equal(here.components_, there.components_)
    np.testing.assert_array_equal(np.load(tmp_path / "here.npy"), np.load(tmp_path / "there.npy"))
    assert (tmp_path / "here.json").read_text() == (tmp_path / "there.json").read_text()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "http://127.0.0.1:1", "tcp://127.0.0.1"])
def test_an_address_where_no_scheduler_answers_is_one_line(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr("metalda.cli.cluster.SECONDS", 1)
    result = run("fit", data, "-o", tmp_path / "model", *FIT, "--cluster", address)
    assert result.exit_code == 2
    assert f"{address}: no Dask scheduler answers there within 1 s" in error_line(result)
    assert not (tmp_path / "model").exists()


def test_a_model_that_cannot_be_spread_is_one_line(run: Run, data: Path, tmp_path: Path) -> None:
    options = ("--text", "body", "--model", "ptm", "-k", 2, "--n-pseudo-documents", 4, "--iterations", 2, "-q")
    result = run("fit", data, "-o", tmp_path / "model", *options, "--cluster", "local")
    assert result.exit_code == 2
    assert "PTM runs on one machine only" in error_line(result)


def test_without_dask_the_remedy_is_named(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = run("fit", data, "-o", tmp_path / "model", *FIT, "--cluster", "local")
    assert result.exit_code == 2
    assert "pip install 'metalda[dask]'" in error_line(result)
