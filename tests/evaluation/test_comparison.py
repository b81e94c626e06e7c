"""A comparison is its runs: each is done once, kept, and never taken for another."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from contracts import EMBEDDINGS, FEATURES, PETS, SKIES
from metalda import LDA, Corpus, MetaLDA, WordFeatures, coherence, compare
from metalda.errors import InputError, StorageError
from metalda.evaluation import label_accuracy, label_agreement, label_baseline, topic_diversity
from metalda.evaluation.comparison import ComparisonRun
from metalda.evaluation.measures import PerplexityOptions, Split
from metalda.evaluation.runs import InterruptedRuns
from metalda.models.base import TopicModel
from metalda.models.embedded import EmbeddedModel

QUICK: dict[str, Any] = {"n_components": 3, "n_iter": 12, "thin": 2, "n_draws": 3}


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.from_texts((PETS + SKIES) * 3, (["pets"] * 5 + ["sky"] * 5) * 3)


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The models that are fitted, as they are."""
    fitted: list[str] = []
    original = TopicModel.fit

    def fit(self: TopicModel, *arguments: Any, **named: Any) -> TopicModel:
        fitted.append(type(self).__name__)
        return original(self, *arguments, **named)

    monkeypatch.setattr(TopicModel, "fit", fit)
    return fitted


def kept_runs(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]


def test_the_figures_are_those_of_the_same_steps_by_hand(corpus: Corpus) -> None:
    runs = compare(corpus, "metalda,lda", seeds=[4, 7], by_run=True, draws="each", **QUICK)
    assert list(zip(runs["model"], runs["seed"], strict=True)) == [
        ("metalda", 4),
        ("lda", 4),
        ("metalda", 7),
        ("lda", 7),
    ]
    train, test = corpus.split(0.2, random_state=7)
    model = MetaLDA(random_state=7, verbose=False, **QUICK).fit(train)
    row = runs.iloc[2]
    assert row["perplexity"] == model.perplexity(test, draws="each")
    assert row["perplexity"] != model.perplexity(test.without_labels(), draws="each")
    assert row["coherence"] == coherence(model, train, window=0, smoothing=0).mean
    assert row["diversity"] == topic_diversity(model)
    theta, new = (model.transform(part.without_labels()) for part in (train, test))
    assert (row["label_measure"], row["label_score"]) == label_accuracy(theta, train.labels, new, test.labels)
    assert (row["label_measure"], row["label_baseline"]) == label_baseline(train, test)
    assert row["topics"] == 3
    assert 0 < row["seconds_per_iteration"] < 1


def test_labels_are_predicted_from_proportions_that_never_saw_them(corpus: Corpus, monkeypatch: Any) -> None:
    seen = []
    original = TopicModel.transform

    def transform(self: TopicModel, X: Corpus, y: Any = None) -> Any:
        seen.append(X.labels is None and y is None)
        return original(self, X, y)

    monkeypatch.setattr(TopicModel, "transform", transform)
    compare(corpus, "metalda", seeds=1, **QUICK)
    assert seen == [True, True]


def test_the_table_has_means_and_standard_deviations(corpus: Corpus) -> None:
    arguments: Any = {"test": corpus[:6], "seeds": 3, **QUICK}
    runs = compare(corpus, ["lda", "lda:doc_prior=0.5"], by_run=True, **arguments)
    table = compare(corpus, ["lda", "lda:doc_prior=0.5"], **arguments)
    assert list(table["model"]) == ["lda", "lda:doc_prior=0.5"]
    assert list(table["runs"]) == [3, 3]
    for name, row in table.set_index("model").iterrows():
        perplexities = runs.loc[runs["model"] == name, "perplexity"]
        assert len(set(perplexities)) == 3
        assert row["perplexity"] == pytest.approx(np.mean(perplexities))
        assert row["perplexity_sd"] == pytest.approx(np.std(perplexities, ddof=1))


