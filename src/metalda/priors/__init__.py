"""What alpha and beta are: fixed, or learnt from labels and features with gamma weights."""

from metalda.priors.gamma import Augmentation, Gamma
from metalda.priors.loglinear import Fixed, LogLinear, concentration_of

__all__ = ["Augmentation", "Fixed", "Gamma", "LogLinear", "concentration_of"]
