"""Do intervals of effects cover? ``python -m benchmarks.coverage [--corpora 50] [--labels tags] [--methods stm]``.

Corpora are simulated, and their topics are learned. Each learned topic is matched with a true one by its words, and
topics without a clear partner are left out and counted. All methods get the same corpora. Every finished fit is a
line in the folder given by ``--out``: a repeated command does what is missing, and prints the table of all that it
was asked for. Use a new folder for another version of metalda. ``--check`` compares the truths with simulated
documents.

The methods stm, keyatm and lda-composition need the package topica; the row `permuted` needs METALDA_DATA.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.estimates import METHODS, Estimates, Interval
from benchmarks.simulation import GENERATORS, LABELS, Array, Simulated, check, permute, simulate
from metalda.evaluation.matching import Matching, match
from metalda.evaluation.runs import RunStore, run_jobs

# Bhattacharyya coefficient of a learned topic and its true one. A topic that merges two has the square roots of their
# shares as coefficients: 0.8 would take two thirds of a topic for the whole.
MIN_SIMILARITY = 0.9
PERMUTED = "permuted"
TITLES = {
    "metalda": "MetaLDA's",
    "logistic": "logistic-normal",
    "planted": "LDA, planted",
    PERMUTED: "Web Snippets, permuted",
}
COLUMNS = {
    "effect": ("bias", "bias at 0", "rmse", "coverage", "false positives", "width"),
    "difference": ("bias", "rmse", "coverage", "false positives", "width"),  # at 0 the bias is 0: shares sum to 1
}
NOTES = """\
¹ Point estimates: DMR has no intervals.
² The difference is the coefficient of a linear regression of theta on the labels. Its truth is the least-squares
projection of the expected proportions on the labels.
³ topica; intervals from 25 draws of theta (`estimate_effect`).
⁴ With the three most probable words of each true topic as keywords. keyATM has standard errors of effects, but no
covariances, so effects of kinds have no intervals."""


@dataclass(frozen=True)
class Fit:
    """A method on a corpus."""

    generator: str
    labels: str
    method: str
    seed: int

    @property
    def file(self) -> str:
        return f"{self.generator}-{self.labels}".replace(" ", "-")

    def run(self, checkpoint: Path, data: Path | None) -> dict[str, Any]:
        corpus = permute(self.seed) if self.generator == PERMUTED else simulate(self.generator, self.labels, self.seed)
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimates = METHODS[self.method].estimate(corpus, self.seed)
        seconds = round(time.perf_counter() - start, 2)
        rises = any("still rises" in str(warning.message) for warning in caught)  # the chain has not settled
        return {"seconds": seconds, "rises": rises, **judge(estimates, corpus)}


def judge(estimates: Estimates, corpus: Simulated) -> dict[str, Any]:
    """Return sums over labels for each learned topic and its true one. Sums of topics and of corpora can be added."""
    target = corpus.projection if estimates.is_regression else corpus.difference
    topics: list[dict[str, Any]] = []
    for own, true, similarity in zip(*match_topics(estimates, corpus), strict=True):
        topic: dict[str, Any] = {"similarity": round(float(similarity), 3)}
        # The projection of a label without effect is near 0 but not 0: the difference defines false positives for all.
        topic["difference"] = _sums(estimates.difference, target[:, true], corpus.difference[:, true] == 0, own)
        if estimates.effect is not None and corpus.effect is not None:
            topic["effect"] = _sums(estimates.effect, corpus.effect[:, true], corpus.effect[:, true] == 0, own)
        topics.append(topic)
    return {"topics": topics}


def match_topics(estimates: Estimates, corpus: Simulated) -> Matching:
    """Match learned and true topics. All topics of a real corpus count, because every effect is 0."""
    if corpus.phi is None:
        topics = np.arange(corpus.n_topics)
        return Matching(topics, topics, np.ones(corpus.n_topics))
    column_of = {word: v for v, word in enumerate(corpus.vocabulary)}
    true_phi = corpus.phi[:, [column_of[word] for word in estimates.words]]
    return match(np.sqrt(estimates.phi) @ np.sqrt(true_phi).T)


def _sums(found: Interval, truth: Array, is_zero: NDArray[np.bool_], topic: int) -> dict[str, float]:
    value, low, high = (array[:, topic] for array in (found.value, found.low, found.high))
    error, has_interval = value - truth, ~np.isnan(low)
    excludes_zero = has_interval & ((low > 0) | (high < 0))
    sums = {
        "n": error.size,
        "squared": (error**2).sum(),
        "n_effect": (~is_zero).sum(),
        "n_zero": is_zero.sum(),
        "at_zero": error[is_zero].sum(),
        "outward": (np.sign(truth) * error)[~is_zero].sum(),  # away from 0
        "n_interval": has_interval.sum(),
        "covers": (has_interval & (low <= truth) & (truth <= high)).sum(),
        "width": (high - low)[has_interval].sum(),
        "n_zero_interval": (is_zero & has_interval).sum(),
        "false_positives": (is_zero & excludes_zero).sum(),
    }
    return {name: float(value) for name, value in sums.items()}


def table(fits: list[Fit], store: RunStore) -> Iterator[str]:
    """Yield the lines of a Markdown table with a row for each generator, labels and method."""
    names = [f"{scale}: {column}" for scale, columns in COLUMNS.items() for column in columns]
    yield "| generator | labels | method | corpora | topics matched | " + " | ".join(names) + " |"
    yield "|" + "---|" * (5 + len(names))
    rows: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for fit in fits:
        result = store.find(fit)
        if result is not None:
            rows.setdefault((fit.generator, fit.labels, fit.method), []).append(result)
    for (generator, labels, method), results in rows.items():
        topics = [topic for own in results for topic in own["topics"]]
        found = [topic for topic in topics if topic["similarity"] >= MIN_SIMILARITY]
        matched = "–" if generator == PERMUTED else f"{len(found) / len(topics):.0%}"
        cells = [TITLES[generator], labels, METHODS[method].title, str(len(results)), matched]
        for scale, columns in COLUMNS.items():
            figures = _figures([topic[scale] for topic in found if scale in topic], scale)
            cells += [figures.get(column, "–") for column in columns]
        yield "| " + " | ".join(cells) + " |"


def _figures(parts: list[dict[str, float]], scale: str) -> dict[str, str]:
    """Return the cells of a row from the sums of its topics, without those that have nothing to average."""
    total = {name: sum(part[name] for part in parts) for part in parts[:1] for name in part}

    def mean(name: str, number: str) -> float:
        return total[name] / total[number] if total.get(number) else np.nan

    def show(value: float, sign: str = "") -> str:
        return f"{value:{sign}.2f}" if scale == "effect" else f"{100 * value:{sign}.1f} pp"

    figures = {
        "bias": show(mean("outward", "n_effect"), "+"),
        "bias at 0": show(mean("at_zero", "n_zero"), "+"),
        "rmse": show(np.sqrt(mean("squared", "n"))),
        "coverage": f"{mean('covers', 'n_interval'):.1%}",
        "false positives": f"{mean('false_positives', 'n_zero_interval'):.1%}",
        "width": show(mean("width", "n_interval")),
    }
    return {name: figure for name, figure in figures.items() if "nan" not in figure}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--corpora", type=int, default=50, help="of each row")
    parser.add_argument("--generators", default=",".join(TITLES))
    parser.add_argument("--labels", default=",".join(LABELS))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("build/coverage"), help="folder of finished fits")
    parser.add_argument("--check", action="store_true", help="compare the truths with simulated documents, and stop")
    options = parser.parse_args()
    if options.check:
        return check()
    chosen = {name: getattr(options, name).split(",") for name in ("generators", "labels", "methods")}
    for name, known in (("generators", TITLES), ("labels", LABELS), ("methods", METHODS)):
        if unknown := set(chosen[name]) - set(known):
            parser.error(f"--{name}: unknown {', '.join(sorted(unknown))}; known are: {', '.join(known)}")
    rows = list(product([name for name in chosen["generators"] if name in GENERATORS], chosen["labels"]))
    rows += [(PERMUTED, "one kind")] if PERMUTED in chosen["generators"] else []
    fits = [Fit(*row, method, seed) for row in rows for method in chosen["methods"] for seed in range(options.corpora)]
    store = RunStore(options.out)
    missing = [fit for fit in fits if store.find(fit) is None]
    seconds = sum(METHODS[fit.method].seconds for fit in missing) / options.jobs
    print(f"{len(missing):,} of {len(fits):,} fits to do, about {timedelta(seconds=round(seconds))}", flush=True)
    run_jobs(fits, store, None, n_processes=options.jobs)
    print("\n".join(table(fits, store)), f"\n{NOTES}", sep="\n")


if __name__ == "__main__":
    main()
