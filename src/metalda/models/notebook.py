"""What a notebook shows of a model."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from metalda.utils.markup import frame_html


class Shown(BaseEstimator):
    """An estimator that shows its topics once it is fitted, and before that what scikit-learn shows of any."""

    def _repr_html_inner(self) -> str:
        return model_html(self) if hasattr(self, "draws_") else super()._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:  # not if sklearn.set_config(display="text")
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def model_html(model: Any) -> str:
    """The size of a fitted model, and its topics as a table."""
    table = model.topics(top_n=10)
    return frame_html(_size(model), table.assign(share=table["share"].map("{:.1%}".format)), "topics()")


def _size(model: Any) -> str:
    parts = [
        (len(model.components_), "topic"),
        (len(model.vocabulary_), "word"),
        (len(model.label_names_), "label"),
        (len(model.feature_names_), "word feature"),
    ]
    counts = ", ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in parts if n)
    n_draws = len(model.draws_)
    sweeps = f" of {model.n_iter_:,} sweeps" if model.n_iter_ else ""  # unknown where another program trained it
    return f"{type(model).__name__}: {counts}; {n_draws:,} draw{'' if n_draws == 1 else 's'}{sweeps}"
