"""Tables fit the terminal, and text from files cannot command it."""

import csv
import io
import json
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.helpers import Run, Write
from metalda.cli import tables
from metalda.cli.layout import Cell, table_lines, text_of
from metalda.utils import terminal as text

HOSTILE = "\x1b[31mred\x1b[0m\x07\u009b2J\u202egnp.exe"


def obeyed(shown: str) -> list[str]:
    """Characters that a terminal would act on."""
    return [c for c in shown if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


@given(st.text())
def test_clean_text_has_no_control_characters_and_says_what_was_there(raw: str) -> None:
    shown = text.clean(raw)
    assert all(c.isprintable() or c in "\u200c\u200d" for c in shown)
    if raw.isprintable():
        assert shown == raw


def test_escapes_are_readable() -> None:
    assert text.clean("a\x1b[0m\n") == r"a\x1b[0m\n"
    assert text.one_line("a\nb\x07") == r"a b\x07"


def test_width_counts_columns_of_the_terminal() -> None:
    assert text.width("cat") == 3
    assert text.width("主题") == 4
    assert text.width("e\u0301") == 1


def lines_of(header: Sequence[str], rows: Sequence[Sequence[str]], left: set[str], columns: int) -> list[str]:
    cells = [[Cell(cell) for cell in row] for row in rows]
    return [text_of(line) for line in table_lines(header, cells, left, columns)]


cells = st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), max_size=30)


@given(st.lists(st.tuples(cells, cells, st.text(max_size=200)), max_size=5), st.integers(20, 120))
def test_columns_are_aligned_and_the_last_one_wraps(rows: list[tuple[str, str, str]], columns: int) -> None:
    rows = [tuple(text.clean(cell) for cell in row) for row in rows]
    header = ("name", "n", "words")
    lines = lines_of(header, rows, {"name"}, columns)
    fixed = [max(text.width(row[j]) for row in (header, *rows)) for j in (0, 1)]
    room = max(columns - sum(fixed) - 4, 20)
    assert all(text.width(line) <= sum(fixed) + 4 + room for line in lines)
    joined = "".join("".join(lines).split())
    for row in rows:
        assert all("".join(cell.split()) in joined for cell in row[:1])


def test_wrapping_loses_nothing() -> None:
    words = " ".join(f"word{i}," for i in range(40))
    lines = lines_of(("topic", "words"), [("0", words)], set(), 50)
    assert " ".join(line[7:] for line in lines[1:]) == words
    assert max(map(len, lines)) <= 50


def test_json_has_no_nan_and_nothing_for_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"a": [float("nan"), float("inf"), 1.5], "ü": HOSTILE + "\ud800"}
    tables.print_json(value)
    shown = capsys.readouterr().out
    assert not obeyed(shown)
    assert "ü" in shown
    assert json.loads(shown) == {"a": [None, None, 1.5], "ü": HOSTILE + "\ud800"}


