"""GivenModels by name: unfitted estimators, or texts such as ``metalda:doc_prior=default,word_prior=0.01``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple, TypeAlias

from metalda.errors import InputError
from metalda.models.base import TopicModel
from metalda.models.fitted import Parameters
from metalda.models.registry import find_model, parameters_of

GivenModels: TypeAlias = str | Iterable[str | TopicModel] | Mapping[str, str | TopicModel]

NOT_IN_NAMES = ("vocabulary", "word_features", "embeddings", "n_jobs", "random_state", "verbose")
_COMMA = re.compile(r",(?![^()]*\))")  # a comma in s(year, df=5) is part of a formula
_WORDS = {"none": None, "true": True, "false": False}


class NamedModel(NamedTuple):
    """An unfitted model and its name in tables."""

    name: str
    model: TopicModel

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Put the name in front of any error about the model."""
        try:
            yield
        except ValueError as error:
            raise InputError(f"{self.name}: {error}") from error


def split_names(texts: Iterable[str]) -> list[str]:
    """Split ``metalda:mu=2,nu=2,lda`` into two: a part with an equals sign belongs to the model before it."""
    names: list[str] = []
    for part in (part.strip() for text in texts for part in _COMMA.split(text)):
        if names and "=" in part.partition(":")[0]:
            names[-1] += f",{part}" if ":" in names[-1] else f":{part}"
        elif part:
            names.append(part)
    return names


def name_models(models: GivenModels, common: Parameters) -> list[NamedModel]:
    """Return the models, each made by name with the common parameters that it has; estimators keep their own.

    Names and parameters are checked here, before any document is read.
    """
    given = list(_named(models))
    if not given:
        raise InputError("no models to compare; give some, such as metalda,lda")
    found = [NamedModel(name, _make(model, common) if isinstance(model, str) else model) for name, model in given]
    for name in (name for i, (name, _) in enumerate(given) if name in dict(given[:i])):
        raise InputError(f"the model {name!r} is given twice; give other parameters, or a mapping with a name for each")
    by_name = [each.model for each, (_, model) in zip(found, given, strict=True) if isinstance(model, str)]
    for parameter in common:
        if not any(parameter in parameters_of(type(model)) for model in by_name):
            raise InputError(f"{parameter!r} is not a parameter of any model given by name")
    for each in found:
        with each.named_errors():
            each.model.validate()
    return found


def _named(models: GivenModels) -> Iterator[tuple[str, str | TopicModel]]:
    if isinstance(models, Mapping):
        pairs = list(models.items())
    else:
        items = split_names([models]) if isinstance(models, str) else list(models)
        pairs = [(item if isinstance(item, str) else type(item).__name__, item) for item in items]
    for name, model in pairs:
        if not isinstance(model, str | TopicModel):
            raise InputError(f"{name}: expected a model or the name of one, not {type(model).__name__}")
        yield name, model


def _make(text: str, common: Parameters) -> TopicModel:
    """Make the model that a name with parameters describes."""
    name, colon, rest = text.partition(":")
    model = find_model(name)
    known = parameters_of(model)
    parameters = {parameter: value for parameter, value in common.items() if parameter in known}
    for part in _COMMA.split(rest) if colon else ():
        parameter, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not parameter or not value:
            raise InputError(f"{text}: expected {name}:parameter=value,…, but there is {part!r}")
        if parameter in NOT_IN_NAMES:
            raise InputError(f"{text}: {parameter} cannot be part of a name; give it once, for all models")
        if parameter not in known:
            there = ", ".join(each for each in known if each not in NOT_IN_NAMES)
            raise InputError(f"{text}: {name} has no parameter {parameter!r}; it has {there}")
        parameters[parameter] = _value(value)
    return model(**parameters)


def _value(text: str) -> str | float | None:
    """Parse a number, none, true or false; other text stays text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text
