"""From a fitted model to a summary."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from metalda.errors import InputError
from metalda.report.diagnostics import summarise_training
from metalda.report.documents import Selection, Typical, known_words, summarise_documents
from metalda.report.labels import summarise_labels
from metalda.report.matching import compare_models
from metalda.report.plain import cut
from metalda.report.summary import Documents, Labels, Overview, Summary
from metalda.report.topics import summarise_topics
from metalda.report.wording import Distribution, WordBook

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

MAX_DOCUMENTS = 2000
_PACKAGES = ("metalda", "numpy", "scipy", "numba", "scikit-learn")
_NOT_SETTINGS = ("vocabulary", "verbose", "word_features", "embeddings")

Models = Mapping[str, "TopicModel"] | Iterable["TopicModel"]


def summarise(
    model: TopicModel,
    corpus: Any = None,
    *,
    models: Models = (),
    chains: Iterable[TopicModel] = (),
    title: str | None = None,
    interval: float = 0.9,
    max_documents: int = MAX_DOCUMENTS,
) -> Summary:
    """All that a report shows, as plain data.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    corpus : Corpus, or whatever `transform` takes, optional
        Documents to show, such as those of training. Coherence and the prevalence of topics over labels are measured
        on them, and their topic proportions are those of `transform`.
    models : dict by name, or list, of fitted models, optional
        To be compared with the first; topics are matched one to one.
    chains : list of fitted models, optional
        The same model with other seeds, for the diagnostics.
    title : str, optional
        Of the report.
    interval : float
        Of credible intervals over the kept draws.
    max_documents : int
        The most documents to keep: the typical ones of each topic, and others at random, always the same.

    Returns
    -------
    Summary
        ``metalda.report.plain.to_plain`` makes it dictionaries and lists, for JSON.

    Examples
    --------
    >>> from metalda import LDA
    >>> from metalda.report import summarise
    >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
    >>> summary = summarise(LDA(n_components=2, n_iter=20, random_state=0).fit(texts), texts)
    >>> len(summary.topics), summary.documents.n_all
    (2, 4)
    """
    check_is_fitted(model)
    if max_documents < 1:
        raise InputError(f"max_documents must be at least 1, not {max_documents!r}")
    chains, compared = [model, *chains], _name_models(model, models)
    theta = None if corpus is None else np.asarray(model.transform(corpus), np.float32)
    corpus = None if corpus is None else model.to_corpus(corpus)
    distribution = Distribution(model.components_, model.topics(top_n=1)["share"].to_numpy(np.float64))
    needed = candidates = distribution.candidates()
    labels = summarise_labels(model, corpus, theta, interval)
    chosen = documents = None
    if theta is not None:
        chosen = Selection(corpus, theta, known_words(model, corpus), max_documents)
        needed = [*candidates, *(known[known >= 0] for known in map(chosen.known, chosen.rows))]
    book = WordBook(distribution, needed)
    if chosen is not None:
        documents = summarise_documents(model, chosen, book, labels)
    typical = [Typical()] * len(candidates) if chosen is None else chosen.typical
    notes = _notes(model, book, labels, documents, chosen)
    return Summary(
        overview=_overview(model, corpus, title, interval, notes),
        topics=summarise_topics(model, corpus, distribution, candidates, book, typical, interval),
        words=book.words(model.vocabulary_),
        labels=labels,
        documents=documents,
        diagnostics=summarise_training(chains, [_seed_name(chain) for chain in chains]),
        comparison=compare_models(compared, corpus) if len(compared) > 1 else (),
    )


def _name_models(model: TopicModel, others: Models) -> dict[str, TopicModel]:
    """The first model and the others, each under a name of its own."""
    result = {type(model).__name__: model}
    named = others.items() if isinstance(others, Mapping) else ((type(each).__name__, each) for each in others)
    for name, other in named:
        check_is_fitted(other)
        unique, n = name, 2
        while unique in result:
            unique, n = f"{name} ({n})", n + 1
        result[unique] = other
    return result


def _overview(
    model: TopicModel, corpus: Corpus | None, title: str | None, interval: float, notes: tuple[str, ...]
) -> Overview:
    name = type(model).__name__
    settings = {key: value for key, value in model.get_params(deep=False).items() if key not in _NOT_SETTINGS}
    return Overview(
        title=cut(title) if title is not None else f"{name} with {_count(len(model.components_), 'topic')}",
        model=name,
        n_topics=len(model.components_),
        n_words=len(model.vocabulary_),
        n_labels=len(model.label_names_),
        n_features=len(model.feature_names_),
        n_sweeps=int(model.n_iter_),
        n_draws=len(model.draws_),
        seed=int(model.seed_),
        seconds=round(float(model.history_["seconds"].sum()), 2),
        interval=float(interval),
        documents=None if corpus is None else len(corpus),
        tokens=None if corpus is None else corpus.n_tokens,
        settings=tuple((key, cut(str(value))) for key, value in settings.items()),
        versions=(("Python", platform.python_version()), *((name, _version(name)) for name in _PACKAGES)),
        notes=notes,
    )


def _seed_name(model: TopicModel) -> str:
    return f"seed {model.random_state if isinstance(model.random_state, int) else model.seed_}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _notes(
    model: TopicModel, book: WordBook, labels: Labels | None, documents: Documents | None, chosen: Selection | None
) -> tuple[str, ...]:
    """What the report leaves out, and what is to be kept in mind."""
    notes = []
    if documents is None:
        notes.append("No documents were given: there is no coherence, no typical document and no document view.")
    elif len(documents.numbers) < documents.n_all:
        notes.append(
            f"{len(documents.numbers):,} of {documents.n_all:,} documents are shown: the most typical ones of each "
            "topic, and others at random. All figures are of all documents."
        )
    if chosen is not None and chosen.n_cut:
        verb = "is" if chosen.n_cut == 1 else "are"
        notes.append(
            f"{_count(chosen.n_cut, 'document')} {verb} cut after {chosen.longest:,} words; "
            "the figures are of whole documents."
        )
    if len(book) < len(model.vocabulary_):
        notes.append(f"The {len(book):,} most important of {len(model.vocabulary_):,} words can be searched.")
    if labels is not None and len(labels.names) < labels.n_all:
        notes.append(f"The {len(labels.names):,} largest of {labels.n_all:,} labels are shown.")
    if labels is not None and labels.effect and len(model.draws_) < 10:
        notes.append(f"Intervals are over {_count(len(model.draws_), 'draw')}: too few for them to mean much.")
    if model.n_iter_ < model.n_iter:
        notes.append(f"Training was stopped after {model.n_iter_:,} of {model.n_iter:,} sweeps.")
    return tuple(notes)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
