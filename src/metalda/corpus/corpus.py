"""The corpus: documents as flat word ids with offsets, their vocabulary, labels and ids; frozen."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from metalda.corpus import building
from metalda.corpus.checking import check_parts, freeze, frozen_integers
from metalda.corpus.columns import Columns
from metalda.corpus.counting import expand_counts
from metalda.corpus.formats import read_path
from metalda.corpus.labels import as_labels
from metalda.corpus.named import NamedMatrix
from metalda.corpus.notebook import corpus_html
from metalda.corpus.rows import row_indices, take_rows
from metalda.corpus.saving import load_parts, save_parts
from metalda.corpus.splitting import held_out
from metalda.corpus.tokenising import TOKEN_PATTERN, Tokenising, keep_words
from metalda.errors import InputError, StorageError
from metalda.storage import PathLike
from metalda.utils.chunks import tally
from metalda.utils.packed import PackedStrings

Words = str | Iterable[str] | None


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
        All different.
    labels : NamedMatrix, optional
        A row per document.
    ids : sequence of str, optional
        A name per document.
    tokenising : Tokenising, optional
        How texts became these words. A model that learns from the corpus does the same with new texts.

    Examples
    --------
    >>> from metalda import Corpus
    >>> corpus = Corpus.from_texts(["The cat saw the dog.", "It rains."], ["pets", "weather"], stop_words="english")
    >>> corpus.vocabulary
    ('cat', 'dog', 'rains', 'saw')
    >>> corpus.document(0), corpus.label_names
    (['cat', 'saw', 'dog'], ('pets', 'weather'))
    >>> train, test = corpus.split(test_size=0.5, random_state=0)
    >>> len(train), len(test)
    (1, 1)
    """

    words: np.ndarray
    offsets: np.ndarray
    vocabulary: tuple[str, ...]
    labels: NamedMatrix | None = None
    ids: Sequence[str] | None = None
    tokenising: Tokenising | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", frozen_integers(self.words, np.int32))
        object.__setattr__(self, "offsets", frozen_integers(self.offsets, np.int64))
        object.__setattr__(self, "vocabulary", tuple(self.vocabulary))
        if self.ids is not None and not isinstance(self.ids, PackedStrings):
            object.__setattr__(self, "ids", tuple(self.ids))
        check_parts(self.words, self.offsets, self.vocabulary, self.labels, self.ids)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str | None],
        labels: Any = None,
        ids: Iterable[Any] | None = None,
        *,
        lowercase: bool = True,
        token_pattern: str = TOKEN_PATTERN,
        stop_words: Words = None,
        ngram_range: tuple[int, int] = (1, 1),
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        analyzer: str | Callable[[str], Sequence[str]] | None = None,
        vocabulary: Iterable[str] | Mapping[str, int] | None = None,
    ) -> "Corpus":
        """Tokenise texts by the conventions of scikit-learn's `CountVectorizer`.

        Parameters
        ----------
        texts : iterable of str
            None counts as an empty document.
        labels : optional
            A label per document, lists of labels, or an indicator matrix or frame.
        ids : iterable, optional
            A name per document.
        lowercase, token_pattern, stop_words, ngram_range, min_df, max_df, max_features, analyzer, vocabulary
            As in `CountVectorizer`; an analyzer may be a function from a text to its tokens.
        """
        settings = building.Settings(
            lowercase=lowercase,
            token_pattern=token_pattern,
            stop_words=stop_words,
            ngram_range=ngram_range,
            min_df=min_df,
            max_df=max_df,
            max_features=max_features,
            analyzer=analyzer,
            vocabulary=vocabulary,
        )
        return cls(**building.from_texts(texts, labels, ids, settings))

    @classmethod
    def from_tokens(
        cls,
        documents: Iterable[Sequence[str]],
        labels: Any = None,
        ids: Iterable[Any] | None = None,
        *,
        vocabulary: Iterable[str] | Mapping[str, int] | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        stop_words: Words = None,
    ) -> "Corpus":
        """Documents that are tokenised already: a list of strings each."""
        settings = building.Settings(stop_words=stop_words, min_df=min_df, max_df=max_df, vocabulary=vocabulary)
        return cls(**building.from_tokens(documents, labels, ids, settings))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        text: str | Sequence[str] | None = None,
        labels: str | Sequence[str] = (),
        id: str | None = None,
        label_delimiter: str | None = None,
        bins: Mapping[str, int | Sequence[float]] | None = None,
        numbers: str | Sequence[str] | Mapping[str, Sequence[float] | None] = (),
        **tokenising: Any,
    ) -> "Corpus":
        """The rows of a DataFrame of pandas or polars; the arguments are those of `read`."""
        columns = Columns(
            "frame", "row", text=text, labels=labels, id=id, delimiter=label_delimiter, bins=bins, numbers=numbers
        )
        return cls(**building.from_frame(frame, columns, building.Settings(**tokenising)))

    @classmethod
    def from_counts(
        cls,
        matrix: Any,
        labels: Any = None,
        ids: Iterable[Any] | None = None,
        *,
        vocabulary: Iterable[str] | None = None,
    ) -> "Corpus":
        """A document-term matrix of counts: dense, sparse, or a frame whose columns are the words.

        Counts have no word order: each document's words are put in an order that depends on nothing but the document.
        Without a vocabulary the words are called "x0", "x1", …
        """
        tokens = expand_counts(matrix, vocabulary)
        freeze(tokens.words, tokens.offsets)
        n_documents = len(tokens.offsets) - 1
        return cls(*tokens, labels=as_labels(labels, n_documents), ids=building.as_ids(ids))

    @classmethod
    def read(
        cls,
        path: PathLike,
        *,
        text: str | Sequence[str] | None = None,
        labels: str | Sequence[str] = (),
        id: str | None = None,
        format: str | None = None,
        label_delimiter: str | None = None,
        bins: Mapping[str, int | Sequence[float]] | None = None,
        numbers: str | Sequence[str] | Mapping[str, Sequence[float] | None] = (),
        encoding: str = "utf-8",
        progress: bool = False,
        **tokenising: Any,
    ) -> "Corpus":
        """Read a file or a folder of files, in one pass.

        Parameters
        ----------
        path : path-like
            JSON Lines, CSV, TSV, Parquet, text (a document per line), the Java original's
            ``ID<TAB>labels<TAB>words``, each also with .gz, .bz2 or .xz; or a folder with a document per file, whose
            subfolders are the labels.
        text : str or list of str, optional
            The field that holds the text, or several to join. A field that holds lists of strings is used as tokens.
        labels : str or list of str
            Fields with labels: names, or lists of names. With several fields labels are called ``field=value``.
        id : str, optional
            The field that names the documents; ``"id"`` if there is one.
        format : {"jsonl", "csv", "tsv", "parquet", "text", "folder", "java"}, optional
            By default from the end of the file's name.
        label_delimiter : str, optional
            Splits a string into several labels.
        bins : dict, optional
            For fields with numbers: the number of quantile bins, or the inner edges.
        numbers : str, list of str or dict
            Fields whose numbers are labels themselves, for models that take real values (DMR): less their mean, divided
            by their standard deviation; or by the centre and scale that a dict gives for each field.
        encoding : str
            Of text files.
        progress : bool
            Show a progress bar, if there is a terminal.
        **tokenising
            The settings of `from_texts`.
        """
        settings, fields = _how_to_read(
            text=text,
            labels=labels,
            id=id,
            label_delimiter=label_delimiter,
            bins=bins,
            numbers=numbers,
            **tokenising,
        )
        return cls(**read_path(path, settings, format=format, encoding=encoding, progress=progress, **fields))

    @classmethod
    def prepare(
        cls,
        path: PathLike,
        output: PathLike,
        *,
        n_jobs: int | None = 1,
        progress: bool = False,
        resume: bool = True,
        **reading: Any,
    ) -> "Corpus":
        """Read texts of any size into a folder, in bounded memory; the corpus is that of `read`, memory-mapped.

        The memory needed is that of some megabytes of text for every process, and of all different words.

        Parameters
        ----------
        path, progress, **reading
            As in `read`.
        output : path-like
            The folder, which `load` reads again.
        n_jobs : int
            Processes that tokenise; -1 is all cores. For more than one, a program of your own needs
            ``if __name__ == "__main__":``.
        resume : bool
            Go on where an earlier call with the same arguments was stopped, by whatever; otherwise start anew. Data or
            arguments that have changed since are an error.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "texts.txt").write_text("The cat saw the dog.\\nIt rains.\\n")
        ...     corpus = Corpus.prepare(Path(folder, "texts.txt"), Path(folder, "corpus"), stop_words="english")
        >>> corpus
        Corpus: 2 documents, 4 tokens, 4 words
        """
        from metalda.corpus.preparing import prepare_corpus

        where = {name: reading.pop(name) for name in ("format", "encoding") if name in reading}
        settings, fields = _how_to_read(**reading)
        prepare_corpus(path, output, settings, n_jobs=n_jobs, progress=progress, resume=resume, **where, **fields)
        return cls.load(output)

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and words of the vocabulary."""
        return len(self), len(self.vocabulary)

    @property
    def n_tokens(self) -> int:
        """The length of all documents together."""
        return len(self.words)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The names of the labels; empty without labels."""
        return () if self.labels is None else self.labels.names

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[list[str]]:
        return (self.document(i) for i in range(len(self)))

    def __getitem__(self, index: Any) -> "Corpus":
        """The documents that a list of integers, a mask or a slice selects; the vocabulary stays."""
        rows = row_indices(index, len(self))
        words, offsets = take_rows(self.words, self.offsets, rows)
        freeze(words, offsets)
        labels = None if self.labels is None else self.labels[rows]
        ids = None if self.ids is None else tuple(self.ids[i] for i in rows)
        return replace(self, words=words, offsets=offsets, labels=labels, ids=ids)

    def subset(self, indices: Any) -> "Corpus":
        """The same as ``corpus[indices]``."""
        return self[indices]

    def document(self, i: int) -> list[str]:
        """The words of one document."""
        i = range(len(self))[i]
        return [self.vocabulary[word] for word in self.words[self.offsets[i] : self.offsets[i + 1]]]

    def split(self, test_size: float = 0.2, random_state: Any = 0) -> tuple["Corpus", "Corpus"]:
        """A random split into training and test documents.

        Each part keeps the order of the documents and has only the words that occur in it, so that words of the test
        documents alone are unseen words to a model. Label names are kept by both.

        Parameters
        ----------
        test_size : float or int
            A share, or a number of documents.
        random_state : int, Generator or None
        """
        is_test = held_out(len(self), test_size, random_state)
        return self[~is_test].trim(), self[is_test].trim()

    def trim(self) -> "Corpus":
        """Without the words that occur in no document."""
        used = tally(self.words, len(self.vocabulary)) > 0
        words, offsets = keep_words(self.words, self.offsets, used)
        freeze(words, offsets)
        vocabulary = tuple(self.vocabulary[v] for v in np.flatnonzero(used))
        return replace(self, words=words, offsets=offsets, vocabulary=vocabulary)

    def counts(self) -> csr_array:
        """The document-term matrix, int32."""
        parts = (np.ones(self.n_tokens, np.int32), self.words.copy(), self.offsets.copy())
        matrix = csr_array(parts, shape=self.shape)
        matrix.sum_duplicates()
        return matrix

    def with_labels(self, y: Any) -> "Corpus":
        """The same documents with these labels, in any form that `from_texts` takes."""
        return replace(self, labels=as_labels(y, len(self)))

    def without_labels(self) -> "Corpus":
        """The same documents without labels."""
        return replace(self, labels=None)

    def save(self, path: PathLike) -> None:
        """Save as a folder that `load` can memory-map."""
        save_parts(path, *self._parts)

    @classmethod
    def load(cls, path: PathLike, *, mmap: bool = True) -> "Corpus":
        """Load what `save` saved; with ``mmap`` the words stay on the disk until they are used."""
        parts = load_parts(path, mmap=mmap)
        try:
            return cls(**parts)
        except InputError as error:
            raise StorageError(f"{path}: damaged: {error}") from error

    @property
    def _parts(self) -> tuple[Any, ...]:
        return self.words, self.offsets, self.vocabulary, self.labels, self.ids, self.tokenising

    def __deepcopy__(self, memo: dict[int, Any]) -> "Corpus":
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Corpus, self._parts

    def __repr__(self) -> str:
        sizes = [(len(self), "document"), (self.n_tokens, "token"), (len(self.vocabulary), "word")]
        if self.labels is not None:
            sizes.append((len(self.labels.names), "label"))
        return "Corpus: " + ", ".join(f"{n:,} {name}{'' if n == 1 else 's'}" for n, name in sizes)

    def _repr_html_(self) -> str:
        """What a notebook shows: the size, and the first documents."""
        return corpus_html(self)


def _how_to_read(*, label_delimiter: str | None = None, **reading: Any) -> tuple[building.Settings, dict[str, Any]]:
    """How texts become words, and which fields are what."""
    fields: dict[str, Any] = {
        name: reading.pop(name) for name in ("text", "labels", "id", "bins", "numbers") if name in reading
    }
    return building.Settings(**reading), {**fields, "delimiter": label_delimiter}
