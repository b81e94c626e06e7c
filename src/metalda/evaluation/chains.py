"""Whether several chains of one model have reached the same distribution: R-hat and effective sample size."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from metalda.errors import InputError, missing_extra
from metalda.evaluation.matching import match
from metalda.evaluation.stability import affinity_of
from metalda.models.effects import center, label_weights
from metalda.training.loop import count_burn_in

if TYPE_CHECKING:
    import pandas as pd

    from metalda.models.base import TopicModel

LOG_LIKELIHOOD, LABEL_EFFECT = "log_likelihood", "label_effect"
MIXED, NOT_MIXED, TOO_FEW, NOT_MATCHED = "mixed", "not mixed", "too few draws", "not matched"

GOOD_RHAT, BAD_RHAT, ESS_PER_CHAIN = 1.01, 1.1, 100  # Vehtari et al. (2021); above 1.1 no number of draws excuses it
LEAST_DRAWS = 4  # of a chain, for it to be split into halves that have a variance
LEAST_SIMILARITY = 0.5


def diagnose_chains(models: Sequence[TopicModel], *, verbose: bool = True) -> pd.DataFrame:
    """R-hat and effective sample size of the log-likelihood and of the effects of labels, over several chains.

    Chains are models fitted on the same corpus with the same parameters and different seeds. The log-likelihood has a
    value for every sweep after the burn-in. The effects of labels have one for every kept draw: with the default
    ``n_draws=15`` these are too few to say much, and the verdict says so. For a diagnosis fit with, say,
    ``n_iter=2000, thin=5, n_draws=200``.

    Two things must be put right before log lambda can be compared between chains. A raw weight is not identified
    against the default label's, so its distance from the average label is used, as in ``model.label_effects()``. And
    every chain numbers its topics in its own way, so the topics of each chain are matched with those of the first by
    their words (`stability`, by probabilities). Where a topic of the first chain has no likeness in another,
    chains have found different topics; then an R-hat of its effects means nothing, and the verdict is "not matched".

    Parameters
    ----------
    models : list of fitted models
        At least two; four or more are better.
    verbose : bool
        Show a progress bar, where there is a terminal.

    Returns
    -------
    DataFrame
        A row for the ``quantity`` log_likelihood, then a row for each label_effect, its ``label`` and its ``topic`` in
        the first chain; ``rhat`` (rank-normalised, split) and ``ess`` (bulk) as ArviZ computes them; the number of
        ``chains`` and of ``draws`` of each; the least ``similarity`` of the topic to its partners; and the ``verdict``:
        "not matched" (similarity below 0.5), "not mixed" (R-hat above 1.1, or above 1.01 with enough draws), "too few
        draws" (effective sample size below 100 a chain), or "mixed".

    Examples
    --------
    >>> from metalda import MetaLDA, diagnose_chains
    >>> texts, labels = ["cat dog cat", "dog cat", "rain sun", "sun rain sun"] * 5, ["pets", "pets", "sky", "sky"] * 5
    >>> chains = [MetaLDA(2, n_iter=40, random_state=seed, verbose=False).fit(texts, labels) for seed in range(2)]
    >>> table = diagnose_chains(chains)
    >>> table["quantity"].tolist()
    ['log_likelihood', 'label_effect', 'label_effect', 'label_effect', 'label_effect']
    >>> set(table["verdict"][1:])  # two draws of each chain were kept
    {'too few draws'}
    """
    import pandas as pd

    arviz = load_arviz("R-hat and effective sample size")
    models = list(models)
    if len(models) < 2:
        raise InputError(f"chains are compared with each other, and there is {len(models)}: give two models or more")
    require_chains(models)
    rows = [{"quantity": LOG_LIKELIHOOD, **_judge(_likelihoods(models), arviz)}]
    effects = _matched_effects(models)
    if effects is not None:
        rows += _diagnose_effects(effects, models[0].label_names_, arviz, verbose)
    columns = ["quantity", "label", "topic", "rhat", "ess", "chains", "draws", "similarity", "verdict"]
    return pd.DataFrame(rows, columns=columns).astype({"topic": "Int64", "similarity": "float64"})


class Effects(NamedTuple):
    """Effects of labels in several chains whose topics stand in the same order."""

    values: NDArray[np.float64]  # [chain, draw, label, topic]
    similarity: NDArray[np.float64]  # of each topic of the first chain, the least to its partners


def load_arviz(purpose: str) -> Any:
    """ArviZ, of which `rhat` and `ess` of an array [chain, draw] are the same in all versions."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # versions before 1 announce it at every import
            import arviz
    except ImportError:
        raise missing_extra("arviz", "chains", purpose) from None
    return arviz


