"""The schema: how raw data becomes a corpus, with the bins and scales that reading fitted.

A corpus carries its schema and a model keeps it, so that new documents are read like the training data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Any, TypeAlias

from metalda.corpus.files import MAX_DOCUMENT_BYTES, text_codec, uncompressed_suffix
from metalda.corpus.formats import FORMATS, find_format
from metalda.corpus.languages import ENGLISH
from metalda.corpus.settings import (
    AUTO,
    by_column,
    checked_bins,
    checked_ngram_range,
    checked_phrases,
    checked_scale,
    checked_stem,
    checked_stop_words,
    fixed_vocabulary,
    is_finite,
    names_of_columns,
)
from metalda.corpus.stream import Location, Stream
from metalda.corpus.token_pattern import compile_pattern
from metalda.corpus.tokenizers import check_tokenizer, runs_code
from metalda.errors import InputError
from metalda.utils.frames import collect_frame, column_names, column_values, is_frame, is_missing

TOKEN_PATTERN = r"(?u)\b\w\w+\b"
FUNCTION = "(function)"  # the analyzer or tokenizer of a fitted schema if it was a function: functions are not kept

_ANALYZERS = ("word", "char", "char_wb")
_COLUMNS = ("text", "labels", "id", "bins", "numbers")
_NONE_IS_A_VALUE = ("stop_words", "stem", "tokenizer", "analyzer", "max_features", "vocabulary")
_NOT_SAVED = ("max_document_bytes", "allow_tokenizer", "keep_text")
SchemaFields: TypeAlias = dict[str, Any]  # by name; `Schema` checks their values
NO_FREQUENCY_FILTERS: SchemaFields = {"min_df": 1, "max_df": 1.0}
PHRASE_MIN_COUNT, PHRASE_THRESHOLD = 10, 0.5
_FILTERS: SchemaFields = {
    **NO_FREQUENCY_FILTERS,
    "max_features": None,
    "vocabulary": None,
    "phrase_min_count": PHRASE_MIN_COUNT,
    "phrase_threshold": PHRASE_THRESHOLD,
}
_AUTO_MIN_DF = ((1000, 5), (100, 2))  # from this number of documents
_AUTO_MAX_DF, _AUTO_MAX_DF_FROM = 0.5, 100


@dataclass(frozen=True)
class Schema:
    """How raw data becomes a corpus: columns, format and tokenizing.

    `Corpus.schema` and `model.schema_` are *fitted*: `text` names the column that was read, `bins` holds inner edges
    and `numbers` centers and scales, and the filters (`min_df` and those below) keep all words, because they
    select the vocabulary of training and have no meaning for new documents. ``Corpus.read(path, schema=...)`` and
    ``Corpus.from_frame(frame, schema=...)`` read new data in the same way.

    Parameters
    ----------
    text : str or sequence of str
        The columns that hold the text; several are joined. By default the column with a name such as "text" or "body".
    labels : str or sequence of str
        The columns that hold labels.
    id : str, optional
        The column that names the documents; by default "id", if there is one.
    label_delimiter : str, optional
        Splits a cell into several labels.
    bins : mapping
        For numeric columns: the number of quantile bins, or the inner edges.
    numbers : mapping, str or sequence of str
        Numeric columns that are standardized covariates: (center, scale), or None to take mean and standard deviation.
    vectors : mapping
        Center and scale of the columns of `Corpus.with_vectors`, which no file or frame holds.
    decimal : str
        The decimal mark of numbers that are texts, for `bins` and `numbers`: "." or ",".
    format : str, optional
        The format of the files.
    suffix : str, optional
        The suffix of the file that the format was detected for. If given, the format applies only to files with this
        suffix.
    encoding : str
        The encoding of text files.
    max_document_bytes : int
        Refuse files with a document (a line, record, row, file or page) above this size, 100 MB by default. Otherwise
        a small compressed file could fill the memory. A fitted schema has the default.
    keep_text : bool or "auto"
        Whether the corpus keeps the texts as written, to quote them (`Corpus.texts`). "auto", the default, keeps up to
        100 MB of texts. A fitted schema has the default.
    lowercase, token_pattern, ngram_range, analyzer
        How texts become words, as in scikit-learn's `CountVectorizer`. Texts are normalized first (NFC; soft hyphens
        are removed).
    stop_words : str, sequence of str or None
        Words such as "the" and "of", which occur in all documents and would fill the top words of every topic: those
        of a language, by its code ("de") or name ("german"), or a list of words. "auto", the default, guesses the
        language from the first documents; if it is not clear, it is English. A list that contains "english" drops the
        English list and the other words. None keeps all words. Documents that are lists of tokens keep all tokens.
    stem : str, optional
        The language of a Snowball stemmer, which reduces words to their stems: a code ("de") or a name ("german").
    tokenizer : str or callable, optional
        Splits texts into words, in place of `token_pattern`: the import path of a function, such as "jieba:lcut";
        "characters:2" for pairs of characters of scripts without spaces, and words of other scripts; or a function,
        which is not saved. By default "characters:2" for texts of such scripts.
    allow_tokenizer : bool
        Whether a tokenizer may be imported. False in the schema of a saved model or corpus, unless it is loaded with
        ``allow_tokenizer=True``; not saved.
    phrases : bool or sequence of pairs of str
        Join words that often stand next to each other (without the stop words between them), such as "new_york". True
        finds them in the training data; a fitted schema has the pairs that were found. Pairs may also be given.
    phrase_min_count, phrase_threshold
        With ``phrases=True``: how often a pair must occur, and its smallest NPMI (normalized pointwise mutual
        information), between -1 and 1.
    min_df, max_df, max_features, vocabulary
        Which words are kept, as in `CountVectorizer`, except that the default of `min_df` and `max_df` is "auto": it
        keeps all words of fewer than 100 documents; below 1,000 documents it drops words that occur in one document,
        above in fewer than five; and from 100 documents words that occur in more than half of them. The format "java"
        keeps all words by default.

    Examples
    --------
    >>> import pandas as pd
    >>> from metalda import Corpus
    >>> films = pd.DataFrame({"plot": ["war and peace", "love story"], "year": [1956, 1970]})
    >>> schema = Corpus.from_frame(films, text="plot", bins={"year": 2}).schema
    >>> schema.text, schema.bins
    (('plot',), {'year': (1970.0,)})
    >>> new = pd.DataFrame({"plot": ["star wars"], "year": [1977]})
    >>> Corpus.from_frame(new, schema=schema).label_names
    ('year < 1970', 'year ≥ 1970')
    """

    text: Sequence[str] = ()
    labels: Sequence[str] = ()
    id: str | None = None
    label_delimiter: str | None = None
    bins: Mapping[str, int | Sequence[float]] = field(default_factory=dict)
    numbers: Mapping[str, Sequence[float] | None] = field(default_factory=dict)
    decimal: str = "."
    format: str | None = None
    suffix: str | None = None
    encoding: str = "utf-8"
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    keep_text: bool | str = AUTO
    lowercase: bool = True
    token_pattern: str = TOKEN_PATTERN
    stop_words: str | Sequence[str] | None = AUTO
    stem: str | None = None
    tokenizer: str | Callable[[str], Sequence[str]] | None = None
    allow_tokenizer: bool = field(default=True, compare=False)
    ngram_range: tuple[int, int] = (1, 1)
    analyzer: str | Callable[[str], Sequence[str]] | None = None
    phrases: bool | Sequence[Sequence[str]] = False
    phrase_min_count: int = PHRASE_MIN_COUNT
    phrase_threshold: float = PHRASE_THRESHOLD
    min_df: float | str = AUTO
    max_df: float | str = AUTO
    max_features: int | None = None
    vocabulary: Sequence[str] | None = None
    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = vars(self).copy()
        numbers = given["numbers"]
        if not isinstance(numbers, Mapping):
            numbers = dict.fromkeys(names_of_columns("numbers", numbers))
        checked: dict[str, object] = {
            "text": names_of_columns("text", given["text"]),
            "labels": names_of_columns("labels", given["labels"]),
            "bins": {name: checked_bins(name, spec) for name, spec in by_column("bins", given["bins"]).items()},
            "numbers": {name: checked_scale(name, spec) for name, spec in by_column("numbers", numbers).items()},
            "vectors": {
                name: checked_scale(name, spec) for name, spec in by_column("vectors", given["vectors"]).items()
            },
            "stop_words": checked_stop_words(given["stop_words"]),
            "stem": None if given["stem"] is None else checked_stem(given["stem"]),
            "phrases": checked_phrases(given["phrases"]),
            "ngram_range": checked_ngram_range(given["ngram_range"]),
            "vocabulary": None if given["vocabulary"] is None else fixed_vocabulary(given["vocabulary"]),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        for name in ("id", "label_delimiter", "format", "suffix"):
            if not isinstance(given[name], str | None):
                raise InputError(f"{name}={given[name]!r}: a string is needed")
        for name, kind in (("encoding", str), ("token_pattern", str), ("lowercase", bool)):
            if not isinstance(given[name], kind):
                raise InputError(f"{name}={given[name]!r}: {kind.__name__} is needed, not {type(given[name]).__name__}")
        if self.decimal not in (".", ","):
            raise InputError(f"decimal={self.decimal!r}: the decimal mark is '.' or ',' (--decimal)")
        if not isinstance(self.keep_text, bool) and self.keep_text != AUTO:
            raise InputError(f"keep_text={self.keep_text!r}: True, False or 'auto' is needed (--keep-text)")
        if self.label_delimiter == "":
            raise InputError("label_delimiter is empty: give the character between labels (--label-delimiter)")
        if twice := set(self.numbers).intersection(self.bins):
            raise InputError(f"the field {min(twice)!r} is given both in bins and in numbers: choose one")
        if self.format is not None and self.format not in FORMATS:
            raise InputError(f"format={self.format!r} is not known: use one of {', '.join(FORMATS)} (--input-format)")
        text_codec(self.encoding)
        if not (callable(self.analyzer) or self.analyzer in (None, FUNCTION, *_ANALYZERS)):
            raise InputError(f"analyzer={self.analyzer!r}: give {', '.join(map(repr, _ANALYZERS))} or a function")
        self._check_words()
        self._check_phrases()
        self._check_filters()

    def _check_phrases(self) -> None:
        count, threshold = self.phrase_min_count, self.phrase_threshold
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
            raise InputError(f"phrase_min_count={count!r}: an integer of at least 1 is needed (--phrase-min-count)")
        if not is_finite(threshold) or not -1 <= threshold <= 1:
            raise InputError(
                f"phrase_threshold={threshold!r}: a number between -1 and 1 is needed (--phrase-threshold)"
            )
        if self.phrases is False or self.phrases == ():
            return
        if self.ngram_range != (1, 1):
            raise InputError("phrases and ngram_range exclude each other: give one (--phrases, --ngrams)")
        if self.analyzer in ("char", "char_wb"):
            raise InputError(f"phrases consist of words, but the analyzer is {self.analyzer!r}: give one of them")
        if self.phrases is True and self.vocabulary is not None:
            raise InputError("phrases=True and vocabulary= exclude each other: give the phrases as a list of pairs")

    def _check_words(self) -> None:
        """Check the settings that only apply to words, and no two of which may contradict each other."""
        tokenizer = self.tokenizer
        if not isinstance(self.allow_tokenizer, bool):
            raise InputError(f"allow_tokenizer={self.allow_tokenizer!r}: True or False is needed")
        if tokenizer is not None and tokenizer != FUNCTION and not callable(tokenizer):
            if not isinstance(tokenizer, str):
                raise InputError(f"tokenizer={tokenizer!r}: give the import path of a function, or a function")
            check_tokenizer(tokenizer)
        if tokenizer is not None and self.token_pattern != TOKEN_PATTERN:
            raise InputError("tokenizer and token_pattern exclude each other: give one (--tokenizer, --token-pattern)")
        for name in ("tokenizer", "stem"):
            if getattr(self, name) is not None and self.analyzer not in (None, "word"):
                raise InputError(f"{name} has no effect on the analyzer {self.analyzer!r}: give one of them")

    def _check_filters(self) -> None:
        for name in ("min_df", "max_df"):
            value = getattr(self, name)
            if value == AUTO:
                continue
            if isinstance(value, bool) or not isinstance(value, Real):
                raise InputError(f"{name}={value!r}: a number of documents, a share of them, or 'auto' is needed")
            if value < 0 or (not isinstance(value, Integral) and not value <= 1):
                raise InputError(f"{name}={value!r}: an integer counts documents, a float is a share between 0 and 1")
        size = self.max_document_bytes
        if isinstance(size, bool) or not isinstance(size, Integral) or not 1 <= int(size) < 2**62:
            raise InputError(f"max_document_bytes={size!r}: a number of bytes of at least 1 is needed")
        n = self.max_features
        if n is not None and (isinstance(n, bool) or not isinstance(n, Integral) or n < 1):
            raise InputError(f"max_features={n!r}: an integer of at least 1 is needed")

    def frequency_filters(self, n_documents: int) -> tuple[float, float]:
        """Return `min_df` and `max_df`, with the values of "auto" for this number of documents.

        "auto" drops the words that make topics worse in large corpora. Words of few documents say little about which
        words belong together; MetaLDA collects them in topics without a theme. Words of most documents do not tell
        topics apart. Tiny corpora keep all words, because few of their words occur twice.
        """
        low, high = self.min_df, self.max_df
        if isinstance(low, str):
            low = next((least for size, least in _AUTO_MIN_DF if n_documents >= size), 1)
        if isinstance(high, str):
            high = _AUTO_MAX_DF if n_documents >= _AUTO_MAX_DF_FROM else 1.0
        return low, high

    @property
    def phrase_limits(self) -> tuple[int, float]:
        """Return how often a phrase must occur, and its smallest NPMI."""
        return int(self.phrase_min_count), float(self.phrase_threshold)

    @property
    def has_labels(self) -> bool:
        """Return whether some column gives labels or numbers."""
        return bool(self.labels or self.bins or self.numbers or self.vectors)

    @property
    def scales(self) -> dict[str, Sequence[float]]:
        """Return center and scale of the numbers that a corpus has standardized."""
        return {column: scale for column, scale in {**self.numbers, **self.vectors}.items() if scale is not None}

    def require_tokenizer(self) -> None:
        """Raise InputError if texts cannot be tokenized: by a function that was not kept, or that is not allowed."""
        if FUNCTION in (self.analyzer, self.tokenizer):
            raise InputError(
                "the model was trained on texts that your own function tokenized, and functions are not saved; use the "
                "model in Python, with documents from Corpus.from_texts(texts, analyzer=...)"
            )
        if runs_code(self.tokenizer) and not self.allow_tokenizer:
            raise InputError(
                f"the texts of training were tokenized by {self.tokenizer!r}, and to tokenize new ones runs this "
                "function: if you trust it, load the model or corpus with allow_tokenizer=True (--allow-tokenizer)"
            )

    def fits(self, X: object) -> bool:
        """Return whether X is a frame with the text columns of this schema, which hold texts or lists of tokens."""
        if not self.text or not is_frame(X):
            return False
        frame = collect_frame(X)
        names = column_names(frame)
        if not set(self.text) <= set(names):
            return False
        cells = (cell for name in self.text for cell in column_values(frame, names.index(name)))
        return not isinstance(next((cell for cell in cells if not is_missing(cell)), ""), Real)

    def override(self, **given: Any) -> Schema:
        """Replace the fields that are given; labels replace all columns that give labels.

        None stands for a column, format or encoding that is not given.
        """
        given = {name: value for name, value in given.items() if value is not None or name in _NONE_IS_A_VALUE}
        if "labels" in given:
            given = {"bins": {}, "numbers": {}, **given}
        if "tokenizer" in given:  # who names a tokenizer allows it
            given = {"allow_tokenizer": True, **given}
        return replace(self, **given)

    def without_columns(self) -> Schema:
        """Return the schema for texts alone, or texts with labels that are given in another way."""
        return replace(self, text=(), labels=(), id=None, bins={}, numbers={}, vectors={}, label_delimiter=None)

    @classmethod
    def for_path(cls, path: Location, schema: Schema | None = None, **given: Any) -> Schema:
        """Return the schema for the data at `path`, with its format: a schema, overridden by arguments.

        The columns of the schema are dropped if the format has none.
        """
        base = cls() if schema is None else schema
        suffix = uncompressed_suffix(path)
        is_other = base.format == "folder" if isinstance(path, Stream) else path.is_dir() or suffix != base.suffix
        if base.suffix is not None and is_other:
            base = replace(base, format=None)
        found = find_format(path, given.get("format") or base.format, given.get("encoding") or base.encoding)
        if schema is not None and not found.has_fields:
            delimiter = base.label_delimiter if found.delimited_labels else None
            base = replace(base.without_columns(), label_delimiter=delimiter)
        if schema is None and found.tokenized:
            base = replace(base, stop_words=None, **NO_FREQUENCY_FILTERS)
        result = base.override(**{**given, "format": found.name, "suffix": suffix})
        if not found.has_fields:
            without = _COLUMNS if found.delimited_labels else (*_COLUMNS, "label_delimiter")
            for name in without:
                if getattr(result, name):
                    option = name.replace("_", "-")
                    remedy = "; give the format with format= (--input-format)" if isinstance(path, Stream) else ""
                    raise InputError(
                        f"{path}: the format {found.name!r} has no fields: {name}= (--{option}) has no meaning{remedy}"
                    )
        return result

    def fitted(self, **found: Any) -> Schema:
        """Return the schema for new documents: with the columns, edges and scales `found`, without filters."""
        kept = {
            "analyzer": FUNCTION if callable(self.analyzer) else self.analyzer,
            "tokenizer": FUNCTION if callable(self.tokenizer) else self.tokenizer,
            "stop_words": ENGLISH if self.stop_words == AUTO else self.stop_words,
            "max_document_bytes": MAX_DOCUMENT_BYTES,
            "keep_text": AUTO,
        }
        return replace(self, **{**found, **_FILTERS, **kept})

    def to_json(self) -> dict[str, object]:
        """Return a fitted schema as plain data for JSON."""
        return {name: value for name, value in asdict(self).items() if name not in _NOT_SAVED}

    @classmethod
    def from_json(cls, saved: object, *, allow_tokenizer: bool = False) -> Schema:
        """Return the fitted schema that `to_json` wrote; ValueError if the data are damaged.

        Its tokenizer is not imported here, and later only if it is allowed.
        """
        names = {each.name for each in fields(cls)} - set(_NOT_SAVED)
        if not isinstance(saved, dict) or set(saved) != names:
            raise ValueError("the schema does not have the fields of a schema")
        try:
            schema = cls(**saved, allow_tokenizer=allow_tokenizer)
            compile_pattern(schema.token_pattern)
        except (InputError, TypeError) as error:
            raise ValueError(f"the schema is not valid: {error}") from error
        scales = *schema.numbers.values(), *schema.vectors.values()
        if any(isinstance(spec, int) for spec in schema.bins.values()) or None in scales:
            raise ValueError("the schema has bins without edges, or numbers without a scale")
        if any(getattr(schema, name) != value for name, value in _FILTERS.items()):
            raise ValueError("the schema has filters, which are for training only")
        if schema.stop_words == AUTO or schema.phrases is True:
            raise ValueError("the schema has stop words or phrases that are still to be found")
        return schema
