"""Compare several models on one corpus, with several seeds each.

python examples/compare_models.py
python examples/compare_models.py --folder comparison     # can be interrupted and resumed
"""

import argparse

from metalda import compare, datasets

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--models", default="metalda,metalda:doc_prior=default,lda,dmr")
options.add_argument("--topics", type=int, default=20)
options.add_argument("--iterations", type=int, default=200)
options.add_argument("--seeds", type=int, default=3)
options.add_argument("--limit", type=int, help="maximum number of docstrings")
options.add_argument("--folder", help="store every run in this folder")
given = options.parse_args()

modules = ["asyncio", "email", "logging", "tkinter", "turtle", "unittest", "xml"]
corpus = datasets.load_python_docs(limit=given.limit)
named = corpus.labels.select(modules)
corpus = corpus.with_labels(named)[named.matrix.sum(axis=1) > 0].trim()

table = compare(
    corpus,
    given.models,
    n_components=given.topics,
    n_iter=given.iterations,
    seeds=given.seeds,
    folder=given.folder,
)
columns = ["model", "perplexity", "perplexity_sd", "coherence", "label_score", "stability", "seconds_per_iteration"]
print(table[[name for name in columns if name in table]].to_string(index=False))
