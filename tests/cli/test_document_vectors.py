"""``--document-vectors``: in training, and for new documents."""

from pathlib import Path

import numpy as np
import pytest

import metalda
from cli.helpers import Run, Write, error_line

FAST = ("-k", 2, "--iterations", 20)
TEXTS = "cat dog\nrain sun\ndog cat\nsun wind\n" * 5


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).normal(size=(20, 2)))
    return tmp_path / "vectors.npy"


@pytest.fixture
def model(run: Run, write: Write, tmp_path: Path, vectors: Path) -> Path:
    data = write("texts.txt", TEXTS)
    assert run("fit", data, "-o", tmp_path / "m", "--document-vectors", vectors, *FAST).exit_code == 0
    return tmp_path / "m"


def test_columns_of_a_matrix_are_numbers_of_the_model(run: Run, model: Path) -> None:
    assert metalda.load(model).label_names_ == ("vector0", "vector1")
    assert "vector1" in run("effects", model).stdout
    assert run("prevalence", model, "--over", "vector1").exit_code == 0


def test_new_documents_need_their_vectors(run: Run, model: Path, write: Write, vectors: Path, tmp_path: Path) -> None:
    new = write("new.txt", "cat dog\nrain sun\n")
    out = ("-o", tmp_path / "theta.npy")
    assert "give those of DATA with --document-vectors" in error_line(run("transform", model, new, *out))
    assert "20 rows, but there are 2 documents" in error_line(
        run("transform", model, new, *out, "--document-vectors", vectors)
    )
    np.save(tmp_path / "two.npy", np.array([[5.0, 0.0], [-5.0, 0.0]], np.float32))
    for command in (("transform", model, new, *out), ("evaluate", model, new), ("report", model, "--corpus", new)):
        output = ("-o", tmp_path / "report.html") if command[0] == "report" else ()
        assert run(*command, *output, "--document-vectors", tmp_path / "two.npy").exit_code == 0
    with_vectors = np.load(tmp_path / "theta.npy")
    assert run("transform", model, new, *out, "--no-labels").exit_code == 0
    assert not np.allclose(np.load(tmp_path / "theta.npy"), with_vectors)


def test_vectors_without_use_are_refused(run: Run, write: Write, tmp_path: Path, vectors: Path) -> None:
    data = write("texts.txt", TEXTS)
    assert run("fit", data, "-o", tmp_path / "plain", "--model", "lda", *FAST).exit_code == 0
    result = run("transform", tmp_path / "plain", data, "-o", "-", "--document-vectors", vectors)
    assert "did not learn from vectors of documents" in error_line(result)
    result = run("fit", data, "-o", tmp_path / "m", "--document-vectors", vectors, "--prevalence", "vector0", *FAST)
    assert "not both" in error_line(result)


def test_splines_and_prepared_corpora_go_with_vectors(run: Run, write: Write, tmp_path: Path, vectors: Path) -> None:
    data = write("texts.txt", TEXTS)
    assert run("prepare", data, "-o", tmp_path / "corpus").exit_code == 0
    given = ("--document-vectors", vectors, "--splines", "vector1=3")
    assert run("fit", tmp_path / "corpus", "-o", tmp_path / "m", *given, *FAST).exit_code == 0
    assert metalda.load(tmp_path / "m").prevalence == "vector0 + s(vector1, df=3)"
