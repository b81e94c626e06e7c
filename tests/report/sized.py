"""Reports with few and many topics, without labels and with ordered ones, all of whose names mean harm."""

from pathlib import Path
from typing import Any

import pandas as pd

from contracts import corpus, quietly
from metalda import Corpus, MetaLDA, write_report
from report.hostile import WORDS

DECADES = [f"{year}s" for year in range(1900, 2020, 10)]
SETTINGS: dict[str, Any] = {"n_iter": 40, "thin": 2, "n_draws": 10, "random_state": 0, "verbose": False}


def sized_corpus() -> Corpus:
    """120 documents with a hostile label and a decade; the column of decades has a hostile name too."""
    texts = [[*words, *WORDS[i % 5 : i % 5 + 3]] for i, words in enumerate([*corpus()] * 12)]
    frame = pd.DataFrame({WORDS[0]: [DECADES[i % 12] for i in range(120)], "place": [WORDS[i % 7] for i in range(120)]})
    frame["text"] = texts
    return Corpus.from_frame(frame, text="text", labels=["place", WORDS[0]])


def write_sized(folder: Path, n_topics: int) -> Path:
    """Write a report; with two topics, one without labels."""
    path, documents = folder / f"{n_topics}.html", sized_corpus()
    documents = documents.without_labels() if n_topics == 2 else documents
    quietly(write_report, MetaLDA(n_topics, **SETTINGS).fit(documents), path, documents)
    return path
