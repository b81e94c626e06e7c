"""Every format, plain and compressed."""

import gzip
import json
import logging
import lzma
import os
import sys

import pandas as pd
import pytest

from corpus.files import COMPRESSORS, EXPECTED, FILES, ROWS, as_jsonl, as_parquet, as_table, error_of, sets, write
from metalda.corpus import FORMATS, Corpus
from metalda.corpus.formats import FileFormat
from metalda.corpus.readers import Document
from metalda.errors import MissingExtraError


@pytest.mark.parametrize("compression", COMPRESSORS)
@pytest.mark.parametrize("suffix", FILES)
def test_records_of_every_format_and_compression(tmp_path, suffix, compression):
    path = write(tmp_path / f"NEWS{suffix.upper()}{compression}", COMPRESSORS[compression](FILES[suffix]()))
    corpus = Corpus.read(path, text="text", labels="tags", stop_words=None)
    assert list(corpus) == EXPECTED
    assert sets(corpus) == [{"weather"}, set(), {"sport"}]
    assert corpus.ids == ("d1", "d2", "d3")
    assert Corpus.read(path).labels is None


@pytest.mark.parametrize("compression", COMPRESSORS)
def test_text_has_a_document_per_line(tmp_path, compression):
    data = "First line\n\nthird\u2028still third\x85third\x0cthird\nlast".encode()
    for name in ("news.txt", "news.log", "news"):
        path = write(tmp_path / f"{name}{compression}", COMPRESSORS[compression](data))
        corpus = Corpus.read(path, stop_words=None)
        assert list(corpus) == [["first", "line"], [], ["third", "still", "third", "third", "third"], ["last"]]
        assert corpus.ids is None
        assert corpus.labels is None


@pytest.mark.parametrize("compression", COMPRESSORS)
def test_the_format_of_the_java_original_is_recognized(tmp_path, compression, caplog):
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
    corpus = Corpus.read(write(tmp_path / f"news{suffix}", b"\xef\xbb\xbf" + data), stop_words=None)
    assert [list(d) for d in corpus] == EXPECTED
    assert not any("\r" in word or "\ufeff" in word for word in corpus.vocabulary)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "cp1252", "UTF8"])
def test_other_encodings_can_be_named(tmp_path, encoding):
    path = write(tmp_path / "news.txt", "Über\nStraße schön\n".encode(encoding))
    assert list(Corpus.read(path, encoding=encoding)) == [["über"], ["straße", "schön"]]


def test_a_csv_of_a_spreadsheet_may_have_semicolons(tmp_path):
    path = write(tmp_path / "news.csv", 'text;section\n"cats; dogs, cats";pets\nrain;sky\n')
    corpus = Corpus.read(path, labels="section")
    assert [list(document) for document in corpus] == [["cats", "dogs", "cats"], ["rain"]]
    assert corpus.label_names == ("pets", "sky")
    with_comma = write(tmp_path / "more.csv", "text,a;b\ncats,1\n")
    assert Corpus.read(with_comma, labels="a;b").label_names == ("1",)


@pytest.mark.slow
def test_a_field_of_a_million_words_is_fine(tmp_path):
    long = "word " * 1_000_000  # "other", below, is a stop word
    for suffix, data in {
        ".csv": f"text\n{long}\nother\n",
        ".tsv": f"text\tb\n{long}\tx\nother\ty\n",
        ".jsonl": json.dumps({"text": long}) + '\n{"text": "other"}\n',
        ".txt": f"{long}\nother\n",
    }.items():
        corpus = Corpus.read(write(tmp_path / f"long{suffix}", data))
        assert corpus.n_tokens == 1_000_000


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
    corpus = Corpus.read(path, token_pattern=r"[^\s\"]+", stop_words=None)
    assert corpus.ids == tuple(str(i) for i in range(len(texts)))
    assert list(corpus) == [text.replace('"', " ").lower().split() for text in texts]


def test_quoted_tabs_and_newlines_of_a_tsv_are_read(tmp_path):
    data = 'text\tid\n"one\ttab ""here"""\t1\n"two\n\nlines"\t2\nplain\t3\nx\ty\tz\n'
    path = write(tmp_path / "n.tsv", data)
    assert error_of(path).startswith(" line 7: 3 fields, but the header has 2")
    write(path, data.removesuffix("x\ty\tz\n"))
    assert list(Corpus.read(path, stop_words=None)) == [["one", "tab", "here"], ["two", "lines"], ["plain"]]


def test_many_open_quotes_in_a_tsv_do_not_exhaust_the_stack(tmp_path):
    rows = "".join(f'"open {i}\t{i}\n' for i in range(20_000))
    assert len(Corpus.read(write(tmp_path / "n.tsv", "text\tid\n" + rows))) == 20_000


def test_settings_are_those_of_from_texts(tmp_path):
    path = write(tmp_path / "n.txt", "The Cat cat\nthe dog\n")
    keywords = {"lowercase": False, "stop_words": ["the"], "ngram_range": (1, 2), "max_features": 3}
    expected = Corpus.from_texts(["The Cat cat", "the dog"], **keywords)
    assert list(Corpus.read(str(path), **keywords)) == list(expected)
    with pytest.raises(TypeError, match="stopwords"):
        Corpus.read(path, stopwords="english")


