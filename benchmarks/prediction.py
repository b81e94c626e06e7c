"""Labels of held-out documents: MetaLDA and DMR by Bayes' rule, beside Labeled LDA and regression on topics.

python -m benchmarks.prediction
"""

from __future__ import annotations

import time
import warnings

from benchmarks.data import load_ws


def main() -> None:
    """Web Snippets, trained and tested as given; every document has one of eight labels."""
    import numpy as np

    from metalda import LDA, LabeledLDA, MetaLDA, PartiallyLabeledLDA
    from metalda.evaluation import label_accuracy

    warnings.simplefilter("ignore")  # documents whose words are all unseen
    train, test, features = load_ws()
    assert train.labels is not None
    assert test.labels is not None
    truth = np.array([test.labels.names[j] for j in test.labels.matrix.indices], dtype=object)
    common = {"n_iter": 500, "random_state": 0, "verbose": False}
    models = {
        "MetaLDA, labels and features": MetaLDA(50, word_features=features, **common),
        "MetaLDA, labels only": MetaLDA(50, word_prior=0.01, **common),
        "Labeled LDA": LabeledLDA(**common),
        "Partially Labeled LDA, 6 topics per label": PartiallyLabeledLDA(6, **common),
        "LDA": LDA(50, **common),
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


if __name__ == "__main__":
    main()
