"""``metalda fit``: what it prints, what it saves, and how it stops."""

import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import metalda
from cli.helpers import Run, Write, error_line, news
from metalda.cli.fit import _default_output as default_output
from metalda.models.registry import CLASSES, MODELS, ModelEntry

FAST = ("-k", 2, "--iterations", 6)


def test_fit_prints_the_corpus_the_topics_and_what_to_type_next(run: Run, data: Path, tmp_path: Path) -> None:
    result = run("fit", data, "-o", tmp_path / "model", "--text", "body", "--labels", "section", *FAST)
    assert result.exit_code == 0
    assert "news.jsonl: 16 documents" in result.stdout
    assert "2 labels" in result.stdout
    assert re.search(r"MetaLDA: 2 topics, 6 iterations, 3 draws, [0-9.]+ s\n", result.stdout)
    assert re.search(r"^ +[01] +\d+\.\d% .*rain", result.stdout, re.MULTILINE)
    assert f"metalda effects {tmp_path / 'model'}" in result.stdout
    assert metalda.load(tmp_path / "model").label_names_ == ("pets", "sky")


def test_fit_gives_the_model_of_the_library(run: Run, data: Path, tmp_path: Path) -> None:
    run("fit", data, "-o", tmp_path / "model", "--text", "body", "--labels", "section", *FAST, "--seed", 3, "-q")
    corpus = metalda.Corpus.read(data, text="body", labels="section", stop_words="english")
    by_hand = metalda.MetaLDA(2, n_iter=6, random_state=3, verbose=False).fit(corpus)
    saved = metalda.load(tmp_path / "model")
    assert saved.vocabulary_ == by_hand.vocabulary_
    assert (saved.components_ == by_hand.components_).all()


def test_every_option_reaches_the_model(run: Run, data: Path, tmp_path: Path) -> None:
    options = ("--doc-prior", "default", "--word-prior", "0.02", "--mu", 2.5, "--nu", 0.5)
    options += ("--burn-in", 2, "--thin", 2, "--n-draws", 2, "--jobs", 2)
    result = run("fit", data, "-o", tmp_path / "model", "--text", "body", *FAST, *options)
    assert result.exit_code == 0, result.output
    parameters = metalda.load(tmp_path / "model").get_params()
    expected = {
        "doc_prior": "default",
        "word_prior": 0.02,
        "mu": 2.5,
        "nu": 0.5,
        "burn_in": 2,
        "thin": 2,
        "n_draws": 2,
        "n_jobs": 2,
        "n_iter": 6,
    }
    assert parameters.items() >= expected.items()


def test_model_lda_is_lda_with_the_priors_given(run: Run, data: Path, tmp_path: Path) -> None:
    options = ("--model", "lda", "--doc-prior", "0.5", "--text", "body", *FAST)
    assert run("fit", data, "-o", tmp_path / "model", *options).exit_code == 0
    model = metalda.load(tmp_path / "model")
    assert isinstance(model, metalda.LDA)
    assert (model.doc_prior, model.word_prior) == (0.5, 0.01)


def test_labels_that_a_model_does_not_learn_from_are_said_not_to_be_used(run: Run, data: Path, tmp_path: Path) -> None:
    options = ("--text", "body", "--labels", "section", *FAST)
    line = "Labels are ignored: --model lda does not learn from them"
    assert line in run("fit", data, "-o", tmp_path / "lda", *options, "--model", "lda").stdout
    assert "ignored" not in run("fit", data, "-o", tmp_path / "metalda", *options).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mu", "2"), "--mu is not an option of --model lda; it is one of: metalda"),
        (("--doc-prior", "labels"), "--doc-prior labels: --model lda expects a float in the range (0.0, 1e+09)"),
        (("--embeddings", "x.txt"), "--model lda uses no word features"),
    ],
)
def test_options_that_lda_lacks_are_refused(run: Run, data: Path, tmp_path: Path, options: tuple, message: str) -> None:
    result = run("fit", data, "-o", tmp_path / "m", "--text", "body", "--model", "lda", *options)
    assert message in error_line(result)


