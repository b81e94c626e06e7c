"""Coherence equals gensim's and what is worked out by hand, and hides nothing that it had to make up."""

import bz2
import gzip
import lzma
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metalda import LDA, Corpus, WindowCounts, coherence, count_windows, score_topics
from metalda.errors import InputError, StorageError
from metalda.evaluation.coherence import MEASURES

GENSIM = {"npmi": "c_npmi", "uci": "c_uci", "c_v": "c_v", "umass": "u_mass"}
WORDS = [f"w{i}" for i in range(40)]


def random_documents(*, repeated: bool) -> list[list[str]]:
    """Words of unequal frequency, some too rare to occur; documents shorter and longer than windows, and empty."""
    rng = np.random.default_rng(1)
    weights = rng.gamma(0.7, size=40)
    sizes = [0, 0, *rng.integers(1, 35, size=120)]
    return [[WORDS[i] for i in rng.choice(40, size=n, replace=repeated, p=weights / weights.sum())] for n in sizes]


def random_topics() -> list[list[str]]:
    rng = np.random.default_rng(2)
    return [[WORDS[i] for i in rng.permutation(40)[:10]] for _ in range(8)]


def gensim_scores(topics: list[list[str]], documents: list[list[str]], measure: str, window: int) -> list[float]:
    pytest.importorskip("gensim", reason="gensim is not installed")
    from gensim.corpora import Dictionary
    from gensim.models import CoherenceModel

    words = Dictionary(documents)
    return CoherenceModel(
        topics=topics,
        texts=documents,
        corpus=[words.doc2bow(document) for document in documents],
        dictionary=words,
        coherence=GENSIM[measure],
        window_size=window or None,
        processes=1,
    ).get_coherence_per_topic()


@pytest.mark.parametrize("measure", GENSIM)
@pytest.mark.parametrize("window", [2, 10, 110])
def test_scores_equal_gensims(measure: str, window: int) -> None:
    documents, topics = random_documents(repeated=True), random_topics()
    window = 0 if measure == "umass" else window
    expected = gensim_scores(topics, documents, measure, window)
    found = coherence(topics, documents, measure, window=window, as_gensim=True)
    np.testing.assert_allclose(found.scores, expected, rtol=0, atol=1e-6)
    assert np.ptp(expected) > 0.001
    assert found.missing  # and left out by both


@pytest.mark.parametrize("measure", GENSIM)
def test_scores_equal_gensims_by_default_where_no_word_is_repeated(measure: str) -> None:
    documents, topics = random_documents(repeated=False), random_topics()
    window = 0 if measure == "umass" else 7
    expected = gensim_scores(topics, documents, measure, window)
    np.testing.assert_allclose(coherence(topics, documents, measure, window=window).scores, expected, rtol=0, atol=1e-6)


def test_default_windows_are_those_of_gensim_and_palmetto() -> None:
    assert {name: measure.window for name, measure in MEASURES.items()} == {
        "npmi": 10,
        "uci": 10,
        "c_v": 110,
        "umass": 0,
        "c_p": 70,
    }
    documents, topics = random_documents(repeated=True), random_topics()
    for name, measure in MEASURES.items():
        assert coherence(topics, documents, name).counts.window == measure.window


def test_c_p_is_fitelsons_confirmation_by_hand() -> None:
    # of 8 documents 4 have a, 3 have b, 2 have both; c stands in one, alone
    documents = [["a", "b"], ["a", "b"], ["a"], ["a"], ["b"], ["c"], [], []]
    ab = (2 / 4 - 1 / 4) / (2 / 4 + 1 / 4)  # b given a, b otherwise
    ac = bc = -1.0  # c is never given, and otherwise is
    assert coherence([["a", "b"]], documents, "c_p", window=0).mean == pytest.approx(ab)
    assert coherence([["a", "b", "c"]], documents, "c_p", window=0).mean == pytest.approx((ab + ac + bc) / 3)
    ba = (2 / 3 - 2 / 5) / (2 / 3 + 2 / 5)  # the order matters
    assert coherence([["b", "a"]], documents, "c_p", window=0).mean == pytest.approx(ba)


