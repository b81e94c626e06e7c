"""Models beside each other on one corpus: every model with every seed, in runs that are kept."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import product
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from metalda.corpus import Corpus
from metalda.errors import InputError
from metalda.evaluation.candidates import Candidate, find_candidates
from metalda.evaluation.runs import MEASURES, Judging, RunFolder, Split, identify_run, run
from metalda.evaluation.stability import word_stability
from metalda.models.base import TopicModel
from metalda.storage import replacing, write_document

if TYPE_CHECKING:
    import pandas as pd


FIGURES = (*MEASURES, "stability")  # of which the last takes all runs of a model


class InterruptedComparison(KeyboardInterrupt):
    """Ctrl-C: what was finished by then is kept, if there is a folder."""

    def __init__(self, n_done: int, n_runs: int, folder: Path | None) -> None:
        kept = f"kept in {folder}: the same call goes on from there" if folder else "lost: give a folder to keep them"
        super().__init__(f"{n_done:,} of {n_runs:,} runs were done, and are {kept}")
        self.n_done, self.n_runs = n_done, n_runs


@dataclass
class Comparison:
    """The runs so far, each a dictionary: model, seed, the measures, and the top words of each topic."""

    settings: dict[str, Any]  # that they have in common
    runs: list[dict[str, Any]] = field(default_factory=list)
    n_found: int = 0  # of which so many were there before

    def by_run(self) -> pd.DataFrame:
        """A row per model and seed."""
        import pandas as pd

        columns = ["model", "seed", "topics", *MEASURES, "label_measure"]
        table = pd.DataFrame(self.runs, columns=columns).assign(stability=self._stability())
        return table.astype(dict.fromkeys(FIGURES, "float64"))

    def _stability(self) -> list[float]:
        """How far the topics of each run agree with those of the model's other seeds."""
        scores = [float("nan")] * len(self.runs)
        names = [each["model"] for each in self.runs]
        for name in set(names):
            own = [i for i, other in enumerate(names) if other == name]
            for i, score in zip(own, word_stability([self.runs[i]["top_words"] for i in own]), strict=True):
                scores[i] = score
        return scores

    def by_model(self) -> pd.DataFrame:
        """A row per model: means over seeds, and standard deviations as ``…_sd``."""
        groups = self.by_run().groupby("model", sort=False)
        table = groups.agg(runs=("seed", "size"), topics=("topics", "first"))
        for measure in FIGURES:
            table[measure], table[f"{measure}_sd"] = groups[measure].mean(), groups[measure].std(ddof=1)
        table.loc[table["runs"] < 3, "stability_sd"] = float("nan")  # two runs agree with each other equally
        return table.assign(label_measure=groups["label_measure"].first()).reset_index()

    def to_plain(self) -> dict[str, Any]:
        """For JSON; what could not be measured is None."""
        tables = {"models": self.by_model(), "runs": self.by_run()}
        rows = {name: t.astype(object).where(t.notna(), None).to_dict("records") for name, t in tables.items()}
        return {"settings": self.settings, **rows}

    def save(self, folder: Path) -> None:
        """As ``comparison.csv`` and ``comparison.json``."""
        with replacing(folder / "comparison.csv", "x", encoding="utf-8", newline="") as file:
            self.by_model().to_csv(file, index=False, lineterminator="\n", float_format="%.6g")
        write_document(folder / "comparison.json", "comparison", self.to_plain())


