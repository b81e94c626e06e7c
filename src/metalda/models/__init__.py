"""The public estimators. Each declares its priors and its sampler; `TopicModel` does the rest.

Models are imported when they are first used.
"""

from typing import TYPE_CHECKING

from metalda.models.registry import CLASSES

__all__ = [
    "DMM",
    "DMR",
    "GPUDMM",
    "LDA",
    "LFLDA",
    "PTM",
    "WFLDA",
    "LabeledLDA",
    "MetaLDA",
    "PartiallyLabeledLDA",
    "load",
    "read_mallet_state",
    "read_names",
]

if TYPE_CHECKING:
    from metalda.models.embedded import GPUDMM, LFLDA
    from metalda.models.labeled import LabeledLDA, PartiallyLabeledLDA
    from metalda.models.lda import LDA
    from metalda.models.mallet import read_mallet_state
    from metalda.models.metalda import MetaLDA
    from metalda.models.names import read_names
    from metalda.models.regression import DMR, WFLDA
    from metalda.models.saving import load
    from metalda.models.short_texts import DMM, PTM


def __getattr__(name: str) -> object:
    if name in CLASSES:
        return CLASSES[name].load()
    if name == "load":
        from metalda.models.saving import load

        return load
    if name == "read_mallet_state":
        from metalda.models.mallet import read_mallet_state

        return read_mallet_state
    if name == "read_names":
        from metalda.models.names import read_names

        return read_names
    raise AttributeError(f"module 'metalda.models' has no attribute {name!r}")
