"""Every way in which a file can be wrong is one line that names it."""

import gzip
import io
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus.files import COMPRESSORS, as_parquet, error_of, write
from metalda.corpus import Corpus
from metalda.errors import InputError

BROKEN_JSONL = {
    "cut": ('{"text": "aa"}\n\n{"text": "b', " line 3: not JSON: Unterminated string"),
    "nothing": ('{"text": "aa"}\nhello\n', " line 2: not JSON: Expecting value, found 'hello'"),
    "list": ("[1, 2]\n", " line 1: not an object with fields, but '1'"),
    "number": ('{"text": "aa"}\n3\n', " line 2: not an object with fields, but '3'"),
    "deep": ("[" * 200_000 + "\n", " line 1: not JSON"),
    "long number": ('{"text": ' + "1" * 10_000 + "}\n", " line 1: "),
    "no text": ('{"text": "aa"}\n{"texts": "bb", "n": 1}\n', " line 2: no field 'text'; fields are: texts, n."),
    "number as text": ('{"text": 5}\n', " line 1: the field 'text' holds int, not text"),
    "object as text": ('{"text": {"a": 1}}\n', " line 1: the field 'text' holds dict, not text"),
    "mixed tokens": ('{"text": ["a", 1]}\n', " line 1: the field 'text' holds a list whose elements"),
}


@pytest.mark.parametrize("case", BROKEN_JSONL)
def test_a_broken_line_of_jsonl_is_named(tmp_path, case):
    data, message = BROKEN_JSONL[case]
    assert error_of(write(tmp_path / "n.jsonl", data)).startswith(message)


def test_a_missing_field_is_named_with_those_there_are(tmp_path):
    path = write(tmp_path / "n.jsonl", '{"id": 1, "body": "aa", "tags": "x"}\n')
    assert error_of(path, text="boddy") == (
        " line 1: no field 'boddy'; fields are: id, body, tags. Name it with text= (--text)"
    )
    assert error_of(path, labels="tag").startswith(": no field 'tag'; fields are: id, body, tags.")
    write(path, '{"one": "aa", "two": "bb"}\n')
    assert error_of(path) == ": which field is the text? Fields are: one, two; name one with text= (--text)"
    assert error_of(write(tmp_path / "n.csv", "one,two\na,b\n"), text="three").startswith(": no field 'three'")


BROKEN_CSV = {
    "too few": ("text,id\naa,1\nbb\n", " line 3: 1 fields, but the header has 2"),
    "too many": ('text,id\n"a\nb",1\n\nbb,2,3\n', " line 5: 3 fields, but the header has 2"),
    "same name": ("text,text\naa,1\n", " line 1: two columns of the header have the same name"),
    "old line ends": ("text,id\raa,1\r", " line 1: "),
    "header only": ("text,id\n", ": no documents"),
    "empty": ("", ": is empty"),
}


@pytest.mark.parametrize("case", BROKEN_CSV)
def test_a_broken_row_of_csv_is_named(tmp_path, case):
    data, message = BROKEN_CSV[case]
    assert error_of(write(tmp_path / "n.csv", data)).startswith(message)


@pytest.mark.parametrize("name", ["n.jsonl", "n.csv", "n.tsv", "n.txt", "n", "n.jsonl.gz"])
def test_an_empty_file_is_said_to_be_empty(tmp_path, name):
    assert error_of(write(tmp_path / name, b"")) == ": is empty"


def test_an_empty_folder_has_no_documents(tmp_path):
    assert error_of(tmp_path) == ": no documents"


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet", ".txt", "", ".jsonl.gz"])
def test_a_missing_file_is_named(tmp_path, suffix):
    assert error_of(tmp_path / f"none{suffix}") == ": no such file"


def test_files_and_folders_are_not_mixed_up(tmp_path):
    assert error_of(tmp_path, format="jsonl") == ": is a folder, but the format 'jsonl' needs a file"
    path = write(tmp_path / "f.txt", "aa")
    assert error_of(path, format="folder") == ": is a file, but the format 'folder' needs a folder of files"


def test_an_unknown_format_or_encoding_is_refused(tmp_path):
    path = write(tmp_path / "f.txt", "aa")
    for keywords in ({"format": "xml"}, {"encoding": "klingon"}, {"encoding": "base64"}):
        with pytest.raises(InputError, match="is not known"):
            Corpus.read(path, **keywords)


