"""``metalda fit``: from a file to a saved model."""

from __future__ import annotations

import logging
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metalda.cli import completing, options
from metalda.cli.data import ReadingOptions
from metalda.cli.word_files import WordFiles
from metalda.errors import InputError
from metalda.models.registry import MODELS, NAMES, find_model, parameters_of

if TYPE_CHECKING:
    from metalda.models.base import TopicModel


_MODELS_HELP = "Which model: " + "; ".join(f"{entry.name} {entry.description}" for entry in MODELS) + "."


def fit(
    data: options.Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL", help="Folder for the model.", parser=options.location)
    ],
    reading_options: ReadingOptions,
    id: options.Id = None,
    embeddings: Annotated[
        Path | None,
        typer.Option(
            "--embeddings",
            metavar="FILE",
            help="Word vectors (GloVe, word2vec), made binary features.",
            parser=options.location,
        ),
    ] = None,
    word_features: options.WordFeaturesFile = None,
    vocabulary_only: Annotated[
        bool,
        typer.Option(
            "--vocabulary-only",
            help="With --embeddings: keep vectors of this corpus's words only. The model is smaller, but words that "
            "come later will be ignored.",
        ),
    ] = False,
    model: Annotated[
        str,
        typer.Option("--model", metavar="|".join(NAMES), help=_MODELS_HELP, autocompletion=completing.one_model),
    ] = "metalda",
    topics: options.Topics = None,
    iterations: options.Iterations = 1000,
    doc_prior: Annotated[
        str | None,
        typer.Option(
            "--doc-prior",
            metavar="labels|default|NUMBER",
            help="What topics of a document depend on: its labels, nothing, or a fixed prior such as 0.1.",
            show_default="labels; a number for models but metalda",
        ),
    ] = None,
    word_prior: Annotated[
        str | None,
        typer.Option(
            "--word-prior",
            metavar="features|default|NUMBER",
            help="What words of a topic depend on: their features, nothing, or a fixed prior such as 0.01.",
            show_default="features; a number for models but metalda",
        ),
    ] = None,
    mu: Annotated[
        float | None, typer.Option("--mu", help="Prior shape of label weights.", show_default="1 for metalda")
    ] = None,
    nu: Annotated[
        float | None, typer.Option("--nu", help="Prior shape of feature weights.", show_default="1 for metalda")
    ] = None,
    topics_per_label: options.TopicsPerLabel = None,
    n_shared: options.NShared = None,
    variance: options.Variance = None,
    default_variance: options.DefaultVariance = None,
    optimize_interval: options.OptimizeInterval = None,
    optimize_burn_in: options.OptimizeBurnIn = None,
    weight: options.Weight = None,
    initial_sweeps: options.InitialSweeps = None,
    similarity: options.Similarity = None,
    promotion: options.Promotion = None,
    max_neighbours: options.MaxNeighbours = None,
    regularization: options.Regularization = None,
    n_pseudo_documents: options.NPseudoDocuments = None,
    concentration: options.Concentration = None,
    burn_in: options.BurnIn = None,
    thin: Annotated[int, typer.Option("--thin", min=1, help="Keep a state every so many sweeps.")] = 10,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Keep so many states at most.")] = 15,
    seed: Annotated[int, typer.Option("--seed", min=0, help="One seed gives one result.")] = 0,
    jobs: options.Jobs = 1,
    n_shards: options.NShards = None,
    cluster: options.Cluster = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="DIR",
            help="Folder in which to keep the state of training.",
            parser=options.location,
        ),
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
    from metalda.cli.clusters import connected
    from metalda.cli.summary import print_input
    from metalda.storage import check_writable
    from metalda.utils.threads import count_jobs

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
        topics_per_label=topics_per_label,
        n_shared=n_shared,
        variance=variance,
        default_variance=default_variance,
        optimize_interval=optimize_interval,
        optimize_burn_in=optimize_burn_in,
        weight=weight,
        initial_sweeps=initial_sweeps,
        similarity=similarity,
        promotion=promotion,
        max_neighbours=max_neighbours,
        regularization=regularization,
        n_pseudo_documents=n_pseudo_documents,
        concentration=concentration,
        n_iter=iterations,
        burn_in=burn_in,
        thin=thin,
        n_draws=draws,
        n_jobs=options.jobs(jobs),
        n_shards=n_shards,
        random_state=seed,
        verbose=not quiet,
    )
    word_files, known = WordFiles(embeddings, word_features), parameters_of(type(estimator))
    word_files.require_use(known, f"--model {model}")
    corpus = reading_options.read(data, id=id, verbose=not quiet)
    found = word_files.read(known, corpus.vocabulary if vocabulary_only else None)
    if not quiet:
        print_input(data, corpus, found)
        if corpus.labels is not None and not estimator._uses_labels:
            print(f"labels are not used: --model {model} does not learn from them")
        logging.getLogger("metalda.memory").setLevel(logging.INFO)  # how much training will need
    estimator.set_params(**found)
    start = time.perf_counter()
    with connected(cluster, count_jobs(options.jobs(jobs))) as client:
        estimator.fit(corpus, checkpoint=checkpoint, checkpoint_every=checkpoint_every, resume=resume, client=client)
    seconds = time.perf_counter() - start
    estimator.save(output)
    if not quiet:
        _print_result(estimator, output, data, _example(data, estimator), seconds)


