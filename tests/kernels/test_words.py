"""The kernel that finds words in texts."""

from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from metalda.corpus.tokenising import TOKEN_PATTERN
from metalda.evaluation.reference import text_encoder

TEXTS = st.lists(
    st.one_of(st.text(max_size=30), st.text("abÄſΣ_١-²' \u0301\ud800\n", max_size=30)), min_size=1, max_size=5
)


@given(TEXTS, st.booleans(), st.lists(st.text("abäs_١", min_size=1, max_size=3), min_size=1, unique=True))
@settings(max_examples=300, deadline=None)
def test_words_are_those_of_the_regular_expression(texts: list[str], lowercase: bool, some: list[str]) -> None:
    lowered = [text.lower() if lowercase else text for text in texts]
    words = list(dict.fromkeys([*some, *(word for text in lowered for word in text.split()[:2])]))
    found = text_encoder(words, lowercase=lowercase, token_pattern=TOKEN_PATTERN)(texts)
    expected = reference.find_words(lowered, words)
    assert found.words.tolist() == [number for document in expected for number in document]
    assert found.offsets.tolist() == [sum(map(len, expected[:d])) for d in range(len(texts) + 1)]


def test_words_are_told_apart_in_a_full_table() -> None:
    words = [f"w{i}" for i in range(3000)]
    encode = text_encoder(words, lowercase=True, token_pattern=TOKEN_PATTERN)
    assert encode([" ".join(words), "w3000 W7"]).words.tolist() == [*range(3000), -1, 7]