def test_one_seed_has_no_deviation_and_no_labels_no_score(corpus: Corpus) -> None:
    (row,) = compare(corpus.without_labels(), "lda", seeds=1, **QUICK).to_dict("records")
    assert np.isfinite(row["perplexity"])
    assert np.isnan([row["perplexity_sd"], row["label_score"], row["label_score_sd"]]).all()
    assert row["label_measure"] is None


def test_numbers_and_thousands_of_labels_are_not_told_from_topics(corpus: Corpus, monkeypatch: Any) -> None:
    numbers = corpus.with_labels(np.linspace(-1, 1, len(corpus))[:, None])
    assert compare(numbers, "lda", n_components=2, n_iter=4, seeds=1)["label_score"].isna().all()
    assert compare(corpus, "lda", n_components=2, n_iter=4, seeds=1)["label_score"].notna().all()
    monkeypatch.setattr("metalda.evaluation.measures._MAX_LABELS", 1)
    assert compare(corpus, "lda", n_components=2, n_iter=4, seeds=1)["label_score"].isna().all()


def test_hidden_labels_are_compared_with_topics_and_no_model_sees_them(corpus: Corpus) -> None:
    truth = corpus.labels
    given = compare(corpus.without_labels(), "metalda,dmm", hidden_labels=truth, seeds=2, by_run=True, **QUICK)
    train = corpus.split(0.2, random_state=1)[0]
    model = MetaLDA(random_state=1, verbose=False, **QUICK).fit(train.without_labels())
    row = given.iloc[2]
    assert (row["nmi"], row["purity"]) == label_agreement(model.doc_topics_, train.labels)
    assert np.isnan(row["label_score"])
    frame = pd.DataFrame({"text": (PETS + SKIES) * 3, "kind": (["pets"] * 5 + ["sky"] * 5) * 3, "half": [0, 1] * 15})
    one = Corpus.from_frame(frame, labels="kind")
    columns = ["perplexity", "coherence", "nmi", "purity"]
    by_name = compare(one, "metalda,dmm", hidden_labels="kind", seeds=2, by_run=True, **QUICK)
    assert by_name[columns].equals(given[columns])
    two = Corpus.from_frame(frame, labels=["kind", "half"])
    by_name = compare(two, "metalda", hidden_labels="kind", test=two[:6], seeds=1, by_run=True, **QUICK)
    halves = corpus.with_labels(frame["half"].map("half={}".format))
    expected = compare(halves, "metalda", hidden_labels=truth, test=halves[:6], seeds=1, by_run=True, **QUICK)
    assert by_name[[*columns, "label_score"]].equals(expected[[*columns, "label_score"]])
    assert compare(corpus, "lda", seeds=1, **QUICK)["nmi"].isna().all()


def test_finished_runs_are_not_repeated(corpus: Corpus, fits: list[str], tmp_path: Path) -> None:
    arguments: Any = {"folder": tmp_path / "c", **QUICK}
    first = compare(corpus, "metalda,lda", seeds=2, **arguments)
    assert fits == ["MetaLDA", "LDA"] * 2
    fits.clear()
    assert compare(corpus, "metalda,lda", seeds=2, **arguments).equals(first)
    assert fits == []
    compare(corpus, "lda,metalda", seeds=3, **arguments)
    assert fits == ["LDA", "MetaLDA"]  # of the new seed alone
    fits.clear()
    compare(corpus, "metalda:mu=1,doc_prior=labels", seeds=1, **arguments)
    assert fits == []  # the same model by another name


