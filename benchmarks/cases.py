"""The benchmarks. Each yields rows of the table."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.chains import Ours, Tomotopy, compare, held_out
from benchmarks.data import data_folder, load_arxiv, load_glove, load_newsgroups, load_part_of_arxiv, load_ws
from metalda import LDA, Corpus, MetaLDA


@dataclass(frozen=True)
class Row:
    """A figure with its floor and its goal."""

    work: str
    figure: float
    unit: str
    floor: float
    goal: float
    higher_is_better: bool
    detail: str = ""

    @property
    def verdict(self) -> str:
        def reached(bar: float) -> bool:
            return self.figure >= bar if self.higher_is_better else self.figure <= bar

        return "goal" if reached(self.goal) else "floor" if reached(self.floor) else "MISSED"


def _faster(work: str, result: tuple[float, float, float], floor: float, goal: float) -> Row:
    ours, peer, ratio = result
    return Row(work, ratio, "times faster", floor, goal, True, f"{ours * 1e3:.1f} ms, tomotopy {peer * 1e3:.1f} ms")


def _units(work: str, result: tuple[float, float, float], stages: str, floor: float, goal: float) -> Row:
    ours, peer, ratio = result
    detail = f"{ours * 1e3:.1f} ms, tomotopy {peer * 1e3:.1f} ms; {stages}"
    return Row(work, 1 / ratio, "tomotopy LDA sweeps", floor, goal, False, detail)


def _stages(chain: Ours) -> str:
    """Mean milliseconds by stage, over 50 more sweeps."""
    return ", ".join(f"{name} {1e3 * seconds:.1f}" for name, seconds in chain.stages().items())


def lda(quick: bool) -> Iterator[Row]:
    """LDA sweeps relative to tomotopy's."""
    warm = 20 if quick else 200
    train, _, _ = load_ws()
    for n_topics, floor, goal in ((50, 1.3, 1.6), (200, 2.3, 3.0), (1000, 4.5, 8.0)):
        result = compare(Ours(train, LDA(n_topics)), Tomotopy(train, n_topics), warm=warm)
        yield _faster(f"LDA, WS, K = {n_topics}", result, floor, goal)
    news = load_newsgroups()
    for n_topics, floor, goal in ((200, 1.5, 2.0), (1000, 4.5, 6.0)):
        result = compare(Ours(news, LDA(n_topics)), Tomotopy(news, n_topics), warm=warm, sweeps=2 if quick else 10)
        yield _faster(f"LDA, 20 Newsgroups, K = {n_topics}", result, floor, goal)


def metalda(quick: bool) -> Iterator[Row]:
    """MetaLDA sweeps in units of tomotopy's LDA sweeps."""
    warm = 20 if quick else 200
    train, _, features = load_ws()
    milliseconds = {}
    for n_topics, floor, goal in ((50, 1.1, 0.8), (200, 0.9, 0.6), (1000, 0.5, 0.3)):
        chain = Ours(train, MetaLDA(n_topics, word_features=features))
        result = compare(chain, Tomotopy(train, n_topics), warm=warm, sweeps=20)  # a sweep in four draws delta
        milliseconds[n_topics] = result[0]
        yield _units(f"MetaLDA, WS, K = {n_topics}", result, _stages(chain), floor, goal)
    ratio = milliseconds[1000] / milliseconds[200]
    yield Row("MetaLDA, WS, K = 200 to 1,000", ratio, "times the cost", 2.5, 1.7, False)
    chain = Ours(train, MetaLDA(200, word_prior=0.01))
    result = compare(chain, Tomotopy(train, 200), warm=warm)
    yield _units("MetaLDA-dl-0.01, WS, K = 200", result, _stages(chain), 1.0, 0.5)


