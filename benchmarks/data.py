"""The real corpora of the benchmarks, in the folder METALDA_DATA, or in shared/data next to the repository."""

from __future__ import annotations

import lzma
import os
import tarfile
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metalda import Corpus, Embeddings, WordFeatures


def data_folder() -> Path:
    folder = Path(os.environ.get("METALDA_DATA") or Path(__file__).parents[1].parent / "shared" / "data")
    if not folder.is_dir():
        raise SystemExit("no real data: set METALDA_DATA to the folder with WS, TMN, …")
    return folder


@lru_cache
def load_ws() -> tuple[Corpus, Corpus, WordFeatures]:
    """Web Snippets: train, test, and the paper's binarized embeddings."""
    from metalda import WordFeatures
    from metalda.datasets import load_ws as load

    train, test = load(data_folder())
    return train, test, WordFeatures.read(data_folder() / "WS" / "binary_embeddings.txt")


@lru_cache
def load_newsgroups(part: str = "train") -> Corpus:
    """20 Newsgroups without headers; the training part has 1.49 million tokens."""
    from metalda import Corpus

    texts, labels = [], []
    with tarfile.open(data_folder() / "20news-bydate.tar.gz") as archive:
        for member in archive:
            if member.isfile() and part in member.name:
                file = archive.extractfile(member)
                assert file is not None
                texts.append(file.read().decode("latin-1").split("\n\n", 1)[-1])
                labels.append(member.name.split("/")[-2])
    return Corpus.from_texts(texts, labels, token_pattern=r"[a-z]{2,}", stop_words="english", min_df=5, max_df=0.95)


@lru_cache
def load_arxiv() -> Corpus:
    """All arXiv abstracts with their categories as labels; saved in a cache folder and memory-mapped."""
    from metalda import Corpus

    folder = Path(tempfile.gettempdir()) / "metalda-benchmarks" / "arxiv"
    if not (folder / "corpus.json").exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        Corpus.read(
            data_folder() / "arxiv.tsv.xz",
            text=["title", "abstract"],
            labels="categories",
            label_delimiter=",",
            min_df=5,
        ).save(folder)
    return Corpus.load(folder)


@lru_cache
def load_part_of_arxiv() -> Corpus:
    """Every fifth arXiv abstract without stop words: 41,463 documents, 4.6 million tokens."""
    from metalda import Corpus

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arxiv.tsv"
        with lzma.open(data_folder() / "arxiv.tsv.xz", "rt", encoding="utf-8") as source:
            header, *lines = (line for i, line in enumerate(source) if i == 0 or i % 5 == 1)
        path.write_text(header + "".join(lines), encoding="utf-8")
        columns = {"text": ["title", "abstract"], "labels": "categories", "label_delimiter": ","}
        return Corpus.read(path, **columns, stop_words="english", min_df=5, keep_text=False)


@lru_cache
def load_vectors() -> Embeddings:
    """100-dimensional GloVe."""
    from metalda import Embeddings

    return Embeddings.read(data_folder() / "glove.6B.100d.subset.txt.gz")


def load_glove() -> WordFeatures:
    """200 bits of 100-dimensional GloVe."""
    return load_vectors().binarize()
