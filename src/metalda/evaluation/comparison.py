"""Compare several models, or numbers of topics, on one corpus: every model with every seed, in runs that are saved."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import product
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from metalda.corpus import Corpus
from metalda.errors import InputError
from metalda.evaluation.clustering import hide_labels
from metalda.evaluation.matching import word_stability
from metalda.evaluation.measures import MEASURES, PerplexityOptions, Split, measure_model
from metalda.evaluation.named_models import GivenModels, NamedModel, name_models
from metalda.evaluation.runs import InterruptedRuns, RunStore, fit_whole
from metalda.meta import Embeddings, as_word_features
from metalda.models.base import TopicModel
from metalda.models.fitted import Parameters
from metalda.models.registry import parameters_of
from metalda.models.saving import fingerprint, fingerprint_labels
from metalda.storage import check_writable, replacing, write_document
from metalda.storage.manifest import package_version
from metalda.utils.checks import JsonObject
from metalda.utils.csv_writer import write_csv
from metalda.utils.progress import progress_bar

if TYPE_CHECKING:
    import pandas as pd

FIGURES = (*MEASURES, "stability")  # the last one needs all runs of a model
_VERSION = 4  # of the measures; incremented when the computation of a measure changes
_WITHOUT_EFFECT = ("vocabulary", "verbose")


@dataclass(frozen=True)
class ComparisonRun:
    """Everything that determines the measures of one fit, including its times."""

    metalda: str
    measures: int
    model: str
    parameters: dict[str, str | float | None]
    train: str
    test: str
    hidden: str | None
    draws: str
    unseen: str

    @classmethod
    def of(cls, model: TopicModel, split: Split, options: PerplexityOptions) -> ComparisonRun:
        """Describe the fit of a model on the training documents of a split."""
        given = model.get_params(deep=False)
        parameters = {name: _plain(name, value) for name, value in given.items() if name not in _WITHOUT_EFFECT}
        return cls(
            package_version(),
            _VERSION,
            type(model).__name__,
            parameters,
            *split.fingerprints,
            None if split.hidden is None else fingerprint_labels(split.hidden),
            options.draws,
            options.unseen,
        )

    @property
    def file(self) -> str:
        """Return the name of the file, which all runs of a comparison share."""
        return "runs"


def _plain(name: str, value: object) -> str | float | None:
    """Return a parameter as plain data; large ones as a fingerprint."""
    if name == "word_features" and value is not None:
        return fingerprint(*as_word_features(value).to_arrays()[1].values())  # type: ignore[union-attr]
    if isinstance(value, Embeddings):
        return fingerprint(*value.to_arrays()[1].values())
    if isinstance(value, np.ndarray):
        return fingerprint(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)  # 1.0 is the same as 1
    if isinstance(value, str | int | float | None):
        return value
    raise InputError(f"{name}={value!r}: a comparison takes numbers and names as parameters")


@dataclass
class Comparison:
    """The runs so far, each a dictionary: model, seed, the measures, and the top words of each topic."""

    settings: dict[str, object]  # common to all runs
    runs: list[JsonObject] = field(default_factory=list)
    n_found: int = 0  # runs that an earlier call had saved

    def by_run(self) -> pd.DataFrame:
        """Return a row per model and seed."""
        import pandas as pd

        columns = ["model", "seed", "topics", *MEASURES, "label_measure"]
        table = pd.DataFrame(self.runs, columns=columns).assign(stability=self._stability())
        return table.astype(dict.fromkeys(FIGURES, "float64"))

    def _stability(self) -> list[float]:
        """Return the agreement of the topics of each run with those of the model's other seeds."""
        scores = [float("nan")] * len(self.runs)
        names = [each["model"] for each in self.runs]
        for name in set(names):
            own = [i for i, other in enumerate(names) if other == name]
            for i, score in zip(own, word_stability([self.runs[i]["top_words"] for i in own]), strict=True):
                scores[i] = score
        return scores

    def by_model(self) -> pd.DataFrame:
        """Return a row per model: means over seeds, and standard deviations as ``…_sd``."""
        groups = self.by_run().groupby("model", sort=False)
        table = groups.agg(runs=("seed", "size"), topics=("topics", "first"))
        for measure in FIGURES:
            table[measure], table[f"{measure}_sd"] = groups[measure].mean(), groups[measure].std(ddof=1)
        table.loc[table["runs"] < 3, "stability_sd"] = float("nan")  # the agreement of two runs is one number
        return table.assign(label_measure=groups["label_measure"].first()).reset_index()

    def to_plain(self) -> JsonObject:
        """Return both tables as plain data; None if a measure does not apply."""
        tables = {"models": self.by_model(), "runs": self.by_run()}
        rows = {name: t.astype(object).where(t.notna(), None).to_dict("records") for name, t in tables.items()}
        return {"settings": self.settings, **rows}

    def save(self, folder: Path) -> None:
        """Write ``comparison.csv``, with guards against formulas, and ``comparison.json``."""
        table = self.by_model()
        with replacing(folder / "comparison.csv", "x", encoding="utf-8", newline="") as file:
            write_csv(file, list(table.columns), table.to_numpy(object))
        write_document(folder / "comparison.json", "comparison", self.to_plain())


