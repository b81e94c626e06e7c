"""The public estimators: each names its priors, and the base class does the rest."""

from metalda.models.lda import LDA
from metalda.models.loading import load
from metalda.models.metalda import MetaLDA
from metalda.models.ptm import PTM

__all__ = ["LDA", "PTM", "MetaLDA", "load"]
