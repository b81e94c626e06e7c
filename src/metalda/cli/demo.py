"""``metalda demo``: find topics in the documentation of Python, in half a minute."""

from __future__ import annotations

import shlex
import sys
import warnings
from pathlib import Path
from subprocess import list2cmdline
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.layout import Cell
from metalda.utils.terminal import clean, short

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

EPILOG = options.epilog("metalda demo --topics 20")
_N_EFFECTS = 12
_N_DOCUMENTS = 1000  # in the report, which stays below 2 MB


def demo(
    topics: Annotated[int, typer.Option("--topics", "-k", metavar="N", min=1, help="Number of topics.")] = 30,
    iterations: Annotated[
        int, typer.Option("--iterations", metavar="N", min=1, help="Iterations of the Gibbs sampler.")
    ] = 400,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Random seed.")] = 0,
    jobs: options.Jobs = -1,
    save: Annotated[Path | None, typer.Option("--save", metavar="MODEL", help="Save the model in this folder.")] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write an interactive HTML report."),
    ] = None,
) -> None:
    """Find topics in the documentation of your Python.

    A document is a docstring of the standard library, and its label is the module. Word features are stems, endings and
    shapes of words. MetaLDA and LDA are trained on four fifths of the documents and evaluated on the rest.
    """
    from metalda import LDA, MetaLDA, WordFeatures
    from metalda.datasets import load_python_docs

    if save is not None:
        from metalda.storage import check_writable

        check_writable(save)
    if report is not None:
        from metalda.report.page import check_page

        check_page(report)
    jobs = options.check_jobs(jobs)
    corpus = load_python_docs(min_df=1, verbose=sys.stderr.isatty())
    train, test = corpus.split(test_size=0.2, random_state=seed)
    # Words of the held-out documents have features too: features depend on the spelling only.
    features = WordFeatures.morphology(dict.fromkeys(train.vocabulary + test.vocabulary))
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    print(tables.corpus_line(f"Docstrings of {python}'s standard library", corpus))
    print(f"Labels are modules. {tables.coverage_line(features, train.vocabulary)}.")
    print(f"Training MetaLDA, then LDA, on {len(train):,} docstrings; {len(test):,} are held out.", flush=True)
    _announce_compiling()
    model = MetaLDA(topics, word_features=features, n_iter=iterations, n_jobs=jobs, random_state=seed).fit(train)
    plain = LDA(topics, n_iter=iterations, n_jobs=jobs, random_state=seed).fit(train)
    print("\nTopics of MetaLDA:\n")
    tables.print_topics(model, top_n=8)
    _print_effects(model)
    _print_comparison(plain, model, test)
    if save is not None:
        model.save(save)
    if report is not None:
        _report(model, plain, train, report)
    _print_next(save, report)


def _announce_compiling() -> None:
    """Print why the first run starts late; on a terminal the progress bar does this."""
    from metalda.kernels.border import needs_compiling
    from metalda.kernels.tokens import sweep_by_word

    if needs_compiling(sweep_by_word) and not sys.stderr.isatty():
        print("Compiling the samplers, on the first run only: a few seconds.", file=sys.stderr, flush=True)


def _print_effects(model: TopicModel) -> None:
    from metalda.cli.effects import ends, strongest

    effects = strongest(model.label_effects(interval=0.9), "label", top=1)
    effects = effects.sort_values(["difference_low", "difference"], ascending=False, kind="stable").head(_N_EFFECTS)
    effects[["difference", "difference_low", "difference_high"]] *= 100
    print("\nLabel effects: the expected share of a topic compared with an average module (90 % interval).\n")
    rows = [
        (
            Cell(short(row["label"]), "name"),
            str(row["topic"]),
            f"{row['proportion']:.0%}",
            Cell(
                f"{row['difference']:+.0f} ({ends(row['difference_low'], row['difference_high'], '+.0f')})",
                tables.sign_style(row["difference"], row["difference_low"], row["difference_high"]),
            ),
            tables.describe_topic(model, row["topic"], 6),
        )
        for row in effects.to_dict("records")
    ]
    header = ("module", "raises topic", "to", "points", "words of the topic")
    tables.print_table(header, rows, left=("module",))


def _print_comparison(plain: TopicModel, model: TopicModel, test: Corpus) -> None:
    from metalda.cli.evaluate import out_of_vocabulary_share

    share = out_of_vocabulary_share(model, test)
    print("\nHeld-out perplexity (lower is better) of every second token of a docstring, given the other tokens;")
    print("MetaLDA is also given the module.\n")
    rows = []
    for unseen, name in (("ignore", "ignored"), ("features", "predicted")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # labels that occur only in held-out documents
            lda, metalda = (each.perplexity(test, unseen=unseen) for each in (plain, model))
        rows.append((f"out-of-vocabulary words {name}", f"{lda:,.0f}", f"{metalda:,.0f}", f"{metalda / lda - 1:+.0%}"))
    tables.print_table(("", "LDA", "MetaLDA", "difference"), rows, left=("",))
    print(f"\n{share:.1%} of the held-out tokens are out of vocabulary; MetaLDA predicts them by their features.")


def _report(model: TopicModel, plain: TopicModel, train: Corpus, path: Path) -> None:
    from metalda import write_report
    from metalda.cli.report import print_written

    print()
    title = f"Docstrings of Python {sys.version_info.major}.{sys.version_info.minor}'s standard library"
    write_report(model, path, train, models=[plain], title=title, max_documents=_N_DOCUMENTS)
    print_written(path)


def _print_next(save: Path | None, report: Path | None) -> None:
    if report is None:
        print("\nTo explore the topics in a browser:\n  metalda demo --report report.html")
    print("\nNext, with your own documents:")
    print("  metalda fit news.csv --text body --labels section --topics 50")
    if save is None:
        print("or save this model and inspect it:\n  metalda demo --save demo-model")
        save = Path("demo-model")
    else:
        print(f"or inspect this model, saved in {clean(str(save))}:")
    quoted = list2cmdline([str(save)]) if sys.platform == "win32" else shlex.quote(str(save))
    folder = clean(quoted)
    print(f"  metalda topics {folder} --top-n 20\n  metalda effects {folder} --label json")
