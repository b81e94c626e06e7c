"""What the documents show can be typed."""

import doctest
import logging
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import metalda
from metalda.models.base import TopicModel
from repository import repository_path, repository_text

SELF_CONTAINED = [
    "choosing-k.md",
    "coherence.md",
    "datasets.md",
    "effects.md",
    "guides/coming-from.md",
    "guides/curation.md",
    "guides/languages.md",
    "guides/many-labels.md",
    "guides/out-of-vocabulary.md",
    "guides/reading.md",
    "guides/seed-words.md",
    "guides/short-texts.md",
    "guides/topics-over-time.md",
    "guides/validation.md",
    "guides/wording.md",
    "guides/word-features.md",
    "integrations.md",
    "models.md",
    "scaling.md",
    "security.md",
    "start.md",
]  # the others read files that readers have
QUICK = {"effects.md", "models.md", "start.md"}  # not slow
OPTIONAL = {
    "arviz",
    "datasets",
    "gensim",
    "polars",
    "pyLDAvis",
}  # blocks with one are skipped where it is absent


def is_installed(package: str) -> bool:
    spec = find_spec(package)
    return spec is not None and spec.origin is not None  # the folder tests/datasets has none


@pytest.fixture
def logging_as_before() -> Iterator[None]:
    """A page shows how to have things logged."""
    root, own = logging.getLogger(), logging.getLogger("metalda")
    handlers, level = root.handlers[:], own.level
    yield
    root.handlers[:] = handlers
    own.setLevel(level)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in SELF_CONTAINED]
)
@pytest.mark.usefixtures("logging_as_before")
def test_python_of_the_documents_runs(name: str) -> None:
    text = repository_text(f"docs/{name}")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    namespace: dict[str, object] = {}
    for block in blocks:
        if any(
            not is_installed(package) for package in OPTIONAL.intersection(re.findall(r"(?:import|from) (\w+)", block))
        ):
            continue
        exec(compile(block, name, "exec"), namespace)


def test_every_guide_has_a_picture_or_printed_output() -> None:
    nav = repository_text("mkdocs.yml").partition("  - Guides:\n")[2].partition("\n  - Models:")[0]
    pages = re.findall(r"[\w/-]+\.md", nav)
    assert len(pages) > 15
    assert [page for page in pages if not re.search(r"^(```text\n.|!\[)", repository_text(f"docs/{page}"), re.M)] == []


SOURCES = Path(metalda.__file__).parent
WITH_EXAMPLES = [
    ".".join(("metalda", *path.relative_to(SOURCES).with_suffix("").parts))
    for path in sorted(SOURCES.rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_run(name: str) -> None:
    found = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.attempted
    assert found.failed == 0


@pytest.mark.parametrize("name", sorted({*metalda.__all__} - {"__version__"}))
def test_a_public_name_has_an_example_and_is_in_the_reference(name: str) -> None:
    (found,) = doctest.DocTestFinder(recurse=False).find(getattr(metalda, name), name)
    assert found.examples
    pages = "".join(path.read_text(encoding="utf-8") for path in repository_path("docs/api").glob("*.md"))
    assert re.search(rf"^::: metalda\.[\w.]*\b{name}$", pages, re.MULTILINE)


MODELS = [
    name
    for name in metalda.__all__
    if isinstance(value := getattr(metalda, name), type) and issubclass(value, TopicModel)
]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_in_the_table_of_models(name: str) -> None:
    assert f"| `{name}` |" in repository_text("docs/models.md")


def test_the_tests_that_the_page_on_security_names_exist() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", repository_text("docs/security.md"))
    assert len(named) > 20
    missing = [
        f"{file}::{test}"
        for file, test in named
        if not (path := repository_path(file)).exists() or f"def {test}" not in path.read_text(encoding="utf-8")
    ]
    assert missing == []