def test_an_unknown_model_is_refused_and_the_known_ones_are_in_the_help(run: Run, data: Path, tmp_path: Path) -> None:
    line = error_line(run("fit", data, "-o", tmp_path / "m", "--model", "bert"))
    assert "no model 'bert'; models are metalda, lda" in line
    shown = " ".join(run("fit", "--help").stdout.split())
    for entry in MODELS:
        assert f"{entry.name} {entry.description}" in shown


def test_an_option_without_a_parameter_is_refused_for_whatever_model(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ModelEntry("few", "Few", __name__, "has little")
    monkeypatch.setattr("metalda.models.registry.MODELS", (*MODELS, few))
    monkeypatch.setitem(CLASSES, "Few", few)
    options = ("--model", "few", "--text", "body", "--iterations", 6)
    assert run("fit", data, "-o", tmp_path / "m", *options, "--quiet").exit_code == 0  # --topics is not needed
    assert "--topics is not an option of --model few; it is one of: metalda, lda" in error_line(
        run("fit", data, "-o", tmp_path / "n", *options, "-k", 2)
    )


@dataclass(eq=False, repr=False)
class Few(metalda.LDA):
    """A model whose number of topics follows from something else."""

    n_components: int = field(default=2, init=False)


def test_without_an_output_the_folder_is_named_after_the_data(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    result = run("fit", data, "--text", "body", *FAST)
    assert result.exit_code == 0, result.output
    assert "Saved to news-model. Next:" in result.stdout
    assert metalda.load(work / "news-model").n_iter_ == 6
    assert run("fit", data, "--text", "body", "-k", 2, "--iterations", 7).exit_code == 0  # a model is replaced
    assert metalda.load(work / "news-model").n_iter_ == 7
    (work / "other-model").mkdir()
    (work / "other-model" / "notes").touch()
    data.rename(tmp_path / "other.jsonl")
    assert "other-model: holds other files" in error_line(run("fit", tmp_path / "other.jsonl", "--text", "body", *FAST))


@pytest.mark.parametrize(
    ("data", "folder"),
    [
        ("texts/news.jsonl.gz", "news-model"),
        ("news", "news-model"),
        ("my.news.csv", "my.news-model"),
        ("s3://bucket/papers.tsv.xz", "papers-model"),
        ("texts/", "texts-model"),
    ],
)
def test_the_default_folder_has_the_name_of_the_data(data: str, folder: str) -> None:
    assert default_output(Path(data)) == Path(folder)


def test_labels_may_be_repeated_or_separated_by_commas(run: Run, write: Write, tmp_path: Path) -> None:
    data = write("a.csv", "text,place,who\ncat dog,here,ann\nsun rain,there,bob\n")
    for name, options in (("one", ("--labels", "place,who")), ("two", ("--labels", "place", "--labels", "who"))):
        assert run("fit", data, "-o", tmp_path / name, *options, *FAST).exit_code == 0
        names = metalda.load(tmp_path / name).label_names_
        assert names == ("place=here", "place=there", "who=ann", "who=bob")


def test_several_labels_in_a_cell_are_split_at_the_delimiter(run: Run, write: Write, tmp_path: Path) -> None:
    data = write("a.tsv", "text\ttags\ncat dog\tpets, fun\nsun rain\tsky\n")
    result = run("fit", data, "-o", tmp_path / "m", "--labels", "tags", "--label-delimiter", ",", *FAST)
    assert result.exit_code == 0
    assert metalda.load(tmp_path / "m").label_names_ == ("fun", "pets", "sky")


def test_bins_of_new_documents_are_those_of_training(run: Run, data: Path, write: Write, tmp_path: Path) -> None:
    assert run("fit", data, "-o", tmp_path / "m", "--text", "body", "--bins", "year=2", *FAST).exit_code == 0
    model = metalda.load(tmp_path / "m")
    assert model.label_names_ == ("year < 1998", "year ≥ 1998")
    assert model.schema_.bins == {"year": (1998.0,)}
    new = write("new.jsonl", [{"body": "dog cat", "year": year} for year in (2001, 2002, 2003)])
    result = run("transform", tmp_path / "m", new, "-o", "-")
    assert result.exit_code == 0
    assert "warning" not in result.output  # no interval that the model does not know


def test_stop_words_are_english_by_default_and_may_be_none_or_a_file(run: Run, write: Write, tmp_path: Path) -> None:
    data = write("a.txt", "the cat and the dog\nthe sun and the rain\n")
    words = write("stop.txt", "Cat\n\nrain\n")
    expected = {
        "english": ("cat", "dog", "rain", "sun"),
        "none": ("and", "cat", "dog", "rain", "sun", "the"),
        words: ("and", "dog", "sun", "the"),
    }
    for i, (choice, vocabulary) in enumerate(expected.items()):
        assert run("fit", data, "-o", tmp_path / str(i), "--stop-words", choice, *FAST).exit_code == 0
        assert metalda.load(tmp_path / str(i)).vocabulary_ == vocabulary
    assert run("fit", data, "-o", tmp_path / "default", *FAST).exit_code == 0
    assert metalda.load(tmp_path / "default").vocabulary_ == expected["english"]


def test_lists_of_stop_words_are_joined(run: Run, write: Write, tmp_path: Path) -> None:
    data = write("a.txt", "the cat and the dog\nthe sun and the rain\n")
    lists = (
        "--stop-words",
        write("a.stop", "Cat\n"),
        "--stop-words",
        "english",
        "--stop-words",
        write("b.stop", "sun\n"),
    )
    assert run("fit", data, "-o", tmp_path / "m", *lists, *FAST).exit_code == 0
    assert metalda.load(tmp_path / "m").vocabulary_ == ("dog", "rain")
    result = run("transform", tmp_path / "m", data, "-o", "-", *lists)
    assert result.exit_code == 0, result.output
    line = error_line(run("fit", data, "-o", tmp_path / "n", *lists, "--stop-words", "none", *FAST))
    assert "--stop-words none excludes other lists" in line


def test_java_input_is_used_as_it_is_unless_stop_words_are_asked_for(run: Run, write: Write, tmp_path: Path) -> None:
    data = write("a.txt", "1\tpets\tThe cat\n2\tsky\tthe sun\n")
    result = run("fit", data, "-o", tmp_path / "m", *FAST)
    assert "read as ID<TAB>labels<TAB>words" in result.stderr
    assert metalda.load(tmp_path / "m").vocabulary_ == ("The", "cat", "sun", "the")
    run("fit", data, "-o", tmp_path / "m", "--stop-words", "english", *FAST)
    assert metalda.load(tmp_path / "m").vocabulary_ == ("The", "cat", "sun")


@pytest.mark.parametrize(("large", "quiet", "said"), [(0, (), True), (0, ("-q",), False), (10**9, (), False)])
def test_much_memory_is_announced_before_training(
    run: Run,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    large: int,
    quiet: tuple[str, ...],
    said: bool,
) -> None:
    monkeypatch.setattr("metalda.training.memory.LARGE", large)
    result = run("fit", data, "-o", tmp_path / "model", "--text", "body", "-k", 2, "--iterations", 2, *quiet)
    assert ("metalda: Training needs" in result.stderr) == said


def test_tokenizing_options_reach_the_corpus(run: Run, write: Write, tmp_path: Path) -> None:
    data = write("a.txt", "Ab cd Ab\nAb ef\n")
    options = ("--no-lowercase", "--ngrams", 2, "--token-pattern", r"\w+", "--min-df", "1", "--max-df", "0.5")
    assert run("fit", data, "-o", tmp_path / "m", *options, *FAST).exit_code == 0
    assert metalda.load(tmp_path / "m").vocabulary_ == ("Ab cd", "Ab ef", "cd", "cd Ab", "ef")


def test_embeddings_become_features_of_unseen_words_too(run: Run, data: Path, write: Write, tmp_path: Path) -> None:
    vectors = write("vectors.txt", "cat 1 -1 0.5\ndog 1 -1 0.2\nkitten 1 -1 0.5\nrain -1 1 0.1\n")
    result = run("fit", data, "-o", tmp_path / "m", "--text", "body", "--embeddings", vectors, *FAST)
    assert "of the vocabulary has at least one" in result.stdout
    assert "kitten" in metalda.load(tmp_path / "m").word_features.words
    options = ("--embeddings", vectors, "--vocabulary-only")
    assert run("fit", data, "-o", tmp_path / "m", "--text", "body", *options, *FAST).exit_code == 0
    assert "kitten" not in metalda.load(tmp_path / "m").word_features.words


def test_embeddings_may_be_numbers(run: Run, data: Path, write: Write, tmp_path: Path) -> None:
    vectors = write("vectors.txt", "cat 1 -1 0.5\ndog 1 -1 0.2\nkitten 1 -1 0.5\nrain -1 1 0.1\n")
    given = ("--text", "body", "--embeddings", vectors, "--real-features")
    assert run("fit", data, "-o", tmp_path / "m", *given, *FAST).exit_code == 0
    model = metalda.load(tmp_path / "m")
    assert model.feature_names_ == ("dim0", "dim1", "dim2")
    of_training = model.word_features.rows(["cat", "dog", "rain"]).matrix.toarray()  # not kitten
    np.testing.assert_allclose(of_training.std(axis=0), 1, rtol=1e-6)
    assert "dim0" in run("effects", tmp_path / "m", "--features").stdout
    refused = run("fit", data, "-o", tmp_path / "m", *given, "--weight-prior", "gamma", *FAST)
    assert refused.exit_code == 2
    assert "word features with numbers need a normal prior" in refused.stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--real-features",), "give --embeddings FILE alone"),
        (("--real-features", "--embeddings", "v.txt", "--model", "lflda"), "--model lflda uses no word features"),
    ],
)
def test_real_features_need_vectors(
    run: Run, data: Path, tmp_path: Path, options: tuple[str, ...], expected: str
) -> None:
    result = run("fit", data, "-o", tmp_path / "m", "--text", "body", *options, *FAST)
    assert result.exit_code == 2
    assert expected in result.stderr


