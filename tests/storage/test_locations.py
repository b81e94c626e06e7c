"""Locations at ``scheme://…`` are read and written like local paths."""

import gzip
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from metalda import LDA, Corpus, load
from metalda.errors import InputError, MissingExtraError, StorageError
from metalda.samplers import Draw
from metalda.storage import Remote, check_writable, locate, read_folder, write_folder
from metalda.training.checkpoint import Checkpoint

fsspec = pytest.importorskip("fsspec")

TEXTS = "the cat saw the dog\nrain and wind\n\nthe dog barks\n"


@pytest.fixture
def place():
    """A folder in the in-memory file system of fsspec."""
    system = fsspec.filesystem("memory")
    system.makedirs("/bucket", exist_ok=True)
    yield "memory://bucket"
    system.rm("/bucket", recursive=True)


@pytest.fixture(autouse=True)
def no_leftovers(tmp_path_factory, monkeypatch):
    """Temporary copies on this machine are deleted."""
    folder = tmp_path_factory.mktemp("tmp")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert os.listdir(folder) == []


def names_in(place: str) -> list[str]:
    return sorted(path.name for path in locate(place).iterdir())


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("a/b", Path("a/b")),
        ("file:///a/b", Path("/a/b")),
        ("C:/a", Path("C:/a")),
        ("C://a", Path("C://a")),
        ("s3://bucket/a.jsonl.gz", Remote("s3://bucket/a.jsonl.gz")),
        ("simplecache::s3://bucket/a", Remote("simplecache::s3://bucket/a")),
        (Path("s3://bucket/a"), Remote("s3://bucket/a")),
        (Remote("s3://bucket/a"), Remote("s3://bucket/a")),
    ],
    ids=str,
)
def test_a_location_is_a_path_or_elsewhere(given, found):
    assert locate(given) == found


def test_an_empty_path_is_not_the_current_folder():
    with pytest.raises(InputError, match="a path is empty"):
        Corpus.read("")


def test_the_parts_of_a_name_are_those_of_a_path():
    remote = Remote("s3://bucket/a/news.jsonl.gz")
    assert (remote.name, remote.stem, remote.suffix) == ("news.jsonl.gz", "news.jsonl", ".gz")
    assert remote.suffixes == [".jsonl", ".gz"]
    assert str(Remote("s3://bucket/") / "a") == "s3://bucket/a"


@pytest.mark.parametrize("layout", ["npy", "safetensors"])
def test_what_is_saved_comes_back(place, layout):
    arrays = {"x": np.arange(5), "y": np.zeros((2, 3), np.float32)}
    write_folder(f"{place}/m", "model", {"a": 1}, arrays, layout=layout)
    document, back = read_folder(f"{place}/m", "model", mmap=True)
    assert document == {"a": 1}
    np.testing.assert_array_equal(back["x"], arrays["x"])
    np.testing.assert_array_equal(back["y"], arrays["y"])


def test_a_new_save_takes_the_place_of_the_old_one(place):
    for value in (1, 2):
        write_folder(f"{place}/m", "model", {"a": value}, {"x": np.full(3, value)})
    assert read_folder(f"{place}/m", "model")[0] == {"a": 2}
    assert len(names_in(f"{place}/m")) == 2


def test_a_save_that_fails_leaves_the_old_one(place, monkeypatch):
    write_folder(f"{place}/m", "model", {"a": 1}, {"x": np.zeros(3)})
    before = names_in(f"{place}/m")
    upload = Remote.upload

    def broken(self, source):
        upload(self, source)
        raise OSError(5, "the network is down")

    monkeypatch.setattr(Remote, "upload", broken)
    with pytest.raises(StorageError, match=r"cannot save the model: the network is down"):
        write_folder(f"{place}/m", "model", {"a": 2}, {"x": np.zeros(3)})
    assert names_in(f"{place}/m") == before
    assert read_folder(f"{place}/m", "model")[0] == {"a": 1}


def test_a_place_that_holds_something_else_is_refused(place):
    locate(f"{place}/m/notes.txt").write_bytes(b"mine")
    for attempt in (lambda: check_writable(f"{place}/m"), lambda: write_folder(f"{place}/m", "model", {}, {})):
        with pytest.raises(StorageError, match="holds other files and no saved model"):
            attempt()
    check_writable(f"{place}/new")
    assert names_in(place) == ["m"]


