"""Typical documents, correlations of topics, and documents as a frame."""

import json

import numpy as np
import pandas as pd
import pytest

import metalda
from contracts import CASES, QUICK, Case, corpus, quietly
from metalda import LDA, Corpus, MetaLDA, write_network
from metalda.errors import InputError

PETS, SKY = ["cat", "dog", "cow", "pig"], ["rain", "sun", "fog", "hail"]


def rows(n: int = 40) -> list[dict]:
    rng = np.random.default_rng(0)
    found = []
    for i in range(n):
        words = [str(rng.choice(PETS if (i % 2 == 0) == (rng.random() < 0.9) else SKY)).upper() for _ in range(15)]
        found.append(
            {
                "id": f"n{i}",
                "text": f"The {', the '.join(words)}!\n№{i}",
                "party": "left" if i % 3 else "right",
                "tags": ["a", "b"][: i % 3],
                "year": 1990 + i % 7,
            }
        )
    return found


READ = {"labels": ["party", "tags"], "numbers": ["year"], "min_df": 1, "max_df": 1.0}


@pytest.fixture(scope="module")
def documents() -> Corpus:
    return Corpus.from_frame(pd.DataFrame(rows()), **READ)


@pytest.fixture(scope="module")
def model(documents) -> MetaLDA:
    settings = {**QUICK, "n_iter": 60, "n_draws": 20, "thin": 1}
    return MetaLDA(3, seeds={"animals": PETS[:2]}, **settings).fit(documents)


@pytest.mark.parametrize("source", ["file", "frame", "prepared", "texts"])
def test_typical_documents_are_quoted_as_written(source, model, documents, tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    given = {
        "frame": lambda: documents,
        "file": lambda: Corpus.read(path, **READ),
        "prepared": lambda: Corpus.prepare(path, tmp_path / "corpus", **READ),
        "texts": lambda: [row["text"] for row in rows()],
    }[source]()
    table = quietly(model.typical_documents, "animals", n=3, corpus=given)
    theta = quietly(model.transform, given)[:, 0]
    assert table["document"].tolist() == np.argsort(-theta, kind="stable")[:3].tolist()
    np.testing.assert_array_equal(table["proportion"], np.sort(theta)[::-1][:3])
    assert table["text"].tolist() == [rows()[d]["text"] for d in table["document"]]
    assert table["topic"].tolist() == [0, 0, 0]
    assert table["name"].tolist() == ["animals"] * 3
    if source != "texts":
        assert table["id"].tolist() == [f"n{d}" for d in table["document"]]
        assert all("year" not in labels for labels in table["labels"])
        assert f"party={rows()[table['document'][0]]['party']}" in table["labels"][0]


def test_all_topics_and_labels_of_documents(model, documents):
    table = model.typical_documents(n=2, corpus=documents, label="right")
    assert table["topic"].tolist() == [0, 0, 1, 1, 2, 2]
    assert set(table["document"] % 3) == {0}
    both = model.typical_documents(1, n=99, corpus=documents, label=["party=left", "b"])
    assert set(both["document"]) == {d for d in range(40) if d % 3 == 2}
    alone = model.typical_documents(1, n=2)
    assert alone.columns.tolist() == ["topic", "name", "document", "proportion"]
    assert alone["document"].tolist() == np.argsort(-model.doc_topics_[:, 1], kind="stable")[:2].tolist()
    words = model.typical_documents(1, n=1, corpus=documents.with_texts(None))
    assert words["text"][0] == " ".join(documents.document(words["document"][0]))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"topic": 9}, "no topic 9; topics are numbered 0 to 2"),
        ({"topic": "x"}, "no topic is named 'x'; names are: 'animals'"),
        ({"n": 0}, "n must be at least 1, not 0"),
        ({"label": "lefft"}, "no label 'lefft'; did you mean"),
        ({"label": "left", "corpus": None}, "label= chooses among the documents of a corpus: give corpus="),
    ],
)
def test_wrong_questions_are_one_line(model, documents, asked, message):
    with pytest.raises(InputError, match=message) as error:
        model.typical_documents(**{"corpus": documents, **asked})
    assert "\n" not in str(error.value)


