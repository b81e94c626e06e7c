"""Seed words: words that a topic is known to have, by the name of the topic."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
from scipy import sparse

from metalda.corpus import NamedMatrix
from metalda.corpus.files import read_lines, read_object
from metalda.corpus.matrix import first_duplicate
from metalda.errors import InputError, hint
from metalda.meta.word_features import as_vocabulary
from metalda.storage import Remote, locate
from metalda.utils.names import check_name

GROUP = "seeds"  # the source of the features of seed sets
_MOST_SHOWN = 20
_EXAMPLE = '{"economy": ["tax", "budget*"], …}'


@dataclass(frozen=True, eq=False)
class SeedSet:
    """The seeds of one topic. A seed that ends with ``*`` stands for all words that begin with it."""

    topic: str
    seeds: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.seeds:
            raise InputError(f"the topic {self.topic!r} has no seeds: give it at least one word, or leave it out")
        for seed in self.seeds:
            if not seed:
                raise InputError(f"the topic {self.topic!r} has an empty seed: remove it")
            if not seed.removesuffix("*"):
                raise InputError(f"the topic {self.topic!r} has the seed '*', which would match every word: remove it")
            if "*" in seed[:-1]:
                raise InputError(f"the seed {seed!r} of {self.topic!r}: * stands for the end of a word only")

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(seed for seed in self.seeds if not seed.endswith("*"))

    @cached_property
    def prefixes(self) -> tuple[str, ...]:
        return tuple(seed[:-1] for seed in self.seeds if seed.endswith("*"))

    def matches(self, word: str) -> bool:
        return word in self.words or word.startswith(self.prefixes)


@dataclass(frozen=True, eq=False)
class Seeds:
    """Seed sets of the first topics of a model. Each is a binary feature of the words that it matches."""

    sets: tuple[SeedSet, ...]

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Sequence[str]]) -> Seeds:
        """Return the seeds of ``{topic: [word, …]}``, checked."""
        if not mapping:
            raise InputError("seeds is empty: give lists of words by the names of topics, or leave it out")
        names = []
        for topic in mapping:
            try:
                names.append(check_name(topic))
            except InputError as error:
                raise InputError(f"seeds: {error}") from None
        if (repeated := first_duplicate(names)) is not None:
            raise InputError(f"seeds: the topic {repeated!r} is named twice; give it one list of words")
        return cls(
            tuple(SeedSet(name, _seeds(name, words)) for name, words in zip(names, mapping.values(), strict=True))
        )

    @property
    def topics(self) -> tuple[str, ...]:
        """Return the names of the topics."""
        return tuple(own.topic for own in self.sets)

    @property
    def features(self) -> tuple[str, ...]:
        """Return the name of the feature of each set."""
        return tuple(f"{GROUP}={topic}" for topic in self.topics)

    def rows(self, words: Sequence[str]) -> NamedMatrix:
        """Return which words [word, set] each set matches."""
        cells = [(v, s) for v, word in enumerate(words) for s, own in enumerate(self.sets) if own.matches(word)]
        rows, columns = np.array(cells, np.int64).reshape(-1, 2).T
        shape = (len(words), len(self.sets))
        return NamedMatrix(sparse.csr_array((np.ones(len(cells)), (rows, columns)), shape=shape), self.features)

    def require_words(self, vocabulary: Sequence[str]) -> None:
        """Raise an InputError if a set matches no word of the vocabulary."""
        n_words = np.bincount(self.rows(vocabulary).matrix.indices, minlength=len(self.sets))
        for own, n in zip(self.sets, n_words, strict=True):
            if n == 0:
                raise InputError(
                    f"no seed of {own.topic!r} is in the vocabulary ({_listed(own.seeds)}): {_REMEDY}, or leave the "
                    "topic out"
                )

    def warn_of_unknown(self, vocabulary: Sequence[str]) -> None:
        """Give a hint on the seeds that match no word of the vocabulary."""
        known = set(vocabulary)
        unknown = [
            f"{seed} ({own.topic})"
            for own in self.sets
            for seed in own.seeds
            if seed not in known and not (seed.endswith("*") and any(word.startswith(seed[:-1]) for word in vocabulary))
        ]
        if unknown:
            these = "seed is" if len(unknown) == 1 else "seeds are"
            remedy = _REMEDY.capitalize()
            hint(f"{len(unknown):,} {these} not in the vocabulary, and without effect: {_listed(unknown)}. {remedy}")


_REMEDY = "check the spelling and case, stop words and min_df; in a stemmed corpus give stems or econom*"


def _seeds(topic: str, words: object) -> tuple[str, ...]:
    if not isinstance(words, str | list | tuple | np.ndarray):
        raise InputError(f"the seeds of {topic!r} must be a list of words, not {words!r}")
    argument = f"the seeds of {topic!r}"
    found = as_vocabulary(words.tolist() if isinstance(words, np.ndarray) else words, argument)
    return tuple(dict.fromkeys(word.strip() for word in found))


def _listed(words: Iterable[str]) -> str:
    words = list(words)
    return ", ".join(word[:40] for word in words[:_MOST_SHOWN]) + (" …" if len(words) > _MOST_SHOWN else "")


def read_seeds(path: str | PathLike[str]) -> dict[str, list[str]]:
    """Read seed words from a file: JSON, ``{"economy": ["tax", "budget*"], …}``, or CSV with columns topic and word.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from metalda import read_seeds
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "seeds.csv").write_text("topic,word\\neconomy,tax\\neconomy,budget*\\n")
    ...     read_seeds(Path(folder, "seeds.csv"))
    {'economy': ['tax', 'budget*']}
    """
    place = locate(path)
    suffix = place.suffix.lower()
    if suffix not in (".json", ".csv"):
        raise InputError(f"{path}: seeds are read from .json or .csv files")
    try:
        found = read_object(place, _EXAMPLE) if suffix == ".json" else _read_csv(place)
        Seeds.from_mapping(found)
    except InputError as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}") from None
    return found


def _read_csv(path: Path | Remote) -> dict[str, list[str]]:
    rows = csv.reader(read_lines(path))
    try:
        header = [name.strip() for name in next(rows, [])]
        if not {"topic", "word"} <= set(header):
            raise InputError(f"expected the columns topic and word in line 1, not {', '.join(header) or 'nothing'}")
        topic, word = header.index("topic"), header.index("word")
        found: dict[str, list[str]] = {}
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) <= max(topic, word) or not row[topic].strip() or not row[word].strip():
                raise InputError(f"line {rows.line_num}: needs a topic and a word")
            found.setdefault(row[topic].strip(), []).append(row[word].strip())
    except csv.Error as error:
        raise InputError(f"line {rows.line_num}: {error}") from None
    return found
