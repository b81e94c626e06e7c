"""Collections of news texts: 20 Newsgroups, Reuters-21578 and the New York Times Annotated Corpus."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from metalda.corpus import Corpus
from metalda.datasets.catalog import PathLike, find_collection, members, missing, places
from metalda.datasets.preprocessing import Vectors, paper_corpus
from metalda.errors import InputError
from metalda.utils.progress import progress_bar

# 20 Newsgroups
POSTS = "20news-bydate-*/*/*"
_QUOTE = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")

# Reuters-21578, in SGML
STORIES = "reut2-*.sgm"
_DOCUMENT = re.compile(r'<REUTERS\b[^>]*?\bNEWID="(\d+)"[^>]*>(.*?)</REUTERS>', re.DOTALL)
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_TOPIC = re.compile(r"<D>(.*?)</D>", re.DOTALL)
_TEXT = re.compile(r"<TEXT\b[^>]*>(.*?)</TEXT>", re.DOTALL)
_TAG = re.compile(r"</?[A-Z]+\b[^>]*>")

# The New York Times Annotated Corpus (LDC2008T19), in NITF, an archive per month
NYT_FOLDERS = ("nyt_corpus", "LDC2008T19", ".")
NYT_YEARS = "data/[12][0-9][0-9][0-9]"


class Post(NamedTuple):
    """One post of 20 Newsgroups; training posts are older and sort before test posts."""

    is_test: bool
    group: str
    number: int
    text: str


def load_newsgroups(
    folder: PathLike | None = None,
    *,
    remove: Collection[str] = ("headers", "signatures"),
    embeddings: Vectors = None,
    download: bool = False,
    **tokenizing: object,
) -> Corpus:
    """Load 20 Newsgroups, the version by date, training and test posts together.

    Parameters
    ----------
    folder : path, optional
        The folder with ``20news-bydate.tar.gz`` or its unpacked content; by default the folder that ``METALDA_DATA``
        names, then the cache.
    remove : collection of {"headers", "quotes", "signatures"}
        What is removed from the posts. The default gives the vocabulary and the length nearest to the paper's.
    embeddings : Embeddings, WordFeatures, path or words, optional
        Words without a vector are dropped, as in the paper; by default none are.
    download : bool
        If the data is not found, let scikit-learn's `fetch_20newsgroups` download it into scikit-learn's own folder.
    **tokenizing
        Settings of `Corpus.from_texts` that replace those of the paper.

    Returns
    -------
    Corpus
        18,846 documents, the 11,314 of training first, and 20 labels. Posts without remaining words are kept as empty
        documents.
    """
    if isinstance(remove, str) or not set(remove) <= set(_REMOVALS):
        raise InputError(f"remove={remove!r}: give a list of {', '.join(_REMOVALS)}")
    path = find_collection(folder, "20news-bydate.tar", POSTS)
    if path is None and not download:
        raise missing("20ng", folder)
    posts = sorted(_fetched() if path is None else _read_posts(path))
    removals = [function for name, function in _REMOVALS.items() if name in remove]
    texts = [post.text for post in posts]
    for function in removals:
        texts = [function(text) for text in texts]
    return paper_corpus(
        texts,
        [post.group for post in posts],
        [f"{'test' if post.is_test else 'train'}/{post.group}/{post.number}" for post in posts],
        embeddings=embeddings,
        **tokenizing,
    )


def _read_posts(path: Path) -> list[Post]:
    posts = [_post(name, content.decode("latin-1")) for name, content in members(path, POSTS)]
    if not posts:
        raise InputError(f"{path}: no posts in it; expected {POSTS}, such as 20news-bydate-train/sci.med/57110")
    return posts


def _fetched() -> Iterator[Post]:
    """Yield the posts that scikit-learn downloads, which are those of the archive."""
    from sklearn.datasets import fetch_20newsgroups

    try:
        bunch = fetch_20newsgroups(subset="all", shuffle=False)
    except OSError as error:  # no network, or the address no longer exists
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
    """Return the text after the first empty line."""
    return text.partition("\n\n")[2]


def without_quotes(text: str) -> str:
    """Remove quoted lines, and lines that introduce a quotation."""
    return "\n".join(line for line in text.split("\n") if not _QUOTE.search(line))


def without_signature(text: str) -> str:
    """Remove the text after the last line that is empty or has only hyphens, unless that is all of the text."""
    lines = text.strip().split("\n")
    for last in range(len(lines) - 1, 0, -1):
        if not lines[last].strip().strip("-"):
            return "\n".join(lines[:last])
    return text


_REMOVALS = {"headers": without_headers, "quotes": without_quotes, "signatures": without_signature}


class Story(NamedTuple):
    """One document of Reuters-21578."""

    number: int
    topics: list[str]
    text: str


def load_reuters(folder: PathLike | None = None, *, embeddings: Vectors = None, **tokenizing: object) -> Corpus:
    """Load the documents of Reuters-21578 with at least one topic, as in the paper.

    Parameters
    ----------
    folder : path, optional
        The folder with ``reuters21578.tar.gz`` or the ``reut2-*.sgm`` files; by default that of ``METALDA_DATA``, then
        the cache.
    embeddings : Embeddings, WordFeatures, path or words, optional
        Words without a vector are dropped, as in the paper; by default none are.
    **tokenizing
        Settings of `Corpus.from_texts` that replace those of the paper.

    Returns
    -------
    Corpus
        11,367 documents in the order of their numbers, 120 labels. A text is the content of ``TEXT``: title, author,
        dateline and body. A document without remaining words is kept as an empty document.
    """
    path = find_collection(folder, "reuters21578.tar", STORIES)
    if path is None:
        raise missing("reuters", folder)
    stories = sorted(
        story
        for name, content in members(path, STORIES)
        for story in read_stories(content.decode("latin-1"), f"{path}: {name}")
    )
    stories = [story for story in stories if story.topics]
    if not stories:
        raise InputError(f"{path}: no document with a topic in it; expected {STORIES} with <REUTERS> and <TOPICS>")
    return paper_corpus(
        [story.text for story in stories],
        [story.topics for story in stories],
        [str(story.number) for story in stories],
        embeddings=embeddings,
        **tokenizing,
    )


def read_stories(sgml: str, name: str = "text") -> Iterator[Story]:
    """Yield the documents of one file, with or without topics."""
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


class Article(NamedTuple):
    """One article of the New York Times."""

    id: str
    labels: list[str]
    text: str


def load_nyt(
    folder: PathLike | None = None,
    *,
    category: str = "Top/News/Health",
    labels: str = "taxonomic_classifier",
    embeddings: Vectors = None,
    verbose: bool = False,
    **tokenizing: object,
) -> Corpus:
    """Load the articles of the New York Times in one category, by default that of the paper.

    Parameters
    ----------
    folder : path, optional
        The folder with ``nyt_corpus/data/YYYY/MM.tgz``, or the unpacked folders ``MM``; by default the folder that
        ``METALDA_DATA`` names, then the cache.
    category : str
        Articles with this taxonomic classifier, or one below it, are loaded.
    labels : str
        The type of the classifiers that become labels; ``"descriptor"`` and ``"general_online_descriptor"`` are others.
    embeddings : Embeddings, WordFeatures, path or words, optional
        Words without a vector are dropped, as in the paper; by default none are.
    verbose : bool
        Show a progress bar over the months, if there is a terminal.
    **tokenizing
        Settings of `Corpus.from_texts` that replace those of the paper.

    Returns
    -------
    Corpus
        In the order of publication; a text is headline and full text. Articles without labels are skipped.
    """
    articles: list[Article] = []
    months = _months(folder)
    for month in progress_bar(months, verbose=verbose, desc="Reading", unit=" months"):
        articles += (article for article in read_month(month, category, labels) if article.labels)
    if not articles:
        raise InputError(f"{months[0].parents[1]}: no article in the category {category!r} with a {labels}")
    return paper_corpus(
        [article.text for article in articles],
        [article.labels for article in articles],
        [article.id for article in articles],
        embeddings=embeddings,
        **tokenizing,
    )


def read_month(path: Path, category: str, labels: str) -> Iterator[Article]:
    """Yield the articles in a category from one archive or one folder."""
    needle = escape(category).encode()
    for name, content in sorted(members(path, "**/*.xml")):
        if needle in content:  # most articles have other categories and need no parsing
            try:
                root = ElementTree.fromstring(content)
            except (ElementTree.ParseError, LookupError, ValueError) as error:  # LookupError: an unknown encoding
                raise InputError(f"{path}: {name} is not well-formed XML: {error}") from error
            if any(each == category or each.startswith(f"{category}/") for each in _taxonomy(root)):
                yield Article(name.stem, _classifiers(root, labels), _text(root))


def _months(folder: PathLike | None) -> list[Path]:
    """Find the archives of the months, or the folders where they were unpacked; archives are preferred."""
    for place in places(folder):
        for name in NYT_FOLDERS:
            months: dict[tuple[str, str], Path] = {}
            for path in sorted((place / name).glob(f"{NYT_YEARS}/[01][0-9]*")):  # "01" comes before "01.tgz"
                if path.is_dir() or path.suffix == ".tgz":
                    months[path.parent.name, path.name[:2]] = path
            if months:
                return [path for _, path in sorted(months.items())]
    raise missing("nyt", folder)


def _taxonomy(root: ElementTree.Element) -> list[str]:
    return _classifiers(root, "taxonomic_classifier")


def _classifiers(root: ElementTree.Element, kind: str) -> list[str]:
    """Return the distinct classifiers of one type, in their order."""
    found = (each.text.strip() for each in root.iter("classifier") if each.get("type") == kind and each.text)
    return list(dict.fromkeys(filter(None, found)))


def _text(root: ElementTree.Element) -> str:
    """Return headline and full text; the lead paragraph is part of the full text and is repeated in its own block."""
    blocks = [*root.iterfind(".//hedline/hl1"), *root.iterfind(".//block[@class='full_text']")]
    return "\n".join(" ".join(block.itertext()) for block in blocks)