def test_correlations_are_those_of_the_proportions_of_each_draw(model, documents):
    table = model.topic_correlations(documents)
    assert table.columns.tolist()[:4] == ["topic", "name", "other_topic", "other_name"]
    each = []
    for draw in model.draws_:
        phi = model._mean_phi((draw,), model.vocabulary_, model.fitted_.word_prior)
        encoded = model._encode(documents, ())
        each.append(np.corrcoef(model._infer((draw,), encoded.select(), encoded.labels, phi).T))
    assert len(each) == 20
    for row in table.to_dict("records"):
        values = np.array(each)[:, row["topic"], row["other_topic"]]
        assert row["correlation"] == pytest.approx(values.mean(), abs=1e-5)
        low, high = np.quantile(values, [0.1, 0.9], method="weibull")
        assert (row["low"], row["high"]) == pytest.approx((low, high), abs=1e-5)
    assert table["correlation"].is_monotonic_decreasing
    without = model.topic_correlations()
    expected = np.corrcoef(model.doc_topics_.T.astype(float))
    for row in without.to_dict("records"):
        assert row["correlation"] == pytest.approx(expected[row["topic"], row["other_topic"]], abs=1e-6)
    assert without["low"].isna().all()


def test_few_draws_have_no_intervals_and_that_is_said(documents):
    model = LDA(2, **{**QUICK, "n_draws": 3}).fit(documents)
    with pytest.warns(UserWarning, match=r"an interval of 0.8 needs 9 draws or more.*n_draws, --n-draws"):
        table = model.topic_correlations(documents)
    assert table[["low", "high"]].isna().all(axis=None)
    assert table["correlation"].notna().all()


def test_chains_are_pooled_where_they_have_both_topics(documents):
    model = LDA(3, n_chains=2, **{**QUICK, "n_iter": 60, "n_draws": 10, "thin": 1}).fit(documents)
    drawn = list(model._drawn_proportions(documents))
    assert len(drawn) == 20
    lacks = np.flatnonzero(model.fitted_.chain_counts == 1)
    assert np.isnan(drawn[-1][:, lacks]).all()
    assert not np.isnan(drawn[0]).any()
    shared = np.flatnonzero(model.fitted_.chain_counts == 2)
    assert len(shared)
    own = model.fitted_.partners[1, shared]
    np.testing.assert_allclose(drawn[-1][:, shared], list(model.chains_[1]._proportions_by_draw(documents))[-1][:, own])
    table = quietly(model.topic_correlations, documents, interval=0.5)
    assert table["correlation"].notna().all()


def test_a_frame_has_metadata_proportions_and_the_top_topic(model, documents):
    frame = model.to_frame(documents, text=True)
    assert frame.columns.tolist() == ["id", "party", "tags", "year", "text", "top_topic", "animals", "topic1", "topic2"]
    for given, row in zip(rows(), frame.to_dict("records"), strict=True):
        assert {name: row[name] for name in given} == given
    theta = model.transform(documents)
    np.testing.assert_array_equal(frame[["animals", "topic1", "topic2"]].to_numpy(), theta)
    assert frame["top_topic"].tolist() == [["animals", "topic1", "topic2"][k] for k in theta.argmax(axis=1)]
    assert model.to_frame().columns.tolist() == ["document", "top_topic", "animals", "topic1", "topic2"]
    with pytest.raises(InputError, match="the corpus has no texts"):
        model.to_frame(documents.with_texts(None), text=True)
    with pytest.raises(InputError, match="text=True needs the documents"):
        model.to_frame(text=True)


def test_columns_with_the_names_of_others_are_kept():
    frame = pd.DataFrame({"text": ["cat dog", "rain sun"] * 5, "topic0": list("ab") * 5, "top_topic": list("xy") * 5})
    given = Corpus.from_frame(frame, labels=["topic0", "top_topic"])
    found = LDA(2, **QUICK).fit(given).to_frame(given)
    assert found.columns.tolist() == ["document", "top_topic_2", "topic0_2", "top_topic", "topic0", "topic1"]
    assert found["topic0_2"].tolist() == list("ab") * 5


