"""How strong seed words are in their topics: the learned weights of seed sets, and where their tokens are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.meta.seeds import Seeds
from metalda.models.chains import in_chain
from metalda.models.fitted import Fitted
from metalda.models.weights import Weights, table_of_draws

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
    tokens, in_topic = _count_tokens(fitted, has)
    table["words"] = np.diff(has.indptr)
    table["tokens"] = tokens.round().astype(np.int64)
    table["in_topic"] = in_topic / np.maximum(tokens, 1)
    return _with_current_names(fitted, table) if fitted.curation else table


def _count_tokens(fitted: Fitted, has: sparse.csr_array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the tokens of each seed set, and those in its topic, of which all parts count if it was merged.

    They are averages over draws; the second over those of chains that have all the parts.
    """
    n_sets = has.shape[0]
    whole = {topic: part for part in fitted.parts for topic in part}
    groups = [whole.get(topic, (topic,)) for topic in range(n_sets)]
    partners = np.arange(fitted.trained.n_topics)[None] if fitted.partners is None else fitted.partners
    tokens, inside = [], []
    for chain, own in zip(fitted.chains or (fitted,), partners, strict=True):
        members = [in_chain(own, group) for group in groups]
        for draw in chain.draws:
            counts = (has @ draw.token_counts).toarray()
            tokens.append(counts.sum(axis=1))
            inside.append([counts[s, list(part)].sum() if part else np.nan for s, part in enumerate(members)])
    return np.mean(tokens, axis=0), np.nanmean(inside, axis=0)


def _with_current_names(fitted: Fitted, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of topics that are shown, with the numbers and names that they have now."""
    places = {topic: place for place, part in enumerate(fitted.parts) for topic in part}
    table = table[table["topic"].isin(places)].reset_index(drop=True)
    now = fitted.named(np.array([places[topic] for topic in table["topic"]], np.int64))
    names = now.get("name", np.full(len(table), "", dtype=object))  # all names may be taken away
    if len(table) and list(names) != list(table["name"]):
        table.insert(2, "set", table["name"])
        table["name"] = names
    return table.assign(topic=now["topic"])
