"""What is particular to MetaLDA: labels, features, draws and effects."""

import logging
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import metalda
import reference
from contracts import FEATURES, OFTEN, PETS, QUICK, SKIES, corpus, known_topics, quietly
from metalda import DMR, LDA, Corpus, MetaLDA, WordFeatures
from metalda.corpus import NamedMatrix
from metalda.errors import InputError
from metalda.meta.design import Design
from metalda.models.encoded import LEFT_OUT
from metalda.models.word_scores import top_indices
from metalda.samplers import folding
from metalda.samplers.draws import mean_alpha, mean_phi, mean_phi_alone


def test_metalda_with_fixed_priors_is_lda():
    fixed = MetaLDA(3, doc_prior=0.1, word_prior=0.01, **QUICK).fit(corpus())
    plain = LDA(3, doc_prior=0.1, word_prior=0.01, **QUICK).fit(corpus())
    np.testing.assert_array_equal(fixed.components_, plain.components_)
    np.testing.assert_array_equal(fixed.doc_topics_, plain.doc_topics_)
    assert fixed.perplexity(corpus()) == plain.perplexity(corpus())


@pytest.mark.parametrize("doc_prior", ["labels", "default", 0.1])
@pytest.mark.parametrize("word_prior", ["features", "default", 0.01])
def test_every_variant_of_the_paper_fits_and_differs(doc_prior, word_prior):
    model = MetaLDA(3, doc_prior=doc_prior, word_prior=word_prior, word_features=FEATURES, **QUICK).fit(corpus())
    assert len(model.label_names_) == (3 if doc_prior == "labels" else 0)
    assert len(model.feature_names_) == (3 if word_prior == "features" else 0)
    lambdas = np.exp(model.draws_[-1].log_doc_weights)
    assert np.allclose(lambdas, 0.1) == (doc_prior == 0.1)
    deltas = np.exp(model.draws_[-1].log_word_weights)
    assert np.allclose(deltas, 0.01) == (word_prior == 0.01)


def test_without_labels_and_features_it_is_def_def_and_says_so(caplog):
    with caplog.at_level(logging.INFO, logger="metalda"):
        bare = MetaLDA(3, **QUICK).fit(PETS + SKIES)
    assert "No labels" in caplog.text
    assert "No word features" in caplog.text
    default = MetaLDA(3, doc_prior="default", word_prior="default", **QUICK).fit(PETS + SKIES)
    np.testing.assert_array_equal(bare.components_, default.components_)


# Simulated data.


def _simulate(rng, n_documents=400, length=25):
    """Two labels, each with a topic of its own; half of each topic's words share a feature."""
    words = [f"{side}{i}" for side in ("left", "right") for i in range(20)]
    phi = np.array([np.repeat([0.95 / 20, 0.05 / 20], 20), np.repeat([0.05 / 20, 0.95 / 20], 20)])
    labels = rng.integers(0, 2, n_documents)
    theta = np.array([rng.dirichlet([4.0, 0.5] if label == 0 else [0.5, 4.0]) for label in labels])
    texts = [[words[v] for v in rng.choice(40, length, p=t @ phi)] for t in theta]
    return texts, [("one", "two")[label] for label in labels], theta, phi


def test_topics_and_label_effects_are_recovered_from_simulated_data():
    texts, labels, theta, phi = _simulate(np.random.default_rng(0))
    features = WordFeatures.from_mapping({f"{side}{i}": side for side in ("left", "right") for i in range(20)})
    model = MetaLDA(2, word_features=features, n_iter=200, random_state=0, verbose=False).fit(texts, labels)
    order = np.argsort([-model.components_[k, model.fitted_.word_index["left0"]] for k in range(2)])
    columns = [model.fitted_.word_index[f"{side}{i}"] for side in ("left", "right") for i in range(20)]
    np.testing.assert_allclose(model.components_[order][:, columns], phi, atol=0.02)
    assert np.abs(model.doc_topics_[:, order] - theta).mean() < 0.12
    effects = model.label_effects().set_index(["label", "topic"])
    assert effects.loc[("one", order[0]), "low"] > 0 > effects.loc[("one", order[1]), "high"]
    assert effects.loc[("two", order[1]), "low"] > 0 > effects.loc[("two", order[0]), "high"]
    assert effects.loc[("one", order[0]), "proportion"] == pytest.approx(4 / 4.5, abs=0.08)
    by_feature = model.feature_effects().set_index(["feature", "topic"])
    assert by_feature.loc[("left", order[0]), "low"] > 0 > by_feature.loc[("left", order[1]), "high"]


