"""MetaLDA(wording=...): groups of documents that word topics in their own way."""

import numpy as np
import pandas as pd
import pytest

import metalda
from contracts import FEATURES, PETS, QUICK, SKIES, assert_distributions, quietly
from metalda import LDA, Corpus, MetaLDA
from metalda.errors import HintWarning, InputError, StorageError
from metalda.samplers.draws import check_tables
from metalda.samplers.group_topics import group_shares, mean_group_phi
from metalda.storage import read_folder, write_folder
from metalda.training.gibbs import Generators, start_chain, sweep
from training.test_checkpoint import _interrupt_after, assert_same_model

PARTIES = ["left", "right", "green"]
TAX, WAR = ["tax", "budget", "growth", "bank", "wage"], ["army", "peace", "border", "treaty", "soldier"]


def _frame(n=150, seed=0):
    """Two themes. Within the first, the left says wage and the right says growth, four times as often."""
    rng, rows = np.random.default_rng(seed), []
    for d in range(n):
        party, words = PARTIES[d % 3], TAX if rng.random() < 0.5 else WAR
        weights = np.ones(5)
        if words is TAX:
            weights[{"left": 4, "right": 2, "green": 0}[party]] = 4 if party != "green" else 1
        text = " ".join(rng.choice(words, 20, p=weights / weights.sum()))
        rows.append({"text": text, "party": party, "chamber": "ab"[d % 2]})
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_frame(_frame(), labels=["party", "chamber"], min_df=1, max_df=1.0)


@pytest.fixture(scope="module")
def model(corpus):
    return MetaLDA(2, wording="party", n_iter=200, random_state=0, verbose=False).fit(corpus)


def _tax(model):
    return int(model.components_[:, model.vocabulary_.index("tax")].argmax())


def test_words_that_set_groups_apart_are_found(model):
    table = model.wording_contrasts(_tax(model), "left", "right", top_n=1)
    assert table["word"].tolist() == ["wage", "growth"]
    assert table["effect"].tolist() == pytest.approx([np.log(4), -np.log(4)], abs=0.35)
    assert (table["low"] < table["effect"]).all()
    assert (table["effect"] < table["high"]).all()
    assert table["low"][0] > 0.5
    assert table["high"][1] < -0.5
    ratio = table["probability_first"] / table["probability_second"]
    assert np.log(ratio).tolist() == pytest.approx(table["effect"].tolist(), abs=0.1)
    assert set(table["first"]) == {"party=left"}


def test_a_group_is_compared_with_all_others_by_default(model):
    table = model.wording_contrasts(_tax(model), "party=left", top_n=None)
    assert set(table["second"]) == {"all others"}
    assert table["word"][0] == "wage"
    assert set(table["word"]) <= set(model.vocabulary_)
    certain = np.maximum(table["low"], -table["high"])
    n_more = int((table["effect"] > 0).sum())
    assert (np.diff(certain[:n_more]) <= 0).all()
    assert (np.diff(certain[n_more:]) <= 0).all()


def test_a_topic_that_groups_word_alike_has_the_larger_concentration(model):
    table = model.wording_
    assert list(table.columns) == ["topic", "concentration", "low", "high", "factor"]
    assert ((table["low"] <= table["concentration"]) & (table["concentration"] <= table["high"])).all()
    tax = _tax(model)
    assert table["concentration"][tax] < table["concentration"][1 - tax]
    assert table["factor"][tax] > table["factor"][1 - tax] > 1


def test_components_are_the_average_over_groups(model):
    by_group = [model.group_components(party) for party in PARTIES]
    for components in (*by_group, model.components_):
        assert_distributions(components)
    assert model.wording_groups_ == ("party=green", "party=left", "party=right")
    drawn = model.draws_[-1]
    shares = group_shares(drawn)
    each = np.array([mean_group_phi([drawn], model.fitted_.word_prior, g) for g in range(3)])
    average = mean_group_phi([drawn], model.fitted_.word_prior, None)
    np.testing.assert_allclose(np.einsum("gk,gvk->vk", shares, each), average, rtol=1e-4, atol=1e-7)


