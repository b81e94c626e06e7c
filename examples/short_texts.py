"""Fit MetaLDA to short texts, with and without word features: the first eight words of docstrings.

Features (stems and endings) share information between rare words and cover out-of-vocabulary words. The program
compares the perplexity of both models on held-out documents, with and without out-of-vocabulary words.

    python examples/short_texts.py
"""

import argparse

from metalda import Corpus, MetaLDA, WordFeatures, datasets

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--topics", type=int, default=20)
options.add_argument("--iterations", type=int, default=300)
options.add_argument("--limit", type=int, help="maximum number of docstrings")
given = options.parse_args()

docs = datasets.load_python_docs(min_df=1, limit=given.limit)
corpus = Corpus.from_tokens([words[:8] for words in docs])
train, test = corpus.split(test_size=0.2, random_state=0)
# Features depend only on the spelling, so test words can have features too.
features = WordFeatures.morphology(dict.fromkeys(train.vocabulary + test.vocabulary))

with_features = MetaLDA(given.topics, word_features=features, n_iter=given.iterations, random_state=0).fit(train)
without = MetaLDA(given.topics, n_iter=given.iterations, random_state=0).fit(train)

unseen = set(test.vocabulary) - set(train.vocabulary)
print(f"{len(unseen):,} of {len(test.vocabulary):,} test words are out-of-vocabulary, such as {sorted(unseen)[:5]}")
for name, model in (("with features", with_features), ("without", without)):
    known, all_words = model.perplexity(test), model.perplexity(test, unseen="features")
    print(f"{name:>14}: perplexity {known:,.0f} without out-of-vocabulary words, {all_words:,.0f} with them")
print(with_features.topics(top_n=6).to_string(index=False))
