"""A background topic is told from topics with a theme, whatever their size, and is named where topics are shown."""

import json
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from metalda import DMM, LDA, Corpus, MetaLDA, coherence, compare, plot_effects
from metalda.cli.app import app
from metalda.errors import HintWarning
from metalda.evaluation.measures import topic_coherence
from metalda.report import summarize

N_THEMES, WORDS_PER_THEME, N_RARE = 4, 40, 3000


def simulate(n_documents: int = 150) -> Corpus:
    """Themes with words of their own; a third of the tokens are rare words without a theme."""
    rng = np.random.default_rng(0)
    documents, labels = [], []
    for d in range(n_documents):
        theme = d % N_THEMES
        themed = rng.zipf(1.4, 40) % WORDS_PER_THEME
        documents.append([f"theme{theme}w{v}" for v in themed] + [f"rare{v}" for v in rng.integers(N_RARE, size=20)])
        labels.append(f"label{theme}")
    return Corpus.from_tokens(documents, labels)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return simulate()


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> MetaLDA:
    """A model with one background topic, and its hint."""
    said = r"^topic \d: no theme, .* with 3\d\.\d% of the tokens.*min_df.*word_prior=0\.01"
    with pytest.warns(HintWarning, match=said):
        return MetaLDA(N_THEMES + 1, n_iter=80, random_state=2, verbose=False).fit(corpus)


def test_the_topic_of_rare_words_is_the_background(model: MetaLDA) -> None:
    rare = np.array([word.startswith("rare") for word in model.vocabulary_])
    (topic,) = np.flatnonzero(model.fitted_.is_background)
    assert model.components_[topic, rare].sum() > 0.9
    table = model.topics(3)
    assert list(table.columns) == ["topic", "share", "background", "words"]
    assert table.loc[table["background"], "topic"].tolist() == [topic]


def test_a_merged_topic_is_judged_by_all_its_tokens(model: MetaLDA) -> None:
    (topic,) = np.flatnonzero(model.fitted_.is_background)
    first, second, *others = (k for k in range(N_THEMES + 1) if k != topic)
    merged = copy(model).merge([first, second]).hide(others[:1])
    assert merged.topics().loc[merged.fitted_.is_background, "topic"].tolist() == [topic]
    assert not copy(model).merge([topic, first, second, *others]).fitted_.is_background.any()


def test_themes_are_no_background_whatever_their_number_and_prior(corpus: Corpus) -> None:
    """Also where rare words make up most of the mass of small topics, as smoothing does with a fixed prior."""
    kept = np.array([word.startswith("theme") for word in corpus.vocabulary])
    themes = Corpus.from_tokens([[word for word in document if word.startswith("theme")] for document in corpus])
    assert len(themes.vocabulary) == kept.sum()
    for fitted in (
        LDA(50, n_iter=20, random_state=0, verbose=False).fit(corpus),
        DMM(4, n_iter=20, random_state=0, verbose=False).fit(corpus),
        LDA(1, n_iter=3, random_state=0, verbose=False).fit(corpus),
        MetaLDA(2, n_iter=20, random_state=0, verbose=False).fit(themes),
        MetaLDA(30, n_iter=20, random_state=0, verbose=False).fit(themes),
    ):
        assert not fitted.fitted_.is_background.any(), type(fitted)


def test_tokens_dealt_at_random_are_no_background(corpus: Corpus) -> None:
    """Without training every topic has about as many different words as tokens drawn at random."""
    for seed in range(5):
        untrained = LDA(10, n_iter=1, burn_in=0, doc_prior=1e6, word_prior=1e6, random_state=seed, verbose=False)
        assert not untrained.fit(corpus).fitted_.is_background.any()


def test_coherence_leaves_the_background_out(model: MetaLDA, corpus: Corpus) -> None:
    (topic,) = np.flatnonzero(model.fitted_.is_background)
    found = coherence(model, corpus, window=0, smoothing=0)
    assert found.background == (topic,)
    assert found.mean == pytest.approx(np.delete(found.scores, topic).mean())
    assert found.best(2) == pytest.approx(np.sort(np.delete(found.scores, topic))[-2:].mean())
    assert "1 background topics left out" in repr(found)
    assert found.to_frame()["background"].to_numpy().nonzero()[0].tolist() == [topic]
    by_topic = topic_coherence(model, corpus)
    assert by_topic is not None
    assert np.flatnonzero(np.isnan(by_topic)).tolist() == [topic]
    as_words = coherence(model.top_words(), corpus, window=0, smoothing=0)
    assert as_words.background == ()
    assert as_words.mean == pytest.approx(found.scores.mean())


@pytest.mark.filterwarnings("ignore::metalda.errors.HintWarning")
def test_compare_reports_the_share_of_the_background(corpus: Corpus) -> None:
    table = compare(corpus, "metalda,lda", seeds=[1], n_components=5, n_iter=100).set_index("model")
    assert table.loc["metalda", "background"] == pytest.approx(0.33, abs=0.05)
    assert table.loc["lda", "background"] < 0.2, "its fixed prior leaves no room for rare words"


def test_the_background_is_named_and_last_in_tables_plots_and_report(
    model: MetaLDA, corpus: Corpus, tmp_path: Path
) -> None:
    def run(*arguments: object) -> Any:
        return CliRunner().invoke(app, list(map(str, arguments)), prog_name="metalda")

    (topic,) = np.flatnonzero(model.fitted_.is_background)
    model.save(tmp_path / "model")
    lines = run("topics", tmp_path / "model").stdout.splitlines()
    assert lines[-1].split()[0] == str(topic)
    assert lines[-1].endswith("(background: rare words without a theme)")
    assert "rare" not in "".join(lines[:-1])
    records = json.loads(run("topics", tmp_path / "model", "--format", "json").stdout)
    assert [record["background"] for record in records] == model.fitted_.is_background.tolist()
    effects = run("effects", tmp_path / "model").stdout
    assert "(background: " in effects or f"topic{topic}" not in effects
    names = [text.get_text() for text in plot_effects(model, "label0", style="forest").get_yticklabels()]
    assert f"topic{topic}: background" in names
    summary = summarize(model, corpus)
    assert [each.background for each in summary.topics] == model.fitted_.is_background.tolist()
    assert summary.topics[topic].coherence is None
    assert any("1 topic has no theme" in note and "word_prior at 0.01" in note for note in summary.overview.notes)
    assert "(background: rare words without a theme)" in model._repr_html_inner()
    reference = tmp_path / "reference.txt"
    reference.write_text("\n".join(" ".join(document) for document in corpus))
    scored = run("coherence", tmp_path / "model", "--reference", reference).stdout
    assert "(background: rare words without a theme)" in scored
