"""``metalda curate``."""

import json
import shutil
from pathlib import Path

import pytest

import metalda
from cli.helpers import Run, error_line
from metalda import LDA


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with four topics; tests must not change it."""
    texts = ["cat dog cat", "dog cat", "rain sun", "sun rain", "tax wage", "wage tax"] * 3
    folder = tmp_path_factory.mktemp("curate") / "model"
    LDA(4, n_iter=10, random_state=0, verbose=False).fit(texts).save(folder)
    return folder


def test_topics_are_named_merged_and_hidden_in_a_new_folder(run: Run, trained: Path, tmp_path: Path) -> None:
    result = run("curate", trained, "--rename", "1=economy", "--merge", "0,3", "--hide", 2, "-o", tmp_path / "other")
    assert result.exit_code == 0, result.output
    assert "1 topic is hidden" in result.stdout
    assert f"Saved to {tmp_path / 'other'}." in result.stdout
    assert "changed" not in result.stdout
    rows = json.loads(run("topics", tmp_path / "other", "--format", "json").stdout)
    assert [(row["topic"], row["name"], row["merged"]) for row in rows] == [(0, "", [0, 3]), (1, "economy", [])]
    assert not metalda.load(trained).fitted_.curation


def test_without_an_output_the_model_itself_is_changed_and_restored(run: Run, trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained, tmp_path / "model")
    result = run("curate", tmp_path / "model", "--merge", "all but one=0,2,3", "--rename", "1=one")
    assert "MODEL itself was changed." in result.stdout
    again = run("curate", tmp_path / "model", "--merge", "whole=all but one,one", "-o", tmp_path / "model", "-q")
    assert (again.exit_code, again.stdout) == (0, "")
    assert metalda.load(tmp_path / "model").fitted_.topic_names == ("whole",)
    named = run("curate", tmp_path / "model", "--restore", "--rename", "3=last", "--hide", "last,0", "-q")
    assert named.exit_code == 0, named.output
    assert metalda.load(tmp_path / "model").topics()["topic"].tolist() == [1, 2]
    assert run("curate", tmp_path / "model", "--restore", "-q").exit_code == 0
    assert not metalda.load(tmp_path / "model").fitted_.curation


def test_topics_whose_names_contain_an_equals_sign_are_merged(run: Run, trained: Path, tmp_path: Path) -> None:
    for merge, name in (("a=b,2", "a=b"), ("x=1,2", "x")):
        result = run("curate", trained, "--rename", "1=a=b", "--merge", merge, "-o", tmp_path / "other", "-q")
        assert result.exit_code == 0, result.output
        assert metalda.load(tmp_path / "other").topics().loc[1, ["name", "merged"]].tolist() == [name, [1, 2]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "nothing to do: give --rename, --names, --merge, --hide, --show or --restore"),
        (("--rename", "9=x"), "no topic 9; topics are numbered 0 to 3"),
        (("--rename", "x=y"), "no topic is named 'x'; give its number"),
        (("--rename", "economy"), "--rename economy: expected TOPIC=NAME, such as 7=economy"),
        (("--rename", "=x"), "--rename =x: expected TOPIC=NAME"),
        (("--rename", "1=a\x1b[31mb"), "has characters that cannot be printed"),
        (("--rename", f"1={'x' * 201}"), "has 201 characters"),
        (("--show", "1"), "topic 1 is not hidden; hidden topics are: none"),
        (("--rename", "1=x", "--rename", "2=x"), "two topics would have the name 'x'"),
        (("--rename", "1=x", "--rename", "1=y"), "--rename names topic 1 twice"),
        (("--merge", "0,1", "--merge", "1,2"), "--merge: topic 1 is in two merges"),
        (("--merge", "0"), "merge needs two topics or more"),
        (("--merge", "0,0"), "merge: a topic is given twice (0, 0); give each once"),
        (("--merge", "=0,1"), "the name of a topic must be a text that is not empty"),
        (("--merge", "0,1", "--hide", "1"), "topic 1 was merged into topic 0"),
        (("--hide", "0,1,2,3"), "all topics would be hidden: leave at least one"),
        (("--hide", ","), "--hide: give numbers or names of topics"),
        (("--hide", "a\n1"), "names are separated by commas; put quotes around a name with a line break"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_saved(
    run: Run, trained: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    assert message in error_line(run("curate", trained, *options, "-o", tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_a_hidden_topic_is_shown_again_and_a_name_is_taken_away(run: Run, trained: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    assert (
        run("curate", trained, "--rename", "1=one", "--rename", "2=two", "--hide", "0,two", "-o", folder).exit_code == 0
    )
    assert "topic 2 ('two') is hidden" in error_line(run("curate", folder, "--rename", "2=x"))
    assert run("curate", folder, "--show", "two", "--rename", "one=", "-q").exit_code == 0
    assert metalda.load(folder).get_feature_names_out().tolist() == ["topic1", "two", "topic3"]
