"""The errors a user can cause: each says what is wrong, where, and what to do."""


class InputError(ValueError):
    """Bad input: the message names the file, line, column or argument, and the remedy."""


class MissingLabelsError(InputError):
    """Data without the field that labels were to come from."""


class EmptyVocabularyError(InputError):
    """Documents of which no word is left."""


class StorageError(InputError):
    """A saved model or corpus that cannot be read or written."""


class MissingExtraError(ImportError):
    """An optional dependency that is not installed; the message holds the pip command."""


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtraError:
    """The error for an absent optional dependency, e.g. ``missing_extra("pyarrow", "parquet", "reading Parquet")``."""
    return MissingExtraError(f"{purpose} needs the package {package!r}: pip install 'metalda[{extra}]'")


class ClusterError(InputError):
    """A cluster that cannot be used, or no longer: the message says what became of it, and how to go on."""
