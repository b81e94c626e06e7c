"""Chains of one model: convergence diagnostics (R-hat, effective sample size), and their draws for ArviZ."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError, missing_extra
from metalda.models.chains import bhattacharyya, find_partners
from metalda.models.estimator import require_fitted
from metalda.models.weights import center, label_weights
from metalda.training.schedule import kept_iterations
from metalda.utils.convergence import bulk_ess, rank_rhat

if TYPE_CHECKING:
    import pandas as pd
    from arviz import InferenceData

    from metalda.models.base import TopicModel

LOG_LIKELIHOOD, LABEL_EFFECT = "log_likelihood", "label_effect"
MIXED, NOT_MIXED, TOO_FEW = "mixed", "not mixed", "too few draws"
NOT_MATCHED, NOT_IDENTIFIED = "not matched", "not identified"

GOOD_RHAT, BAD_RHAT, ESS_PER_CHAIN = (
    1.01,
    1.1,
    100,
)  # Vehtari et al. (2021); above 1.1 more draws do not help

_DIMENSIONS = {
    "topic_share": ["topic"],
    "label_effect": ["label", "topic"],
    "feature_effect": ["feature", "topic"],
    "similarity": ["topic"],
}


def diagnose_chains(models: TopicModel | Sequence[TopicModel]) -> pd.DataFrame:
    """Compute R-hat and effective sample size of the log-likelihood and of label effects, over several chains.

    Chains are those of a fit with ``n_chains``, or models fitted on the same corpus with the same parameters and
    different seeds. The log-likelihood and label effects have a value for every iteration after the burn-in.

    Raw weights log lambda cannot be compared between chains, for two reasons. First, they are not identified relative
    to the weight of the default label, so effects are used, as in ``model.label_effects()``. Second, every chain
    numbers its topics differently, so the topics of each chain are matched with those of the first by their words. Two
    topics are the same if each is the most similar topic to the other, and their similarity (the Bhattacharyya
    coefficient of their word probabilities) is 0.8 or more. If a topic of the first chain has no such partner in
    another chain, the chains have found different topics. R-hat then has no meaning, and the verdict is "not matched".

    Parameters
    ----------
    models : fitted model with several chains, or list of fitted models
        At least two chains; four or more are better.

    Returns
    -------
    DataFrame
        A row for the ``quantity`` log_likelihood, then a row for each label_effect, its ``label`` and its ``topic`` in
        the first chain; ``rhat`` (rank-normalized, split) and ``ess`` (bulk) as in ArviZ; the number of ``chains`` and
        of ``draws`` of each; the smallest ``similarity`` of the topic to its partners; and the ``verdict``:
        "not matched" (see above), "not identified" (see ``label_effects``), "not mixed" (R-hat above 1.1, or above
        1.01 with enough draws), "too few draws" (effective sample size below 100 per chain), or "mixed".

    Examples
    --------
    >>> from metalda import MetaLDA, diagnose_chains
    >>> texts, labels = ["cat dog cat", "dog cat", "rain sun", "sun rain sun"] * 5, ["pets", "pets", "sky", "sky"] * 5
    >>> model = MetaLDA(2, n_iter=40, n_chains=2, random_state=0, verbose=False).fit(texts, labels)
    >>> table = diagnose_chains(model)
    >>> table["quantity"].tolist()
    ['log_likelihood', 'label_effect', 'label_effect', 'label_effect', 'label_effect']
    >>> table["draws"].tolist()
    [20, 20, 20, 20, 20]
    """
    import pandas as pd

    chains = all_chains(models)
    if len(chains) < 2:
        raise InputError(
            f"chains are compared with each other: fit with n_chains (--chains) of 2 or more, or give two models or "
            f"more, not {len(chains)}"
        )
    require_chains(chains)
    columns = ["quantity", "label", "topic", "rhat", "ess", "chains", "draws", "similarity", "verdict"]
    types = {"label": object, "topic": "Int64", "similarity": "float64"}
    table = pd.DataFrame([_diagnose_likelihood(_likelihoods(chains))], columns=columns).astype(types)
    effects = _matched_effects(chains)
    if effects is None:
        return table
    own = _diagnose_effects(effects, chains[0].label_names_).astype(types)
    terms = chains[0].fitted_.labels.terms
    if terms is not None and terms.curves:
        own = own[[not terms.is_curve(label) for label in own["label"]]]
    return pd.concat([table, own], ignore_index=True)


def to_inference_data(models: TopicModel | Sequence[TopicModel]) -> InferenceData:
    """Return the kept draws of a model, or of several chains of it, for ArviZ.

    The topics of each chain are put in the order of the most similar topics of the first, as in
    :func:`diagnose_chains`.

    Parameters
    ----------
    models : fitted model, or list of fitted models
        A model has one chain or several. Several models must be fits on one corpus with different seeds. Where chains
        have different numbers of draws, the last ones are used.

    Returns
    -------
    arviz.InferenceData, or from ArviZ 1 an xarray.DataTree
        ``posterior``: ``topic_share`` [topic], the share of the training words; ``label_effect`` [label, topic] and
        ``feature_effect`` [feature, topic], log weights relative to the average label or feature, as in
        ``model.label_effects()``, if the model has them. ``sample_stats``: ``lp``, the log-likelihood per word as in
        ``model.history_``, if it is known. ``constant_data``: ``similarity`` [topic], the smallest of a topic to its
        partners in other chains; if it is low, the chains have found different topics.

    Examples
    --------
    >>> from metalda import LDA, to_inference_data
    >>> texts = ["cat dog cat", "dog cat", "rain sun", "sun rain sun"] * 5
    >>> model = LDA(2, n_iter=40, thin=2, n_draws=8, n_chains=2, random_state=0, verbose=False).fit(texts)
    >>> dict(to_inference_data(model).posterior["topic_share"].sizes)
    {'chain': 2, 'draw': 8, 'topic': 2}
    """
    arviz = _load_arviz("InferenceData")
    chains = all_chains(models)
    if not chains:
        raise InputError("no model: give a fitted model, or several chains of one")
    require_chains(chains)
    orders, similarity, _ = _match_chains(chains)
    drawn = [_quantities(model) for model in chains]
    likelihoods = [_kept_likelihoods(model) for model in chains]
    groups: dict[str, dict[str, object]] = {
        "posterior": {
            name: _stack_last([own[name][..., order] for own, order in zip(drawn, orders, strict=True)])
            for name in drawn[0]
        },
        "constant_data": {"similarity": similarity},
    }
    if all(len(own) == len(model.draws_) for own, model in zip(likelihoods, chains, strict=True)):
        groups["sample_stats"] = {"lp": _stack_last(likelihoods)}
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


class MatchedEffects(NamedTuple):
    """Label effects of several chains, their topics in the same order."""

    values: NDArray[np.float64]  # [chain, draw, label, topic]
    similarity: NDArray[np.float64]  # [topic of the first chain], the smallest to its partners
    is_matched: NDArray[np.bool_]  # [topic of the first chain], in all chains


def _load_arviz(purpose: str) -> Any:
    """Import ArviZ."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # versions before 1 announce version 1 at every import
            import arviz
    except ImportError:
        raise missing_extra("arviz", "chains", purpose) from None
    return arviz


