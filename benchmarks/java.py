"""Sweeps of two Java programs, Mallet's LDA and the authors' MetaLDA, relative to ours, in one run and on one thread.

python -m benchmarks.java --mallet mallet.jar:mallet-deps.jar --metalda metalda-0.1-jar-with-dependencies.jar

Needs Java on Linux or macOS, the real corpora, and one jar or both. For figures it needs an idle machine and about five
minutes. Mallet computes the likelihood in every tenth iteration, ours in every one. Both MetaLDAs update all weights in
every iteration.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.__main__ import print_rows
from benchmarks.cases import Row
from benchmarks.chains import Ours, compare
from benchmarks.data import data_folder, load_part_of_arxiv, load_ws
from metalda import LDA, MetaLDA

JAVA = ["java", "-Xmx4g", "-XX:+UseSerialGC", "-cp"]
SETTINGS = ["--num-threads", "1", "--random-seed", "1"]
SETTINGS += ["--num-iterations", "1000"]  # more than are timed; a program is killed before it saves its model


class Java:
    """A sampler in a process of its own that logs every tenth iteration. The process is stopped unless it is timed.

    The time of sweeps is that between two lines of the log, so the start of Java and the import do not count.
    """

    def __init__(self, command: list[str]) -> None:
        pipes: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(command, text=True, encoding="utf-8", errors="replace", **pipes)
        self.process.send_signal(signal.SIGSTOP)
        self.n_sweeps = 0

    def __enter__(self) -> Java:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def sweep(self, n: int) -> float:
        """Return the seconds of n sweeps, a multiple of ten."""
        self.n_sweeps += n
        last = "it printed nothing"
        self.process.send_signal(signal.SIGCONT)
        start = time.perf_counter()
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if re.search(rf"<{self.n_sweeps}>", line):
                seconds = time.perf_counter() - start
                self.process.send_signal(signal.SIGSTOP)
                return seconds
            last = line.strip() or last
        raise SystemExit(f"{self.process.args[0]} ended before iteration {self.n_sweeps}: {last}")


def check(class_paths: dict[str, str | None]) -> None:
    """Raise an error of one line if Java or a jar is missing."""
    if not any(class_paths.values()):
        raise SystemExit("no jar: give --mallet JAR, --metalda JAR or both")
    for option, jars in class_paths.items():
        for jar in jars.split(os.pathsep) if jars else []:
            if not Path(jar).is_file():
                raise SystemExit(f"--{option}: no jar {jar!r}")
    if not shutil.which("java"):
        raise SystemExit("no program 'java': install a Java runtime, or add its folder to PATH")
    if not hasattr(signal, "SIGSTOP"):
        raise SystemExit("this system cannot stop a process for a while: use Linux or macOS")


def import_corpus(corpus: Any, jars: str, folder: str) -> str:
    """Import a corpus with Mallet: a document is a line with its number, the numbers of its labels, and its words."""
    lines, instances = Path(folder) / "documents.txt", Path(folder) / "documents.mallet"
    labels = corpus.labels.matrix
    with lines.open("w", encoding="utf-8") as file:
        for d, words in enumerate(corpus):
            if words:
                numbers = labels.indices[labels.indptr[d] : labels.indptr[d + 1]]
                file.write(f"{d}\t{' '.join(map(str, numbers))}\t{' '.join(words)}\n")
    command = [*JAVA, jars, "cc.mallet.classify.tui.Csv2Vectors", "--input", str(lines), "--output", str(instances)]
    command += ["--keep-sequence", "--label-as-features", "--preserve-case", "--encoding", "UTF-8"]
    command += ["--line-regex", r"([^\t]*)\t([^\t]*)\t(.*)", "--token-regex", r"\S+"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not instances.exists():
        raise SystemExit(f"Mallet's import failed: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
    return str(instances)


def _row(work: str, name: str, ours: Ours, command: list[str], rounds: dict[str, int]) -> Row:
    with Java(command) as peer:
        own, other, ratio = compare(ours, peer, **rounds)
    return Row(work, ratio, "times faster", 1, 1, True, f"{own * 1e3:.1f} ms, {name} {other * 1e3:.1f} ms")


def mallet(jars: str, quick: bool) -> Iterator[Row]:
    """LDA with fixed, symmetric priors: alpha 0.1, beta 0.01."""
    ws = {"warm": 20, "rounds": 2} if quick else {"warm": 200}
    arxiv = {"warm": 10, "rounds": 1} if quick else {"warm": 30, "rounds": 2}
    yield from _mallet(jars, "WS", load_ws()[0], (50, 200, 1000), ws)
    yield from _mallet(jars, "every fifth of arXiv", load_part_of_arxiv(), (200,), arxiv)


def _mallet(jars: str, name: str, corpus: Any, topics: tuple[int, ...], rounds: dict[str, int]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        command = [*JAVA, jars, "cc.mallet.topics.tui.TopicTrainer", "--input", import_corpus(corpus, jars, folder)]
        command += [*SETTINGS, "--optimize-interval", "0", "--show-topics-interval", "0", "--beta", "0.01"]
        for n_topics in topics:
            settings = ["--num-topics", str(n_topics), "--alpha", str(0.1 * n_topics)]  # the sum over topics
            chain = Ours(corpus, LDA(n_topics))
            yield _row(f"LDA, {name}, K = {n_topics}", "Mallet", chain, [*command, *settings], rounds)


def metalda(jars: str, quick: bool) -> Iterator[Row]:
    """MetaLDA with labels and the paper's word features, and the gamma weights of the paper."""
    train, _, features = load_ws()
    with tempfile.TemporaryDirectory() as folder:
        command = [*JAVA, jars, "topicmodels.MetaLDATrain", "--train-docs", import_corpus(train, jars, folder)]
        command += ["--word-features", str(data_folder() / "WS" / "binary_embeddings.txt"), "--save-folder", folder]
        command += [*SETTINGS, "--sample-alpha-method", "1", "--sample-beta-method", "1"]
        rounds = {"warm": 20, "rounds": 2} if quick else {"warm": 200}
        for n_topics in (50, 200):
            chain = Ours(train, MetaLDA(n_topics, word_features=features, weight_prior="gamma"))
            settings = ["--num-topics", str(n_topics)]
            yield _row(f"MetaLDA, WS, K = {n_topics}", "Java MetaLDA", chain, [*command, *settings], rounds)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.java", description=__doc__)
    several = f"several jars are separated by {os.pathsep!r}"
    parser.add_argument("--mallet", metavar="JAR", help=f"Mallet 2; {several}")
    parser.add_argument("--metalda", metavar="JAR", help=f"the Java MetaLDA with its dependencies; {several}")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument("--quick", action="store_true", help="few sweeps, to check that the benchmarks run")
    options = parser.parse_args()
    given = {"mallet": options.mallet, "metalda": options.metalda}
    check(given)
    cases = {"mallet": mallet, "metalda": metalda}
    print_rows((row for name, jars in given.items() if jars for row in cases[name](jars, options.quick)), options.json)


if __name__ == "__main__":
    main()