def test_groups_in_the_other_order_have_the_opposite_contrast(model):
    table = model.wording_contrasts(_tax(model), "left", "right", top_n=None).set_index("word")
    other = model.wording_contrasts(_tax(model), "right", "left", top_n=None).set_index("word").loc[table.index]
    np.testing.assert_allclose(other[["effect", "low", "high"]], -table[["effect", "high", "low"]])
    np.testing.assert_allclose(other["probability_first"], table["probability_second"])


def test_new_documents_are_read_with_the_wording_of_their_group(model, corpus):
    given, hidden = model.perplexity(corpus), model.perplexity(corpus.without_labels())
    assert given < 0.97 * hidden
    assert given == pytest.approx(np.exp(-model.score(corpus)))
    assert_distributions(model.transform(corpus))
    one = corpus[[3]]
    np.testing.assert_array_equal(model.transform(one)[0], model.transform(corpus)[3])  # whatever else is in the batch
    assert_distributions(model.transform(["wage tax", "peace"]))
    for draws in ("last", "each"):
        assert model.perplexity(corpus, draws=draws) < 12


def test_groups_that_the_model_does_not_know_are_an_average(model):
    new = _frame(6, seed=1).assign(party=["left", "blue", None, "right", "green", "blue"])
    with pytest.warns(UserWarning, match="labels that the model was not trained on are ignored: .*party=blue"):
        found = model.transform(new)
    assert_distributions(found)


def test_out_of_vocabulary_words_with_features_are_used():
    labels = ["a", "b"] * 5
    corpus = Corpus.from_texts(PETS + SKIES, labels)
    model = MetaLDA(3, wording="label", word_features=FEATURES, **QUICK).fit(corpus)
    new = Corpus.from_texts(["kitten kitten cat dog", "hail rain sun"], ["a", "b"])
    assert_distributions(model.transform(new))
    assert not np.array_equal(
        model.transform(new), model.transform(Corpus.from_texts(["cat dog", "rain sun"], ["a", "b"]))
    )
    assert np.isfinite(model.perplexity(new, unseen="features"))
    unseen = ("kitten", "hail")
    total = mean_group_phi(
        model.draws_, model.fitted_.word_prior, 0, model._prior_by_name(unseen, model.feature_names_)
    )
    np.testing.assert_allclose(total.sum(axis=0), 1, rtol=1e-4)
    average = model._mean_phi(model.draws_, model.vocabulary_, model.fitted_.word_prior, unseen)
    np.testing.assert_allclose(average.sum(axis=0), 1, rtol=1e-4)


@pytest.mark.parametrize("how", [{"doc_prior": 0.1}, {"prevalence": "chamber"}, {"word_prior": 0.01}, {"nu": 1.0}])
def test_wording_goes_with_any_prior(corpus, how):
    model = MetaLDA(2, wording="party", **{**QUICK, **how}).fit(corpus)
    assert_distributions(model.transform(corpus))
    if how.get("prevalence"):
        assert model.label_names_ == ("chamber=a", "chamber=b")
    assert len(model.wording_groups_) == 3
    assert model.perplexity(corpus) > 1


def test_y_gives_groups_too():
    texts, labels = PETS + SKIES, ["a", "b"] * 5
    by_list = MetaLDA(2, wording="label", **QUICK).fit(texts, labels)
    by_frame = MetaLDA(2, wording="side", **QUICK).fit(
        texts, pd.get_dummies(pd.Series(labels), prefix="side", prefix_sep="=")
    )
    assert by_list.wording_groups_ == ("a", "b")
    assert by_frame.wording_groups_ == ("side=a", "side=b")
    np.testing.assert_array_equal(by_list.components_, by_frame.components_)
    assert_distributions(by_list.transform(texts, labels))