def arxiv(quick: bool) -> Iterator[Row]:
    """A corpus of ordinary size, every fifth arXiv abstract: K = 200, one thread, iterations 30 to 50."""
    corpus, warm = load_part_of_arxiv(), 2 if quick else 30
    peer = Tomotopy(corpus, 200)
    several, single = Ours(corpus, LDA(200)), Ours(corpus, LDA(200, n_shards=1))
    rounds, sweeps = (1, 1) if quick else (5, 4)
    result = compare(several, peer, warm=warm, rounds=rounds, sweeps=sweeps)
    yield _faster("LDA, every fifth of arXiv, K = 200", result, 2.2, 3.5)
    single.sweep(warm)
    ratio = float(np.median([several.sweep(sweeps) / single.sweep(sweeps) for _ in range(rounds)]))
    detail = f"{len(several.problem.shards)} shards"
    yield Row("the same, cost of the shards", ratio, "times one shard", 1.1, 1.0, False, detail)
    labeled = Ours(corpus, MetaLDA(200, word_prior=0.01))
    labeled.sweep(warm)
    ratio = float(np.median([labeled.sweep(sweeps) / peer.sweep(sweeps) for _ in range(rounds)]))
    yield Row("MetaLDA-dl-0.01 there", ratio, "tomotopy LDA sweeps", 0.6, 0.4, False)
    result = compare(Ours(corpus, LDA(1000)), Tomotopy(corpus, 1000), warm=warm, rounds=rounds, sweeps=1)
    yield _faster("LDA, every fifth of arXiv, K = 1,000", result, 5.0, 10.0)


def likelihood(quick: bool) -> Iterator[Row]:
    """Time to the likelihood that tomotopy has after 500 sweeps, relative to tomotopy's."""
    news = load_newsgroups()
    n_sweeps = 30 if quick else 500
    peer = Tomotopy(news, 200)
    theirs = peer.sweep(n_sweeps)
    target = peer.log_likelihood(news)
    chain, seconds = Ours(news, LDA(200)), 0.0
    chain.sweep(0)
    while seconds < 3 * theirs:
        seconds += chain.sweep(5)
        if chain.log_likelihood >= target:
            break
    detail = f"{len(chain.records)} sweeps in {seconds:.0f} s, tomotopy {n_sweeps} in {theirs:.0f} s, to {target:.4f}"
    yield Row("likelihood of tomotopy after 500 sweeps", theirs / seconds, "times sooner", 1.5, 2.5, True, detail)


def growth(quick: bool) -> Iterator[Row]:
    """Cost per token by the number of topics."""
    news = load_newsgroups()
    small, large = Ours(news, LDA(100)), Ours(news, LDA(1000))
    own, other, ratio = compare(small, large, warm=10 if quick else 100, sweeps=2 if quick else 5)
    detail = f"{own / news.n_tokens * 1e9:.0f} to {other / news.n_tokens * 1e9:.0f} ns per token"
    yield Row("LDA, 20 Newsgroups, K = 100 to 1,000", ratio, "times the cost", 2.2, 1.7, False, detail)


def threads(quick: bool) -> Iterator[Row]:
    """Speed of two threads relative to one."""
    for name, load, warm, sweeps in (
        ("20 Newsgroups", load_newsgroups, 50, 10),
        ("every fifth of arXiv", load_part_of_arxiv, 30, 2),
        ("arXiv", load_arxiv, 5, 1),
    ):
        corpus = load()
        for model in (LDA(200), MetaLDA(200, word_features=load_glove())):
            two, one = (Ours(corpus, model, n_jobs=n) for n in (2, 1))
            ours, other, ratio = compare(two, one, warm=2 if quick else warm, sweeps=sweeps, rounds=3 if quick else 5)
            detail = f"{ours * 1e3:.0f} ms, one thread {other * 1e3:.0f} ms; {len(two.problem.shards)} shards"
            yield Row(
                f"{type(model).__name__}, {name}, K = 200, two threads", ratio, "times faster", 1.8, 1.95, True, detail
            )