def test_bins_keep_their_names_and_missing_labels_are_none():
    frame = pd.DataFrame({"text": ["cat dog", "rain sun"] * 5, "year": range(10), "kind": ["x", None] * 5})
    given = Corpus.from_frame(frame, labels="kind", bins={"year": [5]})
    found = LDA(2, **QUICK).fit(given).to_frame(given)
    assert found["year"].tolist() == ["year < 5"] * 5 + ["year ≥ 5"] * 5
    assert found["kind"].fillna("").tolist() == ["x", ""] * 5


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_model_has_the_tables_also_after_loading(case: Case, tmp_path):
    model = quietly(case.make().fit, corpus())
    model.save(tmp_path / "model")
    loaded = metalda.load(tmp_path / "model")
    for own in (model, loaded):
        assert len(quietly(own.typical_documents, n=1, corpus=corpus())) == own.fitted_.n_topics
        assert len(quietly(own.to_frame, corpus())) == len(corpus())
        pairs = quietly(own.topic_correlations, corpus())
        assert len(pairs) == own.fitted_.n_topics * (own.fitted_.n_topics - 1) // 2
        assert len(own.words_frame(2)) == 2 * own.fitted_.n_topics
    pd.testing.assert_frame_equal(
        quietly(model.topic_correlations, corpus()), quietly(loaded.topic_correlations, corpus())
    )


def test_curated_topics_are_those_of_all_tables(model, documents, tmp_path):
    model.save(tmp_path / "model")
    curated = metalda.load(tmp_path / "model")
    before = curated.to_frame(documents)
    drawn = list(curated._drawn_proportions(documents))
    curated.merge([0, 2], "both")
    frame = curated.to_frame(documents)
    assert frame.columns.tolist()[-2:] == ["both", "topic1"]
    np.testing.assert_allclose(frame["both"], before["animals"] + before["topic2"], atol=1e-6)
    assert set(frame["top_topic"]) <= {"both", "topic1"}
    merged = list(curated._drawn_proportions(documents))
    np.testing.assert_allclose(merged[3][:, 0], drawn[3][:, [0, 2]].sum(axis=1))
    (pair,) = curated.topic_correlations(documents).to_dict("records")
    assert (pair["name"], pair["other_topic"]) == ("both", 1)
    assert pair["correlation"] == pytest.approx(-1, abs=1e-4)
    assert set(curated.words_frame(2)["name"]) == {"both", ""}
    assert curated.typical_documents("both", n=1, corpus=documents)["name"].tolist() == ["both"]
    curated.restore().hide([0])
    assert curated.typical_documents(n=1, corpus=documents)["topic"].tolist() == [1, 2]
    assert curated.to_frame(documents).columns.tolist()[-2:] == ["topic1", "topic2"]
    with pytest.raises(InputError, match=r"topic 0 \('animals'\) is hidden"):
        curated.typical_documents(0, corpus=documents)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda m, d: m.typical_documents(corpus=d, label=3), "label must be a label or a list of labels, not 3"),
        (lambda m, d: m.typical_documents(corpus=d, label=[]), r"label must be a label or a list of labels, not \[\]"),
        (lambda m, d: m.words_frame("x"), "top_n must be a whole number of at least 1, not 'x'"),
        (lambda m, d: m.topic_words(0, 0), "top_n must be at least 1, not 0"),
        (lambda m, d: m.similar_topics("x"), "min_similarity must lie between 0 and 1, not 'x'"),
        (lambda m, d: m.topic_correlations(interval="x"), "interval must lie between 0 and 1, not 'x'"),
        (lambda m, d: write_network(m, "x", min_correlation="x"), "min_correlation must lie between 0 and 1, not 'x'"),
        (lambda m, d: d.with_texts(5), "texts must be a list with a text per document, not 5"),
    ],
)
def test_arguments_of_a_wrong_kind_are_one_line(model, documents, act, message):
    with pytest.raises(InputError, match=message) as error:
        act(model, documents)
    assert "\n" not in str(error.value)


def test_topics_may_be_named_like_other_columns():
    frame = pd.DataFrame({"text": ["cat dog", "rain sun"] * 5, "party": list("ab") * 5, "text_2": list("xy") * 5})
    given = Corpus.from_frame(frame, labels=["party", "text_2"], keep_text=True)
    model = LDA(4, n_iter=5, random_state=0, verbose=False).fit(given)
    model.rename({0: "document", 1: "text", 2: "top_topic", 3: "party"})
    found = model.to_frame(given, text=True)
    topics = ["document_2", "text_2", "top_topic_2", "party"]
    assert found.columns.tolist() == ["document", "party_2", "text_2_2", "text", "top_topic", *topics]
    assert found["document"].tolist() == list(range(10))
    assert set(found["top_topic"]) <= {"document", "text", "top_topic", "party"}
    np.testing.assert_array_equal(found[topics], model.transform(given))
