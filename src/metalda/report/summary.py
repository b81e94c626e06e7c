"""The summary of a model: the content of a report, collected section by section."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import numpy as np

from metalda.errors import InputError
from metalda.models.estimator import require_fitted
from metalda.models.weights import FEW_DRAWS
from metalda.report.comparison import ComparedModel, compare_models
from metalda.report.correlations import CorrelationSection, summarize_correlations
from metalda.report.diagnostics import DiagnosticsSection, given_seed, summarize_training
from metalda.report.documents import DocumentSection, DocumentSelection, summarize_documents
from metalda.report.hierarchy import TopicTree, build_tree
from metalda.report.labels import LabelSection, count_labels, summarize_labels
from metalda.report.order import Order
from metalda.report.prevalence import NumberSection, summarize_prevalence
from metalda.report.topics import TopicSummary, summarize_topics
from metalda.report.values import cut, to_plain
from metalda.report.wording import WordingSection, summarize_wording
from metalda.report.words import ReportWords, WordSection
from metalda.utils.checks import JsonObject

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

MAX_DOCUMENTS = 2000
_PACKAGES = ("metalda", "numpy", "scipy", "numba", "scikit-learn")
_NOT_SETTINGS = ("vocabulary", "verbose", "word_features", "embeddings")

Models = Mapping[str, "TopicModel"] | Iterable["TopicModel"]


@dataclass(frozen=True)
class Overview:
    """The model, its training, and notes on what the report leaves out."""

    title: str
    key: str  # of the topics, under which a browser keeps the names that a reader gives them
    model: str
    n_topics: int
    n_words: int  # of the vocabulary
    n_labels: int
    n_numbers: int
    n_features: int
    n_iterations: int
    n_chains: int
    n_draws: int  # of a chain
    seed: int  # that was given, or drawn if none was
    seconds: float  # of training
    interval: float  # probability of all intervals in the report
    documents: int | None  # of the given corpus
    tokens: int | None
    settings: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]  # on training, which limit every conclusion
    effect_warnings: tuple[str, ...]  # on intervals of effects


@dataclass(frozen=True)
class Summary:
    """The content of a report as plain data: a field per section."""

    overview: Overview
    topics: tuple[TopicSummary, ...]
    tree: TopicTree
    correlations: CorrelationSection | None
    words: WordSection
    labels: LabelSection | None
    numbers: tuple[NumberSection, ...]
    wording: WordingSection | None
    documents: DocumentSection | None
    diagnostics: DiagnosticsSection
    comparison: tuple[ComparedModel, ...]

    def to_plain(self) -> JsonObject:
        """Return dictionaries, lists, numbers and strings, for JSON."""
        document: JsonObject = to_plain(self)
        return document


def summarize(
    model: TopicModel,
    corpus: object = None,
    *,
    models: Models = (),
    chains: Iterable[TopicModel] = (),
    title: str | None = None,
    interval: float = 0.9,
    max_documents: int = MAX_DOCUMENTS,
    order: Order = (),
) -> Summary:
    """Collect the content of a report as plain data.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    corpus : Corpus, or any other input of `transform`, optional
        Documents to show, such as the training documents. Coherence and the prevalence of topics by label are
        computed from them; their topic proportions are those of `transform`.
    models : dict by name, or list, of fitted models, optional
        Models to compare with the first; topics are matched one to one.
    chains : list of fitted models, optional
        The same model with other seeds, for the diagnostics.
    title : str, optional
        Title of the report.
    interval : float
        Probability of credible intervals over the kept draws.
    max_documents : int
        Largest number of documents: the most typical ones of each topic, and others at random with a fixed seed.
    order : str, list of str, or mapping
        Kinds of labels that have an order, such as ``["grade"]`` for that of their names, or
        ``{"size": ["small", "medium", "large"]}``. Years, decades, dates, numbers and bins are found.

    Returns
    -------
    Summary
        Its method ``to_plain`` returns dictionaries and lists, for JSON.

    Examples
    --------
    >>> from metalda import LDA
    >>> from metalda.report import summarize
    >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
    >>> summary = summarize(LDA(n_components=2, n_iter=20, random_state=0).fit(texts), texts)
    >>> len(summary.topics), summary.documents.n_all
    (2, 4)
    """
    require_fitted(model)
    if max_documents < 1:
        raise InputError(f"max_documents must be at least 1, not {max_documents!r}")
    chains, compared = [model, *chains], _name_models(model, models)
    theta = None if corpus is None else np.asarray(model.transform(corpus), np.float32)
    corpus = None if corpus is None else model.to_corpus(corpus)
    chosen = None if theta is None or corpus is None else DocumentSelection(model, corpus, theta, max_documents)
    known, unknown = ((), ()) if chosen is None else (chosen.known_words(), chosen.unknown_words())
    words = ReportWords(model, known, unknown)
    labels, diagnostics = summarize_labels(model, corpus, theta, interval, order), summarize_training(chains)
    return Summary(
        overview=_overview(
            model,
            corpus,
            title,
            interval,
            notes=_notes(model, words, labels, chosen),
            warnings=diagnostics.warnings,
            effect_warnings=_effect_warnings(model, labels),
        ),
        topics=summarize_topics(model, corpus, words, None if chosen is None else chosen.typical, interval),
        tree=build_tree(words.distances),
        correlations=summarize_correlations(model, corpus, interval),
        words=words.summarize(model.vocabulary_),
        labels=labels,
        numbers=summarize_prevalence(model, interval),
        wording=summarize_wording(model, interval),
        documents=None if chosen is None else summarize_documents(chosen, words, labels),
        diagnostics=diagnostics,
        comparison=compare_models(compared, corpus) if len(compared) > 1 else (),
    )


def _name_models(model: TopicModel, others: Models) -> dict[str, TopicModel]:
    """Return the first model and the others, each with a unique name."""
    result = {type(model).__name__: model}
    named = others.items() if isinstance(others, Mapping) else ((type(each).__name__, each) for each in others)
    for name, other in named:
        require_fitted(other)
        unique, n = name, 2
        while unique in result:
            unique, n = f"{name} ({n})", n + 1
        result[unique] = other
    return result


def _overview(
    model: TopicModel, corpus: Corpus | None, title: str | None, interval: float, **texts: tuple[str, ...]
) -> Overview:
    name, (n_labels, n_numbers) = type(model).__name__, count_labels(model)
    settings = {key: value for key, value in model.get_params(deep=False).items() if key not in _NOT_SETTINGS}
    return Overview(
        title=cut(title) if title is not None else f"{name} with {_count(len(model.components_), 'topic')}",
        key=hashlib.sha256(np.asarray(model.components_, np.float32).tobytes()).hexdigest()[:16],
        model=name,
        n_topics=len(model.components_),
        n_words=len(model.vocabulary_),
        n_labels=n_labels,
        n_numbers=n_numbers,
        n_features=len(model.feature_names_),
        n_iterations=int(model.n_iter_),
        n_chains=len(model.chains_),
        n_draws=len(model.draws_),
        seed=given_seed(model),
        seconds=round(sum(float(chain.history_["seconds"].sum()) for chain in model.chains_), 2),
        interval=float(interval),
        documents=None if corpus is None else len(corpus),
        tokens=None if corpus is None else corpus.n_tokens,
        settings=tuple((key, cut(str(value))) for key, value in settings.items()),
        versions=(("Python", platform.python_version()), *((name, _version(name)) for name in _PACKAGES)),
        **texts,
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _notes(
    model: TopicModel, words: ReportWords, labels: LabelSection | None, chosen: DocumentSelection | None
) -> tuple[str, ...]:
    """Return notes on what the report leaves out, and on its limits."""
    notes = []
    if chosen is None:
        notes.append("No documents were given, so coherence, typical documents and the view of documents are missing.")
    elif len(chosen.rows) < len(chosen.corpus):
        notes.append(
            f"{len(chosen.rows):,} of {len(chosen.corpus):,} documents are shown: the most typical ones of each "
            "topic, and a random sample. All figures are of all documents."
        )
    if chosen is not None and chosen.n_cut:
        verb = "is" if chosen.n_cut == 1 else "are"
        notes.append(
            f"{_count(chosen.n_cut, 'document')} {verb} cut after {chosen.cut_after}; "
            "all figures are of whole documents."
        )
    if len(words) < len(model.vocabulary_):
        notes.append(f"The {len(words):,} most important of {len(model.vocabulary_):,} words can be searched.")
    if labels is not None and len(labels.names) < labels.n_all:
        notes.append(f"The {len(labels.names):,} largest of {labels.n_all:,} labels are shown.")
    if labels is not None and labels.effect:
        notes += _notes_on_effects(model, labels)
    if n_background := int(model.fitted_.is_background.sum()):
        verb = "has" if n_background == 1 else "have"
        is_learned = isinstance(getattr(model, "word_prior", None), str)
        notes.append(
            f"{_count(n_background, 'topic')} {verb} no theme, but rare words from the whole vocabulary (background). "
            f"To avoid this, raise min_df{', fix word_prior at 0.01' * is_learned} or lower max_df."
        )
    notes += _notes_on_curation(model)
    if n_pairs := len(pairs := model.similar_topics()):
        first = pairs.iloc[0]
        notes.append(
            f"{_count(n_pairs, 'pair')} of topics {'has' if n_pairs == 1 else 'have'} nearly the same words, such as "
            f"topics {first['topic']} and {first['other_topic']}. To avoid them, fit fewer topics, or merge them."
        )
    n_chains, counts = len(model.chains_), model.fitted_.chain_counts
    if (counts < n_chains).any():
        notes.append(
            f"{_count(int((counts < n_chains).sum()), 'topic')} of {len(counts):,} were not found in all {n_chains} "
            f"chains, and {int((counts == 1).sum()):,} of them in one only. Their numbers come from the chains that "
            "have them, and they depend on the seed."
        )
    return tuple(notes)


def _notes_on_curation(model: TopicModel) -> list[str]:
    """Return notes on topics that were merged or hidden."""
    fitted, notes = model.fitted_, []
    if hidden := len(fitted.curation.hidden):
        verb = "is" if hidden == 1 else "are"
        notes.append(f"{_count(hidden, 'topic')} {verb} hidden, with {fitted.hidden_share:.1%} of the training words.")
    for number, part in zip(fitted.topic_numbers, fitted.parts, strict=True):
        if len(part) > 1:
            notes.append(f"topic{number} consists of {len(part)} topics of training: {', '.join(map(str, part))}.")
    return notes


def _notes_on_effects(model: TopicModel, labels: LabelSection) -> list[str]:
    """Return notes on effects that are unknown, or have no intervals."""
    notes, unknown = [], np.isnan(np.array(labels.effect, float)).all(axis=1)
    if unknown.any():
        notes.append(
            f"The effects of {_count(int(unknown.sum()), 'label')} are unknown: they are in every document, or only "
            "occur together with others."
        )
    if not model.fitted_.doc_prior.samples_weights:
        notes.append(f"Effects have no intervals: the weights of {type(model).__name__} are point estimates.")
    return notes


def _effect_warnings(model: TopicModel, labels: LabelSection | None) -> tuple[str, ...]:
    """Return warnings of intervals that are missing or unreliable for want of draws."""
    if labels is None or not labels.effect or not model.fitted_.doc_prior.samples_weights:
        return ()
    low, unknown = np.array(labels.low, float), np.isnan(np.array(labels.effect, float)).all(axis=1)
    if np.isnan(low[~unknown]).any():
        n_draws = sum(len(chain.fitted_.weights["label"]) for chain in model.chains_)
        return (f"Effects have no intervals: {_count(n_draws, 'draw')} are too few. Train for more iterations.",)
    if labels.n_unreliable:
        return (
            f"{labels.n_unreliable:,} of {low.size:,} intervals of effects have fewer than {FEW_DRAWS} effective draws "
            "behind their ends, and may be off. Train for more iterations.",
        )
    return ()


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