def _check_checkpoint(folder: Path, output: Path, every: int, resume: bool) -> None:
    """Before everything is read; `fit` would find out too, but later."""
    from metalda.training.checkpoint import Checkpoint

    if folder.resolve() == output.resolve():
        raise InputError(f"{folder}: the checkpoint and the model need a folder each")
    Checkpoint(folder, every, {}).prepare(resume)


def _make_model(name: str, **parameters: Any) -> TopicModel:
    """The model; what was not asked for keeps the model's own default."""
    model = find_model(name)
    given = {parameter: value for parameter, value in parameters.items() if value is not None}
    for parameter, value in given.items():
        option = "--topics" if parameter == "n_components" else f"--{parameter.replace('_', '-')}"
        if parameter not in parameters_of(model):
            raise InputError(f"{option} has no meaning for --model {name}")
        if isinstance(value, str) and not _takes_text(model, parameter, value):
            raise InputError(f"{option} {value}: --model {name} needs a number")
    estimator = model(**given)
    estimator._validate_params()  # `fit` would do that too, but only after everything has been read
    return estimator


def _takes_text(model: type[TopicModel], parameter: str, value: str) -> bool:
    from sklearn.utils._param_validation import make_constraint

    constraints = model._parameter_constraints[parameter]
    return constraints == "no_validation" or any(make_constraint(each).is_satisfied_by(value) for each in constraints)


def _example(data: Path, model: TopicModel) -> str:
    """The name that a file with new documents might have."""
    from metalda.corpus.formats import is_saved

    if is_saved(data):
        return f"new{'' if model.schema_ is None else model.schema_.suffix or ''}"
    return "new" + "".join(data.suffixes[-2:] if data.suffix in (".gz", ".bz2", ".xz") else data.suffixes[-1:])


def _print_result(model: TopicModel, output: Path, data: Path, example: str, seconds: float) -> None:
    from metalda.cli.summary import count, print_topics
    from metalda.utils.terminal import clean

    sweeps = count(model.n_iter_, "sweep")
    if model.n_iter_ < model.n_iter:
        sweeps = f"stopped after {model.n_iter_:,} of {model.n_iter:,} sweeps"
    print(f"{type(model).__name__}: {count(len(model.components_), 'topic')}, {sweeps}, {seconds:.1f} s\n")
    print_topics(model, top_n=10)
    folder = clean(shlex.quote(str(output)))
    print(f"\nSaved to {clean(str(output))}. Next:")
    print(f"  metalda topics {folder} --top-n 20")
    if model.label_names_ and model._has_label_effects:
        print(f"  metalda effects {folder}")
    print(f"  metalda transform {folder} {clean(shlex.quote(example))} -o proportions.csv")
    print(f"  metalda report {folder} -o report.html --corpus {clean(shlex.quote(str(data)))}")
