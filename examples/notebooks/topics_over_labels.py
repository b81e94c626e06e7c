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
# # Topics over labels and years
#
# Which topics do two parties speak about, and how does that change over the years? The notebook makes its own
# speeches, so that the truth is known: taxes are a topic of the left, immigration rises everywhere, and the climate
# rises after 2005 in speeches of the left only.

# %%
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("metalda") is None:  # in Colab, for instance
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "metalda[plot,report]"], check=True)

# %%
import numpy as np
import pandas as pd

from metalda import Corpus, MetaLDA, plot_effects, plot_prevalence

# %% [markdown]
# ## Make speeches

# %%
THEMES = {
    "taxes": ["tax", "income", "budget", "deficit", "wealth", "rate", "burden", "revenue"],
    "immigration": ["border", "visa", "asylum", "migrant", "refugee", "permit", "police", "law"],
    "climate": ["climate", "carbon", "emission", "energy", "solar", "wind", "warming", "coal"],
    "health": ["hospital", "doctor", "nurse", "patient", "insurance", "medicine", "clinic", "care"],
}


def weights_of(party: str, year: int) -> list[float]:
    """How much a party speaks about each theme in a year."""
    rise = 1 / (1 + np.exp(-(year - 2005) / 3))
    return [
        2.0 if party == "left" else 0.7,
        0.3 + 1.5 * (year - 1985) / 40,
        0.2 + (2 * rise if party == "left" else 0),
        1.0,
    ]


rng = np.random.default_rng(0)
speeches = []
for _ in range(600):
    party, year = str(rng.choice(["left", "right"])), int(rng.integers(1985, 2025))
    weights = np.array(weights_of(party, year))
    theta = rng.dirichlet(4 * weights / weights.sum())
    themes = rng.choice(list(THEMES), size=30, p=theta)
    speeches.append({"text": " ".join(rng.choice(THEMES[theme]) for theme in themes), "party": party, "year": year})
frame = pd.DataFrame(speeches)
frame.head(3)

# %% [markdown]
# ## Fit with a formula
#
# `party` is a label and `year` a number. `party * s(year)` gives each party a smooth curve of its own.

# %%
corpus = Corpus.from_frame(frame, labels="party", numbers="year", max_df=1.0)
model = MetaLDA(4, prevalence="party * s(year)", n_iter=400, random_state=0)
_ = model.fit(corpus)
model.topics(top_n=5)

# %% [markdown]
# Topics have numbers. Give them names, by the words that you see.

# %%
for number, words in zip(model.topics()["topic"], model.top_words(3), strict=True):
    model.rename({number: next(theme for theme in THEMES if words[0] in THEMES[theme])})
model.topics(top_n=5)

# %% [markdown]
# ## Labels
#
# The left speaks more about taxes and the climate. A contrast compares two labels; 0.7 doubles the weight of a topic.

# %%
model.label_effects()

# %%
plot_effects(model, contrast=("left", "right"))

# %% [markdown]
# ## Years
#
# The curve of the climate rises for the left only, and immigration rises for both, as they were made.

# %%
plot_prevalence(model, over="year", by="party")

# %%
change = model.prevalence_at({"year": [1990, 2020], "party": ["left", "right"]}, contrast="year")
change[change["party"] == "left"][["name", "mean", "low", "high"]].round(2)
