"""The built-in corpus."""

import gc
import sysconfig
from pathlib import Path

import pytest

from metalda.datasets import load_python_docs
from metalda.datasets.python_docs import read_docstrings
from metalda.errors import InputError

SOURCE = '''"""The module explains itself."""
import sys

class Shape:
    """A shape has corners."""

    def area(self):
        """The area of the shape."""
        def helper():
            """A helper inside."""

    async def grow(self):
        """Grows while you wait."""

    def silent(self):
        return lambda: "no docstring"

if sys.platform == "win32":
    def path():
        """On Windows it is this."""
else:
    try:
        def path():
            """Elsewhere it is that."""
    except OSError as error:
        def rescue():
            """After an error."""
    finally:
        pass
'''


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A folder that plays the standard library."""
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))

    def add(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return add


@pytest.fixture(scope="module")
def corpus():
    return load_python_docs()


def docs_of(root):
    return [(doc.label, doc.name, doc.text) for doc in read_docstrings(Path(root))]


def test_every_documented_definition_is_a_document_in_order(library, tmp_path):
    library("shapes/round.py", SOURCE)
    library("shapes/__init__.py", '"""All shapes."""')
    assert docs_of(tmp_path) == [
        ("shapes", "shapes", "All shapes."),
        ("shapes", "shapes.round", "The module explains itself."),
        ("shapes", "shapes.round.Shape", "A shape has corners."),
        ("shapes", "shapes.round.Shape.area", "The area of the shape."),
        ("shapes", "shapes.round.Shape.area.helper", "A helper inside."),
        ("shapes", "shapes.round.Shape.grow", "Grows while you wait."),
        ("shapes", "shapes.round.path", "On Windows it is this."),
        ("shapes", "shapes.round.path", "Elsewhere it is that."),
        ("shapes", "shapes.round.rescue", "After an error."),
    ]


@pytest.mark.parametrize(
    "name",
    ["site-packages/x.py", "dist-packages/x.py", "test/x.py", "lib/tests/x.py", "idlelib/idle_test/x.py", "x.txt"],
)
def test_tests_and_installed_packages_are_not_the_library(library, tmp_path, name):
    library("a.py", '"""Here."""')
    library(name, '"""There."""')
    assert docs_of(tmp_path) == [("a", "a", "Here.")]


@pytest.mark.parametrize("broken", ["def (:", b"\xff\xfe\0", "x = '\0'", "(" * 2000 + ")" * 2000])
def test_files_that_do_not_parse_are_skipped(library, tmp_path, broken):
    library("a.py", '"""Here."""')
    library("b.py", broken)
    assert docs_of(tmp_path) == [("a", "a", "Here.")]


def test_warnings_of_the_sources_stay_inside(library, tmp_path):
    library("a.py", '"""Here \\d."""\nx = "\\d"')
    assert docs_of(tmp_path) == [("a", "a", "Here \\d.")]


def test_nothing_is_imported(library, tmp_path):
    library("a.py", '"""Here."""\nraise SystemExit')
    assert docs_of(tmp_path) == [("a", "a", "Here.")]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(library, tmp_path, enabled):
    library("a.py", '"""Here."""')
    library("b.py", "def (:")
    before = gc.isenabled()
    try:
        gc.enable() if enabled else gc.disable()
        docs_of(tmp_path)
        assert gc.isenabled() == enabled
    finally:
        gc.enable() if before else gc.disable()


def test_short_and_repeated_docstrings_are_left_out_and_ids_are_unique(library):
    library(
        "a.py", 'def f(): "one two three four"\ndef f(): "one two three four five"\ndef f(): "six seven eight nine ten"'
    )
    library("b.py", 'def f(): "one two three four five"\ndef g(): "one two three four five"')
    corpus = load_python_docs(min_df=1, stop_words=None)
    assert corpus.ids == ("a.f", "a.f#2", "b.f")
    assert corpus.labels.names == ("a", "b")
    assert corpus.labels.matrix.toarray().tolist() == [[1, 0], [1, 0], [0, 1]]
    assert list(corpus) == [
        ["one", "two", "three", "four", "five"],
        ["six", "seven", "eight", "nine", "ten"],
        ["one", "two", "three", "four", "five"],
    ]
    assert len(load_python_docs(min_words=4, min_df=1, stop_words=None)) == 4


def test_identifiers_stay_whole(library):
    library("a.py", '"""See os.path.join, read_only, __init__ and x.\nThen utf8. Ends."""')
    tokens = next(iter(load_python_docs(min_df=1, stop_words=None)))
    assert tokens == ["see", "os.path.join", "read_only", "init", "and", "then", "utf8", "ends"]


def test_a_python_without_sources_is_one_line(library, tmp_path):
    with pytest.raises(InputError, match="no Python sources; this Python has no sources") as caught:
        load_python_docs()
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_too_high_a_bar_is_one_line(library):
    library("a.py", '"""Just this one here."""')
    with pytest.raises(InputError, match="has 50 words; lower min_words"):
        load_python_docs(min_words=50)


@pytest.mark.slow
def test_the_real_library_is_a_corpus_of_thousands_of_labeled_documents(corpus):
    assert len(corpus) > 4000
    assert corpus.labels.shape[1] > 100
    assert (corpus.labels.matrix.sum(axis=1) == 1).all()
    assert len(set(corpus.ids)) == len(corpus)
    assert {"json.dumps", "textwrap.TextWrapper"} <= set(corpus.ids)
    assert {"json", "asyncio"} <= set(corpus.labels.names)
    assert "the" not in corpus.vocabulary
    assert "os.path" in corpus.vocabulary
    assert len(corpus.words) > 80_000


@pytest.mark.slow
def test_the_real_library_is_read_the_same_twice(corpus):
    again = load_python_docs()
    assert again.ids == corpus.ids
    assert again.vocabulary == corpus.vocabulary
    assert (again.words == corpus.words).all()


@pytest.mark.slow
def test_a_limit_spreads_over_the_modules(corpus):
    few = load_python_docs(limit=200, min_df=1)
    assert len(few) == 200
    assert few.ids[0] == corpus.ids[0]
    assert few.labels.shape[1] > 50
    with pytest.raises(InputError, match="limit must be at least 1"):
        load_python_docs(limit=0)
