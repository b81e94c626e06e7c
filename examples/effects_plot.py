"""Plot the effects of modules on the topics of Python's documentation, with intervals.

python examples/effects_plot.py effects.png     # creates docs/images/effects.png
"""

import argparse
import math

from metalda import MetaLDA, datasets, plot_effects

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("file", help="output file: .png, .svg or .pdf")
options.add_argument("--topics", type=int, default=30)
options.add_argument("--iterations", type=int, default=600)
options.add_argument("--limit", type=int, help="maximum number of docstrings")
options.add_argument("--modules", nargs="+", default=["asyncio", "email", "unittest"])
given = options.parse_args()

corpus = datasets.load_python_docs(limit=given.limit)
n_draws = math.ceil(given.iterations / 20)  # every tenth iteration of the second half
model = MetaLDA(given.topics, n_iter=given.iterations, n_draws=n_draws, random_state=0).fit(corpus)

# The topics whose effects differ most between these modules.
effects = model.label_effects()
chosen = effects[effects["label"].isin(given.modules)]
spread = chosen.groupby("topic")["effect"].agg(lambda effect: effect.max() - effect.min())
topics = spread.nlargest(6).index.tolist()

axes = plot_effects(model, given.modules, topics, interval=0.9)
axes.figure.savefig(given.file, dpi=150)
print(model.topics(top_n=8).set_index("topic").loc[topics].to_string())
