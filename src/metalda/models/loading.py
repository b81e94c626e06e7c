"""Reading saved models."""

from __future__ import annotations

import os

from metalda.errors import InputError, StorageError
from metalda.models.base import TopicModel
from metalda.models.registry import CLASSES
from metalda.models.saving import unpack_model
from metalda.storage import read_folder


def load(path: str | os.PathLike[str]) -> TopicModel:
    """Read a model that `TopicModel.save` wrote. Nothing in its files is ever run.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from metalda import LDA, load
    >>> model = LDA(2, n_iter=20, random_state=0).fit(["cat dog cat", "rain sun"])
    >>> with TemporaryDirectory() as folder:
    ...     model.save(Path(folder, "model"))
    ...     same = load(Path(folder, "model"))
    >>> bool((same.transform(["cat"]) == model.transform(["cat"])).all())
    True
    """
    document, arrays = read_folder(path, "model")
    name = document.get("model")
    if name not in CLASSES:
        raise StorageError(f"{path}: holds a model {name!r}, which this version of metalda does not know")
    try:
        return unpack_model(CLASSES[name].load(), document, arrays)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise StorageError(f"{path}: the model is damaged ({type(error).__name__}: {error}); save it again") from error
