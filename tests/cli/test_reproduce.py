"""``metalda reproduce``: tables from runs that are kept, on a very small Web Snippets."""

import csv
import io
import json
from pathlib import Path

import pytest

from cli.helpers import Run, error_line
from metalda.experiments.training import TrainingRun
from metalda.models.base import TopicModel
from small_ws import write_small_ws


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_small_ws(tmp_path / "data")


@pytest.fixture
def quick(data: Path, tmp_path: Path) -> tuple[object, ...]:
    return ("--data", data, "-o", tmp_path / "out", "-k", 3, "--iterations", 8, "--seeds", 2)


def cells(folder: Path, name: str) -> list[dict]:
    return json.loads((folder / f"{name}.json").read_text())["document"]["cells"]


def kept_runs(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "runs" / "ws.jsonl").read_text().splitlines()]


def test_a_table_is_printed_and_written_with_a_picture(run: Run, quick: tuple[object, ...], tmp_path: Path) -> None:
    result = run("reproduce", "variants", *quick)
    assert (result.exit_code, result.stderr) == (0, "")
    out = tmp_path / "out"
    assert result.stdout.strip() == (out / "variants.md").read_text().strip()
    assert "| MetaLDA-def-wf | " in result.stdout
    assert "<svg" in (out / "variants.svg").read_text(encoding="utf-8")
    assert [path.name for path in (out / "runs").iterdir()] == ["ws.jsonl"]
    assert len(kept_runs(out)) == 7 * 2
    assert {cell["runs"] for cell in cells(out, "variants")} == {2}
    assert run("reproduce", "variants", *quick, "--quiet").output == ""
    rows = list(csv.DictReader(io.StringIO(run("reproduce", "variants", *quick, "--format", "csv").stdout)))
    assert [row["model"] for row in rows] == [cell["model"] for cell in cells(out, "variants")]
    assert [float(row["mean"]) for row in rows] == pytest.approx([c["mean"] for c in cells(out, "variants")], rel=1e-5)
    paper = [None if cell["paper"] is None else cell["paper"]["mean"] for cell in cells(out, "variants")]
    assert [float(row["paper"]) if row["paper"] else None for row in rows] == paper


