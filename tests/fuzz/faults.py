"""Simultaneous saves, and kills at random moments. Run in the root of the repository:

python -m tests.fuzz.faults saves --n 1000 --processes 3
python -m tests.fuzz.faults kills --n 200
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from typing import Any

import numpy as np

import metalda
from metalda import LDA, Corpus
from metalda.corpus import parts

PATIENCE = 600  # seconds for one step; a machine under load may be slow
_UNFINISHED_REPORT = re.compile(r"\.report\.html-[0-9a-f]{16}")


class Loss(Exception):
    """Something that was saved is lost or damaged."""


def require(condition: bool, message: str) -> None:
    if not condition:
        raise Loss(message)


# Models and corpora by their content


def digest(*values: Any) -> str:
    found = hashlib.blake2b(digest_size=8)
    for value in values:
        found.update(value if isinstance(value, bytes) else np.ascontiguousarray(value).tobytes())
    return found.hexdigest()


def digest_model(folder: Path) -> str:
    """Load a model; equal digests mean equal bits."""
    model = metalda.load(folder)
    weights = [each for draw in model.draws_ for each in (draw.log_doc_weights, draw.word_topic_counts.toarray())]
    return digest(model.components_, model.doc_topics_, model.history_["log_likelihood"].to_numpy(), *weights)


def digest_corpus(folder: Path) -> str:
    corpus = Corpus.load(folder)
    return digest(corpus.words, corpus.offsets, " ".join(corpus.vocabulary).encode())


def write_texts(file: Path, n_documents: int, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    with file.open("w") as lines:
        for d in range(n_documents):
            words = [f"w{w}x" for w in rng.integers(0, 200, 25) + 100 * (d % 2)]
            lines.write(json.dumps({"text": " ".join(words), "label": f"l{d % 2}"}) + "\n")
    return file


def require_no_strays(folder: Path, kind: str) -> None:
    """Require that a folder consists of its manifest and the files that it names."""
    named = json.loads((folder / f"{kind}.json").read_text())["files"]
    strays = set(os.listdir(folder)) - {f"{kind}.json", *named}
    require(not strays, f"stray files in {folder}: {sorted(strays)}")


# Simultaneous saves


def save_repeatedly(source: Path, target: Path, n: int, start: Any, end: Any, losses: Any) -> None:
    model = metalda.load(source)
    try:
        for _ in range(n):
            start.wait(PATIENCE)
            model.save(target)
            end.wait(PATIENCE)
    except Exception as error:
        losses.put(f"save: {type(error).__name__}: {error}")
        start.abort()
        end.abort()


def load_repeatedly(target: Path, known: set[str], stop: Any, n_loads: Any, losses: Any) -> None:
    while not stop.is_set():
        try:
            require(digest_model(target) in known, "load: a mixture of two versions")
        except Exception as error:
            losses.put(f"load: {type(error).__name__}: {error}")
        n_loads.value += 1


def run_saves(n: int, n_processes: int) -> list[str]:
    """In each of `n` rounds every process saves its model to one folder at once; another process loads all the time."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="metalda-faults-") as place:
        corpus = Corpus.read(write_texts(Path(place, "texts.jsonl"), 400, 0), text="text")
        sources = [Path(place, f"model{seed}") for seed in range(n_processes)]
        for seed, source in enumerate(sources):
            LDA(10 + seed, n_iter=3, random_state=seed, verbose=False).fit(corpus).save(source)
        target = Path(place, "model")
        metalda.load(sources[0]).save(target)
        known = {digest_model(source) for source in sources}
        start, end = context.Barrier(n_processes + 1), context.Barrier(n_processes + 1)
        stop, losses, n_loads = context.Event(), context.Queue(), context.Value("i", 0)
        loader = context.Process(target=load_repeatedly, args=(target, known, stop, n_loads, losses))
        savers = [
            context.Process(target=save_repeatedly, args=(source, target, n, start, end, losses)) for source in sources
        ]
        for process in (loader, *savers):
            process.start()
        found: list[str] = []
        winners: Counter[str] = Counter()
        try:
            for _ in range(n):
                start.wait(PATIENCE)
                end.wait(PATIENCE)
                require_no_strays(target, "model")
                winners[digest_model(target)] += 1
        except Exception as error:
            found.append(f"after a round: {type(error).__name__}: {error}")
            start.abort()
            end.abort()
        stop.set()
        for process in (loader, *savers):
            process.join(PATIENCE)
        with suppress(Empty):
            while True:
                found.append(losses.get(timeout=1))
    print(f"{sum(winners.values()):,} rounds of {n_processes} saves, {n_loads.value:,} loads, {len(found)} failures")
    print(f"the last save of a round, by process: {sorted(winners.values())}")
    return found


# Kills


