"""A state of Mallet becomes the model that it describes."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import metalda
from metalda.errors import InputError

ALPHA, BETA = np.array([0.5, 0.1, 2.0]), 0.02
HEADER = ["#doc source pos typeindex type topic", "#alpha : 0.5 0.1 2.0 ", "#beta : 0.02"]
LINES = [
    "0 file:/my texts/a.txt 0 0 cat 2",
    "0 file:/my texts/a.txt 1 1 dog 2",
    "0 file:/my texts/a.txt 2 0 cat 0",
    "1 file:/b.txt 0 5 rain 1",
    "1 file:/b.txt 1 3 sún 1",
]


def state(folder: Path, lines: list[str], name: str = "state.gz") -> Path:
    path = folder / name
    data = "\n".join(lines).encode() + b"\n"
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.fixture
def read(tmp_path: Path) -> Any:
    return metalda.read_mallet_state(state(tmp_path, HEADER + LINES))


def test_the_documents_come_back(read: Any) -> None:
    assert list(read.corpus) == [["cat", "dog", "cat"], ["rain", "sún"]]
    assert read.corpus.vocabulary == ("cat", "dog", "sún", "rain")  # in the order of Mallet's alphabet
    assert read.corpus.ids == ("file:/my texts/a.txt", "file:/b.txt")


def test_topics_and_proportions_are_those_of_the_state_by_hand(read: Any) -> None:
    counts = np.array([[1, 0, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0]])  # n[k, v]
    phi = (counts + BETA) / (counts + BETA).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(read.model.components_, phi, rtol=1e-6)
    theta = np.array([[1, 0, 2], [0, 2, 0]]) + ALPHA
    np.testing.assert_allclose(read.model.doc_topics_, theta / theta.sum(axis=1, keepdims=True), rtol=1e-6)


def test_new_documents_get_the_alpha_of_the_file(read: Any) -> None:
    with pytest.warns(UserWarning, match="no word that the model knows"):
        proportions = read.model.transform(["zebra zebra"])
    np.testing.assert_allclose(proportions[0], ALPHA / ALPHA.sum(), rtol=1e-6)


def test_it_is_a_fitted_lda_that_can_be_saved(read: Any, tmp_path: Path) -> None:
    read.model.save(tmp_path / "model")
    again = metalda.load(tmp_path / "model")
    assert type(again) is metalda.LDA
    np.testing.assert_array_equal(again.transform(read.corpus), read.model.transform(read.corpus))
    assert again.perplexity(read.corpus) == read.model.perplexity(read.corpus) > 1
    assert list(again.topics()["share"]) == [0.2, 0.4, 0.4]
    assert len(again.history_) == 0


def test_a_document_without_words_and_documents_in_any_order(tmp_path: Path) -> None:
    lines = ["2 NA 0 1 dog 0", "0 NA 0 0 cat 1", "2 NA 1 0 cat 2"]
    model, corpus = metalda.read_mallet_state(state(tmp_path, HEADER + lines, "state.txt"))
    assert list(corpus) == [["cat"], [], ["dog", "cat"]]
    assert corpus.ids is None
    np.testing.assert_allclose(model.doc_topics_[1], ALPHA / ALPHA.sum(), rtol=1e-6)
    assert model.doc_topics_[2].argmax() == 2


def test_mallet_writes_in_the_encoding_of_its_machine(tmp_path: Path) -> None:
    path = tmp_path / "state.txt"
    path.write_bytes("\n".join(HEADER + LINES).encode("latin-1"))
    with pytest.raises(InputError, match=r"line 8: not utf-8.*encoding="):
        metalda.read_mallet_state(path)
    assert "sún" in metalda.read_mallet_state(path, encoding="latin-1").corpus.vocabulary


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["cat dog"], "line 1: not a state of Mallet"),
        ([], "line 1: not a state of Mallet"),
        ([HEADER[0], *LINES], "line 2: not a state of Mallet"),
        (HEADER, "no words"),
        ([HEADER[0], "#alpha : 0.5 x", HEADER[2], *LINES], "line 2: expected positive numbers"),
        ([HEADER[0], "#alpha : 0.5 0", HEADER[2], *LINES], "line 2: expected positive numbers"),
        ([*HEADER[:2], "#beta : 1 2", *LINES], "one value of beta, but found 2"),
        ([*HEADER, "0 NA 0 0 cat"], "line 4: expected 'doc source pos typeindex type topic'"),
        ([*HEADER, "0 NA 0 zero cat 1"], "line 4: expected 'doc source"),
        ([*HEADER, *LINES, "2 NA 0 0 cat 3"], "line 9: topic 3, but alpha has 3 topics"),
        ([*HEADER, *LINES, "2 NA 0 0 dog 1"], "line 9: the word 0 is 'dog', but 'cat' in an earlier line"),
        ([*HEADER, "-1 NA 0 0 cat 1"], "line 4: document -1"),
    ],
)
def test_what_is_no_state_is_explained(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        metalda.read_mallet_state(state(tmp_path, lines))
    assert "\n" not in str(error.value)
