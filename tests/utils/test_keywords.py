"""A wrong keyword names the function that was called, and the nearest right one."""

from collections.abc import Callable
from inspect import signature

import pytest

from metalda import DMR, LDA, Corpus, MetaLDA

TEXTS = ["cat dog", "sun rain"]


@pytest.mark.parametrize(
    ("call", "called", "wrong", "right"),
    [
        (lambda: MetaLDA(n_topics=5), "MetaLDA", "n_topics", "n_components"),
        (lambda: LDA(max_iter=5), "LDA", "max_iter", "n_iter"),
        (lambda: DMR(varience=5), "DMR", "varience", "variance"),
        (lambda: LDA(2).fit(TEXTS, label=TEXTS), "LDA.fit", "label", "labels"),
        (lambda: LDA(2).perplexity(TEXTS, unsen=1), "LDA.perplexity", "unsen", "unseen"),
        (lambda: Corpus.read("x.csv", txt="t"), "Corpus.read", "txt", "text"),
        (lambda: Corpus.read("x.csv", delimiter=","), "Corpus.read", "delimiter", "label_delimiter"),
        (lambda: Corpus.prepare("x.csv", "c", stopwords=None), "Corpus.prepare", "stopwords", "stop_words"),
        (lambda: Corpus.from_frame(None, min_dv=2), "Corpus.from_frame", "min_dv", "min_df"),
        (lambda: Corpus.from_texts(TEXTS, label=TEXTS), "Corpus.from_texts", "label", "labels"),
    ],
)
def test_a_wrong_keyword_is_answered_with_the_nearest(
    call: Callable[[], object], called: str, wrong: str, right: str
) -> None:
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == f"{called}() got an unexpected keyword argument {wrong!r}; did you mean {right!r}?"


def test_if_none_is_near_all_are_listed() -> None:
    with pytest.raises(TypeError, match=r"LDA.transform\(\) got .* 'n_iter'; it has X, y, labels, client"):
        LDA(2).transform(TEXTS, n_iter=3)


def test_signatures_are_those_of_the_functions() -> None:
    assert list(signature(MetaLDA.__init__).parameters)[1] == "n_components"
    assert list(signature(MetaLDA.fit).parameters)[:3] == ["self", "X", "y"]
    assert "label_delimiter" in signature(Corpus.read).parameters
