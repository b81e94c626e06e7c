"""20 Newsgroups."""

import gzip
from types import SimpleNamespace

import pytest

from archives import tar
from metalda import datasets
from metalda.datasets import news
from metalda.errors import InputError

POST = b"""From: jane@caf\xe9.example
Subject: Orbits

Bob writes:
> quoted words
Answer text

second paragraph
--
Jane of signatures
"""
FILES = {
    "./20news-bydate-train/sci.space/100": POST,
    "./20news-bydate-train/sci.space/99": b"From: x\n\nearlier number\n",
    "./20news-bydate-test/sci.med/7": b"From: y\n\n\n",
    "./20news-bydate-train/talk.misc/5": b"From: z\n\nsome talk\n",
}
ALL = {"min_df": 1, "max_df": 1.0, "stop_words": None}


@pytest.fixture(params=["archive", "folder", "unpacked"])
def folder(request, tmp_path):
    if request.param == "archive":
        (tmp_path / "20news-bydate.tar.gz").write_bytes(gzip.compress(tar(FILES)))
        return tmp_path
    place = tmp_path / "20news-bydate" if request.param == "folder" else tmp_path
    for name, content in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return tmp_path


def test_training_posts_come_first_then_groups_and_numbers_and_empty_posts_stay(folder):
    corpus = datasets.load("20ng", folder, **ALL)
    assert corpus.ids == ("train/sci.space/99", "train/sci.space/100", "train/talk.misc/5", "test/sci.med/7")
    assert corpus.label_names == ("sci.med", "sci.space", "talk.misc")
    assert corpus.labels.matrix.indices.tolist() == [1, 1, 2, 0]
    assert corpus.document(0) == ["earlier", "number"]
    assert corpus.document(3) == []
    assert datasets.count_empty(corpus) == 1


HEADERS = ["from", "jane@café.example", "subject", "orbits"]
QUOTES = ["bob", "writes", "quoted", "words"]
BODY = ["answer", "text", "second", "paragraph"]
SIGNATURE = ["jane", "signatures"]


@pytest.mark.parametrize(
    ("remove", "words"),
    [
        ([], HEADERS + QUOTES + BODY + SIGNATURE),
        (["headers"], QUOTES + BODY + SIGNATURE),
        (["headers", "quotes"], BODY + SIGNATURE),
        (["headers", "signatures"], QUOTES + BODY),
        (["signatures", "quotes", "headers"], BODY),
    ],
)
def test_headers_quotes_and_signatures_can_be_removed(folder, remove, words):
    assert datasets.load("20ng", folder, remove=remove, **ALL).document(1) == words


def test_headers_and_signatures_are_removed_by_default(folder):
    assert datasets.load("20ng", folder, **ALL).document(1) == QUOTES + BODY


@pytest.mark.parametrize("remove", ["headers", ["footers"]])
def test_what_cannot_be_removed_is_said(folder, remove):
    with pytest.raises(InputError, match="give a list of headers, quotes, signatures"):
        datasets.load("20ng", folder, remove=remove)


def test_scikit_learn_downloads_only_when_asked_and_gives_the_same_corpus(folder, tmp_path, monkeypatch):
    asked = []

    def fetch(**settings):
        asked.append(settings)
        names = [f"/home/x/20news_home/{name[2:]}" for name in FILES]
        return SimpleNamespace(filenames=names, data=[content.decode("latin-1") for content in FILES.values()])

    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", fetch)
    here = datasets.load("20ng", folder, download=True, **ALL)
    elsewhere = tmp_path / "empty"
    with pytest.raises(InputError, match=r"download=True \(--download\)"):
        datasets.load("20ng", elsewhere, **ALL)
    assert not asked
    fetched = datasets.load("20ng", elsewhere, download=True, **ALL)
    assert len(asked) == 1
    assert list(fetched) == list(here)
    assert fetched.ids == here.ids
    assert fetched.label_names == here.label_names


def test_a_download_that_fails_is_one_line(tmp_path, monkeypatch):
    def fetch(**settings):
        raise OSError("Name or service not known")

    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", fetch)
    with pytest.raises(InputError, match=r"could not download it \(Name or service not known\); get 20news-bydate"):
        datasets.load("20ng", tmp_path, download=True)


def test_an_archive_of_something_else_is_an_error(tmp_path):
    (tmp_path / "20news-bydate.tar").write_bytes(tar({"other.txt": b"x"}))
    with pytest.raises(InputError, match=r"20news-bydate.tar: no posts in it"):
        datasets.load("20ng", tmp_path)
    (tmp_path / "20news-bydate.tar").write_bytes(tar({"20news-bydate-train/sci.med/one": b"x"}))
    with pytest.raises(InputError, match="named by a number"):
        datasets.load("20ng", tmp_path)


@pytest.fixture(scope="module")
def posts(data_folder):
    return news._read_posts(data_folder / "20news-bydate.tar.gz")


@pytest.mark.data
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (news.without_headers, "strip_newsgroup_header"),
        (news.without_quotes, "strip_newsgroup_quoting"),
        (news.without_signature, "strip_newsgroup_footer"),
    ],
)
def test_removing_is_what_scikit_learn_does(posts, ours, theirs):
    module = pytest.importorskip("sklearn.datasets._twenty_newsgroups")
    function = getattr(module, theirs)
    assert all(ours(post.text) == function(post.text) for post in posts[::10])


@pytest.mark.data
def test_20_newsgroups_have_their_documents_and_come_within_1_percent_of_the_paper(data_folder):
    corpus = datasets.load_newsgroups(data_folder, embeddings=data_folder / "glove.6B.100d.subset.txt.gz")
    found, paper = datasets.statistics(corpus), datasets.describe("20ng").paper
    assert (found.documents, found.labels) == (18_846, 20)
    assert sum(name.startswith("train/") for name in corpus.ids) == 11_314
    assert found.vocabulary == pytest.approx(paper.vocabulary, rel=0.01)
    assert found.mean_length == pytest.approx(paper.mean_length, rel=0.01)
