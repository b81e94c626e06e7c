"""Coherence: how often the top words of a topic occur together in a reference corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError
from metalda.evaluation.windows import Reference, WindowCounts, count_windows
from metalda.models.base import TopicModel
from metalda.utils.markup import frame_html

if TYPE_CHECKING:
    import pandas as pd

Topics = TopicModel | Iterable[Sequence[str]]
Matrix = NDArray[np.float64]

SMOOTHING = 1e-12  # gensim's and Palmetto's
ONE_WINDOW = "count"  # smoothing of Mimno et al.: one more window with both words


class CoherenceMeasure(NamedTuple):
    """A function that scores a topic, and the number of words in a window (0 for whole documents).

    `score` gets the joint probabilities p(i, j) of a topic's words, two or more in their order, with p(i) > 0 on the
    diagonal, and the smoothing constant.
    """

    window: int
    score: Callable[[Matrix, float], float]
    needs_smoothing: bool = False  # otherwise the logarithm of 0 occurs


def _log_ratio(joint: Matrix, smoothing: float) -> Matrix:
    """Return log((p(i, j) + e) / (p(i) p(j))); 0 instead of log 0, which the caller replaces."""
    alone = np.diagonal(joint)
    smoothed = joint + smoothing
    return np.log(np.divide(smoothed, np.outer(alone, alone), out=np.ones(joint.shape), where=smoothed > 0))


def _normalized_log_ratio(joint: Matrix, smoothing: float) -> Matrix:
    """Return NPMI: log ratio / -log(p(i, j) + e).

    Without smoothing it is -1 for words that never co-occur. It is 0 for two words that occur in every window.
    """
    smoothed = joint + smoothing
    some = (smoothed > 0) & (joint < 1)
    minus_log = -np.log(smoothed, where=some, out=np.zeros(joint.shape))
    limits = np.where(smoothed > 0, 0.0, -1.0)
    return np.divide(_log_ratio(joint, smoothing), minus_log, out=limits, where=some)


def _mean_of_pairs(scores: Matrix) -> float:
    """Return the mean over unordered pairs; in an asymmetric matrix each word is paired with those before it."""
    return float(scores[np.tril_indices(len(scores), k=-1)].mean())


def _npmi(joint: Matrix, smoothing: float) -> float:
    return _mean_of_pairs(_normalized_log_ratio(joint, smoothing))


def _uci(joint: Matrix, smoothing: float) -> float:
    return _mean_of_pairs(_log_ratio(joint, smoothing))


def _umass(joint: Matrix, smoothing: float) -> float:
    """Return the mean of log((p(i, j) + e) / p(j)), a word given one before it."""
    alone = np.diagonal(joint)
    return _mean_of_pairs(np.log((joint + smoothing) / alone[None, :]))


def _c_v(joint: Matrix, smoothing: float) -> float:
    """Return the mean cosine between the vector of a word's NPMI with all words and the sum of these vectors."""
    vectors = _normalized_log_ratio(joint, smoothing)
    total = vectors.sum(axis=0)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(total)
    return float(np.divide(vectors @ total, lengths, out=np.zeros(len(joint)), where=lengths > 0).mean())


def _c_p(joint: Matrix, smoothing: float) -> float:
    """Return the mean of Fitelson's confirmation of a word by one before it: (p(i | j) - p(i | not j)) / their sum."""
    alone = np.diagonal(joint)
    given = joint / alone[None, :]
    otherwise = np.divide(alone[:, None] - joint, 1 - alone[None, :], out=np.zeros(joint.shape), where=alone < 1)
    return _mean_of_pairs((given - otherwise) / (given + otherwise))  # p(i) > 0, so one of the two is positive


MEASURES = {
    "npmi": CoherenceMeasure(10, _npmi),
    "c_v": CoherenceMeasure(110, _c_v),
    "uci": CoherenceMeasure(10, _uci, needs_smoothing=True),
    "umass": CoherenceMeasure(0, _umass, needs_smoothing=True),
    "c_p": CoherenceMeasure(70, _c_p),
}


