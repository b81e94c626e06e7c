"""NPMI of 100 topics of 10 words in the Wikipedia sample, ours and gensim's: ``python -m benchmarks.coherence``.

The topics are those of LDA on Web Snippets, restricted to words of Wikipedia. Both count windows of 10 words with one
thread, from the same file and words. "token lists" is the time from lists of words in memory to scores. "file" adds
reading, decompressing and tokenizing: ours is one call, gensim's is a loop with the same regular expression.
"""

from __future__ import annotations

import argparse
import lzma
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.data import data_folder, load_ws
from metalda import LDA, coherence
from metalda.corpus.schema import TOKEN_PATTERN
from metalda.models.word_scores import top_indices

MEASURES = {"npmi": "c_npmi", "c_v": "c_v", "uci": "c_uci"}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def read_tokens(path: Any, n_documents: int | None) -> list[list[str]]:
    find = re.compile(TOKEN_PATTERN).findall
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        texts = (line.split("\t", 2)[2] for _, line in zip(range(n_documents or 10**9), lines, strict=False))
        return [find(text.lower()) for text in texts]


def make_topics(known: set[str], n_topics: int = 100, top_n: int = 10) -> list[list[str]]:
    model = LDA(n_topics, n_iter=100, random_state=0, verbose=False).fit(load_ws()[0])
    words = [[model.vocabulary_[v] for v in row] for row in top_indices(model.components_, 10 * top_n)]
    return [[word for word in row if word in known][:top_n] for row in words]


def gensim_scores(topics: list[list[str]], tokens: list[list[str]], measure: str) -> np.ndarray:
    from gensim.corpora import Dictionary
    from gensim.models import CoherenceModel

    found = CoherenceModel(
        topics=topics, texts=tokens, dictionary=Dictionary(topics), coherence=MEASURES[measure], processes=1
    )
    return np.array(found.get_coherence_per_topic())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coherence", description=__doc__)
    parser.add_argument("--measure", choices=MEASURES, default="npmi")
    parser.add_argument("--documents", type=int, help="use only the first documents, from token lists")
    options = parser.parse_args()
    measure, path = options.measure, data_folder() / "wikipedia-sample.tsv.xz"
    reading, tokens = timed(lambda: read_tokens(path, options.documents))
    topics = make_topics({word for document in tokens for word in document})
    coherence(topics, tokens[:1], measure)  # compiles
    print(f"{sum(map(len, tokens)):,} tokens, {len(tokens):,} documents, {measure}; seconds", flush=True)
    ours, found = timed(lambda: coherence(topics, tokens, measure, as_gensim=True))
    threads, _ = timed(lambda: coherence(topics, tokens, measure, n_jobs=2))
    theirs, expected = timed(lambda: gensim_scores(topics, tokens, measure))
    print(f"token lists: metalda {ours:.2f} ({threads:.2f} with 2 threads), gensim {theirs:.1f}: {theirs / ours:.0f}×")
    if not options.documents:
        ours, again = timed(lambda: coherence(topics, path, measure, text=3, as_gensim=True))
        threads, _ = timed(lambda: coherence(topics, path, measure, text=3, n_jobs=2))
        theirs += reading
        print(f"file: metalda {ours:.2f} ({threads:.2f} with 2 threads), gensim {theirs:.1f}: {theirs / ours:.0f}×")
        assert (again.scores == found.scores).all()
    right = coherence(topics, tokens, measure)
    print(f"largest difference of a score: {np.abs(found.scores - expected).max():.1e}")
    print(f"mean {expected.mean():.4f}; {right.mean:.4f} with exact counts of repeated words")


if __name__ == "__main__":
    main()
