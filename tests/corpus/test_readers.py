"""Every format, plain and compressed, and every way in which a file can be wrong."""

import bz2
import csv
import gzip
import io
import json
import logging
import lzma
import os
import sys

import numpy as np
import pandas as pd
import pytest

from metalda.corpus import Corpus
from metalda.errors import InputError, MissingExtraError

COMPRESSORS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
ROWS = [
    {"id": "d1", "text": 'Rain, "heavy" rain\nand wind', "tags": "weather"},
    {"id": "d2", "text": "Über den Wolken", "tags": ""},
    {"id": "d3", "text": "", "tags": "sport"},
]
EXPECTED = [["rain", "heavy", "rain", "and", "wind"], ["über", "den", "wolken"], []]


def as_jsonl() -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode()


def as_table(delimiter: str, line_end: str = "\n") -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(ROWS[0]), delimiter=delimiter, lineterminator=line_end)
    writer.writeheader()
    writer.writerows(ROWS)
    return out.getvalue().encode()


def as_parquet() -> bytes:
    out = io.BytesIO()
    pd.DataFrame(ROWS).to_parquet(out)
    return out.getvalue()


FILES = {
    ".jsonl": as_jsonl,
    ".ndjson": as_jsonl,
    ".json": as_jsonl,
    ".csv": lambda: as_table(","),
    ".tsv": lambda: as_table("\t"),
    ".tab": lambda: as_table("\t"),
    ".parquet": as_parquet,
    ".pq": as_parquet,
}


def sets(corpus: Corpus) -> list[set[str]]:
    return [{corpus.label_names[j] for j in np.flatnonzero(row)} for row in corpus.labels.matrix.toarray()]


def write(path, data: bytes | str):
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def error_of(path, **keywords) -> str:
    with pytest.raises(InputError) as error:
        Corpus.read(path, **keywords)
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


@pytest.mark.parametrize("compression", COMPRESSORS)
@pytest.mark.parametrize("suffix", FILES)
def test_records_of_every_format_and_compression(tmp_path, suffix, compression):
    path = write(tmp_path / f"NEWS{suffix.upper()}{compression}", COMPRESSORS[compression](FILES[suffix]()))
    corpus = Corpus.read(path, text="text", labels="tags")
    assert list(corpus) == EXPECTED
    assert sets(corpus) == [{"weather"}, set(), {"sport"}]
    assert corpus.ids == ("d1", "d2", "d3")
    assert Corpus.read(path).labels is None


@pytest.mark.parametrize("compression", COMPRESSORS)
def test_text_has_a_document_per_line(tmp_path, compression):
    data = "First line\n\nthird\u2028still third\x85third\x0cthird\nlast".encode()
    for name in ("news.txt", "news.log", "news"):
        corpus = Corpus.read(write(tmp_path / f"{name}{compression}", COMPRESSORS[compression](data)))
        assert list(corpus) == [["first", "line"], [], ["third", "still", "third", "third", "third"], ["last"]]
        assert corpus.ids is None
        assert corpus.labels is None


@pytest.mark.parametrize("compression", COMPRESSORS)
def test_the_format_of_the_java_original_is_recognised(tmp_path, compression, caplog):
    data = b"1\tb a\tThe THE the. x\n\n2\t\tthe\n3\ta\t\n"
    path = write(tmp_path / f"docs.txt{compression}", COMPRESSORS[compression](data))
    with caplog.at_level(logging.INFO, logger="metalda"):
        corpus = Corpus.read(path)
    assert "format='java'" in caplog.text
    assert list(corpus) == [["The", "THE", "the.", "x"], ["the"], []]
    assert sets(corpus) == [{"a", "b"}, set(), {"a"}]
    assert corpus.ids == ("1", "2", "3")


def test_java_filters_delimiter_and_no_labels(tmp_path):
    path = write(tmp_path / "docs.txt", "1\tnew york,paris\tx y\n2\tparis\tx z\n")
    assert Corpus.read(path, label_delimiter=",").label_names == ("new york", "paris")
    assert list(Corpus.read(path, min_df=2)) == [["x"], ["x"]]
    assert list(Corpus.read(path, stop_words=["x"])) == [["y"], ["z"]]
    assert Corpus.read(write(tmp_path / "none.txt", "1\t\tx\n2\t\ty\n")).labels is None


