"""Look at the first documents of training data: their language, and whether their script has spaces.

Both decide how all documents are tokenized, before the first one is. The result is the same for one or several
processes, and the schema that it gives keeps it for new documents.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice

from metalda.corpus.languages import ENGLISH, guess_language, shown_name
from metalda.corpus.readers import Document
from metalda.corpus.schema import TOKEN_PATTERN, Schema
from metalda.corpus.settings import AUTO
from metalda.corpus.source import Source
from metalda.corpus.tokenizers import CHARACTER_PAIRS, unspaced_share
from metalda.corpus.vocabulary import make_analyzer
from metalda.errors import hint

logger = logging.getLogger(__name__)

MAX_DOCUMENTS, MAX_CHARACTERS = 1000, 1_000_000  # that are looked at; a single document may have more
_MANY_UNSPACED = 0.1  # of the letters


def inspected(source: Source) -> Source:
    """Return the source with the tokenizer and the stop words that its first documents need, and hint at problems."""
    if not source.texts or source.schema.analyzer not in (None, "word"):
        return source
    documents = iter(source.documents)
    first = list(_first(documents))
    texts = [document.content for document in first if isinstance(document.content, str)]
    schema = _with_stop_words(_with_tokenizer(source.schema, texts), texts)
    return replace(source, documents=chain(first, documents), schema=schema)


def _first(documents: Iterator[Document]) -> Iterator[Document]:
    n_characters = 0
    for document in islice(documents, MAX_DOCUMENTS):
        yield document
        n_characters += len(document.content)
        if n_characters >= MAX_CHARACTERS:
            return


def _with_tokenizer(schema: Schema, texts: list[str]) -> Schema:
    """Cut texts of scripts without spaces into pairs of characters, and name better tokenizers."""
    if schema.tokenizer is not None or schema.token_pattern != TOKEN_PATTERN:
        return schema
    if (share := unspaced_share(texts)) < _MANY_UNSPACED:
        return schema
    hint(
        f"{share:.0%} of the letters are of scripts without spaces between words, so the texts are cut into pairs of "
        "characters; words are better: give a tokenizer, such as tokenizer='jieba:lcut' for Chinese, or accept the "
        f"pairs with tokenizer={CHARACTER_PAIRS!r} (--tokenizer)"
    )
    return replace(schema, tokenizer=CHARACTER_PAIRS)


def _with_stop_words(schema: Schema, texts: list[str]) -> Schema:
    """Guess the stop words "auto", and hint at English stop words for texts in another language."""
    if isinstance(schema.stop_words, tuple):
        _check_consistency(schema, schema.stop_words)
    if schema.stop_words not in (AUTO, ENGLISH):
        return schema
    words = replace(schema, lowercase=True, token_pattern=TOKEN_PATTERN, stop_words=None, stem=None, ngram_range=(1, 1))
    analyze = make_analyzer(words)
    language = guess_language(token for text in texts for token in analyze(text))
    if language is None:
        return replace(schema, stop_words=ENGLISH)
    if schema.stop_words == ENGLISH:
        hint(
            f"the texts seem to be {shown_name(language)}, but English stop words are dropped: give "
            f"stop_words={language!r} (--stop-words {language})"
        )
        return schema
    logger.info(
        "the texts seem to be %s, so its stop words are dropped: %r in place of stop_words='auto' (--stop-words)",
        shown_name(language),
        language,
    )
    return replace(schema, stop_words=language)


def _check_consistency(schema: Schema, words: tuple[str, ...]) -> None:
    """Hint at stop words that are no tokens of texts, and whose parts are kept, such as "don't"."""
    if schema.tokenizer is not None or schema.token_pattern != TOKEN_PATTERN:
        return
    analyze = make_analyzer(replace(schema, stop_words=None, stem=None, ngram_range=(1, 1)))
    for word in words:
        if parts := [part for part in analyze(word) if part not in words]:
            hint(f"stop_words: texts have no token {word!r}, but {parts[0]!r}, which is kept: add it to stop_words")
            return