def all_chains(models: TopicModel | Sequence[TopicModel]) -> list[TopicModel]:
    """Return the chains of a model, or of several models."""
    given = models if isinstance(models, Sequence) else [models]
    return [chain for model in given for chain in model.chains_]


def require_chains(models: Sequence[TopicModel]) -> None:
    """Raise an InputError unless these are fits of one model on one corpus with different seeds."""
    for model in models:
        require_fitted(model)
    first = models[0]
    for i, model in enumerate(models[1:], start=1):
        for what, same in (
            ("kind of model", type(model) is type(first)),
            ("vocabulary", model.vocabulary_ == first.vocabulary_),
            ("number of documents", len(model.doc_topics_) == len(first.doc_topics_)),
            ("number of topics", model.fitted_.trained.n_topics == first.fitted_.trained.n_topics),
            ("set of labels", model.label_names_ == first.label_names_),
        ):
            if not same:
                raise InputError(
                    f"model {i} has another {what} than model 0; chains are fits of one model on one corpus"
                )
        if any(model.seed_ == other.seed_ for other in models[:i]):
            raise InputError(
                f"model {i} has the seed of another, so it is the same chain; give each its own random_state (--seed)"
            )


def _likelihoods(models: Sequence[TopicModel]) -> NDArray[np.float64]:
    """Return the log-likelihood [chain, iteration] after the burn-in."""
    traces = [model.fitted_.history["log_likelihood"][model.n_burn_in :] for model in models]
    return _stack_last(traces)


def _matched_effects(models: Sequence[TopicModel]) -> MatchedEffects | None:
    """Return label effects, with topics in the order of their partners in the first chain; None without labels."""
    first = models[0]
    if not first.label_names_ or not hasattr(first, "label_effects"):
        return None
    orders, similarity, is_matched = _match_chains(models)
    values = []
    for model, order in zip(models, orders, strict=True):
        weights = label_weights(model.fitted_)
        values.append(center(weights.chains[0], weights.design)[:, :, order])
    return MatchedEffects(_stack_last(values), similarity, is_matched)