MEMORY = """
import resource
from benchmarks.data import load_arxiv
from metalda import MetaLDA
MetaLDA(500, word_prior=0.01, n_iter={n_iter}, thin=1, random_state=0, n_jobs=2, verbose=False).fit(load_arxiv())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def memory(quick: bool) -> Iterator[Row]:
    """Peak memory of MetaLDA with labels on arXiv, K = 500, 15 draws, in a separate process."""
    load_arxiv()
    program = MEMORY.format(n_iter=2 if quick else 30)
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    yield Row("arXiv, K = 500, MetaLDA with labels: peak memory", int(done.stdout) / 1e9, "GB", 3.0, 1.5, False)


def reading(quick: bool) -> Iterator[Row]:
    """Reading and tokenizing arXiv, relative to scikit-learn's CountVectorizer on the same rows."""
    import lzma

    from sklearn.feature_extraction.text import CountVectorizer

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arxiv.tsv"
        with lzma.open(data_folder() / "arxiv.tsv.xz", "rt", encoding="utf-8") as source, path.open("w") as target:
            for i, line in enumerate(source):
                if i <= (20_000 if quick else 10**9):
                    target.write(line)
        pairs = []
        for _ in range(1 if quick else 3):
            start = time.perf_counter()
            Corpus.read(path, text="abstract", min_df=5)
            middle = time.perf_counter()
            with path.open(encoding="utf-8") as file:
                next(file)
                CountVectorizer(min_df=5).fit_transform(line.split("\t")[3] for line in file)
            pairs.append((middle - start, time.perf_counter() - middle))
    ours, peer = np.median(pairs, axis=0)
    ratio = float(np.median([b / a for a, b in pairs]))
    yield Row(
        "reading arXiv", ratio, "times CountVectorizer", 1.0, 2.0, True, f"{ours:.1f} s, scikit-learn {peer:.1f} s"
    )


def folding(quick: bool) -> Iterator[Row]:
    """transform of 10,000 WS documents relative to tomotopy's infer, with equal sweeps and one thread."""
    from metalda.samplers.folding import BURN_IN, SWEEPS

    train, test, _ = load_ws()
    n_sweeps = BURN_IN + SWEEPS
    peer = Tomotopy(train, 100)
    peer.sweep(20 if quick else 200)
    model = LDA(100, n_iter=20 if quick else 200, n_draws=1, random_state=0, verbose=False).fit(train)
    documents = [list(words) for words in test] + [list(words) for words in train][: 10_000 - len(test)]
    known = set(train.vocabulary)
    made = [peer.model.make_doc(words) for words in documents if known.intersection(words)]
    model.transform(documents[:10])
    pairs: list[Any] = []
    for _ in range(1 if quick else 2):  # tomotopy needs a minute
        start = time.perf_counter()
        model.transform(documents)
        middle = time.perf_counter()
        peer.model.infer(made, iterations=n_sweeps, workers=1)
        pairs.append((middle - start, time.perf_counter() - middle))
    ours, other = np.median(pairs, axis=0)
    ratio = float(np.median([b / a for a, b in pairs]))
    yield Row(
        "transform of 10,000 WS documents, K = 100",
        ratio,
        "times faster",
        3.0,
        6.0,
        True,
        f"{ours:.2f} s, tomotopy {other:.2f} s",
    )


TO_THE_FIRST_SWEEP = """
import os, time, tqdm
from metalda.cli import main

def stop(*_, desc, **__):  # the bar is made just before the first sweep; with --quiet there is no other
    assert desc == "iterations"
    print(time.time(), flush=True)
    os._exit(0)

tqdm.tqdm = stop
main()
"""

MODEL_OF_WS = """
from benchmarks.data import load_ws
from metalda import MetaLDA
train, _, features = load_ws()
MetaLDA(50, word_features=features, n_iter={n_iter}, random_state=0, verbose=False).fit(train).save({path!r})
"""


def startup(quick: bool) -> Iterator[Row]:
    """A first fit with an empty cache of kernels; with a full one, the time from the shell to the first sweep.

    Then a command that only looks at a saved model: ``metalda topics``.
    """
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.txt"
        data.write_text("\n".join("1\tpets\tcat dog purr" if i % 2 else "2\tsky\train sun cloud" for i in range(50)))
        features = Path(folder) / "features.txt"
        features.write_text("cat\t0\ndog\t0\nrain\t1\nsun\t1\n")
        arguments = ["fit", str(data), "-o", f"{folder}/model", "-k", "5", "-q"]
        arguments += ["--iterations", "1", "--word-features", str(features)]
        environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # pip compiles packages, so users have bytecode
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "metalda", *arguments], check=True, env=environment)
        yield Row("cold first fit", time.perf_counter() - start, "s", 25, 12, False)
        seconds = []
        for _ in range(5):
            begin = time.time()
            command = [sys.executable, "-c", TO_THE_FIRST_SWEEP, *arguments]
            done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
            seconds.append(float(done.stdout) - begin)
        yield Row("warm start of the command line", float(np.median(seconds)), "s", 1.3, 0.9, False)
        path = f"{folder}/ws"
        program = MODEL_OF_WS.format(n_iter=20 if quick else 200, path=path)
        subprocess.run([sys.executable, "-c", program], check=True, env=environment)
        command, seconds = [sys.executable, "-m", "metalda", "topics", path], []
        for _ in range(6):  # the first one compiles Python's bytecode
            begin = time.perf_counter()
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
            seconds.append(time.perf_counter() - begin)
    yield Row("metalda topics, WS, K = 50", float(np.median(seconds[1:])), "s", 1.0, 0.5, False)


