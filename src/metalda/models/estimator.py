"""What makes a model an estimator of scikit-learn, without importing scikit-learn, which takes a second.

A model has parameters, and methods with the names and arguments that scikit-learn expects. Everything else that
scikit-learn gives its estimators (`set_output`, requests of metadata, tags, the diagram in notebooks) is its own code,
which runs on a view of the model: see `as_sklearn`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import cache, update_wrapper, wraps
from reprlib import Repr
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from metalda.utils.constraints import check_parameters

if TYPE_CHECKING:
    from typing import Self

    from sklearn.utils import Tags

Method = TypeVar("Method", bound=Callable[..., object])

_LONGEST = 200  # characters of a value in the text of a model

# Attributes that a user may ask for before scikit-learn is imported.
_ASKED_FOR = re.compile(r"set_output|set_\w+_request|get_metadata_routing|_repr_html_")


class Estimator:
    """The base class of models. A subclass is a dataclass whose fields are the parameters."""

    _parameter_constraints: ClassVar[dict[str, object]] = {}

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters in alphabetical order, as scikit-learn does."""
        return sorted(field.name for field in fields(cls) if field.init)  # type: ignore[arg-type]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name. `deep` has no effect: no parameter is an estimator."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, and return the model."""
        names = self._get_param_names()
        for name, value in params.items():
            if name not in names:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {names!r}.")
            setattr(self, name, value)
        return self

    def _validate_params(self) -> None:
        """Raise InputError for a parameter with a value that `_parameter_constraints` does not allow."""
        check_parameters(type(self).__name__, self._parameter_constraints, self.get_params(deep=False))

    def __repr__(self) -> str:
        """Return the parameters that differ from their defaults; long values are cut."""
        defaults = {field.name: field.default for field in fields(self)}  # type: ignore[arg-type]
        given = self.get_params(deep=False).items()
        shown = [f"{name}={_short(value)}" for name, value in given if repr(value) != repr(defaults[name])]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_tags__(self) -> Tags:
        view = as_sklearn(self)
        return view.__sklearn_tags__() if view is not self else super().__sklearn_tags__()  # type: ignore[misc]

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that scikit-learn gives its estimators, from the view of the model."""
        if hasattr(type(self), name):
            return object.__getattribute__(self, name)  # raises what the property has raised
        is_wanted = _ASKED_FOR.fullmatch(name) or ("sklearn" in sys.modules and not name.startswith("__"))
        if not is_wanted or isinstance(self, _View) or not hasattr(as_sklearn(self), name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        view = as_sklearn(self)
        found = getattr(view, name)
        if not callable(found):
            return found

        @wraps(found)
        def call(*args: object, **keywords: object) -> object:
            result = found(*args, **keywords)
            return self if result is view else result

        return call


class _View:
    """Marks the classes that `sklearn_class` makes."""


def as_sklearn(model: Any) -> Any:
    """Return the model as an instance of scikit-learn's `BaseEstimator` and `TransformerMixin`.

    It has the methods of the model too, and shares its attributes: what one of the two sets, the other has.
    """
    if isinstance(model, _View):
        return model
    kind: Any = type(model)
    view: Any = object.__new__(sklearn_class(kind))
    view.__dict__ = vars(model)
    return view


@cache
def sklearn_class(model_class: Any) -> type:
    """Return a class that inherits from the class of a model and from those of scikit-learn."""
    from sklearn.base import BaseEstimator, TransformerMixin

    def reduce(view: object, protocol: Any) -> object:
        return _model_of, (model_class, vars(view))  # so that a copy of the view is a model

    content = {name: getattr(model_class, name) for name in ("transform", "fit_transform")}  # which it then wraps
    content |= {"__module__": model_class.__module__, "__doc__": model_class.__doc__, "__reduce_ex__": reduce}
    return type(model_class.__name__, (_View, model_class, TransformerMixin, BaseEstimator), content)


def _model_of(model_class: Any, attributes: dict[str, Any]) -> object:
    model = object.__new__(model_class)
    vars(model).update(attributes)
    return model


def follows_set_output(method: Method) -> Method:
    """Let `transform` or `fit_transform` return the container that `set_output` names, if scikit-learn is in use."""

    @wraps(method)
    def call(model: Any, *args: Any, **keywords: Any) -> object:
        if "sklearn" in sys.modules and not isinstance(model, _View):
            return getattr(as_sklearn(model), method.__name__)(*args, **keywords)
        return method(model, *args, **keywords)

    return cast(Method, call)


def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Decorate a method that exists only if `check(model)` holds, as scikit-learn's `available_if` does."""

    def decorate(method: Method) -> Method:
        return cast(Method, _Conditional(method, check))

    return decorate


class _Conditional:
    """A method that is an attribute of some objects only."""

    def __init__(self, method: Callable[..., object], check: Callable[[Any], bool]) -> None:
        self._method, self._check = method, check
        update_wrapper(cast(Any, self), method)

    def __get__(self, model: object, owner: type) -> Callable[..., object]:
        if model is None:
            return self._method
        if not self._check(model):
            raise AttributeError(f"This {owner.__name__!r} has no attribute {self._method.__name__!r}")
        return MethodType(self._method, model)


def require_fitted(model: Any) -> None:
    """Raise scikit-learn's NotFittedError unless `fit` was called."""
    if not model.__sklearn_is_fitted__():
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model)


def _short(value: object) -> str:
    """Return the text of a value; long lists and texts are cut."""
    text = _TEXTS.repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


_TEXTS = Repr()
_TEXTS.maxstring = _TEXTS.maxother = _LONGEST
