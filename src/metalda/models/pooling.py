"""How much each label column and each source of word features matters: the learned scales of their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metalda.models.fitted import Fitted
from metalda.priors import Normal

if TYPE_CHECKING:
    import pandas as pd

_INTERVAL = 0.9


def pooling_table(fitted: Fitted) -> pd.DataFrame:
    """Return a row for each group of labels or features whose scale was learned.

    The scale of a group is drawn from its conditional given each kept draw of the weights, with the seed of the model.
    """
    import pandas as pd

    rows = []
    for kind, prior in (("label", fitted.doc_prior), ("feature", fitted.word_prior)):
        if not isinstance(prior, Normal) or not prior.design.group_names:
            continue
        rng = np.random.default_rng(fitted.seed)
        weights = np.concatenate([chain.weights[kind] for chain in fitted.chains or (fitted,)]).astype(np.float64)
        scales = np.array([prior.draw_group_precisions(draw, rng) for draw in weights]) ** -0.5
        ends = np.quantile(scales, [(1 - _INTERVAL) / 2, (1 + _INTERVAL) / 2], axis=0, method="weibull")
        sizes = np.bincount(prior.design.groups, minlength=len(prior.design.group_names))
        columns = prior.design.group_names, sizes, scales.mean(axis=0), *ends
        rows += [
            (kind, *row) for row, learned in zip(zip(*columns, strict=True), prior.is_normal, strict=True) if learned
        ]
    return pd.DataFrame(rows, columns=["kind", "group", "n", "scale", "low", "high"])
