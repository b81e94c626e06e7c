"""The New York Times Annotated Corpus, in small files of its format."""

import gzip
from pathlib import Path

import pytest

from archives import tar
from metalda import datasets
from metalda.errors import InputError

ALL = {"min_df": 1, "max_df": 1.0, "stop_words": None}


def nitf(*taxonomy: str, headline: str = "Headline Words", text: str = "Full text") -> bytes:
    """An article as the corpus has it: a doctype that nobody fetches, and the lead paragraph twice."""
    classifiers = "".join(
        f'<classifier class="online_producer" type="taxonomic_classifier">{label}</classifier>' for label in taxonomy
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE nitf SYSTEM "http://www.nitf.example/nitf-3-3.dtd">
<nitf change.date="June 10, 2005" version="-//IPTC//DTD NITF 3.3//EN">
  <head>
    <title>Title not used</title>
    <docdata>
      <doc-id id-string="1"/>
      <identified-content>
        <classifier class="indexing_service" type="descriptor">Medicine and Health</classifier>
        {classifiers}
      </identified-content>
    </docdata>
  </head>
  <body>
    <body.head><hedline><hl1>{headline}</hl1></hedline><byline class="print_byline">By Somebody</byline></body.head>
    <body.content>
      <block class="lead_paragraph"><p>{text}</p></block>
      <block class="full_text"><p>{text}</p><p>second café &amp; paragraph</p></block>
    </body.content>
  </body>
</nitf>
""".encode()


HEALTH = "Top/News/Health"
JANUARY = {
    "01/02/0000002.xml": nitf(HEALTH, "Top/News", HEALTH, text="Later article"),
    "01/01/0000001.xml": nitf("Top/News/Health/Diseases, Conditions", "Top/Features/Health &amp; Fitness"),
    "01/01/0000003.xml": nitf("Top/News/Healthcare"),
    "01/01/0000004.xml": nitf("Top/News", text="about Top/News/Health"),
}
FEBRUARY = {"02/01/0000005.xml": nitf(HEALTH, headline="February")}
MONTHS = {"1987/02": FEBRUARY, "1987/01": JANUARY}


@pytest.fixture(params=["nyt_corpus", "LDC2008T19", ".", "unpacked"])
def folder(request, tmp_path):
    data = tmp_path / (request.param if request.param != "unpacked" else "nyt_corpus") / "data"
    for month, files in MONTHS.items():
        write_month(data, month, files, unpacked=request.param == "unpacked")
    return tmp_path


def write_month(data: Path, month: str, files: dict[str, bytes], *, unpacked: bool = False) -> None:
    (data / month).parent.mkdir(parents=True, exist_ok=True)
    if not unpacked:
        (data / f"{month}.tgz").write_bytes(gzip.compress(tar(files)))
        return
    for name, content in files.items():
        path = data / month[:4] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def test_articles_of_the_category_and_below_it_come_in_the_order_of_publication(folder):
    corpus = datasets.load("nyt", folder, **ALL)
    assert corpus.ids == ("0000001", "0000002", "0000005")
    assert corpus.label_names == tuple(
        sorted(["Top/Features/Health & Fitness", "Top/News", HEALTH, "Top/News/Health/Diseases, Conditions"])
    )
    assert corpus.labels.matrix.sum(axis=1).tolist() == [2, 2, 1]


def test_a_text_is_headline_and_full_text_once(folder):
    corpus = datasets.load("nyt", folder, **ALL)
    assert corpus.document(0) == ["headline", "words", "full", "text", "second", "café", "paragraph"]
    assert corpus.document(1)[:4] == ["headline", "words", "later", "article"]


def test_the_category_and_the_kind_of_labels_can_be_chosen(folder):
    corpus = datasets.load("nyt", folder, category="Top/Features/Health & Fitness", labels="descriptor", **ALL)
    assert corpus.ids == ("0000001",)
    assert corpus.label_names == ("Medicine and Health",)


def test_a_category_without_articles_is_an_error(folder):
    with pytest.raises(InputError, match="no article in the category 'Top/News/Sports'"):
        datasets.load("nyt", folder, category="Top/News/Sports")
    with pytest.raises(InputError, match="no article in the category 'Top/News/Health' with a genre"):
        datasets.load("nyt", folder, labels="genre")


def test_a_month_that_is_there_twice_counts_once(folder):
    for unpacked in (False, True):
        write_month(folder / "nyt_corpus" / "data", "1987/01", JANUARY, unpacked=unpacked)
        write_month(folder / "nyt_corpus" / "data", "1987/02", FEBRUARY, unpacked=unpacked)
    assert len(datasets.load("nyt", folder, **ALL)) == 3


def test_what_is_not_xml_is_named(tmp_path):
    write_month(tmp_path / "data", "1987/01", {"01/01/0000001.xml": b"<nitf>Top/News/Health"})
    with pytest.raises(InputError, match=r"01\.tgz: 01/01/0000001\.xml is not well-formed XML"):
        datasets.load("nyt", tmp_path)


def test_a_damaged_month_is_named(tmp_path):
    write_month(tmp_path / "data", "1987/01", JANUARY)
    path = tmp_path / "data" / "1987" / "01.tgz"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match=r"01\.tgz: damaged"):
        datasets.load("nyt", tmp_path)


def test_entities_from_outside_are_not_fetched(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("password")
    doctype = f'<!DOCTYPE nitf [<!ENTITY leak SYSTEM "{secret.as_uri()}">]>'.encode()
    article = nitf(HEALTH, text="a &leak; b")
    start, end = article.index(b"<!DOCTYPE"), article.index(b"<nitf")
    write_month(tmp_path / "data", "1987/01", {"01/01/0000001.xml": article[:start] + doctype + article[end:]})
    with pytest.raises(InputError, match="undefined entity"):
        datasets.load("nyt", tmp_path, **ALL)
