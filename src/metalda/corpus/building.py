"""The way into a corpus: documents from wherever, counted and labelled in one pass.

The functions return the fields of a `Corpus` as a dictionary, so that they need not know the class.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metalda.corpus.checking import freeze
from metalda.corpus.columns import Columns, Document, Records, id_name
from metalda.corpus.frames import column_names, column_values, listed, settle
from metalda.corpus.labels import LabelCollector, as_labels, is_missing
from metalda.corpus.tokenising import (
    FUNCTION,
    TOKEN_PATTERN,
    Filters,
    TokenCollector,
    Tokenising,
    make_analyser,
    stop_list,
)
from metalda.errors import InputError

Parts = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """How texts become words; see `Corpus.from_texts`."""

    lowercase: bool = True
    token_pattern: str = TOKEN_PATTERN
    stop_words: str | Iterable[str] | None = None
    ngram_range: tuple[int, int] = (1, 1)
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None
    analyzer: str | Callable[[str], Sequence[str]] | None = None
    vocabulary: Iterable[str] | Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        if self.stop_words is not None and not isinstance(self.stop_words, str):
            words = set(self.stop_words)
            if not all(isinstance(word, str) for word in words):
                raise InputError("stop_words: give 'english' or a list of words")
            object.__setattr__(self, "stop_words", tuple(sorted(words)))

    @property
    def tokenising(self) -> Tokenising:
        """What new texts have to have in common with these."""
        analyzer = FUNCTION if callable(self.analyzer) else self.analyzer
        stop_words: Any = self.stop_words
        shortest, longest = self.ngram_range
        return Tokenising(self.lowercase, self.token_pattern, stop_words, (shortest, longest), analyzer)

    @property
    def filters(self) -> Filters:
        """Which words stay."""
        return Filters(self.min_df, self.max_df, self.max_features)

    def collector(self, *, texts: bool) -> TokenCollector:
        """For documents that are texts, or tokens only (which need no analyser, and no scikit-learn)."""
        analyse = None
        if texts:
            analyse = make_analyser(
                lowercase=self.lowercase,
                token_pattern=self.token_pattern,
                stop_words=self.stop_words,
                ngram_range=self.ngram_range,
                analyzer=self.analyzer,
            )
        return TokenCollector(analyse, stop_words=stop_list(self.stop_words), vocabulary=self.vocabulary)


def collect(documents: Iterable[Document], settings: Settings, *, texts: bool, source: str = "corpus") -> Parts:
    """One pass over the documents; ids are kept if all have one."""
    tokens = settings.collector(texts=texts)
    filters = settings.filters
    labels = LabelCollector()
    ids: list[str] = []
    for document in documents:
        tokens.add(document.content)
        labels.add(document.labels)
        if document.id is not None:
            ids.append(document.id)
    if len(tokens) == 0:
        raise InputError(f"{source}: no documents")
    try:
        words, offsets, vocabulary = tokens.finish(filters)
    except InputError as error:
        raise type(error)(f"{source}: {error}") from None
    freeze(words, offsets)
    return {
        "words": words,
        "offsets": offsets,
        "vocabulary": vocabulary,
        "labels": labels.finish(),
        "ids": tuple(ids) if len(ids) == len(tokens) else None,
        "tokenising": settings.tokenising if texts else None,
    }


def from_texts(texts: Iterable[Any], labels: Any, ids: Iterable[Any] | None, settings: Settings) -> Parts:
    """See `Corpus.from_texts`."""
    if isinstance(texts, str | bytes) or hasattr(texts, "columns"):
        kind = "one string" if isinstance(texts, str | bytes) else "a frame"
        raise InputError(f"texts must be a list of strings, not {kind} (a frame is for Corpus.from_frame)")
    documents = (Document(_checked_text(i, text)) for i, text in enumerate(texts))
    return _with_meta(collect(documents, settings, texts=True), labels, ids)


def from_tokens(documents: Iterable[Any], labels: Any, ids: Iterable[Any] | None, settings: Settings) -> Parts:
    """See `Corpus.from_tokens`."""
    if isinstance(documents, str | bytes):
        raise InputError("documents must be a list of lists of tokens, not one string")
    return _with_meta(collect(map(Document, listed(documents)), settings, texts=False), labels, ids)


def from_frame(frame: Any, columns: Columns, settings: Settings) -> Parts:
    """See `Corpus.from_frame`."""
    frame = settle(frame)
    if not hasattr(frame, "columns"):
        raise InputError(f"a DataFrame is needed, not {type(frame).__name__}")
    all_names = column_names(frame)
    names = columns.resolve(all_names)
    values = [column_values(frame, j) for j, name in enumerate(all_names) if name in set(names)]
    rows = enumerate(zip(*values, strict=True))
    return from_records(((i, dict(zip(names, row, strict=True))) for i, row in rows), columns, settings)


def from_records(records: Records, columns: Columns, settings: Settings) -> Parts:
    """Documents and labels from the fields of records."""
    parts = collect(columns.documents(records), settings, texts=True, source=columns.source)
    return parts | {"labels": columns.labels(parts["labels"])}


def as_ids(ids: Iterable[Any] | None) -> tuple[str, ...] | None:
    """Names of documents as strings."""
    if ids is None:
        return None
    if isinstance(ids, str):
        raise InputError("ids must be a list with a name per document, not one string")
    return tuple(map(id_name, ids))


def _with_meta(parts: Parts, labels: Any, ids: Iterable[Any] | None) -> Parts:
    return parts | {"labels": as_labels(labels, len(parts["offsets"]) - 1), "ids": as_ids(ids)}


def _checked_text(i: int, text: Any) -> str:
    if isinstance(text, str):
        return text
    if is_missing(text):
        return ""
    raise InputError(f"document {i} is {type(text).__name__}, not a text (lists of tokens are for Corpus.from_tokens)")
