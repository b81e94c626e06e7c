"""Texts in tables, a document per line: arXiv's abstracts and Wikipedia's articles."""

from __future__ import annotations

from typing import Any

from metalda.corpus import Corpus
from metalda.corpus.files import read_lines
from metalda.datasets.places import PathLike, find_compressed
from metalda.datasets.preprocessing import Vectors, keep_words_with_vectors, paper_corpus, paper_settings
from metalda.errors import InputError


def load_arxiv(
    folder: PathLike | None = None, *, embeddings: Vectors = None, progress: bool = False, **tokenising: Any
) -> Corpus:
    """Titles and abstracts of arXiv's papers; their categories are the labels, several per document.

    Parameters
    ----------
    folder : path, optional
        Where ``arxiv.tsv`` or ``arxiv.tsv.xz`` is, with a header and the columns id, categories, title and abstract; by
        default the folder that ``METALDA_DATA`` names, then the cache.
    embeddings : Embeddings, WordFeatures, path or words, optional
        Words without a vector here are dropped; by default none are.
    progress : bool
        Show a progress bar, if there is a terminal.
    **tokenising
        Settings of `Corpus.from_texts` in place of the paper's.
    """
    corpus = Corpus.read(
        find_compressed("arxiv", folder, "arxiv.tsv"),
        text=["title", "abstract"],
        labels="categories",
        label_delimiter=",",
        progress=progress,
        **paper_settings(tokenising),
    )
    return corpus if embeddings is None else keep_words_with_vectors(corpus, embeddings)


def load_wikipedia(folder: PathLike | None = None, *, embeddings: Vectors = None, **tokenising: Any) -> Corpus:
    """Articles of Wikipedia, titles not among their words; without labels.

    Parameters
    ----------
    folder : path, optional
        Where ``wikipedia-sample.tsv`` or ``wikipedia-sample.tsv.xz`` is, ``id<TAB>title<TAB>text`` without a header; by
        default the folder that ``METALDA_DATA`` names, then the cache.
    embeddings : Embeddings, WordFeatures, path or words, optional
        Words without a vector here are dropped; by default none are.
    **tokenising
        Settings of `Corpus.from_texts` in place of the paper's.
    """
    path = find_compressed("wikipedia", folder, "wikipedia-sample.tsv")
    ids, texts = [], []
    for number, line in enumerate(read_lines(path), start=1):
        fields = line.split("\t", 2)
        if len(fields) < 3:
            raise InputError(f"{path} line {number}: expected id<TAB>title<TAB>text, but it has {len(fields)} fields")
        ids.append(fields[0])
        texts.append(fields[2])
    return paper_corpus(texts, None, ids, embeddings=embeddings, **tokenising)