def test_quiet_prints_nothing(run: Run, data: Path, write: Write, tmp_path: Path) -> None:
    result = run("fit", data, "-o", tmp_path / "m", "--text", "body", "--quiet", *FAST)
    assert (result.exit_code, result.output) == (0, "")
    java = write("a.txt", "1\tpets\tThe cat\n2\tsky\tthe sun\n")  # how it was read is a note, not a warning
    assert run("fit", java, "-o", tmp_path / "m", "--quiet", *FAST).output == ""


def test_a_model_may_be_replaced_but_nothing_else(run: Run, data: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert run("fit", data, "-o", tmp_path / "m", "--text", "body", *FAST).exit_code == 0
    assert "choose a new or empty folder" in error_line(run("fit", data, "-o", tmp_path, "--text", "body", *FAST))


def test_fit_names_the_model_that_it_replaces(run: Run, data: Path, tmp_path: Path) -> None:
    command = ("fit", data, "-o", tmp_path / "m", "--text", "body", *FAST)
    first = run(*command, "--model", "lda", "--no-clobber")
    assert first.exit_code == 0
    assert "replaced" not in first.stdout
    found = r"LDA model saved on \d{4}-\d\d-\d\d at \d\d:\d\d"
    line = error_line(run(*command, "--no-clobber"))
    assert re.search(rf"m: contains a {found}, which --no-clobber keeps: give another folder with --output", line)
    assert type(metalda.load(tmp_path / "m")) is metalda.LDA
    assert re.search(rf"m: the {found} will be replaced\n", run(*command).stdout)
    assert type(metalda.load(tmp_path / "m")) is metalda.MetaLDA


def test_a_checkpoint_is_resumed_and_told_from_those_of_other_runs(run: Run, data: Path, tmp_path: Path) -> None:
    common = ("--text", "body", "--labels", "section", "--checkpoint", tmp_path / "c", "--checkpoint-every", 2, "-q")
    command = ("fit", data, "-o", tmp_path / "model", *common)
    assert run(*command, *FAST).exit_code == 0
    assert (tmp_path / "c" / "checkpoint.json").exists()
    assert "--resume" in error_line(run(*command, *FAST))
    assert run(*command, *FAST, "--resume").exit_code == 0
    assert "iter=6, now 7" in error_line(run(*command, "-k", 2, "--iterations", 7, "--resume"))
    assert "--checkpoint" in error_line(run("fit", data, "-o", tmp_path / "model", "--text", "body", "--resume"))


def test_ctrl_c_saves_what_was_learnt_and_says_how_far_it_came(write: Write, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl", reason="Windows has no SIGINT for a child process")
    termios = pytest.importorskip("termios")
    data = write("news.jsonl", news() * 50)
    command = [sys.executable, "-c", "from metalda.cli import main; main()", "fit", str(data), "-o", "model"]
    options = ["--text", "body", "--labels", "section", "-k", "5", "--iterations", "1000000"]
    terminal, end = os.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))  # a progress bar needs a width
    seen: list[bytes] = []
    reader = threading.Thread(target=drain, args=(terminal, seen))
    with subprocess.Popen(command + options, cwd=tmp_path, stdout=subprocess.PIPE, stderr=end, text=True) as process:
        try:
            os.close(end)
            reader.start()
            deadline = time.monotonic() + 600
            while b"/1000000" not in b"".join(seen):  # the progress bar: training has begun
                assert time.monotonic() < deadline, seen
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=600)
        finally:
            process.kill()
    reader.join()
    os.close(terminal)
    assert process.returncode == 0, output
    stopped = re.search(r"stopped after ([\d,]+) of 1,000,000 iterations", output)
    assert stopped is not None
    assert b"metalda: warning: Stopped after" in b"".join(seen)
    assert metalda.load(tmp_path / "model").n_iter_ == int(stopped[1].replace(",", ""))


