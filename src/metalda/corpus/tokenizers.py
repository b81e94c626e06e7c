"""Tokenizers: functions by import path, and character n-grams for scripts that are written without spaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from metalda.corpus.unicode import find_words, mark_class
from metalda.errors import InputError

CHARACTER_PAIRS = "characters:2"

_IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_CHARACTERS = re.compile(r"characters:([1-9])")
_LONGEST_PATH = 200
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_OTHER_SCRIPTS = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3041, 0x30FF), (0x31F0, 0x31FF))
_HAS_WORD_CHARACTER = re.compile(r"\w").search


def check_tokenizer(value: str) -> None:
    """Raise InputError unless a tokenizer is written as ``characters:2`` or ``module:function``; import nothing."""
    if _CHARACTERS.fullmatch(value) or (len(value) <= _LONGEST_PATH and _IMPORT_PATH.fullmatch(value)):
        return
    shown = value if len(value) <= 40 else f"{value[:39]}…"
    raise InputError(
        f"tokenizer={shown!r}: give module:function, such as 'jieba:lcut', or 'characters:2' for pairs of characters "
        "(--tokenizer)"
    )


def runs_code(tokenizer: object) -> bool:
    """Return whether a tokenizer is the import path of a function."""
    return isinstance(tokenizer, str) and ":" in tokenizer and not _CHARACTERS.fullmatch(tokenizer)


def load_tokenizer(tokenizer: str | Callable[[str], Sequence[str]]) -> Callable[[str], list[str]]:
    """Return the function from a text to its tokens. The module of an import path is imported, which runs its code."""
    if callable(tokenizer):
        return _checked(tokenizer, getattr(tokenizer, "__qualname__", type(tokenizer).__name__))
    if found := _CHARACTERS.fullmatch(tokenizer):
        return CharacterTokenizer(int(found[1]))
    module, _, path = tokenizer.partition(":")
    try:
        function: Any = import_module(module)
        for name in path.split("."):
            function = getattr(function, name)
    except ModuleNotFoundError as error:
        raise InputError(
            f"tokenizer={tokenizer!r}: there is no module {error.name!r}; install its package, such as pip install "
            f"{module.partition('.')[0]}"
        ) from error
    except Exception as error:  # of code that is not ours
        raise InputError(f"tokenizer={tokenizer!r} cannot be imported: {_one_line(error)}") from error
    if not callable(function):
        raise InputError(f"tokenizer={tokenizer!r} is {type(function).__name__}, not a function from a text to tokens")
    return _checked(function, tokenizer)


def _checked(function: Callable[[str], Iterable[str]], name: str) -> Callable[[str], list[str]]:
    """Return a function that also drops tokens of spaces and punctuation, and whose errors are one line."""

    def tokenize(text: str) -> list[str]:
        try:
            tokens = list(function(text))
        except Exception as error:  # of code that is not ours
            shown = text if len(text) <= 40 else f"{text[:39]}…"
            raise InputError(f"tokenizer={name!r} failed on the text {shown!r}: {_one_line(error)}") from error
        for token in tokens:
            if not isinstance(token, str):
                raise InputError(f"tokenizer={name!r}: tokens must be strings, not {type(token).__name__}")
        return [token for token in map(str.strip, tokens) if _HAS_WORD_CHARACTER(token)]

    return tokenize


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


class CharacterTokenizer:
    """Cuts runs of letters of scripts without spaces into overlapping n-grams; all other words are kept whole.

    A letter and the marks on it count as one character, which matters for Thai, Lao, Khmer and Burmese.

    Examples
    --------
    >>> CharacterTokenizer(2)("我喜欢 Python 编程")
    ['我喜', '喜欢', 'Python', '编程']
    """

    def __init__(self, n: int) -> None:
        self._n = n

    def __call__(self, text: str) -> list[str]:
        tokens: list[str] = []
        end = 0
        for run in unspaced_runs().finditer(text):
            tokens += find_words(text[end : run.start()])
            characters = _unspaced_characters().findall(run.group())
            n_grams = range(max(1, len(characters) - self._n + 1))
            tokens += ["".join(characters[i : i + self._n]) for i in n_grams]
            end = run.end()
        return tokens + find_words(text[end:])


def unspaced_share(texts: Sequence[str]) -> float:
    """Return the share of letters that belong to scripts without spaces."""
    n_letters = sum(sum(map(str.isalpha, text)) for text in texts)
    n_unspaced = sum(len(run) for text in texts for run in _unspaced_letters().findall(text))
    return n_unspaced / n_letters if n_letters else 0.0


@cache
def _unspaced_class() -> str:
    codes = (code for first, last in _OTHER_SCRIPTS for code in range(first, last + 1))
    return _HAN + "".join(chr(code) for code in codes if unicodedata.category(chr(code)).startswith("L"))


@cache
def unspaced_runs() -> re.Pattern[str]:
    """Return the pattern of runs of characters of Han, kana, Thai, Lao, Khmer and Burmese."""
    return re.compile(f"(?:[{_unspaced_class()}][{mark_class()}]*)+")


@cache
def _unspaced_characters() -> re.Pattern[str]:
    return re.compile(f"[{_unspaced_class()}][{mark_class()}]*")


@cache
def _unspaced_letters() -> re.Pattern[str]:
    return re.compile(f"[{_unspaced_class()}]+")
