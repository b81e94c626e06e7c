"""Models are estimators of scikit-learn, although they do not import it."""

import pickle
import subprocess
import sys
from copy import copy

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone

from contracts import corpus
from metalda import LDA, MetaLDA
from metalda.errors import InputError
from metalda.models.estimator import as_sklearn
from metalda.utils.constraints import Interval, StrOptions, check_parameters

SETTINGS = {"n_iter": 4, "random_state": 0, "verbose": False}


@pytest.fixture
def model() -> LDA:
    return LDA(2, **SETTINGS).fit(corpus())


def test_the_view_is_an_estimator_that_shares_the_attributes(model: LDA) -> None:
    view = as_sklearn(model)
    assert isinstance(view, LDA)
    assert isinstance(view, BaseEstimator)
    assert isinstance(view, TransformerMixin)
    assert as_sklearn(view) is view
    view.set_params(n_components=3)
    assert model.n_components == 3
    assert view.fitted_ is model.fitted_


def test_copies_of_the_view_are_models(model: LDA) -> None:
    view = as_sklearn(model)
    for same in (copy(view), pickle.loads(pickle.dumps(view)), pickle.loads(pickle.dumps(model))):
        assert type(same) is LDA
        np.testing.assert_array_equal(same.components_, model.components_)


def test_set_output_and_the_global_setting_decide_the_container(model: LDA) -> None:
    expected = model.transform(corpus())
    assert isinstance(expected, np.ndarray)
    assert model.set_output(transform="pandas") is model
    for frame in (model.transform(corpus()), clone(model).fit_transform(corpus())):
        assert isinstance(frame, pd.DataFrame)
        assert list(frame.columns) == ["topic0", "topic1"]
    np.testing.assert_array_equal(model.transform(corpus()), expected)
    with config_context(transform_output="polars"):
        assert type(LDA(2, **SETTINGS).fit_transform(corpus())).__module__.startswith("polars")


def test_metadata_can_be_requested(model: LDA) -> None:
    with config_context(enable_metadata_routing=True):
        assert model.set_fit_request(checkpoint=True) is model
        assert model.get_metadata_routing().fit.requests["checkpoint"] is True
        assert clone(model).get_metadata_routing().fit.requests["checkpoint"] is True


def test_the_text_of_a_model_has_the_parameters_that_differ_from_the_defaults() -> None:
    assert repr(LDA(2, n_iter=5)) == "LDA(n_components=2, n_iter=5)"
    assert len(repr(LDA(2, vocabulary=[f"word{i}" for i in range(100_000)]))) < 300
    assert repr(MetaLDA(2, mu=None)) == "MetaLDA(n_components=2)"


def test_attributes_that_do_not_exist_are_errors_with_and_without_scikit_learn(model: LDA) -> None:
    with pytest.raises(AttributeError, match="'LDA' object has no attribute 'nonsense'"):
        model.nonsense  # noqa: B018
    with pytest.raises(AttributeError, match="This 'LDA' has no attribute 'predict_labels'"):
        model.predict_labels  # noqa: B018
    assert "predict_labels" not in {name for name in ("predict_labels", "topics") if hasattr(model, name)}
    with pytest.raises(ValueError, match=r"Invalid parameter 'k' for estimator LDA\(n_components=2"):
        model.set_params(k=3)


ALONE = """
import sys
from metalda import LDA
model = LDA(2, n_iter=4, verbose=False).fit(["cat dog cat", "rain sun"])
model.transform(["cat"]), model.get_params(), repr(model), hasattr(model, "nonsense"), hasattr(model, "label_effects")
assert "sklearn" not in sys.modules
model.set_output(transform="pandas")
assert "sklearn" in sys.modules
print(type(model.transform(["cat"])).__name__)
"""


def test_scikit_learn_is_imported_when_something_of_it_is_asked_for() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    assert done.stdout == "DataFrame\n"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"n_iter": 0},
            r"The 'n_iter' parameter of LDA must be an int in the range \[1, inf\) or a str among",
        ),
        ({"n_iter": 1.5}, "'n_iter' parameter"),
        ({"n_iter": "some"}, "Got 'some' instead"),
        ({"doc_prior": 0}, r"must be a float in the range \(0.0, 1e\+09\). Got 0"),
        ({"doc_prior": float("nan")}, "Got nan"),
        ({"doc_prior": float("inf")}, "Got inf"),
        ({"n_jobs": 0}, r"an int in the range \[1, inf\), an int in the range \(-inf, -1\] or None. Got 0"),
        ({"verbose": 1}, "an instance of 'bool' or an instance of 'numpy.bool"),
        ({"random_state": -1}, r"an int in the range \[0, 4294967295\]"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LDA(2, **parameters).validate()


def test_each_end_of_an_interval_is_in_it_or_not() -> None:
    for closed, expected in (("both", [1, 2, 3]), ("left", [1, 2]), ("right", [2, 3]), ("neither", [2])):
        interval = Interval(int, 1, 3, closed=closed)
        assert [value for value in range(5) if interval.is_satisfied_by(value)] == expected


def test_an_array_like_is_a_sequence_that_is_no_text() -> None:
    declared = {"alpha": ["array-like", None]}
    for value in ([1], (1,), np.ones(2), pd.Series([1]), None):
        check_parameters("Model", declared, {"alpha": value})
    for value in (1, 1.0, "text", np.float64(1)):
        with pytest.raises(InputError, match="must be an array-like or None"):
            check_parameters("Model", declared, {"alpha": value})


def test_a_parameter_without_constraints_may_be_anything() -> None:
    declared = {"free": "no_validation", "named": [StrOptions({"a", "b"}), dict, None]}
    check_parameters("Model", declared, {"free": object(), "other": 3, "named": {}})
    with pytest.raises(InputError, match=r"must be a str among {'a', 'b'}, an instance of 'dict' or None. Got 'c'"):
        check_parameters("Model", declared, {"named": "c"})
