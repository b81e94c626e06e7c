"""Keep the texts of documents as written, so that they can be quoted."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from metalda.corpus.readers import Document

logger = logging.getLogger(__name__)

MAX_TEXT_BYTES = 100_000_000  # of all texts in UTF-8, up to which keep_text="auto" keeps them


class TextLimit:
    """Decides, document by document in their order, whether the texts so far can be kept.

    They cannot if a document is a list of tokens, or with ``keep_text="auto"`` if they exceed `MAX_TEXT_BYTES`.

    Parameters
    ----------
    keep : bool or "auto"
        The setting `keep_text` of a schema.
    texts : bool
        Whether documents may be texts.
    """

    def __init__(self, keep: bool | str, *, texts: bool) -> None:
        self.holds = texts and keep is not False
        self._left: float = float("inf") if keep is True else MAX_TEXT_BYTES

    def admit(self, content: str | Sequence[str]) -> bool:
        """Count the next document, and return whether all texts so far can be kept."""
        if not self.holds:
            return False
        self.holds = isinstance(content, str)
        if isinstance(content, str):
            self._left -= len(content) if content.isascii() else len(content.encode("utf-8", "surrogatepass"))
            if self._left < 0:
                self.holds = False
                logger.info(
                    "the texts have more than %s MB, and are not kept as written; keep_text=True (--keep-text) keeps "
                    "them",
                    f"{MAX_TEXT_BYTES / 1e6:,.0f}",
                )
        return self.holds

    def admit_all(self, documents: Iterable[Document]) -> bool:
        """Count the next documents, and return whether all texts so far can be kept."""
        if self.holds:
            for document in documents:
                self.admit(document.content)
        return self.holds


class TextCollector:
    """Collects the texts of documents, one by one."""

    def __init__(self, keep: bool | str, *, texts: bool) -> None:
        self._limit = TextLimit(keep, texts=texts)
        self._texts: list[str] = []

    def add(self, content: str | Sequence[str]) -> None:
        """Add the next document."""
        if self._limit.admit(content):
            self._texts.append(str(content))
        else:
            self._texts.clear()

    def finish(self) -> tuple[str, ...] | None:
        """Return the texts of all documents, or None if they are not kept."""
        return tuple(self._texts) if self._limit.holds else None
