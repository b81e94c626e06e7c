"""Fit MetaLDA and LDA to the docstrings of your own Python, labeled with their modules.

Shows the topics, the effects of modules on them, and the perplexity of both models on 20% held-out docstrings.

    python examples/labeled_texts.py
"""

import argparse

from metalda import LDA, MetaLDA, datasets

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--topics", type=int, default=20)
options.add_argument("--iterations", type=int, default=300)
options.add_argument("--limit", type=int, help="maximum number of docstrings")
given = options.parse_args()

modules = ["asyncio", "email", "logging", "tkinter", "turtle", "unittest", "xml"]
corpus = datasets.load_python_docs(limit=given.limit)
named = corpus.labels.select(modules)
corpus = corpus.with_labels(named)[named.matrix.sum(axis=1) > 0].trim()
train, test = corpus.split(test_size=0.2, random_state=0)
print(train)

model = MetaLDA(given.topics, n_iter=given.iterations, random_state=0).fit(train)
print(model.topics(top_n=6).to_string(index=False))

effects = model.label_effects(interval=0.9)
clear = effects[effects["difference_low"] > 0].sort_values("difference", ascending=False)
print("\nTopics that a module clearly raises:")
print(clear[["label", "topic", "difference", "difference_low", "difference_high"]].head(10).to_string(index=False))

lda = LDA(given.topics, n_iter=given.iterations, random_state=0).fit(train)
print(f"\nPerplexity of {len(test)} held-out docstrings:")
for each in (model, lda):
    print(f"{type(each).__name__:>10} {each.perplexity(test):,.0f}")
