"""A corpus and a model in a few lines of text."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metalda.cli.tables import print_table
from metalda.utils.terminal import clean, short

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.meta import WordFeatures
    from metalda.models.base import TopicModel


def corpus_line(name: str, corpus: Corpus) -> str:
    """How large a corpus is."""
    line = f"{name}: {count(len(corpus), 'document')}, {count(corpus.n_tokens, 'word')}, "
    line += f"{len(corpus.vocabulary):,} of them different"
    return line + (f", {count(len(corpus.label_names), 'label')}" if corpus.labels is not None else "")


def print_input(data: Path, corpus: Corpus, found: Mapping[str, Any]) -> None:
    """What there is to learn from: the corpus, and what was found for its words."""
    print(clean(corpus_line(data.name, corpus)))
    if "word_features" in found:
        print(coverage_line(found["word_features"], corpus.vocabulary))
    elif "embeddings" in found:
        print(f"word vectors for {found['embeddings'].coverage(corpus.vocabulary):.1%} of the vocabulary")
    sys.stdout.flush()  # training may take a while


def coverage_line(features: WordFeatures, vocabulary: Sequence[str]) -> str:
    """For how many words there are features."""
    n_features = count(len(features.features.names), "word feature")
    return f"{n_features}; {features.coverage(vocabulary):.1%} of the vocabulary has some"


def top_words(model: TopicModel, topic: int, top_n: int) -> list[str]:
    """The most probable words of a topic."""
    return list(model.topic_words(topic, top_n)["word"])


def print_topics(model: TopicModel, top_n: int) -> None:
    """All topics, the largest first, with the labels that they belong to, where they do."""
    table = model.topics(top_n=1).sort_values("share", ascending=False, kind="stable")
    columns = [("topic", map(str, table["topic"])), ("share", (f"{share:.1%}" for share in table["share"]))]
    if "label" in table:
        columns.append(("label", map(short, table["label"])))
    words = (", ".join(short(word) for word in top_words(model, topic, top_n)) for topic in table["topic"])
    names, cells = zip(*columns, ("words", words), strict=True)
    print_table(names, list(zip(*cells, strict=True)))


def count(n: int, noun: str) -> str:
    """``1 document``, ``2 documents``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
