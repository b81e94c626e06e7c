"""How files become a corpus: kept with the model, so that new documents are read as those it was trained on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from metalda.cli import options
from metalda.errors import InputError, StorageError

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.corpus.preparing import Sizes
    from metalda.models.base import TopicModel

_WITHOUT_FIELDS = ("text", "folder", "java")
_TYPES = {
    **dict.fromkeys(("label_delimiter", "id", "format", "suffix", "token_pattern"), (str, NoneType)),
    "text": (list, NoneType),
    "labels": (list,),
    "bins": (dict,),
    "numbers": (dict,),
    "encoding": (str,),
    "stop_words": (str, list, NoneType),
    "lowercase": (bool,),
    "ngrams": (int,),
}


@dataclass(frozen=True)
class Reading:
    """The options of `Corpus.read` that are the same for new documents; filters by frequency are not among them."""

    text: list[str] | None = None
    labels: list[str] = field(default_factory=list)
    label_delimiter: str | None = None
    bins: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    id: str | None = None
    format: str | None = None
    suffix: str | None = None  # of the file that `format` was found for
    encoding: str = "utf-8"
    stop_words: str | list[str] | None = None
    lowercase: bool = True
    token_pattern: str | None = None
    ngrams: int = 1

    def read(self, path: Path, *, progress: bool = False, **filters: Any) -> Corpus:
        """The corpus in a file or folder."""
        from metalda.corpus import Corpus

        return Corpus.read(
            path,
            **self._fields,
            label_delimiter=self.label_delimiter,
            progress=progress,
            **self._tokenising,
            **filters,
        )

    def prepare(self, path: Path, output: Path, *, n_jobs: int, progress: bool, resume: bool, **filters: Any) -> Sizes:
        """The same as a corpus on the disk, which knows how it was read."""
        from metalda.corpus.building import Settings
        from metalda.corpus.preparing import prepare_corpus

        return prepare_corpus(
            path,
            output,
            Settings(**self._tokenising, **filters),
            n_jobs=n_jobs,
            progress=progress,
            resume=resume,
            describe=lambda labels: {"reading": self.with_edges(labels).to_saved()},
            delimiter=self.label_delimiter,
            **self._fields,
        )

    @property
    def _fields(self) -> dict[str, Any]:
        names = ("text", "labels", "id", "format", "bins", "numbers", "encoding")
        return {name: getattr(self, name) for name in names}

    @property
    def _tokenising(self) -> dict[str, Any]:
        pattern = {} if self.token_pattern is None else {"token_pattern": self.token_pattern}
        return {
            "stop_words": self.stop_words,
            "lowercase": self.lowercase,
            "ngram_range": (1, self.ngrams),
            **pattern,
        }

    def located(self, path: Path) -> Reading:
        """With the format that the file has."""
        from metalda.corpus.files import uncompressed_suffix
        from metalda.corpus.formats import find_format

        found = find_format(path, self.format, self.encoding)
        return replace(self, format=found, suffix=uncompressed_suffix(path))

    def with_stop_words(self, stop_words: str | list[str] | None) -> Reading:
        """With these words left out."""
        return replace(self, stop_words=stop_words)

    def with_edges(self, labels: Iterable[str]) -> Reading:
        """With the edges of bins in place of their number, and the scale of numbers: the same for new documents."""
        labels = tuple(labels)
        bins = {name: _edges(name, labels) for name in self.bins}
        return replace(self, bins=bins, numbers={name: _scale(name, labels) for name in self.numbers})

    def for_new(self, path: Path, *, no_labels: bool = False, **given: Any) -> Reading:
        """For a new file: as at training, but for the options given (not None).

        The format is that of training for a file of the same suffix; columns are forgotten where the new file has
        none.
        """
        from metalda.corpus.files import uncompressed_suffix

        given = {name: value for name, value in given.items() if value is not None}
        if no_labels and "labels" in given:
            raise InputError("give --labels or --no-labels, not both")
        kept = self
        if path.is_dir() or uncompressed_suffix(path) != self.suffix:
            kept = replace(kept, format=None)
        if "labels" in given or no_labels:
            kept = replace(kept, labels=[], bins={}, numbers={})
        encoding, format = given.get("encoding", kept.encoding), given.get("format", kept.format)
        found = replace(kept, encoding=encoding, format=format).located(path).format
        if found in _WITHOUT_FIELDS:
            kept = replace(kept, text=None, labels=[], bins={}, numbers={}, id=None)
            if found != "java":
                kept = replace(kept, label_delimiter=None)
        return replace(kept, **{**given, "format": found})

    def to_saved(self) -> dict[str, Any]:
        """Plain data for the model's metadata."""
        return asdict(self)

    @classmethod
    def of(cls, model: TopicModel) -> Reading:
        """How the texts of a model were read; of one that was fitted in Python, how they became words at least."""
        tokenising = model.schema_
        if "reading" in model.metadata_ or tokenising is None:
            return cls.from_saved(model.metadata_)
        if tokenising.analyzer is not None or tokenising.ngram_range[0] != 1:
            raise InputError(
                "the model was fitted in Python, on texts that became words in a way for which there are no options "
                "here; use it in Python: metalda.load(...).transform(corpus)"
            )
        stop_words = list(tokenising.stop_words) if isinstance(tokenising.stop_words, tuple) else tokenising.stop_words
        return cls(
            stop_words=stop_words,
            lowercase=tokenising.lowercase,
            token_pattern=tokenising.token_pattern,
            ngrams=tokenising.ngram_range[1],
        )

    @classmethod
    def from_saved(cls, metadata: Mapping[str, Any]) -> Reading:
        """The inverse; the defaults where nothing is kept."""
        saved = metadata.get("reading", {})
        if not isinstance(saved, dict):
            raise StorageError("the model is damaged: no reading options where they should be; train it again")
        for name, value in saved.items():
            if not isinstance(value, _TYPES.get(name, ())):
                raise StorageError(f"the model is damaged: its reading option {name!r} makes no sense; train it again")
        return cls(**saved)


