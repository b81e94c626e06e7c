"""Labels of held-out documents: predicted by MetaLDA, by the labeled models, and by regression on topics.

python -m benchmarks.prediction ws | reuters
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

from benchmarks.data import data_folder, load_ws

if TYPE_CHECKING:
    import pandas as pd

    from metalda import Corpus

COMMON: dict[str, Any] = {"random_state": 0, "verbose": False}


def main() -> None:
    warnings.simplefilter("ignore")  # documents with only out-of-vocabulary words
    predict_reuters() if sys.argv[1:] == ["reuters"] else predict_ws()


def predict_ws() -> None:
    """Web Snippets, trained and tested as given; every document has one of eight labels. Accuracy."""
    import numpy as np

    from metalda import LDA, LabeledLDA, MetaLDA, PartiallyLabeledLDA
    from metalda.evaluation import label_accuracy, label_baseline

    train, test, features = load_ws()
    print(f"{'logistic regression on tf-idf':<42} {label_baseline(train, test).value:.3f}", flush=True)
    assert train.labels is not None
    assert test.labels is not None
    truth = np.array([test.labels.names[j] for j in test.labels.matrix.indices], dtype=object)
    models = {
        "MetaLDA, labels and features": MetaLDA(50, word_features=features, n_iter=500, **COMMON),
        "MetaLDA, labels only": MetaLDA(50, word_prior=0.01, n_iter=500, **COMMON),
        "Labeled LDA": LabeledLDA(n_iter=500, **COMMON),
        "Partially Labeled LDA, 6 topics per label": PartiallyLabeledLDA(6, n_iter=500, **COMMON),
        "LDA": LDA(50, n_iter=500, **COMMON),
    }
    for name, model in models.items():
        model.fit(train)
        line = f"{name:<42}"
        if model.label_names_:
            start = time.perf_counter()
            accuracy = float(np.mean(model.predict_labels(test) == truth))
            line += f" predict_labels {accuracy:.3f} ({time.perf_counter() - start:.1f} s)"
        theta = [model.transform(corpus.without_labels()) for corpus in (train, test)]
        score = label_accuracy(theta[0], train.labels, theta[1], test.labels)
        print(f"{line} regression on topics {score.value:.3f}", flush=True)


def predict_reuters() -> None:
    """Reuters-21578, a fifth held out; documents have one label or several. Micro-averaged F1 at three thresholds."""
    from metalda import LabeledLDA, MetaLDA
    from metalda.datasets import load_reuters
    from metalda.evaluation import label_baseline

    train, test = load_reuters(data_folder(), stop_words="english").split(test_size=0.2, random_state=0)
    print(f"logistic regression on tf-idf: {label_baseline(train, test).value:.3f}", flush=True)
    models = {"MetaLDA, labels": MetaLDA(100, n_iter=300, **COMMON), "Labeled LDA": LabeledLDA(n_iter=300, **COMMON)}
    for name, model in models.items():
        model.fit(train)
        start = time.perf_counter()
        probabilities = model.predict_label_probabilities(test)
        seconds = time.perf_counter() - start
        scores = (f"{threshold}: {_micro_f1(probabilities >= threshold, test):.3f}" for threshold in (0.2, 0.35, 0.5))
        print(f"{name:<16} {', '.join(scores)} ({seconds:.0f} s)", flush=True)


def _micro_f1(predicted: pd.DataFrame, test: Corpus) -> float:
    """Labels that only test documents have count as missed."""
    assert test.labels is not None
    truth = test.labels.select(predicted.columns).matrix.toarray() != 0
    hits = int((predicted.to_numpy() & truth).sum())
    return 2 * hits / (test.labels.matrix.nnz + int(predicted.to_numpy().sum()))


if __name__ == "__main__":
    main()
