"""Short texts and words that training never saw: the first eight words of docstrings.

Word features (stems and endings) let a model learn from rare words, and understand new ones. Fits MetaLDA with and
without them, and judges both by all words of other documents, the unseen ones too.

    python examples/short_texts.py
"""

import argparse

from metalda import Corpus, MetaLDA, WordFeatures, datasets

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--topics", type=int, default=20)
options.add_argument("--sweeps", type=int, default=300)
options.add_argument("--limit", type=int, help="so many docstrings at most")
given = options.parse_args()

docs = datasets.load_python_docs(min_df=1, limit=given.limit)
corpus = Corpus.from_tokens([words[:8] for words in docs])
train, test = corpus.split(test_size=0.2, random_state=0)
# Features come from the spelling alone, so that words of the test documents may have theirs.
features = WordFeatures.morphology(dict.fromkeys(train.vocabulary + test.vocabulary))

with_features = MetaLDA(given.topics, word_features=features, n_iter=given.sweeps, random_state=0).fit(train)
without = MetaLDA(given.topics, n_iter=given.sweeps, random_state=0).fit(train)

unseen = set(test.vocabulary) - set(train.vocabulary)
print(f"{len(unseen):,} of {len(test.vocabulary):,} words of the test documents are new, such as {sorted(unseen)[:5]}")
for name, model in (("with features", with_features), ("without", without)):
    seen_only, all_words = model.perplexity(test), model.perplexity(test, unseen="features")
    print(f"{name:>14}: perplexity {seen_only:,.0f} of the words seen in training, {all_words:,.0f} of all words")
print(with_features.topics(top_n=6).to_string(index=False))
