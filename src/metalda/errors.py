"""Errors that users can cause. Every message says what is wrong, where, and what to do."""

import contextlib
import os
import sys
import warnings


class InputError(ValueError):
    """Bad input: the message names the file, line, column or argument, and the remedy."""


class MissingLabelsError(InputError):
    """The data do not have the field that labels are read from."""


class EmptyVocabularyError(InputError):
    """No word of the documents is left after tokenizing and filtering."""


class StorageError(InputError):
    """A saved model or corpus cannot be read or written."""


class MissingExtraError(ImportError):
    """An optional dependency is not installed; the message holds the pip command."""


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtraError:
    """Return the error for an optional dependency, e.g. ``missing_extra("pyarrow", "parquet", "reading Parquet")``."""
    return MissingExtraError(f"{purpose} needs the package {package!r}: pip install 'metalda[{extra}]'")


class ClusterError(InputError):
    """A cluster cannot be used, or can no longer be used; the message says why and how to continue."""


class HintWarning(UserWarning):
    """Input or settings are valid, but probably not what was meant; the message says what to do."""


def warn(message: str, category: type[UserWarning] = UserWarning) -> None:
    """Issue a warning that names the line of the user's code, not one of metalda or scikit-learn."""
    packages = [os.path.dirname(__file__), contextlib.__file__]
    if "sklearn" in sys.modules:
        packages += sys.modules["sklearn"].__path__
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(tuple(packages)):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def hint(message: str) -> None:
    """Warn that valid input or settings are probably not what was meant."""
    warn(message, HintWarning)
