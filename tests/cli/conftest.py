"""A small corpus, a model of it, and a way to run commands."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.helpers import HOSTILE, Run, Write, news
from metalda import Corpus, MetaLDA
from metalda.cli.app import app


@pytest.fixture(scope="session")
def run() -> Run:
    """Runs ``metalda`` with these arguments in this process."""

    def invoke(*arguments: object, stdin: bytes | None = None) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, prog_name="metalda")

    return invoke


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file: a text, bytes, or records as JSON Lines."""

    def make(name: str, content: str | bytes | Iterable[Mapping[str, Any]]) -> Path:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        else:
            path.write_text("".join(json.dumps(record) + "\n" for record in content), encoding="utf-8")
        return path

    return make


@pytest.fixture
def data(write: Write) -> Path:
    """The corpus as a file."""
    return write("news.jsonl", news())


@pytest.fixture(scope="session")
def model(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the corpus; tests must not change it."""
    folder = tmp_path_factory.mktemp("cli")
    data, features = folder / "news.jsonl", folder / "features.txt"
    data.write_text("".join(json.dumps(record) + "\n" for record in news()), encoding="utf-8")
    features.write_text("cat\t0\ndog\t0\nkitten\t0\nrain\t1\nsun\t1\nthe\t1\n", encoding="utf-8")
    options = ("--text", "body", "--labels", "section", "--word-features", features, "-k", 2)
    result = run("fit", data, "-o", folder / "model", *options, "--iterations", 40, "--thin", 5, "--quiet")
    assert result.exit_code == 0, result.output
    return folder / "model"


@pytest.fixture(scope="session")
def chains(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three chains of one model; tests must not change them. One word and one label contain an escape sequence."""
    folder = tmp_path_factory.mktemp("chains")
    records = news() * 3
    tokens = [[*record["body"].lower().split(), HOSTILE] for record in records]
    labels = [HOSTILE if record["section"] == "sky" else "pets" for record in records]
    corpus = Corpus.from_tokens(tokens, labels)
    for seed in range(3):
        model = MetaLDA(2, n_iter=30, thin=1, n_draws=12, random_state=seed, verbose=False)
        model.fit(corpus).save(folder / f"m{seed}")
    return [folder / f"m{seed}" for seed in range(3)]