def test_effects_lie_in_their_intervals():
    model = MetaLDA(3, word_features=FEATURES, **QUICK).fit(corpus())
    effects = model.label_effects(0.5)
    assert (effects["low"] <= effects["effect"]).all()
    assert (effects["effect"] <= effects["high"]).all()
    np.testing.assert_allclose(effects.groupby("label")["proportion"].sum(), 1)
    with pytest.raises(InputError, match="interval"):
        model.label_effects(interval=90)


# Labels at test.


def _alpha(model, *labels):
    """alpha of a document with these labels, averaged over draws."""
    design = model._encode(Corpus.from_texts(["cat"], [labels]), ()).labels
    return mean_alpha(model.draws_, model._prior_of_documents(design))[0]


def _mixed(model, words, shares):
    """theta of a document, given the shares of the label sets that it may have."""
    phi, rows = model.fitted_.phi.astype(float), [model.vocabulary_.index(word) for word in words]
    alpha = np.array([_alpha(model, *labels) for labels in shares])
    sizes = np.array(list(shares.values()), float)
    return reference.mix_label_sets(rows, phi, sizes / sizes.sum(), alpha)[1]


@pytest.mark.parametrize("make", [MetaLDA, partial(DMR, **OFTEN)])
def test_a_document_without_a_year_is_a_mixture_over_the_years_of_its_section(make):
    """Every document has a section and a year, so the weights do not tell the level of a section alone."""
    labels = [["pets", "2019"]] * 2 + [["pets", "2020"]] * 3 + [["sky", "2019"]] * 4 + [["sky", "2020"]]
    model = make(3, **QUICK).fit(PETS + SKIES, labels)
    words = ["cat", "rain", "cat", "dog"]
    given = [["pets"], ["2020"], ["pets", "sky", "2019"], ["pets", "2019"]]
    theta = model.transform([" ".join(words)] * 4, given)
    pets = {("pets", "2019"): 2, ("pets", "2020"): 3}
    late = {("pets", "2020"): 3, ("sky", "2020"): 1}
    nearest = {("pets", "2019"): 2, ("sky", "2019"): 4}  # no document had all three
    for found, shares in zip(theta, (pets, late, nearest), strict=False):
        np.testing.assert_allclose(found, _mixed(model, words, shares), rtol=1e-4)
    np.testing.assert_array_equal(theta[3], model.transform([" ".join(words)], [["pets", "2019"]])[0])
    np.testing.assert_array_equal(model.set_params(n_jobs=2).transform([" ".join(words)] * 4, given), theta)


def test_a_document_without_a_tag_has_the_prior_of_documents_without_it():
    model = MetaLDA(3, **QUICK).fit(PETS + SKIES, [["a"], ["b"], ["a", "b"], [], ["c", "a"]] * 2)
    design = model._encode(Corpus.from_texts(["cat"], [["c"]]), ()).labels
    assert not model.fitted_.labels.stand_ins(design)[0].nnz
    c = model.label_names_.index("c")
    product = np.mean([np.exp(draw.log_doc_weights[c] + draw.log_doc_weights[-1]) for draw in model.draws_], axis=0)
    np.testing.assert_allclose(_alpha(model, "c"), product, rtol=1e-5)


