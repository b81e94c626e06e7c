"""Convert Mallet's state file to a fitted LDA and its training documents."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import Corpus
from metalda.corpus.files import read_lines
from metalda.errors import InputError
from metalda.models.lda import LDA
from metalda.training.gibbs import resume_chain
from metalda.training.loop import Trained
from metalda.utils.progress import progress_bar

_ALPHA, _BETA = "#alpha :", "#beta :"
_SMALLEST = 1e-30  # of alpha and beta, so that probabilities are positive in float32
_MOST_EMPTY = 1_000_000  # documents without tokens; more mean that the number of a document is damaged


class MalletState(NamedTuple):
    """The content of a state file."""

    model: LDA
    corpus: Corpus


class _Tokens(NamedTuple):
    """A row for every token of the file."""

    documents: NDArray[np.int64]
    words: NDArray[np.int64]  # numbers in Mallet's alphabet
    topics: NDArray[np.int64]
    names: dict[int, str]  # of words
    sources: dict[int, str]  # of documents


def read_mallet_state(path: str | os.PathLike[str], *, encoding: str = "utf-8", verbose: bool = False) -> MalletState:
    """Read the state of a model that Mallet trained (``mallet train-topics --output-state state.gz``).

    Parameters
    ----------
    path : path
        Plain text, or compressed (.gz, .bz2, .xz).
    encoding : str
        Mallet writes the default encoding of its machine, which may differ from UTF-8.
    verbose : bool
        Show a progress bar, on a terminal or in a notebook.

    Returns
    -------
    model : LDA
        Fitted, with the state as its only draw and all methods of an `LDA`. Topics keep their numbers, and alpha is
        Mallet's, which may differ by topic.
    corpus : Corpus
        The documents, in the order of the file. Empty documents at the end, and words of the alphabet that occur in no
        document, are absent from the file and from the corpus.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile, metalda
    >>> lines = ["#doc source pos typeindex type topic", "#alpha : 0.5 0.1", "#beta : 0.01"]
    >>> lines += ["0 NA 0 0 cat 1", "0 NA 1 1 dog 1", "1 NA 0 2 rain 0"]
    >>> path = Path(tempfile.mkdtemp()) / "state.txt"
    >>> _ = path.write_text("\\n".join(lines))
    >>> model, corpus = metalda.read_mallet_state(path)
    >>> model.top_words(1), list(corpus)
    ([['rain'], ['cat']], [['cat', 'dog'], ['rain']])
    """
    text = read_lines(Path(path), encoding)
    lines = enumerate(progress_bar(text, verbose=verbose, desc="Reading", unit=" words"), start=1)
    alpha, beta = _read_header(str(path), lines)
    tokens = _read_tokens(str(path), lines, len(alpha))
    order = np.argsort(tokens.documents, kind="stable")
    corpus = _as_corpus(tokens, order)
    return MalletState(_as_model(corpus, tokens.topics[order].astype(np.uint16), alpha, beta), corpus)


def _read_header(path: str, lines: Iterator[tuple[int, str]]) -> tuple[NDArray[np.float64], float]:
    """Return alpha by topic, and beta."""
    numbers = []
    for expected in ("#doc ", _ALPHA, _BETA):
        number, line = next(lines, (1, ""))
        if not line.startswith(expected):
            raise InputError(
                f"{path} line {number}: not a state of Mallet, which begins with lines '#doc …', '{_ALPHA} …' and "
                f"'{_BETA} …'; make one with mallet train-topics --output-state"
            )
        if expected != "#doc ":
            numbers.append(_parameters(path, number, line.removeprefix(expected)))
    alpha, beta = numbers
    if len(beta) != 1:
        raise InputError(f"{path}: expected one value of beta, but found {len(beta)}")
    return alpha, float(beta[0])


def _parameters(path: str, number: int, text: str) -> NDArray[np.float64]:
    try:
        values = np.array([float(value) for value in text.split()])
    except ValueError:
        values = np.empty(0)
    if not len(values) or not ((values >= _SMALLEST) & (values <= 1 / _SMALLEST)).all():
        raise InputError(f"{path} line {number}: expected positive numbers after the colon, up to {1 / _SMALLEST:g}")
    return values


def _read_tokens(path: str, lines: Iterator[tuple[int, str]], n_topics: int) -> _Tokens:
    documents, words, topics = array("q"), array("q"), array("q")
    names: dict[int, str] = {}
    sources: dict[int, str] = {}
    for number, line in lines:
        try:
            start, _, index, name, topic = line.rsplit(" ", 4)  # the source, a path, may contain spaces
            document, _, source = start.partition(" ")
            d, v, k = int(document), int(index), int(topic)
            documents.append(d)
            words.append(v)
            topics.append(k)
        except (ValueError, OverflowError):
            raise InputError(f"{path} line {number}: expected 'doc source pos typeindex type topic'") from None
        if d < 0 or not 0 <= k < n_topics:
            what = f"topic {k}, but alpha has {n_topics:,} topics" if d >= 0 else f"document {d}"
            raise InputError(f"{path} line {number}: {what}; the file is damaged, or not a state of Mallet")
        if names.setdefault(v, name) != name:
            what = f"the word {v} is {name!r}, but {names[v]!r} in an earlier line"
            raise InputError(f"{path} line {number}: {what}; the file is damaged")
        sources.setdefault(d, source)
    if not documents:
        raise InputError(f"{path}: no words; the state is empty or incomplete")
    if max(sources) > len(sources) + _MOST_EMPTY:
        raise InputError(
            f"{path}: there is a document {max(sources)}, but only {len(sources):,} have words; the file is damaged"
        )
    return _Tokens(np.array(documents), np.array(words), np.array(topics), names, sources)


def _as_corpus(tokens: _Tokens, order: NDArray[np.int64]) -> Corpus:
    """Return the corpus, with words in the order of Mallet's alphabet; sources become ids if they are all different."""
    used, words = np.unique(tokens.words, return_inverse=True)
    lengths = np.bincount(tokens.documents)
    sources = [tokens.sources.get(d, "NA") for d in range(len(lengths))]
    return Corpus(
        words[order].astype(np.int32),
        np.concatenate([[0], np.cumsum(lengths)]),
        tuple(tokens.names[v] for v in used.tolist()),
        ids=tuple(sources) if len(set(sources) - {"NA"}) == len(sources) else None,
    )


def _as_model(corpus: Corpus, topics: NDArray[np.uint16], alpha: NDArray[np.float64], beta: float) -> LDA:
    """Return an LDA whose only draw is this state."""
    model = LDA(len(alpha), doc_prior=float(alpha.mean()), word_prior=beta, n_shards=1, random_state=0)
    model.validate()
    problem = model._build_problem(corpus)
    log_beta = np.full((1, len(alpha)), np.log(beta))
    state = resume_chain(problem, {"topics": topics}, np.log(alpha)[None], log_beta)
    doc_topics = np.zeros((len(corpus), len(alpha)), np.float32)
    state.assignment.add_theta(state.alpha, doc_topics)
    history = {name: np.zeros(0) for name in ("iteration", "log_likelihood", "seconds", "moved")}  # not in the file
    return model._keep_result(
        [Trained((state.keep(),), {}, doc_topics, history, n_sweeps=0, seed=0)],
        corpus.vocabulary,
        problem.doc_prior,
        problem.word_prior,
        schema=None,
        n_shards=1,
        named_words=True,
    )