def compare(
    corpus: Corpus,
    models: GivenModels,
    *,
    hidden_labels: object = None,
    test: Corpus | None = None,
    test_size: float = 0.2,
    seeds: int | Sequence[int] = 3,
    folder: str | os.PathLike[str] | None = None,
    draws: str = "mean",
    unseen: str = "ignore",
    checkpoint_every: int = 100,
    by_run: bool = False,
    verbose: bool = True,
    **parameters: object,
) -> pd.DataFrame:
    """Fit several models on one corpus, several times each, and measure them on held-out documents.

    Parameters
    ----------
    corpus : Corpus
        The documents. GivenModels that learn from labels use its labels.
    models : str, list or dict
        Names as on the command line, with parameters where needed: ``"metalda,lda"``,
        ``["metalda", "metalda:doc_prior=default,word_prior=0.01"]``; or unfitted models, in a dict to give them names.
    hidden_labels : str or labels, optional
        Labels that no model sees, to compare the topics with: the name of a label column of the corpus, or labels of
        its documents in any form that `Corpus.from_texts` takes. The result then has ``nmi`` and ``purity``.
    test : Corpus, optional
        Held-out documents. By default each seed holds out a different part of the corpus.
    test_size : float or int
        The held-out part: a share, or a number of documents.
    seeds : int or list of int
        Number of runs of each model (with the seeds 0, 1, …), or the seeds themselves.
    folder : path, optional
        Folder for the result of each run (``runs.jsonl``), a checkpoint of the current run, and the table as
        ``comparison.csv`` and ``comparison.json``. The same call resumes from there, and repeats no finished run.
    draws : {"mean", "last", "each"}
        How predictions average over draws, as in `MetaLDA.perplexity`.
    unseen : {"ignore", "features"}
        Treatment of out-of-vocabulary words, as in `MetaLDA.perplexity`.
    checkpoint_every : int
        Iterations between checkpoints of the current run, if there is a folder.
    by_run : bool
        Return a row per model and seed, instead of means and standard deviations by model.
    verbose : bool
        Show a progress bar, on a terminal or in a notebook.
    **parameters
        Parameters of all models given by name that have them: ``n_components=50``, ``n_iter=500``,
        ``word_features=…``.

    Returns
    -------
    DataFrame
        ``perplexity`` of the held-out documents with their labels given; ``coherence``, the mean NPMI of a topic's ten
        top words in the training documents, without background topics; ``background``, the share of these in the
        training tokens; ``diversity``, the share of distinct words among the 25 top words of all
        topics; ``exclusivity``, how exclusively the ten top words of a topic belong to it (`exclusivity`);
        ``label_score``, the quality of labels predicted by logistic regression from topic proportions that were
        inferred without labels, measured (``label_measure``) as accuracy or, where documents have several labels, as
        micro-F1; ``label_baseline``, the same for logistic regression on the words (tf-idf), without topics; ``nmi``
        and ``purity``, the agreement of the most probable topics of the training documents with their hidden labels
        (`label_agreement`); ``seconds_per_iteration``, the mean over the second half of the iterations, since the first
        one may include compilation; and ``stability``, the agreement of the seeds' topics by their ten top words
        (`stability`).

    Examples
    --------
    >>> from metalda import Corpus, compare
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat dog", "rain sun rain", "sun rain sun"] * 5)
    >>> table = compare(corpus, "metalda,lda", seeds=2, n_components=2, n_iter=20)
    >>> list(table["model"])
    ['metalda', 'lda']
    """
    comparison = run_comparison(
        corpus,
        name_models(models, parameters),
        hidden_labels=hidden_labels,
        test=test,
        test_size=test_size,
        seeds=as_seeds(seeds),
        folder=None if folder is None else Path(folder),
        options=PerplexityOptions(draws, unseen),
        checkpoint_every=checkpoint_every,
        verbose=verbose,
    )
    return comparison.by_run() if by_run else comparison.by_model()


