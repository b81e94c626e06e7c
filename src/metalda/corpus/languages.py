"""Languages: their codes and names, lists of stop words, stemmers, and a guess of the language of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

from metalda.corpus.english import ENGLISH_STOP_WORDS
from metalda.corpus.unicode import find_words, normalize
from metalda.errors import InputError

# ISO 639-1 codes. English stop words are those of scikit-learn, others those of stopwordsiso.
NAMES = {
    "af": "afrikaans",
    "ar": "arabic",
    "bg": "bulgarian",
    "bn": "bengali",
    "br": "breton",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "gl": "galician",
    "gu": "gujarati",
    "ha": "hausa",
    "he": "hebrew",
    "hi": "hindi",
    "hr": "croatian",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "ja": "japanese",
    "ko": "korean",
    "ku": "kurdish",
    "la": "latin",
    "lt": "lithuanian",
    "lv": "latvian",
    "mr": "marathi",
    "ms": "malay",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sk": "slovak",
    "sl": "slovenian",
    "so": "somali",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "sw": "swahili",
    "ta": "tamil",
    "th": "thai",
    "tl": "tagalog",
    "tr": "turkish",
    "uk": "ukrainian",
    "ur": "urdu",
    "vi": "vietnamese",
    "yi": "yiddish",
    "yo": "yoruba",
    "zh": "chinese",
    "zu": "zulu",
}
ENGLISH = "english"

_CODES = {name: code for code, name in NAMES.items()}
_MIN_SHARE = 0.1  # of the words in the list of a language, which is at least 0.14 in running text
_TIMES_ENGLISH = 2  # lists of other languages contain some English words, a fifth of what the English list contains
_MIN_DISTINCT = 5  # different stop words, since a few documents of a few words tell nothing


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, for example to extend them.

    English stop words are those of scikit-learn, the others those of the package stopwordsiso.

    Parameters
    ----------
    language : str
        A code of ISO 639-1, such as "de", or the English name of the language, such as "german".

    Examples
    --------
    >>> import metalda
    >>> sorted(metalda.stop_words("de"))[:5]
    ['a', 'ab', 'aber', 'ach', 'acht']
    >>> corpus = metalda.Corpus.from_texts(["Das Haus ist alt"], stop_words=[*metalda.stop_words("de"), "alt"])
    >>> corpus.vocabulary
    ('haus',)
    """
    code = stop_word_code(language)
    if code == ENGLISH:
        return ENGLISH_STOP_WORDS
    words = [normalize(word).lower() for word in _lists()[code] if not any(map(str.isspace, word))]
    return frozenset({*words, *(part for word in words for part in find_words(word))})  # aujourd'hui is two tokens


def stop_word_code(language: str) -> str:
    """Return the code of a language with a list of stop words; "english" for English."""
    code = _code(language)
    if code == "en":
        return ENGLISH
    if code not in _lists():
        known = ", ".join(sorted(_lists()))
        raise InputError(
            f"stop_words={language!r}: no list for this language; give a list of words, or one of: {known} "
            "(--stop-words)"
        )
    return code


def guess_language(tokens: Iterable[str]) -> str | None:
    """Return the code of the language whose stop words are the largest share of the tokens, or None for English.

    None as well if no language is clear: too few tokens, or a list of words without stop words.
    """
    counts = Counter(tokens)
    n_tokens = counts.total()
    n_english = sum(counts[word] for word in stop_words(ENGLISH))
    n_best, best = 0, None
    for code in _lists():
        if code != "en" and (n_found := sum(counts[word] for word in stop_words(code) if word in counts)) > n_best:
            n_best, best = n_found, code
    if best is None or n_best < max(_MIN_SHARE * n_tokens, _TIMES_ENGLISH * n_english):
        return None
    return best if len(stop_words(best) & counts.keys()) >= _MIN_DISTINCT else None


def shown_name(code: str) -> str:
    """Return the name of a language for messages: ``German (de)``."""
    return f"{NAMES[code].capitalize()} ({code})" if code in NAMES else code


def stem_algorithm(language: str) -> str:
    """Return the name of the Snowball stemmer of a language, given by its code, its name, or that of the stemmer."""
    import snowballstemmer

    name = NAMES.get(language.lower(), language.lower())
    if name not in snowballstemmer.algorithms():
        known = ", ".join(sorted(snowballstemmer.algorithms()))
        raise InputError(f"stem={language!r}: no Snowball stemmer for this language; choose from: {known} (--stem)")
    return name


class Stemmer(dict[str, str]):
    """Maps words to their stems by a Snowball stemmer, and keeps the stems that were computed."""

    def __init__(self, algorithm: str) -> None:
        import snowballstemmer

        super().__init__()
        self._stem = snowballstemmer.stemmer(algorithm).stemWord

    def __missing__(self, word: str) -> str:
        self[word] = str(self._stem(word))
        return self[word]


def _code(language: str) -> str:
    return _CODES.get(language.lower(), language.lower())


@cache
def _lists() -> dict[str, frozenset[str]]:
    import stopwordsiso

    return {code: frozenset(stopwordsiso.stopwords(code)) for code in sorted(stopwordsiso.langs())}
