"""Corpora with a document per line: Web Snippets, ABC News and Tag My News (tokenized), arXiv and Wikipedia (texts)."""

from __future__ import annotations

from metalda.corpus import Corpus
from metalda.corpus.files import read_lines, reading
from metalda.datasets.catalog import PathLike, find_all, find_compressed
from metalda.datasets.preprocessing import Vectors, keep_words_with_vectors, paper_corpus, paper_settings
from metalda.errors import InputError


def load_ws(folder: PathLike | None = None) -> tuple[Corpus, Corpus]:
    """Load Web Snippets in the split of the paper, train and test: search results in 8 categories, tokenized.

    Parameters
    ----------
    folder : path, optional
        The folder that contains ``WS/``; by default that of ``METALDA_DATA``, then the cache.
    """
    return _java_parts("ws", folder)


def load_an(folder: PathLike | None = None) -> tuple[Corpus, Corpus]:
    """Load ABC News, train and test: short descriptions with several of 194 labels each, tokenized.

    Parameters
    ----------
    folder : path, optional
        The folder that contains ``AN/``; by default that of ``METALDA_DATA``, then the cache.
    """
    return _java_parts("an", folder)


def load_tmn(folder: PathLike | None = None) -> Corpus:
    """Load Tag My News, its three files together: news in 7 categories, tokenized.

    Parameters
    ----------
    folder : path, optional
        The folder that contains ``TMN/``; by default that of ``METALDA_DATA``, then the cache.
    """
    parts = ("train", "val", "test")
    paths = find_all("tmn", folder, [f"TMN/TMN_{part}.txt" for part in parts])
    ids, labels, documents = [], [], []
    for part, path in zip(parts, paths, strict=True):
        # Some bytes are invalid in UTF-8: errors="replace" keeps the token. Only \n ends a document.
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
    """Read training and test documents from files of the Java MetaLDA."""
    train, test = find_all(name, folder, [f"{name.upper()}/{part}_doc.txt" for part in ("train", "test")])
    return Corpus.read(train, format="java"), Corpus.read(test, format="java")


def load_arxiv(
    folder: PathLike | None = None, *, embeddings: Vectors = None, verbose: bool = False, **tokenizing: object
) -> Corpus:
    """Load titles and abstracts of arXiv; the categories are the labels, several per document.

    Parameters
    ----------
    folder : path, optional
        The folder with ``arxiv.tsv`` or ``arxiv.tsv.xz``, with a header and the columns id, categories, title and
        abstract; by default that of ``METALDA_DATA``, then the cache.
    embeddings : Embeddings, WordFeatures, path or words, optional
        Words without a vector are dropped; by default none are.
    verbose : bool
        Show a progress bar, on a terminal or in a notebook.
    **tokenizing
        Settings of `Corpus.from_texts` that replace those of the paper and scikit-learn's English stop words.
    """
    corpus = Corpus.read(
        find_compressed("arxiv", folder, "arxiv.tsv"),
        text=["title", "abstract"],
        labels="categories",
        label_delimiter=",",
        verbose=verbose,
        **paper_settings({"stop_words": "english", **tokenizing}),
    )
    return corpus if embeddings is None else keep_words_with_vectors(corpus, embeddings)


def load_wikipedia(folder: PathLike | None = None, *, embeddings: Vectors = None, **tokenizing: object) -> Corpus:
    """Load articles of Wikipedia without their titles; there are no labels.

    Parameters
    ----------
    folder : path, optional
        The folder with ``wikipedia-sample.tsv`` or ``wikipedia-sample.tsv.xz``, ``id<TAB>title<TAB>text`` without a
        header; by default that of ``METALDA_DATA``, then the cache.
    embeddings : Embeddings, WordFeatures, path or words, optional
        Words without a vector are dropped; by default none are.
    **tokenizing
        Settings of `Corpus.from_texts` that replace those of the paper and scikit-learn's English stop words.
    """
    path = find_compressed("wikipedia", folder, "wikipedia-sample.tsv")
    ids, texts = [], []
    for number, line in enumerate(read_lines(path), start=1):
        fields = line.split("\t", 2)
        if len(fields) < 3:
            raise InputError(f"{path} line {number}: expected id<TAB>title<TAB>text, but it has {len(fields)} fields")
        ids.append(fields[0])
        texts.append(fields[2])
    return paper_corpus(texts, None, ids, embeddings=embeddings, **{"stop_words": "english", **tokenizing})