def compare(
    corpus: Corpus,
    models: str | Iterable[str | TopicModel] | Mapping[str, str | TopicModel],
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
    """Fit models on a part of a corpus, several times, and judge them on the rest.

    Parameters
    ----------
    corpus : Corpus
        The documents; labels are used by the models that can.
    models : str, list or dict
        Names as on the command line, with parameters where needed: ``"metalda,lda"``,
        ``["metalda", "metalda:doc_prior=default,word_prior=0.01"]``; or unfitted models, in a dict if they are to have
        names of their own.
    test : Corpus, optional
        Documents to judge by. By default each seed holds out another part of the corpus.
    test_size : float or int
        The part held out: a share, or a number of documents.
    seeds : int or list of int
        How many runs of each model (with the seeds 0, 1, …), or the seeds themselves.
    folder : path, optional
        Where to keep the result of each run, the state of the run under way, and the table as ``comparison.csv`` and
        ``comparison.json``. The same call later goes on where it was, and runs that are there are not repeated.
    draws, unseen
        How perplexity is computed: see `MetaLDA.perplexity`.
    checkpoint_every : int
        Sweeps from one checkpoint of the run under way to the next, if there is a folder.
    by_run : bool
        A row per model and seed, instead of means and standard deviations by model.
    verbose : bool
        Show a progress bar, where there is a terminal.
    **parameters
        For all models given by name that have them: ``n_components=50``, ``n_iter=500``, ``word_features=…``.

    Returns
    -------
    DataFrame
        ``perplexity`` of the test documents, their labels given; ``coherence``, the mean NPMI of a topic's ten top
        words in the training documents; ``diversity``, the share of distinct words among the 25 top words of all
        topics; ``exclusivity``, how much the ten top words of a topic belong to it alone (`exclusivity`);
        ``label_score``, how well a logistic regression tells labels from topic proportions that were inferred
        without them, by the ``label_measure`` accuracy or, where documents have several labels, micro-F1;
        ``seconds_per_sweep``, the mean of the second half: the first sweep may compile, and some cost more than others;
        and ``stability``, how far the topics of the seeds agree by their ten top words (`stability`).

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
        find_candidates(models, parameters),
        test=test,
        test_size=test_size,
        seeds=as_seeds(seeds),
        folder=None if folder is None else Path(folder),
        judging=Judging(draws, unseen),
        checkpoint_every=checkpoint_every,
        verbose=verbose,
    )
    return comparison.by_run() if by_run else comparison.by_model()


def run_comparison(
    corpus: Corpus,
    candidates: Sequence[Candidate],
    *,
    test: Corpus | None,
    test_size: float,
    seeds: Sequence[int],
    folder: Path | None,
    judging: Judging,
    checkpoint_every: int = 100,
    verbose: bool = True,
) -> Comparison:
    """Every model with every seed; raises InterruptedComparison at Ctrl-C."""
    kept = None if folder is None else RunFolder.open(folder)
    fixed = None if test is None else Split.of(corpus, test)

    @lru_cache(maxsize=1)
    def split_by(seed: int) -> Split:
        return fixed or Split.of(*corpus.split(test_size, random_state=seed))

    _require_runnable(candidates, split_by(seeds[0]).train)
    settings = {"documents": len(corpus), "words": corpus.n_tokens, "seeds": list(seeds), **asdict(judging)}
    comparison, n_runs = Comparison(settings), len(seeds) * len(candidates)
    if kept is not None:
        kept.prepare(comparison.save)
    try:
        with _progress_bar(n_runs, verbose) as bar:
            for seed, (name, estimator) in product(seeds, candidates):  # all models with the first seed come first
                bar.set_postfix_str(f"{name}, seed {seed}")
                model = clone(estimator).set_params(random_state=seed, verbose=False)
                result, found = _find_or_run(model, split_by(seed), judging, kept, checkpoint_every)
                comparison.runs.append({"model": name, "seed": seed, **result})
                comparison.n_found += found
                if kept is not None:
                    comparison.save(kept.path)
                bar.update()
    except KeyboardInterrupt:
        raise InterruptedComparison(len(comparison.runs), n_runs, folder) from None
    return comparison


def as_seeds(seeds: int | Sequence[int]) -> list[int]:
    """So many seeds from 0 on, or these."""
    result = list(range(seeds)) if isinstance(seeds, Integral) else list(seeds)  # type: ignore[arg-type]
    if not result or len(set(result)) < len(result) or not all(isinstance(seed, Integral) for seed in result):
        raise InputError(f"seeds={seeds!r}: give a number of seeds, at least 1, or a list of different whole numbers")
    if not all(0 <= seed < 2**32 for seed in result):
        raise InputError(f"seeds={seeds!r}: seeds are from 0 to 2**32 - 1")
    return [int(seed) for seed in result]


def _require_runnable(candidates: Sequence[Candidate], train: Corpus) -> None:
    """Labels or word vectors that a model cannot do without are missed now, and not when its turn has come."""
    for candidate in candidates:
        with candidate.named_errors():
            candidate.model.validate(train)


def _find_or_run(
    model: TopicModel, split: Split, judging: Judging, kept: RunFolder | None, checkpoint_every: int
) -> tuple[dict[str, Any], bool]:
    """The result of a run, and whether it was there before."""
    if kept is None:
        return run(model, split, judging, None, checkpoint_every), False
    identity = identify_run(model, split, judging)
    result = kept.find(identity)
    if result is not None:
        return result, True
    result = run(model, split, judging, kept.checkpoint(identity), checkpoint_every)
    kept.keep(identity, result)
    return result, False


def _progress_bar(n_runs: int, verbose: bool) -> Any:
    from tqdm import tqdm

    shown = verbose and sys.stderr is not None and sys.stderr.isatty()
    return tqdm(total=n_runs, desc="runs", unit="run", disable=not shown, dynamic_ncols=True, file=sys.stderr)
