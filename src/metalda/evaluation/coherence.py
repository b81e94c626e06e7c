"""How well the top words of topics go together in a reference corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError
from metalda.evaluation.confirmation import MEASURES, SMOOTHING, Measure
from metalda.evaluation.windows import Reference, WindowCounts, count_windows
from metalda.models.base import TopicModel
from metalda.utils.markup import frame_html

if TYPE_CHECKING:
    import pandas as pd

    from metalda.corpus import Corpus

Topics = TopicModel | Iterable[Sequence[str]]


@dataclass(frozen=True, eq=False, repr=False)
class Coherence:
    """Scores of topics, and what they rest on.

    Parameters
    ----------
    measure : str
    topics : tuple of tuples of str
        The words that were scored.
    scores : array of float
        One per topic.
    n_missing : array of int
        Words of each topic that the reference does not have; they are left out.
    n_apart : array of int
        Pairs of each topic that the reference has, but never in one window.
    counts : WindowCounts
        What was counted, with the sizes of the reference.
    """

    measure: str
    topics: tuple[tuple[str, ...], ...]
    scores: NDArray[np.float64]
    n_missing: NDArray[np.int64]
    n_apart: NDArray[np.int64]
    counts: WindowCounts

    @property
    def mean(self) -> float:
        """Over all topics."""
        return float(self.scores.mean())

    def best(self, n_topics: int = 20) -> float:
        """The mean over the topics with the highest scores, as in the paper; over all, if there are fewer."""
        return float(np.sort(self.scores)[-n_topics:].mean())

    @property
    def missing(self) -> tuple[str, ...]:
        """The words of all topics that the reference does not have, sorted."""
        absent = set(self.counts.missing)
        return tuple(sorted(absent.intersection(word for topic in self.topics for word in topic)))

    def to_frame(self) -> pd.DataFrame:
        """A row per topic."""
        import pandas as pd

        return pd.DataFrame(
            {
                "topic": np.arange(len(self.topics)),
                "score": self.scores,
                "missing": self.n_missing,
                "apart": self.n_apart,
                "words": [", ".join(topic) for topic in self.topics],
            }
        )

    def __repr__(self) -> str:
        size = f"{len(self.topics):,} topics, {len(self.missing):,} words missing"
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
    smoothing: float = SMOOTHING,
    **counting: Any,
) -> Coherence | dict[str, Coherence]:
    """How well the top words of topics go together in a reference corpus.

    Parameters
    ----------
    topics : model, list of lists of words, or dict of these
        A fitted model, or topics as words, the best first. With a dict one pass over the reference counts for all.
    reference : path, Corpus, documents, or WindowCounts
        What to judge by: see `count_windows`; or what it counted, to use it again. The training corpus will do, but is
        no judge from outside.
    measure : {"npmi", "c_v", "uci", "umass", "c_p"}
        Of pairs of words, with probabilities p that a window has them (Röder, Both and Hinneburg 2015):

        - ``"npmi"``: mean of log(p(i, j) / p(i) p(j)) / -log p(i, j), as in the paper; windows of 10 words
        - ``"uci"``: mean of log(p(i, j) / p(i) p(j)); windows of 10 words
        - ``"umass"``: mean of log(p(i, j) / p(j)), j the better word; whole documents
        - ``"c_v"``: mean cosine of a word's NPMI with all words, and the sum of all of these; windows of 110 words
        - ``"c_p"``: mean of Fitelson's confirmation (p(i | j) - p(i | not j)) / (p(i | j) + p(i | not j)), j the better
          word; windows of 70 words
    top_n : int
        Words per topic. A word that a topic has twice counts once.
    window : int, optional
        Words in a window, if not those of the measure; 0 for whole documents.
    smoothing : float
        Is added to p(i, j) in logarithms, as in gensim. With 0 NPMI is -1 for words that never meet.
    **counting
        How the reference is read: the other parameters of `count_windows`.

    Returns
    -------
    Coherence, or dict of them
        Scores by topic, their mean, and that of the best 20; how many words are missing from the reference. Such words
        are left out, as in gensim; a topic that has no two words left scores 0. There is no NaN.

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
            raise InputError("the windows are counted already: give no window and no way of counting")
        counts = reference
    else:
        words = (word for each in named.values() for topic in each for word in topic)
        counts = count_windows(words, reference, window=kind.window if window is None else window, **counting)
    found = {name: score_topics(each, counts, measure, smoothing=smoothing) for name, each in named.items()}
    if len(counts.missing) == len(counts.words):
        raise InputError(
            f"none of the {len(counts.words):,} words of the topics is in the reference: "
            "check the text field, lowercase (--no-lowercase) and token_pattern (--token-pattern)"
        )
    return found if isinstance(topics, Mapping) else found[""]


