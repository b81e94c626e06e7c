"""``metalda fit --seeds`` and ``metalda topics --seeds``."""

import csv
import io
import json
from pathlib import Path

import pytest

import metalda
from cli.helpers import HOSTILE, Run, Write, error_line

FITTING = ("--text", "body", "--iterations", "20", "-k", "3")


@pytest.fixture(scope="module")
def seeded(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with seeds; tests must not change it."""
    from cli.helpers import news

    folder = tmp_path_factory.mktemp("seeds")
    (folder / "news.jsonl").write_text("".join(json.dumps(record) + "\n" for record in news()), encoding="utf-8")
    (folder / "seeds.json").write_text(json.dumps({"weather": ["rain", "cloud*"], "pets": ["dog"]}))
    seeds = ("--seeds", folder / "seeds.json", "--seed-weight", 50, "--min-df", 1)
    result = run("fit", folder / "news.jsonl", "-o", folder / "model", *FITTING, *seeds)
    assert result.exit_code == 0, result.output
    assert "metalda topics" in result.stdout
    assert "--seeds" in result.stdout
    assert "weather" in result.stdout
    return folder / "model"


def test_topics_are_listed_with_their_names(run: Run, seeded: Path) -> None:
    assert metalda.load(seeded).seed_weight == 50
    as_json = json.loads(run("topics", seeded, "--format", "json").stdout)
    assert [row["name"] for row in as_json] == ["weather", "pets", ""]
    table = run("topics", seeded).stdout
    assert table.splitlines()[0].split() == ["topic", "share", "name", "words"]
    assert "weather" in table


def test_strengths_of_seeds_are_those_of_the_model_in_every_format(run: Run, seeded: Path) -> None:
    expected = metalda.load(seeded).seed_strengths()
    as_json = json.loads(run("topics", seeded, "--seeds", "--format", "json").stdout)
    assert [row["strength"] for row in as_json] == pytest.approx(expected["strength"].tolist())
    as_csv = list(csv.DictReader(io.StringIO(run("topics", seeded, "--seeds", "--format", "csv").stdout)))
    assert [int(row["tokens"]) for row in as_csv] == expected["tokens"].tolist()
    table = run("topics", seeded, "--seeds").stdout
    assert f"{expected['strength'][0]:.3g}" in table
    assert "before them it was 50" in table


def test_a_csv_file_gives_the_same_seeds(run: Run, write: Write, data: Path, tmp_path: Path) -> None:
    seeds = write("seeds.csv", "topic,word\nweather,rain\npets,dog\nweather,cloud*\n")
    result = run("fit", data, "-o", tmp_path / "m", *FITTING, "--seeds", seeds, "--min-df", 1, "-q")
    assert result.exit_code == 0, result.output
    assert metalda.load(tmp_path / "m").seeds == {"weather": ["rain", "cloud*"], "pets": ["dog"]}


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ('{"a": ["rain"]', (), "seeds.json: is no JSON"),
        ('{"a": ["*"]}', (), "seeds.json: the topic 'a' has the seed '*'"),
        ('{"a": ["rain"], "a": ["dog"]}', (), "seeds.json: the topic 'a' is named twice"),
        (json.dumps({HOSTILE: ["dog"]}), (), r"seeds: the name '\x1b[31mred' has characters that cannot be printed"),
        ('{"topic1": ["dog"]}', (), "seeds.json: seeds: the name 'topic1' could be the number of a topic"),
        ('{"a": ["zebra"]}', (), "no seed of 'a' is in the vocabulary (zebra)"),
        ('{"a": ["rain"], "b": ["dog"]}', ("-k", "1"), "2 seed sets are more than the 1 topics"),
        ('{"a": ["rain"]}', ("--model", "lda"), "--seeds: --model lda uses no seed words"),
        ('{"a": ["rain"]}', ("--word-prior", "0.01"), 'seeds need word_prior="features"'),
    ],
)
def test_a_mistake_is_one_line(
    run: Run, write: Write, data: Path, tmp_path: Path, content: str, options: tuple, message: str
) -> None:
    seeds = write("seeds.json", content)
    result = run("fit", data, "-o", tmp_path / "m", *FITTING, "--min-df", 1, "-q", "--seeds", seeds, *options)
    assert message in error_line(result)


def test_strengths_need_seeds_and_are_of_all_topics(run: Run, model: Path, seeded: Path) -> None:
    assert "the model has no seed words" in error_line(run("topics", model, "--seeds"))
    assert "leave out --topic" in error_line(run("topics", seeded, "--seeds", "--topic", 0))
