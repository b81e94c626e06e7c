"""Draws of one or several chains in the form that ArviZ plots and sums up."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError
from metalda.evaluation.chains import align, load_arviz, match_topics, require_chains
from metalda.models.effects import center, feature_weights, label_weights
from metalda.training.loop import kept_sweeps

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

_DIMENSIONS = {
    "topic_share": ["topic"],
    "label_effect": ["label", "topic"],
    "feature_effect": ["feature", "topic"],
    "similarity": ["topic"],
}


def to_inference_data(models: TopicModel | Sequence[TopicModel]) -> Any:
    """The kept draws of a model, or of several chains of one, for ArviZ.

    Every chain numbers its topics in its own way, so the topics of each are put in the order of those of the first
    that they resemble most, as in :func:`diagnose_chains`.

    Parameters
    ----------
    models : fitted model, or list of fitted models
        Several must be fits of one model on one corpus with different seeds. Where chains kept different numbers of
        draws, the last ones are taken.

    Returns
    -------
    arviz.InferenceData, or from ArviZ 1 an xarray.DataTree
        ``posterior``: ``topic_share`` [topic], the share of the training words; ``label_effect`` [label, topic] and
        ``feature_effect`` [feature, topic], log weights beside the average label or feature, as in
        ``model.label_effects()``, where the model has such. ``sample_stats``: ``lp``, the log-likelihood per word as in
        ``model.history_``, where it is known. ``constant_data``: ``similarity`` [topic], the least of a topic to its
        partners in other chains; where it is low, chains have found different topics.

    Examples
    --------
    >>> from metalda import LDA, to_inference_data
    >>> texts = ["cat dog cat", "dog cat", "rain sun", "sun rain sun"] * 5
    >>> chains = [LDA(2, n_iter=40, thin=2, n_draws=8, random_state=s, verbose=False).fit(texts) for s in range(2)]
    >>> dict(to_inference_data(chains).posterior["topic_share"].sizes)
    {'chain': 2, 'draw': 8, 'topic': 2}
    """
    arviz = load_arviz("InferenceData")
    chains = list(models) if isinstance(models, Sequence) else [models]
    if not chains:
        raise InputError("no model: give one, or several chains of one")
    require_chains(chains)
    orders, similarity = match_topics(chains)
    drawn = [_quantities(model) for model in chains]
    likelihoods = [_kept_likelihoods(model) for model in chains]
    groups: dict[str, dict[str, Any]] = {
        "posterior": {
            name: align([own[name][..., order] for own, order in zip(drawn, orders, strict=True)]) for name in drawn[0]
        },
        "constant_data": {"similarity": similarity},
    }
    if all(len(own) == len(model.draws_) for own, model in zip(likelihoods, chains, strict=True)):
        groups["sample_stats"] = {"lp": align(likelihoods)}
    coords = {
        "topic": list(range(len(similarity))),
        "label": list(chains[0].label_names_),
        "feature": list(chains[0].feature_names_),
    }
    dims = {name: own for name, own in _DIMENSIONS.items() if any(name in group for group in groups.values())}
    coords = {name: values for name, values in coords.items() if any(name in own for own in dims.values())}
    if "posterior" in signature(arviz.from_dict).parameters:  # before version 1 every group was an argument
        return arviz.from_dict(**groups, coords=coords, dims=dims)
    return arviz.from_dict(groups, coords=coords, dims=dims)


def _quantities(model: TopicModel) -> dict[str, NDArray[np.float64]]:
    """What is drawn in a chain, as [draw, …, topic]."""
    totals = np.stack([draw.topic_totals for draw in model.draws_]).astype(np.float64)
    found = {"topic_share": totals / totals.sum(axis=1, keepdims=True)}
    if model.label_names_ and hasattr(model, "label_effects"):
        found["label_effect"] = center(label_weights(model.fitted_))
    if model.feature_names_:
        found["feature_effect"] = center(feature_weights(model.fitted_))
    return found


def _kept_likelihoods(model: TopicModel) -> NDArray[np.float64]:
    """The log-likelihood at the sweeps that were kept; the last one always is, also after Ctrl-C."""
    trace = np.asarray(model.fitted_.history["log_likelihood"], np.float64)
    kept = kept_sweeps(model.n_iter, model.burn_in, model.thin, model.n_draws)
    return trace[[sweep - 1 for sweep in sorted({*kept, len(trace)}) if 0 < sweep <= len(trace)]]
