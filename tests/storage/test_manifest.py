"""Single files are complete or absent."""

from pathlib import Path

import pytest

from metalda.errors import StorageError
from metalda.storage import read_document, replacing, write_document


def test_a_document_comes_back_and_may_be_replaced(tmp_path: Path) -> None:
    for document in ({"a": [1, None, "ü"]}, {"b": {}}):
        write_document(tmp_path / "x.json", "run", document)
        assert read_document(tmp_path / "x.json", "run") == document
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_a_document_of_another_kind_or_a_torn_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    write_document(file, "run", {})
    with pytest.raises(StorageError, match="not a metalda comparison"):
        read_document(file, "comparison")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(StorageError, match="damaged"):
        read_document(file, "run")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError("oh")])
def test_what_goes_wrong_while_writing_leaves_the_old_file(tmp_path: Path, error: BaseException) -> None:
    file = tmp_path / "x.txt"
    file.write_text("old")

    def write() -> None:
        with replacing(file, "x") as new:
            new.write("half")
            raise error

    with pytest.raises(StorageError if isinstance(error, OSError) else type(error)):
        write()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x.txt", "old")]
