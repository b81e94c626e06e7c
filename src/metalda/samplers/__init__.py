"""Samplers that assign topics to tokens, and the draws that are kept of an assignment."""

from metalda.samplers.base import Assignment, Problem, Sampler
from metalda.samplers.counts import TopicCounts
from metalda.samplers.draws import Draw
from metalda.samplers.latent import LatentFeatures
from metalda.samplers.pseudo import PseudoDocuments
from metalda.samplers.tokens import Tokens
from metalda.samplers.urn import Urn
from metalda.samplers.wording import GroupTokens

__all__ = [
    "Assignment",
    "Draw",
    "GroupTokens",
    "LatentFeatures",
    "Problem",
    "PseudoDocuments",
    "Sampler",
    "Tokens",
    "TopicCounts",
    "Urn",
]
