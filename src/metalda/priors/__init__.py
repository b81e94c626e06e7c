"""Priors on alpha and beta: fixed, masked by labels, or learned from labels and features."""

from metalda.priors.gamma import Augmentation, Gamma, Normal, SeedWeights
from metalda.priors.loglinear import (
    Alpha,
    AssignedDocuments,
    Beta,
    Fixed,
    Learning,
    LearnsFromDocuments,
    LearnsFromWords,
    LogLinear,
    Stripes,
)
from metalda.priors.masked import Masked
from metalda.priors.regression import Regression

__all__ = [
    "Alpha",
    "AssignedDocuments",
    "Augmentation",
    "Beta",
    "Fixed",
    "Gamma",
    "Learning",
    "LearnsFromDocuments",
    "LearnsFromWords",
    "LogLinear",
    "Masked",
    "Normal",
    "Regression",
    "SeedWeights",
    "Stripes",
]
