"""Hints of `fit`: settings that are valid, but probably not meant, are one line each, once."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from contracts import FEATURES, PETS, SKIES, corpus
from metalda import DMR, LDA, WFLDA, Corpus, LabeledLDA, MetaLDA
from metalda.errors import InputError

QUIET = {"n_iter": 4, "random_state": 0, "verbose": False}
TEXTS = PETS + SKIES


def hints_of(model: Any, *arguments: Any, **options: Any) -> list[str]:
    """The messages of the warnings of `fit`; each must name the line of this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*arguments, **options)
    assert all(each.filename == __file__ for each in caught)
    return [str(each.message) for each in caught]


def test_more_topics_than_documents() -> None:
    expected = "11 topics are more than the 10 documents: lower n_components (--topics)"
    assert hints_of(LDA(11, **QUIET), TEXTS) == [expected]
    assert hints_of(LDA(10, **QUIET), TEXTS) == []
    assert hints_of(LabeledLDA(**QUIET), TEXTS[:2], [["a", "b"], ["c"]]) == []  # its topics are the labels


def test_labels_given_as_y_have_the_hints_of_columns() -> None:
    model = MetaLDA(2, **QUIET)
    (hint,) = hints_of(model, TEXTS, ["a|b", "b|c", "a", "c", "a|c"] * 2)
    assert hint == (
        "there are 5 different labels for 10 documents, such as 'a|b': give each document a list of labels, "
        "text.split('|')"
    )
    (hint,) = hints_of(model, 6 * TEXTS, range(60))
    assert hint.startswith("there are 60 different labels, all numbers: cut them into intervals")
    (hint,) = hints_of(model, TEXTS, [None] * 10)
    assert hint == "no document has a label: all are None, NaN or empty, so the model learns from none"
    assert hints_of(LDA(2, **QUIET), TEXTS, [None] * 10) == []  # it does not learn from labels


def test_a_hint_on_reading_is_not_repeated_by_fit() -> None:
    frame = pd.DataFrame({"text": TEXTS, "genre": ["a|b", "b|c", "a", "c", "a|c"] * 2})
    with pytest.warns(UserWarning, match="label_delimiter"):
        read = Corpus.from_frame(frame, labels="genre")
    assert hints_of(MetaLDA(2, **QUIET), read) == []
    assert hints_of(MetaLDA(2, **QUIET), read[:8]) == []


def test_fewer_draws_than_asked_for() -> None:
    settings = {"random_state": 0, "verbose": False}
    (hint,) = hints_of(LDA(2, n_iter=100, thin=10, n_draws=30, **settings), TEXTS)
    assert hint == (
        "n_draws=30, but the iterations after the burn-in give 5: raise n_iter (--iterations) to 582, or lower thin "
        "(--thin), which is 10"
    )
    assert len(LDA(2, n_iter=582, thin=10, n_draws=30, **settings).fit(TEXTS).draws_) == 30
    assert hints_of(LDA(2, n_iter=100, thin=10, **settings), TEXTS) == []  # nobody asked for the default
    assert hints_of(LDA(2, n_iter=100, n_draws=30, **settings), TEXTS) == []  # spread over the second half
    (hint,) = hints_of(LDA(2, n_iter=100, burn_in=90, thin=1, n_draws=30, **settings), TEXTS)
    assert "give 10: raise n_iter (--iterations) to 120" in hint
    assert len(LDA(2, n_iter=120, burn_in=90, thin=1, n_draws=30, **settings).fit(TEXTS).draws_) == 30


def test_the_burn_in_is_half_of_all_iterations_or_as_long_as_given() -> None:
    assert (LDA(n_iter=101).n_burn_in, LDA(n_iter=101, burn_in=7).n_burn_in) == (50, 7)
    assert [DMR(n_iter=n, optimize_burn_in=50).n_burn_in for n in (50, 51, 99, 200)] == [25, 50, 50, 100]