def require_chains(models: Sequence[TopicModel]) -> None:
    """InputError unless these are fits of one model on one corpus with different seeds."""
    for model in models:
        check_is_fitted(model)
    first = models[0]
    for i, model in enumerate(models[1:], start=1):
        for what, same in (
            ("kind of model", type(model) is type(first)),
            ("vocabulary", model.vocabulary_ == first.vocabulary_),
            ("number of documents", len(model.doc_topics_) == len(first.doc_topics_)),
            ("number of topics", len(model.components_) == len(first.components_)),
            ("set of labels", model.label_names_ == first.label_names_),
        ):
            if not same:
                raise InputError(
                    f"model {i} has another {what} than model 0; chains are fits of one model on one corpus"
                )
        if any(model.seed_ == other.seed_ for other in models[:i]):
            raise InputError(
                f"model {i} has the seed of another, so it is the same chain; give each its random_state (--seed)"
            )


def _likelihoods(models: Sequence[TopicModel]) -> NDArray[np.float64]:
    """The log-likelihood [chain, sweep] after the burn-in."""
    burn_ins = [count_burn_in(model.n_iter, model.burn_in) for model in models]
    return align([m.fitted_.history["log_likelihood"][burn_in:] for m, burn_in in zip(models, burn_ins, strict=True)])


def _matched_effects(models: Sequence[TopicModel]) -> Effects | None:
    """Effects of labels, the topics of each chain in the order of their partners in the first; None without labels."""
    first = models[0]
    if not first.label_names_ or not hasattr(first, "label_effects"):
        return None
    orders, similarity = match_topics(models)
    values = []
    for model, order in zip(models, orders, strict=True):
        values.append(center(label_weights(model.fitted_))[:, :, order])
    return Effects(align(values), similarity)


def match_topics(models: Sequence[TopicModel]) -> tuple[list[NDArray[np.int64]], NDArray[np.float64]]:
    """For each chain its topics in the order of their partners in the first, and the least similarity of partners."""
    first = models[0]
    orders, similarity = [np.arange(len(first.components_))], np.ones(len(first.components_))
    for model in models[1:]:
        _, partners, similarities = match(affinity_of(first, model))
        orders.append(partners)
        similarity = np.minimum(similarity, similarities)
    return orders, similarity


def align(chains: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Stacked; of chains of different lengths the last draws."""
    n_draws = min(map(len, chains))
    return np.stack([chain[len(chain) - n_draws :] for chain in chains])


def _diagnose_effects(effects: Effects, labels: Sequence[str], arviz: Any, verbose: bool) -> list[dict[str, Any]]:
    """A row for each label and topic."""
    from tqdm import tqdm

    shown = verbose and sys.stderr is not None and sys.stderr.isatty()
    cells = [(label, topic) for label in range(len(labels)) for topic in range(len(effects.similarity))]
    rows = []
    for label, topic in tqdm(cells, desc="effects", disable=not shown, dynamic_ncols=True, file=sys.stderr):
        row = {"quantity": LABEL_EFFECT, "label": labels[label], "topic": topic}
        row |= _judge(effects.values[:, :, label, topic], arviz)
        row["similarity"] = float(effects.similarity[topic])
        if row["similarity"] < LEAST_SIMILARITY:
            row["verdict"] = NOT_MATCHED
        rows.append(row)
    return rows


def _judge(values: NDArray[np.float64], arviz: Any) -> dict[str, Any]:
    """R-hat, effective sample size and verdict of a quantity [chain, draw]."""
    n_chains, n_draws = values.shape
    rhat = ess = float("nan")
    if n_draws >= LEAST_DRAWS:
        with np.errstate(invalid="ignore", divide="ignore"):  # a quantity that never moves has no R-hat
            rhat, ess = float(arviz.rhat(values)), float(arviz.ess(values))
    return {"rhat": rhat, "ess": ess, "chains": n_chains, "draws": n_draws, "verdict": verdict(rhat, ess, n_chains)}


def verdict(rhat: float, ess: float, n_chains: int) -> str:
    """What R-hat and the effective sample size say; too few draws where there is neither."""
    if rhat > BAD_RHAT:
        return NOT_MIXED
    if not ess >= ESS_PER_CHAIN * n_chains:
        return TOO_FEW
    return NOT_MIXED if rhat > GOOD_RHAT else MIXED