def test_runs_are_shared_and_never_repeated(
    run: Run, quick: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run("reproduce", "perplexity", *quick, "--models", "LDA,PLLDA,LLDA")
    assert first.exit_code == 0, first.output
    assert len(kept_runs(tmp_path / "out")) == 2 * (1 + 4 + 1)
    monkeypatch.setattr(TopicModel, "fit", None)
    again = run("reproduce", "perplexity", *quick, "--models", "LDA,PLLDA,LLDA")
    assert again.stdout == first.stdout
    assert "labels of the test documents hidden" in again.stdout


def test_two_processes_give_what_one_gives(run: Run, quick: tuple[object, ...], tmp_path: Path) -> None:
    arguments = ("reproduce", "perplexity", *quick, "--models", "LDA,MetaLDA", "--format", "json", "--no-plot")
    one = run(*arguments)
    two = run(*arguments, "-o", tmp_path / "two", "--jobs", 2)
    assert (two.exit_code, two.stderr) == (0, "")
    assert json.loads(one.stdout) == json.loads(two.stdout)


def test_figures_are_those_of_the_library(run: Run, quick: tuple[object, ...], data: Path, tmp_path: Path) -> None:
    from metalda import MetaLDA, WordFeatures
    from metalda.datasets import load_ws

    run("reproduce", "perplexity", *quick, "--models", "MetaLDA", "--no-plot")
    train, test = load_ws(data)
    features = WordFeatures.read(data / "WS" / "binary_embeddings.txt")
    paper = {"weight_prior": "gamma", "n_iter": 8, "random_state": 1, "verbose": False}
    model = MetaLDA(3, word_features=features, **paper).fit(train)
    (kept,) = [run["result"] for run in kept_runs(tmp_path / "out") if run["run"]["seed"] == 1]
    assert kept["perplexity"]["last"] == model.perplexity(test, draws="last")
    assert kept["labels_hidden"]["mean"] == model.perplexity(test.without_labels())


def test_unseen_words_are_predicted_from_smaller_and_smaller_parts(run: Run, quick: tuple[object, ...]) -> None:
    result = run("reproduce", "unseen", *quick, "-d", "ws", "--models", "LDA,MetaLDA")
    assert result.exit_code == 0, result.output
    assert "| ws, 3 topics, trained on | 20%, " in result.stdout


def test_speed_is_that_of_every_model(run: Run, quick: tuple[object, ...], tmp_path: Path) -> None:
    result = run("reproduce", "speed", *quick, "-d", "ws", "--models", "LDA,LF-LDA,LLDA")
    assert result.exit_code == 0, result.output
    assert [cell["model"] for cell in cells(tmp_path / "out", "speed")] == ["LDA", "LLDA", "LF-LDA"]


def test_coherence_is_that_of_a_hundred_topics_in_the_reference(
    run: Run, quick: tuple[object, ...], data: Path, tmp_path: Path
) -> None:
    from metalda import coherence

    result = run("reproduce", "coherence", *quick, "-d", "ws", "--models", "LDA", "--seeds", 1, "-k", 100)
    assert result.exit_code == 0, result.output
    (cell,) = cells(tmp_path / "out", "coherence")
    (trained,) = [run["result"] for run in kept_runs(tmp_path / "out") if run["kind"] == "TrainingRun"]
    topics = [words.split() for words in trained["words"]]
    own = coherence(topics, data / "wikipedia-sample.tsv.xz", measure="npmi", text=3, window=10)
    assert cell["mean"] == pytest.approx(own.mean)
    assert cell["paper"] == {"mean": -0.0030, "deviation": 0.0047}
    assert "## The best 20 topics" in result.stdout
    assert run("reproduce", "coherence", *quick, "-d", "ws", "--models", "LDA", "--seeds", 1, "-k", 10).exit_code == 0
    assert [cell["topics"] for cell in cells(tmp_path / "out", "coherence")] == [10]


def test_findings_are_drawn_from_what_was_run(run: Run, quick: tuple[object, ...], tmp_path: Path) -> None:
    run("reproduce", "perplexity", *quick, "--models", "LDA,MetaLDA", "--no-plot")
    result = run("reproduce", "findings", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "| MetaLDA's topics are the most coherent on Web Snippets | not run | 0 |" in result.stdout
    assert (tmp_path / "out" / "findings.json").exists()


def test_an_interrupted_table_goes_on(
    run: Run, quick: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = TrainingRun.run

    def stop(self: TrainingRun, *arguments: object) -> dict:
        if self.model == "MetaLDA":
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(TrainingRun, "run", stop)
    stopped = run("reproduce", "perplexity", *quick, "--models", "LDA,MetaLDA")
    assert stopped.exit_code == 130
    assert "1 of 4 runs are finished and saved in" in stopped.output
    monkeypatch.setattr(TrainingRun, "run", original)
    assert run("reproduce", "perplexity", *quick, "--models", "LDA,MetaLDA").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("perplexity", "-d", "bbc"), "the experiments have no dataset 'bbc'; they have ws, tmn"),
        (("perplexity", "-m", "lda"), "the experiments have no model 'lda'; they have LDA, PTM"),
        (("perplexity", "-k", "50,many"), "--topics 50,many: expected positive whole numbers"),
        (("speed", "--no-run"), "no finished runs of speed"),
        (("findings",), "no finished runs to check the findings with"),
    ],
)
def test_mistakes_are_one_line(run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    assert message in error_line(run("reproduce", *arguments, "-o", tmp_path / "out"))


def test_missing_data_is_named(run: Run, tmp_path: Path, data: Path) -> None:
    line = error_line(run("reproduce", "perplexity", "-d", "reuters", "--data", data, "-o", tmp_path / "out"))
    assert "reuters21578" in line
    assert not (tmp_path / "out").exists()
    (data / "WS" / "binary_embeddings.txt").unlink()
    line = error_line(run("reproduce", "perplexity", "--data", data, "-o", tmp_path / "out"))
    assert "WS/binary_embeddings.txt expected in" in line
