"""Options of models are derived from their dataclasses and docstrings."""

from dataclasses import fields

import pytest

from cli.helpers import Run
from metalda.cli.app import COMMANDS, load_command
from metalda.cli.model_options import COMMON, ModelOptions, option, parameters
from metalda.errors import InputError
from metalda.models.base import TopicModel
from metalda.models.registry import MODELS, find_model

BY_OTHER_MEANS = {"n_jobs": "--jobs", "random_state": "--seed", "verbose": "--quiet"}


def options_of(command: str) -> set[str]:
    (entry,) = (entry for entry in COMMANDS if entry.name == command)
    return {name for parameter in load_command(entry).params for name in parameter.opts}


def test_every_parameter_of_every_model_is_an_option() -> None:
    there = options_of("fit")
    for entry in MODELS:
        for parameter in set(entry.load()._get_param_names()) - {"vocabulary"}:  # texts bring their words
            assert BY_OTHER_MEANS.get(parameter, option(parameter)) in there, f"{entry.name}: {parameter}"


def test_commands_that_run_several_models_have_the_parameters_of_all_models() -> None:
    derived = {field.name for field in fields(TopicModel)} - {"vocabulary", *BY_OTHER_MEANS}
    assert set(COMMON) == derived
    for command in ("compare", "search"):
        assert {option(name) for name in derived} <= options_of(command)
        assert "--mu" not in options_of(command)


@pytest.mark.parametrize("name", sorted(parameters(MODELS)))
def test_an_option_has_the_models_the_defaults_and_the_documentation_of_its_parameter(name: str) -> None:
    found = parameters(MODELS)[name]
    assert found.help[:1].isupper()
    assert "`" not in found.help
    for entry in MODELS:
        defaults = {field.name: field.default for field in fields(entry.load()) if field.init}
        assert (entry.name in found.defaults) == (name in defaults)
        if name in defaults:
            assert found.defaults[entry.name] == defaults[name]


def test_help_names_models_defaults_and_other_options(run: Run) -> None:
    shown = " ".join(run("fit", "--help").stdout.split())
    assert "--variance NUMBER dmr, wflda: " in shown
    assert "--doc-prior labels|default|NUMBER" in shown
    assert "[default: labels for metalda; 0.1 for lda, llda, pllda, wflda, lflda, ptm]" in shown
    assert "half of --iterations by default" in shown


def test_texts_become_numbers_where_they_can() -> None:
    given = ModelOptions(doc_prior="0.5", word_prior="default", n_shards="3", mu=None).given
    assert given == {"doc_prior": 0.5, "word_prior": "default", "n_shards": 3}
    assert ModelOptions(n_shards="auto").given == {"n_shards": "auto"}


def test_a_model_has_what_was_given_and_its_own_defaults_otherwise() -> None:
    model = ModelOptions(n_components=7, similarity=0.9).make_model("gpudmm", n_jobs=2)
    assert model.get_params() == {**find_model("gpudmm")(n_components=7, similarity=0.9, n_jobs=2).get_params()}


def test_an_option_that_a_model_lacks_names_the_models_that_have_it() -> None:
    with pytest.raises(InputError, match=r"^--variance is not an option of --model lda; it is one of: dmr, wflda$"):
        ModelOptions(variance=2.0).make_model("lda")