@dataclass(frozen=True)
class ReadingOptions:
    """How data to learn from are read: the options of every command that learns."""

    text: options.Text = None
    labels: options.Labels = None
    label_delimiter: options.Delimiter = None
    bins: options.Bins = None
    numbers: options.Numbers = None
    input_format: options.Input = None
    encoding: options.Encoding = None
    stop_words: options.StopWords = None
    min_df: options.MinDf = "1"
    max_df: options.MaxDf = "1.0"
    ngrams: options.Ngrams = 1
    lowercase: options.Lowercase = True
    token_pattern: options.TokenPattern = None

    def read(self, path: Path, *, id: str | None = None, progress: bool) -> tuple[Corpus, Reading]:
        """The corpus in a file or folder, or one that was prepared; and how new documents are to be read."""
        if saved := load_prepared(path, {**vars(self), "id": id}, self):
            return saved
        reading = self.for_training(path, id=id)
        corpus = reading.read(path, progress=progress, **self.filters)
        return corpus, reading.with_edges(corpus.label_names)

    def for_training(self, path: Path, *, id: str | None = None) -> Reading:
        """What they mean for this file."""
        reading = Reading(
            text=options.columns(self.text),
            labels=options.columns(self.labels) or [],
            label_delimiter=self.label_delimiter,
            bins=options.bins(self.bins),
            numbers=dict.fromkeys(options.columns(self.numbers) or []),
            id=id,
            format=self.input_format and self.input_format.value,
            encoding=self.encoding or "utf-8",
            lowercase=self.lowercase,
            token_pattern=self.token_pattern,
            ngrams=self.ngrams,
        ).located(path)
        default = None if reading.format == "java" else "english"
        return reading.with_stop_words(read_stop_words(self.stop_words, lowercase=self.lowercase, default=default))

    @property
    def filters(self) -> dict[str, int | float]:
        """Which words are left out by how many documents have them."""
        return {
            "min_df": options.count_or_share(self.min_df, "--min-df"),
            "max_df": options.count_or_share(self.max_df, "--max-df"),
        }


def load_prepared(path: Path, given: Mapping[str, Any], group: Any) -> tuple[Corpus, Reading] | None:
    """The corpus in a folder of `metalda prepare`, if it is one, and how it was read.

    Options that say how to read something else are errors: those `given` whose default in `group` is another.
    """
    from metalda.corpus.saving import is_saved, load_metadata

    if not is_saved(path):
        return None
    from metalda.corpus import Corpus

    defaults = {option.name: option.default for option in fields(group)}
    for name, value in given.items():
        if value != defaults.get(name):
            option = f"--{'no-lowercase' if name == 'lowercase' else name.replace('_', '-')}"
            raise InputError(
                f"{path}: is a prepared corpus, in which {option} has no effect; give it to metalda prepare"
            )
    return Corpus.load(path), Reading.from_saved(load_metadata(path))


def read_stop_words(value: str | None, *, lowercase: bool, default: str | list[str] | None) -> str | list[str] | None:
    """``english``, ``none``, or a file with a word per line, whose words are kept with the model."""
    if value is None:
        return default
    if value in ("english", "none"):
        return None if value == "none" else value
    path = Path(value)
    if not path.exists():
        raise InputError(f"--stop-words {value}: expected english, none, or a file with a word per line")
    from metalda.corpus.files import read_lines

    words = dict.fromkeys(word for line in read_lines(path) if (word := line.strip()))
    return [word.lower() for word in words] if lowercase else list(words)


def _edges(name: str, labels: Iterable[str]) -> list[float]:
    """The inner edges, from the names of the intervals: ``year < 1990``, ``1990 ≤ year < 2000``, ``year ≥ 2000``."""
    upper = re.compile(rf"(?:\S+ ≤ )?{re.escape(name)} < (\S+)")
    return [float(match[1]) for label in labels if (match := upper.fullmatch(label))]


def _scale(name: str, labels: Iterable[str]) -> list[float]:
    """The centre and the scale, from the name of the column: ``(year - 1998) / 5.5``."""
    scaled = re.compile(rf"\({re.escape(name)} - (\S+)\) / (\S+)")
    return [float(part) for label in labels if (match := scaled.fullmatch(label)) for part in match.groups()]