@dataclass
class Scene:
    """A command over earlier results, what may be found after it was killed, and what its repetition must give."""

    name: str
    folder: Path
    run: Callable[[Path], Any]  # the command, in a folder with earlier results
    repeat: Callable[[Path], Any]
    inspect: Callable[[Path], Any]  # describes the results; raises an error if they are damaged
    check_end: Callable[[Path], None] = lambda folder: None
    old: Any = None
    new: Any = None
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=lambda: Counter(old=0, new=0))  # the possible ones

    def measure(self) -> None:
        """Run without a kill: for the new results and the duration. The first run may compile kernels."""
        for _ in range(2):
            work = self.begin()
            self.old = self.inspect(work)
            start = time.monotonic()
            wait_for(fork(lambda: self.run(work), work), work)  # noqa: B023
            self.seconds = time.monotonic() - start
        self.new = self.inspect(work)
        self.check_end(work)
        require(self.old != self.new, f"{self.name}: the command changes nothing")

    def begin(self) -> Path:
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(self.folder / "before", work)
        return work

    def kill(self, rng: random.Random) -> bool:
        """Kill the command at a random moment, or when it has just written something; check what is left."""
        work = self.begin()
        start = time.monotonic()
        child = fork(lambda: self.run(work), work)
        time.sleep(rng.uniform(0, self.seconds))
        if rng.random() < 0.7:
            wait_for_write(work, child)
            time.sleep(rng.uniform(0, 0.003))
        if child.poll() is None:
            os.kill(child.pid, signal.SIGKILL)
        code = child.wait()
        if code != -signal.SIGKILL:
            require(code == 0, f"exit code {code}: {output(work)}")
            self.seconds = min(self.seconds, time.monotonic() - start)  # other load may have ended
            return False
        found = self.inspect(work)
        kind = "old" if found == self.old else "new" if found == self.new else "intermediate"
        require(kind in self.outcomes, f"neither the old nor the new result: {found}")
        wait_for(fork(lambda: self.repeat(work), work), work)
        require(self.inspect(work) == self.new, "the repetition gives another result")
        self.check_end(work)
        self.outcomes[kind] += 1
        return True


