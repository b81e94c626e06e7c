"""``metalda fit``: train a model and save it."""

from __future__ import annotations

import logging
import shlex
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.cluster import connected
from metalda.cli.data import ReadingOptions, WordFiles
from metalda.cli.formula import FormulaOptions
from metalda.cli.model_options import MODEL, ModelOptions
from metalda.cli.options import TRAINING
from metalda.corpus.stream import Stream
from metalda.errors import InputError, StorageError
from metalda.models.registry import MODELS, NAMES, parameters_of
from metalda.utils.terminal import clean

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

_COMPRESSED = (".gz", ".bz2", ".xz")
_WIDTH = max(map(len, NAMES))
EPILOG = (
    "\b\nModels:\n"
    + "".join(f"  {entry.name:{_WIDTH}}  {entry.description}\n" for entry in MODELS)
    + "\n"
    + options.epilog(
        "metalda fit news.jsonl --text body --labels section",
        "metalda fit news.jsonl -o model --text body --labels section --embeddings glove.6B.50d.txt -k 50",
        "metalda fit news.jsonl -o model --text body --seeds seeds.json -k 30",
    )
)


def fit(
    data: options.Data,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="MODEL",
            help="Folder for the model. By default the name of DATA with -model: news-model for news.jsonl.",
            parser=options.location,
            show_default=False,
        ),
    ] = None,
    no_clobber: Annotated[
        bool, typer.Option("--no-clobber", help="Refuse to replace a model that the folder contains.")
    ] = False,
    quiet: options.Quiet = False,
    reading_options: ReadingOptions,
    document_vectors: options.DocumentVectors = None,
    id: options.Id = None,
    word_files: WordFiles,
    vocabulary_only: Annotated[
        bool,
        typer.Option(
            "--vocabulary-only",
            help="Keep only the vectors of words in DATA. The model is smaller, but ignores out-of-vocabulary words.",
            rich_help_panel=options.WORDS,
        ),
    ] = False,
    seeds: Annotated[
        Path | None,
        typer.Option(
            "--seeds",
            metavar="FILE",
            help='metalda: seed words of the first topics: a .json file, {"economy": ["tax", "budget*"], …}, or a .csv '
            "file with the columns topic and word. * stands for any ending.",
            parser=options.location,
            show_default=False,
            rich_help_panel=options.WORDS,
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="NAME",
            help="The model, one of the list below.",
            autocompletion=options.complete_model,
            rich_help_panel=MODEL,
        ),
    ] = "metalda",
    formula_options: FormulaOptions,
    model_options: ModelOptions,
    seed: options.Seed = 0,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="DIR",
            help="Folder for checkpoints of the training state.",
            parser=options.location,
            rich_help_panel=TRAINING,
        ),
    ] = None,
    checkpoint_every: options.CheckpointEvery = 100,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Resume from the checkpoint. The model equals that of an uninterrupted run.",
            rich_help_panel=TRAINING,
        ),
    ] = False,
    jobs: options.Jobs = 1,
    cluster: options.Cluster = None,
) -> None:
    """Train a model on DATA and save it.

    Ctrl-C stops training early and saves the model.
    """
    from metalda.meta import read_seeds
    from metalda.storage import check_writable

    if resume and checkpoint is None:
        raise InputError("--resume needs the folder of the checkpoint: --checkpoint DIR")
    if output is None:
        output = _default_output(data)
    check_writable(output)
    earlier = _earlier_model(output)
    if earlier is not None and no_clobber:
        raise InputError(f"{output}: contains a {earlier}, which --no-clobber keeps: give another folder with --output")
    if checkpoint is not None:
        _check_checkpoint(checkpoint, output, checkpoint_every, resume)
    others = {"n_jobs": options.check_jobs(jobs), "random_state": seed, "verbose": not quiet}
    estimator = model_options.make_model(model, **others)
    known = parameters_of(type(estimator))
    word_files.require_use(known, f"--model {model}")
    if seeds is not None:
        if "seeds" not in known:
            raise InputError(f"--seeds: --model {model} uses no seed words: leave it out, or use --model metalda")
        estimator.set_params(seeds=read_seeds(seeds)).validate()
    given = model_options.given.get("prevalence")
    if document_vectors is not None and given is not None:
        raise InputError("give --document-vectors or --prevalence, not both: --splines and --interactions go with it")
    wording = model_options.given.get("wording")
    reading_options = formula_options.read_columns(reading_options, data, given, model, wording)
    corpus = options.add_vectors(reading_options.read(data, id=id, verbose=not quiet), document_vectors)
    formula = given or formula_options.formula(corpus.schema)
    if formula is not None:
        estimator.set_params(prevalence=formula)
    found = word_files.read(known, corpus.vocabulary if vocabulary_only else None, corpus)
    if not quiet:
        tables.print_input(data, corpus, found)
        if earlier is not None:
            print(clean(f"{output}: the {earlier} will be replaced"), flush=True)
        if corpus.labels is not None and not estimator._reads_labels:
            print(f"Labels are ignored: --model {model} does not learn from them")
        if formula is not None:
            print(clean(f"Terms: {formula}"))
        from metalda.training.memory import NOTICE

        logging.getLogger("metalda.memory").setLevel(NOTICE)  # the memory that training needs, if it is large
        logging.getLogger("metalda.models").setLevel(logging.INFO)  # labels and features that are missing
    estimator.set_params(**found)
    start = time.perf_counter()
    with connected(cluster, jobs) as client:
        estimator.fit(corpus, checkpoint=checkpoint, checkpoint_every=checkpoint_every, resume=resume, client=client)
        seconds = time.perf_counter() - start
        estimator.save(output)  # before the cluster is closed, which may fail or be interrupted
    if not quiet:
        _print_result(estimator, output, data, document_vectors, _example(data, estimator), seconds)