@pytest.mark.parametrize(
    "change",
    [
        {"models": "lda:word_prior=0.02"},
        {"n_iter": 13},
        {"n_components": 2},
        {"seeds": [5]},
        {"draws": "last"},
        {"unseen": "features"},
        {"test_size": 0.3},
        {"n_jobs": 2},
        {"hidden_labels": list("ab") * 15},
    ],
    ids=str,
)
def test_other_settings_are_other_runs(corpus: Corpus, fits: list[str], tmp_path: Path, change: dict) -> None:
    arguments: Any = {"models": "lda", "seeds": [0], "folder": tmp_path / "c", **QUICK}
    compare(corpus, **arguments)
    compare(corpus, **{**arguments, **change})
    assert fits == ["LDA", "LDA"]
    assert len(kept_runs(tmp_path / "c")) == 2


def test_other_documents_labels_words_or_features_are_other_runs(corpus: Corpus) -> None:
    def identity(train: Corpus = corpus, test: Corpus = corpus, features: Any = FEATURES) -> str:
        model = MetaLDA(random_state=0, word_features=features)
        return json.dumps(asdict(ComparisonRun.of(model, Split.of(train, test), PerplexityOptions())))

    swapped = Corpus.from_texts((PETS[::-1] + SKIES) * 3, corpus.labels)
    renamed = Corpus(corpus.words, corpus.offsets, (*corpus.vocabulary[:-1], "gale"), corpus.labels)
    relabeled = corpus.with_labels(["sky"] + ["pets"] * 29)
    changed = [swapped, renamed, relabeled, corpus.without_labels(), corpus[:-1]]
    other_features = WordFeatures.from_mapping({"cat": "animal"})
    identities = [identity(), *(identity(train=c) for c in changed), *(identity(test=c) for c in changed)]
    identities += [identity(features=other_features), identity(features=None)]
    assert len(set(identities)) == len(identities)
    assert identity() == identity()


def test_the_table_is_saved_and_the_folder_holds_nothing_else(corpus: Corpus, tmp_path: Path) -> None:
    table = compare(corpus, "metalda,lda", seeds=2, folder=tmp_path / "c", **QUICK)
    names = sorted(path.name for path in (tmp_path / "c").iterdir())
    assert names == ["comparison.csv", "comparison.json", "runs.jsonl"]
    assert len(kept_runs(tmp_path / "c")) == 4
    content = json.loads((tmp_path / "c" / "comparison.json").read_text())
    assert [row["perplexity"] for row in content["document"]["models"]] == list(table["perplexity"])
    assert len(content["document"]["runs"]) == 4
    header, *rows = (tmp_path / "c" / "comparison.csv").read_text().splitlines()
    assert header.split(",") == list(table.columns)
    assert [row.split(",")[0] for row in rows] == ["metalda", "lda"]


def test_a_folder_with_other_files_is_left_alone(corpus: Corpus, fits: list[str], tmp_path: Path) -> None:
    (tmp_path / "comparison.csv").write_text("precious")
    with pytest.raises(StorageError, match="choose a new or empty folder"):
        compare(corpus, "lda", folder=tmp_path, **QUICK)
    assert fits == []
    assert [path.name for path in tmp_path.iterdir()] == ["comparison.csv"]


