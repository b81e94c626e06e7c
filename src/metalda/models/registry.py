"""The models by their names on the command line. A model is imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from metalda.errors import InputError

if TYPE_CHECKING:
    from metalda.models.base import TopicModel
    from metalda.utils.constraints import Constraint


class ModelEntry(NamedTuple):
    """A model before it is imported."""

    name: str  # on the command line
    class_name: str
    module: str
    description: str

    def load(self) -> type[TopicModel]:
        """Import and return the class."""
        found: type[TopicModel] = getattr(import_module(self.module), self.class_name)
        return found


MODELS = (  # in the order in which they are listed
    ModelEntry("metalda", "MetaLDA", "metalda.models.metalda", "learns from document labels and word features"),
    ModelEntry("lda", "LDA", "metalda.models.lda", "latent Dirichlet allocation, with fixed priors"),
    ModelEntry("llda", "LabeledLDA", "metalda.models.labeled", "one topic for every label"),
    ModelEntry("pllda", "PartiallyLabeledLDA", "metalda.models.labeled", "several topics for every label"),
    ModelEntry("dmr", "DMR", "metalda.models.regression", "topics depend on labels or numbers, by regression"),
    ModelEntry("wflda", "WFLDA", "metalda.models.regression", "words of topics depend on word features, by regression"),
    ModelEntry("lflda", "LFLDA", "metalda.models.embedded", "words of topics are partly drawn from word vectors"),
    ModelEntry("dmm", "DMM", "metalda.models.short_texts", "a single topic for every document"),
    ModelEntry("gpudmm", "GPUDMM", "metalda.models.embedded", "DMM in which similar words promote each other"),
    ModelEntry("ptm", "PTM", "metalda.models.short_texts", "short documents are pooled"),
)

NAMES = tuple(entry.name for entry in MODELS)
CLASSES = {entry.class_name: entry for entry in MODELS}


def find_model(name: str) -> type[TopicModel]:
    """Return the class of a model by its short name; an InputError lists the names."""
    for entry in MODELS:
        if entry.name == name:
            return entry.load()
    raise InputError(f"there is no model {name!r}; models are {', '.join(NAMES)}")


def parameters_of(model: type[TopicModel]) -> tuple[str, ...]:
    """Return the names of a model's parameters."""
    return tuple(model._get_param_names())


def constraints_of(model: type[TopicModel], parameter: str) -> list[Constraint]:
    """Return the constraints on a parameter. A value must satisfy at least one; any value if empty."""
    from metalda.utils.constraints import constraints_from

    return constraints_from(model._parameter_constraints[parameter])
