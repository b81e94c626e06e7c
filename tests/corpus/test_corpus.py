"""The frozen corpus: its laws, its parts, its copies."""

import copy
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from hostile import HOSTILE, SAFE, Page
from metalda.corpus import Corpus, NamedMatrix
from metalda.errors import InputError, StorageError

TOKENS = st.lists(st.lists(st.sampled_from(["a", "b", "c", "日本", "e f", "g\nh"]), max_size=6), min_size=1, max_size=8)


def small(labels=True) -> Corpus:
    documents = [["b", "a", "b"], [], ["c", "a"], ["d"]]
    return Corpus.from_tokens(documents, [["x", "y"], None, ["y"], ["x"]] if labels else None, ids=[1, 2, 3, 4])


def same(a: Corpus, b: Corpus) -> bool:
    if (a.labels is None) != (b.labels is None):
        return False
    if a.labels is not None and (a.label_names != b.label_names or abs(a.labels.matrix - b.labels.matrix).sum() != 0):
        return False
    return (
        np.array_equal(a.words, b.words)
        and np.array_equal(a.offsets, b.offsets)
        and a.vocabulary == b.vocabulary
        and a.ids == b.ids
    )


def test_a_corpus_says_what_it_is():
    corpus = small()
    assert len(corpus) == 4
    assert corpus.shape == (4, 4)
    assert corpus.n_tokens == 6
    assert corpus.label_names == ("x", "y")
    assert small(labels=False).label_names == ()
    assert corpus.ids == ("1", "2", "3", "4")
    assert corpus.document(0) == ["b", "a", "b"]
    assert corpus.document(-1) == ["d"]
    assert list(corpus) == [["b", "a", "b"], [], ["c", "a"], ["d"]]
    assert repr(corpus) == "Corpus: 4 documents, 6 tokens, 4 words, 2 labels"
    assert repr(Corpus.from_tokens([["a"]])) == "Corpus: 1 document, 1 token, 1 word"
    with pytest.raises(IndexError):
        corpus.document(4)


def test_a_corpus_cannot_be_changed():
    corpus = small()
    for array in (corpus.words, corpus.offsets, corpus.labels.matrix.data, corpus.labels.matrix.indices):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        corpus.words = None


def test_freezing_leaves_the_arrays_of_the_caller_writeable():
    words = np.zeros(3, np.int32)
    Corpus(words, np.array([0, 3]), ("a",))
    words[0] = 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offsets": [0, 2, 1, 3]}, "offsets must rise"),
        ({"offsets": [1, 3]}, "offsets must rise"),
        ({"offsets": [0, 2]}, "offsets must rise"),
        ({"offsets": []}, "offsets must rise"),
        ({"words": [0, 1, 2]}, "indices into the vocabulary"),
        ({"words": [0, 1, -1]}, "indices into the vocabulary"),
        ({"words": [0, 1, 2**32]}, "must fit into int32"),
        ({"words": [0.0, 1.0, 1.0]}, "must be integers"),
        ({"words": [[0, 1, 1]]}, "must be integers in one dimension"),
        ({"vocabulary": ("a", "a")}, "'a' twice"),
        ({"vocabulary": ("a", 1)}, "strings only"),
        ({"ids": ("1",)}, "ids for 1 documents, but there are 2 documents"),
        ({"labels": NamedMatrix(np.ones((3, 1)), ("x",))}, "labels for 3 documents, but there are 2 documents"),
    ],
)
def test_bad_parts_are_refused(change, message):
    parts = {"words": [0, 1, 1], "offsets": [0, 2, 3], "vocabulary": ("a", "b"), "labels": None, "ids": None} | change
    with pytest.raises(InputError, match=message):
        Corpus(**parts)


@pytest.mark.parametrize(
    ("index", "rows"),
    [
        ([2, 0], [2, 0]),
        (np.array([3]), [3]),
        (np.array([1, 1, -1], dtype=np.int8), [1, 1, 3]),
        (slice(1, None, 2), [1, 3]),
        ([True, False, False, True], [0, 3]),
        (np.zeros(4, bool), []),
        ([], []),
        (range(2), [0, 1]),
    ],
)
def test_indexing_selects_documents_with_their_labels_and_ids(index, rows):
    corpus = small()
    for part in (corpus[index], corpus.subset(index), corpus[index, ...]):
        assert list(part) == [corpus.document(i) for i in rows]
        assert part.ids == tuple(corpus.ids[i] for i in rows)
        assert part.vocabulary == corpus.vocabulary
        assert part.label_names == corpus.label_names
        np.testing.assert_array_equal(part.labels.matrix.toarray(), corpus.labels.matrix.toarray()[rows])


