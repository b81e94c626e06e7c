"""The public estimators: each names its priors, and the base class does the rest."""

from metalda.models.dmm import DMM, GPUDMM
from metalda.models.lda import LDA
from metalda.models.loading import load
from metalda.models.metalda import MetaLDA

__all__ = ["DMM", "GPUDMM", "LDA", "MetaLDA", "load"]