def _default_output(data: Path) -> Path:
    """Return ``news-model`` for ``texts/news.jsonl.gz``, ``data-model`` for a stream, in the current directory."""
    if isinstance(data, Stream):
        return Path("data-model")
    name = data.name or data.resolve().name
    name = name.removesuffix(data.suffix) if data.suffix in _COMPRESSED else name
    return Path(f"{Path(name).stem or 'data'}-model")


def _earlier_model(output: Path) -> str | None:
    """Describe the model that the folder contains: its class, and when it was saved."""
    from metalda.storage import read_document

    manifest = output / "model.json"
    if not manifest.exists():
        return None
    try:
        name = read_document(manifest, "model").get("model")
    except StorageError:
        return "damaged model"
    saved = getattr(manifest.stat(), "st_mtime", None)  # a remote file has none
    time_saved = "" if saved is None else f" saved on {datetime.fromtimestamp(saved):%Y-%m-%d at %H:%M}"
    return f"{name} model{time_saved}"


def _check_checkpoint(folder: Path, output: Path, every: int, resume: bool) -> None:
    """Raise an error if the checkpoint cannot be used, before the data are read."""
    from metalda.training.checkpoint import Checkpoint

    if folder.resolve() == output.resolve():
        raise InputError(f"{folder}: the checkpoint and the model need different folders")
    with Checkpoint(folder, every, {}).hold(resume):
        pass


def _example(data: Path, model: TopicModel) -> str:
    """Return a name that a file with new documents might have."""
    from metalda.corpus.formats import FORMATS, is_saved

    if isinstance(data, Stream) and model.schema_ is not None:
        return f"new{FORMATS[model.schema_.format or 'text'].suffixes[0]}"
    if is_saved(data):
        return f"new{'' if model.schema_ is None else model.schema_.suffix or ''}"
    return "new" + "".join(data.suffixes[-2:] if data.suffix in _COMPRESSED else data.suffixes[-1:])


def _number_of(model: TopicModel) -> str | None:
    """Return a numeric column of the model, if it has one; a dimension of document vectors says nothing alone."""
    terms, schema = model.fitted_.labels.terms, model.schema_
    vectors = () if schema is None else schema.vectors
    return None if terms is None else next((column for column in terms.numbers if column not in vectors), None)


def _print_result(
    model: TopicModel, output: Path, data: Path, vectors: Path | None, example: str, seconds: float
) -> None:
    from metalda.corpus.tokenizers import runs_code

    iterations = tables.count(model.n_iter_, "iteration")
    if model.was_stopped_:
        iterations = f"stopped after {model.n_iter_:,} of {model._stage_lengths()[-1]:,} iterations"
    topics = tables.count(len(model.components_), "topic")
    draws = tables.count(len(model.draws_), "draw")
    if len(model.chains_) > 1:
        draws = f"{len(model.chains_)} chains of {draws}"
    print(f"{type(model).__name__}: {topics}, {iterations}, {draws}, {seconds:.1f} s\n")
    tables.print_topics(model, top_n=10)
    folder = clean(shlex.quote(str(output)))
    print(f"\nSaved to {clean(str(output))}. Next:")
    print(f"  metalda topics {folder} --top-n 20")
    if hasattr(model, "seed_strengths"):
        print(f"  metalda topics {folder} --seeds")
    if model.label_names_ and hasattr(model, "label_effects"):
        print(f"  metalda effects {folder}")
        if column := _number_of(model):
            print(f"  metalda prevalence {folder} --over {clean(shlex.quote(column))}")
    if model.fitted_.wording:
        print(f"  metalda wording {folder}")
    if len(model.chains_) > 1:
        print(f"  metalda chains {folder}")
    schema = model.schema_
    needed = " --allow-tokenizer" if schema is not None and runs_code(schema.tokenizer) else ""
    of_new = needed + (" --document-vectors new.npy" if schema is not None and schema.vectors else "")
    print(f"  metalda transform {folder} {clean(shlex.quote(example))} -o proportions.csv{of_new}")
    of_data = needed + ("" if vectors is None else f" --document-vectors {clean(shlex.quote(str(vectors)))}")
    shown = "" if isinstance(data, Stream) else f" --corpus {clean(shlex.quote(str(data)))}{of_data}"
    print(f"  metalda report {folder} -o report.html{shown}")
