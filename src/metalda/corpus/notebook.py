"""What a notebook shows of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from metalda.corpus.markup import html_table

if TYPE_CHECKING:
    from metalda.corpus.corpus import Corpus

MOST_DOCUMENTS = 5


def corpus_html(corpus: Corpus) -> str:
    """The size of a corpus, and its first documents as a table."""
    n_shown = min(len(corpus), MOST_DOCUMENTS)
    columns: dict[str, Sequence[object]] = {"document": range(n_shown) if corpus.ids is None else corpus.ids}
    if corpus.labels is not None:
        rows = (corpus.labels.matrix[[i]].indices for i in range(n_shown))
        columns["labels"] = [", ".join(corpus.labels.names[j] for j in row) for row in rows]
    columns["words"] = [" ".join(corpus.document(i)) for i in range(n_shown)]
    n_more = len(corpus) - n_shown
    note = f"… and {n_more:,} more" if n_more else ""
    return html_table(repr(corpus), list(columns), zip(*columns.values(), strict=False), note)
