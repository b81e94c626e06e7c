"""Reuters-21578: news of 1987 in SGML, with several topics per document."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from metalda.corpus import Corpus
from metalda.datasets.places import PathLike, find_collection, members, missing
from metalda.datasets.preprocessing import Vectors, paper_corpus
from metalda.errors import InputError

INSIDE = "reut2-*.sgm"

_DOCUMENT = re.compile(r'<REUTERS\b[^>]*?\bNEWID="(\d+)"[^>]*>(.*?)</REUTERS>', re.DOTALL)
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_TOPIC = re.compile(r"<D>(.*?)</D>", re.DOTALL)
_TEXT = re.compile(r"<TEXT\b[^>]*>(.*?)</TEXT>", re.DOTALL)
_TAG = re.compile(r"</?[A-Z]+\b[^>]*>")


class Story(NamedTuple):
    """One document of the collection."""

    number: int
    topics: list[str]
    text: str


def load_reuters(folder: PathLike | None = None, *, embeddings: Vectors = None, **tokenising: Any) -> Corpus:
    """Reuters-21578: the documents with at least one topic, as in the paper.

    Parameters
    ----------
    folder : path, optional
        Where ``reuters21578.tar.gz`` is, or the ``reut2-*.sgm`` files; by default the folder that ``METALDA_DATA``
        names, then the cache.
    embeddings : Embeddings, WordFeatures, path or words, optional
        Words without a vector here are dropped, as the paper did; by default none are.
    **tokenising
        Settings of `Corpus.from_texts` in place of the paper's.

    Returns
    -------
    Corpus
        11,367 documents in the order of their numbers, 120 labels. A text is all that ``TEXT`` holds: title, author,
        dateline and body. A document of which no word is left stays, empty.
    """
    path = find_collection(folder, "reuters21578.tar", INSIDE)
    if path is None:
        raise missing("reuters", folder)
    stories = sorted(
        story
        for name, content in members(path, INSIDE)
        for story in read_stories(content.decode("latin-1"), f"{path}: {name}")
    )
    stories = [story for story in stories if story.topics]
    if not stories:
        raise InputError(f"{path}: no document with a topic in it; expected {INSIDE} with <REUTERS> and <TOPICS>")
    return paper_corpus(
        [story.text for story in stories],
        [story.topics for story in stories],
        [str(story.number) for story in stories],
        embeddings=embeddings,
        **tokenising,
    )


def read_stories(sgml: str, name: str = "text") -> Iterator[Story]:
    """The documents of one file, those without topics too."""
    begun, whole = sgml.count("<REUTERS "), 0
    for number, content in _DOCUMENT.findall(sgml):
        whole += 1
        topics, text = _TOPICS.search(content), _TEXT.search(content)
        yield Story(
            int(number),
            [html.unescape(topic) for topic in _TOPIC.findall(topics[1])] if topics else [],
            html.unescape(_TAG.sub(" ", text[1])) if text else "",
        )
    if whole < begun:
        raise InputError(f"{name}: damaged or cut off: {begun:,} documents begin, {whole:,} of them end; get it again")