def test_a_document_without_labels_is_a_mixture_over_all_label_sets_if_all_of_training_had_labels():
    model = MetaLDA(3, **QUICK).fit(PETS + SKIES, ["pets"] * 6 + ["sky"] * 4)
    shares = {("pets",): 6, ("sky",): 4}
    expected = 0.6 * _alpha(model, "pets") / _alpha(model, "pets").sum()
    expected += 0.4 * _alpha(model, "sky") / _alpha(model, "sky").sum()
    np.testing.assert_allclose(model.transform([""])[0], expected, rtol=1e-5)
    np.testing.assert_allclose(
        model.transform(["cat rain dog"])[0], _mixed(model, ["cat", "rain", "dog"], shares), rtol=1e-4
    )


def test_of_very_many_label_sets_the_most_frequent_are_considered(monkeypatch):
    monkeypatch.setattr(folding, "MAX_LABEL_SETS", 2)
    model = MetaLDA(3, **QUICK).fit(PETS + SKIES, ["a"] * 4 + ["b"] + ["c"] * 5)
    found = model.transform(["cat rain dog"])[0]
    np.testing.assert_allclose(found, _mixed(model, ["cat", "rain", "dog"], {("a",): 4, ("c",): 5}), rtol=1e-4)


def test_a_document_without_labels_gets_the_default_weight_if_training_had_such_documents():
    model = MetaLDA(3, **QUICK).fit(corpus())
    expected = np.mean([np.exp(draw.log_doc_weights[-1]) for draw in model.draws_], axis=0)
    np.testing.assert_allclose(model.transform([""])[0], expected / expected.sum(), rtol=1e-5)


def test_unknown_labels_are_ignored_and_counted():
    model = MetaLDA(3, **QUICK).fit(corpus())
    with pytest.warns(UserWarning, match=r"2 distinct labels in 2 documents, such as 'cars', 'planes'"):
        found = model.transform(["cat dog", "sun", "cat"], [["pets", "cars"], ["planes"], ["pets"]])
    np.testing.assert_array_equal(found[0], model.transform(["cat dog"], [["pets"]])[0])
    np.testing.assert_array_equal(found[1], model.transform(["sun"])[0])


def test_labels_change_what_is_expected_of_a_document():
    labels = ["pets"] * len(PETS) + ["sky"] * len(SKIES)
    model = MetaLDA(2, **{**QUICK, "n_iter": 60}).fit((PETS + SKIES) * 20, labels * 20)
    pets, sky = model.transform(["", ""], ["pets", "sky"])
    assert np.abs(pets - sky).max() > 0.5  # ten documents alone do not decide it: some seeds find no effect


@pytest.mark.parametrize("name", ["doc_prior", "word_prior", "nu"])
def test_a_prior_whose_sums_would_overflow_is_refused(name):
    with pytest.raises(InputError, match=name):
        MetaLDA(2, **QUICK, **{name: 1e308}).fit(corpus())


def test_missing_texts_alone_are_documents_without_words():
    model = MetaLDA(3, **QUICK).fit(corpus())
    np.testing.assert_array_equal(model.transform([None, None]), model.transform(["", ""]))


def test_labels_given_twice_or_of_another_length_are_refused():
    with pytest.raises(InputError, match="twice"):
        MetaLDA(2, **QUICK).fit(corpus(), ["pets"] * 10)
    with pytest.raises(InputError, match="10"):
        MetaLDA(2, **QUICK).fit(PETS + SKIES, ["pets"] * 9)


def test_labels_may_be_lists_an_indicator_matrix_or_a_frame():
    lists = [["a"], ["a", "b"], [], ["b"]] * 2
    dense = np.array([[1, 0], [1, 1], [0, 0], [0, 1]] * 2)
    texts = (PETS + SKIES)[:8]
    expected = MetaLDA(2, **QUICK).fit(texts, lists).components_
    for same in (dense, sparse.csr_matrix(dense), pd.DataFrame(dense, columns=["a", "b"])):
        np.testing.assert_array_equal(MetaLDA(2, **QUICK).fit(texts, same).components_, expected)


