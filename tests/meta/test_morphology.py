"""Features of a word's form."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metalda.errors import InputError
from metalda.meta import WordFeatures
from metalda.meta.morphology import morphological_classes

FORMS = ["connect", "connected", "connecting", "connection", "walked", "talked", "jumped", "painted", "rock"]


def test_forms_of_a_word_share_their_stem():
    classes = morphological_classes(FORMS, "english")
    assert {word for word, names in classes.items() if "stem:connect" in names} == set(FORMS[:4])
    assert not any("stem:rock" in names for names in classes.values())  # a class of one says nothing


def test_frequent_endings_are_features_and_rare_ones_are_not():
    classes = morphological_classes(FORMS, "english")
    assert {word for word, names in classes.items() if "suffix:-ed" in names} == {w for w in FORMS if w.endswith("ed")}
    assert not any("suffix:-ing" in names for names in classes.values())


def test_a_compound_is_in_the_class_of_each_of_its_parts():
    classes = morphological_classes(["connect_timeout", "connecting", "timeouts", "os.path", "path"], "english")
    assert {"stem:connect", "stem:timeout"} <= set(classes["connect_timeout"])
    assert "stem:path" in classes["os.path"]
    assert classes["path"] == ["stem:path"]


def test_shapes_tell_identifiers_numbers_and_abbreviations_from_words():
    words = [
        "read_only",
        "write_only",
        "os.path",
        "a.b",
        "utf8",
        "x2",
        "abc",
        "io",
        "incompatibilities",
        "straightforward",
    ]
    classes = morphological_classes(words, "english")
    for shape, members in {
        "underscore": {"read_only", "write_only"},
        "dotted": {"os.path", "a.b"},
        "digit": {"utf8", "x2"},
        "short": {"a.b", "x2", "abc", "io"},
        "long": {"incompatibilities", "straightforward"},
    }.items():
        assert {word for word, names in classes.items() if f"shape:{shape}" in names} == members


def test_case_does_not_matter_for_the_stem():
    classes = morphological_classes(["Connect", "CONNECTED"], "english")
    assert all(names == ["stem:connect"] for names in classes.values())


def test_other_languages_have_their_own_stems():
    classes = morphological_classes(["Häuser", "Haus", "Hauses"], "german")
    assert all("stem:haus" in names for names in classes.values())
    with pytest.raises(InputError, match=r"no stemmer for language 'klingon'; choose from: .*english"):
        WordFeatures.morphology(FORMS, language="klingon")


def test_morphology_lines_up_with_any_vocabulary():
    features = WordFeatures.morphology([*FORMS, *FORMS])
    assert features.words == tuple(FORMS)
    assert 0 < features.coverage(FORMS) < 1
    assert features.coverage(["unknown"]) == 0


@given(st.lists(st.text(max_size=6), min_size=1, max_size=8))
@settings(deadline=None)
def test_any_text_has_a_morphology_and_every_class_has_two_members(words):
    features = WordFeatures.morphology(words)
    assert set(features.words) == set(words)
    assert (features.features.matrix.sum(axis=0) >= 2).all()
