"""``metalda evaluate``: held-out perplexity, and the diversity and exclusivity of topics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from metalda.cli import options, tables
from metalda.cli.data import NewDocumentOptions
from metalda.cli.options import Draws, Format, Unseen

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

EPILOG = options.epilog("metalda evaluate model test.jsonl --unseen features")


def evaluate(
    model: options.Model,
    data: options.Data,
    new: NewDocumentOptions,
    unseen: options.UnseenWords = Unseen.ignore,
    draws: options.Predicting = Draws.mean,
    jobs: options.Jobs = 1,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Print the perplexity of held-out documents: every second token, given the other tokens and the labels.

    DATA is read with the options of training unless options are given here. Topic diversity and exclusivity depend
    only on the model; they measure how distinct the top words of its topics are.
    """
    from metalda.evaluation import exclusivity, topic_diversity

    fitted = options.load_model(model, jobs)
    corpus = new.read(fitted, data)
    perplexity = fitted.perplexity(corpus, unseen=unseen.value, draws=draws.value)
    result = {
        "perplexity": perplexity,
        "log_probability_per_token": -math.log(perplexity),
        "documents": len(corpus),
        "tokens": corpus.n_tokens,
        "out_of_vocabulary_share": out_of_vocabulary_share(fitted, corpus),
        "unseen": unseen.value,
        "draws": draws.value,
        "topic_diversity": topic_diversity(fitted),
        "exclusivity": exclusivity(fitted),
    }
    if format is Format.json:
        tables.print_json(result)
        return
    if format is Format.csv:
        tables.print_records([result], raw=raw)
        return
    use = "ignored"
    if unseen is Unseen.features:
        use = "predicted by their features" if fitted.feature_names_ else "predicted, without features"
    rows = [
        ("perplexity", f"{perplexity:,.1f}"),
        ("log probability per token", f"{result['log_probability_per_token']:.4f}"),
        ("documents", f"{len(corpus):,}"),
        ("tokens", f"{corpus.n_tokens:,}"),
        ("out of vocabulary", f"{result['out_of_vocabulary_share']:.1%}, {use}"),
        ("draws", draws.value),
        ("topic diversity", f"{result['topic_diversity']:.3f}"),
        ("exclusivity", f"{result['exclusivity']:.3f}"),
    ]
    tables.print_table(("measure", "value"), rows, left=("measure",))


def out_of_vocabulary_share(model: TopicModel, corpus: Corpus) -> float:
    """Return the share of tokens that are out-of-vocabulary words."""
    import numpy as np

    known = set(model.vocabulary_)
    is_unseen = np.array([word not in known for word in corpus.vocabulary], dtype=bool)
    return float(is_unseen[corpus.words].mean()) if corpus.n_tokens else 0.0
