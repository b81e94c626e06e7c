"""``metalda evaluate``."""

import csv
import io
import json
import math
from pathlib import Path

import pytest

import metalda
from cli.helpers import NEW, Run, Write


@pytest.fixture
def new(write: Write) -> Path:
    return write("new.jsonl", NEW)


def test_evaluate_prints_what_the_library_gives(run: Run, model: Path, new: Path) -> None:
    corpus = metalda.Corpus.read(new, text="body", labels="section", stop_words="english")
    fitted = metalda.load(model)
    for unseen in ("ignore", "features"):
        for draws in ("mean", "last", "each"):
            output = run("evaluate", model, new, "--unseen", unseen, "--draws", draws, "--format", "json").stdout
            result = json.loads(output)
            assert result["perplexity"] == pytest.approx(fitted.perplexity(corpus, unseen=unseen, draws=draws))
            assert result["log_probability_per_token"] == pytest.approx(-math.log(result["perplexity"]))
    assert result["documents"] == 2
    assert result["out_of_vocabulary_share"] == pytest.approx(1 / 5)  # kitten, of cat kitten rain rain wind
    assert result["topic_diversity"] == metalda.topic_diversity(fitted)
    assert result["exclusivity"] == pytest.approx(metalda.exclusivity(fitted))
    (row,) = csv.DictReader(io.StringIO(run("evaluate", model, new, "--format", "csv").stdout))
    assert float(row["perplexity"]) == pytest.approx(fitted.perplexity(corpus), rel=1e-5)
    assert int(row["tokens"]) == corpus.n_tokens
    table = run("evaluate", model, new).stdout
    assert "perplexity" in table
    assert "20.0%, ignored" in table
