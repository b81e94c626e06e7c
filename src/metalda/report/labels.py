"""The label section of a report: effects of labels on topics, and the topics of their documents."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.corpus.columns import columns_of_labels
from metalda.models.chains import by_chains
from metalda.models.weights import FEW_DRAWS, DrawnValues, Weights, label_changes, label_weights, log_sums
from metalda.report.order import Order, rank_labels
from metalda.report.values import Grid, Numbers, cut, grid, rounded

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

_MAX_CELLS = 30_000  # labels × topics
_MAX_DRAWN, _MIN_DRAWS = 300_000, 40  # labels × topics × draws; and the draws that a 95 % interval needs
_EFFECTS = ("effect", "low", "high")
_DIFFERENCES = ("difference", "difference_low", "difference_high")
_PROPORTIONS = ("proportion", "proportion_low", "proportion_high")


@dataclass(frozen=True)
class LabelSection:
    """Effects of labels on topics. Effects are empty for models without effects, prevalence without documents."""

    names: tuple[str, ...]
    sizes: Numbers  # documents that have the label
    kinds: tuple[str, ...]  # the columns that labels come from; "" if they come from none
    kind_of: tuple[int, ...]
    ranks: tuple[float | None, ...]  # the time or number that a label stands for, or its place in a given order
    difference: Grid  # change of the expected proportion
    difference_low: Grid
    difference_high: Grid
    effect: Grid  # log weight relative to the average label of the kind, or to absence
    low: Grid
    high: Grid
    proportion: Grid  # expected by the prior in documents with the label
    proportion_low: Grid
    proportion_high: Grid
    prevalence: Grid  # mean proportion in the documents that have the label
    weight: Grid  # log weight without the level that only the prior decides, for contrasts
    draws: str  # deviations from these weights by [label][topic][draw], base64 of signed bytes
    n_draws: int
    draw_scale: float  # value of one step of these bytes
    reference: Numbers  # the documents identify a contrast if these have the same sum over its two sides
    is_approximate: bool  # contrasts, because topics are merged
    n_unreliable: int  # effects with fewer than FEW_DRAWS effective draws behind the ends of their intervals
    n_all: int  # labels in total; the section has the largest
    pooling: tuple[tuple[str | float, ...], ...]  # column, its labels, their learned scale, low and high


def summarize_labels(
    model: TopicModel, corpus: Corpus | None, theta: NDArray[np.float32] | None, interval: float, order: Order = ()
) -> LabelSection | None:
    """Summarize the labels that the model learned from, or else those of the corpus; None without labels."""
    names, sizes = _names_and_sizes(model, corpus)
    columns = _columns(model, corpus, names)
    ranks = rank_labels(names, columns, order)
    if not names:
        return None
    n_topics = len(model.components_)
    kept = _largest(sizes, max(_MAX_CELLS // n_topics, 1))
    tables: dict[str, Any] = dict.fromkeys((*_DIFFERENCES, *_EFFECTS, *_PROPORTIONS), ())
    drawn, n_unreliable, reference, is_approximate = PackedDraws((), "", 0, 0.0), 0, (), False
    if model.label_names_ and hasattr(model, "label_effects"):
        table = model.label_effects(interval)
        for name in (*_DIFFERENCES, *_EFFECTS, *_PROPORTIONS):
            wide = table.pivot(index="label", columns="topic", values=name).loc[list(names)].to_numpy()
            tables[name] = grid(wide[kept], 2 if name in _EFFECTS else 3 if name in _PROPORTIONS else 4)
        shown = table["label"].isin([names[i] for i in kept])
        n_unreliable = int((shown & (table["tail_ess"] < FEW_DRAWS)).sum())
        position = {name: j for j, name in enumerate(model.label_names_)}
        own = np.array([position[names[i]] for i in kept], np.int64)
        weights = label_weights(model.fitted_)
        drawn, is_approximate = pack_draws(_matched_draws(weights, own)), weights.has_merged
        reference = _reference(model)[own].round(6).tolist()
    prevalence = () if corpus is None or theta is None else _prevalence(corpus, theta, [names[i] for i in kept])
    kinds = tuple(dict.fromkeys(columns[i] for i in kept))
    return LabelSection(
        names=tuple(cut(names[i]) for i in kept),
        sizes=rounded(sizes[kept], 2),
        kinds=tuple(map(cut, kinds)),
        kind_of=tuple(kinds.index(columns[i]) for i in kept),
        ranks=tuple(ranks[i] for i in kept),
        **tables,
        prevalence=prevalence,
        **drawn._asdict(),
        reference=tuple(reference),
        is_approximate=is_approximate,
        n_unreliable=n_unreliable,
        n_all=len(names),
        pooling=_pooling(model),
    )


def _columns(model: TopicModel, corpus: Corpus | None, names: tuple[str, ...]) -> list[str]:
    """Return the column that each label comes from."""
    if model.label_names_:
        design = model.fitted_.labels
        column_of = {
            name: design.group_names[group] if design.group_names else ""
            for name, group in zip(model.label_names_, design.groups, strict=True)
        }
        return [column_of[name] for name in names]
    if corpus is None or corpus.schema is None or not corpus.schema.has_labels:
        return [""] * len(names)
    return list(columns_of_labels(names, corpus.schema))


def _reference(model: TopicModel) -> NDArray[np.float64]:
    """Return a random vector of the null space: a contrast that is orthogonal to it almost surely is identified."""
    null_space = model.fitted_.labels.null_space
    return np.asarray(null_space @ np.random.default_rng(0).standard_normal(null_space.shape[1]))


def _pooling(model: TopicModel) -> tuple[tuple[str | float, ...], ...]:
    """Return the learned scales of label columns; empty for models that do not learn them."""
    table = getattr(model, "pooling_", None)
    if table is None:
        return ()
    own = table[table["kind"] == "label"]
    ends = own[["scale", "low", "high"]].to_numpy(float).round(3)
    return tuple(
        (cut(str(name)), int(n), *map(float, row)) for name, n, row in zip(own["group"], own["n"], ends, strict=True)
    )


def _names_and_sizes(model: TopicModel, corpus: Corpus | None) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    if model.label_names_:
        names = shown_labels(model)
        position = {name: j for j, name in enumerate(model.label_names_)}
        return names, np.asarray(model.label_sizes_, np.float64)[[position[name] for name in names]]
    if corpus is None or corpus.labels is None:
        return (), np.zeros(0)
    return corpus.label_names, np.asarray(corpus.labels.matrix.sum(axis=0), np.float64).ravel()


def shown_labels(model: TopicModel) -> tuple[str, ...]:
    """Return the labels of a model without the columns of curves, whose weights alone say nothing."""
    terms = model.fitted_.labels.terms
    return tuple(name for name in model.label_names_ if terms is None or not terms.is_curve(name))


def count_labels(model: TopicModel) -> tuple[int, int]:
    """Return how many labels, and how many numbers, the model learned from; products of these are neither."""
    terms = model.fitted_.labels.terms
    if terms is None:
        return len(model.label_names_), 0
    return len(terms.label_names.intersection(model.label_names_).difference(terms.numbers)), len(terms.numbers)


def _largest(sizes: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Return the indices of the largest labels, in the order of the labels."""
    return np.sort(np.argsort(-np.abs(sizes), kind="stable")[:most])