def peers(quick: bool) -> Iterator[Row]:
    """One pass of LDA over WS, K = 200, by other libraries, in units of our sweeps."""
    from sklearn.decomposition import LatentDirichletAllocation

    train, _, _ = load_ws()
    ours = Ours(train, LDA(200))
    ours.sweep(20 if quick else 200)
    own = float(np.median([ours.sweep(5) / 5 for _ in range(5)]))

    def row(name: str, seconds: float) -> Row:
        detail = f"{own * 1e3:.1f} ms, {name} {seconds * 1e3:.0f} ms"
        return Row(f"a pass of {name}, WS, K = 200", seconds / own, "of our sweeps", 1, 1, True, detail)

    start = time.perf_counter()
    LatentDirichletAllocation(200, max_iter=1, learning_method="batch", random_state=0).fit(train.counts())
    yield row("scikit-learn (variational)", time.perf_counter() - start)
    from gensim.models import LdaModel

    bags = [
        [(int(v), int(n)) for v, n in zip(*np.unique(train.words[a:b], return_counts=True), strict=True)]
        for a, b in zip(train.offsets, train.offsets[1:], strict=False)
    ]
    start = time.perf_counter()
    LdaModel(bags, num_topics=200, passes=1, random_state=0, eval_every=None)
    yield row("gensim (online variational)", time.perf_counter() - start)
    import lda as plain

    start = time.perf_counter()
    plain.LDA(n_topics=200, n_iter=5, random_state=0, refresh=100).fit(train.counts().toarray())
    yield row("lda (collapsed Gibbs)", (time.perf_counter() - start) / 5)


def topica(quick: bool) -> Iterator[Row]:
    """Time until held-out posts are as probable as after 100 iterations of topica's LDA, with each of its samplers."""
    import topica as peer

    train, test = load_newsgroups().split(test_size=0.1, random_state=0)
    train = train.trim()
    number_of = {word: v for v, word in enumerate(train.vocabulary)}
    test = Corpus.from_tokens([[w for w in words if w in number_of] for words in test], vocabulary=train.vocabulary)
    documents, n_iter = list(train), 10 if quick else 100
    for sampler in ("sparse", "lightlda", "warp", "cvb0"):
        model: Any = peer.LDA(200, alpha_sum=20.0, beta=0.01, optimize_interval=0, burn_in=0, seed=1, sampler=sampler)
        start = time.perf_counter()
        model.fit(documents, iters=n_iter, num_samples=1, keep_theta_draws=False)
        theirs = time.perf_counter() - start
        column = {word: v for v, word in enumerate(model.vocabulary)}
        target = held_out(test, np.asarray(model.topic_word)[:, [column[word] for word in train.vocabulary]])
        chain, seconds, reached = Ours(train, LDA(200)), 0.0, -math.inf
        while reached < target and seconds < 3 * theirs:
            seconds += chain.sweep(1 + len(chain.records) // 8)
            reached = held_out(test, chain.phi)
        detail = f"{len(chain.records)} sweeps in {seconds:.1f} s, topica {n_iter} in {theirs:.1f} s: "
        detail += f"perplexity {math.exp(-reached):.0f}, {math.exp(-target):.0f}"
        yield Row(f"as good as topica's {sampler}", theirs / seconds, "times sooner", 1.0, 2.0, True, detail)


CASES = {
    each.__name__: each
    for each in (lda, metalda, arxiv, likelihood, growth, threads, memory, reading, folding, startup, peers, topica)
}
