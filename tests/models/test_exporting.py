"""Fitted models in the terms of other packages, and in notebooks."""

from typing import Any

import numpy as np
import pytest
from sklearn import config_context

from contracts import CASES, LABELS, PETS, SKIES, corpus
from hostile import HOSTILE, SAFE, Page
from metalda import LDA, LabeledLDA, MetaLDA, coherence, stability
from metalda.errors import InputError

QUICK: dict[str, Any] = {"n_iter": 10, "random_state": 0, "verbose": False}


@pytest.fixture(scope="module")
def model() -> MetaLDA:
    return MetaLDA(3, **QUICK).fit(corpus())


def test_top_words_are_lists_of_the_most_probable(model: MetaLDA) -> None:
    lists = model.top_words(4)
    for topic, words in enumerate(lists):
        assert words == list(model.topic_words(topic, 4)["word"])
    assert all(type(word) is str for words in lists for word in words)
    with pytest.raises(InputError, match="top_n must be at least 1"):
        model.top_words(0)


def test_pyldavis_gets_what_the_model_knows_of_the_documents(model: MetaLDA) -> None:
    arguments = model.to_pyldavis(["cat dog cat", "zebra rain"])
    assert arguments["doc_lengths"].tolist() == [3, 1]  # nobody knows the zebra
    frequency = dict(zip(arguments["vocab"], arguments["term_frequency"].tolist(), strict=True))
    assert {word: n for word, n in frequency.items() if n} == {"cat": 2, "dog": 1, "rain": 1}
    np.testing.assert_array_equal(arguments["topic_term_dists"], model.components_)
    np.testing.assert_array_equal(arguments["doc_topic_dists"], model.transform(["cat dog cat", "zebra rain"]))


def test_pyldavis_gets_the_labels_too(model: MetaLDA) -> None:
    with_y = model.to_pyldavis(PETS + SKIES, LABELS)["doc_topic_dists"]
    np.testing.assert_array_equal(with_y, model.transform(PETS + SKIES, LABELS))
    assert not np.array_equal(with_y, model.transform(PETS + SKIES))


def test_pyldavis_takes_it_and_keeps_the_order_of_topics(model: MetaLDA) -> None:
    pyldavis = pytest.importorskip("pyLDAvis")
    arguments = model.set_output(transform="pandas").to_pyldavis(corpus())
    model.set_output(transform="default")
    prepared = pyldavis.prepare(**arguments, n_jobs=1)
    assert prepared.topic_order == [1, 2, 3]
    shares = arguments["doc_lengths"] @ arguments["doc_topic_dists"] / arguments["doc_lengths"].sum()
    np.testing.assert_allclose(prepared.topic_coordinates["Freq"], 100 * shares)


def test_gensim_scores_our_topics(model: MetaLDA) -> None:
    judges = pytest.importorskip("gensim.models.coherencemodel")
    dictionary = pytest.importorskip("gensim.corpora").Dictionary(corpus())
    scores = judges.CoherenceModel(
        topics=model.top_words(4), texts=list(corpus()), dictionary=dictionary, coherence="u_mass", processes=1
    ).get_coherence_per_topic()
    assert len(scores) == 3
    assert np.isfinite(scores).all()


def test_a_notebook_shows_the_topics_of_a_fitted_model(model: MetaLDA) -> None:
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    assert bundle["text/html"] == model._repr_html_()
    shown = Page(bundle["text/html"]).text
    assert shown.startswith(f"MetaLDA: 3 topics, {len(model.vocabulary_)} words, 3 labels; 5 draws of 10 iterations")
    assert all(", ".join(words) in shown for words in model.topics()["words"])
    assert Page(LabeledLDA(**QUICK).fit(corpus())._repr_html_()).text.count("pets") == 1  # the label of its topic


def test_a_notebook_shows_thirty_topics_and_says_how_many_more() -> None:
    shown = LDA(34, **QUICK).fit(PETS)._repr_html_()
    assert shown.count("<tr>") == 31
    assert "… and 4 more: see topics()" in shown


def test_before_fitting_and_in_text_mode_scikit_learn_decides(model: MetaLDA) -> None:
    assert "sk-" in LDA()._repr_html_()
    assert "sk-" in LDA()._repr_mimebundle_()["text/html"]
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")


def test_hostile_words_and_labels_are_text_in_a_notebook() -> None:
    model = LabeledLDA(**QUICK).fit([[word, word] for word in HOSTILE], HOSTILE)
    page = model._repr_html_()
    assert Page(page).tags <= SAFE
    assert all(word in Page(page).text for word in HOSTILE[:4])
    assert len(page) < 10_000


def test_results_are_tables_in_a_notebook(model: MetaLDA) -> None:
    for result, title in (
        (coherence([HOSTILE, ["cat", "dog"]], corpus()), "Coherence: npmi"),
        (stability([model, model]), "Stability: 1.0000"),
    ):
        page = Page(result._repr_html_())
        assert page.tags <= SAFE
        assert page.text.startswith(title)
    assert HOSTILE[0] in Page(coherence([HOSTILE, ["cat", "dog"]], corpus())._repr_html_()).text


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_model_can_be_shown_and_exported(case: Any) -> None:
    model = case.make(n_iter=4).fit(corpus())
    assert type(model).__name__ in model._repr_html_()
    assert model.to_pyldavis(corpus())["doc_topic_dists"].shape == (10, 3)