class Child:
    """A forked process: it has imported everything, so that most kills meet the work and not the imports."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.code: int | None = None

    def poll(self) -> int | None:
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def wait(self) -> int:
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code


def fork(action: Callable[[], Any], work: Path) -> Child:
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return Child(pid)
    code = 70
    try:
        log = os.open(log_of(work), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        action()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def wait_for(child: Child, work: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while child.poll() is None:
        if time.monotonic() > deadline:
            os.kill(child.pid, signal.SIGKILL)
            raise Loss(f"the command hangs: {output(work)}")
        time.sleep(0.002)
    require(child.code == 0, f"exit code {child.code}: {output(work)}")
    require("Traceback" not in output(work), output(work))


def log_of(work: Path) -> Path:
    return work.with_name("output")


def output(work: Path) -> str:
    return log_of(work).read_text()


def wait_for_write(work: Path, child: Child) -> None:
    """Wait until a file in the folder changes, or the command ends."""
    before, deadline = list_files(work), time.monotonic() + PATIENCE
    while list_files(work) == before and child.poll() is None and time.monotonic() < deadline:
        pass


def list_files(folder: Path) -> list[tuple[str, int]]:
    found = []
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                found.append((name, os.stat(os.path.join(root, name)).st_size))
    return sorted(found)


def command(*arguments: Any) -> None:
    from metalda.cli.app import app

    app([str(argument) for argument in arguments], prog_name="metalda")


def fit_scene(folder: Path) -> Scene:
    data = write_texts(folder / "texts.jsonl", 200, 0)
    model = folder / "before" / "model"
    LDA(3, n_iter=2, random_state=9, verbose=False).fit(Corpus.read(data, text="text")).save(model)
    options = ("--text", "text", "--labels", "label", "-k", 5, "--iterations", 30, "--quiet")

    def run(work: Path, *more: str) -> None:
        saving = ("--checkpoint", work / "progress", "--checkpoint-every", 1)
        command("fit", data, "-o", work / "model", *options, *saving, *more)

    def check_end(work: Path) -> None:
        require_no_strays(work / "progress", "checkpoint")

    return Scene("fit", folder, run, lambda work: run(work, "--resume"), lambda w: digest_model(w / "model"), check_end)


def save_scene(folder: Path) -> Scene:
    corpus = Corpus.read(write_texts(folder / "texts.jsonl", 2000, 0), text="text")
    models = [LDA(20 + seed, n_iter=2, random_state=seed, verbose=False).fit(corpus) for seed in range(2)]
    models[0].save(folder / "before" / "model")

    def run(work: Path) -> None:
        for _ in range(10):
            for model in models:
                model.save(work / "model")

    return Scene("save", folder, run, run, lambda work: digest_model(work / "model"))


def prepare_scene(folder: Path) -> Scene:
    data = write_texts(folder / "texts.jsonl", 3000, 0)
    Corpus.prepare(write_texts(folder / "other.jsonl", 100, 1), folder / "before" / "corpus", text="text")

    def run(work: Path) -> None:
        parts.MAX_DOCUMENTS = 100
        command("prepare", data, "-o", work / "corpus", "--text", "text", "--labels", "label", "--quiet")

    def check_end(work: Path) -> None:
        require(not (work / "corpus" / ".parts").exists(), "parts are left")

    return Scene("prepare", folder, run, run, lambda work: digest_corpus(work / "corpus"), check_end)


def compare_scene(folder: Path) -> Scene:
    data = write_texts(folder / "texts.jsonl", 60, 0)
    options = ("--text", "text", "--labels", "label", "-k", 3, "--iterations", 20, "--checkpoint-every", 1, "--quiet")

    def run(work: Path, models: str = "metalda,lda", n_seeds: int = 2) -> None:
        command("compare", data, "-o", work / "comparison", *options, "--models", models, "--seeds", n_seeds)

    def finished(work: Path) -> list[bytes]:
        return (work / "comparison" / "runs.jsonl").read_bytes().split(b"\n")[:-1]

    def repeat(work: Path) -> None:
        before = finished(work)
        try:
            run(work)
        finally:
            now = finished(work)
            require(now[: len(before)] == before, "a finished run is lost")
            runs = [json.dumps(json.loads(line)["run"], sort_keys=True) for line in now]
            require(len(set(runs)) == len(runs) == 4, "finished runs were repeated, or runs are missing")

    def inspect(work: Path) -> Any:
        require((work / "comparison" / "comparison.csv").read_text().endswith("\n"), "half a table")
        found = without_times(json.loads((work / "comparison" / "comparison.json").read_text()))
        require(1 <= len(found["document"]["models"]) <= 2, "no table")
        return found

    def check_end(work: Path) -> None:
        names = {"comparison.csv", "comparison.json", "runs.jsonl"}
        others = [name for name in os.listdir(work / "comparison") if name not in names]
        require(not any(name.startswith("checkpoint-") for name in others), f"checkpoints are left: {others}")

    before = folder / "before"
    wait_for(fork(lambda: run(before, "lda", 1), before), before)
    outcomes = Counter(old=0, intermediate=0, new=0)  # the table is saved after every run
    return Scene("compare", folder, run, repeat, inspect, check_end, outcomes=outcomes)


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if "seconds" not in key and key != "date"}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def report_scene(folder: Path) -> Scene:
    data = write_texts(folder / "texts.jsonl", 100, 0)
    corpus = Corpus.read(data, text="text", labels="label")
    LDA(3, n_iter=4, random_state=0, verbose=False).fit(corpus).save(folder / "model")
    (folder / "before" / "report.html").write_text("an earlier report")

    def run(work: Path) -> None:
        command("report", folder / "model", "-o", work / "report.html", "--corpus", data, "--quiet")

    def check_end(work: Path) -> None:
        others = set(os.listdir(work)) - {"report.html"}
        require(all(map(_UNFINISHED_REPORT.fullmatch, others)), f"files with names of their own: {others}")

    return Scene("report", folder, run, run, lambda work: digest((work / "report.html").read_bytes()), check_end)


SCENES = {
    "fit": fit_scene,
    "save": save_scene,
    "prepare": prepare_scene,
    "compare": compare_scene,
    "report": report_scene,
}


def run_kills(n: int, seed: int, names: list[str]) -> list[str]:
    """Kill commands `n` times in all, in turn. A command that ends before its kill does not count."""
    rng, losses = random.Random(seed), []
    place = Path(tempfile.mkdtemp(prefix="metalda-faults-"))
    scenes = []
    for name in names:
        (place / name / "before").mkdir(parents=True)
        scenes.append(SCENES[name](place / name))
        scenes[-1].measure()
    killed: Counter[str] = Counter()
    for number in range(20 * n):
        scene = scenes[sum(killed.values()) % len(scenes)]
        try:
            killed[scene.name] += scene.kill(rng)
        except Exception as error:
            losses.append(f"{scene.name}: {type(error).__name__}: {error}")
            shutil.copytree(scene.folder / "work", place / f"loss{number}-{scene.name}")
            killed[scene.name] += 1
        n_killed = sum(killed.values())
        if n_killed and n_killed % 20 == 0:
            print(f"{n_killed} of {n} kills, {len(losses)} losses so far", flush=True)
        if n_killed == n:
            break
    for scene in scenes:
        kinds = ", ".join(f"{count} with the {kind} result" for kind, count in scene.outcomes.items())
        print(f"{scene.name}: {killed[scene.name]} kills within {scene.seconds:.2f} s, {kinds}")
    print(f"{sum(killed.values())} kills, {len(losses)} losses")
    if losses:
        print(f"the folders of the losses are in {place}")
    else:
        shutil.rmtree(place)
    return losses


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.faults", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    saves = kinds.add_parser("saves", help="several processes save one model folder at once, beside a loader")
    saves.add_argument("--n", type=int, default=1000, help="rounds; in each round every process saves once")
    saves.add_argument("--processes", type=int, default=3)
    kills = kinds.add_parser("kills", help="SIGKILL at random moments (POSIX only)")
    kills.add_argument("--n", type=int, default=200)
    kills.add_argument("--seed", type=int, default=0)
    kills.add_argument("--only", nargs="*", choices=SCENES, default=list(SCENES))
    given = parser.parse_args()
    if given.kind == "saves":
        losses = run_saves(given.n, given.processes)
    else:
        losses = run_kills(given.n, given.seed, given.only)
    for loss in losses:
        print(loss)
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
