"""A prepared corpus is the corpus that `Corpus.read` gives, however it is cut into parts, stopped and gone on with."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metalda.corpus import Corpus, parts
from metalda.errors import EmptyVocabularyError, InputError, StorageError
from metalda.models.saving import fingerprint_corpus
from metalda.utils.packed import PackedStrings

TEXTS = ["The cat saw the dog", "", "A dog barks", "rain, rain and wind!", "the wind", "cat", "Wolken über Köln", "of"]


def write_jsonl(path: Path, n_documents: int = 20) -> Path:
    records = (
        {"id": f"n{i}", "text": TEXTS[i % 8], "tags": [["x"], ["y", "x"], []][i % 3], "year": 1990 + i % 7}
        for i in range(n_documents)
    )
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path):
    return write_jsonl(tmp_path / "data.jsonl")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(parts, "MAX_DOCUMENTS", 3)


@pytest.fixture
def written(monkeypatch):
    """The numbers of the parts that were written."""
    numbers = []
    write = parts.PartWriter.__call__
    monkeypatch.setattr(
        parts.PartWriter,
        "__call__",
        lambda self, number, *documents: numbers.append(number) or write(self, number, *documents),
    )
    return numbers


def assert_same(prepared: Corpus, read: Corpus) -> None:
    for name in ("words", "offsets"):
        a, b = getattr(prepared, name), getattr(read, name)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    assert prepared.vocabulary == read.vocabulary
    assert prepared.label_names == read.label_names
    assert prepared.schema == read.schema
    assert (prepared.labels is None) == (read.labels is None)
    assert (prepared.ids is None) == (read.ids is None)
    assert prepared.ids is None or prepared.ids == read.ids
    assert fingerprint_corpus(prepared) == fingerprint_corpus(read)
    assert (prepared.texts is None) == (read.texts is None)
    assert prepared.texts is None or prepared.texts == read.texts


def corpus_or_error(make):
    try:
        return make()
    except InputError as error:
        return type(error), str(error)


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".npy"))


words = st.sampled_from(["cat", "Dog", "rain", "the", "a", "wind", "über", "\ud800x"])
records = st.fixed_dictionaries(
    {"text": st.lists(words, max_size=6).map(" ".join)},
    optional={
        "tags": st.one_of(st.none(), st.sampled_from(["x", "y", "2", "10"]), st.lists(st.sampled_from("xyz"))),
        "year": st.one_of(st.none(), st.integers(0, 5)),
        "id": st.one_of(st.none(), st.integers(), st.text(max_size=3)),
    },
)


@given(
    records=st.lists(records, min_size=1, max_size=12),
    size=st.integers(1, 5),
    how=st.fixed_dictionaries(
        {},
        optional={
            "labels": st.just("tags"),
            "bins": st.just({"year": [1.5, 3]}),
            "numbers": st.just({"year": [2, 1.5]}),
            "min_df": st.sampled_from([1, 2, 0.3]),
            "max_df": st.sampled_from([1.0, 3, 0.5]),
            "max_features": st.integers(1, 4),
            "stop_words": st.none(),
            "vocabulary": st.just(["wind", "cat", "sun"]),
            "ngram_range": st.just((1, 2)),
        },
    ),
)
@settings(deadline=None, max_examples=80)
def test_a_prepared_corpus_is_the_corpus_that_is_read(records, size, how):
    if "bins" in how:
        how.pop("numbers", None)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "MAX_DOCUMENTS", size)
        data, output = Path(folder, "data.jsonl"), Path(folder, "corpus")
        data.write_text("".join(json.dumps(record) + "\n" for record in records))
        expected = corpus_or_error(lambda: Corpus.read(data, **how))
        prepared = corpus_or_error(lambda: Corpus.prepare(data, output, **how))
        if isinstance(expected, Corpus):
            assert_same(prepared, expected)
            assert left_in(output) == ["corpus.json"]
        else:
            assert prepared == expected


@pytest.mark.parametrize("format", ["text", "java", "folder"])
def test_every_format_can_be_prepared(tmp_path, format):
    data = tmp_path / "data"
    if format == "folder":
        for i, text in enumerate(TEXTS):
            (data / "abc"[i % 3]).mkdir(parents=True, exist_ok=True)
            (data / "abc"[i % 3] / f"{i}.txt").write_text(text, encoding="utf-8")
    elif format == "java":
        data.write_text("".join(f"{i}\tx y\t{text}\n" for i, text in enumerate(TEXTS)), encoding="utf-8")
    else:
        data.write_text("\n".join(TEXTS), encoding="utf-8")
    assert_same(Corpus.prepare(data, tmp_path / "corpus", format=format), Corpus.read(data, format=format))


@pytest.mark.slow
def test_the_corpus_does_not_depend_on_the_number_of_processes(data, tmp_path):
    how = {"labels": "tags", "bins": {"year": 3}, "min_df": 2}
    assert_same(Corpus.prepare(data, tmp_path / "corpus", n_jobs=2, **how), Corpus.read(data, **how))


def test_words_are_read_from_the_disk(data, tmp_path):
    from metalda.storage.arrays import is_mapped

    corpus = Corpus.prepare(data, tmp_path / "corpus", labels="tags")
    assert is_mapped(corpus.words)
    assert isinstance(corpus.ids, PackedStrings)
    assert corpus[[3, 1]].ids == ("n3", "n1")


def test_ctrl_c_keeps_the_parts_that_are_done(data, tmp_path, monkeypatch, written):
    write = parts.PartWriter.__call__

    def interrupted(self, number, *documents):
        if number == 4:
            raise KeyboardInterrupt
        write(self, number, *documents)

    with monkeypatch.context() as patch:
        patch.setattr(parts.PartWriter, "__call__", interrupted)
        with pytest.raises(KeyboardInterrupt, match=r"finished parts are kept in .*again to resume"):
            Corpus.prepare(data, tmp_path / "corpus")
    assert written == [0, 1, 2, 3]
    with pytest.raises(StorageError, match=r"not a saved corpus"):
        Corpus.load(tmp_path / "corpus")
    assert_same(Corpus.prepare(data, tmp_path / "corpus"), Corpus.read(data))
    assert written == [0, 1, 2, 3, 4, 5, 6]
    assert left_in(tmp_path / "corpus") == ["corpus.json"]


def test_other_filters_can_be_given_to_go_on(data, tmp_path, written):
    with pytest.raises(EmptyVocabularyError, match=r"data.jsonl: no words left"):
        Corpus.prepare(data, tmp_path / "corpus", min_df=19)
    n_written = len(written)
    assert_same(Corpus.prepare(data, tmp_path / "corpus", min_df=2), Corpus.read(data, min_df=2))
    assert len(written) == n_written


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ({"stop_words": None}, "tokenizing"),
        ({"labels": "tags"}, "fields"),
        ({"vocabulary": ["cat"]}, "tokenizing"),
    ],
)
def test_what_another_command_left_is_refused_in_one_line_and_can_be_thrown_away(data, tmp_path, how, what, written):
    with pytest.raises(EmptyVocabularyError):
        Corpus.prepare(data, tmp_path / "corpus", min_df=19)
    with pytest.raises(
        InputError, match=rf"left by another run \({what} differ\): start again with resume=False"
    ) as error:
        Corpus.prepare(data, tmp_path / "corpus", **how)
    assert "\n" not in str(error.value)
    del written[:]
    assert_same(Corpus.prepare(data, tmp_path / "corpus", resume=False, **how), Corpus.read(data, **how))
    assert len(written) == 7


def test_data_that_have_changed_are_noticed(data, tmp_path):
    with pytest.raises(EmptyVocabularyError):
        Corpus.prepare(data, tmp_path / "corpus", min_df=19)
    write_jsonl(data, 21)
    with pytest.raises(InputError, match=r"left by another run \(source differ\)"):
        Corpus.prepare(data, tmp_path / "corpus")


def test_bad_data_leave_nothing_behind(tmp_path):
    data = write_jsonl(tmp_path / "data.jsonl")
    data.write_text(data.read_text() + "{not JSON\n")
    with pytest.raises(InputError, match=r"data.jsonl line 21: not JSON"):
        Corpus.prepare(data, tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


def test_a_corpus_is_not_written_into_its_own_data(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("cat")
    with pytest.raises(InputError, match="choose a folder outside"):
        Corpus.prepare(tmp_path / "texts", tmp_path / "texts" / "corpus")


def test_an_analyzer_that_other_processes_cannot_import_is_one_line(data, tmp_path):
    with pytest.raises(InputError, match=r"n_jobs=2 other processes must be able to import the analyzer"):
        Corpus.prepare(data, tmp_path / "corpus", n_jobs=2, analyzer=lambda text: text.split())
    assert_same(Corpus.prepare(data, tmp_path / "corpus", analyzer=str.split), Corpus.read(data, analyzer=str.split))


def test_a_folder_of_a_saved_corpus_is_not_read_as_texts(data, tmp_path):
    Corpus.prepare(data, tmp_path / "corpus")
    with pytest.raises(InputError, match=r"is a saved corpus, not a folder of texts: Corpus.load reads it"):
        Corpus.read(tmp_path / "corpus")


@pytest.mark.slow
def test_memory_does_not_grow_with_the_documents(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "MAX_DOCUMENTS", 200)
    peaks = []
    for n_documents in (1_000, 10_000):
        data = write_jsonl(tmp_path / f"{n_documents}.jsonl", n_documents)
        tracemalloc.start()
        Corpus.prepare(data, tmp_path / f"warm-{n_documents}", labels="tags").words[0]
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0] + 9_000 * 60  # the label matrix of the corpus that is returned


STOPPED = """
import os, signal, sys, time
from metalda.corpus import Corpus, parts

