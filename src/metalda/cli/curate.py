"""``metalda curate``: name, merge and hide the topics of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.errors import InputError
from metalda.utils.terminal import clean

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

EPILOG = options.epilog(
    "metalda curate model --rename 7=economy --merge 3,8 --hide 2 -o model2",
    "metalda curate model --merge trade=economy,11",
)


def curate(
    model: options.Model,
    rename: Annotated[
        list[str] | None,
        typer.Option(
            "--rename",
            metavar="TOPIC=NAME",
            help="Name a topic, given its number or the name that it has; 7= takes its name away. Repeat the option "
            "for more.",
            show_default=False,
        ),
    ] = None,
    names: options.Names = None,
    merge: Annotated[
        list[str] | None,
        typer.Option(
            "--merge",
            metavar="[NAME=]TOPIC,TOPIC",
            help="Merge topics, given by number or name. Repeat the option for more.",
            show_default=False,
        ),
    ] = None,
    hide: Annotated[
        list[str] | None,
        typer.Option("--hide", metavar="TOPIC,…", help="Hide topics, given by number or name.", show_default=False),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(
            "--show", metavar="TOPIC,…", help="Show hidden topics again, given by number or name.", show_default=False
        ),
    ] = None,
    restore: Annotated[
        bool, typer.Option("--restore", help="Undo all names, merges and hidden topics, before the other options.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="MODEL2",
            help="Folder for the curated model.",
            show_default="MODEL itself is changed",
            parser=options.location,
        ),
    ] = None,
    top_n: Annotated[int, typer.Option("--top-n", "-n", metavar="N", min=1, help="Words per topic to print.")] = 10,
    quiet: options.Quiet = False,
) -> None:
    """Name, merge and hide topics, and save the model. All other commands show the topics as they are then.

    Topics keep their numbers; a merged topic has the smallest number of its parts. Options are applied in the order
    --restore, --show, --names, --rename, --merge, --hide. The draws of the model do not change: --restore brings all
    topics back.
    """
    import metalda
    from metalda.storage import check_writable

    if not (rename or names or merge or hide or show or restore):
        raise InputError("nothing to do: give --rename, --names, --merge, --hide, --show or --restore")
    target = model if output is None else output
    check_writable(target)
    fitted = metalda.load(model)
    if restore:
        fitted.restore()
    if show:
        fitted.show(options.topics("--show", show))
    if names:
        options.rename_topics(fitted, names)
    if rename:
        fitted.rename(_names(rename))
    if merge:
        _merge(fitted, merge)
    if hide:
        fitted.hide(options.topics("--hide", hide))
    fitted.save(target)
    if not quiet:
        tables.print_topics(fitted, top_n)
        changed = " MODEL itself was changed." if str(target) == str(model) else ""
        print(f"\nSaved to {clean(str(target))}.{changed}")


def _names(texts: list[str]) -> dict[int | str, str | None]:
    """Parse ``7=economy``, and ``7=``, which takes the name away."""
    names: dict[int | str, str | None] = {}
    for text in texts:
        topic, equals, name = text.partition("=")
        if not equals or not topic.strip():
            raise InputError(f"--rename {text}: expected TOPIC=NAME, such as 7=economy")
        if (found := options.as_topic(topic.strip())) in names:
            raise InputError(f"--rename names topic {topic.strip()} twice: choose one name")
        names[found] = name if name.strip() else None
    return names


def _merge(model: TopicModel, texts: list[str]) -> None:
    """Merge groups such as ``3,8`` and ``trade=3,8``; all topics are those of the model before."""
    from metalda.corpus.matrix import first_duplicate

    merges: list[tuple[list[int], str | None]] = []
    for text in texts:
        name, equals, topics = text.rpartition("=")
        try:
            merges.append((_numbers(model, text), None))  # the name of a topic may contain =
        except InputError:
            if not equals:
                raise
            merges.append((_numbers(model, topics), name))
    if (both := first_duplicate(number for numbers, _ in merges for number in dict.fromkeys(numbers))) is not None:
        raise InputError(f"--merge: topic {both} is in two merges; give all their topics in one")
    for numbers, own in merges:
        model.merge(numbers, own)


def _numbers(model: TopicModel, text: str) -> list[int]:
    """Return the numbers of topics such as ``3,economy``."""
    return [options.topic_number(model, str(topic)) for topic in options.topics("--merge", [text])]
