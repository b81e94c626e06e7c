"""The built-in corpus: the docstrings of the running Python's standard library, labeled by module."""

from __future__ import annotations

import ast
import gc
import os
import re
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from metalda.corpus import Corpus
from metalda.errors import InputError
from metalda.utils.progress import progress_bar

_IDENTIFIER = r"[^\W\d_]\w*[^\W_]"  # from a letter to a letter or digit: ``init`` of ``__init__``
TOKEN_PATTERN = rf"{_IDENTIFIER}(?:\.{_IDENTIFIER})*"  # os.path and read_only stay whole
TOKENIZING = {"token_pattern": TOKEN_PATTERN, "stop_words": "english", "min_df": 3, "max_df": 1.0}

_NOT_LIBRARY = {"site-packages", "dist-packages", "test", "tests", "idle_test", "__pycache__"}


class Docstring(NamedTuple):
    """One document: ``label`` is the top-level module, ``name`` the dotted path of what is documented."""

    label: str
    name: str
    text: str


def load_python_docs(
    *, min_words: int = 5, limit: int | None = None, verbose: bool = False, **tokenizing: Any
) -> Corpus:
    """Load the docstrings of the running Python's standard library from its sources, without importing modules.

    Parameters
    ----------
    min_words : int
        Docstrings with fewer words, including stop words, are skipped.
    limit : int, optional
        The largest number of documents, spread evenly over the modules.
    verbose : bool
        Show a progress bar.
    **tokenizing
        As for ``Corpus.from_texts``. Default: identifiers such as ``os.path`` are one word, English stop words and
        words in fewer than 3 documents are dropped.

    Returns
    -------
    Corpus
        One document per module, class and function; its label is the top-level module, its id the dotted path. A
        docstring that a module repeats (the boilerplate of overridden methods) is kept once.
    """
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1, not {limit}")
    word = re.compile(TOKEN_PATTERN)
    docs, seen = [], set()
    for doc in read_docstrings(Path(sysconfig.get_path("stdlib")), verbose=verbose):
        if (doc.label, doc.text) not in seen and len(word.findall(doc.text)) >= min_words:
            seen.add((doc.label, doc.text))
            docs.append(doc)
    if not docs:
        raise InputError(f"no docstring of the standard library has {min_words} words; lower min_words")
    if limit is not None:
        n = min(limit, len(docs))
        docs = [docs[i * len(docs) // n] for i in range(n)]
    return Corpus.from_texts(
        [doc.text for doc in docs],
        labels=[doc.label for doc in docs],
        ids=_unique([doc.name for doc in docs]),
        **{**TOKENIZING, **tokenizing},
    )


def read_docstrings(root: Path, *, verbose: bool = False) -> Iterator[Docstring]:
    """Yield all docstrings below a folder of Python sources, in the order of paths and lines."""
    paths = list(_sources(root))
    if not paths:
        raise InputError(f"{root}: no Python sources; this Python has no sources of its standard library")
    for path in progress_bar(paths, verbose=verbose, desc="reading docstrings", unit=" files", leave=False):
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for name, text in _docstrings_of(path, module):
            yield Docstring(module.partition(".")[0], name, text)


def _sources(root: Path) -> Iterator[Path]:
    for folder, subfolders, files in os.walk(root):
        subfolders[:] = sorted(set(subfolders) - _NOT_LIBRARY)
        yield from (Path(folder, file) for file in sorted(files) if file.endswith(".py"))


def _docstrings_of(path: Path, module: str) -> list[tuple[str, str]]:
    """Return the docstrings of one file; none if it does not parse."""
    try:
        with warnings.catch_warnings(), _collector_paused():
            warnings.simplefilter("ignore")  # for example invalid escapes
            return list(_walk(ast.parse(path.read_bytes()), module))
    except (SyntaxError, ValueError, OSError, RecursionError, MemoryError):  # MemoryError: nested too deeply
        return []


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the garbage collector: syntax trees have no cycles, and searching for them takes as long as parsing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _walk(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    """Yield the docstrings of a node and of the definitions below it; expressions are skipped."""
    if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        if not isinstance(node, ast.Module):
            name = f"{name}.{node.name}"
        if text := ast.get_docstring(node):
            yield name, text
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, block, ()):
            yield from _walk(child, name)


def _unique(names: list[str]) -> list[str]:
    """Append ``#2``, ``#3``, … to names defined more than once (under ``if`` and ``else``, overloads, setters)."""
    uses: Counter[str] = Counter()
    result = []
    for name in names:
        uses[name] += 1
        result.append(name if uses[name] == 1 else f"{name}#{uses[name]}")
    return result
