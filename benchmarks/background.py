"""Background topics of MetaLDA with all words, and with the default `min_df` and `max_df`, on real corpora.

``python -m benchmarks.background``: for each corpus and number of topics, the number of background topics, their share
of the tokens, and the mean NPMI of the topics in their own documents.
"""

from __future__ import annotations

import lzma
import tarfile
import warnings

from benchmarks.data import data_folder
from metalda import Corpus, MetaLDA, coherence
from metalda.datasets.python_docs import TOKEN_PATTERN, load_python_docs

TOPICS, ITERATIONS = (10, 30, 200), 150
ALL_WORDS = {"min_df": 1, "max_df": 1.0}


def texts_by_corpus() -> dict[str, tuple[list[str], list[object]]]:
    """About 2,000 texts of each corpus, with their labels."""
    groups: tuple[list[str], list[object]] = [], []
    with tarfile.open(data_folder() / "20news-bydate.tar.gz") as archive:
        for i, member in enumerate(member for member in archive if member.isfile() and "train" in member.name):
            file = archive.extractfile(member)
            if i % 5 == 0 and file is not None:
                groups[0].append(file.read().decode("latin-1").split("\n\n", 1)[-1])
                groups[1].append(member.name.split("/")[-2])
    papers: tuple[list[str], list[object]] = [], []
    with lzma.open(data_folder() / "arxiv.tsv.xz", "rt", encoding="utf-8") as lines:
        for i, line in enumerate(lines):
            if i % 100 == 1:
                _, categories, title, abstract = line.rstrip("\n").split("\t")
                papers[0].append(f"{title} {abstract}")
                papers[1].append(categories.split(","))
    return {"20 Newsgroups": groups, "arXiv": papers}


def main() -> None:
    """Print a line per corpus, filter and number of topics."""
    warnings.simplefilter("ignore", UserWarning)  # background topics and short chains are expected here
    docs = load_python_docs(**ALL_WORDS)
    found = {**texts_by_corpus(), "docstrings": ([" ".join(each) for each in docs], None)}
    for name, (texts, labels) in found.items():
        pattern = {"token_pattern": TOKEN_PATTERN} if labels is None else {}
        for kind, filters in (("all words", ALL_WORDS), ("default", {})):
            corpus = Corpus.from_texts(texts, docs.labels if labels is None else labels, **pattern, **filters)
            for n_topics in TOPICS:
                settings = {"n_iter": ITERATIONS, "weight_prior": "gamma", "random_state": 0, "verbose": False}
                model = MetaLDA(n_topics, **settings).fit(corpus)
                table = model.topics()
                share = table.loc[table["background"], "share"].sum()
                scores = coherence(model, corpus, window=0, smoothing=0)
                print(
                    f"{name}, {kind}: {len(corpus.vocabulary):,} words, {n_topics} topics, "
                    f"{table['background'].sum()} background ({share:.1%} of the tokens), NPMI {scores.mean:.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
