"""Weights of labels and word features over the posterior samples, and what follows from them, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import logsumexp, softmax

from metalda.errors import InputError, warn
from metalda.meta.design import Design
from metalda.meta.label_index import LabelIndex
from metalda.models.chains import NO_PARTNER, by_chains, in_chain
from metalda.models.curation import Parts, sum_parts
from metalda.models.fitted import Fitted
from metalda.models.fitted_model import FittedModel
from metalda.utils.arguments import as_number
from metalda.utils.convergence import rank_rhat, tail_ess

if TYPE_CHECKING:
    import pandas as pd

_MOST_CELLS, _LEAST_DRAWS = 100_000_000, 100  # of a computation over draws: about five seconds
FEW_DRAWS = 50  # effective draws behind the ends of an interval; with fewer they may be off
_ITEMS = {"label": "document", "feature": "word"}  # what has them
_CHUNK = 4096  # documents and labels whose proportions are computed at a time

DrawnValues = Sequence[NDArray[np.float64]]  # of each chain, [draw, …, topic]; NaN for topics that the chain lacks
Draws = NDArray[np.floating]  # log weights of one draw, [label, topic of the chain], the default label last


@dataclass(frozen=True, eq=False)
class Weights:
    """Log weights of labels (or features) in every draw of every chain, and the design that they were learned from."""

    kind: str  # "label" or "feature"
    chains: tuple[NDArray[np.floating], ...]  # log lambda[draw, l, k] by chain; the default label is the last
    parts: tuple[Parts, ...]  # [chain][topic] the topics of the chain that a topic consists of; none if it lacks one
    design: Design
    columns: Mapping[str, NDArray[np.generic]]  # numbers and names of topics
    are_sampled: bool = True  # False for point estimates (DMR, WF-LDA), whose spread is no interval

    @classmethod
    def of(cls, fitted: Fitted, kind: str) -> Weights:
        """Return the weights of "label" or "feature" of all chains."""
        prior = fitted.doc_prior if kind == "label" else fitted.word_prior
        partners = np.arange(fitted.trained.n_topics)[None] if fitted.partners is None else fitted.partners
        chains = tuple(chain.weights[kind] for chain in fitted.chains or (fitted,))
        parts = tuple([in_chain(own, part) for part in fitted.parts] for own in partners)
        columns = fitted.named(np.arange(fitted.n_topics))
        return cls(kind, chains, parts, prior.design, columns, prior.samples_weights)

    @property
    def n_topics(self) -> int:
        return len(self.parts[0])

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names without the default label."""
        return self.design.names[:-1]

    @cached_property
    def has(self) -> NDArray[np.bool_]:
        """Return [chain, topic] which topics each chain has."""
        return np.array([[bool(part) for part in parts] for parts in self.parts], bool)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Return [chain, topic] the places of topics in the drawn values, or NO_PARTNER."""
        return np.where(self.has, np.arange(self.n_topics), NO_PARTNER)

    @cached_property
    def has_merged(self) -> bool:
        return any(len(part) > 1 for part in self.parts[0])

    @cached_property
    def is_number(self) -> NDArray[np.bool_]:
        """Return which labels are real numbers instead of 0 or 1."""
        return self.design.is_number[:-1]

    @cached_property
    def members(self) -> sparse.csr_array:
        """Return the number of documents [label, row] in each row of the design that have a label; 0 for numbers."""
        has = self.design.matrix[:, :-1].T.tocsr()
        return sparse.diags_array((~self.is_number).astype(float)) @ has @ sparse.diags_array(self.design.row_sizes)

    def compute(self, quantity: Callable[[Draws, Parts], NDArray[np.float64]], cells: int) -> DrawnValues:
        """Return a quantity [label, topic] of draws of all chains: of fewer draws if so many cells would take long.

        It is computed within each draw, from its log weights and the parts of the topics in its chain.
        """
        most = max(_MOST_CELLS // max(cells * len(self.chains), 1), _LEAST_DRAWS)
        chosen = [draws[:: -math.ceil(len(draws) / most)][::-1] for draws in self.chains]
        return [
            np.stack([quantity(draw, parts) for draw in draws]) for draws, parts in zip(chosen, self.parts, strict=True)
        ]

    def pick(self, chains: Sequence[NDArray[np.float64]]) -> DrawnValues:
        """Return values [draw, …, topic], given those of the topics of each chain, if no topic was merged."""
        return [add_parts(values, parts) for values, parts in zip(chains, self.parts, strict=True)]


def add_parts(values: NDArray[np.float64], parts: Parts) -> NDArray[np.float64]:
    """Return the sums of values [..., topic of the chain] over the parts of each topic; NaN if the chain lacks it."""
    if all(parts):
        return np.asarray(sum_parts(values, parts), np.float64)
    found = np.full((*values.shape[:-1], len(parts)), np.nan)
    has = [place for place, part in enumerate(parts) if part]
    found[..., has] = sum_parts(values, [parts[place] for place in has])
    return found


def log_sums(logs: NDArray[np.float64], parts: Parts) -> NDArray[np.float64]:
    """Return logarithms [..., topic] of the sums of exp(logs) [..., topic of the chain]; NaN if the chain lacks it."""
    found = add_parts(logs, [part[:1] for part in parts])
    for place, part in enumerate(parts):
        if len(part) > 1:
            found[..., place] = logsumexp(logs[..., list(part)], axis=-1)
    return found


def require_effects(model: FittedModel, kind: str) -> None:
    """Raise InputError if a model has no method for the effects of "label" or "feature"."""
    if hasattr(model, f"{kind}_effects"):
        return
    name = type(model).__name__
    if kind == "feature":
        raise InputError(
            f"this {name} does not learn from word features, so it has no effects of features; fit MetaLDA or WFLDA "
            "with word features (--word-features or --embeddings)"
        )
    if model.uses_labels:
        raise InputError(f"a topic of {name} belongs to one label, so it has no effects of labels; see topics()")
    raise InputError(
        f"this {name} does not learn from labels, so it has no effects of labels; fit MetaLDA or DMR with labels "
        "(--labels)"
    )


def label_weights(fitted: Fitted) -> Weights:
    """Return the weights of labels; InputError if the model was fitted without labels."""
    if not fitted.label_names:
        raise InputError(
            "the model learned from no labels, so it has no effects of labels; fit it with labels (--labels)"
        )
    return Weights.of(fitted, "label")


def feature_weights(fitted: Fitted) -> Weights:
    """Return the weights of word features; InputError if the model was fitted without features."""
    if not fitted.feature_names:
        raise InputError(
            "the model learned from no word features, so it has no effects of features; fit it with word features "
            "(--word-features or --embeddings)"
        )
    return Weights.of(fitted, "feature")


def center(draws: NDArray[np.floating], design: Design) -> NDArray[np.float64]:
    """Return effects [draw, label, topic]: log weights of labels (or features) relative to the average of their kind.

    The weight of a label that is compared with its absence, and that of a number, is the effect itself.
    """
    by_label = np.moveaxis(np.asarray(draws, np.float64), 1, 0)
    return np.moveaxis(design.references.center(by_label), 0, 1)


def weight_effects(weights: Weights, interval: float) -> pd.DataFrame:
    """Return a row for each label (or feature) and topic with its effect."""
    if weights.has_merged:
        effects = label_changes(weights, log_sums)
    else:
        effects = weights.pick([center(draws, weights.design) for draws in weights.chains])
    _warn_if_unknown(weights)
    table = table_of_draws(weights, _named(weights), "effect", effects, interval)
    rhat, ess = (np.full((len(weights.names), weights.n_topics), np.nan) for _ in range(2))
    if weights.are_sampled:
        for topics, own in by_chains(effects, weights.places):
            rhat[:, topics], ess[:, topics] = rank_rhat(own), tail_ess(own, interval)
    return table.assign(rhat=rhat.ravel(), tail_ess=ess.ravel())


def label_differences(weights: Weights, interval: float) -> pd.DataFrame:
    """Return for each label and topic the change of the expected proportion that the effect of the label makes."""

    def proportions(logs: NDArray[np.float64], parts: Parts) -> NDArray[np.float64]:
        return add_parts(softmax(logs, axis=1), parts)

    return table_of_draws(weights, _named(weights), "difference", label_changes(weights, proportions), interval)


def label_changes(
    weights: Weights, level: Callable[[NDArray[np.float64], Parts], NDArray[np.float64]], *, centered: bool = True
) -> DrawnValues:
    """Return the change of a level that the effect of each label makes [draw, label, topic].

    The level is a function of log alpha [document, topic of the chain]. In each draw, the change is the level of the
    documents with the label, minus the same with the effect of the label subtracted from log alpha, averaged over these
    documents. For a number it is the change that one unit more makes, averaged over all documents. Without `centered`,
    the log weight of the label is its effect.
    """
    design, names = weights.design, weights.names
    numbers = np.flatnonzero(weights.is_number)
    members = sparse.csr_array(weights.members)
    sizes = np.maximum(members.sum(axis=1), 1)
    labels = np.repeat(np.arange(len(names)), np.diff(members.indptr))

    def changes(draw: Draws, parts: Parts) -> NDArray[np.float64]:
        own_weights = np.asarray(draw, np.float64)
        effects = design.references.center(own_weights) if centered else own_weights[:-1]
        logs = design.matrix @ draw
        levels = level(logs, parts)
        total = np.zeros((len(names), len(parts)))
        for first in range(0, members.nnz, _CHUNK):
            cells = slice(first, first + _CHUNK)
            rows, own = members.indices[cells], labels[cells]
            moved = members.data[cells, None] * (levels[rows] - level(logs[rows] - effects[own], parts))
            of_label = sparse.csr_array((np.ones(len(own)), (own, np.arange(len(own)))), (len(names), len(own)))
            total += of_label @ moved
        total /= sizes[:, None]
        for number in numbers:
            moved = level(logs + effects[number], parts) - levels
            total[number] = design.row_sizes @ moved / design.row_sizes.sum()
        return total

    n_rows = members.nnz + design.n_rows * (1 + len(numbers))
    return weights.compute(changes, n_rows * weights.chains[0].shape[2])


def weight_contrasts(
    weights: Weights, first: str | Iterable[str], second: str | Iterable[str], interval: float
) -> pd.DataFrame:
    """Return for each topic log alpha of documents with labels `first` minus that of documents with `second`."""
    index = LabelIndex(weights.names, weights.kind)
    position = {name: number for number, name in enumerate(weights.names)}
    sides = [[position[name] for name in index.require_all(side)] for side in (first, second)]
    difference = np.zeros(len(weights.design.names))
    difference[sides[0]] += 1
    difference[sides[1]] -= 1
    _warn_if_not_identified(weights, difference)
    if weights.has_merged:
        effects = _merged_contrasts(weights, difference, sides)
    else:
        effects = weights.pick([np.einsum("l,dlk->dk", difference, draws) for draws in weights.chains])
    named = {
        name: np.repeat(np.array([" + ".join(weights.names[label] for label in side)], dtype=object), weights.n_topics)
        for name, side in zip(("first", "second"), sides, strict=True)
    }
    return table_of_draws(weights, {**named, **weights.columns}, "effect", effects, interval)


def _merged_contrasts(weights: Weights, difference: NDArray[np.float64], sides: Sequence[Sequence[int]]) -> DrawnValues:
    """Return contrasts [draw, topic] of the log of alpha summed over the parts of a topic.

    Documents that have all labels of one side are compared with themselves with the labels of the other side. Without
    such documents, all documents are compared.
    """
    design = weights.design
    labels = [[label for label in side if not weights.is_number[label]] for side in sides]
    has = np.stack([(design.matrix[:, own].toarray() != 0).all(axis=1) for own in labels], axis=1)
    has = has * design.row_sizes[:, None].astype(np.float64)
    if not has.any():
        has[:, 1] = design.row_sizes

    def contrasts(draw: Draws, parts: Parts) -> NDArray[np.float64]:
        logs, change = design.matrix @ np.asarray(draw, np.float64), difference @ np.asarray(draw, np.float64)
        levels = log_sums(logs, parts)
        total = has[:, 0] @ (levels - log_sums(logs - change, parts))
        total += has[:, 1] @ (log_sums(logs + change, parts) - levels)
        return np.asarray(total / has.sum())

    return weights.compute(contrasts, 3 * design.n_rows * weights.chains[0].shape[2])


def expected_proportions(weights: Weights, interval: float) -> pd.DataFrame:
    """Return for each label and topic alpha / alpha[.], averaged over the training documents that have the label.

    The other labels of these documents are part of their alpha. The rows of numbers, which all documents have, are NaN.
    """
    sizes = weights.members.sum(axis=1)
    average = sparse.diags_array(np.divide(1, sizes, out=np.full(len(sizes), np.nan), where=sizes > 0))

    def proportions(draw: Draws, parts: Parts) -> NDArray[np.float64]:
        return add_parts(average @ (weights.members @ softmax(weights.design.matrix @ draw, axis=1)), parts)

    drawn = weights.compute(proportions, weights.design.n_rows * weights.chains[0].shape[2])
    return table_of_draws(weights, _named(weights), "proportion", drawn, interval)


def _named(weights: Weights) -> dict[str, ArrayLike]:
    return {
        weights.kind: np.repeat(np.array(weights.names, dtype=object), weights.n_topics),
        **{name: np.tile(column, len(weights.names)) for name, column in weights.columns.items()},
    }


def table_of_draws(
    weights: Weights, named: Mapping[str, ArrayLike], value: str, drawn: DrawnValues, interval: float
) -> pd.DataFrame:
    """Return means and intervals over the draws of all chains that have a topic, and with several chains their number.

    ``attrs["n_draws"]`` is the number of draws of all chains together.
    """
    import pandas as pd

    check_interval(interval)
    mean, low, high = (np.full(drawn[0].shape[1:], np.nan) for _ in range(3))
    needed = draws_needed(interval)
    fewest = math.inf
    for topics, own in by_chains(drawn, weights.places):
        pooled = own.reshape(-1, *own.shape[2:])
        mean[..., topics] = pooled.mean(axis=0)
        fewest = min(fewest, len(pooled))
        if weights.are_sampled and len(pooled) >= needed:
            ends = np.quantile(pooled, [(1 - interval) / 2, (1 + interval) / 2], axis=0, method="weibull")
            low[..., topics], high[..., topics] = ends
    if weights.are_sampled and fewest < needed:
        _warn_of_few(int(fewest), needed, interval)
    table = pd.DataFrame({**named, value: mean.ravel(), "low": low.ravel(), "high": high.ravel()})
    if len(weights.chains) > 1:
        table["chains"] = np.resize(weights.has.sum(axis=0), len(table))  # topics vary fastest
    table.attrs["n_draws"] = sum(map(len, drawn))
    return table


def check_interval(interval: float) -> None:
    """Raise InputError unless this is the probability of an interval."""
    if not 0 < as_number(interval) < 1:
        raise InputError(f"interval must lie between 0 and 1, not {interval!r}")


def draws_needed(interval: float) -> int:
    """Return the number of draws that hold the ends of an interval."""
    return math.ceil(2 / (1 - interval) - 1 - 1e-9)


def _warn_of_few(n_draws: int, needed: int, interval: float) -> None:
    """Warn that draws do not have the ends of an interval.

    A further draw lies below a quantile with the nominal probability if the quantile has the position p (n + 1) among n
    draws (Weibull). It must not be below the first.
    """
    widest = f"; the widest that {n_draws:,} draws have is {(n_draws - 1) / (n_draws + 1):.3g}" if n_draws > 1 else ""
    warn(
        f"an interval of {interval:g} needs {needed:,} draws or more, but there {'is' if n_draws == 1 else 'are'} "
        f"{n_draws:,}, so its ends are NaN: make n_iter (--iterations) larger{widest}"
    )


def _warn_if_not_identified(weights: Weights, difference: NDArray[np.float64]) -> None:
    """Warn if a contrast is not a linear combination of the label sets of training documents: it is not identified."""
    rows = weights.design.matrix.T.tocsr()
    residual = sparse.linalg.lsqr(rows, difference, atol=1e-10, btol=1e-10)[3]
    if residual > 1e-4:
        warn(
            f"the training data do not identify this contrast of {weights.kind}s: the prior decides its size. Compare "
            "sets that differ in labels of one kind, such as ['sport', '2019'] and ['politics', '2019']",
        )


def _warn_if_unknown(weights: Weights) -> None:
    """Warn of labels whose effects are not identified, with what they cannot be told apart from."""
    terms = weights.design.terms
    unknown = [weights.names[label] for label in np.flatnonzero(~weights.design.references.is_identified)]
    unknown = [name for name in unknown if terms is None or not terms.is_curve(name)]
    if unknown:
        shown = ", ".join(map(repr, unknown[:3])) + (" …" if len(unknown) > 3 else "")
        plural = "" if len(unknown) == 1 else "s"
        warn(
            f"the training data do not identify the effects of {len(unknown):,} {weights.kind}{plural} ({shown}), "
            f"which are NaN: such a {weights.kind} is in every {_ITEMS[weights.kind]}, or only occurs together with "
            "others"
        )
