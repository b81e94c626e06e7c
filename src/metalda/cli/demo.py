"""``metalda demo``: topics of your own Python's documentation, in half a minute."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metalda.cli import options
from metalda.cli.tables import print_table
from metalda.utils.terminal import short

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

_N_EFFECTS = 12
_N_DOCUMENTS = 1000  # of the report: it stays below 6 MB


def demo(
    topics: Annotated[int, typer.Option("--topics", "-k", min=1, help="Number of topics.")] = 30,
    iterations: Annotated[int, typer.Option("--iterations", min=1, help="Sweeps of the sampler.")] = 400,
    seed: Annotated[int, typer.Option("--seed", min=0, help="One seed gives one result.")] = 0,
    jobs: options.Jobs = -1,
    save: Annotated[Path | None, typer.Option("--save", metavar="MODEL", help="Save the model in this folder.")] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write a report: an HTML page to look around in the topics."),
    ] = None,
) -> None:
    """Find the topics of the documentation inside your own Python.

    A document is a docstring of the standard library, its label is the module; word features are stems, endings and
    the like. Four fifths train MetaLDA and, beside it, LDA; both then predict the rest.
    """
    from metalda import LDA, MetaLDA, WordFeatures
    from metalda.cli.summary import corpus_line, coverage_line, print_topics
    from metalda.datasets import load_python_docs

    if save is not None:
        from metalda.storage import check_writable

        check_writable(save)
    if report is not None:
        from metalda.report.page import check_page, require_report

        check_page(report)
        require_report()
    jobs = options.jobs(jobs)
    corpus = load_python_docs(min_df=1, verbose=sys.stderr.isatty())
    train, test = corpus.split(test_size=0.2, random_state=seed)
    # Words of the test documents get features too: only their spelling is looked at, never where they occur.
    features = WordFeatures.morphology(dict.fromkeys(train.vocabulary + test.vocabulary))
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    print(corpus_line(f"Docstrings of {python}'s standard library", corpus))
    print(f"Labels are modules. {coverage_line(features, train.vocabulary)}.")
    print(f"Training MetaLDA, then LDA, on {len(train):,} docstrings; {len(test):,} are kept for the test.", flush=True)
    _announce_compiling()
    settings: dict[str, Any] = {"n_iter": iterations, "n_jobs": jobs, "random_state": seed}
    model = MetaLDA(topics, word_features=features, **settings).fit(train)
    plain = LDA(topics, **settings).fit(train)
    print("\nTopics that MetaLDA found:\n")
    print_topics(model, top_n=8)
    _print_effects(model)
    _print_comparison(plain, model, test)
    if save is not None:
        model.save(save)
    if report is not None:
        _report(model, plain, train, report)
    _print_next(save, report)


def _announce_compiling() -> None:
    """On a terminal the progress bar says so itself."""
    from metalda.kernels.border import needs_compiling
    from metalda.kernels.tokens import sweep_by_word

    if needs_compiling(sweep_by_word) and not sys.stderr.isatty():
        print("Compiling the samplers: some seconds, on the first run only.", file=sys.stderr, flush=True)


def _print_effects(model: TopicModel) -> None:
    from metalda.cli.effects import strongest
    from metalda.cli.summary import top_words

    effects = strongest(model.label_effects(interval=0.9), "label", top=1)
    effects = effects.sort_values("low", ascending=False, kind="stable").head(_N_EFFECTS)
    print("\nWhat labels do: how many times the weight of a topic in an average module (90 % interval).\n")
    rows = [
        (
            short(row["label"]),
            str(row["topic"]),
            f"{_times(row['effect'])} ({_times(row['low'])} to {_times(row['high'])})",
            ", ".join(short(word) for word in top_words(model, row["topic"], 6)),
        )
        for row in effects.to_dict("records")
    ]
    print_table(("module", "raises topic", "times", "words of the topic"), rows, left=("module",))


def _times(effect: float) -> str:
    times = math.exp(min(effect, 50))
    return f"{times:.1f}" if times < 10 else f"{times:,.0f}"


def _print_comparison(plain: TopicModel, model: TopicModel, test: Corpus) -> None:
    from metalda.cli.applying import unseen_share

    share = unseen_share(model, test)
    print("\nHeld-out perplexity, lower is better: every second word of a test docstring, given the others;")
    print("MetaLDA is also told the module.\n")
    rows = []
    for unseen, name in (("ignore", "left out"), ("features", "predicted")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a module whose only docstrings are test documents is no news here
            lda, metalda = (each.perplexity(test, unseen=unseen) for each in (plain, model))
        rows.append((f"unseen words {name}", f"{lda:,.0f}", f"{metalda:,.0f}", f"{metalda / lda - 1:+.0%}"))
    print_table(("", "LDA", "MetaLDA", "difference"), rows, left=("",))
    print(f"\n{share:.1%} of the test words are unseen in training; MetaLDA predicts them by their features.")


def _report(model: TopicModel, plain: TopicModel, train: Corpus, path: Path) -> None:
    from metalda import write_report
    from metalda.cli.reporting import print_written

    print()
    title = f"Docstrings of Python {sys.version_info.major}.{sys.version_info.minor}'s standard library"
    write_report(model, path, train, models=[plain], title=title, max_documents=_N_DOCUMENTS)
    print_written(path)


def _print_next(save: Path | None, report: Path | None) -> None:
    import shlex

    from metalda.utils.terminal import clean

    if report is None:
        print("\nTo look around in the topics, with your browser:\n  metalda demo --report report.html")
    print("\nNext, your own documents:")
    print("  metalda fit news.csv -o model --text body --labels section --topics 50")
    if save is None:
        print("or keep this model and look closer:\n  metalda demo --save demo-model")
        save = Path("demo-model")
    else:
        print(f"or look closer at this model, saved in {clean(str(save))}:")
    folder = clean(shlex.quote(str(save)))
    print(f"  metalda topics {folder} --top-n 20\n  metalda effects {folder} --label json")
