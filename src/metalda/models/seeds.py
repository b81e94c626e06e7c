"""How strong seed words are in their topics: the learned weights of seed sets, and where their tokens are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from metalda.meta.seeds import Seeds
from metalda.models.effects import Weights, table_of_draws
from metalda.models.fitted import Fitted

if TYPE_CHECKING:
    import pandas as pd


def seed_table(fitted: Fitted, seeds: Seeds, interval: float) -> pd.DataFrame:
    """Return a row for each seed set: its strength with an interval, its words, and how many tokens are in its topic.

    Named topics have the same number in all chains, so the draws of all chains are pooled. `set` is the name of the
    seed set, if a topic has another name now. Sets of hidden topics have no row.
    """
    weights, n_sets = Weights.of(fitted.trained, "feature"), len(seeds.sets)
    features = [weights.names.index(name) for name in seeds.features]
    own = [draws[:, features, np.arange(n_sets)].astype(np.float64) for draws in weights.chains]
    named = {"topic": np.arange(n_sets), "name": np.array(seeds.topics, dtype=object)}
    first = tuple(parts[:n_sets] for parts in weights.parts)
    table = table_of_draws(replace(weights, parts=first), named, "strength", own, interval)
    table[["strength", "low", "high"]] = np.exp(table[["strength", "low", "high"]])
    has = seeds.rows(fitted.vocabulary).matrix.T.tocsr()
    draws = [draw for chain in fitted.chains or (fitted,) for draw in chain.draws]
    tokens = np.mean([(has @ draw.token_counts).toarray() for draw in draws], axis=0)
    table["words"] = np.diff(has.indptr)
    table["tokens"] = tokens.sum(axis=1).round().astype(np.int64)
    table["in_topic"] = tokens[np.arange(n_sets), np.arange(n_sets)] / np.maximum(tokens.sum(axis=1), 1)
    return _with_current_names(fitted, table) if fitted.curation else table


def _with_current_names(fitted: Fitted, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of topics that are shown, with the numbers and names that they have now."""
    places = {topic: place for place, part in enumerate(fitted.parts) for topic in part}
    table = table[table["topic"].isin(places)].reset_index(drop=True)
    now = fitted.named(np.array([places[topic] for topic in table["topic"]], np.int64))
    if len(table) and list(now["name"]) != list(table["name"]):
        table.insert(2, "set", table["name"])
        table["name"] = now["name"]
    return table.assign(topic=now["topic"])