def test_a_text_whose_lines_do_not_all_have_two_tabs_is_text(tmp_path):
    assert len(Corpus.read(write(tmp_path / "a.txt", "aa\tbb\tcc\naa\tbb\n"))) == 2
    assert Corpus.read(write(tmp_path / "b.txt", "aa\tbb\tcc\tdd\n")).labels is None
    lines = "ii\tbb\tcc\n" * 50 + "no tabs\n"
    assert error_of(write(tmp_path / "c.txt", lines)).startswith(" line 51: expected ID<TAB>labels<TAB>words")
    assert len(Corpus.read(tmp_path / "c.txt", format="text")) == 51


def test_a_folder_has_a_document_per_file_and_its_folders_are_the_label(tmp_path):
    for name, text in {
        "sport/b.txt": "goal match",
        "sport/a.txt": "\ufeffmatch",
        "art/modern/c": "paint\r\nbrush\n",
        "top.txt": "plain",
        ".hidden": "hidden",
        ".git/config": "hidden",
        "sport/.DS_Store": "\0\0",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    (tmp_path / "sport" / "z.txt.gz").write_bytes(gzip.compress(b"packed"))
    corpus = Corpus.read(tmp_path)
    assert corpus.ids == ("art/modern/c", "sport/a.txt", "sport/b.txt", "sport/z.txt.gz", "top.txt")
    assert list(corpus) == [["paint", "brush"], ["match"], ["goal", "match"], ["packed"], ["plain"]]
    assert sets(corpus) == [{"art/modern"}, {"sport"}, {"sport"}, {"sport"}, set()]
    assert Corpus.read(tmp_path / "sport", format="folder").labels is None


def test_an_undecodable_file_in_a_folder_is_named(tmp_path):
    write(tmp_path / "a.txt", "fine")
    write(tmp_path / "b.txt", b"caf\xe9")
    assert error_of(tmp_path).startswith(f"{os.sep}b.txt line 1: not utf-8 (byte 3)")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".txt"])
def test_byte_order_marks_and_windows_line_ends_are_fine(tmp_path, suffix):
    data = {
        ".csv": as_table(",", "\r\n"),
        ".tsv": as_table("\t", "\r\n"),
        ".jsonl": as_jsonl().replace(b"\n", b"\r\n"),
        ".txt": "\r\n".join(" ".join(row["text"].split()) for row in ROWS).encode() + b"\r\n",
    }[suffix]
    corpus = Corpus.read(write(tmp_path / f"news{suffix}", b"\xef\xbb\xbf" + data))
    assert [list(d) for d in corpus] == EXPECTED
    assert not any("\r" in word or "\ufeff" in word for word in corpus.vocabulary)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "cp1252", "UTF8"])
def test_other_encodings_can_be_named(tmp_path, encoding):
    path = write(tmp_path / "news.txt", "Über\nStraße schön\n".encode(encoding))
    assert list(Corpus.read(path, encoding=encoding)) == [["über"], ["straße", "schön"]]


def test_a_field_of_a_million_words_is_fine(tmp_path):
    long = "word " * 1_000_000
    for suffix, data in {
        ".csv": f"text\n{long}\nother\n",
        ".tsv": f"text\tb\n{long}\tx\nother\ty\n",
        ".jsonl": json.dumps({"text": long}) + '\n{"text": "other"}\n',
        ".txt": f"{long}\nother\n",
    }.items():
        corpus = Corpus.read(write(tmp_path / f"long{suffix}", data))
        assert corpus.n_tokens == 1_000_001


def test_fields_of_jsonl_may_differ_from_line_to_line(tmp_path):
    lines = [
        '{"text": "aa", "id": 1}',
        "",
        '{"text": null, "tags": ["x", "y"], "id": 2.0}',
        '{"text": ["B b"], "id": "c"}',
    ]
    corpus = Corpus.read(write(tmp_path / "n.jsonl", "\n".join(lines)), labels="tags")
    assert list(corpus) == [["aa"], [], ["B b"]]
    assert corpus.ids == ("1", "2", "c")
    assert sets(corpus) == [set(), {"x", "y"}, set()]


