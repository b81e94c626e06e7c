"""A full disk is one line, and what was there before stays whole."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import metalda
from cli.helpers import Run, Write, error_line, news

FIT = ("fit", "DATA", "--text", "body", "--labels", "section", "-k", 3, "--iterations", 10, "-q")
COMMANDS: dict[str, tuple[object, ...]] = {
    "fit": (*FIT, "-o", "HERE/model"),
    "prepare": ("prepare", "DATA", "--text", "body", "-o", "HERE/corpus", "-q"),
    "transform": ("transform", "MODEL", "DATA", "-o", "HERE/out.csv", "-q"),
    "transform to JSON": ("transform", "MODEL", "DATA", "-o", "HERE/out.jsonl", "-q"),
    "validate make": ("validate", "make", "MODEL", "DATA", "-o", "HERE/t.html", "--words", 2, "--documents", 0, "-q"),
    "transform to NumPy": ("transform", "MODEL", "DATA", "-o", "HERE/out.npy", "-q"),
}


@contextmanager
def full_disk(n_bytes: int) -> Iterator[None]:
    """Let no file grow beyond this size: writing fails, as on a full disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder, without parts that an interrupted preparation keeps to be resumed."""
    files = (path for path in folder.rglob("*") if path.is_file() and ".parts" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def many(write: Write) -> Path:
    """A corpus whose results have more bytes than the limits of the tests."""
    records = [{**record, "id": str(i), "body": f"{record['body']} word{i}"} for i, record in enumerate(news() * 30)]
    return write("many.jsonl", records)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("n_bytes", [600, 2000])
def test_a_full_disk_is_one_line_and_the_old_result_stays(
    run: Run, model: Path, many: Path, tmp_path: Path, command: str, n_bytes: int
) -> None:
    places = {"DATA": many, "MODEL": model}
    arguments = [places.get(str(a), str(a).replace("HERE", str(tmp_path))) for a in COMMANDS[command]]
    assert run(*arguments).exit_code == 0
    before = contents(tmp_path)
    assert len(before) > 1
    with full_disk(n_bytes):
        line = error_line(run(*arguments, *(("--seed", 1) if command == "fit" else ())))
    assert line.endswith("File too large")
    assert contents(tmp_path) == before
    if command == "fit":
        assert metalda.load(tmp_path / "model").transform(["cat"]).shape == (1, 3)


def test_a_full_disk_while_a_checkpoint_is_saved_leaves_nothing_broken(run: Run, many: Path, tmp_path: Path) -> None:
    arguments = [*FIT, "-o", tmp_path / "model", "--checkpoint", tmp_path / "c", "--checkpoint-every", 2]
    arguments[1] = many
    with full_disk(1500):
        assert error_line(run(*arguments)).endswith("cannot save the checkpoint: File too large")
    assert list(contents(tmp_path)) == [many.name]
    assert run(*arguments, "--resume").exit_code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_printing_to_a_full_disk_is_one_line() -> None:
    command = [sys.executable, "-m", "metalda", "datasets"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "metalda: No space left on device\n")
