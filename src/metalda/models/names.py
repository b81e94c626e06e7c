"""Names of topics in a file, as a report saves them."""

from __future__ import annotations

from os import PathLike

from metalda.corpus.files import read_object
from metalda.errors import InputError
from metalda.storage import locate
from metalda.utils.names import check_name

_EXAMPLE = '{"7": "economy", …}'
_LONGEST_NUMBER = 9  # digits


def read_names(path: str | PathLike[str]) -> dict[int | str, str | None]:
    """Read names of topics for `rename` from a JSON file: ``{"7": "economy", "12": null}``.

    Topics are given by number or by the name that they have; null takes a name away. A report saves the names that its
    reader gives in this format.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from metalda import LDA, read_names
    >>> model = LDA(3, n_iter=20, random_state=0, verbose=False).fit(["cat dog cat", "rain sun rain"] * 5)
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "names.json").write_text('{"0": "pets"}')
    ...     names = read_names(Path(folder, "names.json"))
    >>> names
    {0: 'pets'}
    >>> model.rename(names).get_feature_names_out().tolist()
    ['pets', 'topic1', 'topic2']
    """
    try:
        found = read_object(locate(path), _EXAMPLE)
        if not found:
            raise InputError(f"has no names; expected {_EXAMPLE}")
        names = {_topic(topic): None if name is None else check_name(name) for topic, name in found.items()}
        if len(names) < len(found):
            raise InputError("a topic is named twice; give it once")
        return names
    except InputError as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}") from None


def _topic(text: str) -> int | str:
    """Return the number of a topic, or the name that it has."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER else text