def _fit(frame, wording="party", **columns):
    columns = columns or {"labels": ["party", "chamber"]}
    corpus = Corpus.from_frame(frame, **columns, min_df=1, max_df=1.0)
    return MetaLDA(2, wording=wording, **{**QUICK, "n_iter": 2}).fit(corpus)


@pytest.mark.parametrize(
    ("change", "wording", "columns", "message"),
    [
        ({}, "parti", {}, "no label column 'parti'; it has 'chamber', 'party'"),
        ({}, "year", {"labels": "party", "numbers": "year"}, "holds numbers; cut it into intervals"),
        ({"party": "left"}, "party", {}, "all documents have the value 'party=left'"),
        ({"party": [f"p{i}" for i in range(300)]}, "party", {}, "the column has 300 values, and at most 200"),
        ({"party": [["left", "right"]] * 300}, "party", {}, "300 documents have several values, such as 'party=left'"),
    ],
)
def test_columns_that_give_no_groups_are_refused_in_one_line(change, wording, columns, message):
    frame = _frame(300).assign(year=np.arange(300.0), **change)
    with pytest.raises(InputError, match=message) as caught:
        _fit(frame, wording, **columns)
    assert "\n" not in str(caught.value)


def test_a_topic_with_seed_words_is_found_by_its_name():
    model = MetaLDA(3, wording="label", seeds={"cats": ["cat"]}, **QUICK).fit(PETS, ["a", "b", "a", "b", "b"])
    by_name = model.wording_contrasts("cats", "a", "b", interval=0.5)
    assert by_name.equals(model.wording_contrasts(0, "a", "b", interval=0.5))
    assert model.topic_words("cats").equals(model.topic_words(0))
    with pytest.raises(InputError, match="no topic is named 'dogs'; names are: 'cats'"):
        model.topic_words("dogs")


def test_tokens_of_seed_words_are_counted_in_all_groups():
    model = MetaLDA(3, wording="label", seeds={"cats": ["cat"]}, **QUICK).fit(PETS, ["a", "b", "a", "b", "b"])
    assert model.seed_strengths(0.5)["tokens"].tolist() == [sum(text.split().count("cat") for text in PETS)]


def test_wording_by_labels_of_y_works_beside_vectors():
    vectors = np.arange(10.0).reshape(5, 2)
    corpus = Corpus.from_texts(PETS, ["a", "b", "a", "b", "b"]).with_vectors(vectors)
    assert MetaLDA(2, wording="label", **QUICK).fit(corpus).wording_groups_ == ("a", "b")


def test_wording_without_labels_or_columns_says_what_to_do():
    with pytest.raises(InputError, match=r"the corpus has no labels; read the column with labels= \(--labels party\)"):
        MetaLDA(2, wording="party", **QUICK).fit(PETS)
    with pytest.raises(InputError, match="the labels have no columns; use wording='label'"):
        MetaLDA(2, wording="party", **QUICK).fit(PETS, ["a", "b", "a", "b", "b"])
    with pytest.raises(InputError, match="the labels must be 0 or 1"):
        MetaLDA(2, wording="label", **QUICK).fit(PETS, np.linspace(0.1, 1, 5)[:, None])


def test_documents_without_a_value_are_a_group_of_their_own():
    frame = _frame(60)
    frame.loc[:9, "party"] = None
    with pytest.warns(HintWarning, match=r"10 of 60 documents have no value; they are a group of their own, \(none\)"):
        model = _fit(frame)
    assert model.wording_groups_ == ("party=green", "party=left", "party=right", "(none)")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, "left"), "no topic 2; topics are numbered 0 to 1"),
        ((-1, "left"), "no topic -1"),
        (("tax", "left"), "no topic is named 'tax'; give its number"),
        ((0, "lft"), "no group 'lft'; did you mean 'party=left'"),
        ((0, "left", "party=left"), "the same group"),
        ((0, "left", "right", 0), "top_n must be at least 1"),
        ((0, "left", "right", 5, 1.0), "interval must lie between 0 and 1"),
    ],
)
def test_contrasts_that_do_not_exist_are_refused(model, arguments, message):
    with pytest.raises(InputError, match=message):
        model.wording_contrasts(*arguments)


