"""The public estimators: each names its priors and its sampler, and the base class does the rest."""

from metalda.models.labeled import LabeledLDA, PartiallyLabeledLDA
from metalda.models.lda import LDA
from metalda.models.loading import load
from metalda.models.metalda import MetaLDA
from metalda.models.ptm import PTM
from metalda.models.regression import DMR, WFLDA

__all__ = [
    "DMR",
    "LDA",
    "PTM",
    "WFLDA",
    "LabeledLDA",
    "MetaLDA",
    "PartiallyLabeledLDA",
    "load",
]
