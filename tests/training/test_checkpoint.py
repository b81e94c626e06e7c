"""Stopping and going on: the model is the same, whatever happened in between."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import metalda
from contracts import CASES, FEATURES, PETS, SKIES, corpus
from marks import slow_after_first
from metalda import DMR, LDA, Corpus, MetaLDA
from metalda.errors import InputError, StorageError

SETTINGS = {"n_iter": 12, "thin": 2, "n_draws": 3, "random_state": 0, "verbose": False}


def assert_same_model(one, other):
    np.testing.assert_array_equal(one.components_, other.components_)
    np.testing.assert_array_equal(one.doc_topics_, other.doc_topics_)
    for a, b in zip(one.draws_, other.draws_, strict=True):
        np.testing.assert_array_equal(a.log_doc_weights, b.log_doc_weights)
        np.testing.assert_array_equal(a.log_word_weights, b.log_word_weights)
        np.testing.assert_array_equal(a.word_topic_counts.toarray(), b.word_topic_counts.toarray())
    np.testing.assert_array_equal(one.history_["log_likelihood"], other.history_["log_likelihood"])
    np.testing.assert_array_equal(one.history_["moved"], other.history_["moved"])


def _interrupt_after(monkeypatch, n_sweeps):
    """Let the run die, as if killed, in the sweep after these."""
    import metalda.training.loop as loop

    sweep, done = loop.sweep, []

    def dying(*arguments):
        if len(done) == n_sweeps:
            raise MemoryError("killed")
        done.append(1)
        return sweep(*arguments)

    monkeypatch.setattr(loop, "sweep", dying)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(("n_sweeps", "n_shards"), slow_after_first([(5, 3), (1, 1), (5, 1), (11, 1), (1, 3), (11, 3)]))
def test_a_resumed_run_gives_the_model_of_an_uninterrupted_one(case, n_sweeps, n_shards, tmp_path, monkeypatch):
    expected = case.make(n_shards=n_shards).fit(corpus())
    with monkeypatch.context() as patch:
        _interrupt_after(patch, n_sweeps)
        with pytest.raises(MemoryError):
            case.make(n_shards=n_shards).fit(corpus(), checkpoint=tmp_path / "c", checkpoint_every=2)
    resumed = case.make(n_shards=n_shards, n_jobs=2)
    resumed.fit(corpus(), checkpoint=tmp_path / "c", checkpoint_every=2, resume=True)
    assert_same_model(expected, resumed)


def test_a_run_with_stripes_of_topics_is_resumed_exactly(tmp_path, monkeypatch):
    settings = {**SETTINGS, "word_features": FEATURES, "nu": 0.1}
    expected = MetaLDA(300, **settings).fit(corpus())
    with monkeypatch.context() as patch:
        _interrupt_after(patch, 7)
        with pytest.raises(MemoryError):
            MetaLDA(300, **settings).fit(corpus(), checkpoint=tmp_path / "c", checkpoint_every=3)
    assert_same_model(expected, MetaLDA(300, **settings).fit(corpus(), checkpoint=tmp_path / "c", resume=True))


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(0), np.int64(0)])
def test_the_seed_comes_back_with_the_checkpoint(random_state, tmp_path):
    settings = {**SETTINGS, "random_state": random_state}
    first = LDA(3, **settings).fit(corpus(), checkpoint=tmp_path / "c")
    again = LDA(3, **settings).fit(corpus(), checkpoint=tmp_path / "c", resume=True)
    np.testing.assert_array_equal(first.transform(corpus()), again.transform(corpus()))


def test_resuming_a_finished_run_gives_its_model_at_once(tmp_path):
    first = LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c")
    again = LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c", resume=True)
    assert_same_model(first, again)
    np.testing.assert_array_equal(first.history_["seconds"], again.history_["seconds"])


def test_ctrl_c_saves_a_checkpoint_to_go_on_from(tmp_path, interrupt):
    settings = {**SETTINGS, "n_iter": 40}
    interrupt(13)
    stopped = LDA(3, **settings).fit(corpus(), checkpoint=tmp_path / "c", checkpoint_every=10**9)
    assert stopped.n_iter_ == 13
    resumed = LDA(3, **settings).fit(corpus(), checkpoint=tmp_path / "c", resume=True)
    assert_same_model(resumed, LDA(3, **settings).fit(corpus()))


def test_two_fits_cannot_use_one_checkpoint(tmp_path, monkeypatch):
    import metalda.training.loop as loop

    advance, asked = loop._advance, []

    def advance_and_ask(*arguments):
        if not asked:
            for resume in (False, True):
                asked.append(resume)
                with pytest.raises(StorageError, match=f"c: the checkpoint is in use by process {os.getpid()}; wait"):
                    LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c", resume=resume)
        return advance(*arguments)

    monkeypatch.setattr(loop, "_advance", advance_and_ask)
    model = LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c")
    assert asked == [False, True]
    assert_same_model(model, LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c", resume=True))


def test_files_of_an_interrupted_save_are_deleted_by_the_next_run(tmp_path):
    (tmp_path / "c").mkdir()
    for name in ("arrays-0123456789abcdef.safetensors", "checkpoint-0123456789abcdef.json"):
        (tmp_path / "c" / name).write_text("half")
    (tmp_path / "c" / "notes-0123456789abcdef.json").write_text("mine")
    LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c")
    names = os.listdir(tmp_path / "c")
    assert len(names) == 3
    assert {"checkpoint.json", "notes-0123456789abcdef.json"} < set(names)


def test_a_fit_that_fails_leaves_no_lock_file(tmp_path):
    LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c")
    with pytest.raises(InputError, match="other parameters"):
        LDA(4, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c", resume=True)
    assert len(os.listdir(tmp_path / "c")) == 2


def test_a_checkpoint_is_never_written_over_by_another_run(tmp_path):
    LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c")
    with pytest.raises(InputError, match=r"checkpoint already; resume .* resume=True"):
        LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Corpus.from_texts(PETS + SKIES[1:] + ["sun"]), "other data .documents differ"),
        (corpus().without_labels(), "other data .labels differ"),
    ],
)
def test_a_changed_corpus_is_told_apart(data, message, tmp_path):
    MetaLDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c")
    with pytest.raises(InputError, match=message):
        MetaLDA(3, **SETTINGS).fit(data, checkpoint=tmp_path / "c", resume=True)


def test_changed_numbers_are_told_apart(tmp_path):
    documents = corpus().without_labels()
    numbers = np.linspace(-1, 1, len(documents))[:, None]
    DMR(3, **SETTINGS, optimize_burn_in=0).fit(documents, numbers, checkpoint=tmp_path / "c")
    with pytest.raises(InputError, match="labels differ"):
        DMR(3, **SETTINGS, optimize_burn_in=0).fit(documents, 3 * numbers, checkpoint=tmp_path / "c", resume=True)


def test_changed_word_features_are_told_apart(tmp_path):
    MetaLDA(3, word_features=FEATURES, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c")
    with pytest.raises(InputError, match="word features differ"):
        MetaLDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c", resume=True)


def test_changed_parameters_are_named(tmp_path):
    LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c")
    with pytest.raises(InputError, match=r"other parameters \(n_components=3, now 4\)"):
        LDA(4, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c", resume=True)
    with pytest.raises(InputError, match=r"model='LDA', now 'MetaLDA'"):
        MetaLDA(3, **SETTINGS).fit(corpus().without_labels(), checkpoint=tmp_path / "c", resume=True)
    LDA(3, **SETTINGS, n_jobs=2).fit(corpus(), checkpoint=tmp_path / "c", resume=True)  # of no effect, so allowed


@pytest.mark.parametrize("damage", ["truncated", "no identity", "other kind"])
def test_a_damaged_checkpoint_is_told_apart(damage, tmp_path):
    LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c")
    manifest = tmp_path / "c" / "checkpoint.json"
    if damage == "truncated":
        arrays = next((tmp_path / "c").glob("*.safetensors"))
        arrays.write_bytes(arrays.read_bytes()[:100])
    elif damage == "no identity":
        content = json.loads(manifest.read_text())
        del content["document"]["identity"]
        manifest.write_text(json.dumps(content))
    else:
        manifest.write_text("{}")
    with pytest.raises(StorageError, match="c"):
        LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c", resume=True)


def test_resume_needs_a_folder_and_a_folder_may_be_new(tmp_path):
    with pytest.raises(InputError, match="checkpoint="):
        LDA(3, **SETTINGS).fit(corpus(), resume=True)
    with pytest.raises(InputError, match="checkpoint_every"):
        LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c", checkpoint_every=0)
    fresh = LDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c", resume=True)
    assert_same_model(fresh, LDA(3, **SETTINGS).fit(corpus()))


PROGRAM = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from contracts import FEATURES, corpus
from metalda import MetaLDA
model = MetaLDA(3, word_features=FEATURES, n_iter=200, thin=9, n_draws=10, random_state=0, n_shards=2, verbose=False)
events = 0
def kill(event, arguments):
    global events
    if event in ("open", "os.rename", "os.remove") and {folder!r} in str(arguments[0]):
        events += 1
        if events == {at}:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(kill)
model.fit(corpus(), checkpoint={folder!r}, checkpoint_every=7, resume=True)
model.save({model!r})
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_killed_at_any_moment_it_goes_on_to_the_same_model(tmp_path):
    """SIGKILL before one of the operations on the files of checkpoints, another one each time; then to the end."""
    folder, model = tmp_path / "c", tmp_path / "model"

    def run(at: int) -> int:
        names = {"tests": str(Path(__file__).parents[1]), "folder": str(folder), "model": str(model), "at": at}
        return subprocess.run([sys.executable, "-c", PROGRAM.format(**names)], check=False).returncode

    assert [run(at) for at in (3, 17, 26, 41)] == [-signal.SIGKILL] * 4
    assert run(0) == 0
    expected = MetaLDA(
        3, word_features=FEATURES, n_iter=200, thin=9, n_draws=10, random_state=0, n_shards=2, verbose=False
    ).fit(corpus())
    assert_same_model(metalda.load(model), expected)
    assert len(list(folder.iterdir())) == 2, "files of killed saves are cleared away"


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("change", [1e-300, 0.9, 1.001, 1e300])
def test_a_wrong_mass_of_words_is_refused(case, change, tmp_path, monkeypatch):
    from metalda.storage import read_folder, write_folder

    with monkeypatch.context() as patch:
        _interrupt_after(patch, 11)
        with pytest.raises(MemoryError):
            case.make(n_iter=12, thin=1, n_draws=3).fit(corpus(), checkpoint=tmp_path / "c", checkpoint_every=11)
    document, arrays = read_folder(tmp_path / "c", "checkpoint")
    arrays["draws.word_mass"] = arrays["draws.word_mass"].copy()
    arrays["draws.word_mass"][1, 0] *= change
    write_folder(tmp_path / "c", "checkpoint", document, arrays)
    with pytest.raises(StorageError, match="word_mass"):
        case.make(n_iter=12, thin=1, n_draws=3).fit(corpus(), checkpoint=tmp_path / "c", resume=True)
