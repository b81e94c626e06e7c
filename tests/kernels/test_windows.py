"""The kernels of coherence: words of texts, and the sliding windows that contain them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import reference
from marks import examples
from metalda.corpus.schema import TOKEN_PATTERN
from metalda.corpus.unicode import normalize
from metalda.evaluation.reference import ReferenceDocuments, WindowCounter, text_encoder

N_WORDS = 4
TEXTS = st.lists(
    st.one_of(st.text(max_size=30), st.text("abÄſΣ_١-²' \u0301\ud800\n", max_size=30)), min_size=1, max_size=5
)
DOCUMENTS = st.lists(st.lists(st.integers(-1, N_WORDS - 1), max_size=12), min_size=1, max_size=5)


def counted(documents: list[list[int]], window: int, as_gensim: bool = False) -> WindowCounter:
    counter = WindowCounter(N_WORDS, window, as_gensim)
    offsets = np.cumsum([0, *map(len, documents)])
    counter.add(ReferenceDocuments(np.array([word for document in documents for word in document]), offsets))
    return counter


@given(DOCUMENTS, st.integers(0, 14))
@examples(300)
def test_windows_are_counted_as_if_each_were_looked_at_by_itself(documents: list[list[int]], window: int) -> None:
    found = counted(documents, window)
    together, n_windows, n_short = reference.count_windows(documents, window, N_WORDS)
    assert (found.together == together).all()
    assert found.totals.tolist() == [n_windows, n_short]
    assert not any(scratch.any() for scratch in found._scratch[3:])  # ready for the next


@given(DOCUMENTS, st.integers(0, 14))
@examples(100)
def test_forgetting_changes_nothing_unless_a_word_is_repeated_in_a_window(
    documents: list[list[int]], window: int
) -> None:
    once = [list(dict.fromkeys(document)) for document in documents]
    assert (counted(once, window, as_gensim=True).together == counted(once, window).together).all()


def test_with_forgetting_a_word_is_gone_when_its_first_occurrence_leaves() -> None:
    documents = [[0, 0, -1, -1, 1]]  # windows: 00-, 0--, --1
    assert counted(documents, 3).together[0, 0] == 2
    assert counted(documents, 3, as_gensim=True).together[0, 0] == 1


@given(TEXTS, st.booleans(), st.lists(st.text("abäs_١", min_size=1, max_size=3), min_size=1, unique=True))
@examples(300)
def test_words_are_those_of_the_regular_expression(texts: list[str], lowercase: bool, some: list[str]) -> None:
    lowered = [normalize(text).lower() if lowercase else normalize(text) for text in texts]
    words = list(dict.fromkeys([*some, *(word for text in lowered for word in text.split()[:2])]))
    found = text_encoder(words, lowercase=lowercase, token_pattern=TOKEN_PATTERN)(texts)
    expected = reference.find_words(lowered, words)
    assert found.words.tolist() == [number for document in expected for number in document]
    assert found.offsets.tolist() == [sum(map(len, expected[:d])) for d in range(len(texts) + 1)]


def test_words_are_told_apart_in_a_full_table() -> None:
    words = [f"w{i}" for i in range(3000)]
    encode = text_encoder(words, lowercase=True, token_pattern=TOKEN_PATTERN)
    assert encode([" ".join(words), "w3000 W7"]).words.tolist() == [*range(3000), -1, 7]
