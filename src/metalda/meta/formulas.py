"""Formulas in Wilkinson's notation, such as ``section + s(year) + section:year``, as terms."""

from __future__ import annotations

import re
from dataclasses import dataclass

from metalda.errors import InputError

DEFAULT_DF, LEAST_DF, MOST_DF = 5, 3, 50
MOST_CHARACTERS = 10_000
_CALL = re.compile(
    r"(?P<name>\w+)\(\s*(?:`(?P<quoted>[^`]+)`|(?P<plain>[^`,]+?))\s*(?:,\s*(?:df\s*=\s*)?(?P<df>\d+)\s*)?\)"
)
_QUOTED, _CALLS = re.compile(r"`[^`]*`"), re.compile(r"\w+\([^()]*\)")
_FOREIGN = re.compile(r"[^\w\s.+\-:*/()`]")


@dataclass(frozen=True)
class Factor:
    """A column in a term: as it is, as a curve with `df` columns, or with the levels of nested labels."""

    column: str
    df: int | None = None
    levels: bool = False

    @property
    def name(self) -> str:
        if self.df is not None:
            return f"s({self.column})"
        return f"levels({self.column})" if self.levels else self.column


Term = tuple[Factor, ...]


def parse(formula: str) -> tuple[Term, ...]:
    """Return the terms of a formula in Wilkinson's notation. Nothing in it is executed."""
    from formulaic.parser import DefaultFormulaParser

    if not isinstance(formula, str) or "~" in formula.lstrip(" ~"):
        raise InputError(f"prevalence={formula!r}: give terms such as 'section + s(year)', without a left side")
    if len(formula) > MOST_CHARACTERS:
        raise InputError(f"prevalence: a formula has at most {MOST_CHARACTERS:,} characters, not {len(formula):,}")
    if "**" in formula or "^" in formula:  # which may stand for any number of terms
        raise InputError(f"prevalence={formula!r}: write interactions as a:b or a*b, not as powers")
    formula = formula.lstrip(" ~")
    if foreign := _FOREIGN.search(_CALLS.sub("", _QUOTED.sub("", formula))):
        raise InputError(
            f"prevalence={formula!r}: {foreign[0]!r} has no meaning in a formula; join columns with + : or *, and "
            "write names that are not plain words in backticks, as in `my column`"
        )
    try:
        parsed = list(DefaultFormulaParser(include_intercept=False).get_terms(formula))
        factors = [[(factor.expr, factor.eval_method.name) for factor in term.factors] for term in parsed]
    except Exception:  # of many kinds, from the parser and from Python's own
        raise InputError(
            f"prevalence={formula!r} is not a formula such as 'section + s(year) + section:year': there must be one of "
            "+ : * between two columns, a partner for each parenthesis and backtick, and backticks around names with "
            "spaces"
        ) from None
    terms = [tuple(_factor(*factor, formula) for factor in term) for term in factors if term != [("1", "LITERAL")]]
    if not terms:
        raise InputError(f"prevalence={formula!r} has no term: name columns, as in 'section + s(year)'")
    curves = {factor for term in terms for factor in term if factor.df is not None}
    for factor in curves:
        if sum(other.column == factor.column for other in curves) > 1:
            raise InputError(f"prevalence={formula!r}: {factor.name} has several values of df: choose one")
    return tuple(terms)


def _factor(text: str, method: str, formula: str) -> Factor:
    if method == "LOOKUP":
        return Factor(text)
    call = _CALL.fullmatch(text)
    if call is None or call["name"] not in ("s", "levels") or (call["name"] == "levels" and call["df"]):
        raise InputError(
            f"prevalence={formula!r}: {text!r} is not known; use names of columns (in backticks if they are not plain "
            "words), s(column) or s(column, df=7) for a curve, and levels(column) for nested labels"
        )
    column = call["quoted"] or call["plain"]
    if call["name"] == "levels":
        return Factor(column, levels=True)
    df = DEFAULT_DF if call["df"] is None else int(call["df"])
    if not LEAST_DF <= df <= MOST_DF:
        raise InputError(f"prevalence={formula!r}: df of {text!r} must lie between {LEAST_DF} and {MOST_DF}")
    return Factor(column, df)