def test_umass_of_mimno_adds_one_document_by_hand() -> None:
    # of 8 documents 4 have a, 3 have b, 2 have both; c stands in one, alone
    documents = [["a", "b"], ["a", "b"], ["a"], ["a"], ["b"], ["c"], [], []]
    ab, ac, bc = math.log((2 + 1) / 4), math.log((0 + 1) / 4), math.log((0 + 1) / 3)
    found = coherence([["a", "b", "c"]], documents, "umass", smoothing="count")
    assert found.mean == pytest.approx((ab + ac + bc) / 3, rel=1e-14)
    ba, ca, cb = math.log((2 + 1) / 3), math.log((0 + 1) / 1), math.log((0 + 1) / 1)  # the order matters
    counts = count_windows(["a", "b", "c"], documents, window=0)
    assert score_topics([["c", "b", "a"]], counts, "umass", smoothing="count").mean == pytest.approx((ba + ca + cb) / 3)
    assert coherence([["a", "c"]], documents, "umass").mean == pytest.approx(math.log(1e-12 / (4 / 8)))
    with pytest.raises(InputError, match="smoothing='one': give a small number, or 'count' for one more window"):
        coherence([["a", "b"]], documents, "umass", smoothing="one")


def test_npmi_by_hand_in_sliding_windows() -> None:
    counts = count_windows(["cat", "dog"], ["The cat saw a dog.", "No cat here!"], window=3)
    assert (counts.n_windows, counts.n_documents, counts.n_short, counts.n_tokens) == (3, 2, 0, 7)
    assert counts.of(["cat", "dog"]).tolist() == [[3, 1], [1, 1]]
    assert score_topics([["cat", "dog"]], counts, smoothing=0).mean == pytest.approx(0)
    documents = [["a", "x", "b", "x"], ["b"], ["a"]]  # windows of 3: axb, xbx, b, a
    expected = math.log((1 / 4) / (2 / 4 * 3 / 4)) / -math.log(1 / 4)
    assert coherence([["a", "b"]], documents, window=3).mean == pytest.approx(expected)


def test_npmi_by_hand_in_the_documents_of_a_corpus() -> None:
    corpus = Corpus.from_tokens([list("aab"), list("ab"), list("ac"), list("d")])
    ab = math.log((2 / 4) / (3 / 4 * 2 / 4)) / -math.log(2 / 4)
    ac = math.log((1 / 4) / (3 / 4 * 1 / 4)) / -math.log(1 / 4)
    bc = cd = da = -1  # never together
    found = coherence([list("abc"), list("dca")], corpus, window=0, smoothing=0)
    assert found.scores == pytest.approx([(ab + ac + bc) / 3, (cd + da + ac) / 3])
    assert coherence([list("abc")], corpus, window=0, smoothing=0, top_n=2).mean == pytest.approx(ab)


def test_the_words_of_a_corpus_are_matched_by_name() -> None:
    documents = [list("bc"), list("bc"), list("a")]
    expected = coherence([["b", "c"]], Corpus.from_tokens(documents)).mean
    assert coherence([["b", "c"]], Corpus.from_tokens(documents, vocabulary=list("zcba"))).mean == expected
    assert expected > 0 > coherence([["b", "c"]], Corpus.from_tokens([list("ab"), list("ac")])).mean


def test_a_corpus_a_file_and_token_lists_give_the_same_counts(tmp_path: Path) -> None:
    documents = random_documents(repeated=True)
    path = tmp_path / "reference.txt"
    path.write_text("\n".join(map(" ".join, documents[2:])), encoding="utf-8")
    expected = count_windows(WORDS, documents[2:], window=5)
    for reference in (path, str(path), Corpus.from_tokens(documents[2:]), [" ".join(each) for each in documents[2:]]):
        found = count_windows(WORDS, reference, window=5)
        assert (found.together == expected.together).all()
        assert (found.n_windows, found.n_documents, found.n_short, found.n_tokens) == (
            expected.n_windows,
            expected.n_documents,
            expected.n_short,
            expected.n_tokens,
        )


def test_counts_do_not_depend_on_threads_or_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = random_documents(repeated=True)
    corpus = Corpus.from_tokens(documents)
    expected = count_windows(WORDS, documents, window=5)
    monkeypatch.setattr("metalda.corpus.source._BLOCK", 3)
    monkeypatch.setattr("metalda.evaluation.reference._BATCH_TOKENS", 40)
    for reference in (documents, corpus):
        for n_jobs in (1, 3):
            found = count_windows(WORDS, reference, window=5, n_jobs=n_jobs)
            assert (found.together == expected.together).all()
            assert (found.n_windows, found.n_documents) == (expected.n_windows, expected.n_documents)


