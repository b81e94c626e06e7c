# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Short texts
#
# A headline has few words, and two headlines on one subject may share none. Labels of documents and features of words
# fill the gap. The short texts here are the first eight words of docstrings of your own Python.

# %%
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("metalda") is None:  # in Colab, for instance
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "metalda[plot,report]"], check=True)

# %%
from metalda import DMM, LDA, Corpus, MetaLDA, WordFeatures, datasets

# %% [markdown]
# ## Short documents with labels
#
# Rare words are kept (`min_df=1`), because features tell what they have in common with others.

# %%
modules = ["asyncio", "email", "logging", "turtle", "unittest", "xml"]
docs = datasets.load_python_docs(min_df=1)
docs = docs[docs.labels.select(modules).matrix.sum(axis=1) > 0]
corpus = Corpus.from_tokens([words[:8] for words in docs], labels=docs.labels.select(modules))
train, test = corpus.split(test_size=0.2, random_state=0)
print(train)
print(list(train)[:3])

# %% [markdown]
# ## Features of words
#
# Stems, endings and shapes need no download. `Embeddings.read("glove.6B.50d.txt").binarize()` is better, if you have
# such a file.

# %%
features = WordFeatures.morphology(dict.fromkeys(train.vocabulary + test.vocabulary))
print(f"{len(features.features.names):,} features; {features.coverage(train.vocabulary):.0%} of the words have one")

# %% [markdown]
# ## Compare models on held-out documents
#
# All are asked for every second word of a test document, given the others. Lower perplexity is better. With
# `unseen="features"`, words that training never saw are counted as well: they are predicted through their features.

# %%
models = {
    "MetaLDA, labels and features": MetaLDA(10, word_features=features, n_iter=200, random_state=0),
    "MetaLDA, labels": MetaLDA(10, n_iter=200, random_state=0),
    "LDA": LDA(10, n_iter=200, random_state=0),
    "DMM, one topic for each document": DMM(10, n_iter=200, random_state=0),
}
for name, model in models.items():
    model.fit(train)
    known, every = model.perplexity(test), model.perplexity(test, unseen="features")
    print(f"{name:>34}: {known:6,.0f} without unseen words, {every:6,.0f} with them")

# %% [markdown]
# ## Topics

# %%
best = models["MetaLDA, labels and features"]
best.topics(top_n=6)

# %% [markdown]
# ## Features that matter
#
# Which endings and stems raise a topic?

# %%
effects = best.feature_effects()
effects.nlargest(8, "low")