def test_models_without_wording_have_no_contrasts(corpus):
    model = MetaLDA(2, **QUICK).fit(corpus)
    assert not hasattr(model, "wording_contrasts")
    assert not hasattr(model, "group_components")
    assert not hasattr(LDA(2), "wording_contrasts")
    assert model.wording_groups_ == ()
    assert model.wording_.empty


@pytest.mark.parametrize("n_shards", [1, 3])
def test_threads_do_not_change_the_model(corpus, n_shards):
    one, many = (MetaLDA(2, wording="party", n_shards=n_shards, n_jobs=n, **QUICK).fit(corpus) for n in (1, 3))
    assert_same_wording(one, many)


def assert_same_wording(one, other):
    assert_same_model(one, other)
    for a, b in zip(one.draws_, other.draws_, strict=True):
        np.testing.assert_array_equal(a.extra["concentrations"], b.extra["concentrations"])
        np.testing.assert_array_equal(a.group_counts.toarray(), b.group_counts.toarray())
    pd.testing.assert_frame_equal(one.wording_, other.wording_)


@pytest.mark.parametrize("n_shards", [1, 3])
def test_a_resumed_run_gives_the_same_model(corpus, n_shards, tmp_path, monkeypatch):
    settings = {**QUICK, "n_shards": n_shards, "wording": "party"}
    expected = MetaLDA(2, **settings).fit(corpus)
    with monkeypatch.context() as patch:
        _interrupt_after(patch, 9)
        with pytest.raises(MemoryError):
            MetaLDA(2, **settings).fit(corpus, checkpoint=tmp_path / "c", checkpoint_every=2)
    assert_same_wording(expected, MetaLDA(2, **settings).fit(corpus, checkpoint=tmp_path / "c", resume=True))


def test_a_draw_of_the_initial_iterations_leaves_the_chain_as_it_is(corpus):
    """Ctrl-C keeps such a draw, and the checkpoint goes on with the initial iterations."""
    problem = MetaLDA(2, wording="party", n_iter=40, random_state=0)._build_problem(corpus)
    rngs = Generators.spawn(0, problem)
    state, _ = sweep(problem, start_chain(problem, rngs.start), rngs)
    draw = state.keep()
    assert list(state.assignment.arrays) == ["topics"]
    check_tables(draw.word_topic_counts, draw.group_counts, 3)
    np.testing.assert_array_equal(draw.group_counts.sum(axis=0), draw.topic_totals)


def test_a_checkpoint_of_other_groups_is_refused(corpus, tmp_path):
    how = {**QUICK, "wording": "party", "doc_prior": 0.1}
    MetaLDA(2, **how).fit(corpus, checkpoint=tmp_path / "c")
    frame = _frame().assign(party=PARTIES[::-1] * 50)
    other = Corpus.from_frame(frame, labels=["party", "chamber"], min_df=1, max_df=1.0)
    with pytest.raises(InputError, match=r"belongs to other data \(groups differ\)"):
        MetaLDA(2, **how).fit(other, checkpoint=tmp_path / "c", resume=True)


def test_chains_are_pooled(corpus, tmp_path):
    model = MetaLDA(2, wording="party", n_chains=2, n_iter=150, random_state=1, verbose=False).fit(corpus)
    table = model.wording_contrasts(_tax(model), "left", "right", top_n=1)
    assert table["word"].tolist() == ["wage", "growth"]
    assert table["chains"].tolist() == [2, 2]
    assert table.attrs["n_draws"] >= 800
    assert list(model.wording_["chains"]) == [2, 2]
    model.save(tmp_path / "m")
    pd.testing.assert_frame_equal(metalda.load(tmp_path / "m").wording_, model.wording_)


