"""Shards and blocks are the same whether tokens are worked on at once or some at a time, in memory or on the disk."""

import numpy as np
import pytest

from metalda import LDA, Corpus, LabeledLDA
from metalda.meta.design import Design
from metalda.samplers.counts import TopicCounts
from metalda.samplers.shards import Shard, cut_blocks, group_words, order_by_group
from metalda.storage import arrays
from metalda.utils import chunks


def some_documents(n_documents=60, n_words=30):
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 12, n_documents)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return rng.integers(0, n_words, offsets[-1]).astype(np.int32), offsets, n_words


def blocks_of(words, offsets, n_words):
    groups = group_words(words, n_words, 4)
    ordered = order_by_group(words, offsets, groups)
    shard = Shard.cut(ordered, offsets, np.zeros(len(offsets) - 1, np.int32), 0, len(offsets) - 1)
    return ordered, cut_blocks(shard, groups)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_blocks_do_not_depend_on_the_size_of_chunks(monkeypatch, size):
    words, offsets, n_words = some_documents()
    whole, blocks = blocks_of(words, offsets, n_words)
    monkeypatch.setattr(chunks, "CHUNK", size)
    again, blocks_again = blocks_of(words, offsets, n_words)
    np.testing.assert_array_equal(again, whole)
    np.testing.assert_array_equal(blocks_again, blocks)


def test_counts_do_not_depend_on_the_size_of_chunks(monkeypatch):
    words, _, n_words = some_documents()
    topics = np.random.default_rng(1).integers(0, 5, len(words), dtype=np.uint16)
    whole = TopicCounts.count(words, topics, 5, Design.build(None, n_words))
    monkeypatch.setattr(chunks, "CHUNK", 11)
    again = TopicCounts.count(words, topics, 5, Design.build(None, n_words))
    for name in ("starts", "sizes", "topics", "counts", "topic_totals"):
        a, b = getattr(whole, name), getattr(again, name)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("model", [LDA(3, n_shards=3), LabeledLDA(n_shards=3)], ids=lambda m: type(m).__name__)
def test_a_corpus_on_the_disk_gives_the_model_of_one_in_memory_bit_by_bit(model, monkeypatch, tmp_path):
    words, offsets, n_words = some_documents()
    labels = [["x", "y", "z"][d % 3] for d in range(len(offsets) - 1)]
    corpus = Corpus(words, offsets, tuple(f"w{v}" for v in range(n_words))).with_labels(labels)
    model.set_params(n_iter=5, random_state=0, verbose=False)
    expected = model.fit(corpus).components_
    corpus.save(tmp_path / "corpus")
    on_disk = []
    monkeypatch.setattr(arrays, "LARGE", 1)
    monkeypatch.setattr(chunks, "CHUNK", 11)
    make = arrays.empty_on_disk
    monkeypatch.setattr(arrays, "empty_on_disk", lambda *what: on_disk.append(what) or make(*what))
    mapped = Corpus.load(tmp_path / "corpus")
    np.testing.assert_array_equal(model.fit(mapped).components_, expected)
    assert arrays.is_mapped(mapped.words)
    assert len(on_disk) == 1
    assert not arrays.is_mapped(corpus.words)
