"""What alpha and beta are: fixed, masked by labels, or learnt from labels and features."""

from metalda.priors.gamma import Augmentation, Gamma
from metalda.priors.loglinear import Blocks, Fixed, LearnsFromDocuments, LearnsFromWords, Lesson, LogLinear
from metalda.priors.masked import Masked
from metalda.priors.regression import Regression

__all__ = [
    "Augmentation",
    "Blocks",
    "Fixed",
    "Gamma",
    "LearnsFromDocuments",
    "LearnsFromWords",
    "Lesson",
    "LogLinear",
    "Masked",
    "Regression",
]
