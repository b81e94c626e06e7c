"""Bad input is one clear line and exit code 2, and leaves nothing half-written."""

import json
import shutil
from pathlib import Path

import pytest

import metalda
from cli.helpers import Run, Write, error_line

FAST = ("-k", 2, "--iterations", 4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def refused(run: Run, folder: Path, data: Path, *options: object) -> str:
    """The error line of a fit that must not leave anything behind."""
    before = sorted(folder.rglob("*"))
    line = error_line(run("fit", data, "-o", folder / "model", *FAST, *options))
    assert sorted(folder.rglob("*")) == before
    return line


def test_missing_file(run: Run, folder: Path) -> None:
    assert refused(run, folder, folder / "none.jsonl") == f"metalda: {folder / 'none.jsonl'}: no such file"


def test_directory_where_a_file_is_meant(run: Run, folder: Path, data: Path) -> None:
    (folder / "sub").mkdir()
    assert "is a folder" in refused(run, folder, folder / "sub", "--input-format", "jsonl")
    for option in ("--embeddings", "--word-features", "--stop-words"):
        assert str(folder / "sub") in refused(run, folder, data, "--text", "body", option, folder / "sub")


def test_not_utf8(run: Run, folder: Path, write: Write) -> None:
    data = write("latin.txt", b"plain\nna\xefve caf\xe9\n")
    line = refused(run, folder, data)
    assert f"{data} line 2: not utf-8" in line
    assert "--encoding latin-1" in line
    assert run("fit", data, "-o", folder / "model", "--encoding", "latin-1", *FAST).exit_code == 0


def test_broken_json_line(run: Run, folder: Path, write: Write) -> None:
    data = write("a.jsonl", '{"text": "cat dog"}\n{"text": "sun\n')
    assert f"{data} line 2: not JSON" in refused(run, folder, data)


@pytest.mark.parametrize("option", ["--text", "--labels", "--id"])
def test_missing_column(run: Run, folder: Path, write: Write, option: str) -> None:
    line = refused(run, folder, write("a.csv", "text,tag\ncat dog,pets\n"), option, "colour")
    assert "no field 'colour'; fields are: text, tag" in line
    assert option in line


@pytest.mark.parametrize("content", ["", "text,tag\n"])
def test_empty_corpus(run: Run, folder: Path, write: Write, content: str) -> None:
    data = write("a.csv", content)
    assert str(data) in refused(run, folder, data)


def test_documents_without_words(run: Run, folder: Path, write: Write) -> None:
    assert "no words in 2 documents" in refused(run, folder, write("a.txt", "\n \n"))


def test_vocabulary_empty_after_filtering(run: Run, folder: Path, write: Write) -> None:
    line = refused(run, folder, write("a.txt", "cat\ndog\n"), "--min-df", "2")
    assert "lower min_df (--min-df)" in line


def test_word_features_for_no_word(run: Run, folder: Path, write: Write, data: Path) -> None:
    before = "no word of the vocabulary has features"
    features = write("features.txt", "Katze\t1\nHund\t2\n")
    result = run("fit", data, "-o", folder / "model", "--text", "body", "--word-features", features, *FAST)
    assert before in result.stderr
    assert result.exit_code == 2
    assert not (folder / "model").exists()


@pytest.mark.parametrize(
    ("content", "place"), [("cat 1 2\ndog 1\n", "line 2"), ("cat 1 2\ndog nan 1\n", "line 2"), ("", "vectors.txt")]
)
def test_damaged_embeddings(run: Run, folder: Path, write: Write, data: Path, content: str, place: str) -> None:
    vectors = write("vectors.txt", content)
    line = refused(run, folder, data, "--text", "body", "--embeddings", vectors)
    assert str(vectors) in line
    assert place in line


def test_damaged_word_features(run: Run, folder: Path, write: Write, data: Path) -> None:
    features = write("features.txt", "cat\tone\n")
    line = refused(run, folder, data, "--text", "body", "--word-features", features)
    assert "line 1: 'one' is not the index of a feature" in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-k", 0), "--topics 0: --model metalda expects an int in the range [1, 65535]"),
        (("-k", 100_000), "--topics 100000: "),
        (("--iterations", 0), "--iterations 0: "),
        (("--mu", -1), "--mu -1.0: --model metalda expects a float in the range (0.0, 1e+09)"),
        (("--mu", "much"), "--mu much: --model metalda expects a float in the range (0.0, 1e+09) or COLUMN=NUMBER"),
        (
            ("--doc-prior", "label"),
            "--doc-prior label: --model metalda expects a str among {",
        ),
        (("--n-shards", "many"), "--n-shards many: "),
        (("--word-prior", "nan"), "--word-prior nan: "),
        (("--jobs", 0), "--jobs 0"),
        (("--bins", "year"), "--bins year: expected"),
        (("--bins", "year=a"), "--bins year=a: expected"),
        (("--bins", "section=3"), "line 1: the field 'section' holds 'pets', not a number"),
        (("--min-df", "few"), "--min-df few: expected"),
        (("--max-df", "1.5"), "max_df=1.5"),
        (("--token-pattern", "("), "token_pattern='(' is not a regular expression"),
        (("--encoding", "klingon"), "encoding='klingon' is not known"),
        (("--stop-words", "klingon"), "--stop-words klingon: expected auto, none, a language such as de or german, or"),
        (("--stem", "klingon"), "stem='klingon': no Snowball stemmer for this language"),
        (("--tokenizer", "jieba"), "tokenizer='jieba': give module:function"),
        (("--tokenizer", "no_such_module:lcut"), "there is no module 'no_such_module'; install its package"),
        (("--phrases", "--ngrams", "2"), "phrases and ngram_range exclude each other"),
        (("--phrase-threshold", "2"), "phrase_threshold=2.0: a number between -1 and 1"),
        (("--embeddings", "a", "--learn-embeddings", "self"), "give --embeddings or --learn-embeddings, not both"),
        (("--learn-embeddings", "none.txt"), "none.txt: no such file"),
        (("--embeddings", "a", "--word-features", "b"), "not both"),
        (("--embeddings", "none.txt"), "none.txt: no such file"),
        (("--colour",), "--colour"),
        (("--model", "plsa"), "plsa"),
    ],
)
def test_bad_options(run: Run, folder: Path, data: Path, options: tuple, message: str) -> None:
    assert message in refused(run, folder, data, "--text", "body", *options)


