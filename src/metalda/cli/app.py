"""The commands, and what is common to all of them."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import metalda
from metalda.cli import (
    applying,
    coherence,
    comparing,
    corpora,
    demo,
    effects,
    fitting,
    importing,
    inspecting,
    judging,
    prepare,
    reporting,
    reproducing,
)
from metalda.cli.errors import error_border
from metalda.cli.sharing import with_shared_options


class _Commands(TyperGroup):
    """Runs every command inside the error border."""

    def invoke(self, ctx: Any) -> Any:
        with error_border(debug=bool(ctx.params.get("debug")), command=ctx.command_path):
            return super().invoke(ctx)


app = typer.Typer(
    cls=_Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\b\nExample:\n  metalda demo",
)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"metalda {metalda.__version__}")
        raise typer.Exit


@app.callback()
def common(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Topic models that use the labels of documents and the features of words."""


def _add(function: Any, *, name: str, example: str) -> None:
    app.command(name, epilog=f"\b\nExample:\n  {example}")(with_shared_options(function))


_add(demo.demo, name="demo", example="metalda demo --topics 20")
_add(
    fitting.fit,
    name="fit",
    example="metalda fit news.jsonl -o model --text body --labels section --embeddings glove.6B.50d.txt -k 50",
)
_add(
    prepare.prepare,
    name="prepare",
    example="metalda prepare papers.tsv.xz -o corpus --text abstract --labels categories --min-df 5 --jobs 2",
)
_add(importing.import_state, name="import", example="metalda import topic-state.gz -o model")
_add(inspecting.topics, name="topics", example="metalda topics model --top-n 15")
_add(effects.effects, name="effects", example="metalda effects model --contrast sport politics --plot effects.png")
_add(applying.transform, name="transform", example="metalda transform model new.jsonl -o proportions.csv")
_add(applying.predict, name="predict", example="metalda predict model new.jsonl --format csv > labels.csv")
_add(applying.evaluate, name="evaluate", example="metalda evaluate model test.jsonl --unseen features")
_add(
    coherence.coherence,
    name="coherence",
    example="metalda coherence model --reference wiki.txt.gz --counts wiki-counts\n  "
    "metalda coherence model other --reference articles.tsv.xz --text 3 --measure c_v --format json",
)
_add(
    comparing.compare,
    name="compare",
    example="metalda compare news.jsonl --text body --labels section --models metalda,lda -k 50 --seeds 3",
)
_add(
    reproducing.reproduce,
    name="reproduce",
    example="metalda reproduce perplexity --dataset ws --topics 50 --models LDA,MetaLDA --seeds 3 --jobs 2",
)
_add(corpora.datasets, name="datasets", example="metalda datasets reuters --folder data -o reuters.jsonl")
_add(
    comparing.search,
    name="search",
    example="metalda search news.jsonl --text body --labels section --topics 10,20,50,100 --seeds 3 --plot k.png",
)
_add(judging.stability, name="stability", example="metalda stability model-0 model-1 model-2")
_add(judging.chains, name="chains", example="metalda chains model-0 model-1 model-2 model-3")
_add(
    reporting.report,
    name="report",
    example="metalda report model -o report.html --corpus news.jsonl --compare other-model",
)