def test_a_model_without_what_it_learns_from_says_so() -> None:
    often = {"optimize_burn_in": 2, **QUIET}
    (hint,) = hints_of(WFLDA(2, **often), TEXTS)
    assert hint.startswith("WFLDA without word_features learns one prior for all words of a topic")
    (hint,) = hints_of(DMR(2, **often), TEXTS)
    assert hint.startswith("DMR without labels learns one prior for all documents")
    assert hints_of(WFLDA(2, word_features=FEATURES, **often), TEXTS) == []
    assert hints_of(DMR(2, **often), corpus()) == []


@pytest.mark.parametrize("model", [DMR, WFLDA])
def test_no_draw_is_kept_from_before_the_first_optimization(model: Any) -> None:
    features = {"word_features": FEATURES} if model is WFLDA else {}
    settings = {"n_iter": 60, "optimize_burn_in": 50, "thin": 2, "random_state": 0, "verbose": False, **features}
    fitted = model(2, **settings).fit(corpus())
    assert len(fitted.draws_) == 5  # iterations 52 to 60, although the burn-in ends after 30
    for draw in fitted.draws_:
        weights = draw.log_doc_weights if model is DMR else draw.log_word_weights
        assert (weights[:-1] != 0).any()


def test_resuming_without_a_checkpoint_is_said(tmp_path: Path) -> None:
    model = LDA(2, **QUIET)
    (hint,) = hints_of(model, TEXTS, checkpoint=tmp_path / "c", resume=True)
    assert hint == f"{tmp_path / 'c'}: there is no checkpoint to resume from, so training starts at the first iteration"
    assert hints_of(model, TEXTS, checkpoint=tmp_path / "c", resume=True) == []


@pytest.fixture(scope="module")
def films() -> MetaLDA:
    """A model of two label columns and binned years."""
    frame = pd.DataFrame(
        {
            "text": TEXTS,
            "genre": ["Drama", "War"] * 5,
            "maker": ["Smith, J.", "Hill, A.", "War", "Hill, A.", "Smith, J."] * 2,
            "year": range(1931, 2021, 9),
        }
    )
    read = Corpus.from_frame(frame, labels=["genre", "maker"], bins={"year": [1940, 1960]})
    return MetaLDA(2, n_iter=20, thin=2, random_state=0, verbose=False).fit(read)


def test_contrasts_and_plots_take_typed_labels(films: MetaLDA) -> None:
    from metalda import plot_effects

    typed = films.label_contrasts(["Drama", "year=1935"], ["Drama", "1940 <= year < 1960"])
    named = films.label_contrasts(["genre=Drama", "year < 1940"], ["genre=Drama", "1940 ≤ year < 1960"])
    pd.testing.assert_frame_equal(typed, named)
    drawn = plot_effects(films, ["Drama", "year=2000"], style="forest")
    assert [text.get_text()[1:] for text in drawn.get_legend().get_texts()] == ["genre=Drama", "year ≥ 1960"]
    with pytest.raises(InputError, match="'War' is ambiguous: it may be 'genre=War' or 'maker=War'"):
        films.label_contrasts("War", "Drama")


def test_labels_of_new_documents_may_be_typed(films: MetaLDA) -> None:
    typed = [["Drama", "year=1950", "year=1955"], ["1940 <= year < 1960"], []]
    named = [["genre=Drama", "1940 ≤ year < 1960"], ["1940 ≤ year < 1960"], []]
    np.testing.assert_array_equal(films.transform(TEXTS[:3], typed), films.transform(TEXTS[:3], named))
    assert films.perplexity(TEXTS[:3], typed) == films.perplexity(TEXTS[:3], named)
    with pytest.warns(UserWarning, match="labels that the model was not trained on are ignored: 1 distinct label"):
        films.transform(TEXTS[:1], [["Drma"]])
    with pytest.raises(InputError, match="'War' is ambiguous"):
        films.transform(TEXTS[:1], [["War"]])


def test_numbers_that_come_as_labels_are_in_the_units_of_the_column() -> None:
    frame = pd.DataFrame({"text": TEXTS, "size": range(10)})
    model = DMR(2, n_iter=4, optimize_burn_in=1, random_state=0, verbose=False)
    model.fit(Corpus.from_frame(frame, numbers="size"))
    given = model.transform(TEXTS[:2], pd.DataFrame({"size": [0.0, 1.0]}))
    np.testing.assert_allclose(given, model.transform(frame[:2]), rtol=1e-5)