def run_comparison(
    corpus: Corpus,
    models: Sequence[NamedModel],
    *,
    hidden_labels: object = None,
    test: Corpus | None,
    test_size: float,
    seeds: Sequence[int],
    folder: Path | None,
    options: PerplexityOptions,
    checkpoint_every: int = 100,
    verbose: bool = True,
) -> Comparison:
    """Run every model with every seed. Ctrl-C raises InterruptedRuns."""
    if folder is not None:
        check_writable(folder, "comparison")
    if test is not None and isinstance(hidden_labels, str):
        test, _ = hide_labels(test, hidden_labels)
    corpus, hidden = hide_labels(corpus, hidden_labels)
    fixed = None if test is None else Split.of(corpus, test, hidden)

    from sklearn.base import clone

    @lru_cache(maxsize=1)
    def split_by(seed: int) -> Split:
        if fixed is not None:
            return fixed
        train, held_out = corpus.split(test_size, random_state=seed)
        # the same documents, since the split depends only on their number
        own = None if hidden is None else corpus.with_labels(hidden).split(test_size, random_state=seed)[0].labels
        return Split.of(train, held_out, own)

    _require_runnable(models, split_by(seeds[0]).train)
    settings = {"documents": len(corpus), "words": corpus.n_tokens, "seeds": list(seeds), **asdict(options)}
    comparison, n_runs = Comparison(settings), len(seeds) * len(models)
    if folder is not None:
        folder.mkdir(exist_ok=True)
        if not (folder / "comparison.json").exists():  # a later call recognizes the folder by this file
            comparison.save(folder)
    store = None if folder is None else RunStore(folder)
    try:
        with progress_bar(verbose=verbose, total=n_runs, desc="runs", unit="run") as bar:
            for seed, (name, estimator) in product(seeds, models):  # all models with the first seed come first
                bar.set_postfix_str(f"{name}, seed {seed}")
                model = clone(estimator).set_params(random_state=seed, verbose=False)
                result, found = _find_or_run(model, split_by(seed), options, store, checkpoint_every)
                comparison.runs.append({"model": name, "seed": seed, **result})
                comparison.n_found += found
                if folder is not None:
                    comparison.save(folder)
                bar.update()
    except KeyboardInterrupt:
        raise InterruptedRuns(len(comparison.runs), n_runs, folder) from None
    return comparison


def as_seeds(seeds: int | Sequence[int]) -> list[int]:
    """Return the seeds 0, 1, … for a number of seeds, or the seeds given."""
    result = list(range(seeds)) if isinstance(seeds, Integral) else list(seeds)  # type: ignore[arg-type]
    if not result or len(set(result)) < len(result) or not all(isinstance(seed, Integral) for seed in result):
        raise InputError(f"seeds={seeds!r}: give a number of seeds, at least 1, or a list of different whole numbers")
    if not all(0 <= seed < 2**32 for seed in result):
        raise InputError(f"seeds={seeds!r}: seeds are from 0 to 2**32 - 1")
    return [int(seed) for seed in result]


def _require_runnable(models: Sequence[NamedModel], train: Corpus) -> None:
    """Raise an InputError for missing labels or word vectors before the first model is fitted."""
    for each in models:
        with each.named_errors():
            each.model.validate(train)


def _find_or_run(
    model: TopicModel, split: Split, options: PerplexityOptions, store: RunStore | None, checkpoint_every: int
) -> tuple[JsonObject, bool]:
    """Return the result of a run, and whether it had been saved before."""
    if store is None:
        fit_whole(model, split.train, None, checkpoint_every)
        return measure_model(model, split, options), False
    run = ComparisonRun.of(model, split, options)
    result = store.find(run)
    if result is not None:
        return result, True
    fit_whole(model, split.train, store.checkpoint(run), checkpoint_every)
    result = measure_model(model, split, options)
    store.keep(run, result)
    return result, False


