"""The README's first lines are true, and CI runs the very same."""

import re

import pytest

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
    for check in (
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
