"""The README's first lines are true, and CI runs the very same."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from metalda.cli.app import app
from repository import repository_path, repository_text


@pytest.fixture
def readme() -> str:
    return repository_text("README.md")


@pytest.fixture
def ci() -> str:
    return repository_text(".ci/run")


def shell_lines(text: str) -> list[str]:
    return [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]


def line_of_tests(readme: str) -> str:
    (line,) = [line for line in shell_lines(readme) if "pytest" in line]
    return line


def test_ci_runs_the_test_line_of_the_readme(readme: str, ci: str) -> None:
    assert line_of_tests(readme) in ci.splitlines()


def test_contributing_gives_the_same_line(readme: str) -> None:
    assert line_of_tests(readme) in shell_lines(repository_text("CONTRIBUTING.md"))


def test_the_readme_opens_with_one_sentence_and_two_lines_to_copy(readme: str) -> None:
    first, second, *_ = shell_lines(readme)
    assert first == "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/metalda demo"
    assert second.endswith(".venv/bin/python -m pytest -n auto")
    opening = readme.split("\n\n")[1]
    assert opening.count(".") == 1


def test_ci_stops_at_the_first_failure_and_runs_every_check(ci: str) -> None:
    assert "set -euo pipefail" in ci
    assert "\nbash .ci/build\n" in ci
    assert ci.endswith("\nbash .ci/lowest 3.11\n")
    for check in (
        "zizmor --offline",
        "python -m pytest -n 4 -m slow",
        "python -m pytest tests/kernels",
        r"python \.ci/print_coverage\.py",
        "ruff check",
        "ruff format --check",
        "mypy",
        "lint-imports",
        "mkdocs build --strict",
    ):
        assert re.search(rf"^[^#\n]*\.venv/bin/{check}\b", ci, re.MULTILINE), check


def test_links_of_the_documents_lead_somewhere() -> None:
    docs = repository_path("docs")
    for document in (docs.parent / "README.md", docs.parent / "CONTRIBUTING.md", *docs.rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
            is_made_with_the_site = document.parent == docs and target == "demo/report.html"
            assert is_made_with_the_site or (document.parent / target).exists(), f"{document.name}: {target}"


def write_files_of_the_readme(folder: Path) -> None:
    """Write the files that the README's code reads: two subjects, two sections, two authors."""
    rng = np.random.default_rng(0)
    subjects = [[f"{word}{i}" for i in range(20)] for word in ("goal", "bank")]
    for name, size in (("news", 120), ("new", 10), ("test", 40)):
        rows = []
        for d in range(size):
            text = " ".join(rng.choice(subjects[d % 2], 30))
            rows.append(
                {"body": text, "section": ("sport", "economy")[d % 2], "author": ("Ann", "Bo")[rng.integers(2)]}
            )
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    vectors = (f"{word} " + " ".join(f"{x:.3f}" for x in rng.normal(size=50)) for words in subjects for word in words)
    (folder / "glove.6B.50d.txt").write_text("\n".join(vectors) + "\n", encoding="utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # on few short documents
def test_the_code_of_the_readme_runs_as_it_stands(
    readme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files_of_the_readme(tmp_path)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, namespace)
    assert namespace["model"].perplexity(namespace["test"]) < 40
    commands = [line for line in shell_lines(readme) if line.startswith("metalda ")]
    assert len(commands) == 7
    for command in commands:
        words = shlex.split(command, comments=True)
        if ">" in words:
            words = words[: words.index(">")]
        result = CliRunner().invoke(app, words[1:])
        assert result.exit_code == 0, (command, result.output)
