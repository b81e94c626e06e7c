"""What the command line says to a new user: one line on stderr each, once."""

from pathlib import Path

import pytest

import metalda
from cli.helpers import Run, Write, error_line, news

QUICK = ("--text", "body", "-k", 2, "--iterations", 6, "--quiet")


@pytest.mark.parametrize(
    ("records", "options", "message"),
    [
        (
            [{**record, "section": f"{record['section']}|n{i}"} for i, record in enumerate(news())],
            ("--labels", "section"),
            "split them with label_delimiter='|' (--label-delimiter '|')",
        ),
        (
            [{**record, "year": 1900 + i} for i, record in enumerate(4 * news())],
            ("--labels", "year"),
            "(--bins year=5)",
        ),
        ([{**record, "section": ""} for record in news()], ("--labels", "section"), "is empty in all documents"),
        (news(), ("-k", 30), "30 topics are more than the 16 documents: lower n_components (--topics)"),
        (news(), ("--n-draws", 30), "n_draws=30, but the iterations after the burn-in give 1"),
        (news(), ("--model", "wflda", "--optimize-burn-in", 2), "WFLDA without word_features learns one prior"),
        (news(), ("--model", "dmr", "--optimize-burn-in", 2), "DMR without labels learns one prior"),
        (news(), ("--resume", "--checkpoint", "c"), "c: there is no checkpoint to resume from"),
    ],
)
def test_a_hint_is_one_line_on_stderr(
    run: Run, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: list, options: tuple, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("fit", write("news.jsonl", records), "-o", tmp_path / "m", *QUICK, *options)
    assert (result.exit_code, result.stdout) == (0, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("metalda: warning: ")
    assert message in line


def test_a_text_column_that_was_guessed_is_named(run: Run, data: Path, tmp_path: Path) -> None:
    fitting = ("-o", tmp_path / "m", "-k", 2, "--iterations", 2)
    assert f"metalda: {data}: the text is the field 'body' (text=, --text)" in run("fit", data, *fitting).stderr
    assert "the text is" not in run("fit", data, *fitting, "--text", "body").stderr
    assert run("fit", data, *fitting, "--quiet").stderr == ""


def test_fit_says_which_of_labels_and_features_are_missing_and_how_many_draws_it_kept(
    run: Run, data: Path, tmp_path: Path
) -> None:
    result = run("fit", data, "-o", tmp_path / "m", "--text", "body", "-k", 2, "--iterations", 30)
    assert result.stderr.count("metalda: No labels") == result.stderr.count("metalda: No word features") == 1
    assert "MetaLDA: 2 topics, 30 iterations, 2 draws, " in result.stdout


def test_a_decimal_comma_is_explained_and_read(run: Run, write: Write, tmp_path: Path) -> None:
    scores = ["1,5", "2,25", "3", "-0,5"]
    rows = [
        f"{text};{score}" for text, score in zip(["cat dog", "sun rain", "cat sun", "dog rain"], scores, strict=True)
    ]
    data = write("scores.csv", "\n".join(["body;score", *rows]))
    fitting = ("fit", data, "-o", tmp_path / "m", *QUICK, "--bins", "score=1.5,2")
    line = error_line(run(*fitting))
    assert line.endswith(
        "line 2: the field 'score' holds '1,5', not a number; if the comma is the decimal mark, give decimal=',' "
        "(--decimal ,)"
    )
    assert run(*fitting, "--decimal", ",").exit_code == 0
    model = metalda.load(tmp_path / "m")
    assert model.label_names_ == ("score < 1.5", "1.5 ≤ score < 2", "score ≥ 2")
    assert model.label_sizes_.tolist() == [1, 1, 2, 4]
    assert "'1.234,5', not a number" in error_line(
        run("fit", write("more.csv", "body;score\ncat dog;1.234,5"), *fitting[2:], "--decimal", ",")
    )
    assert "the decimal mark is '.' or ','" in error_line(run(*fitting, "--decimal", "x"))