def test_a_run_whose_line_was_cut_short_is_repeated(
    corpus: Corpus, fits: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = compare(corpus, "lda,metalda", seeds=1, folder=tmp_path / "c", **QUICK)
    file = tmp_path / "c" / "runs.jsonl"
    file.write_text(file.read_text()[:-20])
    again = compare(corpus, "lda,metalda", seeds=1, folder=tmp_path / "c", **QUICK)
    assert fits == ["LDA", "MetaLDA", "MetaLDA"]
    assert again["perplexity"].equals(first["perplexity"])
    assert "runs.jsonl line 2: damaged" in caplog.text


def test_ctrl_c_keeps_finished_runs_and_the_one_under_way(
    corpus: Corpus, fits: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any, interrupt: Any
) -> None:
    models, arguments = "metalda,lda,lda:doc_prior=0.3", {"seeds": 1, **QUICK}
    whole = compare(corpus, models, **arguments)
    fits.clear()
    interrupt(QUICK["n_iter"] + 8)  # the eighth of the second fit
    with pytest.raises(InterruptedRuns, match=r"1 of 3 runs are finished and saved in .*; repeat it to resume"):
        compare(corpus, models, folder=tmp_path / "c", **arguments)
    assert fits == ["MetaLDA", "LDA"]
    said = [record for record in caplog.records if record.name.startswith("metalda")]
    assert said == []  # nothing of a model that keeps what it learnt
    assert len(kept_runs(tmp_path / "c")) == 1
    assert len(list((tmp_path / "c").glob("checkpoint-*"))) == 1
    assert "lda" not in (tmp_path / "c" / "comparison.csv").read_text().replace("metalda", "")
    fits.clear()
    swept: list[int] = []
    from metalda.training import loop

    advance = loop._advance
    monkeypatch.setattr(loop, "_advance", lambda *a: swept.append(1) or advance(*a))
    resumed = compare(corpus, models, folder=tmp_path / "c", **arguments)
    assert fits == ["LDA", "LDA"]
    assert len(swept) == (12 - 8) + 12  # the one under way goes on after its eighth sweep
    columns = ["model", "perplexity", "coherence", "diversity", "label_score"]
    assert resumed[columns].equals(whole[columns])
    assert list((tmp_path / "c").glob("checkpoint-*")) == []


def test_ctrl_c_without_a_folder_says_that_all_is_lost(corpus: Corpus, interrupt: Callable[[int], None]) -> None:
    interrupt(QUICK["n_iter"] + 1)
    with pytest.raises(InterruptedRuns, match="1 of 2 runs are finished and lost; give a folder"):
        compare(corpus, "lda", seeds=2, **QUICK)


def test_a_model_that_cannot_run_is_told_before_any_is_fitted(corpus: Corpus, fits: list[str]) -> None:
    @dataclass(eq=False, repr=False)
    class Vectors(LDA, EmbeddedModel):
        def _sampler(self, corpus: Corpus) -> Any:
            self._vectors_to_learn_from(corpus.vocabulary)
            return super()._sampler(corpus)

    with pytest.raises(InputError, match=r"^needy: Vectors needs word vectors: .*--embeddings"):
        compare(corpus, {"lda": "lda", "needy": Vectors(3)}, **QUICK)
    with pytest.raises(InputError, match=r"metalda: .*no word of the vocabulary"):
        compare(corpus, "lda,metalda", word_features={"Katze": "Tier"}, **QUICK)
    assert fits == []
    compare(corpus, {"needy": Vectors(3, embeddings=EMBEDDINGS, n_iter=3)}, seeds=1)
    assert fits == ["Vectors"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": 0}, "seeds=0"),
        ({"seeds": [1, 1]}, "different whole numbers"),
        ({"seeds": ["a"]}, "different whole numbers"),
        ({"seeds": [-1]}, "from 0 to"),
        ({"draws": "some"}, "draws must be one of mean, last, each"),
        ({"unseen": "guess"}, "unseen must be one of"),
        ({"test_size": 1.5}, "test_size=1.5"),
        ({"hidden_labels": "section"}, "no label column 'section' to hide; label columns of the corpus are: none"),
        ({"hidden_labels": ["a"]}, "labels for 1 documents, but there are 30"),
        ({"test": Corpus.from_texts(["zebra quagga"])}, "no words to score"),
        ({"test": Corpus.from_texts(["cat", "dog"])}, "no words to score"),
    ],
)
def test_settings_that_make_no_sense_are_refused(corpus: Corpus, fits: list[str], change: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(corpus, "lda", **{**QUICK, **change})
    assert fits == []


def test_the_models_given_are_not_changed(corpus: Corpus) -> None:
    own = LDA(3, n_iter=3, random_state=11)
    compare(corpus, [own], seeds=1)
    assert own.random_state == 11
    assert not hasattr(own, "components_")
