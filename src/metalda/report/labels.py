"""The labels of a summary: what they do to topics, and which topics their documents have."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.report.plain import cut, grid, rounded
from metalda.report.summary import Grid, Labels

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

_MOST_CELLS = 30_000  # labels times topics
_MOST_DRAWN = 300_000  # and times draws
_EFFECTS = ("effect", "low", "high")
_PROPORTIONS = ("proportion", "proportion_low", "proportion_high")


def summarise_labels(
    model: TopicModel, corpus: Corpus | None, theta: NDArray[np.float32] | None, interval: float
) -> Labels | None:
    """Labels that the model learnt from, or else those of the corpus; None where there are none."""
    names, sizes = _names_and_sizes(model, corpus)
    if not names:
        return None
    n_topics = len(model.components_)
    kept = _largest(sizes, max(_MOST_CELLS // n_topics, 1))
    tables: dict[str, Any] = dict.fromkeys((*_EFFECTS, *_PROPORTIONS), ())
    drawn = Drawn((), "", 0, 0.0)
    if model.label_names_ and hasattr(model, "label_effects"):
        table = model.label_effects(interval)
        for name in (*_EFFECTS, *_PROPORTIONS):
            wide = table.pivot(index="label", columns="topic", values=name).loc[list(names)].to_numpy()
            tables[name] = grid(wide[kept], 2 if name in _EFFECTS else 3)
        drawn = pack_draws(np.stack([draw.log_doc_weights[kept] for draw in model.draws_]))
    prevalence = () if corpus is None or theta is None else _prevalence(corpus, theta, [names[i] for i in kept])
    return Labels(
        names=tuple(cut(names[i]) for i in kept),
        sizes=rounded(sizes[kept], 2),
        **tables,
        prevalence=prevalence,
        **drawn._asdict(),
        n_all=len(names),
    )


def _names_and_sizes(model: TopicModel, corpus: Corpus | None) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    if model.label_names_:
        return model.label_names_, np.asarray(model.label_sizes_, np.float64)[: len(model.label_names_)]
    if corpus is None or corpus.labels is None:
        return (), np.zeros(0)
    return corpus.label_names, np.asarray(corpus.labels.matrix.sum(axis=0), np.float64).ravel()


def _largest(sizes: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """The places of the largest labels, in the order of the labels."""
    return np.sort(np.argsort(-np.abs(sizes), kind="stable")[:most])


def _prevalence(corpus: Corpus, theta: NDArray[np.float32], names: list[str]) -> Grid:
    """Mean proportions of the documents that have a label; of numbers, of the documents where they are not 0."""
    if corpus.labels is None:
        return ()
    present = corpus.labels.select(names).matrix.copy()
    present.data = np.ones_like(present.data)
    sizes = np.asarray(present.sum(axis=0)).ravel()
    means = (present.T @ theta.astype(np.float64)) / np.maximum(sizes, 1)[:, None]
    return grid(means, 3)


class Drawn(NamedTuple):
    """Draws of log weights, so that a reader can contrast two labels draw by draw; as in `Labels`."""

    weight: Grid
    draws: str
    n_draws: int
    draw_scale: float


def pack_draws(log_weights: NDArray[np.float64]) -> Drawn:
    """Means of log weights [draw, label, topic], and the distances from them in bytes.

    Labels are only ever subtracted from each other, so the mean over labels is taken off: the numbers stay small.
    """
    n_draws, n_labels, n_topics = log_weights.shape
    most = max(_MOST_DRAWN // (n_labels * n_topics), 2)
    chosen = np.unique(np.linspace(0, n_draws - 1, min(n_draws, most)).round().astype(int))
    centred = log_weights[chosen] - log_weights[chosen].mean(axis=1, keepdims=True)
    means = centred.mean(axis=0)
    scale = float(f"{np.abs(centred - means).max() / 127:.4g}") or 1.0
    steps = np.clip(np.round((centred - means) / scale), -127, 127).astype(np.int8)
    packed = base64.b64encode(np.ascontiguousarray(steps.transpose(1, 2, 0)).tobytes())
    return Drawn(grid(means, 2), packed.decode("ascii"), len(chosen), scale)
