"""Corpora of the paper that come tokenised and filtered: Web Snippets, Tag My News and ABC News."""

from __future__ import annotations

from metalda.corpus import Corpus
from metalda.corpus.files import reading
from metalda.datasets.places import PathLike, find_all
from metalda.errors import InputError


def load_ws(folder: PathLike | None = None) -> tuple[Corpus, Corpus]:
    """Web Snippets as the paper split them, train and test: search results in 8 categories, tokenised already.

    Parameters
    ----------
    folder : path, optional
        The one that holds ``WS/``; by default that of ``METALDA_DATA``, then the cache.
    """
    return _java_parts("ws", folder)


def load_an(folder: PathLike | None = None) -> tuple[Corpus, Corpus]:
    """ABC News, train and test: short descriptions with several of 194 labels each, tokenised already.

    Parameters
    ----------
    folder : path, optional
        The one that holds ``AN/``; by default that of ``METALDA_DATA``, then the cache.
    """
    return _java_parts("an", folder)


def load_tmn(folder: PathLike | None = None) -> Corpus:
    """Tag My News, its three files together: news in 7 categories, tokenised already.

    Parameters
    ----------
    folder : path, optional
        The one that holds ``TMN/``; by default that of ``METALDA_DATA``, then the cache.
    """
    parts = ("train", "val", "test")
    paths = find_all("tmn", folder, [f"TMN/TMN_{part}.txt" for part in parts])
    ids, labels, documents = [], [], []
    for part, path in zip(parts, paths, strict=True):
        # Some bytes are in no encoding: errors="replace" keeps the word's place. Only \n ends a document.
        with reading(path), open(path, encoding="utf-8", errors="replace", newline="\n") as file:
            for number, line in enumerate(file, 1):
                label, tab, words = line.partition("\t")
                if not tab:
                    raise InputError(f"{path} line {number}: no TAB; expected 'label<TAB>words'")
                ids.append(f"{part}-{number}")
                labels.append(label)
                documents.append(words.split())
    return Corpus.from_tokens(documents, labels=labels, ids=ids)


def _java_parts(name: str, folder: PathLike | None) -> tuple[Corpus, Corpus]:
    """Training and test documents in the files of the Java original."""
    train, test = find_all(name, folder, [f"{name.upper()}/{part}_doc.txt" for part in ("train", "test")])
    return Corpus.read(train, format="java"), Corpus.read(test, format="java")