def test_an_id_that_was_not_asked_for_may_be_missing(tmp_path):
    path = write(tmp_path / "n.jsonl", '{"text": "aa", "id": 1}\n{"text": "bb"}\n')
    assert Corpus.read(path).ids is None
    assert error_of(path, id="id").startswith(" line 2: no field 'id'")


def test_numeric_fields_of_a_csv_fall_into_bins(tmp_path):
    path = write(tmp_path / "n.csv", "text,year\naa,1990\nbb,2000\ncc,\n")
    assert sets(Corpus.read(path, bins={"year": [1995]})) == [{"year < 1995"}, {"year ≥ 1995"}, set()]
    write(path, 'text,year\n"aa\nbb",1990\ncc,soon\n')
    assert error_of(path, bins={"year": 2}) == " line 4: the field 'year' holds 'soon', not a number"


def test_parquet_lists_nulls_and_types(tmp_path):
    frame = pd.DataFrame({"n": [1, 2, 3], "text": [["A b", "c"], None, []], "tags": [["x", "y"], None, ["x"]]})
    frame.to_parquet(tmp_path / "n.parquet")
    corpus = Corpus.read(tmp_path / "n.parquet", labels="tags")
    assert list(corpus) == [["A b", "c"], [], []]
    assert sets(corpus) == [{"x", "y"}, set(), {"x"}]
    assert error_of(tmp_path / "n.parquet", text="n") == (
        " row 1: the field 'n' holds int, not text; name the text with text= (--text)"
    )


def test_parquet_rows_are_counted_across_batches(tmp_path):
    frame = pd.DataFrame({"text": ["aa"] * 3000, "n": [1.0] * 2999 + [0.5]})
    frame.to_parquet(tmp_path / "n.parquet")
    assert len(Corpus.read(tmp_path / "n.parquet")) == 3000
    assert error_of(tmp_path / "n.parquet", labels="n").startswith(" row 3000: field 'n': the label 0.5")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    path = write(tmp_path / "n.parquet", as_parquet())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'metalda\[parquet\]'"):
        Corpus.read(path)


TSV_QUOTES = {
    "plain quotes": ['"Whose side?" they asked', 'the 12" record', '"balanced"'],
    "never closed": ["\"Is there more?'': a study", "no quotes here", '"again open', "12 inch", 'ends with"'],
    "closed far away": ['"open', 'foo"', "bar"],
}


@pytest.mark.parametrize("texts", TSV_QUOTES.values(), ids=TSV_QUOTES)
@pytest.mark.parametrize("last", [False, True])
def test_quotes_of_a_tsv_that_was_not_quoted_are_plain_characters(tmp_path, texts, last):
    texts = texts * 3
    rows = [f"{i}\t{text}" if last else f"{text}\t{i}" for i, text in enumerate(texts)]
    path = write(tmp_path / "n.tsv", "\n".join(["id\ttext" if last else "text\tid", *rows]) + "\n")
    corpus = Corpus.read(path, token_pattern=r"[^\s\"]+")
    assert corpus.ids == tuple(str(i) for i in range(len(texts)))
    assert list(corpus) == [text.replace('"', " ").lower().split() for text in texts]


def test_quoted_tabs_and_newlines_of_a_tsv_are_read(tmp_path):
    data = 'text\tid\n"one\ttab ""here"""\t1\n"two\n\nlines"\t2\nplain\t3\nx\ty\tz\n'
    path = write(tmp_path / "n.tsv", data)
    assert error_of(path).startswith(" line 7: 3 fields, but the header has 2")
    write(path, data.removesuffix("x\ty\tz\n"))
    assert list(Corpus.read(path)) == [["one", "tab", "here"], ["two", "lines"], ["plain"]]


