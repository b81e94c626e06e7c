"""20 Newsgroups: posts to Usenet, a label each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from metalda.corpus import Corpus
from metalda.datasets.places import PathLike, find_collection, members, missing
from metalda.datasets.preprocessing import Vectors, paper_corpus
from metalda.errors import InputError

INSIDE = "20news-bydate-*/*/*"

_QUOTE = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")


class Post(NamedTuple):
    """One document; training posts sort before test posts, as they were written earlier."""

    is_test: bool
    group: str
    number: int
    text: str


def load_newsgroups(
    folder: PathLike | None = None,
    *,
    remove: Collection[str] = ("headers",),
    embeddings: Vectors = None,
    download: bool = False,
    **tokenising: Any,
) -> Corpus:
    """20 Newsgroups, the version by date, training and test posts together.

    Parameters
    ----------
    folder : path, optional
        Where ``20news-bydate.tar.gz`` is, or what it holds, unpacked; by default the folder that ``METALDA_DATA``
        names, then the cache.
    remove : collection of {"headers", "quotes", "signatures"}
        What is taken out of the posts. The default comes nearest to the paper's vocabulary and length.
    embeddings : Embeddings, WordFeatures, path or words, optional
        Words without a vector here are dropped, as the paper did; by default none are.
    download : bool
        Where the data is not found, let scikit-learn's `fetch_20newsgroups` get it, into scikit-learn's own folder.
    **tokenising
        Settings of `Corpus.from_texts` in place of the paper's.

    Returns
    -------
    Corpus
        18,846 documents, the 11,314 of training first, and 20 labels. A post of which no word is left stays, empty.
    """
    if isinstance(remove, str) or not set(remove) <= set(_REMOVALS):
        raise InputError(f"remove={remove!r}: give a list of {', '.join(_REMOVALS)}")
    path = find_collection(folder, "20news-bydate.tar", INSIDE)
    if path is None and not download:
        raise missing("20ng", folder)
    posts = sorted(_fetched() if path is None else _read(path))
    removals = [function for name, function in _REMOVALS.items() if name in remove]
    texts = [post.text for post in posts]
    for function in removals:
        texts = [function(text) for text in texts]
    return paper_corpus(
        texts,
        [post.group for post in posts],
        [f"{'test' if post.is_test else 'train'}/{post.group}/{post.number}" for post in posts],
        embeddings=embeddings,
        **tokenising,
    )


def _read(path: Path) -> list[Post]:
    posts = [_post(name, content.decode("latin-1")) for name, content in members(path, INSIDE)]
    if not posts:
        raise InputError(f"{path}: no posts in it; expected {INSIDE}, such as 20news-bydate-train/sci.med/57110")
    return posts


def _fetched() -> Iterator[Post]:
    """What scikit-learn downloads, which is the same archive."""
    from sklearn.datasets import fetch_20newsgroups

    try:
        bunch = fetch_20newsgroups(subset="all", shuffle=False)
    except OSError as error:  # no network, or an address that is gone
        raise InputError(
            f"dataset '20ng': scikit-learn could not download it ({error}); get 20news-bydate.tar.gz in another way"
        ) from error
    for name, text in zip(bunch.filenames, bunch.data, strict=True):
        yield _post(PurePosixPath(Path(name).as_posix()), text)


def _post(name: PurePosixPath, text: str) -> Post:
    try:
        return Post("-test" in name.parts[-3], name.parts[-2], int(name.name), text)
    except ValueError:
        raise InputError(f"{name}: a post's file is named by a number; is this 20news-bydate?") from None


def without_headers(text: str) -> str:
    """What comes after the first empty line."""
    return text.partition("\n\n")[2]


def without_quotes(text: str) -> str:
    """Without the lines that quote somebody, or that say who is quoted."""
    return "\n".join(line for line in text.split("\n") if not _QUOTE.search(line))


def without_signature(text: str) -> str:
    """Without what follows the last line that is empty or of hyphens only, where that is not all of the text."""
    lines = text.strip().split("\n")
    for last in range(len(lines) - 1, 0, -1):
        if not lines[last].strip().strip("-"):
            return "\n".join(lines[:last])
    return text


_REMOVALS = {"headers": without_headers, "quotes": without_quotes, "signatures": without_signature}
