"""arXiv and Wikipedia, a document per line."""

import lzma

import pytest

from metalda import datasets
from metalda.errors import InputError

ALL = {"min_df": 1, "max_df": 1.0, "stop_words": None}


def test_arxiv_has_titles_and_abstracts_and_several_categories(tmp_path):
    lines = "id\tcategories\ttitle\tabstract\n"
    lines += "0704.1\tmath.CO,cs.CG\tSparse Graphs\tPebble games\n0704.2\tcs.CG\tTwo\tMore\n"
    (tmp_path / "arxiv.tsv.xz").write_bytes(lzma.compress(lines.encode()))
    corpus = datasets.load("arxiv", tmp_path, **ALL)
    assert list(corpus) == [["sparse", "graphs", "pebble", "games"], ["two", "more"]]
    assert corpus.label_names == ("cs.CG", "math.CO")
    assert corpus.labels.matrix.sum(axis=1).tolist() == [2, 1]
    assert corpus.ids == ("0704.1", "0704.2")
    kept = datasets.load("arxiv", tmp_path, embeddings=["graphs", "more"], **ALL)
    assert list(kept) == [["graphs"], ["more"]]


def test_wikipedia_has_texts_without_labels(tmp_path):
    (tmp_path / "wikipedia-sample.tsv").write_text("12\tAnarchism\tIs a political\ttheory\n39\tAlbedo\tLight\n")
    corpus = datasets.load("wikipedia", tmp_path, **ALL)
    assert list(corpus) == [["political", "theory"], ["light"]]
    assert corpus.ids == ("12", "39")
    assert corpus.labels is None
    assert datasets.statistics(corpus).labels == 0


def test_corpora_that_the_paper_lacks_have_the_usual_stop_words(tmp_path):
    """Of these words the list of the paper's corpora has only "doing", and scikit-learn's only "would"."""
    (tmp_path / "wikipedia-sample.tsv").write_text("12\tA\tdoing it would help\n")
    (tmp_path / "arxiv.tsv").write_text("id\tcategories\ttitle\tabstract\n1\tcs.CG\tDoing it\twould help\n")
    for name in ("wikipedia", "arxiv"):
        assert list(datasets.load(name, tmp_path, min_df=1, max_df=1.0)) == [["doing", "help"]]
        assert list(datasets.load(name, tmp_path, **ALL)) == [["doing", "would", "help"]]


def test_a_line_that_is_too_short_is_named(tmp_path):
    (tmp_path / "wikipedia-sample.tsv").write_text("12\tAnarchism\tText\n39\tAlbedo\n")
    with pytest.raises(InputError, match=r"wikipedia-sample\.tsv line 2: expected id<TAB>title<TAB>text.* 2 fields"):
        datasets.load("wikipedia", tmp_path)


@pytest.mark.parametrize(("name", "file"), [("arxiv", "arxiv.tsv"), ("wikipedia", "wikipedia-sample.tsv")])
def test_damage_and_wrong_encodings_are_one_line(tmp_path, name, file):
    (tmp_path / file).write_bytes(b"id\tcategories\tcaf\xe9\n")
    with pytest.raises(InputError, match="not utf-8"):
        datasets.load(name, tmp_path)
    (tmp_path / file).unlink()
    (tmp_path / f"{file}.xz").write_bytes(lzma.compress(b"id\tcategories\ttitle\tabstract\n" * 99)[:60])
    with pytest.raises(InputError, match="damaged or incomplete"):
        datasets.load(name, tmp_path)
