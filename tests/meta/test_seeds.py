"""Seed sets: what they match, files of them, and one line for each mistake."""

import json
import warnings

import numpy as np
import pytest

from metalda import read_seeds
from metalda.errors import HintWarning, InputError
from metalda.meta.seeds import Seeds

WORDS = ("tax", "taxes", "budget", "budgets", "army", "bud")


def _matched(mapping):
    rows = Seeds.from_mapping(mapping).rows(WORDS)
    return {name: [WORDS[v] for v in np.flatnonzero(rows.matrix.toarray()[:, j])] for j, name in enumerate(rows.names)}


def test_a_star_matches_any_ending_and_a_word_may_seed_several_topics():
    found = _matched({"economy": ["tax", "budget*"], "state": ["tax*"], "war": np.array(["army", "army"])})
    assert found == {
        "seeds=economy": ["tax", "budget", "budgets"],
        "seeds=state": ["tax", "taxes"],
        "seeds=war": ["army"],
    }


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({}, "seeds is empty"),
        ({"economy": []}, "'economy' has no seeds"),
        ({"economy": ["tax", " "]}, "'economy' has an empty seed"),
        ({"economy": ["*"]}, "would match every word"),
        ({"economy": ["*tax"]}, "stands for the end of a word only"),
        ({"economy": ["t*x*"]}, "stands for the end of a word only"),
        ({"economy": ["tax", 7]}, "the seeds of 'economy' must be strings, not int"),
        ({"economy": "tax"}, "the seeds of 'economy' must be a list of words, not the string 'tax'"),
        ({"economy": {"tax"}}, "the seeds of 'economy' must be a list of words"),
        ({"economy": None}, "the seeds of 'economy' must be a list of words, not None"),
        ({"": ["tax"]}, "the name of a topic must be a text that is not empty, not ''"),
        ({3: ["tax"]}, "the name of a topic must be a text that is not empty, not 3"),
        ({"economy": ["tax"], "economy ": ["budget"]}, "the topic 'economy' is named twice"),
    ],
)
def test_a_mistake_in_seeds_is_one_line(mapping, message):
    with pytest.raises(InputError, match=message.replace("*", r"\*")) as error:
        Seeds.from_mapping(mapping)
    assert "\n" not in str(error.value)


def test_a_set_without_a_word_of_the_vocabulary_is_an_error():
    with pytest.raises(InputError, match=r"no seed of 'war' is in the vocabulary \(navy, tank\*\)"):
        Seeds.from_mapping({"economy": ["tax"], "war": ["navy", "tank*"]}).require_words(WORDS)


def test_unknown_seeds_are_listed_in_one_hint():
    seeds = Seeds.from_mapping({"economy": ["tax", "bank*", "debt"], "war": ["army", "navy"]})
    with pytest.warns(
        HintWarning, match=r"3 seeds are not .*: bank\* \(economy\), debt \(economy\), navy \(war\)\."
    ) as w:
        seeds.warn_of_unknown(WORDS)
    assert len(w) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Seeds.from_mapping({"economy": ["tax", "budget*"]}).warn_of_unknown(WORDS)


def test_json_and_csv_files_hold_the_same_seeds_in_their_order(tmp_path):
    seeds = {"war": ["army", "battle*"], "economy": ["tax", "größe, netto"]}
    (tmp_path / "s.json").write_text(json.dumps(seeds))
    rows = 'topic,note,word\nwar,x,army\neconomy,,tax\n\nwar,, battle* \neconomy,,"größe, netto"\n'
    (tmp_path / "s.csv").write_text(rows, "utf-8")
    assert list(read_seeds(tmp_path / "s.json").items()) == list(seeds.items())
    assert list(read_seeds(tmp_path / "s.csv").items()) == list(seeds.items())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.json", '{"a": ["x"', r"is no JSON \(line 1"),
        ("s.json", '["a"]', "expected an object"),
        ("s.json", '{"a": ["x"], "a": ["y"]}', "the topic 'a' is named twice"),
        ("s.json", '{"a": ["x", null]}', "the seeds of 'a' must be strings, not NoneType"),
        ("s.json", "[" * 100_000, "nested too deeply"),
        ("s.csv", "", "expected the columns topic and word in line 1, not nothing"),
        ("s.csv", "theme,word\na,x\n", "expected the columns topic and word in line 1, not theme, word"),
        ("s.csv", "topic,word\na,x\nb\n", "line 3: needs a topic and a word"),
        ("s.csv", "topic,word\na,\n", "line 2: needs a topic and a word"),
        ("s.csv", "topic,word\n", "seeds is empty"),
        ("s.txt", "a", r"seeds are read from \.json or \.csv files"),
    ],
)
def test_a_malformed_file_is_one_line_that_names_it(name, content, message, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message) as error:
        read_seeds(tmp_path / name)
    assert str(error.value).startswith(str(tmp_path / name))
    assert "\n" not in str(error.value)


def test_a_file_that_does_not_exist_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"none\.json"):
        read_seeds(tmp_path / "none.json")
