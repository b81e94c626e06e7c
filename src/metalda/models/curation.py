"""Curation: names, merged and hidden topics, as a layer on the topics of a trained model.

The draws are not changed. Every topic keeps its number: a merged topic has the smallest number of its parts, and a
hidden topic leaves a gap. Everything that is shown goes through `Curation.parts`: proportions of a merged topic are
sums within each draw, and its words are the mean of those of its parts, weighted by their tokens in the draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metalda.corpus.matrix import first_duplicate
from metalda.errors import InputError
from metalda.samplers import Draw
from metalda.utils.checks import check_integer, check_keys, check_list, check_object
from metalda.utils.names import check_name

Parts = Sequence[tuple[int, ...]]  # of each shown topic: the topics of the trained model that it consists of
Floats = NDArray[np.floating]


@dataclass(frozen=True)
class Curation:
    """Names of topics, groups of merged topics, and hidden topics, all by the numbers of the trained topics."""

    names: Mapping[int, str | None] = field(default_factory=dict)  # None: the name of a seed set was taken away
    merged: tuple[tuple[int, ...], ...] = ()  # disjoint groups of two topics or more, ascending
    hidden: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.names or self.merged or self.hidden)

    def groups(self, n_topics: int) -> list[tuple[int, ...]]:
        """Return the parts of every topic, hidden topics included, in the order of their numbers."""
        inside = {topic for group in self.merged for topic in group}
        return sorted([*((topic,) for topic in range(n_topics) if topic not in inside), *self.merged])

    def parts(self, n_topics: int) -> list[tuple[int, ...]]:
        """Return the parts of every topic that is shown, in the order of their numbers."""
        return [group for group in self.groups(n_topics) if group[0] not in self.hidden]

    def name_of(self, group: Sequence[int], given: Sequence[str | None]) -> str | None:
        """Return the name of a topic, or of the first of its parts that had one before (`given`, by number)."""
        if group[0] in self.names:
            return self.names[group[0]]
        return next((given[topic] for topic in group if given and given[topic] is not None), None)

    def rename(self, names: Mapping[int, str | None], given: Sequence[str | None]) -> Curation:
        """Return a curation with these names; None takes a name away, also one that was given before."""
        parts = {group[0]: group for group in self.merged}
        kept = {
            topic: name
            for topic, name in sorted({**self.names, **names}.items())
            if name is not None or _had_name(parts.get(topic, (topic,)), given)
        }
        return Curation(kept, self.merged, self.hidden)

    def merge(self, topics: Sequence[int], name: str | None, given: Sequence[str | None]) -> Curation:
        """Return a curation in which these topics, which may be merged ones, are one."""
        before = {group[0]: group for group in self.merged}
        group = tuple(sorted(part for topic in topics for part in before.get(topic, (topic,))))
        names = {topic: own for topic, own in self.names.items() if topic not in topics}
        if name is not None or _had_name(group, given):
            names[group[0]] = name
        others = [own for own in self.merged if own[0] not in topics]
        return Curation(dict(sorted(names.items())), tuple(sorted([*others, group])), self.hidden)

    def hide(self, topics: Iterable[int]) -> Curation:
        """Return a curation in which these topics are hidden as well."""
        return Curation(self.names, self.merged, self.hidden.union(topics))

    def show(self, topics: Iterable[int]) -> Curation:
        """Return a curation in which these topics are not hidden."""
        return Curation(self.names, self.merged, self.hidden.difference(topics))

    def check(self, n_topics: int, given: Sequence[str | None]) -> None:
        """Raise InputError unless the curation fits a model with these topics and given names."""
        members = [topic for group in self.merged for topic in group]
        if any(not 0 <= topic < n_topics for topic in members):
            raise InputError(f"a merged topic is not one of the {n_topics:,} topics")
        if any(len(group) < 2 or list(group) != sorted(set(group)) for group in self.merged):
            raise InputError("merged topics must be two or more, in the order of their numbers")
        if (repeated := first_duplicate(members)) is not None:
            raise InputError(f"topic {repeated} is in two merges")
        groups = self.groups(n_topics)
        numbers = {group[0] for group in groups}
        for what, topics in (("names", self.names), ("hidden topics", self.hidden)):
            if not numbers.issuperset(topics):
                raise InputError(f"the {what} have topic {min(set(topics) - numbers)}, which does not exist")
        if not self.parts(n_topics):
            raise InputError("all topics would be hidden: leave at least one")
        for name in self.names.values():
            if name is not None and check_name(name) != name:
                raise InputError(f"the name {name!r} has spaces around it")
        names = {group[0]: own for group in groups if (own := self.name_of(group, given)) is not None}
        if (twice := first_duplicate(names.values())) is not None:
            hidden = [topic for topic, own in names.items() if own == twice and topic in self.hidden]
            which = f"; topic {hidden[0]}, which is hidden, has it" if hidden else ""
            raise InputError(f"two topics would have the name {twice!r}: give each its own{which}")

    def to_json(self) -> dict[str, Any]:
        """Return plain data for `from_json`."""
        return {
            "names": [[topic, name] for topic, name in self.names.items()],
            "merged": [list(group) for group in self.merged],
            "hidden": sorted(self.hidden),
        }

    @classmethod
    def from_json(cls, saved: Any) -> Curation:
        """Return the curation that `to_json` returned; `check` compares it with the model."""
        check_keys("curation", check_object("curation", saved), ("names", "merged", "hidden"))
        lists = {name: check_list(f"{name} of the curation", saved[name]) for name in ("names", "merged", "hidden")}
        named = [check_list("a topic and its name", pair, 2) for pair in lists["names"]]
        groups = [check_list("merged topics", group) for group in lists["merged"]]
        pairs = [(check_integer("a topic", topic, 0), name) for topic, name in named]
        merged = tuple(tuple(check_integer("a topic", topic, 0) for topic in group) for group in groups)
        hidden = [check_integer("a topic", topic, 0) for topic in lists["hidden"]]
        for topics in ([topic for topic, _ in pairs], hidden):
            if (repeated := first_duplicate(topics)) is not None:
                raise InputError(f"curation has topic {repeated} twice")
        return cls(dict(pairs), merged, frozenset(hidden))


def _had_name(group: Sequence[int], given: Sequence[str | None]) -> bool:
    return any(given and given[topic] is not None for topic in group)


def sum_parts(values: Floats, parts: Parts) -> Floats:
    """Return values [..., shown topic], the sums of the values [..., topic] of their parts."""
    found = values[..., [part[0] for part in parts]]
    for place, part in enumerate(parts):
        for topic in part[1:]:
            found[..., place] += values[..., topic]
    return found


def merge_words(
    draws: Sequence[Draw],
    parts: Parts,
    phi_of: Callable[[Draw], NDArray[np.float32]],
    tokens_of: Callable[[Draw], NDArray[np.number]],
) -> NDArray[np.float32]:
    """Return phi [word, merged topic], averaged over draws; in each, the mean of the parts weighted by their tokens."""
    total: NDArray[np.float64] | float = 0.0
    for draw in draws:
        phi, tokens = phi_of(draw), np.asarray(tokens_of(draw), np.float64)
        total = total + np.stack([phi[:, part] @ _shares(tokens[list(part)]) for part in map(list, parts)], axis=1)
    return np.asarray(total / len(draws), np.float32)


def _shares(tokens: NDArray[np.float64]) -> NDArray[np.float64]:
    return tokens / tokens.sum() if tokens.sum() > 0 else np.full(len(tokens), 1 / len(tokens))
