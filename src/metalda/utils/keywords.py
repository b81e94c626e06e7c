"""Errors for wrong keyword arguments, which name the function that was called and the nearest right keyword."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Names in other libraries (gensim, scikit-learn, tomotopy, stm), and the first of ours that the function has.
_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("k", "K", "n_topics", "num_topics", "topics"), ("n_components",)),
    **dict.fromkeys(("iter", "iterations", "max_iter", "num_iterations", "passes"), ("n_iter",)),
    **dict.fromkeys(("alpha", "doc_topic_prior"), ("doc_prior",)),
    **dict.fromkeys(("beta", "eta", "topic_word_prior"), ("word_prior",)),
    **dict.fromkeys(("burnin", "burn"), ("burn_in",)),
    **dict.fromkeys(("seed", "rng"), ("random_state",)),
    **dict.fromkeys(("workers", "threads", "n_threads"), ("n_jobs",)),
    **dict.fromkeys(("label", "labels", "y", "metadata", "classes", "target"), ("labels", "y")),
    **dict.fromkeys(("sep", "delimiter", "separator"), ("label_delimiter",)),
}


def require_known(called: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError for the first keyword that a function does not have, with the nearest that it has."""
    names = list(known)
    for name in given:
        if name not in names:
            raise TypeError(f"{called}() got an unexpected keyword argument {name!r}; {_nearest(name, names)}")


def _nearest(name: str, known: list[str]) -> str:
    close = [each for each in _ELSEWHERE.get(name, ()) if each in known] or get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"it has {', '.join(known)}"


def names_wrong_keywords(*others: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function, whose `**keywords` are `others`: a wrong keyword raises the error of `require_known`.

    The error of a method names the class of the object.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kinds = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
        own = [each.name for each in signature(function).parameters.values() if each.kind in kinds]
        is_method = bool(own) and own[0] in ("self", "cls")
        known = {*own[is_method:], *others}

        @wraps(function)
        def call(*args: P.args, **keywords: P.kwargs) -> R:
            if not keywords.keys() <= known:
                owner = args[0] if is_method and args else None
                named = owner if isinstance(owner, type) else type(owner)
                called = f"{named.__name__}.{function.__name__}" if is_method else function.__name__
                require_known(called, keywords, [*own[is_method:], *others])
            return function(*args, **keywords)

        return call

    return decorate