def test_damage_is_told_with_the_name_of_the_place(place):
    write_folder(f"{place}/m", "model", {}, {"x": np.zeros(3)})
    with pytest.raises(StorageError, match=r"memory://bucket/absent: no such folder, so no saved model"):
        read_folder(f"{place}/absent", "model")
    with pytest.raises(StorageError, match=r"memory://bucket/m: holds a saved model, not a corpus"):
        read_folder(f"{place}/m", "corpus")
    (file,) = [name for name in names_in(f"{place}/m") if name != "model.json"]
    locate(f"{place}/m/{file}").write_bytes(b"x")
    with pytest.raises(StorageError, match=rf"memory://bucket/m/{file}: damaged: 1 bytes"):
        read_folder(f"{place}/m", "model")
    locate(f"{place}/m/{file}").unlink()
    with pytest.raises(StorageError, match=rf"memory://bucket/m/{file}: missing"):
        read_folder(f"{place}/m", "model")


@pytest.mark.parametrize("name", ["t.txt", "t.txt.gz"])
def test_texts_are_read_and_prepared_from_elsewhere(place, tmp_path, name):
    data = gzip.compress(TEXTS.encode()) if name.endswith(".gz") else TEXTS.encode()
    locate(f"{place}/{name}").write_bytes(data)
    (tmp_path / name).write_bytes(data)
    expected = Corpus.read(tmp_path / name)
    for corpus in (
        Corpus.read(f"{place}/{name}"),
        Corpus.read((tmp_path / name).as_uri()),
        Corpus.prepare(f"{place}/{name}", tmp_path / "here"),
        Corpus.prepare(f"{place}/{name}", f"{place}/there"),
        Corpus.load(f"{place}/there"),
    ):
        assert list(corpus) == list(expected)
        assert corpus.vocabulary == expected.vocabulary


def test_a_folder_elsewhere_is_a_folder_of_documents(place):
    for name in ("b/2.txt", "a/1.txt", ".hidden/x.txt", "a/.x"):
        locate(f"{place}/texts/{name}").write_bytes(b"cat and dog")
    corpus = Corpus.read(f"{place}/texts")
    assert corpus.ids == ("a/1.txt", "b/2.txt")
    assert corpus.label_names == ("a", "b")


def test_parquet_is_read_from_elsewhere(place):
    pd = pytest.importorskip("pandas")
    with locate(f"{place}/t.parquet").open("wb") as file:
        pd.DataFrame({"text": ["cat dog", "rain"]}).to_parquet(file)
    assert list(Corpus.read(f"{place}/t.parquet")) == [["cat", "dog"], ["rain"]]


def test_a_model_is_saved_and_loaded_elsewhere(place):
    model = LDA(2, n_iter=4, random_state=0, verbose=False).fit(TEXTS.split("\n"))
    model.save(f"{place}/model")
    np.testing.assert_array_equal(load(f"{place}/model").components_, model.components_)
    assert isinstance(load(f"{place}/model").draws_[0], Draw)


def test_training_goes_on_from_a_checkpoint_elsewhere(place):
    texts = TEXTS.split("\n")
    model = LDA(2, n_iter=6, burn_in=0, thin=2, random_state=0, verbose=False)
    expected = model.fit(texts).components_
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checkpoint, "save", stop_after(4, Checkpoint.save))
        with pytest.raises(StoppedError):
            model.fit(texts, checkpoint=f"{place}/ck", checkpoint_every=2)
    with pytest.raises(InputError, match=r"memory://bucket/ck: there is a checkpoint already"):
        model.fit(texts, checkpoint=f"{place}/ck", checkpoint_every=2)
    again = model.fit(texts, checkpoint=f"{place}/ck", checkpoint_every=2, resume=True)
    np.testing.assert_array_equal(again.components_, expected)


class StoppedError(Exception):
    """The run was stopped."""


def stop_after(n_sweeps, save):
    def stopping(self, chains):
        save(self, chains)
        if chains[0].n_sweeps == n_sweeps:
            raise StoppedError

    return stopping


def test_no_file_and_no_such_scheme_are_one_line(place):
    with pytest.raises(InputError, match=r"^memory://bucket/absent.txt: no such file$"):
        Corpus.read(f"{place}/absent.txt")
    with pytest.raises(InputError, match=r"^nowhere://a.txt: Protocol not known: nowhere$"):
        Corpus.read("nowhere://a.txt")


def test_without_fsspec_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'metalda\[dask\]'"):
        Corpus.read("s3://bucket/a.txt")
