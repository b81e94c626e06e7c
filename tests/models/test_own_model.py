"""A prior and a model of one's own, as CONTRIBUTING says: LDA with an alpha that is given topic by topic."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from contracts import QUICK, corpus
from metalda import LDA
from metalda.errors import InputError
from metalda.meta.design import Design
from metalda.models.base import TopicModel
from metalda.models.declaration import N_COMPONENTS, POSITIVE
from metalda.models.saving import pack_model
from metalda.priors import Fixed, LogLinear


@dataclass(frozen=True, eq=False)
class Given(LogLinear):
    """alpha[k] as given, for all documents."""

    alpha_by_topic: tuple[float, ...]

    def start_weights(self, n_topics: int) -> np.ndarray:
        return super().start_weights(n_topics) + np.log(self.alpha_by_topic)


@dataclass(eq=False, repr=False)
class AsymmetricLDA(TopicModel):
    """LDA that prefers some topics."""

    n_components: int = 50
    _: KW_ONLY
    doc_prior: Any = (0.1,)
    word_prior: float = 0.01

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TopicModel._parameter_constraints,
        "n_components": N_COMPONENTS,
        "doc_prior": ["array-like"],
        "word_prior": [POSITIVE],
    }

    def _build_problem(self, corpus):
        if len(self.doc_prior) != self.n_components or min(self.doc_prior) <= 0:
            raise InputError(f"doc_prior must be {self.n_components} positive numbers, one for each topic")
        return super()._build_problem(corpus)

    def _prior_of_documents(self, design: Design) -> LogLinear:
        return Given(design, 1.0, tuple(self.doc_prior))

    def _prior_of_words(self, design: Design) -> LogLinear:
        return Fixed(design, self.word_prior)


def test_the_prior_is_what_was_given():
    prior = Given(Design.build(None, 3), 1.0, (0.1, 0.2, 0.7))
    alpha = prior.alpha(prior.start_weights(3))
    np.testing.assert_allclose(alpha.values[prior.design.row_of], [[0.1, 0.2, 0.7]] * 3, rtol=1e-6)


def test_with_equal_alpha_it_is_lda_draw_by_draw():
    own = AsymmetricLDA(3, doc_prior=[0.1] * 3, **QUICK).fit(corpus())
    np.testing.assert_array_equal(own.components_, LDA(3, doc_prior=0.1, **QUICK).fit(corpus()).components_)


def test_an_empty_document_has_the_proportions_of_alpha():
    own = AsymmetricLDA(2, doc_prior=[0.9, 0.1], **QUICK).fit(corpus())
    np.testing.assert_allclose(own.transform([""]), [[0.9, 0.1]], rtol=1e-6)


def test_what_depends_on_several_parameters_is_refused_in_one_line():
    with pytest.raises(InputError, match="2 positive numbers"):
        AsymmetricLDA(2, doc_prior=[0.9], **QUICK).fit(corpus())


@pytest.mark.parametrize("given", [[0.9, 0.1], (0.9, 0.1), np.array([0.9, 0.1])], ids=["list", "tuple", "array"])
def test_parameters_that_are_lists_or_arrays_are_saved_and_known_again_by_a_checkpoint(given, tmp_path):
    own = AsymmetricLDA(2, doc_prior=given, **QUICK)
    own.fit(corpus(), checkpoint=tmp_path / "state", checkpoint_every=5)
    document, _ = pack_model(own, own.fitted_)
    assert document["parameters"]["doc_prior"] == [0.9, 0.1]
    again = AsymmetricLDA(2, doc_prior=given, **QUICK).fit(corpus(), checkpoint=tmp_path / "state", resume=True)
    np.testing.assert_array_equal(again.components_, own.components_)


def test_a_model_that_load_would_not_know_is_not_saved(tmp_path):
    own = AsymmetricLDA(2, doc_prior=[0.9, 0.1], **QUICK).fit(corpus())
    with pytest.raises(InputError, match=r"AsymmetricLDA.*registry"):
        own.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