def test_an_error_in_a_thread_reaches_the_caller() -> None:
    with pytest.raises(InputError, match="texts or lists of words"):
        count_windows(["a"], [["a"], 7], n_jobs=2)  # type: ignore[list-item]


def test_missing_words_and_pairs_that_never_meet_are_counted_and_nothing_is_nan() -> None:
    documents = [["a", "b"], ["a", "b"], ["c"], ["d"]]
    topics = [["a", "b"], ["a", "c"], ["a", "zzz"], ["yyy", "zzz"], ["a", "b", "c", "zzz"]]
    for measure in MEASURES:
        found = coherence(topics, documents, measure)
        assert np.isfinite(found.scores).all()
        assert found.n_missing.tolist() == [0, 0, 1, 2, 1]
        assert found.n_apart.tolist() == [0, 1, 0, 0, 2]
        assert found.missing == ("yyy", "zzz")
        assert found.scores[2:4].tolist() == [0, 0]  # no two words are left
        assert found.scores[4] == coherence([["a", "b", "c"]], documents, measure).mean
    frame = found.to_frame()
    assert frame["missing"].tolist() == [0, 0, 1, 2, 1]
    assert "2 words missing" in repr(found)


def test_words_that_only_come_together_score_one_those_of_every_document_zero() -> None:
    for measure in ("npmi", "c_v"):
        found = coherence([["a", "b"]], [["a", "b"], ["b", "a"], ["c"]], measure, window=0)
        assert found.mean == pytest.approx(1)
        assert coherence([["a", "b"]], [["a", "b"], ["b", "a"]], measure, window=0).mean == 0
    assert coherence([["a", "b"]], [["a"], ["b"], ["c"]], window=0, smoothing=0).mean == -1


def test_the_best_topics_have_their_own_mean() -> None:
    documents = random_documents(repeated=True)
    found = coherence(random_topics(), documents)
    assert found.best(3) == pytest.approx(np.mean(sorted(found.scores)[-3:]))
    assert found.best() == pytest.approx(found.mean)  # there are fewer than 20
    assert found.best(1) == max(found.scores) > found.mean


def test_a_word_given_twice_counts_once_and_only_the_first_top_n_are_used() -> None:
    documents = random_documents(repeated=True)
    words = WORDS[:6]
    plain = coherence([words[:4]], documents).mean
    assert coherence([[words[0], *words]], documents, top_n=4).mean == plain
    assert coherence([words], documents).mean != plain


def test_a_model_is_scored_by_its_top_words_and_several_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = random_documents(repeated=True)
    model = LDA(3, n_iter=10, random_state=0, verbose=False).fit(Corpus.from_tokens(documents))
    topics = model.topics(top_n=5)["words"].tolist()
    passes = iter([documents])  # a second would find nothing
    both = coherence({"model": model, "lists": topics}, (each for part in passes for each in part), top_n=5)
    assert both["model"].topics == both["lists"].topics == tuple(map(tuple, topics))
    assert both["model"].scores.tolist() == coherence(model, documents, top_n=5).scores.tolist()


def test_saved_counts_give_the_same_scores(tmp_path: Path) -> None:
    documents, topics = random_documents(repeated=True), random_topics()
    counts = count_windows(WORDS, documents, window=7, as_gensim=True)
    counts.save(tmp_path / "counts")
    loaded = WindowCounts.load(tmp_path / "counts")
    assert (loaded.together == counts.together).all()
    assert loaded.together.dtype == np.int64
    for name in ("words", "window", "n_windows", "n_documents", "n_short", "n_tokens", "as_gensim", "source"):
        assert getattr(loaded, name) == getattr(counts, name)
    assert coherence(topics, loaded).scores.tolist() == coherence(topics, counts).scores.tolist()
    with pytest.raises(InputError, match="'zzz' was not counted"):
        score_topics([["zzz", "w1"]], loaded)
    with pytest.raises(InputError, match="counted already"):
        coherence(topics, loaded, window=9)


def test_damaged_counts_are_told(tmp_path: Path) -> None:
    from metalda.storage import write_folder

    write_folder(tmp_path / "a", "counts", {"words": ["x"]}, {"places": np.array([4]), "counts": np.array([1])})
    with pytest.raises(StorageError, match="damaged"):
        WindowCounts.load(tmp_path / "a")
    with pytest.raises(StorageError, match="no such folder"):
        WindowCounts.load(tmp_path / "b")