class MatchedChains(NamedTuple):
    """The topics of several chains."""

    orders: list[NDArray[np.int64]]  # of each chain: its topics in the order of their partners in the first
    similarity: NDArray[np.float64]  # [topic of the first chain], the smallest to its partners
    is_matched: NDArray[np.bool_]  # [topic of the first chain], whether all partners are the same topic


def _match_chains(models: Sequence[TopicModel]) -> MatchedChains:
    first = models[0]
    n_topics = first.fitted_.trained.n_topics
    groups = first._topic_groups(n_topics)
    orders, similarity, is_matched = [np.arange(n_topics)], np.ones(n_topics), np.ones(n_topics, bool)
    for model in models[1:]:
        partners = find_partners(bhattacharyya(first.fitted_.trained.phi, model.fitted_.trained.phi), groups)
        orders.append(partners.topics)
        similarity = np.minimum(similarity, partners.similarity)
        is_matched &= partners.are_same
    return MatchedChains(orders, similarity, is_matched)


def _stack_last(chains: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Stack chains; of chains of different lengths take the last draws."""
    n_draws = min(map(len, chains))
    return np.stack([chain[len(chain) - n_draws :] for chain in chains])


def _diagnose_effects(effects: MatchedEffects, labels: Sequence[str]) -> pd.DataFrame:
    """Return a row for each label and topic."""
    import pandas as pd

    n_chains, n_draws, n_labels, n_topics = effects.values.shape
    rhat, ess = rank_rhat(effects.values).ravel(), bulk_ess(effects.values).ravel()
    verdicts = np.array([verdict(*own, n_chains) for own in zip(rhat, ess, strict=True)], dtype=object)
    verdicts[np.isnan(effects.values[0, 0]).ravel()] = NOT_IDENTIFIED
    verdicts[np.tile(~effects.is_matched, n_labels)] = NOT_MATCHED
    return pd.DataFrame(
        {
            "quantity": LABEL_EFFECT,
            "label": np.repeat(np.array(labels, dtype=object), n_topics),
            "topic": np.tile(np.arange(n_topics), n_labels),
            "rhat": rhat,
            "ess": ess,
            "chains": n_chains,
            "draws": n_draws,
            "similarity": np.tile(effects.similarity, n_labels),
            "verdict": verdicts,
        }
    )


def _diagnose_likelihood(values: NDArray[np.float64]) -> dict[str, object]:
    """Return the row of the log-likelihood [chain, draw]."""
    n_chains, n_draws = values.shape
    rhat, ess = float(rank_rhat(values)), float(bulk_ess(values))
    return {
        "quantity": LOG_LIKELIHOOD,
        "rhat": rhat,
        "ess": ess,
        "chains": n_chains,
        "draws": n_draws,
        "verdict": verdict(rhat, ess, n_chains),
    }


def verdict(rhat: float, ess: float, n_chains: int) -> str:
    """Return the verdict for R-hat and the effective sample size; "too few draws" if both are NaN."""
    if rhat > BAD_RHAT:
        return NOT_MIXED
    if not ess >= ESS_PER_CHAIN * n_chains:
        return TOO_FEW
    return NOT_MIXED if rhat > GOOD_RHAT else MIXED


def _quantities(model: TopicModel) -> dict[str, NDArray[np.float64]]:
    """Return the quantities of a chain, as [draw, …, topic]."""
    totals = np.stack([draw.topic_totals for draw in model.draws_]).astype(np.float64)
    found = {"topic_share": totals / totals.sum(axis=1, keepdims=True)}
    if model.label_names_ and hasattr(model, "label_effects"):
        drawn = np.stack([draw.log_doc_weights for draw in model.draws_])
        found["label_effect"] = center(drawn, model.fitted_.labels)
    if model.feature_names_:
        drawn = np.stack([draw.log_word_weights for draw in model.draws_])
        found["feature_effect"] = center(drawn, model.fitted_.features)
    return found


def _kept_likelihoods(model: TopicModel) -> NDArray[np.float64]:
    """Return the log-likelihood at the kept iterations; the last one is always kept, also after Ctrl-C."""
    trace = np.asarray(model.fitted_.history["log_likelihood"], np.float64)
    n_iter = len(trace) if isinstance(model.n_iter, str) else model.n_iter
    kept = kept_iterations(n_iter, model.n_burn_in, model.thin, model.n_draws)
    return trace[[number - 1 for number in sorted({*kept, len(trace)}) if 0 < number <= len(trace)]]
