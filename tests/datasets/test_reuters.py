"""Reuters-21578."""

import gzip

import numpy as np
import pytest

from archives import tar
from metalda import datasets
from metalda.datasets.news import read_stories
from metalda.errors import InputError

FIRST = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="5544" NEWID="10">
<DATE>26-FEB-1987 15:01:01.79</DATE>
<TOPICS><D>cocoa</D><D>money-fx</D></TOPICS>
<PLACES><D>el-salvador</D></PLACES>
<UNKNOWN>&#5;&#5;&#5;C T</UNKNOWN>
<TEXT>&#2;
<TITLE>BAHIA COCOA &lt;BCC> REVIEW</TITLE>
<AUTHOR>    By Jane Doe, Reuters</AUTHOR>
<DATELINE>    SALVADOR, Feb 26 - </DATELINE><BODY>Showers at AT&amp;T caf\xe9
    continued.
 Reuter
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="NO" LEWISSPLIT="TEST" CGISPLIT="TEST-SET" OLDID="5545" NEWID="3">
<TOPICS></TOPICS>
<PLACES><D>usa</D></PLACES>
<TEXT>&#2;
<TITLE>NO TOPIC HERE</TITLE><BODY>Nothing.</BODY></TEXT>
</REUTERS>
"""
SECOND = """<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="1" NEWID="2">
<TOPICS><D>earn</D></TOPICS>
<TEXT TYPE="BRIEF">&#2;
******<TITLE>CHAMPION RAISES DIVIDEND
</TITLE>Blah blah blah.
&#3;</TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="2" NEWID="4">
<TOPICS><D>earn</D></TOPICS>
<TEXT TYPE="UNPROC">&#2;
Shr 34 cts vs 1.19 dlrs
&#3;</TEXT>
</REUTERS>
"""
FILES = {
    "./reut2-000.sgm": FIRST.encode("latin-1"),
    "./reut2-001.sgm": SECOND.encode("latin-1"),
    "README.txt": b"<REUTERS NEWID",
}


@pytest.fixture(params=["archive", "folder", "unpacked"])
def folder(request, tmp_path):
    if request.param == "archive":
        (tmp_path / "reuters21578.tar.gz").write_bytes(gzip.compress(tar(FILES)))
        return tmp_path
    place = tmp_path / "reuters21578" if request.param == "folder" else tmp_path
    place.mkdir(exist_ok=True)
    for name, content in FILES.items():
        (place / name).write_bytes(content)
    return tmp_path


def test_documents_with_topics_come_in_the_order_of_their_numbers(folder):
    corpus = datasets.load("reuters", folder, min_df=1, max_df=1.0, stop_words=None)
    assert corpus.ids == ("2", "4", "10")
    assert corpus.label_names == ("cocoa", "earn", "money-fx")  # no places
    assert corpus.labels.matrix.toarray().tolist() == [[0, 1, 0], [0, 1, 0], [1, 0, 1]]


def test_a_text_is_title_author_dateline_and_body_without_tags_entities_and_control_characters(folder):
    corpus = datasets.load("reuters", folder, min_df=1, max_df=1.0, stop_words=None)
    brief, unprocessed, story = corpus
    assert brief == ["champion", "raises", "dividend", "blah", "blah", "blah"]
    assert unprocessed == ["shr", "cts", "dlrs"]
    head = ["bahia", "cocoa", "bcc", "review", "jane", "doe", "reuters", "salvador", "feb"]
    assert story == [*head, "showers", "at&t", "café", "continued", "reuter"]


def test_the_papers_filters_are_the_default(folder):
    with pytest.raises(InputError, match=r"min_df=5, max_df=0\.95"):
        datasets.load("reuters", folder)


def test_a_file_that_is_cut_off_is_named(tmp_path):
    (tmp_path / "reut2-000.sgm").write_text(SECOND[:-20])
    with pytest.raises(InputError, match=r"reut2-000.sgm: damaged or cut off: 2 documents begin, 1 of them end"):
        datasets.load("reuters", tmp_path)


def test_a_folder_without_topics_is_an_error(tmp_path):
    (tmp_path / "reut2-000.sgm").write_text("nothing of the kind")
    with pytest.raises(InputError, match="no document with a topic"):
        datasets.load("reuters", tmp_path)


def test_a_document_without_text_is_empty():
    (story,) = read_stories('<REUTERS NEWID="7"><TOPICS><D>gold</D></TOPICS></REUTERS>')
    assert story == (7, ["gold"], "")


@pytest.mark.data
@pytest.mark.parametrize(("embeddings", "within"), [(None, 0.1), ("glove.6B.100d.subset.txt.gz", 0.03)])
def test_reuters_is_the_papers(data_folder, embeddings, within):
    corpus = datasets.load_reuters(data_folder, embeddings=embeddings and data_folder / embeddings)
    found, paper = datasets.statistics(corpus), datasets.describe("reuters").paper
    assert (found.documents, found.labels) == (11_367, 120)
    assert found.vocabulary == pytest.approx(paper.vocabulary, rel=within)
    assert found.mean_length == pytest.approx(paper.mean_length, rel=within)
    assert (corpus.labels.matrix.sum(axis=1) >= 1).all()
    assert np.diff([int(name) for name in corpus.ids]).min() > 0
