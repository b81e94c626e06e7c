"""The corpus: documents as flat word ids with offsets, their vocabulary, labels and ids; frozen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, hstack

from metalda.corpus.columns import as_ids
from metalda.corpus.counts import expand_counts
from metalda.corpus.hints import warn_of_label_columns
from metalda.corpus.inspection import inspected
from metalda.corpus.labels import as_labels
from metalda.corpus.matrix import NamedMatrix, first_duplicate, row_indices, take_rows
from metalda.corpus.prepared import load_parts, prepare_corpus, save_parts
from metalda.corpus.readers import Document
from metalda.corpus.schema import PHRASE_MIN_COUNT, PHRASE_THRESHOLD, TOKEN_PATTERN, Schema, SchemaFields
from metalda.corpus.settings import AUTO
from metalda.corpus.source import Source, collect, frame_source, open_source
from metalda.corpus.stream import Data, locate_data
from metalda.corpus.vectors import standardize_vectors
from metalda.corpus.vocabulary import keep_words, require_unicode
from metalda.errors import InputError
from metalda.storage import PathLike, locate
from metalda.utils.checks import reading_damage
from metalda.utils.chunks import tally
from metalda.utils.frames import Frame, as_list, is_missing
from metalda.utils.keywords import names_wrong_keywords
from metalda.utils.markup import html_table
from metalda.utils.packed import PackedStrings, SelectedStrings, take_strings

N = TypeVar("N", bound=np.integer)

Seed = int | np.random.Generator | None
ColumnNames = str | Sequence[str]
StopWords = str | Iterable[str] | None
Bins = Mapping[str, int | Sequence[float]]
Numbers = str | Sequence[str] | Mapping[str, Sequence[float] | None]

_TOKENIZING = (
    "lowercase",
    "token_pattern",
    "stop_words",
    "stem",
    "tokenizer",
    "phrases",
    "phrase_min_count",
    "phrase_threshold",
    "ngram_range",
    "min_df",
    "max_df",
    "max_features",
    "analyzer",
    "vocabulary",
    "keep_text",
)  # of texts, keywords of `read` and `from_frame`
_COLUMNS = ("text", "labels", "id", "format", "label_delimiter", "bins", "numbers", "decimal", "encoding")
_SHOWN_DOCUMENTS = 5  # in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Documents, in the form that models read.

    Made by `read`, `from_texts`, `from_tokens`, `from_frame` or `from_counts`; word order is kept.

    Parameters
    ----------
    words : array of int32
        All documents one after the other, as indices into the vocabulary.
    offsets : array of int64
        Document d is ``words[offsets[d]:offsets[d + 1]]``.
    vocabulary : tuple of str
        Distinct words.
    labels : NamedMatrix, optional
        A row per document.
    ids : sequence of str, optional
        An id per document.
    schema : Schema, optional
        How raw data became this corpus. A model that learns from the corpus reads new texts, frames and files in the
        same way. None if the corpus was built from tokens or counts.
    texts : sequence of str, optional
        The texts of the documents as written, to quote them. `read`, `from_texts`, `from_frame` and `prepare` keep up
        to 100 MB of texts (``keep_text="auto"``), all of them (True) or none (False). Documents that are lists of
        tokens have none, unless `with_texts` gives them. A model does not save them.

    Examples
    --------
    >>> from metalda import Corpus
    >>> corpus = Corpus.from_texts(["The cat saw the dog.", "It rains."], ["pets", "weather"])
    >>> corpus.vocabulary
    ('cat', 'dog', 'rains', 'saw')
    >>> corpus.document(0), corpus.label_names
    (['cat', 'saw', 'dog'], ('pets', 'weather'))
    >>> train, test = corpus.split(test_size=0.5, random_state=0)
    >>> len(train), len(test)
    (1, 1)
    """

    words: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vocabulary: tuple[str, ...]
    labels: NamedMatrix | None = None
    ids: Sequence[str] | None = None
    schema: Schema | None = None
    texts: Sequence[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", _frozen_integers(self.words, np.int32))
        object.__setattr__(self, "offsets", _frozen_integers(self.offsets, np.int64))
        object.__setattr__(self, "vocabulary", tuple(self.vocabulary))
        if self.ids is not None and not isinstance(self.ids, PackedStrings):
            object.__setattr__(self, "ids", tuple(self.ids))
        if self.texts is not None and not isinstance(self.texts, PackedStrings | SelectedStrings):
            object.__setattr__(self, "texts", tuple(self.texts))
        self._check()

    def _check(self) -> None:
        """Validate the arrays once, because kernels use them as indices without checks."""
        words, offsets, n_words, n_documents = self.words, self.offsets, len(self.vocabulary), len(self.offsets) - 1
        # offsets are compared instead of subtracted: differences of extreme values overflow
        rises = len(offsets) and offsets[0] == 0 and offsets[-1] == len(words) and (offsets[1:] >= offsets[:-1]).all()
        if not rises:
            raise InputError(f"offsets must rise from 0 to the number of words, {len(words):,}")
        # viewed as unsigned numbers, negative ids are too large as well, so one pass is enough
        if len(words) and words.view(np.uint32).max() >= n_words:
            raise InputError(f"words must be indices into the vocabulary of {n_words:,} words")
        if not all(isinstance(word, str) for word in self.vocabulary):
            raise InputError("the vocabulary must hold strings only")
        require_unicode(self.vocabulary)
        if len(set(self.vocabulary)) < n_words:
            raise InputError(f"the vocabulary has the word {first_duplicate(self.vocabulary)!r} twice")
        for name, rows in (("labels", self.labels), ("ids", self.ids), ("texts", self.texts)):
            if rows is not None and len(rows) != n_documents:
                raise InputError(f"{name} for {len(rows):,} documents, but there are {n_documents:,} documents")

    @classmethod
    @names_wrong_keywords()
    def from_texts(
        cls,
        texts: Iterable[str | None],
        labels: object = None,
        ids: Iterable[object] | None = None,
        *,
        lowercase: bool = True,
        token_pattern: str = TOKEN_PATTERN,
        stop_words: StopWords = AUTO,
        stem: str | None = None,
        tokenizer: str | Callable[[str], Sequence[str]] | None = None,
        phrases: bool | Sequence[Sequence[str]] = False,
        phrase_min_count: int = PHRASE_MIN_COUNT,
        phrase_threshold: float = PHRASE_THRESHOLD,
        ngram_range: tuple[int, int] = (1, 1),
        min_df: float | str = AUTO,
        max_df: float | str = AUTO,
        max_features: int | None = None,
        analyzer: str | Callable[[str], Sequence[str]] | None = None,
        vocabulary: Iterable[str] | Mapping[str, int] | None = None,
        keep_text: bool | str = AUTO,
    ) -> Corpus:
        """Tokenize texts by the conventions of scikit-learn's `CountVectorizer`.

        Parameters
        ----------
        texts : iterable of str
            None counts as an empty document.
        labels : optional
            A label per document, lists of labels, or an indicator matrix or frame.
        ids : iterable, optional
            An id per document.
        stop_words : str, iterable of str or None
            Words to drop, because words such as "the" and "of" occur in all documents and would fill the top words of
            every topic: those of a language, by its code (``"de"``) or name (``"german"``), or a list of words.
            ``"auto"`` guesses the language from the first documents, and says if it is not English; English if it is
            not clear. ``["english", "film"]`` drops the English list and "film", and
            ``[*metalda.stop_words("de"), "film"]`` the German list. None keeps all words.
        stem : str, optional
            Reduce words to their stems by the Snowball stemmer of a language: ``"german"`` or ``"de"``.
        tokenizer : str or callable, optional
            Splits a text into words, in place of `token_pattern`, for languages that are written without spaces: the
            import path of a function, such as ``"jieba:lcut"``; ``"characters:2"`` for pairs of characters; or a
            function, which is not saved with a model. Tokens without a letter or digit are dropped. By default texts
            with many letters of such scripts are cut into pairs of characters, with a hint.
        phrases : bool or list of pairs
            Join two words that stand next to each other, after stop words were dropped, more often than by chance:
            ``"new_york"``. The phrases that are found become part of the schema, and are joined in new texts. A list of
            pairs, such as ``[("new", "york")]``, joins these only.
        phrase_min_count, phrase_threshold : int, float
            How often a phrase must occur, and its smallest NPMI (normalized pointwise mutual information): 1 for words
            that only occur together, 0 for words that do so by chance.
        min_df, max_df : int, float or "auto"
            Drop words that occur in fewer, or in more, documents: a number of documents, or a share of them as a float.
            With "auto", all words of fewer than 100 documents are kept; from 100 documents words in a single document
            are dropped, from 1,000 those in fewer than five, and from 100 those in more than half of the documents.
            The number of words dropped is logged. ``min_df=1, max_df=1.0`` keeps all.
        lowercase, token_pattern, ngram_range, max_features, analyzer, vocabulary
            As in `CountVectorizer`; an analyzer may be a function from a text to its tokens.
        keep_text : bool or "auto"
            Keep the texts as written, to quote them: `texts`. "auto" keeps up to 100 MB.
        """
        settings: SchemaFields = {
            "lowercase": lowercase,
            "token_pattern": token_pattern,
            "stop_words": stop_words,
            "stem": stem,
            "tokenizer": tokenizer,
            "phrases": phrases,
            "phrase_min_count": phrase_min_count,
            "phrase_threshold": phrase_threshold,
            "ngram_range": ngram_range,
            "min_df": min_df,
            "max_df": max_df,
            "max_features": max_features,
            "analyzer": analyzer,
            "vocabulary": vocabulary,
            "keep_text": keep_text,
        }
        return cls._read_texts(inspected(_texts_source(texts, Schema(**settings))), labels, ids)

    @classmethod
    def texts_like(cls, texts: Iterable[str | None], labels: object, schema: Schema) -> Corpus:
        """Tokenize new texts by the schema of a corpus or model: nothing is guessed, and all words are kept.

        Its columns have no meaning for texts. Labels are those of `from_texts`.
        """
        return cls._read_texts(_texts_source(texts, schema.without_columns()), labels, None)

    @classmethod
    def _read_texts(cls, source: Source, labels: object, ids: Iterable[object] | None) -> Corpus:
        return cls(**collect(source))._with_meta(labels, ids)

    @classmethod
    @names_wrong_keywords()
    def from_tokens(
        cls,
        documents: Iterable[Sequence[str]],
        labels: object = None,
        ids: Iterable[object] | None = None,
        *,
        vocabulary: Iterable[str] | Mapping[str, int] | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        stop_words: StopWords = None,
    ) -> Corpus:
        """Build a corpus from tokenized documents: a list of strings each. All words are kept by default."""
        if isinstance(documents, str | bytes):
            raise InputError("documents must be a list of lists of tokens, not one string")
        settings: SchemaFields = {
            "vocabulary": vocabulary,
            "min_df": min_df,
            "max_df": max_df,
            "stop_words": stop_words,
        }
        source = Source("corpus", map(Document, as_list(documents)), Schema(**settings), texts=False)
        found = collect(source)
        found["schema"] = None
        return cls(**found)._with_meta(labels, ids)

    @classmethod
    @names_wrong_keywords()
    def from_counts(
        cls,
        matrix: object,
        labels: object = None,
        ids: Iterable[object] | None = None,
        *,
        vocabulary: Iterable[str] | None = None,
    ) -> Corpus:
        """Build a corpus from a document-term matrix of counts: dense, sparse, or a frame whose columns are the words.

        Counts have no word order: the words of each document get an order that depends only on the document. Without
        a vocabulary the words are called "x0", "x1", …
        """
        tokens = expand_counts(matrix, vocabulary)
        _freeze(tokens.words, tokens.offsets)
        return cls(*tokens)._with_meta(labels, ids)

    def _with_meta(self, labels: object, ids: Iterable[object] | None) -> Corpus:
        return replace(self, labels=as_labels(labels, len(self)), ids=as_ids(ids))

    @classmethod
    @names_wrong_keywords(*_TOKENIZING)
    def from_frame(
        cls,
        frame: Frame,
        text: ColumnNames | None = None,
        labels: ColumnNames | None = None,
        id: str | None = None,
        label_delimiter: str | None = None,
        bins: Bins | None = None,
        numbers: Numbers | None = None,
        *,
        decimal: str | None = None,
        schema: Schema | None = None,
        **tokenizing: Any,
    ) -> Corpus:
        """Read the rows of a DataFrame of pandas or polars; the other arguments are those of `read`.

        A `Dataset` of Hugging Face is read as well, column by column; its classes (`ClassLabel`) become labels with
        their names. So is any table that converts to pandas or has the Arrow interface (``__arrow_c_stream__``), such
        as a table of pyarrow or a relation of DuckDB.
        """
        found = (schema or Schema()).override(
            text=text,
            labels=labels,
            id=id,
            label_delimiter=label_delimiter,
            bins=bins,
            numbers=numbers,
            decimal=decimal,
            **tokenizing,
        )
        source = frame_source(frame, found)
        if schema is not None:
            return cls(**collect(source))
        return cls(**collect(inspected(source)))._with_hints()

    @classmethod
    @names_wrong_keywords(*_TOKENIZING)
    def read(
        cls,
        path: Data,
        *,
        text: ColumnNames | None = None,
        labels: ColumnNames | None = None,
        id: str | None = None,
        format: str | None = None,
        label_delimiter: str | None = None,
        bins: Bins | None = None,
        numbers: Numbers | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        max_document_bytes: int | None = None,
        schema: Schema | None = None,
        verbose: bool = False,
        **tokenizing: Any,
    ) -> Corpus:
        """Read a file or a folder of files, in one pass.

        Parameters
        ----------
        path : path-like or binary file
            ``"-"`` for standard input, a pipe, an open binary file, or the path of a file or folder. Formats are JSON
            Lines (or a JSON array of objects), CSV, TSV, Parquet, text (a document per line), a Wikipedia dump, and
            ``ID<TAB>labels<TAB>words`` of the Java MetaLDA, each also compressed (.gz, .bz2, .xz); or a folder with a
            document per file, whose subfolders are the labels.
        text : str or list of str, optional
            The field that holds the text, or several to join. A field that holds lists of strings is used as tokens.
        labels : str or list of str, optional
            Fields with labels: names, or lists of names. With several fields labels are called ``field=value``.
        id : str, optional
            The field that names the documents; ``"id"`` if there is one.
        format : {"jsonl", "csv", "tsv", "parquet", "text", "folder", "java", "wikipedia"}, optional
            Detected from the suffix of the file name by default. A stream has none: JSON, Parquet, the Java format and
            Wikipedia dumps are detected from the first bytes, and other streams are text unless the format is given.
        label_delimiter : str, optional
            Splits a string into several labels.
        bins : dict, optional
            For numeric fields: the number of quantile bins, or the inner edges.
        numbers : str, list of str or dict, optional
            Numeric fields that are standardized covariates, for models with real-valued labels (DMR): the mean is
            subtracted and the result divided by the standard deviation. A dict gives the center and the scale.
        decimal : {".", ","}, optional
            The decimal mark of numbers that are texts, as in CSV files; a point by default.
        encoding : str, optional
            The encoding of text files; UTF-8 by default.
        max_document_bytes : int, optional
            The largest document, 100 MB by default: a file with a larger line, record, row or page (or a folder with a
            larger file) is refused, because a small compressed file can contain a document that fills the memory.
        schema : Schema, optional
            How to read, for example `model.schema_`: new documents are then read like the training data, with the
            same columns, bins, scales and tokenizing. Arguments override it. Its columns are ignored if the format
            has none, and its format is ignored for a file with another suffix.
        verbose : bool
            Show a progress bar, on a terminal or in a notebook.
        **tokenizing
            The settings of `from_texts`. Stop words are dropped from texts, but not from lists of tokens or the format
            "java", which keeps all words also with respect to `min_df` and `max_df`.
        """
        place = locate_data(path)
        found = Schema.for_path(
            place,
            schema,
            text=text,
            labels=labels,
            id=id,
            format=format,
            label_delimiter=label_delimiter,
            bins=bins,
            numbers=numbers,
            decimal=decimal,
            encoding=encoding,
            max_document_bytes=max_document_bytes,
            **tokenizing,
        )
        source = open_source(place, found, verbose=verbose)
        if schema is not None:
            return cls(**collect(source))
        return cls(**collect(inspected(source)))._with_hints()

    @classmethod
    @names_wrong_keywords(*_COLUMNS, *_TOKENIZING, "max_document_bytes")
    def prepare(
        cls,
        path: Data,
        output: PathLike,
        *,
        n_jobs: int | None = 1,
        verbose: bool = False,
        resume: bool = True,
        schema: Schema | None = None,
        **reading: Any,
    ) -> Corpus:
        """Read texts of any size into a folder, in bounded memory; the corpus equals that of `read`, memory-mapped.

        Memory holds a few megabytes of text for each process, and the vocabulary.

        Parameters
        ----------
        path, verbose, schema, **reading
            As in `read`.
        output : path-like
            The folder, which `load` can read later.
        n_jobs : int
            Processes that tokenize; -1 is all cores. For more than one, a script must guard its
            code with ``if __name__ == "__main__":``.
        resume : bool
            Resume an interrupted call with the same arguments; with False start again. It is an error if the data or
            the arguments have changed since. A stream cannot be resumed.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "texts.txt").write_text("The cat saw the dog.\\nIt rains.\\n")
        ...     corpus = Corpus.prepare(Path(folder, "texts.txt"), Path(folder, "corpus"))
        >>> corpus
        Corpus: 2 documents, 4 tokens, 4 words
        """
        place = locate_data(path)
        found = Schema.for_path(place, schema, **reading)
        guess = schema is None
        prepare_corpus(place, locate(output), found, n_jobs=n_jobs, verbose=verbose, resume=resume, guess=guess)
        corpus = cls.load(output, allow_tokenizer=found.allow_tokenizer)
        return corpus if schema is not None else corpus._with_hints()

    def _with_hints(self) -> Corpus:
        """Warn of label columns that were probably meant otherwise. The columns of a given schema are known to fit."""
        if self.schema is not None:
            warn_of_label_columns(self.label_names, self.schema, len(self))
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of documents and of words in the vocabulary."""
        return len(self), len(self.vocabulary)

    @property
    def n_tokens(self) -> int:
        """Return the number of tokens of all documents."""
        return len(self.words)

    @property
    def label_names(self) -> tuple[str, ...]:
        """Return the names of the labels; empty without labels."""
        return () if self.labels is None else self.labels.names

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[list[str]]:
        return (self.document(i) for i in range(len(self)))

    def __getitem__(self, index: object) -> Corpus:
        """Return the documents that a list of integers, a mask or a slice selects; the vocabulary is kept."""
        rows = row_indices(index, len(self))
        words, offsets = take_rows(self.words, self.offsets, rows)
        _freeze(words, offsets)
        labels = None if self.labels is None else self.labels[rows]
        ids = None if self.ids is None else tuple(self.ids[i] for i in rows)
        texts = None if self.texts is None else take_strings(self.texts, rows)
        return replace(self, words=words, offsets=offsets, labels=labels, ids=ids, texts=texts)

    def subset(self, indices: object) -> Corpus:
        """Return ``corpus[indices]``."""
        return self[indices]

    def document(self, i: int) -> list[str]:
        """Return the words of one document."""
        i = range(len(self))[i]
        return [self.vocabulary[word] for word in self.words[self.offsets[i] : self.offsets[i + 1]]]

    def split(self, test_size: float = 0.2, random_state: Seed = 0) -> tuple[Corpus, Corpus]:
        """Split at random into training and test documents.

        Each part keeps the order of the documents, and its vocabulary has only the words that occur in it. Words that
        occur only in test documents are therefore out of vocabulary. Both parts keep all label names.

        Parameters
        ----------
        test_size : float or int
            A share, or a number of documents.
        random_state : int, Generator or None
        """
        is_test = _held_out(len(self), test_size, random_state)
        return self[~is_test].trim(), self[is_test].trim()

    def trim(self) -> Corpus:
        """Drop the words that occur in no document."""
        used = tally(self.words, len(self.vocabulary)) > 0
        words, offsets = keep_words(self.words, self.offsets, used)
        _freeze(words, offsets)
        vocabulary = tuple(self.vocabulary[v] for v in np.flatnonzero(used))
        return replace(self, words=words, offsets=offsets, vocabulary=vocabulary)

    def counts(self) -> csr_array:
        """Return the document-term matrix, int32."""
        parts = (np.ones(self.n_tokens, np.int32), self.words.copy(), self.offsets.copy())
        matrix = csr_array(parts, shape=self.shape)
        matrix.sum_duplicates()
        return matrix

    def with_labels(self, y: object) -> Corpus:
        """Return the same documents with these labels, in any form that `from_texts` takes.

        The schema then names no label columns.
        """
        schema = None if self.schema is None else self.schema.override(labels=(), vectors={})
        return replace(self, labels=as_labels(y, len(self)), schema=schema)

    def with_vectors(self, vectors: ArrayLike) -> Corpus:
        """Return the same documents with vectors, such as embeddings of their texts, besides their labels.

        The columns are numbers with the names ``vector0``, ``vector1``, …, standardized as in training if the corpus
        was read with the schema of a model. MetaLDA and DMR learn from them.

        Parameters
        ----------
        vectors : array of shape (n_documents, n_dimensions)
            Finite numbers.

        Examples
        --------
        >>> from metalda import Corpus
        >>> corpus = Corpus.from_texts(["cat dog", "rain sun", "dog rain"]).with_vectors([[0.3, 1], [0.5, 2], [0.1, 9]])
        >>> corpus.label_names
        ('vector0', 'vector1')
        """
        schema = Schema(stop_words=None).fitted() if self.schema is None else self.schema
        found, scales = standardize_vectors(vectors, len(self), schema.vectors)
        if twice := set(found.names).intersection(self.label_names):
            raise InputError(
                f"the documents have a label or number {min(twice)!r} already, the name of a vector column"
            )
        labels = found
        if self.labels is not None:
            both = csr_array(hstack([self.labels.matrix, found.matrix]))
            labels = NamedMatrix(both, (*self.labels.names, *found.names))
        return replace(self, labels=labels, schema=replace(schema, vectors=scales))

    def with_texts(self, texts: Iterable[str] | None) -> Corpus:
        """Return the same documents with these texts, to quote them; None drops those that the corpus has.

        Examples
        --------
        >>> from metalda import Corpus
        >>> corpus = Corpus.from_tokens([["cat", "sleep"], ["rain"]]).with_texts(["The cats slept.", "It rained!"])
        >>> corpus.texts[0]
        'The cats slept.'
        """
        if texts is None:
            return replace(self, texts=None)
        if isinstance(texts, str):
            raise InputError("texts must be a list with a text per document, not one string")
        if not isinstance(texts, Iterable):
            raise InputError(f"texts must be a list with a text per document, not {texts!r}")
        return replace(self, texts=tuple(_checked_text(i, text) for i, text in enumerate(as_list(texts))))

    def without_labels(self) -> Corpus:
        """Return the same documents without labels."""
        return self.with_labels(None)

    def save(self, path: PathLike) -> None:
        """Save as a folder that `load` can memory-map."""
        save_parts(path, *self._parts)

    @classmethod
    def load(cls, path: PathLike, *, mmap: bool = True, allow_tokenizer: bool = False) -> Corpus:
        """Load a saved corpus; with ``mmap`` the words stay on disk until they are used.

        `allow_tokenizer` allows the tokenizer that its schema names, to tokenize new texts, as in `metalda.load`.
        """
        parts = load_parts(path, mmap=mmap, allow_tokenizer=allow_tokenizer)
        with reading_damage(path, "corpus", "save or prepare it again"):
            return cls(**parts)

    @property
    def _parts(
        self,
    ) -> tuple[
        NDArray[np.int32],
        NDArray[np.int64],
        tuple[str, ...],
        NamedMatrix | None,
        Sequence[str] | None,
        Schema | None,
        Sequence[str] | None,
    ]:
        return self.words, self.offsets, self.vocabulary, self.labels, self.ids, self.schema, self.texts

    def __deepcopy__(self, memo: dict[int, object]) -> Corpus:
        return self

    def __reduce__(self) -> tuple[type[Corpus], tuple[object, ...]]:
        return Corpus, self._parts

    def __repr__(self) -> str:
        sizes = [(len(self), "document"), (self.n_tokens, "token"), (len(self.vocabulary), "word")]
        if self.labels is not None:
            sizes.append((len(self.labels.names), "label"))
        return "Corpus: " + ", ".join(f"{n:,} {name}{'' if n == 1 else 's'}" for n, name in sizes)

    def _repr_html_(self) -> str:
        """Show the size and the first documents in a notebook."""
        n_shown = min(len(self), _SHOWN_DOCUMENTS)
        columns: dict[str, Sequence[object]] = {"document": range(n_shown) if self.ids is None else self.ids}
        if self.labels is not None:
            rows = (self.labels.matrix[[i]].indices for i in range(n_shown))
            columns["labels"] = [", ".join(self.labels.names[j] for j in row) for row in rows]
        columns["words"] = [" ".join(self.document(i)) for i in range(n_shown)]
        n_more = len(self) - n_shown
        note = f"… and {n_more:,} more" if n_more else ""
        return html_table(repr(self), list(columns), zip(*columns.values(), strict=False), note)


def _texts_source(texts: Iterable[str | None], schema: Schema) -> Source:
    if isinstance(texts, str | bytes) or hasattr(texts, "columns"):
        kind = "one string" if isinstance(texts, str | bytes) else "a frame"
        raise InputError(f"texts must be a list of strings, not {kind} (a frame is for Corpus.from_frame)")
    return Source("corpus", (Document(_checked_text(i, text)) for i, text in enumerate(texts)), schema)


def _checked_text(i: int, text: object) -> str:
    if isinstance(text, str):
        return text
    if is_missing(text):
        return ""
    raise InputError(f"document {i} is {type(text).__name__}, not a text (lists of tokens are for Corpus.from_tokens)")


def _frozen_integers(values: ArrayLike, dtype: type[N]) -> NDArray[N]:
    """Return a read-only, contiguous array in one dimension; writable memory of the caller is copied."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"words and offsets must be integers in one dimension, not {array.dtype} in {array.ndim}")
    limits = np.iinfo(dtype)
    fits = array.dtype == dtype or not array.size or (limits.min <= array.min() and array.max() <= limits.max)
    if not fits:
        raise InputError(f"words and offsets must fit into {limits.dtype}")
    whole: NDArray[N] = np.ascontiguousarray(array, dtype=dtype)
    if whole.flags.writeable and np.may_share_memory(whole, array):
        whole = whole.copy()
    whole.flags.writeable = False
    return whole


def _freeze(*arrays: NDArray[np.generic]) -> None:
    """Make arrays read-only, so that a corpus need not copy them."""
    for array in arrays:
        array.flags.writeable = False


def _held_out(n_documents: int, test_size: float, random_state: Seed) -> NDArray[np.bool_]:
    """Return a mask of the documents that a random split holds out."""
    if isinstance(test_size, Integral) and not isinstance(test_size, bool):
        n_test = int(test_size)
    elif isinstance(test_size, Real) and 0 < test_size < 1:
        n_test = math.ceil(test_size * n_documents)
    else:
        raise InputError(f"test_size={test_size!r}: give a share between 0 and 1, or a number of documents")
    if not 0 < n_test < n_documents:
        raise InputError(f"test_size={test_size!r} leaves no training or no test documents of {n_documents:,}")
    is_test = np.zeros(n_documents, dtype=bool)
    is_test[np.random.default_rng(random_state).permutation(n_documents)[:n_test]] = True
    return is_test
