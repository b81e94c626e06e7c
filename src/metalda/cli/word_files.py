"""Files about words: vectors and features, for the models that have a use for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metalda.errors import InputError


@dataclass(frozen=True)
class WordFiles:
    """What ``--embeddings`` and ``--word-features`` name."""

    embeddings: Path | None
    word_features: Path | None

    def require_use(self, known: Collection[str], who: str) -> None:
        """An error for a file that nobody reads, given the parameters that are known to `who`."""
        for option, path, uses in (
            ("--embeddings", self.embeddings, {"embeddings", "word_features"}),
            ("--word-features", self.word_features, {"word_features"}),
        ):
            if path is not None and uses.isdisjoint(known):
                raise InputError(
                    f"{option}: {who} uses no word features{' or vectors' * (len(uses) > 1)}: leave it out"
                )
        if self.embeddings is not None and self.word_features is not None and "embeddings" not in known:
            raise InputError("give --embeddings or --word-features, not both")

    def read(self, known: Collection[str], vocabulary: Sequence[str] | None) -> dict[str, Any]:
        """The parameters among the known ones that the files give; of vectors those of the vocabulary, or all.

        Vectors are also made binary features, unless there is a file of those.
        """
        from metalda import Embeddings, WordFeatures

        found: dict[str, Any] = {}
        if self.embeddings is not None:
            found["embeddings"] = Embeddings.read(self.embeddings, vocabulary=vocabulary)
        if self.word_features is not None:
            found["word_features"] = WordFeatures.read(self.word_features)
        elif "embeddings" in found and "word_features" in known:
            found["word_features"] = found["embeddings"].binarize()
        return {name: value for name, value in found.items() if name in known}
