"""The summary of a model: what it must say, whatever the model and the corpus."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from contracts import CASES, QUICK, Case, corpus, quietly, with_result
from metalda import DMR, LDA, Corpus, MetaLDA, read_mallet_state
from metalda.errors import InputError
from metalda.models.weights import FEW_DRAWS
from metalda.models.word_scores import top_indices
from metalda.report.summary import Summary, summarize
from metalda.report.wording import summarize_wording
from metalda.report.words import SHOWN

WORDS = [f"word{i}" for i in range(120)]


@pytest.fixture(scope="module")
def texts() -> Corpus:
    """Documents of which the first words of the vocabulary are common, the last ones rare."""
    rng = np.random.default_rng(0)
    chances = 1 / np.arange(1, 121)
    documents = [list(rng.choice(WORDS, 15, p=chances / chances.sum())) for _ in range(60)]
    labels = [["even"] if d % 2 == 0 else ["odd", "third"][: 1 + d % 3 // 2] for d in range(60)]
    return Corpus.from_tokens(documents, labels)


@pytest.fixture(scope="module")
def model(texts: Corpus) -> MetaLDA:
    return MetaLDA(5, **{**QUICK, "n_iter": 40}).fit(texts)


@pytest.fixture(scope="module")
def summary(model: MetaLDA, texts: Corpus) -> Summary:
    return summarize(model, texts)


def names(summary: Summary, places: Any) -> list[str]:
    return [summary.words.names[place] for place in places]


@pytest.mark.parametrize("given", [True, False], ids=["corpus", "no corpus"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_model_has_a_summary_that_json_can_hold(case: Case, given: bool) -> None:
    fitted = case.make().fit(corpus())
    found = quietly(summarize, fitted, corpus() if given else None)
    plain = found.to_plain()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert sum(topic.share for topic in found.topics) == pytest.approx(1, abs=1e-5)
    assert [topic.number for topic in found.topics] == list(range(len(fitted.components_)))
    assert (found.documents is None) is not given
    assert any("No documents were given" in note for note in found.overview.notes) is not given


def test_words_of_a_topic_are_in_the_order_of_their_probability(summary: Summary, model: MetaLDA) -> None:
    for topic, row in zip(summary.topics, model.components_, strict=True):
        best = top_indices(row, SHOWN)
        assert names(summary, topic.words[:SHOWN]) == [model.vocabulary_[v] for v in best]
        assert topic.probabilities[:SHOWN] == pytest.approx(row[best], rel=1e-3)


@pytest.mark.parametrize("tenths", range(11))
def test_the_best_words_by_relevance_are_there_at_every_lambda(summary: Summary, model: MetaLDA, tenths: int) -> None:
    shares = model.topics()["share"].to_numpy()
    phi = model.components_.astype(np.float64)
    marginal = shares @ phi
    for topic, row in zip(summary.topics, phi, strict=True):
        relevance = tenths / 10 * np.log(row) + (1 - tenths / 10) * np.log(row / marginal)
        clearly = np.sort(relevance)[-SHOWN] + 1e-9  # of equals any will do
        best = {model.vocabulary_[v] for v in np.flatnonzero(relevance > clearly)}
        assert best <= set(names(summary, topic.words))
        assert len(topic.words) < len(model.vocabulary_)


def test_words_know_their_topics(summary: Summary, model: MetaLDA) -> None:
    joint = model.topics()["share"].to_numpy()[:, None] * model.components_
    for name, topics, shares in zip(summary.words.names, summary.words.topics, summary.words.shares, strict=True):
        expected = joint[:, model.fitted_.word_index[name]]
        expected = expected / expected.sum()
        assert topics[0] == expected.argmax()
        assert shares == pytest.approx(expected[list(topics)], abs=0.006)
        assert sum(shares) <= 1.02
    assert summary.words.probabilities == tuple(sorted(summary.words.probabilities, reverse=True))


def test_documents_have_the_mixtures_of_transform(summary: Summary, model: MetaLDA, texts: Corpus) -> None:
    theta = model.transform(texts)
    documents = summary.documents
    assert documents is not None
    assert documents.numbers == tuple(range(60))
    for row, topics, shares in zip(theta, documents.topics, documents.shares, strict=True):
        assert shares == pytest.approx(row[list(topics)], abs=1e-3)
        assert topics[0] == row.argmax()
    for topic in summary.topics:
        assert documents.numbers[topic.documents[0]] == theta[:, topic.number].argmax()
        assert topic.document_shares == pytest.approx(np.sort(theta[:, topic.number])[:-6:-1], abs=6e-4)
    for d, words in enumerate(documents.words):
        assert names(summary, words) == texts.document(d)


def test_topics_of_words_are_the_likeliest_in_their_document(summary: Summary, model: MetaLDA, texts: Corpus) -> None:
    theta = model.transform(texts)
    documents = summary.documents
    assert documents is not None
    for d, (words, topics) in enumerate(zip(documents.words, documents.word_topics, strict=True)):
        for name, k in zip(names(summary, words), topics, strict=True):
            weights = theta[d] * model.components_[:, model.fitted_.word_index[name]]
            assert weights[k] == weights.max()


def test_a_sample_of_documents_is_said_and_always_the_same(model: MetaLDA, texts: Corpus) -> None:
    found = summarize(model, texts, max_documents=30)
    assert found.documents is not None
    assert len(found.documents.numbers) == 30
    assert any(note.startswith("30 of 60 documents are shown") for note in found.overview.notes)
    assert found == summarize(model, texts, max_documents=30)
    whole = summarize(model, texts)
    assert not any("documents are shown" in note for note in whole.overview.notes)
    for small, large in zip(found.topics, whole.topics, strict=True):  # what is typical is in every sample
        assert whole.documents is not None
        expected = [whole.documents.numbers[i] for i in large.documents]
        assert [found.documents.numbers[i] for i in small.documents] == expected
    with pytest.raises(InputError, match="max_documents"):
        summarize(model, texts, max_documents=0)


def test_the_figures_are_of_all_documents_not_of_the_sample(model: MetaLDA, texts: Corpus) -> None:
    small, large = summarize(model, texts, max_documents=6), summarize(model, texts)
    assert small.labels == large.labels
    assert [topic.coherence for topic in small.topics] == [topic.coherence for topic in large.topics]


def test_labels_of_documents_have_kinds() -> None:
    frame = pd.DataFrame(
        {"text": ["cat dog", "sun rain"] * 4, "genre": ["a", "b"] * 4, "size": range(8), "n": range(8)}
    )
    documents = Corpus.from_frame(frame, text="text", labels="genre", bins={"size": [4]}, numbers="n")
    found = quietly(summarize, LDA(2, **QUICK).fit(documents), documents).documents
    assert found is not None
    kinds = [None if kind < 0 else found.kinds[kind] for kind in found.kind_of]
    assert dict(zip(found.label_names, kinds, strict=True)) == {
        **dict.fromkeys(("genre=a", "genre=b"), "genre"),
        **dict.fromkeys(("size < 4", "size ≥ 4"), "size"),
        "n": None,  # a number
    }


def test_a_long_document_is_cut_and_that_is_said(model: MetaLDA) -> None:
    long = Corpus.from_tokens([WORDS[:10] * 300, WORDS[:4]])
    found = summarize(model, long)
    assert found.documents is not None
    assert [len(words) for words in found.documents.words] == [2000, 4]
    assert found.documents.lengths == (3000, 4)
    assert any(note.startswith("1 document is cut after 2,000 words") for note in found.overview.notes)


@pytest.mark.parametrize("source", ["file", "frame", "prepared"])
def test_documents_are_shown_as_written(source: str, tmp_path: Path) -> None:
    written = ["The CATS of\n New York!", "Rain — Rain, new york 🙂", "", "of the and"] * 4
    how: dict[str, Any] = {"stem": "english", "phrases": [("new", "york")]}
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in written))
    if source == "frame":
        corpus = Corpus.from_frame(pd.DataFrame({"text": written}), **how)
    elif source == "file":
        corpus = Corpus.read(path, **how)
    else:
        corpus = Corpus.prepare(path, tmp_path / "corpus", **how)
    found = summarize(LDA(2, **QUICK).fit(corpus), corpus)
    documents = found.documents
    assert documents is not None
    assert documents.written is not None
    assert ["".join(pieces) for pieces in documents.written] == written
    assert documents.written[0][1::2] == ("CATS", "New York")
    assert names(found, documents.words[0]) == ["cat", "new_york"]
    assert len(documents.word_topics[0]) == 2
    assert not any(documents.is_cut)
    assert json.loads(json.dumps(found.to_plain()))["documents"]["written"][2] == [""]
    assert summarize(LDA(2, **QUICK).fit(corpus), corpus.with_texts(None)).documents.written is None  # type: ignore


def test_a_long_text_is_cut_after_a_word_and_that_is_said(model: MetaLDA) -> None:
    text = f"{WORDS[0].upper()} is {WORDS[1]}; " * 3000
    found = summarize(model, Corpus.from_texts([text, WORDS[0]]).without_labels())
    assert found.documents is not None
    assert found.documents.written is not None
    shown = "".join(found.documents.written[0])
    assert 19_960 <= len(shown) <= 20_000
    assert text.startswith(shown)
    assert text[len(shown)] == " "
    assert found.documents.is_cut == (True, False)
    assert any(note.startswith("1 document is cut after 20,000 characters") for note in found.overview.notes)


def test_long_names_are_cut(model: MetaLDA) -> None:
    huge = "x" * 100_000
    found = summarize(model, Corpus.from_tokens([[WORDS[0], huge]], [[huge]], ids=[huge]).without_labels(), title=huge)
    assert len(json.dumps(found.to_plain())) < 100_000


def test_words_that_the_model_does_not_know_have_no_topic(model: MetaLDA) -> None:
    found = summarize(model, [[WORDS[0], "stranger", WORDS[1]]])
    assert found.documents is not None
    assert names(found, found.documents.words[0]) == [WORDS[0], "stranger", WORDS[1]]
    assert [k >= 0 for k in found.documents.word_topics[0]] == [True, False, True]
    assert (found.words.probabilities[-1], found.words.topics[-1]) == (0, ())


def test_documents_of_strangers_alone_have_a_summary(model: MetaLDA) -> None:
    found = quietly(summarize, model, [["stranger", "another"]])
    assert found.documents is not None
    assert found.documents.word_topics == ((-1, -1),)
    assert all(topic.coherence is None for topic in found.topics)


def test_labels_have_the_effects_of_the_model(summary: Summary, model: MetaLDA) -> None:
    labels = summary.labels
    assert labels is not None
    table = model.label_effects(0.9).set_index(["label", "topic"])
    columns = ["difference", "difference_low", "difference_high", "effect", "low", "high"]
    for j, name in enumerate(labels.names):
        for k in range(5):
            row = table.loc[(name, k)]
            shown = [getattr(labels, column)[j][k] for column in columns]
            assert shown == pytest.approx(row[columns].tolist(), abs=0.006)
            assert labels.proportion[j][k] == pytest.approx(row["proportion"], abs=6e-4)
    assert labels.sizes == tuple(model.label_sizes_[:3])


def test_prevalence_is_the_mean_over_the_documents_of_a_label(summary: Summary, model: MetaLDA, texts: Corpus) -> None:
    theta, labels = model.transform(texts), summary.labels
    assert labels is not None
    assert texts.labels is not None
    for j, name in enumerate(labels.names):
        own = texts.labels.select([name]).matrix.toarray().ravel() > 0
        assert labels.prevalence[j] == pytest.approx(theta[own].mean(axis=0), abs=6e-4)


def test_labels_can_be_contrasted_draw_by_draw(summary: Summary, model: MetaLDA) -> None:
    labels = summary.labels
    assert labels is not None
    steps = np.frombuffer(base64.b64decode(labels.draws), np.int8).reshape(3, 5, labels.n_draws)
    weights = np.array(labels.weight)[:, :, None] + labels.draw_scale * steps
    expected = np.moveaxis(model.fitted_.weights["label"][:, :3].astype(float), 0, 2)
    assert labels.names == ("even", "odd", "third")
    for signs in ([1, -1, 0], [-1, 1, 1], [0, 0, 1]):  # the last two differ in a tag, which others lack
        own, given = (np.einsum("l,lks->ks", signs, each) for each in (weights, expected))
        assert own == pytest.approx(given, abs=0.03 + 3 * labels.draw_scale), signs
        assert np.dot(signs, labels.reference) == pytest.approx(0, abs=1e-5)
    for signs in ([1, 0, 0], [1, 0, -1], [1, 1, -1]):  # no document says how they differ
        assert abs(np.dot(signs, labels.reference)) > 1e-3
    assert labels.draw_scale < 0.1


def test_without_labels_there_are_none_and_those_of_the_corpus_have_no_effects(texts: Corpus) -> None:
    plain = LDA(3, **QUICK).fit(texts)
    assert summarize(plain).labels is None
    assert summarize(plain, texts.without_labels()).labels is None
    labels = summarize(plain, texts).labels
    assert labels is not None
    assert (labels.names, labels.effect, labels.draws) == (texts.label_names, (), "")
    assert [sum(row) for row in labels.prevalence] == pytest.approx([1, 1, 1], abs=3e-3)


def test_numbers_as_labels_do_no_harm(texts: Corpus) -> None:
    numbers = np.random.default_rng(0).normal(size=(60, 2))
    plain = texts.without_labels()
    model = DMR(3, optimize_burn_in=2, **QUICK).fit(plain, numbers)
    found = summarize(model, plain.with_labels(numbers))
    assert json.loads(json.dumps(found.to_plain(), allow_nan=False))
    assert found.documents is not None
    assert found.documents.kind_of == (-1, -1)
    assert found.documents.kinds == ()


@pytest.fixture(scope="module")
def dated() -> Corpus:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "text": [" ".join(rng.choice(WORDS[:20], 8)) for _ in range(40)],
            "year": range(1980, 2020),
            "genre": [f"g{min(int(g), 9)}" for g in rng.integers(0, 12, 40)],
        }
    )
    return Corpus.from_frame(frame, labels="genre", numbers="year")


def test_curves_over_numbers_are_those_of_the_model(dated: Corpus) -> None:
    model = MetaLDA(3, prevalence="genre + s(year)", **{**QUICK, "n_iter": 40}).fit(dated)
    found = summarize(model, dated)
    (number,) = found.numbers
    whole, by_genre = number.groups
    assert (number.name, whole.column, by_genre.column) == ("year", None, "genre")
    assert (number.points[0], number.points[-1], len(number.points)) == (1980, 2019, 30)
    table = model.prevalence_at({"year": [1980, 2019], "genre": by_genre.lines[2]})
    for k in range(3):
        rows = table[table["topic"] == k][["mean", "low", "high"]].to_numpy()
        shown = [[getattr(by_genre, name)[2][k][at] for name in ("mean", "low", "high")] for at in (0, -1)]
        np.testing.assert_allclose(shown, rows, atol=6e-4)
    assert np.array(whole.mean).shape == (1, 3, 30)
    assert (len(by_genre.lines), by_genre.n_labels) == (8, 10)
    assert all(line.startswith("g") for line in by_genre.lines)
    assert "g9" in by_genre.lines  # the most frequent
    assert by_genre.is_identified
    plain = found.to_plain()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


def test_columns_of_curves_are_not_among_the_labels(dated: Corpus) -> None:
    model = MetaLDA(3, prevalence="genre * s(year)", **{**QUICK, "n_iter": 40}).fit(dated)
    found = quietly(summarize, model, dated)
    labels = found.labels
    assert labels is not None
    assert not any("s(year)" in name for name in labels.names)
    assert len(labels.names) == 21  # genres, the slope, and the slopes of genres
    assert (found.overview.n_labels, found.overview.n_numbers) == (10, 1)
    assert labels.n_all == 21
    table = quietly(model.label_effects).set_index(["label", "topic"])
    for j, name in enumerate(labels.names):
        effect = np.array(labels.effect[j], float)
        np.testing.assert_allclose(effect, table.loc[name, "effect"], atol=0.006)
    interaction = labels.names.index("genre=g9:year")
    assert labels.prevalence[interaction] == (None, None, None)
    assert None not in labels.prevalence[labels.names.index("genre=g9")]


def test_models_without_numbers_have_no_curves_and_dmr_no_bands(summary: Summary, dated: Corpus) -> None:
    assert summary.numbers == ()
    model = DMR(2, optimize_burn_in=2, **QUICK).fit(dated)
    (number,) = summarize(model).numbers
    assert [(group.low, group.high) for group in number.groups] == [((), ())] * 2


def test_large_sections_of_curves_are_left_out(dated: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metalda.report.prevalence._MAX_CELLS", 400)
    monkeypatch.setattr("metalda.report.prevalence._FEW_CELLS", 400)
    model = DMR(2, optimize_burn_in=2, **QUICK).fit(dated)
    (number,) = summarize(model).numbers
    assert (len(number.points), len(number.groups), number.left_out) == (12, 1, 1)


def test_topics_of_labeled_models_say_whose_they_are() -> None:
    (case,) = [case for case in CASES if case.name == "LabeledLDA"]
    model = case.make().fit(corpus())
    assert tuple(topic.label for topic in summarize(model).topics) == model.topic_labels_


@pytest.mark.parametrize(
    ("documents", "n_topics"),
    [([["cat", "dog"], ["dog"]], 1), ([["cat", "dog"]], 2), ([["cat"], ["cat"]], 2), ([["cat", "dog"], []], 3)],
    ids=["one topic", "one document", "one word", "an empty document"],
)
def test_the_smallest_corpora_have_a_summary(documents: list, n_topics: int) -> None:
    small = Corpus.from_tokens(documents)
    found = summarize(LDA(n_topics, **QUICK).fit(small), small)
    assert len(found.topics) == n_topics
    assert json.loads(json.dumps(found.to_plain(), allow_nan=False))
    assert all(np.isfinite([topic.x, topic.y]).all() for topic in found.topics)


@pytest.mark.parametrize("n", [0, 2])
def test_documents_without_words_have_a_summary(model: MetaLDA, n: int) -> None:
    empty = Corpus(np.zeros(0, np.int32), np.zeros(n + 1, np.int64), tuple(WORDS))
    found = summarize(model, empty)
    assert found.documents is not None
    assert found.documents.n_all == n
    assert all(topic.documents == () and topic.coherence is None for topic in found.topics)


def test_a_matrix_without_names_has_a_summary() -> None:
    counts = corpus().counts().toarray()
    found = summarize(LDA(2, **QUICK).fit(counts), counts)
    assert found.documents is not None
    assert "x0" in found.words.names


def test_features_that_drive_a_topic_are_sure_of_it() -> None:
    (case,) = [case for case in CASES if case.name == "MetaLDA"]
    found = summarize(case.make(n_iter=60, n_draws=10).fit(corpus()))
    features = [feature for topic in found.topics for feature in topic.features]
    assert features
    assert all(feature.low > 0 or feature.high < 0 for feature in features)


def test_a_model_of_mallet_can_be_compared(model: MetaLDA, tmp_path: Path) -> None:
    path = tmp_path / "state.txt"
    header = ["#doc source pos typeindex type topic", "#alpha : 0.5 0.1", "#beta : 0.02"]
    one, other = model.vocabulary_[:2]
    path.write_text("\n".join([*header, f"0 a 0 0 {one} 0", f"0 a 1 1 {other} 1"]) + "\n")
    imported = read_mallet_state(path).model
    for first, second in ((imported, model), (model, imported)):
        comparison = summarize(first, models={"other": second}).comparison
        assert sorted(each.log_likelihood is not None for each in comparison) == [False, True]


def test_few_draws_and_an_early_end_are_said(texts: Corpus) -> None:
    model = MetaLDA(2, **QUICK).fit(texts)
    (warning,) = summarize(model).overview.effect_warnings
    assert "Effects have no intervals: 6 draws are too few" in warning
    stopped = with_result(model, n_iter=5)
    assert any(text.startswith("Training was stopped after 5 of ") for text in summarize(stopped).overview.warnings)


def test_chains_that_have_not_converged_are_said_on_the_overview(texts: Corpus) -> None:
    settled = np.random.default_rng(0).normal(size=200)
    model = LDA(2, **{**QUICK, "n_iter": 200, "burn_in": 100}).fit(texts)
    apart = [
        with_result(model, history={**model.fitted_.history, "log_likelihood": settled + seed}, seed=seed)
        for seed in (0, 9)
    ]
    assert summarize(apart[0]).overview.warnings == ()
    (warning,) = summarize(apart[0], chains=apart[1:]).overview.warnings
    assert warning.startswith("The chains disagree: R-hat of the log-likelihood is ")
    rising = with_result(model, history={**model.fitted_.history, "log_likelihood": settled + np.arange(200)})
    assert "The log-likelihood still rises, by " in summarize(rising).overview.warnings[0]


def test_the_seed_is_the_one_that_was_given(texts: Corpus) -> None:
    found = summarize(LDA(2, n_chains=2, **{**QUICK, "random_state": 41}).fit(texts))
    assert found.overview.seed == 41
    assert [chain.name for chain in found.diagnostics.chains] == ["seed 41, chain 1", "seed 41, chain 2"]
    drawn = LDA(2, **{**QUICK, "random_state": None}).fit(texts)
    assert summarize(drawn).overview.seed == drawn.seed_


def test_labels_have_kinds_and_ordered_ones_their_numbers() -> None:
    frame = pd.DataFrame(
        {
            "text": ["cat dog", "sun rain", "dog cat", "rain sun"] * 3,
            "genre": ["a", "b", "c", "1990"] * 3,
            "decade": ["1990s", "2000s", "2010s", "1980s"] * 3,
            "size": range(12),
        }
    )
    documents = Corpus.from_frame(frame, text="text", labels=["genre", "decade"], bins={"size": [4, 8]})
    for model in (MetaLDA(2, **QUICK), LDA(2, **QUICK)):  # which learns from no labels, but shows those of documents
        labels = quietly(summarize, model.fit(documents), documents).labels
        assert labels is not None
        found = {
            name: (labels.kinds[kind], rank)
            for name, kind, rank in zip(labels.names, labels.kind_of, labels.ranks, strict=True)
        }
        assert found["genre=a"] == ("genre", None)
        assert found["genre=1990"] == ("genre", None)
        assert [found[f"decade={year}s"] for year in (1980, 2010)] == [("decade", 1980.0), ("decade", 2010.0)]
        assert found["size < 4"] == ("size", 0.0)
        assert found["4 ≤ size < 8"] == ("size", 1.0)
        assert found["size ≥ 8"] == ("size", 2.0)


def test_the_tree_joins_the_most_similar_topics_first(summary: Summary, model: MetaLDA) -> None:
    assert sorted(summary.tree.order) == list(range(5))
    first, second, _ = summary.tree.merges[0]
    nearest = {topic.number: (topic.distances[0], topic.nearest[0]) for topic in summary.topics}
    closest = min(nearest, key=lambda k: nearest[k][0])
    assert {first, second} == {closest, nearest[closest][1]}
    assert abs(summary.tree.order.index(first) - summary.tree.order.index(second)) == 1
    assert len(summary.tree.merges) == 4
    assert quietly(summarize, LDA(1, **QUICK).fit(corpus())).tree.merges == ()


def test_chains_of_a_model_are_in_its_report(texts: Corpus) -> None:
    """A topic that some chains lack is said to be so, and contrasts use the draws of all chains."""
    model = MetaLDA(5, n_chains=3, **{**QUICK, "n_iter": 60}).fit(texts)
    found = summarize(model, texts)
    counts = model.topics()["chains"].tolist()
    assert found.overview.n_chains == 3
    assert [topic.chains for topic in found.topics] == counts
    assert min(counts) < 3, "every topic is in all chains, so this shows nothing"
    n_lacking = sum(n < 3 for n in counts)
    assert any(f"{n_lacking} topic" in note and "not found in all 3 chains" in note for note in found.overview.notes)
    assert len(found.diagnostics.chains) == 3
    assert found.labels is not None
    contrasts = model.label_contrasts("even", "odd")["effect"]
    weight = np.array(found.labels.weight)
    even, odd = (found.labels.names.index(name) for name in ("even", "odd"))
    in_all = np.array(counts) == min(counts)  # of topics in more chains, not all draws are in the report
    np.testing.assert_allclose((weight[even] - weight[odd])[in_all], contrasts[in_all], atol=0.011)


def test_wording_is_that_of_the_model(dated: Corpus, summary: Summary) -> None:
    model = MetaLDA(3, wording="genre", **{**QUICK, "n_iter": 40}).fit(dated)
    found = summarize(model, dated, interval=0.5)
    wording = found.wording
    assert wording is not None
    assert (wording.column, wording.n_groups) == ("genre", 10)
    assert wording.groups == model.wording_groups_
    np.testing.assert_allclose(wording.concentration, model.wording_["concentration"], rtol=0.01)
    table = model.wording_contrasts(1, wording.groups[4], top_n=12, interval=0.5)
    contrast = wording.contrasts[1][4]
    assert list(contrast.words) == table["word"].tolist()
    np.testing.assert_allclose(contrast.low, table["low"], atol=0.006)
    plain = found.to_plain()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert summary.wording is None


def test_wording_uses_the_threads_of_the_model(dated: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []

    def count_threads(function: Any, items: Any, n_jobs: int) -> list[Any]:
        used.append(n_jobs)
        return list(map(function, items))

    monkeypatch.setattr("metalda.report.wording.thread_map", count_threads)
    model = MetaLDA(3, wording="genre", **QUICK).fit(dated)
    for n_jobs in (1, 3):
        summarize_wording(model.set_params(n_jobs=n_jobs), 0.5)
    assert used == [1, 3]


def test_contrasts_of_merged_topics_are_said_to_be_approximate(texts: Corpus) -> None:
    model = MetaLDA(5, **QUICK).fit(texts)
    plain = quietly(summarize, model).labels
    merged = quietly(summarize, model.merge([1, 3])).labels
    assert plain is not None
    assert merged is not None
    assert (plain.is_approximate, merged.is_approximate) == (False, True)


def test_a_report_shows_the_largest_of_many_groups(dated: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metalda.report.wording._MAX_CONTRASTS", 9)
    wording = summarize(MetaLDA(3, wording="genre", **QUICK).fit(dated)).wording
    assert wording is not None
    assert (len(wording.groups), wording.n_groups) == (3, 10)
    assert "genre=g9" in wording.groups  # the most frequent


def test_topics_with_seed_words_have_their_names(texts: Corpus) -> None:
    seeds = {"first": [WORDS[0]], "second": [WORDS[1]]}
    found = MetaLDA(3, seeds=seeds, n_iter=6, random_state=0, verbose=False).fit(texts)
    assert [topic.label for topic in summarize(found, texts).topics] == ["first", "second", None]


def test_unreliable_intervals_are_counted_among_those_that_are_shown(
    model: MetaLDA, texts: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metalda.report.labels._MAX_CELLS", 10)  # two labels of three, of five topics
    found = quietly(summarize, model, texts)
    assert len(found.labels.names) == 2
    table = quietly(model.label_effects)
    shown = table[table["label"].isin(found.labels.names)]
    assert found.labels.n_unreliable == (shown["tail_ess"] < FEW_DRAWS).sum() > 0
    assert any("of 10 intervals" in text for text in found.overview.effect_warnings)