def test_a_saved_model_is_the_same(model, corpus, tmp_path):
    model.save(tmp_path / "m")
    loaded = metalda.load(tmp_path / "m")
    assert_same_wording(model, loaded)
    np.testing.assert_array_equal(loaded.transform(corpus), model.transform(corpus))
    assert loaded.perplexity(corpus) == model.perplexity(corpus)
    pd.testing.assert_frame_equal(loaded.wording_contrasts(0, "left"), model.wording_contrasts(0, "left"))


def _shorter(array):
    return array[:, :-1]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("draws.group_count_starts", _shorter, "group_count_starts"),
        ("draws.group_count_starts", lambda a: a + 10**6, "group_count_starts"),
        ("draws.group_count_topics", lambda a: a + np.uint16(7), "group_count_topics"),
        ("draws.group_counts", lambda a: -a, "group_counts"),
        ("draws.group_counts", lambda a: a * 50, "do not sum to the totals of topics"),
        ("draws.counts", lambda a: a + 10_000, "differs|do not fit"),
        ("draws.extra.concentrations", lambda a: a * np.nan, "concentrations"),
        ("draws.extra.concentrations", lambda a: a * 0, "concentrations"),
        ("draws.extra.concentrations", None, "concentrations"),
        ("draws.group_counts", None, "group_counts"),
    ],
)
def test_a_damaged_model_is_refused(model, tmp_path, name, change, message):
    model.save(tmp_path / "m")
    document, arrays = read_folder(tmp_path / "m", "model")
    arrays = dict(arrays)
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays[name].copy())
    write_folder(tmp_path / "m", "model", document, arrays)
    with pytest.raises(StorageError, match=message):
        metalda.load(tmp_path / "m")


@pytest.mark.parametrize("wording", [[], ["party=left"], ["a", "a", "b"], "party", ["a", "b"], ["x"] * 5, None])
def test_groups_that_do_not_fit_are_refused(model, tmp_path, wording):
    model.save(tmp_path / "m")
    document, arrays = read_folder(tmp_path / "m", "model")
    write_folder(tmp_path / "m", "model", {**document, "wording": wording}, arrays)
    with pytest.raises(StorageError):
        metalda.load(tmp_path / "m")


def test_memory_grows_with_groups_and_counts_at_most():
    """The counts of groups have at most as many cells as tokens, and as groups times the counts of all documents."""
    corpus = Corpus.from_frame(_frame(), labels=["party", "chamber"], min_df=1, max_df=1.0)
    model = MetaLDA(2, wording="party", **QUICK).fit(corpus)
    problem = model._build_problem(corpus)
    by_group = problem.sampler.by_group(problem)
    assert by_group.n_cells <= 3 * problem.n_cells
    assert model.draws_[0].group_counts.nnz <= 3 * model.draws_[0].word_topic_counts.nnz
    plain = MetaLDA(2, **QUICK)._build_problem(corpus)
    assert problem.sampler.memory(problem, 1) <= 3 * 16 * (plain.n_words + plain.n_cells) + 4 * len(plain.words) + (
        8 * plain.n_words * plain.n_topics
    )


@pytest.mark.slow
def test_intervals_cover_the_contrasts_of_simulated_groups():
    """The benchmark in small: 12 corpora with about 25 contrasts of each topic. All 50 of the benchmark have 88 %."""
    from benchmarks.wording import cover

    parts = [own for seed in range(12) for own in quietly(cover, "model", seed, 600)]
    assert len(parts) >= 33  # of 36 topics
    assert sum(own.covered for own in parts) / sum(own.n for own in parts) == pytest.approx(0.89, abs=0.06)
