"""CSV for people holds no formulas that a spreadsheet would run; --raw is for programs."""

import csv
import io
import sys
from pathlib import Path

import pytest

from cli.helpers import Run, Write, news
from metalda import Corpus, MetaLDA
from metalda.cli import tables
from metalda.utils.csv_writer import guard, write_csv

FORMULAS = [
    "=1+1",
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "＝1",
    "-",
    "--raw",
    "-inf",
]
NUMBERS = ["-0.5", "+3", "-1e-07", "-.5", "12", "+49301234567"]
TEXTS = ["cat", "a=b", "a-b", "1-2", "(x)", "", "'=1", "\u00e9+1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_becomes_a_text(text: str) -> None:
    assert guard(text) == "'" + text


@pytest.mark.parametrize("text", NUMBERS + TEXTS)
def test_numbers_and_other_texts_are_kept(text: str) -> None:
    assert guard(text) == text


@pytest.mark.parametrize("raw", [False, True])
def test_numbers_stay_numbers(raw: bool) -> None:
    file = io.StringIO()
    write_csv(file, ["=a", "b"], [[-0.5, -3], ["=x", ["-y", "z"]]], raw=raw)
    rows = list(csv.reader(io.StringIO(file.getvalue())))
    mark = "" if raw else "'"
    assert rows == [[mark + "=a", "b"], ["-0.5", "-3"], [mark + "=x", mark + "-y z"]]


def test_nan_is_an_empty_cell() -> None:
    file = io.StringIO()
    write_csv(file, ["a", "b", "c"], [[float("nan"), float("inf"), 0.0]])
    assert file.getvalue() == "a,b,c\n,inf,0\n"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose labels and words are formulas."""
    folder = tmp_path_factory.mktemp("formulas")
    records = news() * 2
    tokens = [[*record["body"].lower().split(), "=word", "=word"] for record in records]
    labels = ["@label\x1b[2J" if record["section"] == "sky" else "-label" for record in records]
    for seed in range(2):
        model = MetaLDA(2, n_iter=30, thin=1, n_draws=12, random_state=seed, verbose=False)
        model.fit(Corpus.from_tokens(tokens, labels)).save(folder / f"m{seed}")
    return folder / "m0"


COMMANDS = {
    "predict": ("predict", "MODEL", "NEW", "--id", "key", "--format", "csv"),
    "transform": ("transform", "MODEL", "NEW", "--id", "key", "-o", "-"),
    "topics": ("topics", "MODEL", "--format", "csv"),
    "one topic": ("topics", "MODEL", "--topic", 0, "--format", "csv"),
    "effects": ("effects", "MODEL", "--format", "csv"),
    "contrast": ("effects", "MODEL", "--contrast", "@label\x1b[2J", "-label", "--format", "csv"),
    "stability": ("stability", "MODEL", "MODEL", "--format", "csv"),
    "chains": ("chains", "MODEL", "OTHER", "--format", "csv"),
    "coherence": ("coherence", "MODEL", "--reference", "NEW", "--format", "csv"),
}


def cells_of(result, command: str) -> list[str]:
    assert result.exit_code == 0, (command, result.output)
    return [cell for row in csv.reader(io.StringIO(result.stdout)) for cell in row]


def is_safe(cell: str) -> bool:
    return guard(cell) == cell


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_a_formula(command: str, run: Run, write: Write, hostile: Path) -> None:
    new = write("new.jsonl", [{"key": "=id()", "text": "cat dog"}, {"key": "-1", "text": "rain"}])
    places = {"MODEL": hostile, "OTHER": hostile.with_name("m1"), "NEW": new}
    arguments = [places.get(argument, argument) for argument in COMMANDS[command]]
    cells = cells_of(run(*arguments), command)
    assert all(map(is_safe, cells)), cells
    assert not any("\x1b" in cell for cell in cells)
    raw = cells_of(run(*arguments, "--raw"), command)
    as_texts = [cell.removeprefix("'") for cell in cells]
    assert as_texts == [cell.replace("\x1b", r"\x1b") for cell in raw]


def test_raw_text_is_escaped_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    for on_terminal in (False, True):
        monkeypatch.setattr(sys.stdout, "isatty", lambda on_terminal=on_terminal: on_terminal, raising=False)
        tables.print_csv(["=a\x1b", "b\ud800"], [["\x07", -1.5]], raw=True)
        shown = capsys.readouterr().out
        assert shown == ("=a\\x1b,b\\ud800\n\\x07,-1.5\n" if on_terminal else "=a\x1b,b\\ud800\n\x07,-1.5\n")


def test_files_are_guarded_unless_raw(run: Run, write: Write, hostile: Path, tmp_path: Path) -> None:
    new = write("new.jsonl", [{"key": "=id()", "text": "cat dog"}, {"key": "-1", "text": "rain"}])
    for raw, first in (((), "'=id()"), (("--raw",), "=id()")):
        assert run("transform", hostile, new, "--id", "key", "-o", tmp_path / "out.csv", *raw).exit_code == 0
        rows = csv.reader((tmp_path / "out.csv").read_text().splitlines())
        assert [row[0] for row in rows] == ["id", first, "-1"]


def test_the_table_of_a_comparison_is_guarded(tmp_path: Path) -> None:
    from metalda import LDA, compare

    corpus = Corpus.from_texts(["cat dog cat", "dog cat dog", "rain sun rain", "sun rain sun"] * 5)
    compare(corpus, {"=lda": LDA(2, n_iter=4)}, seeds=1, folder=tmp_path / "c", verbose=False)
    (row,) = csv.DictReader((tmp_path / "c" / "comparison.csv").read_text().splitlines())
    assert row["model"] == "'=lda"
    assert float(row["perplexity"]) > 0
    assert row["perplexity_sd"] == ""


def test_raw_output_can_be_read_again(run: Run, write: Write, hostile: Path, tmp_path: Path) -> None:
    new = write("new.jsonl", [{"key": f"=id{i}", "text": "cat dog rain"} for i in range(4)])
    printed = run("predict", hostile, new, "--id", "key", "--format", "csv", "--raw").stdout
    (tmp_path / "labels.csv").write_bytes(printed.encode())
    corpus = Corpus.read(tmp_path / "labels.csv", text="label", labels="label", id="id")
    assert list(corpus.ids) == [f"=id{i}" for i in range(4)]
    assert set(corpus.label_names) <= {"@label\x1b[2J", "-label"}
