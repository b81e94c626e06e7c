"""``metalda fit``: from a file to a saved model."""

from __future__ import annotations

import shlex
import sys
import time
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metalda.cli import options
from metalda.cli.reading import Reading, read_stop_words
from metalda.errors import InputError

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.meta import WordFeatures
    from metalda.models.base import TopicModel


class ModelName(str, Enum):
    """The models there are."""

    metalda = "metalda"
    lda = "lda"


def fit(
    data: options.Data,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Folder for the model.")],
    text: options.Text = None,
    labels: options.Labels = None,
    label_delimiter: options.Delimiter = None,
    bins: Annotated[
        list[str] | None,
        typer.Option(
            "--bins",
            metavar="COLUMN=BINS",
            help="Column of numbers as labels: year=5 for five bins of equal size, year=1990,2000 for inner edges.",
            show_default=False,
        ),
    ] = None,
    numbers: Annotated[
        list[str] | None,
        typer.Option(
            "--numbers",
            metavar="COLUMN",
            help="Column of numbers that are labels as they are, to scale, for --model dmr; repeat it, or use commas.",
            show_default=False,
        ),
    ] = None,
    id: options.Id = None,
    input_format: options.Input = None,
    encoding: options.Encoding = None,
    stop_words: Annotated[
        str | None,
        typer.Option(
            "--stop-words",
            metavar="english|none|FILE",
            help="Words to leave out; a FILE has one per line. By default English ones, but none of ID<TAB>labels"
            "<TAB>words, which is tokenised already.",
            show_default=False,
        ),
    ] = None,
    min_df: Annotated[str, typer.Option("--min-df", help="Drop words in fewer documents: 5, or a share 0.01.")] = "1",
    max_df: Annotated[str, typer.Option("--max-df", help="Drop words in more documents: 900, or a share 0.5.")] = "1.0",
    ngrams: Annotated[int, typer.Option("--ngrams", min=1, help="Also use phrases of up to so many words.")] = 1,
    lowercase: Annotated[bool, typer.Option("--lowercase/--no-lowercase", help="Lower-case the text.")] = True,
    token_pattern: Annotated[
        str | None,
        typer.Option(
            "--token-pattern",
            metavar="REGEX",
            help="What a word is; by default two or more letters or digits.",
            show_default=False,
        ),
    ] = None,
    embeddings: Annotated[
        Path | None,
        typer.Option("--embeddings", metavar="FILE", help="Word vectors (GloVe, word2vec), made binary features."),
    ] = None,
    word_features: Annotated[
        Path | None,
        typer.Option("--word-features", metavar="FILE", help="Features of words: word<TAB>indices, or a 0/1 CSV."),
    ] = None,
    vocabulary_only: Annotated[
        bool,
        typer.Option(
            "--vocabulary-only",
            help="With --embeddings: keep vectors of this corpus's words only. The model is smaller, but words that "
            "come later will be ignored.",
        ),
    ] = False,
    model: Annotated[ModelName, typer.Option("--model", help="Which model.")] = ModelName.metalda,
    topics: Annotated[int, typer.Option("--topics", "-k", min=1, help="Number of topics.")] = 50,
    iterations: Annotated[int, typer.Option("--iterations", min=1, help="Sweeps of the sampler.")] = 1000,
    doc_prior: Annotated[
        str | None,
        typer.Option(
            "--doc-prior",
            metavar="labels|default|NUMBER",
            help="What topics of a document depend on: its labels, nothing, or a fixed prior such as 0.1.",
            show_default="labels; 0.1 for lda",
        ),
    ] = None,
    word_prior: Annotated[
        str | None,
        typer.Option(
            "--word-prior",
            metavar="features|default|NUMBER",
            help="What words of a topic depend on: their features, nothing, or a fixed prior such as 0.01.",
            show_default="features; 0.01 for lda",
        ),
    ] = None,
    mu: Annotated[
        float | None, typer.Option("--mu", help="Prior shape of label weights.", show_default="1 for metalda")
    ] = None,
    nu: Annotated[
        float | None, typer.Option("--nu", help="Prior shape of feature weights.", show_default="1 for metalda")
    ] = None,
    burn_in: Annotated[
        int | None,
        typer.Option("--burn-in", min=0, help="Sweeps of which nothing is kept.", show_default="half of them"),
    ] = None,
    thin: Annotated[int, typer.Option("--thin", min=1, help="Keep a state every so many sweeps.")] = 10,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Keep so many states at most.")] = 15,
    seed: Annotated[int, typer.Option("--seed", min=0, help="One seed gives one result.")] = 0,
    jobs: options.Jobs = 1,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", metavar="DIR", help="Folder in which to keep the state of training."),
    ] = None,
    checkpoint_every: Annotated[
        int, typer.Option("--checkpoint-every", min=1, help="Sweeps from one checkpoint to the next.")
    ] = 100,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint, to the model of an uninterrupted run.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Learn topics from DATA and save the model.

    Ctrl-C ends training early; what was learnt by then is saved.
    """
    from metalda.storage import check_writable

    if resume and checkpoint is None:
        raise InputError("--resume needs the folder of the checkpoint: --checkpoint DIR")
    check_writable(output)
    if checkpoint is not None:
        _check_checkpoint(checkpoint, output, checkpoint_every, resume)
    estimator = _make_model(
        model,
        n_components=topics,
        doc_prior=options.prior(doc_prior, "labels", "--doc-prior"),
        word_prior=options.prior(word_prior, "features", "--word-prior"),
        mu=mu,
        nu=nu,
        n_iter=iterations,
        burn_in=burn_in,
        thin=thin,
        n_draws=draws,
        n_jobs=options.jobs(jobs),
        random_state=seed,
        verbose=not quiet,
    )
    filters = {
        "min_df": options.count_or_share(min_df, "--min-df"),
        "max_df": options.count_or_share(max_df, "--max-df"),
    }
    reading = Reading(
        text=options.columns(text),
        labels=options.columns(labels) or [],
        label_delimiter=label_delimiter,
        bins=options.bins(bins),
        numbers=dict.fromkeys(options.columns(numbers) or []),
        id=id,
        format=input_format and input_format.value,
        encoding=encoding or "utf-8",
        lowercase=lowercase,
        token_pattern=token_pattern,
        ngrams=ngrams,
    ).located(data)
    default = None if reading.format == "java" else "english"
    reading = reading.with_stop_words(read_stop_words(stop_words, lowercase=lowercase, default=default))
    corpus = reading.read(data, progress=not quiet, **filters)
    features = _read_features(model, embeddings, word_features, corpus if vocabulary_only else None)
    if not quiet:
        _print_input(data, corpus, features)
    if features is not None:
        features.require_overlap(corpus.vocabulary)
        estimator.set_params(word_features=features)
    start = time.perf_counter()
    estimator.fit(corpus, checkpoint=checkpoint, checkpoint_every=checkpoint_every, resume=resume)
    seconds = time.perf_counter() - start
    estimator.metadata_["reading"] = reading.with_edges(corpus.label_names).to_saved()
    estimator.save(output)
    if not quiet:
        _print_result(estimator, output, data, seconds)


def _check_checkpoint(folder: Path, output: Path, every: int, resume: bool) -> None:
    """Before everything is read; `fit` would find out too, but later."""
    from metalda.training.checkpoint import Checkpoint

    if folder.resolve() == output.resolve():
        raise InputError(f"{folder}: the checkpoint and the model need a folder each")
    Checkpoint(folder, every, {}).prepare(resume)


def _make_model(name: ModelName, **parameters: Any) -> TopicModel:
    """The model; what was not asked for keeps the model's own default."""
    from metalda import LDA, MetaLDA

    given = {option: value for option, value in parameters.items() if value is not None}
    if name is ModelName.metalda:
        return _checked(MetaLDA(**given))
    for option in ("mu", "nu"):
        if option in given:
            raise InputError(f"--{option} has no meaning for --model lda, whose priors are fixed")
    for option in ("doc_prior", "word_prior"):
        if isinstance(given.get(option), str):
            raise InputError(f"--{option.replace('_', '-')} {given[option]}: --model lda needs a number")
    return _checked(LDA(**given))


