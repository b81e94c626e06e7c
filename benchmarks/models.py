"""Time per sweep of every model on Web Snippets, ours and tomotopy's, in one run: ``python -m benchmarks.models``.

For models that tomotopy has, the figure is the ratio of its time to ours; for others, our sweep in units of tomotopy's
LDA sweeps. Models with an optimization run it every 10 sweeps on both sides.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from benchmarks.cases import Row
from benchmarks.chains import Ours, Tomotopy, compare
from benchmarks.data import load_vectors, load_ws
from metalda import DMR, GPUDMM, LFLDA, PTM, WFLDA, LabeledLDA, PartiallyLabeledLDA

EVERY = {"optimize_burn_in": 0, "optimize_interval": 10}


def _times_faster(name: str, ours: Any, peer: Any, bar: float, warm: int) -> Row:
    own, other, ratio = compare(ours, peer, warm=warm)
    return Row(name, ratio, "times faster", bar, bar, True, f"{own * 1e3:.1f} ms, tomotopy {other * 1e3:.1f} ms")


def relative_to_tomotopy(warm: int) -> Iterator[Row]:
    """Models that tomotopy has."""
    train, _, _ = load_ws()
    yield _times_faster("LabeledLDA, 8 labels", Ours(train, LabeledLDA()), Tomotopy(train, 1, "LLDAModel"), 1, warm)
    for n_topics, per_label in ((50, 6), (200, 25)):
        plda = Tomotopy(train, None, "PLDAModel", topics_per_label=per_label)
        ours = Ours(train, PartiallyLabeledLDA(per_label))
        yield _times_faster(f"PartiallyLabeledLDA, K = {8 * per_label}", ours, plda, 1, warm)
        dmr = Tomotopy(train, n_topics, "DMRModel", optimize_interval=10)
        yield _times_faster(f"DMR, K = {n_topics}", Ours(train, DMR(n_topics, **EVERY)), dmr, 10, warm)
        ptm = Tomotopy(train, n_topics, "PTModel", p=1000)
        yield _times_faster(f"PTM, K = {n_topics}", Ours(train, PTM(n_topics)), ptm, 1, warm)


def in_units_of_lda(warm: int) -> Iterator[Row]:
    """Models that tomotopy lacks, and PTM, at K = 50."""
    train, _, features = load_ws()
    vectors = load_vectors()
    for model, bar in (
        (LFLDA(50, embeddings=vectors, initial_iterations=warm), 25),
        (GPUDMM(50, embeddings=vectors), 1),
        (PTM(50), 8),
        (WFLDA(50, word_features=features, **EVERY), 4),
    ):
        own, other, ratio = compare(Ours(train, model), Tomotopy(train, 50), warm=warm)
        detail = f"{own * 1e3:.1f} ms, tomotopy {other * 1e3:.1f} ms"
        name = f"{type(model).__name__}, K = 50"
        yield Row(name, 1 / ratio, "tomotopy LDA sweeps", bar, bar, False, detail)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models", description=__doc__)
    parser.add_argument("--warm", type=int, default=100, help="sweeps before timing")
    options = parser.parse_args()
    for case in (relative_to_tomotopy, in_units_of_lda):
        for row in case(options.warm):
            bar = f"{'at least' if row.higher_is_better else 'at most'} {row.floor:g}"
            verdict = "holds" if row.verdict != "MISSED" else "MISSED"
            print(f"{row.work:<32} {row.figure:7.2f} {row.unit:<20} {bar:<12} {verdict:<7} {row.detail}", flush=True)


if __name__ == "__main__":
    main()