@pytest.mark.parametrize("format", ["text", "java", "folder"])
@pytest.mark.parametrize("keywords", [{"labels": "tags"}, {"text": "body"}, {"id": "n"}, {"bins": {"y": 2}}])
def test_formats_without_fields_refuse_them(tmp_path, format, keywords):
    path = tmp_path if format == "folder" else write(tmp_path / "f.txt", "1\ta\tb\n")
    assert f"the format '{format}' has no fields: {next(iter(keywords))}=" in error_of(path, format=format, **keywords)


@pytest.mark.parametrize("compression", COMPRESSORS)
@pytest.mark.parametrize(
    ("suffix", "header", "row", "bad"),
    [
        (".txt", "", "{}\n", b"caf\xe9 x"),
        (".txt", "", "{}\n", b"cut \xe9"),
        (".jsonl", "", '{{"text": "{}"}}\n', b'{"text": "caf\xe9"}'),
        (".csv", "text,id\n", "{},1\n", b"caf\xe9,2"),
        (".tsv", "text\tid\n", "{}\t1\n", b"caf\xe9\t2"),
    ],
)
def test_bytes_that_are_not_utf8_are_located(tmp_path, suffix, header, row, bad, compression):
    good = (header + row.format("ä" * 999) * 600).encode()  # more than one piece, which may end within a character
    path = write(tmp_path / f"n{suffix}{compression}", COMPRESSORS[compression](good + bad))
    line, byte = good.count(b"\n") + 1, len(good) + bad.index(b"\xe9")
    remedy = 'give the encoding, e.g. encoding="latin-1" (--encoding latin-1)'
    assert error_of(path) == f" line {line}: not utf-8 (byte {byte:,}); {remedy}"


def test_utf16_with_its_mark_is_recognized(tmp_path):
    path = write(tmp_path / "export.csv", "text,id\nüber,1\n".encode("utf-16"))
    assert error_of(path).endswith('give the encoding, e.g. encoding="utf-16" (--encoding utf-16)')
    assert list(Corpus.read(path, encoding="utf-16")) == [["über"]]


def test_utf16_that_is_cut_is_one_line(tmp_path):
    path = write(tmp_path / "n.txt", "ab\ncd\n".encode("utf-16")[:-1])
    assert " line 2: not utf-16" in error_of(path, encoding="utf-16")


