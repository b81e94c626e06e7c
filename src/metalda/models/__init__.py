"""The public estimators: each names its priors, and the base class does the rest. Imported when first used."""

from typing import TYPE_CHECKING, Any

from metalda.models.registry import CLASSES

__all__ = ["LDA", "MetaLDA", "load"]

if TYPE_CHECKING:
    from metalda.models.lda import LDA
    from metalda.models.loading import load
    from metalda.models.metalda import MetaLDA


def __getattr__(name: str) -> Any:
    if name in CLASSES:
        return CLASSES[name].load()
    if name == "load":
        from metalda.models.loading import load

        return load
    raise AttributeError(f"module 'metalda.models' has no attribute {name!r}")