# Unseen words.


def test_phi_with_unseen_words_sums_to_one_in_every_draw():
    model = MetaLDA(3, word_features=FEATURES, **QUICK).fit(corpus())
    unseen = model._prior_by_name(["kitten", "hail", "zebra"], model.feature_names_)
    for draw in model.draws_:
        np.testing.assert_allclose(mean_phi([draw], model.fitted_.word_prior, unseen).sum(axis=0), 1, rtol=1e-5)
        np.testing.assert_allclose(mean_phi([draw], model.fitted_.word_prior).sum(axis=0), 1, rtol=1e-5)


def test_an_unseen_word_without_features_has_the_default_feature():
    model = MetaLDA(3, word_features=FEATURES, **QUICK).fit(corpus())
    draw = model.draws_[-1]
    phi = mean_phi_alone([draw], model._prior_by_name(["zebra"], model.feature_names_))[-1]
    delta = np.exp(draw.log_word_weights[-1])
    beta = mean_phi([draw], model.fitted_.word_prior)  # (n + beta) / (n. + beta.)
    assert beta.shape == (len(model.vocabulary_), 3)
    seen = delta / (draw.topic_totals + _beta_sums(model, draw) + delta)
    np.testing.assert_allclose(phi, seen, rtol=1e-5)
    assert np.isfinite(model.perplexity(["cat zebra", "zebra zebra zebra"], unseen="features"))


def _beta_sums(model, draw):
    rows = FEATURES.rows(model.vocabulary_).select(model.feature_names_).matrix.toarray()
    dense = np.column_stack([rows, np.ones(len(rows))])
    return np.exp(dense @ draw.log_word_weights).sum(axis=0)


def test_unseen_words_tell_their_topic_by_their_features():
    model = MetaLDA(2, word_features=FEATURES, **{**QUICK, "n_iter": 100}).fit(corpus().without_labels())
    pet = int(np.argmax(model.components_[:, model.fitted_.word_index["cat"]]))
    new = ["kitten kitten kitten kitten", "hail hail hail hail", "zebra zebra"]
    kitten, hail, zebra = quietly(model.transform, new)
    assert kitten[pet] > hail[pet] + 0.2
    np.testing.assert_array_equal(zebra, model.transform([""])[0])  # without features it says nothing


# Draws.


def test_averaging_over_draws_is_done_after_forming_alpha_and_phi():
    model = MetaLDA(3, word_features=FEATURES, **QUICK).fit(corpus())
    phi = np.mean([mean_phi([draw], model.fitted_.word_prior) for draw in model.draws_], axis=0)
    np.testing.assert_allclose(model.components_.T, phi, rtol=1e-5)
    design = Design.build(NamedMatrix(sparse.csr_array(np.ones((1, 3))), model.label_names_), 1)
    alpha = np.mean([np.exp(draw.log_doc_weights.sum(axis=0)) for draw in model.draws_], axis=0)
    np.testing.assert_allclose(mean_alpha(model.draws_, model._prior_of_documents(design))[0], alpha, rtol=1e-5)


def test_last_uses_the_last_state_only():
    many = MetaLDA(3, word_features=FEATURES, **QUICK).fit(corpus())
    one = MetaLDA(3, word_features=FEATURES, **{**QUICK, "n_draws": 1}).fit(corpus())
    assert many.perplexity(corpus(), draws="last") == one.perplexity(corpus(), draws="mean")
    assert one.perplexity(corpus(), draws="each") == one.perplexity(corpus(), draws="mean")
    assert many.perplexity(corpus(), draws="mean") != one.perplexity(corpus(), draws="mean")


# Document completion.


