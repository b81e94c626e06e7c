"""The datasets: a description of each, its published size, and the search for its files."""

from __future__ import annotations

import os
import sys
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from metalda.corpus.files import one_line, reading
from metalda.errors import InputError

PathLike = str | os.PathLike[str]

COMPRESSIONS = ("", ".gz", ".bz2", ".xz")


@dataclass(frozen=True)
class Statistics:
    """The size of a corpus, as the paper reports it; ``mean_length`` counts the words that were kept."""

    documents: int
    labels: int
    vocabulary: int
    mean_length: float


@dataclass(frozen=True)
class Dataset:
    """The description of a dataset.

    Parameters
    ----------
    name, description : str
    n_documents : int or None
        As distributed by the owners; None if it depends on the machine or on the file.
    files : str
        The files that are expected in the data folder.
    how : str
        How to get them.
    paper : Statistics, optional
        The paper's figures, if it is one of its datasets.
    """

    name: str
    description: str
    n_documents: int | None
    files: str
    how: str
    paper: Statistics | None = None


_ALL = (
    Dataset(
        "python-docs",
        "docstrings of your Python's standard library, by module",
        None,
        "none",
        "no files are needed: it is built in",
    ),
    Dataset(
        "ws",
        "Web Snippets, the paper's train and test",
        12_337,
        "WS/train_doc.txt and WS/test_doc.txt",
        "copy the folder data/WS of the MetaLDA authors' repository",
        Statistics(12_237, 8, 10_052, 15),
    ),
    Dataset(
        "tmn",
        "Tag My News, titles and descriptions",
        32_597,
        "TMN/TMN_train.txt, TMN/TMN_val.txt and TMN/TMN_test.txt",
        "ask for the tokenized files of Tag My News, a line 'label<TAB>words' per document",
        Statistics(32_597, 7, 13_370, 18),
    ),
    Dataset(
        "an",
        "ABC News, short descriptions",
        12_495,
        "AN/train_doc.txt and AN/test_doc.txt",
        "ask the paper's authors; the lines are those of WS, 'id<TAB>labels<TAB>words'",
        Statistics(12_495, 194, 4_255, 13),
    ),
    Dataset(
        "reuters",
        "Reuters-21578, news of 1987 with topics",
        11_367,
        "reuters21578.tar.gz, or its files reut2-000.sgm to reut2-021.sgm",
        "download the archive that David D. Lewis or the UCI repository distributes",
        Statistics(11_367, 120, 8_817, 73),
    ),
    Dataset(
        "20ng",
        "20 Newsgroups, by date, train and test together",
        18_846,
        "20news-bydate.tar.gz, or its folders 20news-bydate-train and 20news-bydate-test",
        "download the archive from Jason Rennie's page, or let scikit-learn do so: download=True (--download)",
        Statistics(18_846, 20, 22_636, 108),
    ),
    Dataset(
        "nyt",
        "New York Times Annotated Corpus, Top/News/Health",
        52_521,
        "nyt_corpus/data/YYYY/MM.tgz (or unpacked in the same folder)",
        "license LDC2008T19 from the Linguistic Data Consortium",
        Statistics(52_521, 545, 21_421, 442),
    ),
    Dataset(
        "arxiv",
        "arXiv, titles and abstracts with categories",
        None,
        "arxiv.tsv (or .tsv.gz, .tsv.bz2, .tsv.xz)",
        "make it from arXiv's metadata: the columns id, categories (with commas between them), title and abstract",
    ),
    Dataset(
        "wikipedia",
        "Wikipedia articles, without labels",
        None,
        "wikipedia-sample.tsv (or .tsv.gz, .tsv.bz2, .tsv.xz)",
        "make it from a dump: a line 'id<TAB>title<TAB>text' per article, without a header",
    ),
)

DATASETS: dict[str, Dataset] = {entry.name: entry for entry in _ALL}


def cache_folder() -> Path:
    """Return the folder for data in the user's cache, ``~/.cache/metalda/datasets`` on Linux."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "metalda" / "datasets"


def places(folder: PathLike | None) -> list[Path]:
    """Return the folders to search: the one given, or else that of ``METALDA_DATA``, then the cache."""
    if folder is not None:
        return [Path(folder)]
    named = os.environ.get("METALDA_DATA")
    return [*([Path(named)] if named else []), cache_folder()]


def missing(name: str, folder: PathLike | None) -> InputError:
    """Return the error for missing data: the files expected, the folders searched, and how to get the data."""
    entry = DATASETS[name]
    where = " or ".join(map(str, places(folder)))
    choose = "" if folder is not None else "; or name another folder: folder= (--folder), METALDA_DATA"
    return InputError(f"dataset {name!r}: expected {entry.files} in {where}; to get it, {entry.how}{choose}")


def find_all(name: str, folder: PathLike | None, files: Sequence[str]) -> list[Path]:
    """Find all these files in the first place that has all of them."""
    for place in places(folder):
        paths = [place / file for file in files]
        if all(path.is_file() for path in paths):
            return paths
    raise missing(name, folder)


def find_compressed(name: str, folder: PathLike | None, file: str) -> Path:
    """Find this file, uncompressed or with any known compression."""
    for place in places(folder):
        for suffix in COMPRESSIONS:
            if (path := place / (file + suffix)).is_file():
                return path
    raise missing(name, folder)


def find_collection(folder: PathLike | None, archive: str, inside: str) -> Path | None:
    """Find an archive, compressed or not, or its unpacked content in a folder with its name or in the place itself.

    Parameters
    ----------
    folder : path, optional
    archive : str
        Its name, ending in ``.tar``.
    inside : str
        A pattern that some file in the folder must match.
    """
    name = archive.removesuffix(".tar")
    for place in places(folder):
        for file in (*(archive + suffix for suffix in COMPRESSIONS), f"{name}.tgz"):
            if (place / file).is_file():
                return place / file
        for unpacked in (place / name, place):
            if next(unpacked.glob(inside), None) is not None:
                return unpacked
    return None


def members(path: Path, inside: str) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield name and content of the files in an archive, in its order, or in a folder, sorted, without unpacking."""
    if path.is_dir():
        for file in sorted(path.glob(inside)):
            if file.is_file() and not file.name.startswith("."):
                with reading(file):
                    content = file.read_bytes()
                yield PurePosixPath(file.relative_to(path).as_posix()), content
        return
    try:
        with reading(path), tarfile.open(path) as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                if member.isfile() and name.match(inside) and not name.name.startswith("."):
                    stream = archive.extractfile(member)
                    assert stream is not None  # a file has content
                    yield name, stream.read()
            _check_end(archive, path)
    except tarfile.TarError as error:
        raise InputError(f"{path}: damaged, or not a tar archive: {one_line(error)}; get it again") from error


def _check_end(archive: tarfile.TarFile, path: Path) -> None:
    """Check that only zeros follow: tarfile ends at a damaged header. Reading on also checks the checksum of gzip."""
    assert archive.fileobj is not None
    while rest := archive.fileobj.read(1 << 20):
        if rest.strip(b"\0"):
            raise InputError(f"{path}: damaged after {archive.offset:,} bytes; get it again")
