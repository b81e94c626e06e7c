"""What alpha and beta are: fixed, masked by labels, or learnt from labels and features."""

from metalda.priors.gamma import Augmentation, Gamma
from metalda.priors.loglinear import Blocks, Fixed, Learning, LogLinear
from metalda.priors.masked import Masked
from metalda.priors.regression import Regression

__all__ = ["Augmentation", "Blocks", "Fixed", "Gamma", "Learning", "LogLinear", "Masked", "Regression"]
