"""New documents for a saved model: read as those of training, but for the options given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metalda.cli import options
from metalda.cli.reading import Reading, load_prepared, read_stop_words
from metalda.errors import InputError, MissingLabelsError

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel


@dataclass(frozen=True)
class NewTexts:
    """The options of commands that look at no labels."""

    text: options.Text = None
    input_format: options.Input = None
    encoding: options.Encoding = None
    stop_words: Annotated[
        str | None,
        typer.Option("--stop-words", metavar="english|none|FILE", help="Words to leave out.", show_default=False),
    ] = None

    def read(self, model: TopicModel, data: Path, *, id: str | None = None) -> Corpus:
        """The documents of a file, or of a prepared corpus, for this model."""
        given = {**vars(self), "id": id}
        no_labels = bool(self._of_labels()["no_labels"])
        if saved := load_prepared(data, {name: value for name, value in given.items() if name != "no_labels"}, self):
            return saved[0].without_labels() if no_labels else saved[0]
        reading = Reading.of(model).for_new(
            data,
            text=options.columns(self.text),
            id=id,
            format=self.input_format and self.input_format.value,
            encoding=self.encoding,
            **self._of_labels(),
        )
        words = read_stop_words(self.stop_words, lowercase=reading.lowercase, default=reading.stop_words)
        try:
            return reading.with_stop_words(words).read(data, progress=True)
        except MissingLabelsError as error:
            raise InputError(f"{error}, or read none with --no-labels") from None

    def _of_labels(self) -> dict[str, Any]:
        return {"no_labels": True}


@dataclass(frozen=True)
class NewDocuments(NewTexts):
    """The options of commands that use the labels, too."""

    labels: options.Labels = None
    no_labels: Annotated[
        bool, typer.Option("--no-labels", help="Read no labels: documents get the prior of an average one.")
    ] = False
    label_delimiter: options.Delimiter = None

    def _of_labels(self) -> dict[str, Any]:
        labels = options.columns(self.labels)
        return {"no_labels": self.no_labels, "labels": labels, "label_delimiter": self.label_delimiter}
