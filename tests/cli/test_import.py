"""``metalda import``: a state of Mallet becomes a model that other commands know."""

import json
from pathlib import Path

from cli.helpers import Run, Write, error_line

STATE = """#doc source pos typeindex type topic
#alpha : 0.5 0.1
#beta : 0.01
0 NA 0 0 cat 1
0 NA 1 1 dog 1
1 NA 0 2 rain 0
"""


def test_the_topics_of_mallet_are_shown_and_saved(run: Run, write: Write, tmp_path: Path) -> None:
    result = run("import", write("state.txt", STATE), "-o", tmp_path / "model")
    assert result.exit_code == 0
    assert "state.txt: 2 documents, 3 tokens, 3 distinct words" in result.stdout
    assert "Saved to" in result.stdout
    topics = json.loads(run("topics", tmp_path / "model", "--top-n", 1, "--format", "json").stdout)
    assert [(each["topic"], each["words"]) for each in topics] == [(0, ["rain"]), (1, ["cat"])]
    again = run("import", write("state.txt", STATE), "-o", tmp_path / "quiet", "--quiet")
    assert (again.exit_code, again.output) == (0, "")


def test_new_documents_are_transformed_by_it(run: Run, write: Write, tmp_path: Path) -> None:
    run("import", write("state.txt", STATE), "-o", tmp_path / "model", "--quiet")
    result = run("transform", tmp_path / "model", write("new.txt", "rain rain rain\ncat dog cat\n"), "-o", "-")
    assert result.exit_code == 0, result.output
    rows = [list(map(float, line.split(",")[-2:])) for line in result.stdout.splitlines()[1:]]
    assert [row.index(max(row)) for row in rows] == [0, 1]


def test_another_file_is_one_line(run: Run, write: Write, tmp_path: Path) -> None:
    line = error_line(run("import", write("news.txt", "cat dog\n"), "-o", tmp_path / "model"))
    assert "news.txt line 1: not a state of Mallet" in line
    assert "no such file" in error_line(run("import", tmp_path / "none.gz", "-o", tmp_path / "model"))
