"""What there is to know about each dataset before it is loaded: what it is, its files, and the paper's figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Statistics:
    """The size of a corpus, as the paper gives it: ``mean_length`` is in words that were kept."""

    documents: int
    labels: int
    vocabulary: int
    mean_length: float


@dataclass(frozen=True)
class Dataset:
    """What there is to know before loading.

    Parameters
    ----------
    name, description : str
    n_documents : int or None
        As the owners distribute it; None where it depends on the machine or on the file.
    files : str
        What is expected in the data folder.
    how : str
        How to get them.
    paper : Statistics, optional
        The paper's figures, if it is one of its datasets.
    """

    name: str
    description: str
    n_documents: int | None
    files: str
    how: str
    paper: Statistics | None = None


_ALL = (
    Dataset(
        "python-docs",
        "docstrings of your Python's standard library, by module",
        None,
        "none",
        "do nothing: it is built in",
    ),
    Dataset(
        "ws",
        "Web Snippets, the paper's train and test",
        12_337,
        "WS/train_doc.txt and WS/test_doc.txt",
        "copy the folder data/WS of the MetaLDA authors' repository",
        Statistics(12_237, 8, 10_052, 15),
    ),
    Dataset(
        "tmn",
        "Tag My News, titles and descriptions",
        32_597,
        "TMN/TMN_train.txt, TMN/TMN_val.txt and TMN/TMN_test.txt",
        "ask for the tokenised files of Tag My News, a line 'label<TAB>words' per document",
        Statistics(32_597, 7, 13_370, 18),
    ),
    Dataset(
        "an",
        "ABC News, short descriptions",
        12_495,
        "AN/train_doc.txt and AN/test_doc.txt",
        "ask the paper's authors; the lines are those of WS, 'id<TAB>labels<TAB>words'",
        Statistics(12_495, 194, 4_255, 13),
    ),
    Dataset(
        "reuters",
        "Reuters-21578, news of 1987 with topics",
        11_367,
        "reuters21578.tar.gz, or its files reut2-000.sgm to reut2-021.sgm",
        "download the archive that David D. Lewis or the UCI repository distributes",
        Statistics(11_367, 120, 8_817, 73),
    ),
    Dataset(
        "20ng",
        "20 Newsgroups, by date, train and test together",
        18_846,
        "20news-bydate.tar.gz, or its folders 20news-bydate-train and 20news-bydate-test",
        "download the archive from Jason Rennie's page, or let scikit-learn do so: download=True (--download)",
        Statistics(18_846, 20, 22_636, 108),
    ),
    Dataset(
        "nyt",
        "New York Times Annotated Corpus, Top/News/Health",
        52_521,
        "nyt_corpus/data/YYYY/MM.tgz (or unpacked beside them)",
        "license LDC2008T19 from the Linguistic Data Consortium",
        Statistics(52_521, 545, 21_421, 442),
    ),
    Dataset(
        "arxiv",
        "arXiv, titles and abstracts with categories",
        None,
        "arxiv.tsv (or .tsv.gz, .tsv.bz2, .tsv.xz)",
        "make it from arXiv's metadata: the columns id, categories (with commas between them), title and abstract",
    ),
    Dataset(
        "wikipedia",
        "Wikipedia articles, without labels",
        None,
        "wikipedia-sample.tsv (or .tsv.gz, .tsv.bz2, .tsv.xz)",
        "make it from a dump: a line 'id<TAB>title<TAB>text' per article, without a header",
    ),
)

DATASETS: dict[str, Dataset] = {entry.name: entry for entry in _ALL}
