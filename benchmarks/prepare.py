"""Corpora larger than memory: ``python -m benchmarks.prepare [FOLDER] [--only prepare,large,train]``.

Prepares arXiv with one process and with two, then arXiv repeated eleven times (390 million tokens), and trains MetaLDA
with labels on that, from the disk. FOLDER needs 10 GB; by default it is a temporary folder. Every step runs in a
separate process, which has its own peak of memory.
"""

from __future__ import annotations

import argparse
import json
import lzma
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.data import data_folder

COPIES = 11
READING = ("--text", "title,abstract", "--labels", "categories", "--label-delimiter", ",", "--min-df", "5")

PREPARE = """
import json, resource, sys, time
from metalda.cli import main
start = time.perf_counter()
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
seconds = time.perf_counter() - start
peaks = {who: resource.getrusage(getattr(resource, f"RUSAGE_{who}")).ru_maxrss * 1024 for who in ("SELF", "CHILDREN")}
print(json.dumps({"seconds": seconds, **peaks}), file=sys.stderr)
"""

TRAIN = """
import json, logging, resource, sys, time
logging.basicConfig()
logging.getLogger("metalda.memory").setLevel(logging.INFO)
from metalda import Corpus, MetaLDA
start = time.perf_counter()
corpus = Corpus.load(sys.argv[1])
model = MetaLDA(int(sys.argv[2]), n_iter=int(sys.argv[3]), n_jobs=int(sys.argv[4]), random_state=0, verbose=False)
model.fit(corpus)
seconds = time.perf_counter() - start
history = model.history_
model.save(sys.argv[5])
result = {
    "tokens": corpus.n_tokens,
    "seconds": seconds,
    "sweeps": [round(s, 1) for s in history["seconds"].tolist()],
    "log_likelihood": [round(x, 4) for x in history["log_likelihood"].tolist()],
    "SELF": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
}
print(json.dumps(result), file=sys.stderr)
"""


def run(program: str, *arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, check=False, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    *notes, last = done.stderr.strip().splitlines()
    print(*notes, sep="\n", end="\n" if notes else "", flush=True)
    return json.loads(last)


def prepare(data: Path, output: Path, jobs: int, *options: str) -> dict[str, Any]:
    result = run(PREPARE, "prepare", data, "-o", output, *READING, "--jobs", jobs, "--quiet", *options)
    document = json.loads((output / "corpus.json").read_text())["document"]
    (words,) = output.glob("words-*.npy")
    tokens = (words.stat().st_size - 128) // 4
    memory = f"{result['SELF'] / 1e6:,.0f} MB, and {result['CHILDREN'] / 1e6:,.0f} MB the largest worker"
    print(
        f"prepare {data.name}, --jobs {jobs}: {tokens:,} tokens, {len(document['vocabulary']):,} words, "
        f"{result['seconds']:.1f} s, {memory}",
        flush=True,
    )
    return result


def repeat(source: Path, target: Path) -> None:
    """Write every document eleven times, its words rotated by a different number of places each time."""
    with target.open("w", encoding="utf-8") as out:
        for copy in range(COPIES):
            with lzma.open(source, "rt", encoding="utf-8", newline="\n") as lines:
                header = next(lines)
                out.write(header if copy == 0 else "")
                for line in lines:
                    id, categories, title, abstract = line.rstrip("\n").split("\t")
                    words = abstract.split(" ")
                    turn = copy * len(words) // COPIES
                    turned = " ".join(words[turn:] + words[:turn])
                    out.write(f"{id}v{copy}\t{categories}\t{title}\t{turned}\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prepare", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where to work")
    parser.add_argument("--only", default="prepare,large,train", help="some of: prepare, large, train")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    arxiv, chosen = data_folder() / "arxiv.tsv.xz", options.only.split(",")
    with tempfile.TemporaryDirectory(prefix="metalda-benchmark-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        if "prepare" in chosen:
            one, two = (prepare(arxiv, folder / f"arxiv-{jobs}", jobs, "--restart") for jobs in (1, 2))
            print(f"two processes are {one['seconds'] / two['seconds']:.2f} times as fast as one", flush=True)
        large, corpus = folder / "large.tsv", folder / "large"
        if "large" in chosen:
            if not large.exists():
                start = time.perf_counter()
                repeat(arxiv, large)
                print(
                    f"{large.name}: {large.stat().st_size / 1e9:.1f} GB in {time.perf_counter() - start:.0f} s",
                    flush=True,
                )
            prepare(large, corpus, 2, "--stop-words", "none", "--restart")
        if "train" in chosen:
            trained = run(TRAIN, corpus, options.topics, options.sweeps, options.jobs, folder / "model")
            print(
                f"MetaLDA, {options.topics} topics, {trained['tokens']:,} tokens: {trained['seconds']:.0f} s, "
                f"sweeps of {trained['sweeps']} s, log-likelihood {trained['log_likelihood']}, "
                f"peak {trained['SELF'] / 1e9:.2f} GB"
            )


if __name__ == "__main__":
    main()
