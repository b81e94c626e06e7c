"""The real corpora that benchmarks run on: the folder that METALDA_DATA names, or shared/data beside the repository."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metalda import Corpus, WordFeatures


def data_folder() -> Path:
    folder = Path(os.environ.get("METALDA_DATA") or Path(__file__).parents[1].parent / "shared" / "data")
    if not folder.is_dir():
        raise SystemExit("no real data: set METALDA_DATA to the folder that holds WS, TMN, …")
    return folder


def load_ws() -> tuple[Corpus, Corpus, WordFeatures]:
    """Web Snippets: train, test, and the paper's binarised embeddings."""
    from metalda import WordFeatures
    from metalda.datasets import load_ws as load

    train, test = load(data_folder())
    return train, test, WordFeatures.read(data_folder() / "WS" / "binary_embeddings.txt")