parts.MAX_DOCUMENTS = 3
write = parts.PartWriter.__call__

def stopping(self, number, *documents):
    if number == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, number, *documents)

parts.PartWriter.__call__ = stopping
Corpus.prepare(sys.argv[1], sys.argv[2])
"""


def test_after_a_kill_the_same_call_goes_on(data, tmp_path, written):
    done = subprocess.run([sys.executable, "-c", STOPPED, data, tmp_path / "corpus"], check=False)
    assert done.returncode == -signal.SIGKILL
    assert_same(Corpus.prepare(data, tmp_path / "corpus"), Corpus.read(data))
    assert written == [4, 5, 6]


ANALYZER = """
import os, time

def slow(text):
    with open(os.environ["PIDS"], "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(0.2)
    return text.split()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="processes are killed as POSIX does it")
def test_the_processes_end_with_the_one_that_started_them(data, tmp_path):
    (tmp_path / "slow_analyzer.py").write_text(ANALYZER)
    program = "import sys; from slow_analyzer import slow; from metalda import Corpus; "
    program += "Corpus.prepare(sys.argv[1], sys.argv[2], n_jobs=2, analyzer=slow)"
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "PIDS": str(tmp_path / "pids"), "PYTHONPATH": paths}
    command = [sys.executable, "-c", program, data, tmp_path / "corpus"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        pids = _wait_for(lambda: (tmp_path / "pids").exists() and set((tmp_path / "pids").read_text().split()))
    finally:
        process.kill()
        process.wait()
    assert str(process.pid) not in pids
    _wait_for(lambda: not any(map(_lives, pids)))


def _wait_for(condition, seconds: float = 300):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return found


def _lives(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return not Path("/proc/self/stat").exists()  # it has gone meanwhile, or there is no such folder here
    except ProcessLookupError:
        return False
