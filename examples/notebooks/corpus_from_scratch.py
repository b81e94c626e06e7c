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
# # A corpus from scratch
#
# From a file as people have it, with markup, missing values and several labels in a cell, to a corpus that says what
# it kept. The notebook writes the file itself.

# %%
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("metalda") is None:  # in Colab, for instance
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "metalda[plot,report]"], check=True)

# %%
from pathlib import Path

import numpy as np
import pandas as pd

from metalda import Corpus, MetaLDA

# %% [markdown]
# ## A file

# %%
SENTENCES = {  # by what they are about
    "photo": ["The camera takes sharp photos.", "Photos are blurred at night.", "I love the zoom of the camera!"],
    "battery": [
        "The battery is empty by noon.",
        "Battery lasts two days.",
        "It charges slowly and gets warm.",
    ],
    "sound": ["The sound has a deep bass.", "Noise cancelling works on the train.", "Voices sound thin, music too."],
    "quality": [
        "One hinge broke after a month.",
        "The plastic feels cheap.",
        "Solid case, no scratches.",
    ],
    "service": ["The seller never answered my e-mails!", "Support sent a new one at once.", "The refund took weeks."],
}
PRODUCTS = {
    "phone": ["photo", "battery", "quality"],
    "headphones": ["sound", "battery"],
    "laptop": ["battery", "quality"],
}
NAMES = [
    f"{first}{last}" for first in ("An", "Be", "Cor", "Da", "El") for last in ("na", "lia", "mir", "rik", "so", "ta")
]

rng = np.random.default_rng(0)
records = []
for number in range(800):
    product = str(rng.choice(list(PRODUCTS)))
    about = [str(each) for each in rng.choice([*PRODUCTS[product], "service"], 2, replace=False)]
    text = " ".join(str(rng.choice(SENTENCES[each])) for each in (*about[:1] * 3, *about[1:]))
    text += f" Regards, {rng.choice(NAMES)}"
    stars = int(rng.integers(1, 4) + 2 * ("service" not in about))
    records.append({"id": f"r{number}", "review": text, "product": product, "about": "|".join(about), "stars": stars})
records[7]["review"] = None  # a cell that is empty
path = Path("reviews.csv")
pd.DataFrame(records).to_csv(path, index=False)
print(path.read_text(encoding="utf-8")[:240])

# %% [markdown]
# ## Read it
#
# Name the columns: the text, the labels, and the numbers. A label cell may hold several labels
# (`label_delimiter="|"`). English stop words are found and dropped.

# %%
columns = {"text": "review", "labels": ["product", "about"], "numbers": "stars", "id": "id", "label_delimiter": "|"}
corpus = Corpus.read(path, **columns, min_df=1, max_df=1.0)
print(corpus)
print(corpus.label_names)

# %% [markdown]
# ## Look at it
#
# The words of a document, the text as it was written, and the most frequent words.

# %%
print(corpus.document(0))
print(corpus.texts[0])
frequency = pd.Series(corpus.counts().sum(axis=0), corpus.vocabulary)
frequency.nlargest(8).to_frame("tokens")

# %% [markdown]
# ## Decide about words
#
# Rare words, such as the names of customers, say little about topics, and *regards* is in every review. A word stays
# here if it is in at least 40 documents and in at most half of them, and is no stop word.

# %%
cleaned = Corpus.read(path, **columns, min_df=40, max_df=0.5, stop_words=["english", "regards"])
print(f"{len(corpus.vocabulary)} words, then {len(cleaned.vocabulary)}")
print(sorted({*corpus.vocabulary} - {*cleaned.vocabulary}))

# %% [markdown]
# ## Fit, and quote
#
# Labels and stars inform the topics. The quotations are the texts of the file.

# %%
model = MetaLDA(5, n_iter=400, random_state=0)
_ = model.fit(cleaned)
model.topics(top_n=6)

# %%
model.typical_documents(n=1, corpus=cleaned)[["topic", "proportion", "id", "text"]]

# %% [markdown]
# ## New documents, read in the same way
#
# The model keeps the schema: columns, stop words and the scale of the stars. New files and texts are read with it.

# %%
new = pd.DataFrame([{"id": "new", "review": "Photos are sharp", "product": "phone", "about": "photo", "stars": 5}])
print(model.transform(Corpus.from_frame(new, schema=model.schema_)).round(2))