def coherence_in_documents(model: TopicModel, corpus: Corpus) -> Coherence:
    """NPMI of the ten top words by the documents that hold both, -1 for words that no document has together."""
    return coherence(model, corpus, "npmi", window=0, smoothing=0)


def score_topics(
    topics: Iterable[Sequence[str]], counts: WindowCounts, measure: str = "npmi", *, smoothing: float = SMOOTHING
) -> Coherence:
    """Score topics by windows that were counted; see `coherence`.

    The size of the windows is not looked at: it is what it was when they were counted.

    Examples
    --------
    >>> from metalda import count_windows
    >>> counts = count_windows(["cat", "dog", "rain"], ["cat dog", "dog cat", "rain"], window=0)
    >>> score_topics([["cat", "dog"]], counts).scores.round(6).tolist()
    [1.0]
    """
    kind = find_measure(measure, smoothing)
    words = as_topics(topics)
    tables = [counts.of(topic) for topic in words]
    return Coherence(
        measure=measure,
        topics=words,
        scores=np.array([_score(kind, table, counts.n_windows, smoothing) for table in tables]),
        n_missing=np.array([(np.diagonal(table) == 0).sum() for table in tables]),
        n_apart=np.array([_pairs_apart(table) for table in tables]),
        counts=counts,
    )


def find_measure(name: str, smoothing: float = SMOOTHING) -> Measure:
    """The measure of this name; InputError if there is none, or if it has to have smoothing and gets none."""
    if name not in MEASURES:
        raise InputError(f"measure={name!r} is not known: use one of {', '.join(MEASURES)}")
    if not 0 <= smoothing < 1 or (smoothing == 0 and MEASURES[name].needs_smoothing):
        raise InputError(f"smoothing={smoothing!r}: {name} needs a small positive number, such as {SMOOTHING}")
    return MEASURES[name]


def as_topics(topics: Topics, top_n: int | None = None) -> tuple[tuple[str, ...], ...]:
    """The top words of a model or of lists, without repetitions; each topic must have two."""
    if top_n is not None and top_n < 2:
        raise InputError(f"top_n={top_n!r}: coherence is of pairs, so at least 2 words are needed")
    if isinstance(topics, TopicModel):
        rows: Any = topics.top_words(top_n or 10)
    else:
        rows = list(topics)
    found = []
    for number, row in enumerate(rows):
        if isinstance(row, str) or not all(isinstance(word, str) for word in row):
            raise InputError(f"topic {number}: a list of words is needed, not {row!r}")
        words = tuple(dict.fromkeys(row))[:top_n]
        if len(words) < 2:
            raise InputError(f"topic {number} has fewer than two different words: coherence is of pairs")
        found.append(words)
    if not found:
        raise InputError("no topics to score")
    return tuple(found)


def _score(measure: Measure, table: NDArray[np.int64], n_windows: int, smoothing: float) -> float:
    """By the words that occur."""
    known = np.flatnonzero(np.diagonal(table))
    return measure.score(table[np.ix_(known, known)] / n_windows, smoothing) if len(known) > 1 else 0.0


def _pairs_apart(table: NDArray[np.int64]) -> int:
    """Pairs of words that occur, but never together."""
    known = np.diagonal(table) > 0
    return int(np.triu((table == 0) & known[:, None] & known[None, :], k=1).sum())
