"""The README's first lines are true, and CI runs the very same."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def shell_lines(text: str) -> list[str]:
    return [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]


def test_ci_runs_the_test_line_of_the_readme() -> None:
    (line,) = [line for line in shell_lines(README) if "pytest" in line]
    assert line in CI.splitlines()


def test_contributing_gives_the_same_line() -> None:
    (line,) = [line for line in shell_lines(README) if "pytest" in line]
    assert line in shell_lines((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


def test_the_readme_opens_with_one_sentence_and_two_lines_to_copy() -> None:
    first, second, *_ = shell_lines(README)
    assert first == "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/metalda demo"
    assert second.endswith(".venv/bin/python -m pytest -n auto")
    opening = README.split("\n\n")[1]
    assert opening.count(".") == 1


def test_ci_stops_at_the_first_failure_and_runs_every_check() -> None:
    assert "set -euo pipefail" in CI
    for check in ("ruff check", "ruff format --check", "mypy", "lint-imports", "mkdocs build --strict .*"):
        assert re.search(rf"^[^#\n]*\.venv/bin/{check}$", CI, re.MULTILINE), check


def test_links_of_the_documents_lead_somewhere() -> None:
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