def test_output_that_cannot_be_a_folder(run: Run, folder: Path, data: Path) -> None:
    (folder / "file").write_text("precious")
    for output, message in (("file", "is a file"), ("file/model", "cannot be written"), ("no/model", "no folder")):
        line = error_line(run("fit", data, "-o", folder / output, "--text", "body", *FAST))
        assert message in line
    assert (folder / "file").read_text() == "precious"


def test_the_output_is_checked_before_anything_is_read(run: Run, folder: Path) -> None:
    assert "no folder" in error_line(run("fit", folder / "none.txt", "-o", folder / "no" / "model"))


def test_disk_full_while_saving(run: Run, folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", no_space)
        result = run("fit", data, "-o", folder / "model", "--text", "body", "--quiet", *FAST)
    assert error_line(result).endswith("cannot save the model: No space left on device")
    assert not (folder / "model").exists()


class TestDamagedModels:
    """Every command that loads a model refuses one that is not whole."""

    @pytest.fixture
    def copy(self, model: Path, tmp_path: Path) -> Path:
        return Path(shutil.copytree(model, tmp_path / "copy"))

    def test_absent(self, run: Run, data: Path, tmp_path: Path) -> None:
        for rest in (("topics",), ("effects",), ("transform", data, "-o", "-"), ("evaluate", data)):
            command, *more = rest
            assert "no such folder" in error_line(run(command, tmp_path / "none", *more))

    def test_truncated(self, run: Run, copy: Path) -> None:
        (arrays,) = copy.glob("arrays-*.safetensors")
        arrays.write_bytes(arrays.read_bytes()[:-10])
        assert "damaged" in error_line(run("topics", copy))

    def test_truncated_json(self, run: Run, copy: Path) -> None:
        file = copy / "model.json"
        file.write_bytes(file.read_bytes()[:-10])
        assert "not valid JSON" in error_line(run("topics", copy))

    def test_not_ours(self, run: Run, tmp_path: Path, data: Path) -> None:
        assert "not a saved model" in error_line(run("topics", tmp_path))
        assert "a saved model is a folder" in error_line(run("topics", data))

    def test_a_saved_corpus_is_no_model(self, run: Run, tmp_path: Path) -> None:
        metalda.Corpus.from_texts(["cat dog"]).save(tmp_path / "corpus")
        assert "holds a saved corpus" in error_line(run("topics", tmp_path / "corpus"))

    def test_newer_version(self, run: Run, copy: Path) -> None:
        change(copy, lambda content: content.update(version=99))
        assert "pip install --upgrade metalda" in error_line(run("topics", copy))

    def test_unknown_model(self, run: Run, copy: Path) -> None:
        change(copy, lambda content: content["document"].update(model="BERTopic"))
        assert "does not know" in error_line(run("topics", copy))

    @pytest.mark.parametrize(
        "damage", [{"labels": 5}, {"encoding": None}, {"bins": {"year": [2, 1]}}, {"color": "red"}]
    )
    def test_a_schema_that_makes_no_sense(self, run: Run, copy: Path, data: Path, damage: dict[str, object]) -> None:
        change(copy, lambda content: content["document"]["schema"].update(damage))
        assert "the model is damaged" in error_line(run("transform", copy, data, "-o", "-"))


def change(model: Path, edit: object) -> None:
    content = json.loads((model / "model.json").read_text())
    edit(content)  # type: ignore[operator]
    (model / "model.json").write_text(json.dumps(content))


def test_an_empty_path_is_not_the_current_folder(run: Run) -> None:
    result = run("fit", "", "-o", "model")
    assert error_line(result) == (
        "metalda: Invalid value for 'DATA': a path is empty: name a file or a folder (. is the current one) "
        "(see metalda fit --help)"
    )