def test_many_open_quotes_in_a_tsv_do_not_exhaust_the_stack(tmp_path):
    rows = "".join(f'"open {i}\t{i}\n' for i in range(20_000))
    assert len(Corpus.read(write(tmp_path / "n.tsv", "text\tid\n" + rows))) == 20_000


BROKEN_JSONL = {
    "cut": ('{"text": "aa"}\n\n{"text": "b', " line 3: not JSON: Unterminated string"),
    "nothing": ('{"text": "aa"}\nhello\n', " line 2: not JSON: Expecting value, found 'hello'"),
    "list": ("[1, 2]\n", " line 1: not an object with fields, but '[1, 2]'"),
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
    "empty": ("", ": no documents"),
}


@pytest.mark.parametrize("case", BROKEN_CSV)
def test_a_broken_row_of_csv_is_named(tmp_path, case):
    data, message = BROKEN_CSV[case]
    assert error_of(write(tmp_path / "n.csv", data)).startswith(message)


@pytest.mark.parametrize("name", ["n.jsonl", "n.csv", "n.tsv", "n.txt", "n", "n.jsonl.gz"])
def test_an_empty_file_has_no_documents(tmp_path, name):
    assert error_of(write(tmp_path / name, b"")) == ": no documents"


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
    for content in (b"junk", data[: len(data) // 2], b"PAR1" + b"\0" * 50 + b"PAR1", b""):
        assert "damaged, or not a Parquet file" in error_of(write(tmp_path / "n.parquet", content))


def test_binary_content_without_a_known_suffix_is_refused(tmp_path):
    for name in ("n.png", "n", "n.txt", "n.tar.gz"):
        data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
        path = write(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data)
        assert "not a text file; give its format with format=" in error_of(path)


def test_an_unreadable_file_is_one_line(tmp_path, monkeypatch):
    path = write(tmp_path / "n.txt", "aa")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(io, "open", refuse)
    assert error_of(path) == ": cannot be read: Permission denied"


def test_no_words_left_names_the_file_and_the_filters(tmp_path):
    path = write(tmp_path / "n.txt", "aa bb\ncc\n")
    assert error_of(path, min_df=2) == (
        ": no words left: 3 words in 2 documents, none of which passes min_df=2, max_df=1.0: "
        "lower min_df (--min-df) or raise max_df (--max-df)"
    )


def test_settings_are_those_of_from_texts(tmp_path):
    path = write(tmp_path / "n.txt", "The Cat cat\nthe dog\n")
    keywords = {"lowercase": False, "stop_words": ["the"], "ngram_range": (1, 2), "max_features": 3}
    expected = Corpus.from_texts(["The Cat cat", "the dog"], **keywords)
    assert list(Corpus.read(str(path), **keywords)) == list(expected)
    with pytest.raises(TypeError, match="stopwords"):
        Corpus.read(path, stopwords="english")


def test_progress_is_quiet_without_a_terminal(tmp_path, capfd):
    assert len(Corpus.read(write(tmp_path / "n.txt", "aa\nbb\n"), progress=True)) == 2
    assert capfd.readouterr().err == ""


def test_raw_texts_are_not_held(tmp_path):
    import tracemalloc

    path = tmp_path / "n.txt"
    with path.open("w") as file:
        for i in range(3000):
            file.write(f"{'a' * 9_000} {'b' * 1_000}{i % 5}\n")
    Corpus.read(path)
    tracemalloc.start()
    Corpus.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000 < path.stat().st_size


@pytest.mark.data
def test_arxiv_abstracts_keep_one_document_per_line(data_folder, tmp_path):
    path = tmp_path / "arxiv.tsv"
    with lzma.open(data_folder / "arxiv.tsv.xz", "rb") as packed:
        path.write_bytes(b"".join(packed.readline() for _ in range(20_001)))
    corpus = Corpus.read(path, text=["title", "abstract"], labels="categories", label_delimiter=",", min_df=5)
    assert len(corpus) == 20_000
    lines = path.read_text(encoding="utf-8").split("\n")[1:-1]
    assert corpus.ids == tuple(line.split("\t")[0] for line in lines)
    assert "cs.CL" in corpus.label_names