@pytest.mark.parametrize(
    ("index", "error"),
    [
        ([4], IndexError),
        ([-5], IndexError),
        (0, TypeError),
        ([True], InputError),
        ([0.5], InputError),
        ("a", TypeError),
    ],
)
def test_bad_indices_are_refused(index, error):
    with pytest.raises(error):
        small()[index]


@given(TOKENS, st.data())
@settings(deadline=None)
def test_subset_is_indexing_of_the_list_of_documents(documents, data):
    corpus = Corpus.from_tokens([*documents, ["a"]])
    rows = data.draw(st.lists(st.integers(0, len(documents)), max_size=10))
    assert list(corpus[rows]) == [[*documents, ["a"]][i] for i in rows]


@given(TOKENS)
@settings(deadline=None)
def test_counts_count_the_words_of_each_document(documents):
    corpus = Corpus.from_tokens([*documents, ["a"]])
    counts = corpus.counts()
    assert counts.dtype == np.int32
    assert counts.shape == corpus.shape
    for d, document in enumerate(corpus):
        row = counts.toarray()[d]
        assert row.tolist() == [document.count(word) for word in corpus.vocabulary]
    assert counts.has_canonical_format


def test_split_is_a_partition_in_order_with_unseen_words_in_the_test_part():
    corpus = Corpus.from_tokens([[f"w{i}", "common"] for i in range(50)], labels=list("ab") * 25, ids=range(50))
    train, test = corpus.split(test_size=0.2, random_state=3)
    assert (len(train), len(test)) == (40, 10)
    assert sorted(map(int, train.ids + test.ids)) == list(range(50))
    for part in (train, test):
        assert list(part.ids) == sorted(part.ids, key=int)
        assert set(part.vocabulary) == {word for document in part for word in document}
        assert part.label_names == ("a", "b")
        for name, document, label in zip(part.ids, part, part.labels.matrix.toarray(), strict=True):
            assert document == corpus.document(int(name))
            assert label.tolist() == corpus.labels.matrix.toarray()[int(name)].tolist()
    assert same(train, corpus.split(test_size=10, random_state=3)[0])
    assert not same(train, corpus.split(test_size=10, random_state=4)[0])


@pytest.mark.parametrize("test_size", [0, 1.0, 0.0, 4, 5, -1, "a", True, float("nan")])
def test_split_that_leaves_a_part_empty_is_refused(test_size):
    with pytest.raises(InputError, match="test_size="):
        small().split(test_size=test_size)


def test_trim_drops_words_that_do_not_occur():
    part = small()[[2, 1]]
    trimmed = part.trim()
    assert trimmed.vocabulary == ("a", "c")
    assert list(trimmed) == list(part)
    assert trimmed.ids == part.ids
    assert small()[[1]].trim().vocabulary == ()


def test_labels_can_be_put_on_and_taken_off():
    corpus = small()
    assert corpus.without_labels().labels is None
    assert corpus.with_labels(["p", "q", "p", None]).label_names == ("p", "q")
    with pytest.raises(InputError, match="labels for 2 documents, but there are 4 documents"):
        corpus.with_labels(["p", "q"])


def test_copies():
    corpus = small()
    assert copy.deepcopy(corpus) is corpus
    back = pickle.loads(pickle.dumps(corpus))
    assert same(back, corpus)
    assert not back.words.flags.writeable
    assert copy.deepcopy(corpus.labels) is corpus.labels


@given(TOKENS, st.booleans(), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=40)
def test_save_and_load_round_trip(documents, labeled, named, mmap):
    labels = [d[:2] for d in documents] if labeled else None
    ids = [f"id {i} ü\n" for i in range(len(documents))] if named else None
    corpus = Corpus.from_tokens(documents, labels, ids, vocabulary=["g\nh", "a", "b", "c", "日本", "e f"])
    with tempfile.TemporaryDirectory() as folder:
        corpus.save(Path(folder, "c"))
        assert same(Corpus.load(Path(folder, "c"), mmap=mmap), corpus)