@pytest.mark.parametrize("compression", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".csv", ".parquet"])
@pytest.mark.parametrize("damage", ["cut", "other", "flipped"])
def test_damaged_compression_is_one_line(tmp_path, compression, suffix, damage):
    random = np.random.default_rng(0).integers(97, 122, 400_000, dtype=np.uint8).tobytes()
    data = {".txt": random, ".jsonl": b'{"text": "' + random + b'"}', ".csv": b"text\n" + random, ".parquet": random}
    packed = COMPRESSORS[compression](data[suffix])
    flipped = packed[:-20] + bytes(b ^ 255 for b in packed[-20:])
    content = {"cut": packed[: len(packed) // 2], "other": b"this is not compressed\n", "flipped": flipped}[damage]
    assert ": damaged" in error_of(write(tmp_path / f"n{suffix}{compression}", content))


def test_a_damaged_parquet_file_is_one_line(tmp_path):
    data = as_parquet()
    for content in (b"junk", data[: len(data) // 2], b"PAR1" + b"\0" * 50 + b"PAR1"):
        assert "damaged, or not a Parquet file" in error_of(write(tmp_path / "n.parquet", content))


def test_binary_content_without_a_known_suffix_is_refused(tmp_path):
    for name in ("n.png", "n", "n.txt", "n.tar.gz"):
        data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
        path = write(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data)
        assert "not a text file; give its format with format=" in error_of(path)


BROKEN_ARRAYS = {
    "cut": ('[{"text": "aa"},\n{"text": "b', " line 2: not JSON: Unterminated string"),
    "no comma": (
        '[{"text": "aa"}\n{"text": "b"}]',
        " line 2: not JSON: expected a comma or the end of the array, found",
    ),
    "never closed": ('[{"text": "aa"},\n', " line 1: not JSON: Expecting value"),
    "trailing comma": ('[{"text": "aa"},\n]', " line 2: not JSON: "),
    "more": ('[{"text": "aa"}]\n\n[]', " line 3: not JSON: the array has ended, but the file has not, found '[]'"),
    "no text": ('[\n{"text": "aa"},\n{"texts": "b"}\n]', " line 3: no field 'text'; fields are: texts."),
    "nothing": ("[ ]", ": no documents"),
    "one object": ('{\n"text": "aa"\n}', " line 1: not JSON: Expecting property name"),
}


@pytest.mark.parametrize("case", BROKEN_ARRAYS)
def test_a_broken_element_of_a_json_array_is_named(tmp_path, case):
    data, message = BROKEN_ARRAYS[case]
    found = error_of(write(tmp_path / "n.json", data))
    assert found.startswith(message)
    assert found.endswith("each line must be an object, or the file one array of objects") == (case == "one object")


def workbook() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["n.xlsx", "n.csv", "n.txt", "n.jsonl", "n"])
def test_files_of_other_programs_are_recognized(tmp_path, name):
    assert error_of(write(tmp_path / name, workbook())).startswith(
        ": is an Excel workbook (.xlsx) or another ZIP archive"
    )
    assert error_of(write(tmp_path / name, b"%PDF-1.7\n")) == ": is a PDF document: convert it to text"


@pytest.mark.parametrize("name", ["n.csv", "n.tsv", "n.jsonl"])
def test_a_binary_file_with_the_suffix_of_a_table_is_recognized(tmp_path, name):
    assert ": is a binary file, but the format" in error_of(write(tmp_path / name, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"))
    assert error_of(write(tmp_path / name, as_parquet())).startswith(": is a Parquet file: give format='parquet'")


def test_a_zero_character_in_a_table_is_text(tmp_path):
    assert list(Corpus.read(write(tmp_path / "n.csv", b"text,id\ncat\0dog,1\n"))) == [["cat", "dog"]]


@pytest.mark.parametrize("compression", [".gz", ".xz"])
def test_undecodable_bytes_before_a_cut_are_one_line(tmp_path, compression):
    random = np.random.default_rng(0).integers(128, 256, 400_000, dtype=np.uint8).tobytes()
    packed = COMPRESSORS[compression](b"cat dog\n" * 9000 + random)
    assert ": damaged" in error_of(write(tmp_path / f"n.txt{compression}", packed[: len(packed) // 2]))


def test_parquet_with_two_columns_of_one_name_is_one_line(tmp_path):
    path = tmp_path / "n.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(["aa"]), pa.array(["bb"])], names=["text", "text"]), path)
    assert error_of(path) == ": two columns have the name 'text': rename one"


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_parquet_with_times_out_of_range_is_one_line(tmp_path, unit):
    path = tmp_path / "n.parquet"
    times = pa.array([2**62, 2**61], pa.timestamp(unit))
    pq.write_table(pa.Table.from_arrays([pa.array(["aa", "bb"]), times], names=["text", "when"]), path)
    assert len(Corpus.read(path)) == 2  # other columns are not read
    assert error_of(path, labels="when").startswith(" rows 1 to 2: the column 'when' cannot be read: ")


@pytest.mark.parametrize("read", [Corpus.read, Corpus.prepare])
def test_a_token_that_is_half_a_character_is_one_line(tmp_path, read):
    path = write(tmp_path / "n.jsonl", '{"text": ["cat"]}\n{"text": ["\\ud800dog"]}\n')
    output = (tmp_path / "corpus",) * (read == Corpus.prepare)
    with pytest.raises(InputError, match=r"n\.jsonl.*: the token '\\ud800dog' is not valid Unicode"):
        read(path, *output)
    assert not (tmp_path / "corpus").exists()


def test_an_unreadable_file_is_one_line(tmp_path, monkeypatch):
    path = write(tmp_path / "n.txt", "aa")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(io, "open", refuse)
    assert error_of(path) == ": cannot be read: Permission denied"


def test_no_words_left_names_the_file_and_the_filters(tmp_path):
    path = write(tmp_path / "n.txt", "aa bb\ncc\n")
    assert error_of(path, min_df=2) == (
        ": no words left: 3 words in 2 documents, and none passes min_df=2, max_df=1.0: "
        "lower min_df (--min-df) or raise max_df (--max-df)"
    )
