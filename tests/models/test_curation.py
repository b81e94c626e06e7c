"""Curation: topics that are named, merged and hidden, in every output."""

import copy
import io
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from typer.testing import CliRunner

import metalda
from contracts import CASES, corpus
from metalda import LDA, Corpus, LabeledLDA, MetaLDA, coherence, plot_effects, plot_prevalence, stability
from metalda.cli.app import app
from metalda.errors import InputError, StorageError
from metalda.evaluation import make_intrusion_tasks
from metalda.models.weights import label_weights
from metalda.report import summarize
from metalda.samplers.group_topics import group_totals
from metalda.storage import read_folder, write_folder

N_TOPICS = 6
NAMES = ["both", "topic1", "last <b>one</b>"]  # of topics 0 + 3, 1 and 4; topics 2 and 5 are hidden
NUMBERS = [0, 1, 4]


def _frame() -> pd.DataFrame:
    rng, rows = np.random.default_rng(0), []
    words = [[f"{'abcdef'[k]}{i}" for i in range(6)] for k in range(N_TOPICS)]
    for d in range(90):
        first = rng.integers(N_TOPICS)
        text = " ".join([*rng.choice(words[first], 8), *rng.choice(words[rng.integers(N_TOPICS)], 3)])
        rows.append({"text": text, "party": ["left", "right"][int(first + d) % 2], "year": 1990 + d % 20})
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def documents() -> Corpus:
    return Corpus.from_frame(_frame(), labels="party", numbers="year", min_df=1, max_df=1.0)


@pytest.fixture(scope="module")
def trained(documents: Corpus) -> MetaLDA:
    """A model with everything that has a table: labels, numbers, word features and groups with their own wording."""
    features = metalda.WordFeatures.from_mapping({word: [f"kind {word[0]}"] for word in documents.vocabulary[::2]})
    model = MetaLDA(N_TOPICS, wording="party", word_features=features, n_iter=60, random_state=0, verbose=False)
    return model.fit(documents)


def _curate(model):
    return copy.copy(model).rename({4: NAMES[2]}).merge([3, 0], "both").hide([2, 5])


@pytest.fixture(scope="module")
def curated(trained: MetaLDA) -> MetaLDA:
    return _curate(trained)