def test_loading_maps_the_words_and_saving_over_a_mapped_corpus_works(tmp_path):
    small().save(tmp_path / "c")
    corpus = Corpus.load(tmp_path / "c")
    assert isinstance(corpus.words.base.base, np.memmap) or isinstance(corpus.words.base, np.memmap)
    corpus[[0, 2]].save(tmp_path / "c")
    assert list(corpus) == list(small())
    assert len(Corpus.load(tmp_path / "c")) == 2


@pytest.mark.parametrize("mmap", [False, True])
def test_a_saved_corpus_with_words_outside_its_vocabulary_is_damaged(tmp_path, mmap):
    from metalda.storage import write_folder

    arrays = {"words": np.array([0, 7], np.int32), "offsets": np.array([0, 2])}
    write_folder(tmp_path / "c", "corpus", {"vocabulary": ["a"], "labels": None, "ids": None}, arrays, layout="npy")
    write_folder(tmp_path / "d", "corpus", {"vocabulary": ["a"]}, arrays, layout="npy")
    for name in "cd":
        with pytest.raises(StorageError, match="damaged") as error:
            Corpus.load(tmp_path / name, mmap=mmap)
        assert str(error.value).startswith(str(tmp_path / name))


class MeanLength(BaseEstimator):
    """The least of an estimator."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y=None):
        assert isinstance(X, Corpus)
        self.mean_ = X.n_tokens / len(X) + self.shift
        return self

    def score(self, X, y=None):
        return -abs(X.n_tokens / len(X) - self.mean_)


def test_scikit_learn_can_index_and_search():
    corpus = Corpus.from_tokens([["a"] * (i % 4 + 1) for i in range(12)], labels=list("abc") * 4)
    assert _num_samples(corpus) == 12
    for index in ([1, 2], np.array([3]), slice(2), np.arange(12) % 2 == 0, [True] * 12):
        assert isinstance(_safe_indexing(corpus, index), Corpus)
    search = GridSearchCV(MeanLength(), {"shift": [0.0, 5.0]}, cv=3).fit(corpus)
    assert search.best_params_ == {"shift": 0.0}
    assert len(cross_val_score(MeanLength(), corpus, cv=KFold(4))) == 4


def test_importing_the_corpus_loads_nothing_heavy():
    import subprocess
    import sys

    code = (
        "import sys, metalda.corpus; print([m for m in ('numba', 'pandas', 'sklearn', 'pyarrow') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.data
def test_web_snippets_has_the_size_that_the_paper_says(data_folder):
    train = Corpus.read(data_folder / "WS" / "train_doc.txt")
    assert len(train) == 9867
    assert len(train.label_names) == 8
    assert (train.labels.matrix.sum(axis=1) == 1).all()
    assert train.document(3)[:3] == ["metal", "gaskets", "searchable"]


def test_what_somebody_can_still_write_to_is_copied():
    words, offsets = np.array([0, 1, 0], np.int32), np.array([0, 3])
    corpus = Corpus(words, offsets, ("a", "b"))
    words[0] = 10**6
    assert corpus.words.tolist() == [0, 1, 0]
    assert np.shares_memory(corpus.with_labels(["x"]).words, corpus.words)


def test_the_first_documents_are_shown_with_labels_and_ids() -> None:
    corpus = Corpus.from_tokens([["cat", "dog"]] * 7, [["pets", "home"]] * 7, ids=[f"n{i}" for i in range(7)])
    shown = Page(corpus._repr_html_()).text
    assert shown.startswith("Corpus: 7 documents, 14 tokens, 2 words, 2 labels")
    assert shown.count("cat dog") == shown.count("home, pets") == 5
    assert "n4" in shown
    assert "n5" not in shown
    assert "… and 2 more" in shown


def test_hostile_words_labels_and_ids_are_text() -> None:
    corpus = Corpus.from_tokens([[word] for word in HOSTILE], labels=HOSTILE, ids=HOSTILE)
    page = corpus._repr_html_()
    assert Page(page).tags <= SAFE
    assert all(Page(page).text.count(word) == 3 for word in HOSTILE[:4])
    assert len(page) < 5_000
