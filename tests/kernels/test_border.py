"""How arrays enter compiled code."""

import subprocess
import sys

import numpy as np

from contracts import CASES, LABELS, corpus
from metalda import Corpus, count_windows
from metalda.kernels.border import compiled_kernels, frozen, needs_compiling
from metalda.kernels.tokens import sweep_by_word

ENTRIES = {  # what Python calls; functions that only kernels call may have several signatures
    "add_rising",
    "build_table",
    "count_repeats",
    "document_tables",
    "draw_weights",
    "find_words",
    "fold_in",
    "hash_documents",
    "infer_label_sets",
    "log_multinomials",
    "mix_pseudo_documents",
    "move_documents",
    "multiply_weights",
    "promotion_chances",
    "score_tokens",
    "add_changes",
    "copy_counts",
    "count_topics",
    "count_windows",
    "counts_log_likelihood",
    "softmax_log_likelihood",
    "sweep_latent",
    "sweep_by_word",
    "sweep_documents",
    "sweep_shared",
    "totals_log_likelihood",
    "urn_log_likelihood",
    "weigh_new_documents",
    "word_log_likelihood",
    "word_probabilities",
    "word_tables",
}


def test_frozen_arrays_are_read_only_views_of_one_dtype():
    own = np.arange(4, dtype=np.int32)
    view = frozen(own, np.int32)
    assert np.shares_memory(own, view)
    assert not view.flags.writeable
    assert own.flags.writeable
    assert frozen(np.ones((4, 4)).T[::2], np.float32).flags.c_contiguous


def test_every_kernel_has_one_signature(tmp_path):
    """Read-only memory maps, other integers, other layouts: all are made alike at the border."""
    documents = corpus()
    documents.save(tmp_path / "corpus")
    mapped = Corpus.load(tmp_path / "corpus", mmap=True)
    for case in CASES:
        matrix = documents.counts()
        for X in (documents, mapped, matrix.toarray()[:, ::-1], matrix.astype(np.int64)):
            labels = None if isinstance(X, Corpus) else LABELS
            names = {} if isinstance(X, Corpus) or not case.needs_names else {"vocabulary": documents.vocabulary}
            make = case.make if isinstance(X, Corpus) else case.make_for_columns
            model = make(n_shards=2, **names).fit(X, labels)
            model.transform(X)
            model.perplexity(X, unseen="features")
            if model.label_names_:
                model.predict_labels(X)
    for reference in (documents, mapped, list(documents), ["The cat", "ein Bär"]):
        for window, as_gensim in ((0, False), (np.int32(5), True)):
            count_windows(documents.vocabulary, reference, window=window, as_gensim=as_gensim)
    counted = {each.py_func.__name__: len(each.signatures) for each in compiled_kernels()}
    assert {name: counted[name] for name in ENTRIES} == dict.fromkeys(ENTRIES, 1)


def test_a_kernel_in_the_cache_or_in_memory_needs_no_compiling():
    CASES[0].make().fit(corpus())
    assert not needs_compiling(sweep_by_word)


def test_without_a_cache_folder_it_runs_all_the_same():
    program = (
        "import numba.core.caching as c\n"
        "c.CacheImpl._locator_classes = []\n"
        "from metalda.kernels.folding import hash_documents as f\n"
        "import numpy as np\n"
        "keys = np.zeros(1, np.uint64)\n"
        "f(np.ones(1, np.uint64), np.zeros(1, np.int32), np.array([0, 1]), keys)\n"
        "print(keys[0] > 0, f.stats.cache_path)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True None\n"
