"""Perplexity with out-of-vocabulary words predicted, by the share of Web Snippets to train on.

python -m benchmarks.unseen
"""

from __future__ import annotations

from benchmarks.data import load_ws


def main() -> None:
    from metalda import LDA, Corpus, MetaLDA

    train, test, features = load_ws()
    documents = [list(words) for corpus in (train, test) for words in corpus]
    labels = [
        corpus.labels.names[int(j)]
        for corpus in (train, test)
        if corpus.labels is not None
        for j in corpus.labels.matrix.indices
    ]
    whole = Corpus.from_tokens(documents, labels)
    for share in (0.2, 0.4, 0.6, 0.8):
        learn, judge = whole.split(test_size=1 - share, random_state=0)
        common = {"n_iter": 500, "random_state": 0, "verbose": False}
        plain = LDA(50, **common).fit(learn).perplexity(judge, unseen="features", draws="last")
        meta = MetaLDA(50, word_features=features, **common).fit(learn)
        ours = meta.perplexity(judge, unseen="features", draws="last")
        print(f"train on {share:.0%}: LDA {plain:.0f}, MetaLDA {ours:.0f}, ratio {plain / ours:.3f}", flush=True)


if __name__ == "__main__":
    main()