def test_progress_is_quiet_without_a_terminal(tmp_path, capfd):
    assert len(Corpus.read(write(tmp_path / "n.txt", "aa\nbb\n"), verbose=True)) == 2
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_texts_that_are_not_kept_are_not_held(tmp_path):
    import tracemalloc

    path = tmp_path / "n.txt"
    with path.open("w") as file:
        for i in range(3000):
            file.write(f"{'a' * 9_000} {'b' * 1_000}{i % 5}\n")
    Corpus.read(path, keep_text=False)
    tracemalloc.start()
    Corpus.read(path, keep_text=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8_000_000 < path.stat().st_size


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


@pytest.mark.parametrize("compression", COMPRESSORS)
def test_a_wikipedia_dump_is_read_like_any_other_format(tmp_path, compression):
    page = "<page><title>{0}</title><ns>{1}</ns><revision><text>{2}</text></revision></page>"
    articles = (("Cat", 0, "The '''cat''' [[dog]]"), ("Talk:Cat", 1, "no"), ("Ä", 0, "Bär"))
    data = f"<mediawiki>{''.join(page.format(*article) for article in articles)}</mediawiki>".encode()
    path = write(tmp_path / f"wiki.xml{compression}", COMPRESSORS[compression](data))
    corpus = Corpus.read(path)
    assert list(corpus) == [["cat", "dog"], ["bär"]]
    assert corpus.ids == ("Cat", "Ä")
    assert corpus.labels is None
    assert corpus.schema.format == "wikipedia"
    prepared = Corpus.prepare(path, tmp_path / "corpus")
    assert list(prepared) == list(corpus)
    assert prepared.ids == corpus.ids
    assert "has no fields" in error_of(path, text="title")


def test_other_xml_is_not_a_wikipedia_dump(tmp_path):
    assert error_of(write(tmp_path / "a.xml", "<html><p>cat</p></html>")) == (
        ": not a Wikipedia dump: it begins with <html>, not <mediawiki>"
    )
    assert "not a Wikipedia dump" in error_of(write(tmp_path / "b.xml", "no markup"))


@pytest.mark.parametrize(
    ("entities", "used", "message"),
    [
        ('<!ENTITY secret SYSTEM "file:///etc/hostname">', "&secret;", "undefined entity"),
        (
            '<!ENTITY a0 "laugh">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 20}">' for i in range(1, 9)),
            "&a8;",
            "amplification",
        ),
    ],
    ids=["file", "growing"],
)
def test_entities_of_a_wikipedia_dump_read_no_files_and_fill_no_memory(tmp_path, entities, used, message):
    page = f"<page><title>A</title><ns>0</ns><revision><text>{used}</text></revision></page>"
    data = f"<!DOCTYPE mediawiki [{entities}]><mediawiki>{page}</mediawiki>"
    assert message in error_of(write(tmp_path / "wiki.xml", data))


def test_a_format_is_one_reader_and_one_entry(tmp_path, monkeypatch):
    def paragraphs(path, schema):
        for text in path.read_text(schema.encoding).split("\n\n"):
            yield Document(text, id=text.split()[0])

    entry = FileFormat("paragraphs", "text with a document per paragraph", paragraphs, (".par",))
    monkeypatch.setitem(FORMATS, "paragraphs", entry)
    corpus = Corpus.read(write(tmp_path / "a.par", "cat\ndog\n\nrain sun\n"))
    assert list(corpus) == [["cat", "dog"], ["rain", "sun"]]
    assert corpus.ids == ("cat", "rain")
    assert list(Corpus.read(write(tmp_path / "b.par", "wind"), schema=corpus.schema)) == [["wind"]]
    assert "paragraphs" in error_of(write(tmp_path / "c.unknown", "x"))


@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_array_of_objects_is_read(tmp_path, indent):
    rows = [{"id": "a", "body": "cat dog", "tag": "x"}, {"id": "b", "body": "rain\nsun", "tag": "y"}]
    path = tmp_path / "n.json"
    path.write_text(f"\n {json.dumps(rows, indent=indent)}\n")
    corpus = Corpus.read(path, text="body", labels="tag")
    assert (list(corpus), corpus.ids, corpus.label_names) == ([["cat", "dog"], ["rain", "sun"]], ("a", "b"), ("x", "y"))


def test_a_file_compressed_without_a_suffix_is_read(tmp_path):
    path = tmp_path / "n.jsonl"
    path.write_bytes(gzip.compress(b'{"text": "cat dog"}\n'))
    assert list(Corpus.read(path)) == [["cat", "dog"]]


def test_a_file_without_a_suffix_that_holds_json_is_not_read_as_text(tmp_path):
    path = tmp_path / "news"
    path.write_text('{"text": "cat dog", "n": 3}\n')
    assert list(Corpus.read(path)) == [["cat", "dog"]]
