"""The laws that every model obeys."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

import metalda
from contracts import CASES, FEATURES, LABELS, PETS, SKIES, assert_distributions, corpus, counts, quietly
from metalda import Corpus
from metalda.errors import InputError

pytestmark = pytest.mark.parametrize("case", CASES, ids=str)


@pytest.fixture
def fitted(case):
    return case.make().fit(corpus())


def test_topics_and_documents_are_distributions(case, fitted):
    assert fitted.components_.shape == (3, len(fitted.vocabulary_))
    assert fitted.doc_topics_.shape == (10, 3)
    assert_distributions(fitted.components_)
    assert_distributions(fitted.doc_topics_)
    assert_distributions(fitted.transform(corpus()))


def test_one_seed_gives_one_model(case, fitted):
    again = case.make().fit(corpus())
    np.testing.assert_array_equal(fitted.components_, again.components_)
    np.testing.assert_array_equal(fitted.transform(corpus()), again.transform(corpus()))
    other = case.make(random_state=1).fit(corpus())
    assert not np.array_equal(fitted.components_, other.components_)


@pytest.mark.parametrize("n_shards", [1, 3])
def test_the_number_of_threads_never_changes_the_model(case, n_shards):
    one, two, four = (case.make(n_shards=n_shards, n_jobs=n).fit(corpus()) for n in (1, 2, 4))
    for other in (two, four):
        np.testing.assert_array_equal(one.components_, other.components_)
        np.testing.assert_array_equal(one.doc_topics_, other.doc_topics_)
        np.testing.assert_array_equal(one.transform(corpus()), other.transform(corpus()))
        assert one.perplexity(corpus()) == other.perplexity(corpus())


def test_counts_follow_from_the_number_of_tokens(case, fitted):
    for draw in fitted.draws_:
        assert draw.topic_totals.sum() == corpus().n_tokens
        if not case.whole_counts:
            continue
        np.testing.assert_array_equal(
            np.asarray(draw.word_topic_counts.sum(axis=1)).ravel(), corpus().counts().sum(axis=0)
        )


def test_a_document_does_not_depend_on_its_neighbours(case, fitted):
    documents = corpus()
    whole = fitted.transform(documents)
    np.testing.assert_array_equal(whole[[7, 2]], fitted.transform(documents[[7, 2]]))
    np.testing.assert_array_equal(whole[[4]], fitted.transform(documents[[4]]))


def test_unseen_words_do_not_depend_on_their_neighbours_either(case, fitted):
    texts = ["kitten dog hail", "zebra hail", "kitten", "cat hail hail quagga"]
    together = quietly(fitted.transform, texts)
    for i, text in enumerate(texts):
        np.testing.assert_array_equal(together[[i]], quietly(fitted.transform, [text]))
    assert_distributions(together)


@pytest.mark.parametrize("unseen", ["ignore", "features"])
@pytest.mark.parametrize("draws", ["mean", "last", "each"])
def test_perplexity_lies_between_one_and_twice_the_size_of_the_vocabulary(case, fitted, unseen, draws):
    assert 1 < fitted.perplexity(corpus(), unseen=unseen, draws=draws) < 2 * len(fitted.vocabulary_)


def test_score_is_minus_the_log_of_perplexity(case, fitted):
    assert fitted.score(corpus()) == pytest.approx(-np.log(fitted.perplexity(corpus())))


def test_saving_and_loading_gives_the_same_model(case, fitted, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = metalda.load(tmp_path / "model")
    assert type(loaded) is type(fitted)
    np.testing.assert_array_equal(loaded.components_, fitted.components_)
    np.testing.assert_array_equal(loaded.doc_topics_, fitted.doc_topics_)
    new = Corpus.from_texts(["kitten hail cat", "sun sun zebra"], [["pets"], []])
    np.testing.assert_array_equal(loaded.transform(new), fitted.transform(new))
    assert loaded.perplexity(new, unseen="features") == fitted.perplexity(new, unseen="features")
    pd.testing.assert_frame_equal(loaded.history_, fitted.history_)
    pd.testing.assert_frame_equal(loaded.topics(), fitted.topics())
    if fitted.label_names_ and hasattr(fitted, "label_effects"):
        pd.testing.assert_frame_equal(loaded.label_effects(), fitted.label_effects())
    loaded.save(tmp_path / "model")
    assert metalda.load(tmp_path / "model").get_params().keys() == fitted.get_params().keys()


def test_empty_documents_get_the_prior(case):
    texts = ["", *PETS, "", *SKIES]
    model = case.make().fit(texts, ["pets", *LABELS[:5], "sky", *LABELS[5:]])
    assert_distributions(model.doc_topics_)
    with pytest.warns(UserWarning, match="1 of 3 documents have words, but no word that the model knows"):
        nothing = model.transform(["", "zebra", "q"])  # no word at all, none that is known, none by the token pattern
    assert_distributions(nothing)
    np.testing.assert_array_equal(nothing[0], nothing[1])
    np.testing.assert_array_equal(nothing[0], nothing[2])
    np.testing.assert_array_equal(model.transform([""]), nothing[:1])


def test_one_topic_holds_everything(case):
    documents = corpus().without_labels()
    if case.topics_from_labels:
        model = case.make().fit(documents, ["all"] * 10)
    else:
        model = case.make(n_components=1).fit(documents)
    np.testing.assert_array_equal(model.transform(documents), np.ones((10, 1)))
    assert_distributions(model.components_)
    assert np.isfinite(model.perplexity(documents))


def test_a_single_word_is_a_vocabulary(case):
    word_features = {"word_features": {"cat": "animal"}} if "word_features" in case.parameters else {}
    fewer = {"n_pseudo_documents": 2} if "n_pseudo_documents" in case.parameters else {}
    seeds = {"seeds": {"pets": ["cat"]}} if case.name == "MetaLDA-seeds" else {}
    model = case.make(**word_features, **fewer, **seeds).fit(["cat cat", "cat"], ["a", "b"])
    np.testing.assert_allclose(model.components_, 1, rtol=1e-6)
    assert model.perplexity(["cat cat cat"]) == pytest.approx(1, rel=1e-5)


def test_count_matrices_of_every_kind_give_one_model(case):
    matrix, vocabulary, labels = counts()
    named = case.make(vocabulary=vocabulary)
    expected = named.fit(matrix, labels).components_
    for same in (matrix.toarray(), sparse.csc_matrix(matrix), matrix.toarray().astype(float)):
        np.testing.assert_array_equal(clone(named).fit(same, labels).components_, expected)
    frame = pd.DataFrame(matrix.toarray(), columns=vocabulary)
    np.testing.assert_array_equal(case.make().fit(frame, labels).components_, expected)


def test_a_model_of_bare_columns_knows_no_words(case):
    matrix, _, labels = counts()
    if case.needs_names:
        with pytest.raises(InputError, match="names of the words"):
            case.make().fit(matrix, labels)
        return
    model = case.make_for_columns().fit(matrix, labels)
    with pytest.raises(InputError, match="knows no words"):
        model.transform(["cat dog"])


def test_texts_token_lists_and_series_give_one_model(case):
    texts = PETS + SKIES
    expected = case.make().fit(texts, LABELS).components_
    tokens = [text.split() for text in texts]
    for same in (tokens, pd.Series(texts), np.array(texts, dtype=object), Corpus.from_texts(texts)):
        np.testing.assert_array_equal(case.make().fit(same, LABELS).components_, expected)


def test_it_works_in_a_pipeline_and_in_a_search(case):
    matrix, vocabulary, labels = counts()
    names = {"vocabulary": vocabulary} if case.needs_names else {}
    pipeline = make_pipeline(CountVectorizer(vocabulary=vocabulary), case.make_for_columns(**names))
    assert len(pipeline.fit(PETS + SKIES, labels).transform(["cat rain"])) == 1
    folds = KFold(2, shuffle=True, random_state=0)
    choices = {"n_iter": [1, 12]} if case.topics_from_labels else {"n_components": [1, 2]}
    search = GridSearchCV(case.make(vocabulary=vocabulary, n_draws=1), choices, cv=folds)
    assert search.fit(matrix, labels).best_params_.keys() == choices.keys()
    assert np.isfinite(search.best_score_)
    on_corpus = quietly(GridSearchCV(case.make(n_draws=1), choices, cv=folds).fit, corpus())
    assert np.isfinite(on_corpus.best_score_)


def test_fit_transform_is_fit_then_transform(case):
    texts, labels = PETS + SKIES, LABELS
    np.testing.assert_array_equal(
        case.make().fit_transform(texts, labels), case.make().fit(texts, labels).transform(texts)
    )
    np.testing.assert_array_equal(case.make().fit_transform(corpus()), case.make().fit(corpus()).transform(corpus()))


def test_a_loaded_model_can_be_fitted_again_to_the_same(case, tmp_path):
    matrix, vocabulary, labels = counts()
    model = case.make(vocabulary=vocabulary).fit(matrix, labels)
    model.save(tmp_path / "model")
    again = clone(metalda.load(tmp_path / "model")).fit(matrix, labels)
    np.testing.assert_array_equal(again.components_, model.components_)


def test_fitting_again_forgets_the_names_of_columns(case):
    frame = pd.DataFrame(corpus().counts().toarray(), columns=list(corpus().vocabulary))
    model = case.make().fit(frame, LABELS)
    assert list(model.feature_names_in_) == list(corpus().vocabulary)
    assert not hasattr(model.fit(corpus()), "feature_names_in_")


def test_output_can_be_a_frame(case, fitted):
    frame = case.make().set_output(transform="pandas").fit(corpus()).transform(corpus())
    names = fitted.fitted_.topic_names or (None, None, None)
    assert list(frame.columns) == [name or f"topic{k}" for k, name in enumerate(names)]
    assert list(frame.columns) == list(fitted.get_feature_names_out())
    np.testing.assert_array_equal(frame.to_numpy(), fitted.transform(corpus()))


def test_history_has_a_row_per_iteration(case, fitted):
    history = fitted.history_
    assert list(history.columns)[:4] == ["iteration", "log_likelihood", "seconds", "moved"]
    assert set(history.columns[4:]) <= {"doc_tables", "word_tables"}
    assert history["iteration"].tolist() == list(range(1, 13))
    assert (history["log_likelihood"] < 0).all()
    assert history["moved"].between(0, corpus().n_tokens).all()


def test_topics_are_listed_by_probability(case, fitted):
    table = fitted.topics(top_n=4)
    assert table["share"].sum() == pytest.approx(1)
    first = fitted.topic_words(0, top_n=4)
    assert table["words"][0] == list(first["word"])
    wide = fitted.topics(top_n=4, format="wide")
    assert list(wide.columns)[-4:] == ["word1", "word2", "word3", "word4"]
    assert wide.loc[0, "word1":"word4"].tolist() == list(first["word"])
    with pytest.raises(InputError, match="format must be 'list' or 'wide'"):
        fitted.topics(format="long")
    assert first["probability"].is_monotonic_decreasing
    with pytest.raises(InputError, match="no topic 3"):
        fitted.topic_words(3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_iter": 0}, "n_iter"),
        ({"thin": 0}, "thin"),
        ({"n_draws": 0}, "n_draws"),
        ({"n_shards": 0}, "n_shards"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_chains": 1001}, "n_chains"),
        ({"doc_prior": 0.0}, "doc_prior"),
        ({"word_prior": -1.0}, "word_prior"),
    ],
)
def test_impossible_parameters_are_named(case, parameters, message):
    if not parameters.keys() <= case.parameters:
        pytest.skip("the model has no such parameter")
    with pytest.raises(ValueError, match=message):
        case.make(**parameters).fit(corpus())


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[1.0, -1.0]]), "[Nn]egative"),
        (np.array([[1.0, np.nan]]), "NaN"),
        (np.array([[1.0, np.inf]]), "inf"),
        (np.zeros((2, 3)), "empty"),
        ([], "no document"),
        (["a b", "c"], "word"),
        ([[], []], "word"),
        ("one long text", "single string"),
    ],
)
def test_documents_that_cannot_be_learnt_from_are_explained(case, X, message):
    names = {"vocabulary": ["a", "b", "c"][: X.shape[1]]} if case.needs_names and hasattr(X, "shape") else {}
    with pytest.raises(ValueError, match=message):
        case.make_for_columns(**names).fit(X, ["all"] * len(X))


def test_an_unfitted_model_says_so(case):
    for call in ("transform", "perplexity", "score"):
        with pytest.raises(NotFittedError):
            getattr(case.make(), call)(corpus())
    with pytest.raises(NotFittedError):
        case.make().topics()


def test_bad_choices_of_perplexity_are_named(case, fitted):
    with pytest.raises(InputError, match="draws"):
        fitted.perplexity(corpus(), draws="median")
    with pytest.raises(InputError, match="unseen"):
        fitted.perplexity(corpus(), unseen="drop")
    with pytest.raises(InputError, match="no words to score"):
        fitted.perplexity(["cat", "zebra zebra"])


def test_word_features_of_the_case_reach_the_model(case, fitted):
    uses_features = getattr(fitted, "word_features", None) is not None
    seeds = {f"seeds={topic}" for topic in getattr(fitted, "seeds", None) or ()}
    assert set(fitted.feature_names_) == (set(FEATURES.features.names) if uses_features else set()) | seeds
