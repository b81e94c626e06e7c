"""What a report says, as plain data: frozen, made of numbers and strings, and the same again after JSON."""

from __future__ import annotations

from dataclasses import dataclass

Pairs = tuple[tuple[str, str], ...]
Numbers = tuple[float, ...]
Grid = tuple[tuple[float | None, ...], ...]  # [label][topic]; None where there is no number


@dataclass(frozen=True)
class Overview:
    """The model, what it was trained on, and what the report leaves out."""

    title: str
    model: str
    n_topics: int
    n_words: int  # of the vocabulary
    n_labels: int
    n_features: int
    n_sweeps: int
    n_draws: int
    seed: int
    seconds: float  # of training
    interval: float  # of all intervals in the report
    documents: int | None  # of the corpus given
    tokens: int | None
    settings: Pairs
    versions: Pairs
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Words:
    """Words of the model, the most probable first; other parts of the summary name a word by its place here.

    Words that only documents have, and the model does not know, come last: with probability 0 and no topics.
    """

    names: tuple[str, ...]
    probabilities: Numbers  # in the model as a whole
    topics: tuple[tuple[int, ...], ...]  # those that a word most likely comes from
    shares: tuple[Numbers, ...]  # p(topic | word), for each of them


@dataclass(frozen=True)
class FeatureEffect:
    """What a feature of words does to a topic: the log of its weight beside that of the average feature."""

    name: str
    effect: float
    low: float
    high: float


@dataclass(frozen=True)
class Topic:
    """One topic, by the number that the model gives it."""

    number: int
    label: str | None  # that it belongs to, in models where topics do
    share: float  # of the training words
    words: tuple[int, ...]  # enough of them for the best 30 by relevance, at any lambda in tenths; most probable first
    probabilities: Numbers
    coherence: float | None
    x: float  # on the map
    y: float
    nearest: tuple[int, ...]  # other topics, the most similar first
    distances: Numbers
    documents: tuple[int, ...]  # the most typical ones, by their place among the documents
    document_shares: Numbers  # of the topic in them
    features: tuple[FeatureEffect, ...]


@dataclass(frozen=True)
class Labels:
    """What labels do to topics. Effects are empty for models that learn none, prevalence without documents."""

    names: tuple[str, ...]
    sizes: Numbers  # documents that have the label
    effect: Grid  # log weight beside that of the average label
    low: Grid
    high: Grid
    proportion: Grid  # expected by the prior, in documents with the label
    proportion_low: Grid
    proportion_high: Grid
    prevalence: Grid  # mean proportion in the documents that have the label
    weight: Grid  # log weight beside the plain mean over labels: to be subtracted from each other
    draws: str  # by [label][topic][draw], how far weights are from their mean: base64 of signed bytes; "" without
    n_draws: int
    draw_scale: float  # what one step of these bytes is
    n_all: int  # of which these are the largest


@dataclass(frozen=True)
class Documents:
    """Documents of the corpus: all, or the typical ones of each topic and a random sample."""

    numbers: tuple[int, ...]  # in the corpus
    ids: tuple[str, ...]
    labels: tuple[tuple[int, ...], ...]  # places in label_names
    lengths: tuple[int, ...]  # in words
    words: tuple[tuple[int, ...], ...]  # cut where they are long
    word_topics: tuple[tuple[int, ...], ...]  # most likely topic of each word; -1 if the model does not know it
    topics: tuple[tuple[int, ...], ...]  # the largest of the mixture
    shares: tuple[Numbers, ...]
    label_names: tuple[str, ...]
    label_places: tuple[int, ...]  # among the labels of the summary, or -1
    n_all: int
    longest: int  # words that are shown of a document at most


@dataclass(frozen=True)
class Chain:
    """The history of one run, thinned."""

    name: str
    sweeps: tuple[int, ...]
    traces: tuple[tuple[str, Numbers], ...]  # by name; log_likelihood is per word


@dataclass(frozen=True)
class Diagnostics:
    """Whether training has come to rest."""

    chains: tuple[Chain, ...]
    burn_in: int
    r_hat: float | None  # of the log-likelihood after the burn-in, halves of chains against each other


@dataclass(frozen=True)
class ComparedTopic:
    """A topic beside others."""

    number: int
    share: float
    words: tuple[str, ...]


@dataclass(frozen=True)
class ComparedModel:
    """A model beside the first; `matches` has its topic for each topic of the first, or -1."""

    name: str
    model: str
    n_topics: int
    coherence: float | None
    diversity: float
    log_likelihood: float | None  # not known of a model that was trained elsewhere
    seconds: float
    topics: tuple[ComparedTopic, ...]
    matches: tuple[int, ...]
    distances: tuple[float | None, ...]


@dataclass(frozen=True)
class Summary:
    """All that a report shows."""

    overview: Overview
    topics: tuple[Topic, ...]
    words: Words
    labels: Labels | None
    documents: Documents | None
    diagnostics: Diagnostics
    comparison: tuple[ComparedModel, ...]
