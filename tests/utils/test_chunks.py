"""Processing tokens in chunks gives the result of processing them at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalda import Corpus
from metalda.utils import chunks


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK", 3)


def offsets_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 12))
def test_spans_are_all_documents_in_order_and_no_longer_than_a_chunk_or_one_document(lengths, size):
    offsets = offsets_of(lengths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK", size)
        found = list(chunks.spans(offsets))
    assert [d for first, last in found for d in range(first, last)] == list(range(len(lengths)))
    assert all(last == first + 1 or offsets[last] - offsets[first] <= size for first, last in found)


@given(st.lists(st.integers(0, 6), max_size=40))
def test_a_tally_is_a_bincount(values):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK", 4)
        np.testing.assert_array_equal(
            chunks.tally(np.array(values, np.int32), 7), np.bincount(np.array(values, int), minlength=7)
        )


@pytest.mark.usefixtures("small")
def test_documents_are_selected_and_trimmed_in_chunks():
    texts = ["a b c d e f", "", "b b", "g", "a g c", "", "d e f g a b c a"]
    corpus = Corpus.from_tokens([text.split() for text in texts], vocabulary=list("zabcdefgy"))
    part = corpus[[6, 0, 1, 3, 3]]
    assert list(part) == [texts[i].split() for i in (6, 0, 1, 3, 3)]
    trimmed = corpus[[1, 2, 3, 5]].trim()
    assert trimmed.vocabulary == ("b", "g")
    assert list(trimmed) == [[], ["b", "b"], ["g"], []]