def _checked(model: TopicModel) -> TopicModel:
    """`fit` would check the parameters too, but only after everything has been read."""
    model._validate_params()
    return model


def _read_features(
    model: ModelName, embeddings: Path | None, word_features: Path | None, only: Corpus | None
) -> WordFeatures | None:
    """Word features, for all words of the file: a model then understands words that training never saw."""
    if embeddings is None and word_features is None:
        return None
    if model is ModelName.lda:
        raise InputError("--model lda uses no word features: leave out --embeddings and --word-features")
    if embeddings is not None and word_features is not None:
        raise InputError("give --embeddings or --word-features, not both")
    from metalda import Embeddings, WordFeatures

    if embeddings is not None:
        return Embeddings.read(embeddings, vocabulary=None if only is None else only.vocabulary).binarize()
    assert word_features is not None
    return WordFeatures.read(word_features)


def _print_input(data: Path, corpus: Corpus, features: WordFeatures | None) -> None:
    from metalda.cli.summary import corpus_line, coverage_line
    from metalda.cli.text import clean

    print(clean(corpus_line(data.name, corpus)))
    if features is not None:
        print(coverage_line(features, corpus.vocabulary))
    sys.stdout.flush()  # training may take a while


def _print_result(model: TopicModel, output: Path, data: Path, seconds: float) -> None:
    from metalda.cli.summary import count, print_topics
    from metalda.cli.text import clean

    sweeps = count(model.n_iter_, "sweep")
    if model.n_iter_ < model.n_iter:
        sweeps = f"stopped after {model.n_iter_:,} of {model.n_iter:,} sweeps"
    print(f"{type(model).__name__}: {count(model.n_components, 'topic')}, {sweeps}, {seconds:.1f} s\n")
    print_topics(model, top_n=10)
    suffixes = data.suffixes[-2:] if data.suffix in (".gz", ".bz2", ".xz") else data.suffixes[-1:]
    folder, example = clean(shlex.quote(str(output))), clean(shlex.quote("new" + "".join(suffixes)))
    print(f"\nSaved to {clean(str(output))}. Next:")
    print(f"  metalda topics {folder} --top-n 20")
    if model.label_names_:
        print(f"  metalda effects {folder}")
    print(f"  metalda transform {folder} {example} -o proportions.csv")
