"""How many topics: one model with several numbers of them, and several seeds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metalda.corpus import Corpus
from metalda.errors import InputError
from metalda.evaluation.candidates import Candidate, find_candidates
from metalda.evaluation.comparison import Comparison, as_seeds, run_comparison
from metalda.evaluation.runs import Judging
from metalda.models.base import TopicModel
from metalda.models.registry import parameters_of

if TYPE_CHECKING:
    import pandas as pd


def search_k(
    corpus: Corpus,
    n_components: Iterable[int] = (10, 20, 50, 100),
    model: str | TopicModel = "metalda",
    *,
    test: Corpus | None = None,
    test_size: float = 0.2,
    seeds: int | Sequence[int] = 3,
    folder: str | os.PathLike[str] | None = None,
    draws: str = "mean",
    unseen: str = "ignore",
    checkpoint_every: int = 100,
    by_run: bool = False,
    verbose: bool = True,
    **parameters: Any,
) -> pd.DataFrame:
    """Fit a model with several numbers of topics, several times each, and judge every one.

    No figure chooses for you: perplexity mostly falls with more topics, while stability and exclusivity show from where
    on topics come apart or repeat each other. Look at them together: `plot_search`.

    Parameters
    ----------
    corpus : Corpus
        The documents; labels are used if the model can.
    n_components : list of int
        The numbers of topics to try.
    model : str or unfitted model
        A name as in `compare`, such as ``"metalda:doc_prior=default"``, or a model of your own.
    test, test_size, seeds, draws, unseen, checkpoint_every, verbose
        As in `compare`.
    folder : path, optional
        Where to keep the result of each run, as `compare` does, and in the same form: the same call later goes
        on where it was, and a call with more numbers or seeds does only what is new.
    by_run : bool
        A row per number of topics and seed, instead of means and standard deviations.
    **parameters
        Of the model, if it is given by name: ``n_iter=500``, ``word_features=…``.

    Returns
    -------
    DataFrame
        A row per number of ``topics``, in rising order, with the columns of `compare`: means over seeds, and
        standard deviations as ``…_sd``.

    Examples
    --------
    >>> from metalda import Corpus, search_k
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat dog", "rain sun rain", "sun rain sun"] * 5)
    >>> table = search_k(corpus, [2, 3], "lda", seeds=2, n_iter=20)
    >>> table["topics"].tolist()
    [2, 3]
    """
    comparison = run_comparison(
        corpus,
        candidates_by_size(model, n_components, parameters),
        test=test,
        test_size=test_size,
        seeds=as_seeds(seeds),
        folder=None if folder is None else Path(folder),
        judging=Judging(draws, unseen),
        checkpoint_every=checkpoint_every,
        verbose=verbose,
    )
    return runs_by_size(comparison) if by_run else table_by_size(comparison)


def candidates_by_size(
    model: str | TopicModel, n_components: Iterable[int], parameters: Mapping[str, Any]
) -> list[Candidate]:
    """The model once for each number of topics, the smallest first."""
    base, *others = find_candidates(model if isinstance(model, str) else [model], parameters)
    if others:
        raise InputError(f"one model is searched at a time, and these are several: {model}")
    kind = type(base.model)
    if "n_components" not in parameters_of(kind):
        raise InputError(f"{base.name}: there is nothing to search: its labels decide the number of topics")
    if "n_components" in parameters or "n_components=" in base.name:
        raise InputError(f"{base.name}: the numbers of topics to try are given once, beside the model")
    own = base.model.get_params(deep=False)
    joint = "," if ":" in base.name else ":"
    candidates = []
    for size in sizes(n_components):
        candidate = Candidate(f"{base.name}{joint}n_components={size}", kind(**{**own, "n_components": size}))
        with candidate.named_errors():
            candidate.model.validate()
        candidates.append(candidate)
    return candidates


def sizes(n_components: Iterable[int]) -> list[int]:
    """Different numbers of topics, in rising order."""
    given = list(n_components) if isinstance(n_components, Iterable) else [n_components]
    if not given or isinstance(n_components, str) or not all(isinstance(size, Integral) for size in given):
        raise InputError(f"n_components={n_components!r}: give the numbers of topics to try, such as [10, 20, 50]")
    for size in (size for i, size in enumerate(given) if size in given[:i]):
        raise InputError(f"{size} topics are given twice; give different numbers of topics")
    return sorted(int(size) for size in given)


def table_by_size(comparison: Comparison) -> pd.DataFrame:
    """A row per number of topics."""
    return comparison.by_model().drop(columns="model").set_index("topics").reset_index()


def runs_by_size(comparison: Comparison) -> pd.DataFrame:
    """A row per number of topics and seed."""
    return comparison.by_run().drop(columns="model").set_index("topics").reset_index()
