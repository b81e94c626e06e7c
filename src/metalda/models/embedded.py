"""What models have in common that learn from word vectors themselves, not from binary features of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from metalda.errors import InputError
from metalda.meta import Embeddings
from metalda.models.base import TopicModel


@dataclass(kw_only=True, eq=False, repr=False)
class EmbeddedModel(TopicModel):
    """A model with `embeddings`."""

    embeddings: Any = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TopicModel._parameter_constraints,
        "embeddings": [Embeddings, None],
    }

    @property
    def _needs_names(self) -> bool:
        return True

    def _vectors(self, vocabulary: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Vectors of words, zeros where there is none; and which words have one."""
        name = type(self).__name__
        if self.embeddings is None:
            raise InputError(
                f"{name} needs word vectors: embeddings=Embeddings.read(...) (--embeddings FILE on the command line)"
            )
        return self.embeddings.look_up(vocabulary)

    def _vectors_to_learn_from(self, vocabulary: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The same; an error if no word has a vector, since then something is wrong."""
        vectors, known = self._vectors(vocabulary)
        if not known.any():
            there, here = (", ".join(map(repr, words[:3])) for words in (self.embeddings.words, tuple(vocabulary)))
            raise InputError(
                f"none of the {len(vocabulary):,} words has a vector; the vectors are of {there} …, the words are "
                f"{here} …. If the case differs, lower-case the texts; else check the language"
            )
        return vectors, known
