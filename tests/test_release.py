"""What strangers get: one version, one place for the address, pinned workflows, and types."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import metalda
from repository import ROOT, repository_path, repository_text

WORKFLOWS = ("tests.yml", "release.yml", "docs.yml")


@pytest.fixture
def project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads(repository_text("pyproject.toml"))
    return project


def workflow(name: str) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    parsed: dict[str, Any] = yaml.safe_load(repository_text(f".github/workflows/{name}"))
    return parsed


def test_the_version_stands_in_one_place(project: dict[str, Any]) -> None:
    assert "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/metalda/__init__.py"
    assert "version:" not in repository_text("CITATION.cff").replace("cff-version:", "")
    assert re.search(rf"^## \[{re.escape(metalda.__version__)}\]", repository_text("CHANGELOG.md"), re.MULTILINE)


def test_the_placeholder_of_the_repository_stands_in_one_file(project: dict[str, Any]) -> None:
    assert all("OWNER" in url for url in project["project"]["urls"].values())
    repository_path(".github")  # skips in a source distribution
    listed = subprocess.run(
        ["git", "grep", "-l", "OWNER", "--", "."], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode > 1:
        pytest.skip("not a repository")
    own = {"pyproject.toml", "tests/test_release.py"}
    assert {name for name in listed.stdout.split() if "OWNER/" in repository_text(name)} <= own


def test_relative_links_of_the_readme_lead_to_the_repository_on_the_package_index(project: dict[str, Any]) -> None:
    readme = repository_text("README.md")
    for each in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        readme = re.sub(each["pattern"], each["replacement"], readme)
    targets = re.findall(r"\]\(([^)]*)\)", readme)
    assert targets
    assert all(target.startswith("https://") for target in targets)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actions_are_pinned_to_a_commit(name: str) -> None:
    used = [step["uses"] for job in workflow(name)["jobs"].values() for step in job["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", each) for each in used), used


def test_workflows_test_each_python_that_the_metadata_names(project: dict[str, Any]) -> None:
    named = [line.rpartition(" ")[2] for line in project["project"]["classifiers"] if ":: 3." in line]
    jobs = workflow("tests.yml")["jobs"]
    assert jobs["newest"]["strategy"]["matrix"]["python"] == named
    assert ["3.11", *jobs["lowest"]["strategy"]["matrix"]["python"]] == named
    assert project["project"]["requires-python"] == f">={named[0]}"


def test_workflows_run_the_commands_of_ci() -> None:
    commands = {
        step["run"]
        for name in WORKFLOWS
        for job in workflow(name)["jobs"].values()
        for step in job["steps"]
        if "run" in step
    }
    assert {"bash .ci/run", "bash .ci/build", 'bash .ci/lowest "$VERSION"'} <= commands
    for command in commands:
        for script in re.findall(r"\.ci/\w+", command):
            assert repository_path(script).exists()


def test_types_are_shipped_and_checked_from_outside(project: dict[str, Any]) -> None:
    assert (Path(metalda.__file__).parent / "py.typed").exists()
    assert "tests/downstream.py" in project["tool"]["mypy"]["files"]