def test_hostile_words_and_labels_reach_no_terminal(run: Run, write: Write, tmp_path: Path) -> None:
    records = [{"id": HOSTILE, "text": [HOSTILE, "cat"], "tag": HOSTILE}, {"id": "b", "text": ["sun"], "tag": "b"}]
    data = write("a.jsonl", records)
    model = tmp_path / "model"
    results = [run("fit", data, "-o", model, "--labels", "tag", "-k", 2, "--iterations", 4)]
    for format in ("table", "json", "csv"):
        results += [run(command, model, "--format", format) for command in ("topics", "effects")]
        results.append(run("topics", model, "--topic", 0, "--format", format))
    results.append(run("transform", model, data, "-o", "-"))
    results.append(run("effects", model, "--label", "\x1b[31m"))
    results.append(run("transform", model, write("b.jsonl", [{"text": "cat", "tag": "\x1b[2J"}]), "-o", "-"))
    results.append(run("topics", tmp_path / "\x1b[31m"))
    for result in results:
        assert result.exit_code in (0, 2)
        assert not obeyed(result.stdout)
        assert not obeyed(result.stderr)
    words = json.loads(run("topics", model, "--format", "json").stdout)
    assert any(HOSTILE in topic["words"] for topic in words)  # JSON loses nothing
    run("transform", model, data, "-o", tmp_path / "out.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "out.csv").read_text(encoding="utf-8"))))
    assert rows[1][0] == HOSTILE  # nor does a file


@pytest.fixture(scope="module")
def hostile(run: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Data, models and folders, all of whose names, words, labels, features, ids and columns are escape sequences."""
    folder = tmp_path_factory.mktemp("hostile") / HOSTILE
    folder.mkdir()
    data, features = folder / f"{HOSTILE}.jsonl", folder / f"{HOSTILE}.csv"
    texts = [["cat", "dog", f"{HOSTILE}a"], ["sun", "rain", f"{HOSTILE}b"]] * 12
    records = [
        {f"{HOSTILE} text": text, f"{HOSTILE} tag": f"{HOSTILE}{i % 2}", "id": f"{HOSTILE} {i}", HOSTILE: i}
        for i, text in enumerate(texts)
    ]
    data.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    features.write_text(f"word,{HOSTILE}f,{HOSTILE}g\ncat,1,0\ndog,1,1\nsun,0,1\n", encoding="utf-8")
    columns = ("--text", f"{HOSTILE} text", "--labels", f"{HOSTILE} tag")
    names = {"data": data, "folder": folder}
    for seed in range(2):
        names[f"m{seed}"] = folder / f"{HOSTILE}{seed}"
        how = ("--word-features", features, "--n-draws", 12, "--thin", 1, "--iterations", 30, "-k", 2, "--seed", seed)
        result = run("fit", data, "-o", names[f"m{seed}"], *columns, *how, "--bins", f"{HOSTILE}=2")
        assert result.exit_code == 0, result.output
        assert not obeyed(result.output)
    return names


LABEL = f"{HOSTILE} tag={HOSTILE}0"
OTHER = f"{HOSTILE} tag={HOSTILE}1"
COMMANDS = {
    "topics": ("topics", "{m0}"),
    "one topic": ("topics", "{m0}", "--topic", 1),
    "effects": ("effects", "{m0}"),
    "effects of a label": ("effects", "{m0}", "--label", LABEL),
    "effects of an unknown label": ("effects", "{m0}", "--label", HOSTILE),
    "contrasts": ("effects", "{m0}", "--contrast", LABEL, OTHER),
    "proportions": ("effects", "{m0}", "--proportions"),
    "prevalence": ("prevalence", "{m0}", "--over", HOSTILE, "--by", f"{HOSTILE} tag"),
    "prevalence of an unknown column": ("prevalence", "{m0}", "--over", f"{HOSTILE}?"),
    "effects of features": ("effects", "{m0}", "--features"),
    "predict": ("predict", "{m0}", "{data}"),
    "evaluate": ("evaluate", "{m0}", "{data}"),
    "coherence": ("coherence", "{m0}", "{m1}", "--reference", "{data}", "--text", f"{HOSTILE} text"),
    "stability": ("stability", "{m0}", "{m1}"),
    "chains": ("chains", "{m0}", "{m1}"),
    "compare": (
        *("compare", "{data}", "--text", f"{HOSTILE} text", "--labels", f"{HOSTILE} tag", "-o", "{folder}/c"),
        *("--models", "lda,metalda", "--seeds", 1, "--iterations", 4, "-k", 2),
    ),
    "search": (
        *("search", "{data}", "--text", f"{HOSTILE} text", "--labels", f"{HOSTILE} tag", "-o", "{folder}/s"),
        *("--topics", "2", "--seeds", 1, "--iterations", 4),
    ),
}
WITHOUT_FORMAT = {
    "transform": ("transform", "{m0}", "{data}", "-o", "-"),
    "transform to a file": ("transform", "{m0}", "{data}", "-o", "{folder}/p.csv"),
    "report": ("report", "{m0}", "-o", "{folder}/r.html", "--corpus", "{data}", "--compare", "{m1}"),
    "validate make": ("validate", "make", "{m0}", "{data}", "-o", "{folder}/t.html", "--words", 2, "--documents", 0),
    "prepare": ("prepare", "{data}", "-o", "{folder}/p", "--text", f"{HOSTILE} text", "--labels", f"{HOSTILE} tag"),
    "fit over a model": ("fit", "{data}", "-o", "{m1}", "--text", f"{HOSTILE} text", "-k", 2, "--iterations", 4),
    "no text": ("fit", "{data}", "-o", "{folder}/x"),
    "unknown model": ("fit", "{data}", "--model", HOSTILE),
    "unknown option": ("fit", "{data}", f"--{HOSTILE}"),
    "unknown command": (HOSTILE,),
}


@pytest.mark.parametrize("format", ["table", "json", "csv"])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_a_name_unescaped(run: Run, hostile: dict[str, Path], command: str, format: str) -> None:
    arguments = [each.format(**hostile) if isinstance(each, str) else each for each in COMMANDS[command]]
    result = run(*arguments, "--format", format)
    assert result.exit_code == (2 if "unknown" in command else 0), result.output
    assert result.output
    assert not obeyed(result.stdout)
    assert not obeyed(result.stderr)


@pytest.mark.parametrize("command", WITHOUT_FORMAT)
def test_no_other_command_prints_a_name_unescaped(run: Run, hostile: dict[str, Path], command: str) -> None:
    result = run(*(each.format(**hostile) if isinstance(each, str) else each for each in WITHOUT_FORMAT[command]))
    assert result.exit_code == (2 if command.startswith(("unknown", "no ")) else 0), result.output
    assert result.output
    assert not obeyed(result.stdout)
    assert not obeyed(result.stderr)
