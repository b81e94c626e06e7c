"""Texts in any language on the command line."""

import sys
from pathlib import Path

import pytest

import metalda
from cli.helpers import Run, Write, error_line
from corpus.samples import SAMPLES, UNSPACED

FAST = ("-k", 2, "--iterations", 4)


@pytest.fixture
def german(write: Write) -> Path:
    return write("texte.txt", "\n".join(SAMPLES["de"]))


def test_fit_says_the_language_that_it_guessed(run: Run, german: Path, tmp_path: Path) -> None:
    result = run("fit", german, "-o", tmp_path / "m", *FAST)
    (line,) = [line for line in result.stderr.splitlines() if "seem to be" in line]
    assert line.startswith("metalda: the texts seem to be German (de), so its stop words are dropped")
    assert metalda.load(tmp_path / "m").schema_.stop_words == "de"


def test_english_stop_words_for_german_are_one_warning(run: Run, german: Path, tmp_path: Path) -> None:
    result = run("fit", german, "-o", tmp_path / "m", *FAST, "--stop-words", "english", "-q")
    (line,) = result.stderr.splitlines()
    assert line.endswith("but English stop words are dropped: give stop_words='de' (--stop-words de)")


@pytest.mark.parametrize("name", ["de", "german"])
def test_stop_words_of_a_language_stems_and_phrases(run: Run, german: Path, tmp_path: Path, name: str) -> None:
    options = ("--stop-words", name, "--stem", name, "--phrases", "--phrase-min-count", 2, "--phrase-threshold", 0.9)
    assert run("fit", german, "-o", tmp_path / "m", *FAST, *options).exit_code == 0
    model = metalda.load(tmp_path / "m")
    assert (model.schema_.stop_words, model.schema_.stem) == ("de", "german")
    assert "kartoffeln" not in model.vocabulary_
    assert {"kartoffeln", "die"}.isdisjoint(model.vocabulary_)
    corpus = metalda.Corpus.read(
        german, stop_words="de", stem="de", phrases=True, phrase_min_count=2, phrase_threshold=0.9
    )
    assert model.vocabulary_ == corpus.vocabulary
    assert run("transform", tmp_path / "m", german, "-o", "-").exit_code == 0


def test_lists_of_several_languages_and_files_are_joined(run: Run, write: Write, tmp_path: Path) -> None:
    data = write("mixed.txt", "die Katze und the cat\nder Hund and the dog\n")
    lists = ("--stop-words", "de", "--stop-words", "english", "--stop-words", write("own.txt", "Hund\n"))
    assert run("fit", data, "-o", tmp_path / "m", *FAST, *lists).exit_code == 0
    assert metalda.load(tmp_path / "m").vocabulary_ == ("cat", "dog", "katze")
    line = error_line(run("transform", tmp_path / "m", data, "-o", "-", "--stop-words", "auto"))
    assert "--stop-words auto: the language is guessed in training" in line


def test_chinese_is_one_warning_and_pairs_of_characters(run: Run, write: Write, tmp_path: Path) -> None:
    data = write("texts.txt", "\n".join(UNSPACED["zh"]))
    result = run("fit", data, "-o", tmp_path / "m", *FAST, "-q")
    (line,) = result.stderr.splitlines()
    assert "scripts without spaces between words" in line
    assert "土豆" in metalda.load(tmp_path / "m").vocabulary_
    assert run("fit", data, "-o", tmp_path / "m", *FAST, "-q", "--tokenizer", "characters:2").stderr == ""


def test_a_tokenizer_of_a_model_runs_only_with_the_option(
    run: Run, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "modules").mkdir()
    source = "def letters(text):\n    return [text[i : i + 3] for i in range(0, len(text), 3)]\n"
    (tmp_path / "modules" / "letters_tokenizer.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    data = write("texts.txt", "catdogsun\nsuncatdog\n")
    assert run("fit", data, "-o", tmp_path / "m", *FAST, "--tokenizer", "letters_tokenizer:letters").exit_code == 0
    del sys.modules["letters_tokenizer"]
    assert metalda.load(tmp_path / "m").vocabulary_ == ("cat", "dog", "sun")
    assert run("topics", tmp_path / "m").exit_code == 0
    for command in (("transform", "-o", "-"), ("evaluate",), ("report", "-o", tmp_path / "r.html", "--corpus", data)):
        name, *options = command
        arguments = (name, tmp_path / "m", *(() if name == "report" else (data,)), *options)
        line = error_line(run(*arguments))
        assert "were tokenized by 'letters_tokenizer:letters'" in line
        assert line.endswith("allow_tokenizer=True (--allow-tokenizer)")
        assert "letters_tokenizer" not in sys.modules
    result = run("transform", tmp_path / "m", data, "-o", "-", "--allow-tokenizer")
    assert result.exit_code == 0, result.output
    assert sys.modules.pop("letters_tokenizer")


def test_vectors_are_learned_from_the_data_or_another_corpus(run: Run, german: Path, tmp_path: Path) -> None:
    result = run("fit", german, "-o", tmp_path / "m", *FAST, "--learn-embeddings", "self")
    assert "100.0% of the vocabulary has at least one" in result.stdout
    assert metalda.load(tmp_path / "m").feature_names_
    run("prepare", german, "-o", tmp_path / "corpus")
    for other in (german, tmp_path / "corpus"):
        run("fit", german, "-o", tmp_path / "n", *FAST, "--learn-embeddings", other)
        assert metalda.load(tmp_path / "n").feature_names_ == metalda.load(tmp_path / "m").feature_names_
    line = error_line(run("compare", german, "-o", tmp_path / "c", "--learn-embeddings", "self", "--models", "metalda"))
    assert "--learn-embeddings self would learn from held-out documents as well" in line
    line = error_line(run("fit", german, "-o", tmp_path / "l", "--model", "lda", "--learn-embeddings", "self"))
    assert "--learn-embeddings: --model lda uses no word features or vectors" in line