def _prevalence(corpus: Corpus, theta: NDArray[np.float32], names: list[str]) -> Grid:
    """Return mean proportions of the documents with a label; for a numeric column, of documents where it is not 0.

    Interactions are no labels of documents.
    """
    if corpus.labels is None:
        return ()
    known = set(corpus.label_names)
    present = corpus.labels.select(names).matrix.copy()
    present.data = np.ones_like(present.data)
    sizes = np.asarray(present.sum(axis=0)).ravel()
    means = (present.T @ theta.astype(np.float64)) / np.maximum(sizes, 1)[:, None]
    means[[name not in known for name in names]] = np.nan
    return grid(means, 3)


def _matched_draws(weights: Weights, kept: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return log weights [draw, label, topic] of some labels, over the chains that have a topic.

    Topics have equally many draws: of those that more chains have, draws at regular intervals. The levels that only
    the prior decides are removed, which changes no contrast that the documents identify. The log weight of a label in
    a merged topic is what it adds to the log of the summed alpha, averaged over the documents with the label.
    """
    if weights.has_merged:
        chains: DrawnValues = [draws[:, kept] for draws in label_changes(weights, log_sums, centered=False)]
    else:
        basis = weights.design.null_space
        chains = weights.pick(
            [_without_levels(np.asarray(draws, np.float64), basis)[:, kept] for draws in weights.chains]
        )
    found = [(topics, own.reshape(-1, *own.shape[2:])) for topics, own in by_chains(chains, weights.places)]
    n_draws = min(len(own) for _, own in found)
    matched = np.empty((n_draws, len(kept), weights.n_topics))
    for topics, own in found:
        matched[:, :, topics] = own[np.linspace(0, len(own) - 1, n_draws).round().astype(int)]
    return matched


def _without_levels(draws: NDArray[np.float64], basis: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log weights [draw, label, topic] without their part in the null space of the label sets."""
    return np.asarray(draws - np.einsum("ld,sdk->slk", basis, np.einsum("ld,slk->sdk", basis, draws)))


class PackedDraws(NamedTuple):
    """Draws of log weights for contrasts of labels; fields as in `LabelSection`."""

    weight: Grid
    draws: str
    n_draws: int
    draw_scale: float


def pack_draws(log_weights: NDArray[np.floating]) -> PackedDraws:
    """Return means of log weights [draw, label, topic], and the deviations from them as bytes."""
    n_draws, n_labels, n_topics = log_weights.shape
    most = max(_MAX_DRAWN // (n_labels * n_topics), _MIN_DRAWS)
    chosen = np.unique(np.linspace(0, n_draws - 1, min(n_draws, most)).round().astype(int))
    means = log_weights[chosen].mean(axis=0)
    scale = float(f"{np.abs(log_weights[chosen] - means).max() / 127:.4g}") or 1.0
    steps = np.clip(np.round((log_weights[chosen] - means) / scale), -127, 127).astype(np.int8)
    packed = base64.b64encode(np.ascontiguousarray(steps.transpose(1, 2, 0)).tobytes())
    return PackedDraws(grid(means, 2), packed.decode("ascii"), len(chosen), scale)