def search_k(
    corpus: Corpus,
    n_components: Iterable[int] = (10, 20, 50, 100),
    model: str | TopicModel = "metalda",
    *,
    hidden_labels: object = None,
    test: Corpus | None = None,
    test_size: float = 0.2,
    seeds: int | Sequence[int] = 3,
    folder: str | os.PathLike[str] | None = None,
    draws: str = "mean",
    unseen: str = "ignore",
    checkpoint_every: int = 100,
    by_run: bool = False,
    verbose: bool = True,
    **parameters: object,
) -> pd.DataFrame:
    """Fit a model with several numbers of topics, several times each, and measure each fit.

    No single measure decides. Perplexity mostly falls with more topics, while stability and exclusivity show when
    topics begin to split or repeat each other. Look at them together with `plot_search`.

    Parameters
    ----------
    corpus : Corpus
        The documents. A model that learns from labels uses its labels.
    n_components : list of int
        The numbers of topics to try.
    model : str or unfitted model
        A name as in `compare`, such as ``"metalda:doc_prior=default"``, or an unfitted model.
    hidden_labels, test, test_size, seeds, draws, unseen, checkpoint_every, verbose
        As in `compare`.
    folder : path, optional
        Folder for the result of each run, as in `compare`. The same call resumes from there, and a call with more
        numbers or seeds runs only the new ones.
    by_run : bool
        Return a row per number of topics and seed, instead of means and standard deviations.
    **parameters
        Parameters of a model given by name: ``n_iter=500``, ``word_features=…``.

    Returns
    -------
    DataFrame
        A row per number of ``topics``, in ascending order, with the columns of `compare`: means over seeds, and
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
        models_by_size(model, n_components, parameters),
        hidden_labels=hidden_labels,
        test=test,
        test_size=test_size,
        seeds=as_seeds(seeds),
        folder=None if folder is None else Path(folder),
        options=PerplexityOptions(draws, unseen),
        checkpoint_every=checkpoint_every,
        verbose=verbose,
    )
    return runs_by_size(comparison) if by_run else table_by_size(comparison)


def models_by_size(model: str | TopicModel, n_components: Iterable[int], parameters: Parameters) -> list[NamedModel]:
    """Return the model once for each number of topics, the smallest first."""
    base, *others = name_models(model if isinstance(model, str) else [model], parameters)
    if others:
        raise InputError(f"one model is searched at a time, but {model} names several; give one")
    kind = type(base.model)
    if "n_components" not in parameters_of(kind):
        raise InputError(f"{base.name}: its labels determine the number of topics; search with another model")
    if "n_components" in parameters or "n_components=" in base.name:
        raise InputError(f"{base.name}: give the numbers of topics only once, in n_components (--topics)")
    own = base.model.get_params(deep=False)
    joint = "," if ":" in base.name else ":"
    models = []
    for size in _sizes(n_components):
        each = NamedModel(f"{base.name}{joint}n_components={size}", kind(**{**own, "n_components": size}))
        with each.named_errors():
            each.model.validate()
        models.append(each)
    return models


def _sizes(n_components: Iterable[int]) -> list[int]:
    """Return the different numbers of topics in ascending order."""
    given = list(n_components) if isinstance(n_components, Iterable) else [n_components]
    if not given or isinstance(n_components, str) or not all(isinstance(size, Integral) for size in given):
        raise InputError(f"n_components={n_components!r}: give the numbers of topics to try, such as [10, 20, 50]")
    for size in (size for i, size in enumerate(given) if size in given[:i]):
        raise InputError(f"{size} topics are given twice; give different numbers of topics")
    return sorted(int(size) for size in given)


def table_by_size(comparison: Comparison) -> pd.DataFrame:
    """Return a row per number of topics."""
    return comparison.by_model().drop(columns="model").set_index("topics").reset_index()


def runs_by_size(comparison: Comparison) -> pd.DataFrame:
    """Return a row per number of topics and seed."""
    return comparison.by_run().drop(columns="model").set_index("topics").reset_index()
