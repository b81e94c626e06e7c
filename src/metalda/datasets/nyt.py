"""The New York Times Annotated Corpus (LDC2008T19): articles in NITF, an archive per month."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from metalda.corpus import Corpus
from metalda.datasets.places import PathLike, members, missing, places
from metalda.datasets.preprocessing import Vectors, paper_corpus
from metalda.errors import InputError

FOLDERS = ("nyt_corpus", "LDC2008T19", ".")
YEARS = "data/[12][0-9][0-9][0-9]"


class Article(NamedTuple):
    """One document of the collection."""

    id: str
    labels: list[str]
    text: str


def load_nyt(
    folder: PathLike | None = None,
    *,
    category: str = "Top/News/Health",
    labels: str = "taxonomic_classifier",
    embeddings: Vectors = None,
    progress: bool = False,
    **tokenising: Any,
) -> Corpus:
    """Articles of the New York Times in one category, by default the paper's.

    Parameters
    ----------
    folder : path, optional
        Where ``nyt_corpus/data/YYYY/MM.tgz`` are, or the folders ``MM`` that they hold, unpacked; by default the folder
        that ``METALDA_DATA`` names, then the cache.
    category : str
        Taken are the articles with this taxonomic classifier, or one below it.
    labels : str
        The type of the classifiers that become labels; ``"descriptor"`` and ``"general_online_descriptor"`` are others.
    embeddings : Embeddings, WordFeatures, path or words, optional
        Words without a vector here are dropped, as the paper did; by default none are.
    progress : bool
        Show a progress bar over the months, if there is a terminal.
    **tokenising
        Settings of `Corpus.from_texts` in place of the paper's.

    Returns
    -------
    Corpus
        In the order of publication; a text is headline and full text. Articles without labels are left out.
    """
    from tqdm import tqdm

    articles: list[Article] = []
    months = _months(folder)
    for month in tqdm(months, desc="Reading", unit=" months", disable=None if progress else True):
        articles += (article for article in read_month(month, category, labels) if article.labels)
    if not articles:
        raise InputError(f"{months[0].parents[1]}: no article in the category {category!r} with a {labels}")
    return paper_corpus(
        [article.text for article in articles],
        [article.labels for article in articles],
        [article.id for article in articles],
        embeddings=embeddings,
        **tokenising,
    )


def read_month(path: Path, category: str, labels: str) -> Iterator[Article]:
    """The articles of one archive, or of one folder, in a category."""
    needle = escape(category).encode()
    for name, content in sorted(members(path, "**/*.xml")):
        if needle in content:  # most articles are of other categories: they need no parsing
            try:
                root = ElementTree.fromstring(content)
            except ElementTree.ParseError as error:
                raise InputError(f"{path}: {name} is not well-formed XML: {error}") from error
            if any(each == category or each.startswith(f"{category}/") for each in _taxonomy(root)):
                yield Article(name.stem, _classifiers(root, labels), _text(root))


def _months(folder: PathLike | None) -> list[Path]:
    """An archive each, or a folder where that was unpacked; where there are both, the archive."""
    for place in places(folder):
        for name in FOLDERS:
            months: dict[tuple[str, str], Path] = {}
            for path in sorted((place / name).glob(f"{YEARS}/[01][0-9]*")):  # "01" comes before "01.tgz"
                if path.is_dir() or path.suffix == ".tgz":
                    months[path.parent.name, path.name[:2]] = path
            if months:
                return [path for _, path in sorted(months.items())]
    raise missing("nyt", folder)


def _taxonomy(root: ElementTree.Element) -> list[str]:
    return _classifiers(root, "taxonomic_classifier")


def _classifiers(root: ElementTree.Element, kind: str) -> list[str]:
    """The different classifiers of one type, in their order."""
    found = (each.text.strip() for each in root.iter("classifier") if each.get("type") == kind and each.text)
    return list(dict.fromkeys(filter(None, found)))


def _text(root: ElementTree.Element) -> str:
    """Headline and full text; the lead paragraph is part of that and comes in a block of its own besides."""
    blocks = [*root.iterfind(".//hedline/hl1"), *root.iterfind(".//block[@class='full_text']")]
    return "\n".join(" ".join(block.itertext()) for block in blocks)
