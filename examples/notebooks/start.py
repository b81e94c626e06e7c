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
# # metalda in ten minutes
#
# Fit a topic model to the documentation of your own Python, read its topics, see which modules raise which topics,
# and apply the model to new texts. Nothing is downloaded.

# %%
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("metalda") is None:  # in Colab, for instance
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "metalda[plot,report]"], check=True)

# %%
from metalda import MetaLDA, datasets, load, plot_effects, write_report

# %% [markdown]
# ## Documents with labels
#
# A document is a docstring, and its label is the module. `limit` keeps every n-th docstring, so that this notebook is
# quick.

# %%
corpus = datasets.load_python_docs(limit=2500)
train, test = corpus.split(test_size=0.2, random_state=0)
print(train)

# %% [markdown]
# ## Fit
#
# A few hundred iterations show the topics. Results that you want to publish need 1,000 or more: a warning says
# whether the log-likelihood still rises. One seed gives one result.

# %%
model = MetaLDA(n_components=15, n_iter=200, random_state=0)
_ = model.fit(train)

# %% [markdown]
# ## Topics
#
# The table is a pandas DataFrame. A notebook shows it with bars, and lists rare words without a theme as background.

# %%
model.topics(top_n=8).sort_values("share", ascending=False)

# %% [markdown]
# ## Effects of labels
#
# How much does a module raise or lower a topic? The difference is in percentage points of a document. An interval
# contains it with a probability of 90 %. Faint rows are uncertain: the interval of their effect contains 0.

# %%
effects = model.label_effects()
of_asyncio = effects[effects["label"] == "asyncio"]
of_asyncio.sort_values("difference", ascending=False).head(6)

# %%
strongest = of_asyncio.nlargest(4, "low")["topic"].tolist()
plot_effects(model, ["asyncio", "email", "unittest"], strongest)

# %% [markdown]
# ## Typical documents

# %%
quoted = model.typical_documents(strongest[0], n=2, corpus=train)
for row in quoted.to_dict("records"):
    print(f"{row['id']} ({row['proportion']:.0%} of the document):\n{row['text'][:300]}\n")

# %% [markdown]
# ## New documents
#
# Each row of `transform` has the proportions of all topics. Perplexity says how well held-out words are predicted:
# lower is better.

# %%
new = ["Open a file and return a stream of bytes.", "Wait until the coroutine of a task is done."]
print(model.transform(new).round(2))
print(f"perplexity of held-out docstrings: {model.perplexity(test):,.0f}")

# %% [markdown]
# ## Keep and share
#
# A saved model is a folder of safetensors and JSON. The report is one HTML file that works offline: open
# `report.html`.

# %%
model.save("model")
same = load("model")
_ = write_report(same, "report.html", corpus=train, max_documents=500)
