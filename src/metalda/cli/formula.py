"""Options for the formula of a model: from --prevalence, or from --splines and --interactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options
from metalda.cli.data import ReadingOptions
from metalda.cli.model_options import MODEL, require_parameter
from metalda.corpus.formats import find_format, is_saved
from metalda.errors import InputError

if TYPE_CHECKING:
    from metalda.corpus import Schema


@dataclass(frozen=True)
class FormulaOptions:
    """Curves and interactions, from which a formula is made."""

    splines: Annotated[
        list[str] | None,
        typer.Option(
            "--splines",
            metavar="COLUMN=DF",
            help="Numeric column whose effect is a smooth curve: year=5 for 5 degrees of freedom, the default. "
            "Repeat the option, or separate columns by commas. All other columns are used as they are; --prevalence "
            "gives the whole formula instead.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None
    interactions: Annotated[
        list[str] | None,
        typer.Option(
            "--interactions",
            metavar="COLUMN:COLUMN",
            help="Columns that have effects together: genre:year for a slope over the years, or a curve with --splines "
            "year, in each genre. Repeat the option, or separate interactions by commas.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None

    def read_columns(
        self, reading: ReadingOptions, data: Path, prevalence: str | None, model: str, wording: str | None = None
    ) -> ReadingOptions:
        """Return the options for reading, with the columns of the formula: curves are numbers, others are labels.

        The column `wording` is read as a label too.
        """
        for option, given in (("--splines", self.splines), ("--interactions", self.interactions)):
            if given and prevalence is not None:
                raise InputError(f"give {option} or --prevalence, not both: write the term into the formula")
            if given:
                require_parameter(model, "prevalence", option)
        if is_saved(data):
            return reading
        curves = parse_splines(self.splines)
        numbers = options.columns(reading.numbers) or []
        labels = options.columns(reading.labels) or []
        named = {*numbers, *labels, *options.bins(reading.bins)}
        if wording is not None and wording not in named and _has_fields(data, reading):
            labels.append(wording)
            named.add(wording)
        if prevalence is not None:
            from metalda.meta.formulas import parse

            factors = [factor for term in parse(prevalence) for factor in term]
            curves = dict.fromkeys(factor.column for factor in factors if factor.df is not None)
            others = dict.fromkeys(factor.column for factor in factors if factor.column not in {*named, *curves})
            if not _has_fields(data, reading):
                return reading  # labels such as subfolders are columns by themselves
            labels += others
        for interaction in parse_interactions(self.interactions):
            _require_columns(interaction, {*named, *curves})
        numbers += [column for column in curves if column not in numbers]
        return replace(reading, numbers=_quoted(numbers), labels=_quoted(labels))

    def formula(self, schema: Schema | None) -> str | None:
        """Return the formula with all columns that were read; None without curves and interactions."""
        curves, interactions = parse_splines(self.splines), parse_interactions(self.interactions)
        if not curves and not interactions:
            return None
        columns = (
            () if schema is None else dict.fromkeys((*schema.labels, *schema.bins, *schema.numbers, *schema.vectors))
        )
        for names in (*((column,) for column in curves), *interactions):
            _require_columns(names, columns)
        terms = [_term(column, curves) for column in columns]
        terms += [":".join(_term(column, curves) for column in names) for names in interactions]
        return " + ".join(dict.fromkeys(terms))


def _has_fields(data: Path, reading: ReadingOptions) -> bool:
    return find_format(data, reading.input_format, reading.encoding or "utf-8").has_fields


def parse_splines(values: list[str] | None) -> dict[str, int | None]:
    """Parse ``year=5`` as a curve with 5 degrees of freedom, and ``year`` as one with the default."""
    found: dict[str, int | None] = {}
    for text in options.columns(values) or ():
        name, equals, df = text.rpartition("=")
        try:
            found[name.strip() if equals else text] = int(df) if equals else None
            if equals and not name.strip():
                raise ValueError
        except ValueError:
            raise InputError(f"--splines {text}: expected COLUMN, or COLUMN=5 for 5 degrees of freedom") from None
    return found


def parse_interactions(values: list[str] | None) -> list[tuple[str, ...]]:
    """Parse ``genre:year`` as an interaction of two columns."""
    found = []
    for text in options.columns(values) or ():
        names = tuple(name.strip() for name in text.split(":"))
        if len(set(names)) < 2 or not all(names):
            raise InputError(f"--interactions {text}: expected two columns or more, such as genre:year")
        found.append(names)
    return found


def _require_columns(names: Iterable[str], read: Iterable[str]) -> None:
    for name in names:
        if name not in read:
            raise InputError(
                f"--splines and --interactions: no column {name!r} is read; name it with --labels, --bins or --numbers"
            )


def _term(column: str, curves: Mapping[str, int | None]) -> str:
    """Return a column in a formula; names that are not plain words are in backticks."""
    if "`" in column:
        raise InputError(f"the column {column!r} cannot be named in a formula, because it contains a backtick")
    name = column if column.isidentifier() else f"`{column}`"
    if column not in curves:
        return name
    df = curves[column]
    return f"s({name})" if df is None else f"s({name}, df={df})"


def _quoted(columns: list[str]) -> list[str] | None:
    """Invert `options.columns`: names with commas are quoted as in CSV."""
    return ['"' + name.replace('"', '""') + '"' for name in columns] or None
