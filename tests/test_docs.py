"""What the documents show can be typed."""

import doctest
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import metalda
import metalda.evaluation
from metalda.models.base import TopicModel

DOCS = Path(__file__).parents[1] / "docs"
SELF_CONTAINED = [
    "choosing-k.md",
    "coherence.md",
    "datasets.md",
    "ecosystem.md",
    "effects.md",
    "guides/coming-from.md",
    "guides/many-labels.md",
    "guides/short-texts.md",
    "guides/unseen-words.md",
    "guides/word-features.md",
    "models.md",
    "start.md",
]  # the others read files that readers have
OPTIONAL = {"arviz", "gensim", "polars", "pyLDAvis"}  # blocks that import one are skipped where it is absent


@pytest.mark.parametrize("name", SELF_CONTAINED)
def test_python_of_the_documents_runs(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    namespace: dict[str, object] = {}
    for block in blocks:
        if any(
            find_spec(package) is None for package in OPTIONAL.intersection(re.findall(r"(?:import|from) (\w+)", block))
        ):
            continue
        exec(compile(block, name, "exec"), namespace)


@pytest.mark.parametrize("name", ["models.inspection", "models.mallet", "models.prediction", "corpus.wikipedia"])
def test_the_examples_of_a_module_run(name: str) -> None:
    found = doctest.testmod(import_module(f"metalda.{name}"), optionflags=doctest.ELLIPSIS)
    assert found.attempted
    assert found.failed == 0


MODELS = [
    name
    for name in metalda.__all__
    if isinstance(value := getattr(metalda, name), type) and issubclass(value, TopicModel)
]


FUNCTIONS = [
    name
    for name in metalda.evaluation.__all__
    if name in metalda.__all__ and not isinstance(getattr(metalda, name), type)
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_of_a_function_runs(name: str) -> None:
    function = getattr(metalda, name)
    (examples,) = doctest.DocTestFinder(recurse=False).find(function, name, globs=vars(metalda) | {name: function})
    assert examples.examples
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples).failed == 0


@pytest.mark.parametrize("name", MODELS)
def test_the_example_of_a_model_runs_and_it_is_in_the_table_of_models(name: str) -> None:
    (examples,) = doctest.DocTestFinder(recurse=False).find(getattr(metalda, name), name)
    assert examples.examples
    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples)
    assert found.failed == 0
    assert f"| `{name}` |" in (DOCS / "models.md").read_text(encoding="utf-8")
