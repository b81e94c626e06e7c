"""Options for reading files: training data, new documents for a saved model, and word vectors or features."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options
from metalda.corpus.formats import is_saved
from metalda.errors import InputError, MissingLabelsError

if TYPE_CHECKING:
    from metalda.corpus import Corpus, Schema
    from metalda.corpus.schema import SchemaFields
    from metalda.models.base import TopicModel
    from metalda.models.fitted import Parameters


# options that have an effect on a prepared corpus too
_NOT_READING = ("no_labels", "document_vectors", "allow_tokenizer")
EMBEDDING_DIMENSION = 50  # of vectors that are learned


@dataclass(frozen=True)
class ReadingOptions:
    """How training data are read: the options of every command that trains."""

    text: options.Text = None
    labels: options.Labels = None
    label_delimiter: options.Delimiter = None
    bins: options.Bins = None
    numbers: options.Numbers = None
    decimal: options.Decimal = None
    input_format: options.Input = None
    encoding: options.Encoding = None
    max_document_bytes: options.MaxDocumentBytes = None
    stop_words: options.StopWords = None
    stem: options.Stem = None
    tokenizer: options.Tokenizer = None
    phrases: options.Phrases = False
    phrase_min_count: options.PhraseMinCount = None
    phrase_threshold: options.PhraseThreshold = None
    min_df: options.MinDf = "auto"
    max_df: options.MaxDf = "auto"
    ngrams: options.Ngrams = 1
    lowercase: options.Lowercase = True
    token_pattern: options.TokenPattern = None

    def read(self, path: Path, *, id: str | None = None, hidden_labels: str | None = None, verbose: bool) -> Corpus:
        """Read the corpus in a file or folder, or load one that was prepared; hidden labels are a label column too."""
        from metalda.corpus import Corpus

        if is_saved(path):
            _refuse_options(path, {**vars(self), "id": id}, self)
            return Corpus.load(path)
        arguments = self.arguments
        if hidden_labels is not None:
            arguments["labels"] = list(dict.fromkeys((*(arguments["labels"] or ()), hidden_labels)))
        return Corpus.read(path, id=id, verbose=verbose, keep_text=False, **arguments)

    @property
    def arguments(self) -> SchemaFields:
        """Return the options as arguments of `Corpus.read`."""
        given: dict[str, object] = {
            "text": options.columns(self.text),
            "labels": options.columns(self.labels),
            "label_delimiter": self.label_delimiter,
            "bins": options.bins(self.bins),
            "numbers": options.columns(self.numbers),
            "decimal": self.decimal,
            "format": self.input_format,
            "encoding": self.encoding,
            "max_document_bytes": self.max_document_bytes,
            "stem": self.stem,
            "tokenizer": self.tokenizer,
            "phrases": self.phrases,
            "phrase_min_count": self.phrase_min_count,
            "phrase_threshold": self.phrase_threshold,
            "lowercase": self.lowercase,
            "ngram_range": (1, self.ngrams),
            **options.frequency_limits(self.min_df, self.max_df),
            **_stop_words(self.stop_words, lowercase=self.lowercase),
        }
        if self.token_pattern is not None:
            given["token_pattern"] = self.token_pattern
        return given


@dataclass(frozen=True)
class NewTextOptions:
    """How new documents are read, for commands that do not use their labels."""

    text: options.Text = None
    input_format: options.Input = None
    encoding: options.Encoding = None
    max_document_bytes: options.MaxDocumentBytes = None
    stop_words: Annotated[
        list[str] | None,
        typer.Option(
            "--stop-words",
            metavar="none|LANGUAGE|FILE",
            help="Stop words to remove; several lists are joined.",
            show_default=False,
            rich_help_panel=options.TEXT,
        ),
    ] = None
    allow_tokenizer: options.AllowTokenizer = False

    def read(
        self, model: TopicModel, data: Path, *, id: str | None = None, verbose: bool = True, keep_text: bool = False
    ) -> Corpus:
        """Read new documents like the training data, except for the options given."""
        from metalda.corpus import Corpus, Schema

        labels = self._labels()
        if is_saved(data):
            given = {name: value for name, value in vars(self).items() if name not in _NOT_READING}
            _refuse_options(data, {**given, "id": id}, self)
            corpus = Corpus.load(data)
            return corpus.without_labels() if labels["labels"] == [] else corpus
        schema = model.schema_ or Schema(stop_words=None).fitted()
        schema = replace(schema, allow_tokenizer=self.allow_tokenizer)
        try:
            return Corpus.read(
                data,
                schema=schema,
                text=options.columns(self.text),
                id=id,
                format=self.input_format,
                encoding=self.encoding,
                max_document_bytes=self.max_document_bytes,
                keep_text=keep_text,
                verbose=verbose,
                **labels,
                **self._stop_words(schema),
            )
        except MissingLabelsError as error:
            raise InputError(f"{error}, or read none with --no-labels") from None

    def _stop_words(self, schema: Schema) -> SchemaFields:
        if "auto" in (self.stop_words or ()):
            raise InputError("--stop-words auto: the language is guessed in training; give a language, a file or none")
        return _stop_words(self.stop_words, lowercase=schema.lowercase)

    def _labels(self) -> SchemaFields:
        """Return arguments of `Corpus.read`; an empty list reads no labels."""
        return {"labels": []}


@dataclass(frozen=True)
class NewDocumentOptions(NewTextOptions):
    """How new documents are read, for commands that use their labels."""

    labels: options.Labels = None
    no_labels: Annotated[
        bool,
        typer.Option(
            "--no-labels",
            help="Read no labels: documents get the prior of an average document.",
            rich_help_panel=options.DATA,
        ),
    ] = False
    label_delimiter: options.Delimiter = None
    document_vectors: options.DocumentVectors = None

    def read(
        self, model: TopicModel, data: Path, *, id: str | None = None, verbose: bool = True, keep_text: bool = False
    ) -> Corpus:
        """Read new documents like the training data, with their vectors if the model learned from vectors."""
        terms = model.fitted_.labels.terms
        numbers = () if terms is None else terms.numbers
        learned = model.schema_ is not None and not set(model.schema_.vectors).isdisjoint(numbers)
        if learned and self.document_vectors is None and not self.no_labels:
            raise InputError(
                "the model learned from vectors of documents: give those of DATA with --document-vectors FILE.npy, or "
                "read no labels and vectors with --no-labels"
            )
        if self.document_vectors is not None and not learned:
            raise InputError("--document-vectors: the model did not learn from vectors of documents: leave it out")
        corpus = super().read(model, data, id=id, verbose=verbose, keep_text=keep_text)
        return corpus if self.no_labels else options.add_vectors(corpus, self.document_vectors)

    def _labels(self) -> SchemaFields:
        labels = options.columns(self.labels)
        if self.no_labels and labels is not None:
            raise InputError("give --labels or --no-labels, not both")
        return {"labels": [] if self.no_labels else labels, "label_delimiter": self.label_delimiter}


@dataclass(frozen=True)
class WordFiles:
    """Sources of word vectors or features of words, for the models that use them."""

    embeddings: Annotated[
        Path | None,
        typer.Option(
            "--embeddings",
            metavar="FILE",
            help="Word vectors (GloVe, word2vec). Models that learn from word features get them as binary features.",
            parser=options.location,
            rich_help_panel=options.WORDS,
        ),
    ] = None
    real_features: Annotated[
        bool,
        typer.Option(
            "--real-features",
            help="Learn from the word vectors as numbers instead of binary features. It takes longer.",
            rich_help_panel=options.WORDS,
        ),
    ] = False
    word_features: Annotated[
        Path | None,
        typer.Option(
            "--word-features",
            metavar="FILE",
            help="Features of words: word<TAB>indices, or a CSV table of 0 and 1.",
            parser=options.location,
            rich_help_panel=options.WORDS,
        ),
    ] = None

    learn_embeddings: Annotated[
        str | None,
        typer.Option(
            "--learn-embeddings",
            metavar="self|CORPUS",
            help="Learn word vectors from the co-occurrences of words in DATA (self) or in a larger CORPUS, instead of "
            "reading --embeddings.",
            show_default=False,
            rich_help_panel=options.WORDS,
        ),
    ] = None

    def require_use(self, known: Collection[str], who: str) -> None:
        """Raise an error for a file that the models, which have the parameters `known`, do not use."""
        if self.embeddings is not None and self.learn_embeddings is not None:
            raise InputError("give --embeddings or --learn-embeddings, not both")
        for option, path, uses in (
            ("--embeddings", self.embeddings, {"embeddings", "word_features"}),
            ("--learn-embeddings", self.learn_embeddings, {"embeddings", "word_features"}),
            ("--word-features", self.word_features, {"word_features"}),
        ):
            if path is not None and uses.isdisjoint(known):
                raise InputError(
                    f"{option}: {who} uses no word features{' or vectors' * (len(uses) > 1)}: leave it out"
                )
        for option, path in (("--embeddings", self.embeddings), ("--learn-embeddings", self.learn_embeddings)):
            if path is not None and self.word_features is not None and "embeddings" not in known:
                raise InputError(f"give {option} or --word-features, not both")
        no_vectors = self.embeddings is None and self.learn_embeddings is None
        if self.real_features and (no_vectors or self.word_features is not None):
            raise InputError("--real-features takes the numbers of word vectors: give --embeddings FILE alone")
        if self.real_features and "word_features" not in known:
            raise InputError(f"--real-features: {who} uses no word features: leave it out")

    def read(self, known: Collection[str], vocabulary: Sequence[str] | None, training: Corpus) -> Parameters:
        """Return the parameters `embeddings` and `word_features` from the files, if they are among `known`.

        Only vectors of the vocabulary are read, or all if it is None. They are also converted to features, unless a
        file gives the features: to binary ones, or to numbers, which are standardized over the training vocabulary.
        Vectors may be learned from the training data or another corpus instead.
        """
        from metalda import Embeddings, WordFeatures

        found: dict[str, Embeddings | WordFeatures] = {}
        vectors = None
        if self.embeddings is not None:
            vectors = Embeddings.read(self.embeddings, vocabulary=vocabulary)
        elif self.learn_embeddings is not None:
            source = training if self.learn_embeddings == "self" else _read_alike(self.learn_embeddings, training)
            learned = Embeddings.learn(source, min(EMBEDDING_DIMENSION, len(source.vocabulary)))
            vectors = learned if vocabulary is None else learned.subset(vocabulary)
        if vectors is not None:
            found["embeddings"] = vectors
        if self.word_features is not None:
            found["word_features"] = WordFeatures.read(self.word_features)
        elif vectors is not None and "word_features" in known:
            found["word_features"] = (
                vectors.standardize(training.vocabulary) if self.real_features else vectors.binarize()
            )
        return {name: value for name, value in found.items() if name in known}


def _read_alike(name: str, training: Corpus) -> Corpus:
    """Read a corpus without its labels, tokenized like the training data, or load a prepared one."""
    from metalda.corpus import Corpus, Schema

    path = options.data_location(name)
    if is_saved(path):
        return Corpus.load(path)
    schema = training.schema or Schema(stop_words=None).fitted()
    return Corpus.read(path, schema=schema, labels=[], min_df="auto")


def _refuse_options(path: Path, given: Mapping[str, object], group: ReadingOptions | NewTextOptions) -> None:
    """Raise an error if an option was given that has no effect on a prepared corpus."""
    defaults = {option.name: option.default for option in fields(group)}
    for name, value in given.items():
        if value != defaults.get(name):
            option = f"--{'no-lowercase' if name == 'lowercase' else name.replace('_', '-')}"
            raise InputError(
                f"{path}: is a prepared corpus, on which {option} has no effect; use it with metalda prepare"
            )


def _stop_words(values: list[str] | None, *, lowercase: bool) -> SchemaFields:
    """Return the argument for ``auto``, ``none``, languages, and files; none if the option is not given."""
    if not values:
        return {}
    for word, value in (("none", None), ("auto", "auto")):
        if word in values:
            if set(values) != {word}:
                raise InputError(f"--stop-words {word} excludes other lists: leave it out, or give it alone")
            return {"stop_words": value}
    lists = [_language_or_file(value) for value in dict.fromkeys(values)]
    if len(lists) == 1 and isinstance(lists[0], str):
        return {"stop_words": lists[0]}
    from metalda.corpus.languages import stop_words

    words = [word for each in lists for word in (stop_words(each) if isinstance(each, str) else each)]
    return {"stop_words": [word.lower() for word in words] if lowercase else words}


def _language_or_file(value: str) -> str | list[str]:
    """Return the code of a language, or the words of a file, of which there is one per line."""
    from metalda.corpus.files import read_lines
    from metalda.corpus.languages import stop_word_code
    from metalda.corpus.stream import locate_data

    try:
        return stop_word_code(value)
    except InputError:
        path = locate_data(value)
        if not path.exists():
            raise InputError(
                f"--stop-words {value}: expected auto, none, a language such as de or german, or a file with a word "
                "per line"
            ) from None
        return [word for line in read_lines(path) if (word := line.strip())]