@pytest.mark.parametrize(
    ("topics", "options", "message"),
    [
        ([["a", "b"]], {"measure": "nonsense"}, "npmi, c_v, uci, umass, c_p"),
        ([["a", "b"]], {"top_n": 1}, "top_n"),
        ([["a", "b"]], {"window": -1}, "window"),
        ([["a", "b"]], {"window": 2.5}, "window"),
        ([["a", "b"]], {"n_jobs": 0}, "n_jobs"),
        ([["a", "b"]], {"measure": "uci", "smoothing": 0}, "smoothing"),
        ([["a", "a"]], {}, "topic 0 has fewer than two different words"),
        (["ab"], {}, "topic 0: a list of words"),
        ([["a", 3]], {}, "topic 0: a list of words"),
        ([], {}, "no topics"),
        ({}, {}, "no topics"),
    ],
)
def test_what_cannot_be_scored_is_one_line(topics: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        coherence(topics, [["a", "b"]], **options)


def test_a_reference_that_has_none_of_the_words_is_an_error() -> None:
    with pytest.raises(InputError, match="none of the 2 words"):
        coherence([["A", "B"]], ["aa bb"])


def test_no_documents_are_an_error() -> None:
    with pytest.raises(InputError, match="no documents"):
        coherence([["a", "b"]], [])


COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_column_of_a_compressed_file_is_read_by_number(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"reference.tsv{suffix}"
    lines = "1\tignored b\tThe A1 b2\n2\tx\t\n\n3\tx\tb2 c3\tmore b2"
    path.write_bytes(COMPRESS[suffix](lines.encode()))
    counts = count_windows(["a1", "b2", "c3", "more"], path, text=3, window=0)
    assert counts.of(["a1", "b2", "c3"]).tolist() == [[1, 1, 0], [1, 2, 1], [0, 1, 1]]
    assert counts.missing == ("more",)
    assert counts.n_documents == 3
    assert counts.source["name"] == path.name


def _change(name, value):
    return lambda document, arrays: (arrays if name in arrays else document).update({name: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_change("places", np.array([0, 1, 2, 4, 5, 99])), "places has values outside"),
        (_change("places", np.array([0, 1, 2, 4, 5, -1])), "places has values outside"),
        (_change("places", np.array([0, 2, 1, 4, 5, 8])), "places must be sorted"),
        (_change("places", np.array([0, 1, 2, 3, 5, 8])), "places must be above the diagonal"),
        (_change("places", np.array([0, 1, 3, 4, 5])), "counts must have the shape"),
        (_change("counts", np.array([2, 9, 1, 2, 1, 1])), "counts has values outside of 1 … 2"),
        (_change("counts", np.array([2, -1, 1, 2, 1, 1])), "counts has values outside"),
        (_change("counts", np.array([1, 2, 1, 2, 1, 1])), "counts of pairs exceed those of their words"),
        (_change("words", ["cat", "cat", "sun"]), "words must be distinct"),
        (_change("words", []), "words must not be empty"),
        (_change("words", "cat"), "words must be a list"),
        (_change("window", "ten"), "window must be an integer"),
        (_change("n_windows", 1.5), "n_windows must be an integer"),
        (_change("as_gensim", 1), "as_gensim must be true or false"),
        (_change("source", []), "source must be an object"),
        (lambda document, arrays: document.pop("n_tokens"), "lack 'n_tokens'"),
        (lambda document, arrays: arrays.pop("counts"), "lack 'counts'"),
    ],
)
def test_wrong_saved_counts_are_refused(tmp_path, change, message):
    from metalda.storage import read_folder, write_folder

    count_windows(["cat", "dog", "sun"], ["cat dog", "cat dog sun"]).save(tmp_path / "a")
    document, arrays = read_folder(tmp_path / "a", "counts")
    assert arrays["places"].tolist() == [0, 1, 2, 4, 5, 8]
    assert arrays["counts"].tolist() == [2, 2, 1, 2, 1, 1]
    change(document, arrays)
    write_folder(tmp_path / "a", "counts", document, arrays)
    with pytest.raises(StorageError, match=re.escape(message)) as found:
        WindowCounts.load(tmp_path / "a")
    assert str(tmp_path / "a") in str(found.value)
