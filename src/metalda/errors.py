"""Errors that users can cause. Every message says what is wrong, where, and what to do."""


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