def test_every_other_word_is_scored_and_positions_are_counted_before_words_are_dropped():
    documents = Corpus.from_tokens([["a", "new", "b", "c", "a"], [], ["new", "b"]])
    encoded = known_topics(np.ones((1, 3)) / 3, "abc")._encode(documents, ())
    assert encoded.numbers.tolist() == [0, 1, 2, LEFT_OUT]
    assert encoded.select().words.tolist() == [0, 1, 2, 0, 1]
    observed, scored = encoded.halves()
    assert observed.words.tolist() == [0, 1, 0]
    assert observed.offsets.tolist() == [0, 3, 3, 3]
    assert scored.words.tolist() == [2, 1]
    assert scored.offsets.tolist() == [0, 1, 1, 2]


def test_an_empty_observed_half_predicts_from_the_prior():
    model = LDA(3, **QUICK).fit(corpus())
    expected = model.components_.mean(axis=0)[model.fitted_.word_index["cat"]]
    assert model.perplexity([["zebra", "cat"]]) == pytest.approx(1 / expected, rel=1e-4)


def test_the_matrix_of_a_document_gives_the_perplexity_of_the_same_matrix_wherever_it_stands():
    matrix = corpus().counts()
    model = LDA(3, **QUICK).fit(matrix)
    alone = [model.score(matrix[[i]]) for i in range(10)]
    n_scored = [int(matrix[[i]].sum()) // 2 for i in range(10)]
    assert model.score(matrix) == pytest.approx(np.average(alone, weights=n_scored), rel=1e-6)


# Word features.


def test_word_features_on_a_bare_matrix_need_its_vocabulary():
    with pytest.raises(InputError, match="vocabulary="):
        MetaLDA(2, word_features=FEATURES, **QUICK).fit(corpus().counts())


def test_a_word_named_x0_is_a_word():
    model = MetaLDA(2, word_features={"x0": "a", "zebra": "b"}, **QUICK).fit(["x0 zebra", "x1 zebra x0"])
    assert model.feature_names_ == ("a", "b")


def test_labels_given_to_a_model_trained_without_any_are_counted_too():
    model = MetaLDA(2, **QUICK).fit(PETS)
    with pytest.warns(UserWarning, match="not trained on"):
        model.transform(["cat"], ["pets"])


def test_word_features_for_no_word_of_the_vocabulary_are_refused():
    with pytest.raises(InputError, match="no word of the vocabulary"):
        MetaLDA(2, word_features={"Katze": "tier"}, **QUICK).fit(PETS)


def test_word_features_may_be_a_mapping_or_a_frame():
    mapping = {"cat": "animal", "dog": "animal", "rain": "weather"}
    frame = pd.DataFrame({"animal": [1, 1, 0], "weather": [0, 0, 1]}, index=["cat", "dog", "rain"])
    one = MetaLDA(2, word_features=mapping, **QUICK).fit(PETS + SKIES)
    two = MetaLDA(2, word_features=frame, **QUICK).fit(PETS + SKIES)
    np.testing.assert_array_equal(one.components_, two.components_)


@pytest.mark.slow
def test_a_document_of_a_million_words_is_fine():
    long = Corpus.from_tokens([["cat", "dog", "sun", "rain"] * 250_000, ["cat"]])
    model = MetaLDA(2, n_iter=2, thin=1, n_draws=1, random_state=0, verbose=False, n_shards=1).fit(long)
    assert np.isfinite(model.history_["log_likelihood"]).all()
    assert np.isfinite(model.perplexity(long))


def test_a_frame_of_more_than_numbers_is_pointed_to_its_texts():
    frame = pd.DataFrame({"id": ["d0", "d1"], "text": ["cat dog", "sun rain"]})
    fitted = MetaLDA(2, n_iter=2, verbose=False).fit(["cat dog", "sun rain"])
    for method in (MetaLDA(2).fit, fitted.transform):
        with pytest.raises(InputError, match=r"give X\['text'\], or Corpus.from_frame\(X, text='text'\)"):
            method(frame)


def test_the_history_counts_the_tables_that_weights_are_drawn_from():
    """Every document has one for each of its topics at least, and no more than tokens."""
    model = MetaLDA(3, word_features=FEATURES, n_iter=5, n_shards=2, random_state=0, verbose=False).fit(corpus())
    tables, n_tokens = model.history_[["doc_tables", "word_tables"]], corpus().n_tokens
    assert (tables >= [len(corpus()), len(corpus().vocabulary)]).all(axis=None)
    assert (tables <= n_tokens).all(axis=None)
    assert "doc_tables" not in LDA(3, n_iter=2, verbose=False).fit(corpus()).history_
    fixed = MetaLDA(3, word_prior=0.01, n_iter=2, verbose=False).fit(corpus()).history_
    assert ("doc_tables" in fixed, "word_tables" in fixed) == (True, False)


@pytest.mark.parametrize("top_n", [0, 1, 3, 7, 20, 50])
def test_the_best_words_are_those_of_a_stable_sort(top_n):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 6, (5, 40)).astype(np.float32)  # many ties
    expected = np.argsort(-rows, axis=1, kind="stable")[:, :top_n]
    np.testing.assert_array_equal(top_indices(rows, top_n), expected)
    np.testing.assert_array_equal(top_indices(rows[0], top_n), expected[0])