def drain(terminal: int, seen: list[bytes]) -> None:
    """Read what a process writes, so that it never waits for its reader."""
    with suppress(OSError):  # how Linux says that the other end is closed
        while chunk := os.read(terminal, 4096):
            seen.append(chunk)


def test_a_column_whose_name_has_a_comma_is_quoted(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "news.csv"
    data.write_text('"text, raw",section\ncat dog,pets\nsun rain,sky\n')
    refused = run("fit", data, "-o", tmp_path / "m", "--text", "text, raw", *FAST)
    assert 'fields are: "text, raw", section' in refused.output
    done = run("fit", data, "-o", tmp_path / "m", "--text", '"text, raw"', "--labels", "section", *FAST)
    assert done.exit_code == 0, done.output


def test_iterations_may_be_auto_up_to_a_limit(run: Run, data: Path, tmp_path: Path) -> None:
    options = ("--text", "body", "-k", 2, "--model", "lda", "--iterations", "auto", "--iteration-limit", 40)
    result = run("fit", data, "-o", tmp_path / "m", *options)
    assert result.exit_code == 0, result.output
    model = metalda.load(tmp_path / "m")
    assert (model.n_iter, model.n_iter_) == ("auto", 40)
    assert "2 topics, 40 iterations" in result.stdout
    message = error_line(run("fit", data, "-o", tmp_path / "m", "--iterations", "often"))
    assert "--iterations often" in message
    assert "auto|N" in run("fit", "--help").stdout
