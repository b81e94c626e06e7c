"""Corpora of the paper that come as they were distributed: Web Snippets and Tag My News."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from metalda.corpus import Corpus
from metalda.errors import InputError

PathLike = str | os.PathLike[str]


def load_ws(folder: PathLike | None = None) -> tuple[Corpus, Corpus]:
    """Web Snippets as the paper split them, train and test: search results in 8 categories, tokenised already."""
    train, test = _locate("ws", folder, ["WS/train_doc.txt", "WS/test_doc.txt"])
    return Corpus.read(train, format="java"), Corpus.read(test, format="java")


def load_tmn(folder: PathLike | None = None) -> Corpus:
    """Tag My News, its three files together: news in 7 categories, tokenised already."""
    parts = ("train", "val", "test")
    paths = _locate("tmn", folder, [f"TMN/TMN_{part}.txt" for part in parts])
    ids, labels, documents = [], [], []
    for part, path in zip(parts, paths, strict=True):
        # Some bytes are in no encoding: errors="replace" keeps the word's place. Only \n ends a document.
        with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
            for number, line in enumerate(file, 1):
                label, tab, words = line.partition("\t")
                if not tab:
                    raise InputError(f"{path} line {number}: no TAB; expected 'label<TAB>words'")
                ids.append(f"{part}-{number}")
                labels.append(label)
                documents.append(words.split())
    return Corpus.from_tokens(documents, labels=labels, ids=ids)


def _locate(name: str, folder: PathLike | None, files: Sequence[str]) -> list[Path]:
    """The dataset's files in a folder or, if none is given, in that of ``METALDA_DATA``."""
    place = folder if folder is not None else os.environ.get("METALDA_DATA")
    if not place:
        raise InputError(
            f"dataset {name!r} needs {files[0]}: name the folder that holds it (folder=), or set METALDA_DATA"
        )
    paths = [Path(place, file) for file in files]
    for path in paths:
        if not path.is_file():
            raise InputError(f"dataset {name!r}: {path} is missing; expected {' and '.join(files)} in {place}")
    return paths