def test_a_frame_of_counts_is_read_by_the_names_of_its_columns():
    model = MetaLDA(2, **QUICK).fit(["cat dog cat", "rain sun", "dog cat", "sun rain rain"])
    frame = pd.DataFrame({"sun": [3, 0], "never": [1, 1], "cat": [0, 2]})
    by_name = model.transform(frame)
    np.testing.assert_array_equal(by_name, model.transform(frame[["cat", "never", "sun"]]))
    np.testing.assert_array_equal(by_name, model.transform(frame.drop(columns="never")))
    assert by_name.argmax(axis=1).tolist() == [model.components_[:, 3].argmax(), model.components_[:, 0].argmax()]


def _films(n=60):
    """The genre decides the words, and the country means nothing."""
    rng = np.random.default_rng(0)
    genre, country = rng.choice(["war", "love"], n), rng.choice(["fr", "it", "us"], n)
    words = {"war": ["army", "battle", "gun", "tank"], "love": ["heart", "kiss", "letter", "wedding"]}
    plots = [" ".join(rng.choice(words[each], 12)) for each in genre]
    return pd.DataFrame({"plot": plots, "genre": genre, "country": country})


def test_the_strength_is_learned_for_each_column():
    films = Corpus.from_frame(_films(), text="plot", labels=["genre", "country"])
    model = MetaLDA(4, n_iter=400, random_state=0, verbose=False).fit(films)
    table = model.pooling_.set_index("group")
    assert table.loc["genre", "low"] > table.loc["country", "high"]
    assert table["n"].to_dict() == {"country": 3, "genre": 2}
    assert ((table["low"] < table["scale"]) & (table["scale"] < table["high"])).all()


def test_the_strength_of_many_rare_labels_is_found():
    """Five documents a label: from a start near 0 the scale would take thousands of iterations to rise."""
    rng, n_topics, n_labels, n_documents = np.random.default_rng(0), 5, 300, 1500
    weights, labels = np.exp(rng.normal(0, 0.7, (n_labels, n_topics))), rng.integers(n_labels, size=n_documents)
    theta = [rng.dirichlet(0.3 * weights[label]) for label in labels]
    tokens = [[f"w{k}_{rng.integers(8)}" for k in rng.choice(n_topics, 15, p=own)] for own in theta]
    films = Corpus.from_tokens(tokens, [str(label) for label in labels])
    model = MetaLDA(n_topics, n_iter=100, random_state=0, verbose=False).fit(films)
    assert model.pooling_["scale"].item() == pytest.approx(0.7, abs=0.15)


