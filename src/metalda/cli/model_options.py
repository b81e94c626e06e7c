"""Options derived from the parameters of models: type and default from the dataclass, help from its docstring."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from inspect import Parameter, cleandoc
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer

from metalda.errors import InputError
from metalda.models import registry

if TYPE_CHECKING:
    from metalda.models.base import TopicModel
    from metalda.models.fitted import Parameters

# Parameters that a command sets otherwise: from files, or by options that commands without a model also have.
_NOT_DERIVED = {"vocabulary", "word_features", "embeddings", "seeds", "n_jobs", "random_state", "verbose"}
_SPELLINGS = {
    "n_components": ("--topics", "-k"),
    "n_iter": ("--iterations",),
    "n_iter_limit": ("--iteration-limit",),
    "n_chains": ("--chains",),
}
_METAVARS = {"prevalence": "FORMULA", "wording": "COLUMN"}
SECTIONS = MODEL, TRAINING, SINGLE_MODELS = "Model", "Training", "Parameters of single models"
COMMON = (
    "n_iter",
    "n_iter_limit",
    "burn_in",
    "thin",
    "n_draws",
    "n_chains",
    "n_shards",
)  # parameters of every model


class ModelOptions:
    """Parameters of models that were given on the command line."""

    def __init__(self, **values: object) -> None:
        known = parameters(registry.MODELS)
        self.given: Parameters = {
            name: known[name].convert(value) for name, value in values.items() if value is not None
        }

    def make_model(self, name: str, **others: Any) -> TopicModel:
        """Make the model with these parameters; a parameter that was not given keeps the default of the model."""
        model = registry.find_model(name)
        for parameter, value in self.given.items():
            require_parameter(name, parameter)
            _check(model, name, parameter, value)
        return model(**self.given, **others)


def require_parameter(name: str, parameter: str, spelling: str | None = None) -> None:
    """Raise an error if a model does not have a parameter that an option sets."""
    if parameter not in registry.parameters_of(registry.find_model(name)):
        owners = ", ".join(parameters(registry.MODELS)[parameter].defaults)
        raise InputError(f"{spelling or option(parameter)} is not an option of --model {name}; it is one of: {owners}")


def option(parameter: str) -> str:
    """Return the option that sets a parameter: ``--topics`` for ``n_components``."""
    return _SPELLINGS.get(parameter, (f"--{parameter.replace('_', '-')}",))[0]


def model_options(names: Collection[str] | None = None) -> list[Parameter]:
    """Return the options for these parameters as parameters of a command; by default for all models."""
    return [
        Parameter(each.name, Parameter.KEYWORD_ONLY, default=None, annotation=each.annotation)
        for each in sorted(parameters(registry.MODELS).values(), key=lambda each: SECTIONS.index(each.section))
        if names is None or each.name in names
    ]


@dataclass(frozen=True)
class ModelParameter:
    """A parameter of one or several models."""

    name: str
    types: frozenset[type]
    choices: tuple[str, ...]  # the strings that it accepts
    help: str
    section: str
    defaults: dict[str, object]  # by model

    @property
    def annotation(self) -> object:
        """Return the annotation for Typer; a parameter that accepts strings and numbers is a string until `convert`."""
        spellings = _SPELLINGS.get(self.name, (option(self.name),))
        numbers = ["N" if int in self.types else "NUMBER"] if {int, float} & self.types else []
        columns = ["COLUMN=NUMBER,…"] if self._is_mapping else []
        metavar = _METAVARS.get(self.name) or "|".join((*self.choices, *numbers, *columns)) or self.name.upper()
        is_text = str in self.types or self._is_mapping
        kind: type = str if is_text else float if float in self.types else int
        shown = typer.Option(
            *spellings, metavar=metavar, help=self._full_help, show_default=False, rich_help_panel=self.section
        )
        return Annotated[kind | None, shown]

    @property
    def _full_help(self) -> str:
        prefix = f"{', '.join(self.defaults)}: " if self.section == SINGLE_MODELS else ""
        return f"{prefix}{self.help}" + (f"  [default: {self._default}]" if self._default else "")

    @property
    def _default(self) -> str:
        """Return ``0.7``, or if models differ ``labels for metalda; 0.1 for lda, llda``."""
        owners: dict[str, list[str]] = {}
        for model, default in self.defaults.items():
            if default is not None:
                owners.setdefault(f"{default:g}" if isinstance(default, float) else str(default), []).append(model)
        if len(owners) == 1:
            return next(iter(owners))
        return "; ".join(f"{default} for {', '.join(models)}" for default, models in owners.items())

    @property
    def _is_mapping(self) -> bool:
        return any(get_origin(kind) is Mapping for kind in self.types)

    def convert(self, value: object) -> object:
        """Return the value of the parameter; a string if it is not a number."""
        if isinstance(value, str) and self._is_mapping and "=" in value:
            pairs = [part.rpartition("=") for part in value.split(",")]
            with suppress(ValueError):
                return {column.strip(): float(number) for column, _, number in pairs}
        if isinstance(value, str):
            for number in (kind for kind in (int, float) if kind in self.types):
                with suppress(ValueError):
                    return number(value)
        return value


@dataclass
class _Declared:
    """What the models say about a parameter."""

    types: set[type]
    choices: tuple[str, ...]
    help: str
    defaults: dict[str, object]


@cache
def parameters(models: tuple[registry.ModelEntry, ...]) -> dict[str, ModelParameter]:
    """Return the parameters of these models that are options, in the order of their documentation."""
    from metalda.models.base import TopicModel

    of_every_model = {field.name for field in fields(TopicModel)}
    found: dict[str, _Declared] = {}
    for entry in models:
        model = entry.load()
        hints, documented = get_type_hints(model), dict(_documented(model.__doc__ or ""))
        defaults = {field.name: field.default for field in fields(model) if field.init}
        for name in (name for name in (*documented, *defaults) if name in defaults and name not in _NOT_DERIVED):
            own = found.setdefault(name, _Declared(set(), (), "", {}))
            own.types |= {*(get_args(hints[name]) or (hints[name],))} - {NoneType}
            own.defaults[entry.name] = defaults[name]
            kind, text = documented.get(name, ("", ""))
            own.choices = own.choices or tuple(re.findall(r'"(\w+)"', kind))
            own.help = own.help or text
    return {
        name: ModelParameter(
            name,
            frozenset(own.types),
            own.choices,
            re.sub(r"`+([^`]+)`+", lambda match: option(match[1]) if match[1] in found else match[1], own.help),
            _section(name in of_every_model, len(own.defaults), len(models)),
            own.defaults,
        )
        for name, own in found.items()
    }


def _section(of_every_model: bool, n_owners: int, n_models: int) -> str:
    if of_every_model:
        return TRAINING
    return MODEL if n_owners > n_models / 2 else SINGLE_MODELS


def _documented(docstring: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield name, type and description of each parameter in a numpydoc docstring; "As in …" entries are skipped."""
    _, _, rest = cleandoc(docstring).partition("\nParameters\n----------\n")
    section = re.split(r"\n\n\w+\n-+\n", rest)[0]
    for entry in re.split(r"\n(?=\S)", section):
        head, _, text = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        description = " ".join(text.split())
        if not description.startswith("As in "):
            for name in names.split(","):
                yield name.strip(), (kind, description)


def _check(model: type[TopicModel], name: str, parameter: str, value: object) -> None:
    """Raise an error that names the option; `fit` would name the parameter, after the data have been read."""
    allowed = registry.constraints_of(model, parameter)
    if allowed and not any(each.is_satisfied_by(value) for each in allowed):
        kinds = [str(each) for each in allowed if str(each) != "None"]
        expected = " or ".join("COLUMN=NUMBER" if "Mapping" in kind else kind for kind in kinds)
        raise InputError(f"{option(parameter)} {value}: --model {name} expects {expected}")
