"""What labels and features do to topics, with intervals over the draws."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from metalda.errors import InputError
from metalda.meta.design import Design

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Weights:
    """Log weights of labels (or features) in every draw, and the documents (or words) that they were learnt from."""

    kind: str  # "label" or "feature"
    draws: Sequence[NDArray[np.float64]]  # log lambda[l, k]; the default label is the last
    design: Design

    @property
    def names(self) -> tuple[str, ...]:
        """Without the default."""
        return self.design.names[:-1]

    @cached_property
    def is_number(self) -> NDArray[np.bool_]:
        """Which labels are real numbers (as DMR takes them), not 0 or 1."""
        others = np.bincount(self.design.row_labels[self.design.row_values != 1], minlength=len(self.design.names))
        return others[:-1] > 0

    @cached_property
    def members(self) -> Any:
        """How many documents of each row [label, row] have a label; numbers have no documents of their own."""
        has = self.design.matrix[:, :-1].T.tocsr()
        return sparse.diags_array((~self.is_number).astype(float)) @ has @ sparse.diags_array(self.design.row_sizes)


def centre(weights: Weights) -> NDArray[np.float64]:
    """Effects [draw, label, topic]: how far the log weight of a label (or feature) lies from that of the average one.

    A raw weight is not identified against the default's where every document has a label; its distance from the mean
    over labels, weighted by how many documents have each, is. A document without labels counts as one more label,
    whose log weight is 0. The weight of a number is left as it is: it says what one unit more does.
    """
    sizes = weights.members.sum(axis=1)
    n_bare = weights.design.row_sizes[weights.members.sum(axis=0) == 0].sum()
    shares = sizes / max(sizes.sum() + n_bare, 1.0)
    own = np.stack([draw[:-1] for draw in weights.draws])
    return own - np.tensordot(shares, own, axes=(0, 1))[:, None] * ~weights.is_number[:, None]


def weight_effects(weights: Weights, interval: float) -> pd.DataFrame:
    """A row for each label (or feature) and topic: its effect."""
    effects = centre(weights)
    return _table(weights, _named(weights, effects.shape[2]), "effect", effects, interval)


def weight_contrasts(
    weights: Weights, first: str | Iterable[str], second: str | Iterable[str], interval: float
) -> pd.DataFrame:
    """A row for each topic: log alpha of documents with the labels `first`, less that of documents with `second`."""
    sides = [_chosen(weights, side) for side in (first, second)]
    difference = np.zeros(len(weights.design.names))
    difference[sides[0]] += 1
    difference[sides[1]] -= 1
    _warn_if_left_to_the_prior(weights, difference)
    effects = np.stack([difference @ draw for draw in weights.draws])
    named = {
        name: np.repeat(np.array([" + ".join(weights.names[label] for label in side)], dtype=object), effects.shape[1])
        for name, side in zip(("first", "second"), sides, strict=True)
    }
    return _table(weights, {**named, "topic": np.arange(effects.shape[1])}, "effect", effects, interval)


def expected_proportions(weights: Weights, interval: float) -> pd.DataFrame:
    """A row for each label and topic: alpha / alpha[.], averaged over the training documents that have the label.

    Whatever other labels these documents have is part of their alpha. Of numbers, which all documents have, it is NaN.
    """
    sizes = weights.members.sum(axis=1)
    average = sparse.diags_array(np.divide(1, sizes, out=np.full(len(sizes), np.nan), where=sizes > 0))
    draws = [average @ (weights.members @ softmax(weights.design.matrix @ draw, axis=1)) for draw in weights.draws]
    proportions = np.stack(draws)
    return _table(weights, _named(weights, proportions.shape[2]), "proportion", proportions, interval)


def _named(weights: Weights, n_topics: int) -> dict[str, NDArray[Any]]:
    return {
        weights.kind: np.repeat(np.array(weights.names, dtype=object), n_topics),
        "topic": np.tile(np.arange(n_topics), len(weights.names)),
    }


def _table(
    weights: Weights, named: dict[str, NDArray[Any]], value: str, draws: NDArray[np.float64], interval: float
) -> pd.DataFrame:
    """Means and quantiles over draws, as a frame that knows how many draws there were.

    Quantiles are those at which a further draw lies below with the wanted probability (position p (n + 1), Weibull);
    NumPy's default makes intervals of few draws too narrow: 79 % instead of 90 % for 15 of them.
    """
    import pandas as pd

    if not 0 < interval < 1:
        raise InputError(f"interval must lie between 0 and 1, not {interval!r}")
    if len(weights.draws) == 1:
        warnings.warn("the model kept one draw, so that intervals have no width: keep more with n_draws", stacklevel=4)
    low, high = np.quantile(draws, [(1 - interval) / 2, (1 + interval) / 2], axis=0, method="weibull")
    table = pd.DataFrame({**named, value: draws.mean(axis=0).ravel(), "low": low.ravel(), "high": high.ravel()})
    table.attrs["n_draws"] = len(weights.draws)
    return table


def _chosen(weights: Weights, names: str | Iterable[str]) -> list[int]:
    """The numbers of labels by their names."""
    index = {name: number for number, name in enumerate(weights.names)}
    wanted = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    for name in wanted:
        if name not in index:
            raise InputError(f"the model has no {weights.kind} {name!r}; {suggest(name, weights.names)}")
    return [index[name] for name in wanted]


def _warn_if_left_to_the_prior(weights: Weights, difference: NDArray[np.float64]) -> None:
    """A contrast is held by the data if it is a combination of the label sets that were seen."""
    rows = weights.design.matrix.T.tocsr()
    residual = sparse.linalg.lsqr(rows, difference, atol=1e-10, btol=1e-10)[3]
    if residual > 1e-4:
        warnings.warn(
            f"the {weights.kind}s never come in such a way that this contrast could be told from the data: its size is "
            f"left to the prior. Compare sets that differ in labels of one kind, as ['sport', '2019'] and "
            "['politics', '2019']",
            stacklevel=4,
        )


def suggest(name: str, names: Sequence[str]) -> str:
    """What may have been meant by a name that is not there."""
    close = get_close_matches(name, names, n=3, cutoff=0.6)
    if close:
        return f"did you mean {', '.join(map(repr, close))}?"
    return f"it has {', '.join(map(repr, names[:5]))}" + (" …" if len(names) > 5 else "")
