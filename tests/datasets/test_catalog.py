"""Where data is looked for, and how archives are read."""

import bz2
import gzip
import lzma
from pathlib import Path, PurePosixPath

import pytest

from archives import tar
from metalda import datasets
from metalda.datasets.catalog import cache_folder, find_collection, find_compressed, members
from metalda.errors import InputError


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No data anywhere: neither METALDA_DATA nor anything in the cache."""
    monkeypatch.delenv("METALDA_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    return tmp_path


def write_tmn(folder: Path, word: str) -> None:
    (folder / "TMN").mkdir(parents=True)
    for part in ("train", "val", "test"):
        (folder / "TMN" / f"TMN_{part}.txt").write_text(f"us\t{word}\n")


def test_the_folder_given_comes_before_the_environment_and_that_before_the_cache(nowhere, monkeypatch):
    write_tmn(cache_folder(), "cached")
    assert datasets.load("tmn").vocabulary == ("cached",)
    write_tmn(nowhere / "named", "named")
    monkeypatch.setenv("METALDA_DATA", str(nowhere / "named"))
    assert datasets.load("tmn").vocabulary == ("named",)
    write_tmn(nowhere / "given", "given")
    assert datasets.load("tmn", nowhere / "given").vocabulary == ("given",)


def test_what_the_environments_folder_lacks_may_be_in_the_cache(nowhere, monkeypatch):
    write_tmn(cache_folder(), "cached")
    monkeypatch.setenv("METALDA_DATA", str(nowhere))
    assert datasets.load("tmn").vocabulary == ("cached",)
    with pytest.raises(InputError, match=r"expected TMN/TMN_train\.txt"):  # but a folder that was named is meant
        datasets.load("tmn", nowhere)


@pytest.mark.parametrize("name", [entry.name for entry in datasets.available() if entry.name != "python-docs"])
def test_missing_data_is_one_line_that_says_what_is_expected_where_and_how_to_get_it(name, nowhere):
    with pytest.raises(InputError) as caught:
        datasets.load(name)
    entry, message = datasets.describe(name), str(caught.value)
    assert entry.files in message
    assert entry.how in message
    assert str(cache_folder()) in message
    assert "METALDA_DATA" in message
    assert "\n" not in message


@pytest.mark.parametrize(("suffix", "compress"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)])
def test_a_table_may_be_compressed(tmp_path, suffix, compress):
    (tmp_path / f"arxiv.tsv{suffix}").write_bytes(compress(b"id"))
    assert find_compressed("arxiv", tmp_path, "arxiv.tsv").name == f"arxiv.tsv{suffix}"


@pytest.mark.parametrize(
    ("name", "compress"),
    [
        ("a.tar", bytes),
        ("a.tar.gz", gzip.compress),
        ("a.tgz", gzip.compress),
        ("a.tar.bz2", bz2.compress),
        ("a.tar.xz", lzma.compress),
    ],
)
def test_an_archive_and_its_folder_hold_the_same(tmp_path, name, compress):
    files = {"./b/2.txt": b"two", "b/1.txt": b"one", "b/.hidden.txt": b"no", "b/1.dat": b"no"}
    (tmp_path / name).write_bytes(compress(tar(files)))
    path = find_collection(tmp_path, "a.tar", "b/*.txt")
    assert path == tmp_path / name
    expected = [(PurePosixPath("b/1.txt"), b"one"), (PurePosixPath("b/2.txt"), b"two")]
    assert sorted(members(path, "b/*.txt")) == expected
    path.unlink()
    assert find_collection(tmp_path, "a.tar", "b/*.txt") is None
    for place in (tmp_path / "a", tmp_path):  # unpacked into a folder of its own, or beside other data
        (place / "b").mkdir(parents=True)
        for file, content in files.items():
            (place / file).write_bytes(content)
    assert find_collection(tmp_path, "a.tar", "b/*.txt") == tmp_path / "a"
    assert list(members(tmp_path / "a", "b/*.txt")) == expected
    assert list(members(tmp_path, "b/*.txt")) == expected


def test_nothing_is_unpacked_beside_the_data(tmp_path):
    (tmp_path / "a.tar").write_bytes(tar({"b/1.txt": b"one", "../evil.txt": b"out"}))
    assert len(list(members(tmp_path / "a.tar", "*.txt"))) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar"]
    assert not (tmp_path.parent / "evil.txt").exists()


def damaged_archives() -> dict[str, bytes]:
    noise = bytes(range(256)) * 40
    whole = tar({f"b/{i}.txt": noise for i in range(3)})
    packed = gzip.compress(whole, mtime=0)
    header = bytearray(whole)
    second = 512 + -(-len(noise) // 512) * 512
    header[second : second + 100] = b"\xff" * 100
    return {
        "empty": b"",
        "other": b"<html>not found</html>" * 50,
        "cut": packed[: len(packed) // 2],
        "checksum": packed[:-8] + b"\0" * 8,
        "header": bytes(header),
        "packed header": gzip.compress(bytes(header)),
    }


@pytest.mark.parametrize("kind", damaged_archives())
def test_a_damaged_archive_is_one_line_that_names_it(tmp_path, kind):
    path = tmp_path / "a.tar.gz"
    path.write_bytes(damaged_archives()[kind])
    with pytest.raises(InputError, match=r"a\.tar\.gz: damaged") as caught:
        list(members(path, "*.txt"))
    assert "\n" not in str(caught.value)
