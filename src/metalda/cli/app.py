"""The program ``metalda`` and its commands. The module of a command is loaded when the command runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import Parameter, Signature, signature
from keyword import iskeyword
from typing import Annotated, Any, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from metalda.cli.errors import error_border

Click: TypeAlias = Any  # an object of Click, which cannot be imported: newer versions of Typer contain a copy of it


class Entry(NamedTuple):
    """A command in the list of commands."""

    name: str
    section: str
    summary: str

    @property
    def module(self) -> str:
        """Return the name of the module, which is that of the command."""
        return f"{self.name}_" if iskeyword(self.name) else self.name


COMMANDS = (
    Entry("demo", "Start", "Find topics in the documentation of Python."),
    Entry("fit", "Train", "Train a model on DATA and save it."),
    Entry("compare", "Train", "Train and evaluate several models on one corpus."),
    Entry("search", "Train", "Train one model with several numbers of topics."),
    Entry("import", "Train", "Convert a model trained by Mallet."),
    Entry("prepare", "Data", "Tokenize a large corpus once, and save it."),
    Entry("datasets", "Data", "List the built-in datasets, or load one."),
    Entry("topics", "Inspect", "Print the topics of a model."),
    Entry("curate", "Inspect", "Name, merge and hide topics."),
    Entry("effects", "Inspect", "Print the effects of labels on topics."),
    Entry("prevalence", "Inspect", "Print topic proportions over a number."),
    Entry("wording", "Inspect", "Print the words that set groups apart."),
    Entry("documents", "Inspect", "Print the typical documents of topics."),
    Entry("correlations", "Inspect", "Print which topics occur together."),
    Entry("report", "Inspect", "Write an interactive HTML report."),
    Entry("transform", "Apply", "Infer topic proportions of new documents."),
    Entry("export", "Apply", "Write documents, words or a network to a file."),
    Entry("predict", "Apply", "Predict labels of new documents."),
    Entry("evaluate", "Evaluate", "Compute held-out perplexity."),
    Entry("coherence", "Evaluate", "Compute topic coherence in a reference corpus."),
    Entry("validate", "Evaluate", "Let people check the topics: word and topic intrusion."),
    Entry("stability", "Evaluate", "Compare the topics of several models."),
    Entry("chains", "Evaluate", "Compute R-hat and effective sample sizes."),
    Entry("reproduce", "Evaluate", "Run the experiments of the MetaLDA paper."),
)

_WHOLE = 1000  # characters of a summary, which is a sentence
_ARGUMENTS, _OPTIONS = "Arguments", "Options"


class Command(TyperCommand):
    """A command whose help lists options by section; an option names its section as `rich_help_panel`."""

    def format_options(self, ctx: Click, formatter: Click) -> None:
        sections: dict[str, list[tuple[str, str]]] = {_ARGUMENTS: [], _OPTIONS: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            is_argument = parameter.param_type_name == "argument"
            section = _ARGUMENTS if is_argument else getattr(parameter, "rich_help_panel", None) or _OPTIONS
            sections.setdefault(section, []).append(record)
        for section, records in ((section, records) for section, records in sections.items() if records):
            with formatter.section(section):
                formatter.write_dl(records)


class _CommandToLoad(TyperCommand):
    """A placeholder in the list of commands; the module of the command is loaded when it runs."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.name, short_help=entry.summary, rich_markup_mode=None, rich_help_panel=entry.section)
        self._entry = entry

    def make_context(self, info_name: str | None, args: list[str], parent: Click = None, **extra: Any) -> Click:
        command = load_command(self._entry, completing=bool(extra.get("resilient_parsing")))
        return command.make_context(info_name, args, parent=parent, **extra)


class _CommandToComplete(Command):
    """A command for shell completion. Options of models, which take a second to load, are read after a dash only."""

    def shell_complete(self, ctx: Click, incomplete: str) -> Click:
        if not incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        (entry,) = (entry for entry in COMMANDS if entry.name == self.name)
        return load_command(entry).shell_complete(ctx, incomplete)


class _Group(TyperGroup):
    """Commands of a group, such as those of ``metalda validate``, listed with whole summaries."""

    def format_commands(self, ctx: Click, formatter: Click) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(_WHOLE)) for name, each in commands if each])


class _Commands(TyperGroup):
    """All commands, run inside the error border."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for entry in COMMANDS:
            self.add_command(_CommandToLoad(entry))

    def format_commands(self, ctx: Click, formatter: Click) -> None:
        for section in dict.fromkeys(entry.section for entry in COMMANDS):
            with formatter.section(section):
                formatter.write_dl([(each.name, each.summary) for each in COMMANDS if each.section == section])

    def invoke(self, ctx: Click) -> object:
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
        from metalda.cli.versions import version_lines

        print(*version_lines(), sep="\n")
        raise typer.Exit


@app.callback()
def common(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print versions, as a bug report needs them.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Topic models that use the labels of documents and the features of words."""


def load_command(entry: Entry, *, completing: bool = False) -> TyperCommand | TyperGroup:
    """Load a command from its module: the function with its name, and the examples for its help, `EPILOG`.

    A module with `COMMANDS` is a group of commands, such as ``metalda validate score``.
    """
    module = import_module(f"metalda.cli.{entry.module}")
    loaded = typer.Typer(cls=_Group, rich_markup_mode=None, add_completion=False)
    if hasattr(module, "COMMANDS"):
        loaded.callback(help=entry.summary, epilog=module.EPILOG)(lambda: None)
        for name, function in module.COMMANDS.items():
            loaded.command(name, cls=Command, epilog=module.EPILOG)(with_shared_options(function))
    else:
        function = with_shared_options(getattr(module, entry.module), derived=not completing)
        kind = _CommandToComplete if completing else Command
        loaded.command(entry.name, cls=kind, epilog=module.EPILOG)(function)
    command = typer.main.get_command(loaded)
    assert isinstance(command, TyperCommand | TyperGroup)
    return command


def with_shared_options(command: Callable[..., None], *, derived: bool = True) -> Callable[..., None]:
    """Replace each parameter that represents a group of options by these options.

    A group is a dataclass whose fields are options, or `ModelOptions`, whose options are derived from the models.
    Typer has no groups of options, but it reads the signature.
    """
    from metalda.cli.model_options import ModelOptions, model_options

    groups: dict[str, tuple[Any, list[Parameter]]] = {}
    parameters: list[Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in signature(command).parameters.items():
        hint, *details = get_args(hints[name]) if get_origin(hints[name]) is Annotated else (hints[name],)
        if hint is ModelOptions:
            groups[name] = hint, model_options(*details) if derived else []
        elif is_dataclass(hint):
            groups[name] = hint, _options_of(hint)
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name]))
            continue
        parameters += groups[name][1]

    def run(**given: object) -> None:
        for name, (group, options) in groups.items():
            given[name] = group(**{option.name: given.pop(option.name) for option in options})
        command(**given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


def _options_of(group: Any) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
        for field in fields(group)
    ]
