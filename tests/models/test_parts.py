"""Very many documents are inferred in parts, with the same results, and little memory beyond what is returned."""

import tracemalloc

import numpy as np
import pytest

import metalda
from contracts import CASES, corpus, quietly
from metalda import LDA, Corpus
from metalda.errors import StorageError
from metalda.models import encoded


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(("tokens", "documents"), [(1, 1000), (1000, 3), (9, 4)])
def test_parts_of_any_size_give_the_same_results(case, tokens, documents, monkeypatch):
    model, given = case.make().fit(corpus()), corpus()
    new = Corpus.from_tokens([*map(list, given), [], ["zebra"]], [["pets"]] * 11 + [[]])
    whole, expected = quietly(model.transform, new), quietly(model.perplexity, new, unseen="features", draws="each")
    monkeypatch.setattr(encoded, "MOST_TOKENS", tokens)
    monkeypatch.setattr(encoded, "MOST_DOCUMENTS", documents)
    with pytest.warns(UserWarning, match="1 of 12 documents have words, but no word that the model knows") as warned:
        np.testing.assert_array_equal(model.transform(new), whole)
    assert len([each for each in warned if "no word that the model knows" in str(each.message)]) == 1
    assert quietly(model.perplexity, new, unseen="features", draws="each") == pytest.approx(expected, rel=1e-12)


def test_parts_of_chains_are_averaged_and_curated_as_the_whole(monkeypatch):
    model = LDA(3, n_iter=20, n_chains=2, random_state=0, verbose=False).fit(corpus()).merge([0, 2])
    whole, expected = model.transform(corpus()), model.perplexity(corpus(), draws="each")
    monkeypatch.setattr(encoded, "MOST_DOCUMENTS", 3)
    np.testing.assert_array_equal(model.transform(corpus()), whole)
    assert model.perplexity(corpus(), draws="each") == pytest.approx(expected, rel=1e-12)


def peak(function, *arguments):
    """Bytes that a call allocates beyond those that exist."""
    tracemalloc.start()
    try:
        result = function(*arguments)
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_number_of_documents(monkeypatch):
    """With 200 topics, all proportions take 32 MB."""
    monkeypatch.setattr(encoded, "MOST_TOKENS", 1 << 13)
    monkeypatch.setattr(encoded, "MOST_DOCUMENTS", 1 << 10)
    rng = np.random.default_rng(0)
    small = Corpus.from_tokens([[f"w{v}" for v in rng.integers(0, 50, 4)] for _ in range(200)])
    model = LDA(200, n_iter=2, random_state=0, verbose=False).fit(small)
    many = small[np.arange(40_000) % 200]
    model.transform(small), model.perplexity(small)  # compiles
    used, _ = peak(model.perplexity, many)
    assert used < 10e6
    used, theta = peak(model.transform, many)
    assert used < theta.nbytes + 10e6


def test_a_model_is_loaded_without_the_proportions_of_its_documents(tmp_path):
    model = LDA(2, n_iter=20, random_state=0, verbose=False).fit(corpus())
    model.save(tmp_path / "model")
    (path,) = (tmp_path / "model").glob("doc_topics-*.safetensors")
    healthy = metalda.load(tmp_path / "model")
    theta = model.doc_topics_
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    loaded = metalda.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(corpus()), model.transform(corpus()))
    assert loaded.topics().equals(model.topics())
    assert loaded.hide([0]).topics()["topic"].tolist() == [1]
    with pytest.raises(StorageError, match=r"doc_topics-.*: damaged: the checksum does not match"):
        _ = loaded.doc_topics_
    with pytest.raises(StorageError, match="damaged"):
        loaded.save(tmp_path / "other")
    assert not (tmp_path / "other").exists()
    model.save(tmp_path / "model")  # removes the file, but not for those who have it open
    with pytest.raises(StorageError, match="damaged"):  # it was damaged in place
        _ = healthy.doc_topics_
    loaded = metalda.load(tmp_path / "model")
    LDA(1, n_iter=2, verbose=False).fit(corpus()).save(tmp_path / "model")
    np.testing.assert_array_equal(loaded.doc_topics_, theta)


def test_chains_are_loaded_without_the_proportions_of_their_documents(tmp_path):
    model = LDA(2, n_iter=20, n_chains=2, random_state=0, verbose=False).fit(corpus())
    model.save(tmp_path / "model")
    loaded = metalda.load(tmp_path / "model")
    for fitted in (loaded.fitted_, *loaded.fitted_.chains):
        assert "doc_topics" not in vars(fitted)
    np.testing.assert_array_equal(loaded.doc_topics_, model.doc_topics_)
    for one, other in zip(loaded.chains_, model.chains_, strict=True):
        np.testing.assert_array_equal(one.doc_topics_, other.doc_topics_)