@pytest.fixture(scope="module")
def saved(curated: MetaLDA, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("curated")
    curated.save(folder / "model")
    _frame().to_json(folder / "data.jsonl", orient="records", lines=True)
    return folder


def _column(table):
    """The topics of a table, as numbers and names."""
    assert list(dict.fromkeys(table["topic"])) == NUMBERS
    return [name or f"topic{number}" for number, name in dict(zip(table["topic"], table["name"], strict=True)).items()]


def _labels(texts):
    """The names of topics at the beginning of the labels of a plot."""
    return [text.partition(":")[0] for text in texts]


def _frame_of(wording, model):
    return pd.concat([model.wording_contrasts(k, "left", "right", top_n=2) for k in wording])


def _topics_of_pairs(table):
    others = table[["other_topic", "other_name"]].set_axis(["topic", "name"], axis=1)
    return pd.concat([table[["topic", "name"]], others]).sort_values("topic")


OUTPUTS = {
    "topics": lambda model, texts: _column(model.topics()),
    "topics, wide": lambda model, texts: _column(model.topics(format="wide")),
    "topics, by name": lambda model, texts: [
        name for name, k in zip(NAMES, NUMBERS, strict=True) if len(model.topic_words(k if name == "topic1" else name))
    ],
    "HTML": lambda model, texts: [
        name
        for name in NAMES
        if name == "topic1" or name.replace("<", "&lt;").replace(">", "&gt;") in model._repr_html_()
    ],
    "columns of transform": lambda model, texts: list(
        copy.copy(model).set_output(transform="pandas").transform(texts[:3]).columns
    ),
    "columns of the frame": lambda model, texts: list(model.to_frame(texts[:3]).columns[-len(NAMES) :]),
    "words": lambda model, texts: _column(model.words_frame(3)),
    "typical documents": lambda model, texts: _column(model.typical_documents(corpus=texts)),
    "correlations": lambda model, texts: _column(_topics_of_pairs(model.topic_correlations())),
    "label effects": lambda model, texts: _column(model.label_effects()),
    "label contrasts": lambda model, texts: _column(model.label_contrasts("left", "right")),
    "label proportions": lambda model, texts: _column(model.label_proportions()),
    "feature effects": lambda model, texts: _column(model.feature_effects()),
    "feature contrasts": lambda model, texts: _column(model.feature_contrasts(*model.feature_names_[:2])),
    "prevalence": lambda model, texts: _column(model.prevalence_at({"year": [1990, 2000]})),
    "prevalence contrasts": lambda model, texts: _column(
        model.prevalence_at({"party": ["left", "right"]}, contrast="party")
    ),
    "wording": lambda model, texts: _column(model.wording_),
    "wording contrasts": lambda model, texts: _column(_frame_of(NUMBERS, model)),
    "plot of effects": lambda model, texts: _labels(
        label.get_text() for label in plot_effects(model, style="forest").get_yticklabels()
    ),
    "heat map of effects": lambda model, texts: _labels(
        label.get_text() for label in plot_effects(model, style="heatmap").get_yticklabels()
    ),
    "plot of prevalence": lambda model, texts: _labels(axes.get_title() for axes in plot_prevalence(model, "year")),
    "coherence": lambda model, texts: _column(coherence(model, texts, window=0).to_frame()),
    "stability": lambda model, texts: _column(stability([model, model]).topics),
    "report": lambda model, texts: [topic.label or topic.name for topic in summarize(model, texts).topics],
    "report, comparison": lambda model, texts: [
        topic.name for topic in summarize(model, models=[model]).comparison[0].topics
    ],
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_lists_the_same_names(curated: MetaLDA, documents: Corpus, output: str) -> None:
    found = OUTPUTS[output](curated, documents)
    assert found == NAMES, output


def _read_csv(text):
    return _column(pd.read_csv(io.StringIO(text), keep_default_na=False))


def _read_json(text):
    return _column(pd.DataFrame(json.loads(text)))


def _printed(text):
    """The topics of a printed table: the number is in the first column, and the name before the words."""
    found = re.findall(r"^ *(\d+) (?!of ).*?(both|last <b>one</b>|a0|[a-f]\d)", text, re.MULTILINE)
    numbers = list(dict.fromkeys(int(number) for number, _ in found))
    assert sorted(numbers) == NUMBERS
    named = {int(number): name if len(name) > 2 else f"topic{number}" for number, name in reversed(found)}
    return [named[number] for number in NUMBERS]


COMMANDS = {
    "topics": (["topics", "MODEL"], _printed),
    "topics, CSV": (["topics", "MODEL", "--format", "csv"], _read_csv),
    "topics, JSON": (["topics", "MODEL", "--format", "json"], _read_json),
    "effects": (["effects", "MODEL"], _printed),
    "effects, CSV": (["effects", "MODEL", "--format", "csv"], lambda text: sorted(set(_unordered(text)))),
    "contrasts": (["effects", "MODEL", "--contrast", "left", "right"], _printed),
    "proportions": (["effects", "MODEL", "--proportions", "--top", "0"], _printed),
    "effects of features": (["effects", "MODEL", "--features"], _printed),
    "prevalence": (["prevalence", "MODEL", "--over", "year"], _printed),
    "prevalence, CSV": (["prevalence", "MODEL", "--over", "year", "--format", "csv"], _read_csv),
    "prevalence by name": (
        ["prevalence", "MODEL", "--over", "year", "--topics", "both,1,last <b>one</b>", "--format", "json"],
        _read_json,
    ),
    "wording": (["wording", "MODEL"], _printed),
    "wording, JSON": (["wording", "MODEL", "--format", "json"], _read_json),
    "transform": (
        ["transform", "MODEL", "DATA", "--text", "text", "-o", "-"],
        lambda text: next(iter(io.StringIO(text))).strip().split(",")[1:],
    ),
    "coherence": (["coherence", "MODEL", "--reference", "DATA", "--text", "text"], _printed),
    "stability": (["stability", "MODEL", "MODEL"], _printed),
}


def _unordered(text):
    table = pd.read_csv(io.StringIO(text), keep_default_na=False)
    return [name or f"topic{number}" for number, name in zip(table["topic"], table["name"], strict=True)]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_lists_the_same_names(saved, command: str) -> None:
    arguments, read = COMMANDS[command]
    places = {"MODEL": str(saved / "model"), "DATA": str(saved / "data.jsonl")}
    result = CliRunner().invoke(app, [places.get(word, word) for word in arguments], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    found = read(result.stdout)
    assert sorted(found) == sorted(NAMES)
    if "are hidden" not in result.stdout:
        assert {"--format", "transform", "coherence", "stability"}.intersection(arguments)


# The numbers: sums within each draw.


def test_shares_of_a_merged_topic_are_sums_and_a_hidden_one_is_left_out(trained, curated, documents) -> None:
    for before, after in (
        (trained.doc_topics_, curated.doc_topics_),
        (trained.transform(documents), curated.transform(documents)),
        (trained.topics()["share"].to_numpy()[None], curated.topics()["share"].to_numpy()[None]),
    ):
        np.testing.assert_allclose(after[:, 0], before[:, 0] + before[:, 3], atol=1e-6)
        np.testing.assert_array_equal(after[:, 1:], before[:, [1, 4]])
    hidden = trained.topics()["share"][[2, 5]].sum()
    assert curated.fitted_.hidden_share == pytest.approx(hidden)
    assert f"2 hidden topics with {hidden:.1%} of the tokens" in curated._repr_html_()


def test_words_of_a_merged_topic_are_the_mean_by_tokens_within_each_draw(trained, curated) -> None:
    expected = 0.0
    for draw in trained.draws_:
        phi = trained._mean_phi((draw,), trained.vocabulary_, trained.fitted_.word_prior)
        tokens = draw.topic_totals[[0, 3]]
        expected = expected + phi[:, [0, 3]] @ (tokens / tokens.sum()) / len(trained.draws_)
    np.testing.assert_allclose(curated.components_[0], expected, rtol=1e-5)
    np.testing.assert_allclose(curated.components_.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(curated.components_[1:], trained.components_[[1, 4]])


def test_proportions_and_differences_are_sums_and_their_intervals_are_of_the_sums(trained, curated) -> None:
    before, after = trained.label_effects(), curated.label_effects()
    for column in ("difference", "proportion"):
        wide = before.pivot(index="label", columns="topic", values=column)
        own = after.pivot(index="label", columns="topic", values=column)
        np.testing.assert_allclose(own[0], wide[0] + wide[3], atol=1e-6)
        np.testing.assert_allclose(own[[1, 4]], wide[[1, 4]], atol=1e-12)
    at = {"year": [1992, 2005]}
    weights, drawn = label_weights(trained.fitted_), []
    table = curated.prevalence_at(at).set_index(["year", "topic"])
    means = trained.prevalence_at(at).set_index(["year", "topic"])["mean"]
    assert table["mean"][1992, 0] == pytest.approx(means[1992, 0] + means[1992, 3], abs=1e-6)
    number = trained.fitted_.labels.terms.numbers["year"]
    x = (1992 - number.center) / number.scale
    shares = trained.fitted_.labels.terms.labels["party"]  # every document has one
    rows = np.array([[x if name == "year" else float(name == own) for name in weights.names] + [1.0] for own in shares])
    for draw in weights.chains[0]:
        alpha = np.exp(rows @ draw.astype(float))
        drawn.append(np.average(alpha[:, [0, 3]].sum(axis=1) / alpha.sum(axis=1), weights=list(shares.values())))
    ends = np.quantile(drawn, [0.05, 0.95], method="weibull")
    np.testing.assert_allclose(table.loc[(1992, 0), ["low", "high"]].to_numpy(float), ends, rtol=1e-5)


def test_the_log_effect_of_a_merged_topic_is_that_of_the_summed_alpha() -> None:
    """Every document has one label: log alpha is the default plus the label, and the reference the average label."""
    labels = ["a", "b", "c"] * 10
    model = MetaLDA(3, n_iter=60, random_state=0, verbose=False).fit(["cat dog", "rain sun", "tax wage"] * 10, labels)
    draws = model.fitted_.weights["label"].astype(float)
    merged = copy.copy(model).merge([0, 2])
    table = merged.label_effects().set_index(["label", "topic"])["effect"]
    mean = draws[:, :3].mean(axis=1)
    for j, name in enumerate(model.label_names_):
        level = logsumexp((draws[:, 3] + draws[:, j])[:, [0, 2]], axis=1)
        reference = logsumexp((draws[:, 3] + mean)[:, [0, 2]], axis=1)
        assert table[name, 0] == pytest.approx((level - reference).mean(), rel=1e-5)
    before = model.label_effects().set_index(["label", "topic"])["effect"]
    assert table["a", 1] == pytest.approx(before["a", 1])
    contrast = merged.label_contrasts("a", "b").set_index("topic")["effect"]
    levels = [logsumexp((draws[:, 3] + draws[:, j])[:, [0, 2]], axis=1) for j in (0, 1)]
    assert contrast[0] == pytest.approx((levels[0] - levels[1]).mean(), rel=1e-5)
    assert contrast[1] == pytest.approx(model.label_contrasts("a", "b")["effect"][1])


def test_groups_word_a_merged_topic_by_their_own_tokens(trained, curated) -> None:
    """Averaged over groups by their tokens, the words are those of the topic."""
    (draw,) = trained.draws_[:1]
    one, fitted = copy.copy(trained), trained.fitted_
    one._fitted = replace(fitted, draws=(draw,), phi=one._mean_phi((draw,), fitted.vocabulary, fitted.word_prior))
    one = _curate(one)
    tokens = group_totals(draw)[:, [0, 3]].sum(axis=1)
    average = sum(n * one.group_components(name)[0] for n, name in zip(tokens, one.wording_groups_, strict=True))
    np.testing.assert_allclose(average / tokens.sum(), one.components_[0], rtol=1e-4)
    table = curated.wording_contrasts("both", "left", "right", top_n=None).set_index("word")
    groups = [curated.group_components(name)[0] for name in ("left", "right")]
    for side, own in zip(("probability_first", "probability_second"), groups, strict=True):
        shown = [own[curated.vocabulary_.index(word)] for word in table.index]
        np.testing.assert_allclose(table[side], shown, atol=0.02)
    before, after = (model.wording_.set_index("topic")["concentration"] for model in (trained, curated))
    assert before[[0, 3]].min() * 0.8 < after[0] < before[[0, 3]].max() * 1.25
    assert after[4] == before[4]


def test_held_out_likelihood_predictions_and_draws_do_not_change(trained, curated, documents) -> None:
    assert curated.perplexity(documents) == trained.perplexity(documents)
    assert curated.draws_ is trained.draws_
    np.testing.assert_array_equal(trained.fitted_.phi, curated.fitted_.trained.phi)
    labeled = LabeledLDA(n_iter=10, random_state=0, verbose=False).fit(corpus())
    before = labeled.predict_label_probabilities(corpus())
    labeled.hide(["pets"] if "pets" in labeled.fitted_.topic_names else [0])
    pd.testing.assert_frame_equal(labeled.predict_label_probabilities(corpus()), before)
    assert len(labeled.topics()) == len(labeled.topic_labels_) == len(before.columns) - 1


def test_chains_are_matched_first_and_a_merged_topic_needs_all_its_parts() -> None:
    rng = np.random.default_rng(0)
    words = {kind: [f"{kind}{i}" for i in range(8)] for kind in ("sport", "law", "city")}
    labels = [["sport", "law"][d % 2] for d in range(80)]
    texts = [[*rng.choice(words[label], 12), *rng.choice(words["city"], 6)] for label in labels]
    model = MetaLDA(4, n_chains=3, n_iter=60, random_state=0, verbose=False).fit(Corpus.from_tokens(texts, labels))
    partners, before = model.fitted_.partners, model.label_proportions().pivot(index="label", columns="topic")
    counts = (partners >= 0).sum(axis=0)
    theta = model.doc_topics_
    for first in range(4):
        for second in range(first + 1, 4):
            merged = copy.copy(model).merge([first, second], "m")
            np.testing.assert_allclose(merged.doc_topics_[:, first], theta[:, [first, second]].sum(axis=1), atol=1e-6)
            table = merged.label_proportions()
            own = table[table["name"] == "m"]
            has = (partners[:, [first, second]] >= 0).all(axis=1).sum()
            assert own["chains"].tolist() == [has, has]
            assert merged.topics()["chains"][first] == has
            if has == counts[first] == counts[second]:
                expected = before["proportion"][first] + before["proportion"][second]
                np.testing.assert_allclose(own["proportion"], expected, atol=1e-6)
    assert counts.max() == 3, "some topic is in all chains"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_model_can_be_curated_and_saved(case, tmp_path) -> None:
    model = case.make(n_iter=4).fit(corpus())
    before, theta = model.components_.copy(), model.transform(corpus())
    n_topics = len(before)
    if n_topics < 3:
        model.rename({0: "one"}).hide([1])
    else:
        model.merge([0, 2], "one").hide([1])
    assert model.get_feature_names_out()[0] == "one"
    np.testing.assert_allclose(model.components_.sum(axis=1), 1, rtol=1e-4)
    parts = [0, 2] if n_topics > 2 else [0]
    np.testing.assert_allclose(model.transform(corpus())[:, 0], theta[:, parts].sum(axis=1), atol=1e-6)
    model.save(tmp_path / "model")
    same = metalda.load(tmp_path / "model")
    assert same.fitted_.curation == model.fitted_.curation
    np.testing.assert_array_equal(same.components_, model.components_)
    np.testing.assert_array_equal(same.doc_topics_, model.doc_topics_)
    pd.testing.assert_frame_equal(same.topics(), model.topics())
    np.testing.assert_array_equal(same.restore().components_, before)
    assert not same.fitted_.curation


# Names, and mistakes.


@pytest.fixture
def model() -> LDA:
    return LDA(4, n_iter=10, random_state=0, verbose=False).fit(["cat dog cat", "dog cat", "rain sun", "sun rain"] * 3)


def test_topics_keep_their_numbers_through_several_steps(model: LDA) -> None:
    model.merge([1, 3]).hide([0]).rename({1: "weather"}).merge(["weather", 2])
    assert model.topics()[["topic", "name", "merged"]].values.tolist() == [[1, "weather", [1, 2, 3]]]
    model.restore()
    assert list(model.topics()["topic"]) == [0, 1, 2, 3]
    assert "name" not in model.topics()


def test_names_can_be_exchanged_and_taken_away(model: LDA) -> None:
    model.rename({0: "a", 1: "b"}).rename({"a": "b", "b": "a"})
    assert model.fitted_.topic_names == ("b", "a", None, None)
    assert model.rename({0: None, 1: None}).fitted_.topic_names == ()


def test_names_of_seeds_are_renamed_and_merged() -> None:
    seeds = {"pets": ["cat"], "sky": ["rain"]}
    texts = ["cat dog cat", "dog cat", "rain sun", "sun rain"] * 5
    model = MetaLDA(3, seeds=seeds, n_iter=20, random_state=0, verbose=False).fit(texts)
    model.rename({"pets": "animals"})
    assert model.fitted_.topic_names == ("animals", "sky", None)
    table = model.seed_strengths()
    assert table[["topic", "name", "set"]].values.tolist() == [[0, "animals", "pets"], [1, "sky", "sky"]]
    model.merge(["sky", 2]).hide(["animals"])
    assert model.fitted_.topic_names == ("sky",)
    assert model.seed_strengths()["name"].tolist() == ["sky"]


def test_the_name_of_a_seed_set_can_be_taken_away(tmp_path) -> None:
    seeds = {"pets": ["cat"], "sky": ["rain"]}
    texts = ["cat dog cat", "dog cat", "rain sun", "sun rain"] * 5
    model = MetaLDA(3, seeds=seeds, n_iter=20, random_state=0, verbose=False).fit(texts)
    model.rename({"pets": None}).save(tmp_path / "model")
    assert metalda.load(tmp_path / "model").fitted_.topic_names == (None, "sky", None)
    assert model.merge([0, 2]).fitted_.topic_names == (None, "sky"), "a merge does not bring it back"
    model.rename({"sky": None})
    assert model.seed_strengths()[["name", "set"]].values.tolist() == [["", "pets"], ["", "sky"]]
    assert model.rename({0: "again"}).fitted_.topic_names == ("again", None)


@pytest.mark.parametrize("n_chains", [1, 2])
def test_seed_tokens_of_a_merged_topic_are_those_of_its_parts(n_chains: int) -> None:
    seeds = {"first": ["cat", "rain"], "second": ["dog", "sun"]}  # against the documents
    texts = ["cat dog cat dog", "dog cat dog", "rain sun rain", "sun rain sun"] * 5
    model = MetaLDA(2, seeds=seeds, seed_weight=2, n_iter=20, n_chains=n_chains, random_state=0, verbose=False).fit(
        texts
    )
    before = model.seed_strengths()
    assert (before["in_topic"] < 1).all()
    after = model.merge([0, 1]).seed_strengths()
    np.testing.assert_allclose(after["in_topic"], 1)
    assert after["tokens"].tolist() == before["tokens"].tolist()


@pytest.mark.parametrize("words_by", ["relevance", "frex", "lift"])
def test_words_of_a_topic_do_not_depend_on_hidden_topics(trained: MetaLDA, curated: MetaLDA, words_by: str) -> None:
    own = trained.topic_words(1, 36, words_by)
    pd.testing.assert_frame_equal(copy.copy(trained).hide([0, 2]).topic_words(1, 36, words_by), own)
    pd.testing.assert_frame_equal(curated.topic_words(1, 36, words_by), own)
    merged = copy.copy(trained).merge([0, 3])
    pd.testing.assert_frame_equal(curated.topic_words(0, 36, words_by), merged.topic_words(0, 36, words_by))


def test_words_and_automatic_names_of_a_report_do_not_depend_on_hidden_topics(trained, documents) -> None:
    before = summarize(trained, documents)
    after = summarize(copy.copy(trained).hide([0]), documents)
    assert [topic.title for topic in after.topics] == [topic.title for topic in before.topics[1:]]
    assert dict(zip(after.words.names, after.words.probabilities, strict=True)) == dict(
        zip(before.words.names, before.words.probabilities, strict=True)
    )


def test_a_merged_topic_is_exclusive_to_itself(trained: MetaLDA) -> None:
    fitted = copy.copy(trained).merge([0, 3]).fitted_
    phi = trained.fitted_.phi.astype(float)
    expected = fitted.phi[:, 0] + phi[:, [1, 2, 4, 5]].sum(axis=1)
    np.testing.assert_allclose(fitted.phi_sums[0], expected, rtol=1e-6)
    np.testing.assert_allclose(fitted.phi_sums[1], phi.sum(axis=1), rtol=1e-6)


def test_a_single_chain_is_without_curation(trained: MetaLDA, curated: MetaLDA) -> None:
    (chain,) = curated.chains_
    assert not chain.fitted_.curation
    np.testing.assert_array_equal(chain.doc_topics_, trained.doc_topics_)
    assert curated.fitted_.curation


def test_hidden_topics_are_shown_again(model: LDA) -> None:
    model.rename({3: "last"}).merge([0, 2]).hide([np.int64(0)]).hide(np.int64(1))
    assert model.topics()["topic"].tolist() == [3]
    assert model.show([2]).topics()["topic"].tolist() == [0, 3], "a part shows the merged topic"
    assert model.hide("last").show("last").show(1).topics()["topic"].tolist() == [0, 1, 3]


def test_documents_of_hidden_topics_only_have_no_topic() -> None:
    labeled = LabeledLDA(n_iter=5, random_state=0, verbose=False)
    given = Corpus.from_texts(["cat dog cat", "dog cat", "rain sun", "sun rain"], ["pets", "pets", "sky", "sky"])
    model = labeled.fit(given)
    model.rename({0: "pets"}).hide([1])
    assert model.to_frame()["top_topic"].tolist() == ["pets", "pets", None, None]
    assert model.typical_documents()["document"].tolist() == [0, 1]
    assert model.typical_documents("pets", n=1)["document"].tolist() == [0]
    shown = summarize(model, given)
    assert shown.documents.topics == ((0,), (0,), (), ())
    assert shown.documents.word_topics == ((0, 0, 0), (0, 0), (-1, -1), (-1, -1))
    assert shown.topics[0].documents == (0, 1)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda m: m.rename({9: "x"}), "no topic 9; topics are numbered 0 to 3"),
        (lambda m: m.rename({"x": "y"}), "no topic is named 'x'"),
        (lambda m: m.rename({0: " "}), "must be a text that is not empty"),
        (lambda m: m.rename({0: 5}), "must be a text that is not empty, not 5"),
        (lambda m: m.rename({0: "x", 1: "x"}), "two topics would have the name 'x'"),
        (lambda m: m.rename({0: "7"}), "'7' could be the number of a topic"),
        (lambda m: m.rename({0: "topic2"}), "'topic2' could be the number of a topic"),
        (lambda m: m.rename({0: "Topic 2"}), "'Topic 2' could be the number of a topic"),
        (lambda m: m.rename({}), "rename needs names by topic"),
        (lambda m: m.merge([1]), "merge needs two topics or more"),
        (lambda m: m.merge([1, 1]), "a topic is given twice"),
        (lambda m: m.merge([1, 7]), "no topic 7"),
        (lambda m: m.merge([1, 2]).merge([2, 3]), "topic 2 was merged into topic 1"),
        (lambda m: m.merge([1, 2], ""), "must be a text that is not empty"),
        (lambda m: m.hide([]), "hide needs topics"),
        (lambda m: m.hide([0, 1, 2, 3]), "all topics would be hidden: leave at least one"),
        (lambda m: m.hide([0]).hide([1, 2, 3]), "all topics would be hidden"),
        (lambda m: m.hide([0]).rename({0: "x"}), "topic 0 is hidden; show([0]) (metalda curate --show 0)"),
        (lambda m: m.rename({0: "x"}).hide([0]).merge([1, 0]), "topic 0 ('x') is hidden; show([0])"),
        (lambda m: m.rename({0: "x"}).hide([0]).topic_words("x"), "topic 0 ('x') is hidden; show([0])"),
        (lambda m: m.rename({0: "x"}).hide([0]).rename({1: "x"}), "the name 'x': give each its own; topic 0, which is"),
        (lambda m: m.rename({0: "x"}).hide([0, 1]).show([2]), "topic 2 is not hidden; hidden topics are: 0 ('x'), 1"),
        (lambda m: m.show(["x"]), "topic 'x' is not hidden; hidden topics are: none"),
        (lambda m: m.show(None), "show needs topics"),
        (lambda m: m.hide(None), "hide needs topics"),
        (lambda m: m.merge(None), "merge needs topics"),
        (lambda m: m.merge(np.int64(1)), "merge needs two topics or more"),
        (lambda m: m.rename({0: "a\x1bb"}), "cannot be printed"),
        (lambda m: m.rename({0: "\ud800"}), "cannot be printed"),
        (lambda m: m.merge([0, 1], "a\x00b"), "cannot be printed"),
        (lambda m: m.rename({0: "x" * 201}), "has 201 characters: give one of at most 200"),
        (lambda m: m.name_topics(None), "name_topics needs a function of words and documents, not None"),
        (lambda m: m.name_topics(max, n_documents="x"), "n_documents must be a whole number"),
        (lambda m: m.hide([True]), "no topic True"),
        (lambda m: m.name_topics(lambda words, documents: 5), "must return a name or None, but for topic 0 it gave 5"),
    ],
)
def test_mistakes_are_one_line(model: LDA, act, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as error:
        act(model)
    assert "\n" not in str(error.value)
    assert list(model.restore().topics()["topic"]) == [0, 1, 2, 3]


def test_names_come_from_a_function_that_gets_words_and_typical_documents(model: LDA) -> None:
    texts = ["Cat, dog, CAT!", "Rain & sun."]
    seen = []

    def name(words, documents):
        seen.append((words, documents))
        return "Pets\n and home" if "Cat, dog, CAT!" in documents else None

    model.rename({3: "mine"}).name_topics(name, texts, top_n=2, n_documents=1)
    assert all(len(words) == 2 and len(documents) == 1 and documents[0] in texts for words, documents in seen)
    names = list(model.topics()["name"])
    expected = ["Pets and home" if documents == [texts[0]] else "" for _, documents in seen]
    first = expected.index("Pets and home")
    expected = [
        f"{own} ({expected[: i + 1].count(own)})" if own and i > first else own for i, own in enumerate(expected)
    ]
    assert names == [*expected, "mine"], "a name that is used gets a number, and a topic that has one keeps it"
    model.restore().name_topics(lambda words, documents: f"no {len(documents)}")
    assert model.topics()["name"].tolist() == ["no 0", "no 0 (2)", "no 0 (3)", "no 0 (4)"]


def test_intrusion_tasks_have_the_numbers_of_topics(curated: MetaLDA) -> None:
    tasks = make_intrusion_tasks(curated, n_words=3)
    assert {task.topic for task in tasks.word_tasks} == set(NUMBERS)


def test_pyldavis_gets_proportions_that_sum_to_one(curated: MetaLDA, documents: Corpus) -> None:
    arguments = curated.to_pyldavis(documents)
    np.testing.assert_allclose(arguments["doc_topic_dists"].sum(axis=1), 1)
    assert arguments["topic_term_dists"].shape[0] == 3


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("names", [[0, "x"], [1, "x"]], "two topics would have the name"),
        ("names", [[0, 5]], "must be a text"),
        ("names", [[9, "x"]], "topic 9"),
        ("names", [["0", "x"]], "must be an integer"),
        ("names", [[0, " x"]], "has spaces around it"),
        ("names", [[0, "a\u0007"]], "cannot be printed"),
        ("names", [[0]], r"a topic and its name must be a list of 2, not \[0\]"),
        ("names", 3, "names of the curation must be a list, not 3"),
        ("merged", [3], "merged topics must be a list, not 3"),
        ("hidden", None, "hidden of the curation must be a list, not None"),
        ("merged", [[0, 3], [3, 4]], "in two merges"),
        ("merged", [[0, 9]], "not one of the 6 topics"),
        ("merged", [[3, 0]], "in the order of their numbers"),
        ("merged", [[0]], "two or more"),
        ("hidden", [3], "topic 3"),
        ("hidden", [0, 1, 2, 4, 5], "all topics would be hidden"),
        ("hidden", [-1], "must be an integer"),
    ],
)
def test_a_damaged_curation_is_refused(saved, tmp_path, field, value, message) -> None:
    document, arrays = read_folder(saved / "model", "model")
    document["curation"][field] = value
    write_folder(tmp_path / "model", "model", document, arrays)
    with pytest.raises(StorageError, match=message):
        metalda.load(tmp_path / "model")


def test_names_are_written_in_any_script(model: LDA) -> None:
    model.rename({0: "  می\u200cخواهم  ", 1: "two\u3000words\n"})
    assert model.fitted_.topic_names[:2] == ("می\u200cخواهم", "two words")