def test_the_strength_survives_saving(tmp_path):
    films = Corpus.from_frame(_films(), text="plot", labels=["genre", "country"])
    features = WordFeatures.from_mapping({"army": "a", "gun": "a"}) | WordFeatures.from_mapping({"kiss": "b"})
    model = MetaLDA(3, word_features=features, **QUICK).fit(films)
    assert model.pooling_["group"].tolist() == ["country", "genre", "source 1", "source 2"]
    model.save(tmp_path / "model")
    pd.testing.assert_frame_equal(metalda.load(tmp_path / "model").pooling_, model.pooling_)


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [
        ({}, ["label", "feature"]),
        ({"mu": 2}, ["feature"]),
        ({"nu": 2}, ["label"]),
        ({"weight_prior": "gamma"}, []),
        ({"word_prior": 0.01}, ["label"]),
    ],
)
def test_a_fixed_shape_means_the_gamma_prior(settings, kinds):
    model = MetaLDA(3, word_features=FEATURES, **QUICK, **settings).fit(corpus())
    assert model.pooling_["kind"].tolist() == kinds


def test_gamma_weights_are_those_of_shape_one():
    own = [
        MetaLDA(3, word_features=FEATURES, **QUICK, **settings).fit(corpus()).components_
        for settings in ({"weight_prior": "gamma"}, {"mu": 1, "nu": 1})
    ]
    np.testing.assert_array_equal(*own)


def _aging(n=150):
    """With the years, topic a gives way to topic b; the country means nothing."""
    rng = np.random.default_rng(1)
    years = rng.integers(1950, 2021, n)
    words = {"a": ["steam", "coal", "train", "mill"], "b": ["phone", "web", "chip", "screen"]}
    late = rng.random((n, 15)) < ((years - 1950) / 70)[:, None]
    texts = [" ".join(rng.choice(words["b" if is_late else "a"]) for is_late in row) for row in late]
    return pd.DataFrame({"text": texts, "year": years, "country": rng.choice(["fr", "it"], n)})


def test_numbers_and_labels_have_effects_with_intervals(tmp_path):
    corpus = Corpus.from_frame(_aging(), text="text", labels="country", numbers="year")
    model = MetaLDA(2, n_iter=300, random_state=0, verbose=False).fit(corpus)
    new = int(model.components_[:, model.vocabulary_.index("web")].argmax())
    effects = model.label_effects().set_index(["label", "topic"])
    assert effects.loc[("year", new), "difference_low"] > 0.1
    assert effects.loc[("year", 1 - new), "difference_high"] < -0.1
    of_country = effects.loc[["country=fr", "country=it"]]
    assert ((of_country["difference_low"] < 0) & (of_country["difference_high"] > 0)).all()
    assert set(model.pooling_["group"]) == {"country", "year"}
    model.save(tmp_path / "model")
    frame = pd.DataFrame({"text": ["train web"] * 2, "year": [1950, 2020], "country": ["fr", "fr"]})
    same = metalda.load(tmp_path / "model")
    theta = same.transform(frame)
    assert theta[1, new] > theta[0, new]
    np.testing.assert_array_equal(theta, model.transform(frame))


def test_numbers_give_one_result_for_any_number_of_threads_and_shards_of_equal_number():
    corpus = Corpus.from_frame(_aging(), text="text", numbers="year")
    fits = [MetaLDA(3, n_iter=20, n_shards=3, n_jobs=n, random_state=0, verbose=False).fit(corpus) for n in (1, 3)]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)
    np.testing.assert_array_equal(fits[0].draws_[-1].log_doc_weights, fits[1].draws_[-1].log_doc_weights)


def test_gamma_weights_refuse_numbers():
    corpus = Corpus.from_frame(_aging(), text="text", numbers="year")
    for settings in ({"weight_prior": "gamma"}, {"mu": 1.0}):
        with pytest.raises(InputError, match="weight_prior='normal'"):
            MetaLDA(2, **QUICK, **settings).fit(corpus)