@dataclass(frozen=True, eq=False, repr=False)
class Coherence:
    """Scores of topics and the counts behind them.

    Parameters
    ----------
    measure : str
    topics : tuple of tuples of str
        The words that were scored.
    scores : array of float
        One per topic.
    n_missing : array of int
        Number of words of each topic that the reference does not contain; they are left out.
    n_apart : array of int
        Number of pairs of words of each topic that occur in the reference, but never in one window.
    counts : WindowCounts
        The counts of words and pairs, with the sizes of the reference.
    background : tuple of int
        Topics of the model without a theme (`MetaLDA.topics`), as indices of `topics`. Their top words are arbitrary:
        means leave them out.
    columns : dict of arrays, optional
        The numbers of the topics in the model, and their names if they have some.
    """

    measure: str
    topics: tuple[tuple[str, ...], ...]
    scores: NDArray[np.float64]
    n_missing: NDArray[np.int64]
    n_apart: NDArray[np.int64]
    counts: WindowCounts
    background: tuple[int, ...] = ()
    columns: Mapping[str, NDArray[Any]] | None = None  # numbers and names of the topics of a model

    @property
    def mean(self) -> float:
        """Return the mean over all topics that are not background topics."""
        return float(self._themed.mean())

    def best(self, n_topics: int = 20) -> float:
        """Return the mean over the topics with the highest scores, as in the paper; over all if there are fewer."""
        return float(np.sort(self._themed)[-n_topics:].mean())

    @property
    def _themed(self) -> NDArray[np.float64]:
        """Return the scores without those of background topics, unless there are no others."""
        others: NDArray[np.float64] = np.delete(self.scores, list(self.background))
        return others if len(others) else self.scores

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the words of all topics that the reference does not contain, sorted."""
        absent = set(self.counts.missing)
        return tuple(sorted(absent.intersection(word for topic in self.topics for word in topic)))

    def to_frame(self) -> pd.DataFrame:
        """Return a row per topic."""
        import pandas as pd

        return pd.DataFrame(
            {
                **(self.columns or {"topic": np.arange(len(self.topics))}),
                "score": self.scores,
                "background": np.isin(np.arange(len(self.topics)), self.background),
                "missing": self.n_missing,
                "apart": self.n_apart,
                "words": [", ".join(topic) for topic in self.topics],
            }
        )

    def __repr__(self) -> str:
        size = f"{len(self.topics):,} topics, {len(self.missing):,} words missing"
        if self.background:
            size += f", {len(self.background):,} background topics left out"
        return f"Coherence: {self.measure} {self.mean:.4f}, best 20 {self.best():.4f} ({size})"

    def _repr_html_(self) -> str:
        return frame_html(repr(self), self.to_frame().round(4), "to_frame()")


@overload
def coherence(
    topics: TopicModel, reference: Reference | WindowCounts, measure: str = ..., **options: Any
) -> Coherence: ...
@overload
def coherence(
    topics: Mapping[str, Topics], reference: Reference | WindowCounts, measure: str = ..., **options: Any
) -> dict[str, Coherence]: ...
@overload
def coherence(
    topics: Iterable[Sequence[str]], reference: Reference | WindowCounts, measure: str = ..., **options: Any
) -> Coherence: ...
def coherence(
    topics: Topics | Mapping[str, Topics],
    reference: Reference | WindowCounts,
    measure: str = "npmi",
    *,
    top_n: int = 10,
    window: int | None = None,
    smoothing: float | str = SMOOTHING,
    **counting: Any,
) -> Coherence | dict[str, Coherence]:
    """Measure how often the top words of topics occur together in a reference corpus.

    Parameters
    ----------
    topics : model, list of lists of words, or dict of these
        A fitted model, or topics as lists of words, the most probable first. A dict is scored in one pass over the
        reference.
    reference : path, Corpus, documents, or WindowCounts
        The reference corpus, as in `count_windows`, or the counts that it returned. The training corpus also works, but
        is not an independent reference.
    measure : {"npmi", "c_v", "uci", "umass", "c_p"}
        Means over pairs of words, where p is the probability that a window has them (Röder, Both and Hinneburg 2015):

        - ``"npmi"``: mean of log(p(i, j) / p(i) p(j)) / -log p(i, j), as in the paper; windows of 10 words
        - ``"uci"``: mean of log(p(i, j) / p(i) p(j)); windows of 10 words
        - ``"umass"``: mean of log(p(i, j) / p(j)), j the more probable word; whole documents
        - ``"c_v"``: mean cosine between a word's NPMI with all words and the sum of these vectors; windows of 110 words
        - ``"c_p"``: mean of Fitelson's confirmation (p(i | j) - p(i | not j)) / (p(i | j) + p(i | not j)), j the more
          probable word; windows of 70 words
    top_n : int
        Words per topic. A word that occurs twice in a topic counts once.
    window : int, optional
        Words in a window; the default depends on the measure. 0 for whole documents.
    smoothing : float or "count"
        Added to p(i, j) in logarithms, as in gensim. With 0, NPMI is -1 for words that never co-occur. "count" adds 1
        to the number of windows with both words: ``coherence(…, "umass", smoothing="count")`` is the mean of
        log((D(i, j) + 1) / D(j)) of Mimno et al. 2011 (they sum over the pairs).
    **counting
        Other parameters of `count_windows`, such as the field and format of the reference.

    Returns
    -------
    Coherence, or dict of them
        Scores by topic, their mean and the mean of the best 20, both without the background topics of a model; the
        number of words that the reference does not contain. These words are left out, as in gensim. A topic with fewer
        than two remaining words scores 0. No score is NaN.

    Examples
    --------
    >>> from metalda import coherence
    >>> documents = ["cats and dogs", "dogs chase cats", "rain and wind", "wind brings rain"]
    >>> found = coherence([["cats", "dogs"], ["cats", "rain"]], documents, window=0)
    >>> found.scores.round(2).tolist()
    [1.0, -0.95]
    """
    several: Mapping[str, Topics] = topics if isinstance(topics, Mapping) else {"": topics}
    named = {name: as_topics(each, top_n) for name, each in several.items()}
    kind = find_measure(measure, smoothing)
    if not named:
        raise InputError("no topics to score")
    if isinstance(reference, WindowCounts):
        if counting or window not in (None, reference.window):
            raise InputError("the reference is counted already: remove window and the options for counting")
        counts = reference
    else:
        words = (word for each in named.values() for topic in each for word in topic)
        counts = count_windows(words, reference, window=kind.window if window is None else window, **counting)
    found = {
        name: replace(score_topics(each, counts, measure, smoothing=smoothing), **_of_model(several[name]))
        for name, each in named.items()
    }
    if len(counts.missing) == len(counts.words):
        raise InputError(
            f"none of the {len(counts.words):,} words of the topics is in the reference: "
            "check the text field, lowercase (--no-lowercase) and token_pattern (--token-pattern)"
        )
    return found if isinstance(topics, Mapping) else found[""]


def _of_model(topics: Topics) -> dict[str, Any]:
    """Return the background topics of a model, and the numbers and names of its topics; lists of words have none."""
    if not isinstance(topics, TopicModel):
        return {}
    fitted = topics.fitted_
    background = tuple(np.flatnonzero(fitted.is_background).tolist())
    return {"background": background, "columns": fitted.named(np.arange(fitted.n_topics))}


def score_topics(
    topics: Iterable[Sequence[str]], counts: WindowCounts, measure: str = "npmi", *, smoothing: float | str = SMOOTHING
) -> Coherence:
    """Score topics from counts of windows; see `coherence`.

    The size of the windows is that of the counts.

    Examples
    --------
    >>> from metalda import count_windows
    >>> counts = count_windows(["cat", "dog", "rain"], ["cat dog", "dog cat", "rain"], window=0)
    >>> score_topics([["cat", "dog"]], counts).scores.round(6).tolist()
    [1.0]
    """
    kind = find_measure(measure, smoothing)
    added = 1 / max(counts.n_windows, 1) if isinstance(smoothing, str) else smoothing
    words = as_topics(topics)
    tables = [counts.of(topic) for topic in words]
    return Coherence(
        measure=measure,
        topics=words,
        scores=np.array([_score(kind, table, counts.n_windows, added) for table in tables]),
        n_missing=np.array([(np.diagonal(table) == 0).sum() for table in tables]),
        n_apart=np.array([_pairs_apart(table) for table in tables]),
        counts=counts,
    )


def find_measure(name: str, smoothing: float | str = SMOOTHING) -> CoherenceMeasure:
    """Return the measure of this name, or raise an InputError for unknown names and missing smoothing."""
    if name not in MEASURES:
        raise InputError(f"measure={name!r} is unknown: use one of {', '.join(MEASURES)}")
    if isinstance(smoothing, str):
        if smoothing != ONE_WINDOW:
            raise InputError(f"smoothing={smoothing!r}: give a small number, or {ONE_WINDOW!r} for one more window")
    elif not 0 <= smoothing < 1 or (smoothing == 0 and MEASURES[name].needs_smoothing):
        raise InputError(f"smoothing={smoothing!r}: {name} needs a small positive number, such as {SMOOTHING}")
    return MEASURES[name]


def as_topics(topics: Topics, top_n: int | None = None) -> tuple[tuple[str, ...], ...]:
    """Return the top words of a model or of lists, without repetitions; each topic needs two."""
    if top_n is not None and top_n < 2:
        raise InputError(f"top_n={top_n!r}: coherence compares pairs of words, so at least 2 are needed")
    if isinstance(topics, TopicModel):
        rows: Sequence[Sequence[str]] = topics.top_words(top_n or 10)
    else:
        rows = list(topics)
    found = []
    for number, row in enumerate(rows):
        if isinstance(row, str) or not all(isinstance(word, str) for word in row):
            raise InputError(f"topic {number}: a list of words is needed, not {row!r}")
        words = tuple(dict.fromkeys(row))[:top_n]
        if len(words) < 2:
            raise InputError(f"topic {number} has fewer than two different words: coherence compares pairs of words")
        found.append(words)
    if not found:
        raise InputError("no topics to score")
    return tuple(found)


def _score(measure: CoherenceMeasure, table: NDArray[np.int64], n_windows: int, smoothing: float) -> float:
    """Score a topic by its words that occur in the reference."""
    known = np.flatnonzero(np.diagonal(table))
    return measure.score(table[np.ix_(known, known)] / n_windows, smoothing) if len(known) > 1 else 0.0


def _pairs_apart(table: NDArray[np.int64]) -> int:
    """Return the number of pairs of words that occur, but never together."""
    known = np.diagonal(table) > 0
    return int(np.triu((table == 0) & known[:, None] & known[None, :], k=1).sum())
