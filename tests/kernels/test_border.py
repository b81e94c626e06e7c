"""How kernels are compiled, how arrays enter them, and how they run without compilation."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import float32, njit, uintp

from contracts import CASES, LABELS, corpus
from metalda import Corpus, count_windows
from metalda.kernels import border
from metalda.kernels.border import (
    COMPILED,
    LANES,
    add,
    compiled_kernels,
    fill,
    frozen,
    load,
    multiply,
    needs_compiling,
    store,
)
from metalda.kernels.tokens import sweep_by_word

of_compiled_code = pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set: nothing is compiled or cached")

ENTRIES = {  # kernels that Python calls; those that only kernels call may have several signatures
    "add_rising",
    "build_table",
    "count_repeats",
    "document_tables",
    "draw_weights",
    "find_words",
    "fold_in",
    "hash_documents",
    "log_multinomials",
    "mix_label_sets",
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


@of_compiled_code
def test_every_kernel_has_one_signature(tmp_path):
    """Read-only memory maps, other integers and other layouts get one dtype and layout before a kernel sees them."""
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


@of_compiled_code
def test_a_kernel_in_the_cache_or_in_memory_needs_no_compiling():
    CASES[0].make().fit(corpus())
    assert not needs_compiling(sweep_by_word)


@of_compiled_code
def test_without_a_cache_folder_kernels_are_compiled_in_memory():
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


HASH = (
    "from metalda.kernels.folding import hash_documents as f\n"
    "import numpy as np\n"
    "keys = np.zeros(1, np.uint64)\n"
    "f(np.ones(1, np.uint64), np.zeros(1, np.int32), np.array([0, 1]), keys)\n"
    "print(keys[0] > 0, f.stats.cache_path is not None, sum(f.stats.cache_hits.values()))\n"
)


@of_compiled_code
def test_a_full_disk_or_a_damaged_cache_costs_only_the_time_to_compile(tmp_path):
    full = (
        "import errno\n"
        "from numba.core.caching import IndexDataCacheFile\n"
        "def fail(*arguments):\n"
        "    raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "IndexDataCacheFile._open_for_write = fail\n"
    )

    def run(before=""):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", before + HASH]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert run(full) == "True True 0\n"
    assert run() == "True True 0\n"
    for suffix in ("nbi", "nbc"):
        for path in tmp_path.rglob(f"*.{suffix}"):
            path.write_bytes(path.read_bytes()[:-9])
        assert run() == "True True 0\n"
    assert run() == "True True 1\n"


FIT = """
import json
import numpy as np
from metalda import MetaLDA
from metalda.kernels.border import COMPILED, compiled_kernels, needs_compiling
from metalda.kernels.tokens import sweep_by_word

rng = np.random.default_rng(0)
sides = np.arange(10) % 2
texts = [" ".join(f"w{v}" for v in rng.integers(0, 4, 20) + 4 * side) for side in sides]
features = {f"w{v}": ["low" if v < 4 else "high"] for v in range(8)}
model = MetaLDA(n_components=2, n_iter=30, word_features=features, random_state=0, verbose=False)
model.fit(texts, ["a" if side else "b" for side in sides])
theta = model.doc_topics_
print(json.dumps({
    "compiled": bool(COMPILED),
    "kernels": len(compiled_kernels()) > 0,
    "needs_compiling": needs_compiling(sweep_by_word),
    "perplexity": model.perplexity(texts, ["a" if side else "b" for side in sides]),
    "separation": float(abs(theta[sides == 0].mean(axis=0) - theta[sides == 1].mean(axis=0)).max()),
}))
"""


@of_compiled_code
def test_without_compilation_a_fit_gives_the_same_posterior(capsys):
    exec(FIT, {})
    compiled = json.loads(capsys.readouterr().out)
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", FIT]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    plain = json.loads(done.stdout)
    assert (compiled["compiled"], compiled["kernels"]) == (True, True)
    assert (plain["compiled"], plain["kernels"], plain["needs_compiling"]) == (False, False, False)
    assert plain["perplexity"] == pytest.approx(compiled["perplexity"], rel=0.1)
    assert min(plain["separation"], compiled["separation"]) > 0.8


@njit
def combine(rows, chosen, start, out):
    total, product = fill(float32(0)), fill(float32(start))
    for r in chosen:
        total = add(total, load(rows, uintp(r)))
        product = multiply(product, load(rows, uintp(r)))
    store(out, uintp(0), total)
    store(out, uintp(2), product)


def test_rows_are_added_and_multiplied_lane_by_lane_and_nothing_else_is_touched():
    rng = np.random.default_rng(0)
    rows = rng.gamma(2, 1, (9, LANES)).astype(np.float32)
    chosen = np.array([3, 0, 3, 8])
    out = np.full((4, LANES), 7, np.float32)
    combine(rows, chosen, 0.5, out)
    total, product = np.float32(0), np.float32(0.5)
    for r in chosen:
        total, product = total + rows[r], product * rows[r]
    np.testing.assert_array_equal(out, [total, np.full(LANES, 7), product, np.full(LANES, 7)])
    assert out.dtype == np.float32


def test_rows_need_no_alignment():
    memory = np.arange(2 * LANES + 1, dtype=np.float32)
    out = np.empty((3, LANES), np.float32)
    combine(memory[1:].reshape(2, LANES), np.array([1]), 1.0, out)
    np.testing.assert_array_equal(out[0], memory[1 + LANES :])


# Loops that sum and store, with the reason why addresses cannot change their result.
SEQUENTIAL = {
    "add_likelihood": "visits the tokens of a document one by one, each of which changes a count",
    "draw_log_gammas": "draws a random number for each element, so that the elements are visited in order",
    "_weigh_others": "stores the running sums, so that their order is fixed",
    "_draw_component": "stores the running sums, so that their order is fixed",
    "sweep_shared": "visits the two topics that a token leaves and enters",
}


def _sums_and_stores(loop: ast.For | ast.While) -> bool:
    """Whether an innermost loop adds to a variable and also assigns to an array."""
    inner = [node for statement in loop.body for node in ast.walk(statement)]
    if any(isinstance(node, ast.For | ast.While) for node in inner):
        return False
    augmented = [node for node in inner if isinstance(node, ast.AugAssign)]
    sums = [node for node in augmented if isinstance(node.target, ast.Name) and not _is_count(node.value)]
    targets = [target for node in inner if isinstance(node, ast.Assign) for target in node.targets]
    targets += [node.target for node in augmented]
    return bool(sums) and any(isinstance(target, ast.Subscript) for target in targets)


def _is_count(value: ast.expr) -> bool:
    """Sums of integers are exact in any order: 1, and elements of arrays of counts."""
    return isinstance(value, ast.Constant) or "counts[" in ast.unparse(value)


def test_a_loop_that_sums_stores_nothing():
    """Otherwise the addresses of arrays decide the order of summation, and with it the last bit of the result."""
    found = set()
    for path in Path(border.__file__).parent.glob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                loops = [node for node in ast.walk(function) if isinstance(node, ast.For | ast.While)]
                found |= {function.name for loop in loops if _sums_and_stores(loop)}
    assert found == set(SEQUENTIAL)
