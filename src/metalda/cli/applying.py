"""``metalda transform``, ``predict`` and ``evaluate``: a model on new documents."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.data import NewDocumentOptions, NewTextOptions
from metalda.cli.options import Draws, PlainFormat, Unseen
from metalda.errors import InputError
from metalda.utils.terminal import short

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel


def transform(
    model: options.Model,
    data: options.Data,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="A .csv, .jsonl or .npy file, or - for CSV on the screen."),
    ],
    new: NewDocumentOptions,
    id: options.Id = None,
    jobs: options.Jobs = 1,
    cluster: options.Cluster = None,
) -> None:
    """Write the topic proportions of new documents.

    DATA is read as the training data was, unless options say otherwise. Words that training never saw are used where
    they have features, and labels that it never saw are ignored.
    """
    from metalda.cli import writing
    from metalda.cli.clusters import connected
    from metalda.utils.threads import count_jobs

    on_screen = str(output) == "-"
    if not on_screen:
        writing.check_output(output)
        if output.exists() and data.exists() and output.samefile(data):
            raise InputError(f"{output}: is the data itself; give another file with --output")
    fitted = _load(model, jobs)
    corpus = new.read(fitted, data, id=id)
    with connected(cluster, count_jobs(options.jobs(jobs))) as client:
        proportions = fitted.transform(corpus, client=client)
    ids = corpus.ids if corpus.ids is not None else [str(d) for d in range(len(corpus))]
    if on_screen:
        tables.print_csv(writing.header(proportions), writing.rows(ids, proportions))
        return
    writing.write_proportions(output, ids, proportions)


def predict(
    model: options.Model,
    data: options.Data,
    new: NewTextOptions,
    id: options.Id = None,
    jobs: options.Jobs = 1,
    format: options.Printing = options.Format.table,
) -> None:
    """Predict the labels of new documents, by a model that was fitted with labels (metalda, dmr, llda or pllda).

    Labels that DATA may have are not looked at. The table has the most probable label; json and csv have the
    probabilities of all. Where documents may have several labels, take those above a half, say.
    """
    fitted = _load(model, jobs)
    if not fitted.label_names_:
        raise InputError(f"{model}: this {type(fitted).__name__} learnt from no labels; fit one with --labels COLUMN")
    corpus = new.read(fitted, data, id=id)
    probabilities = fitted.predict_label_probabilities(corpus)
    names, values = list(probabilities.columns), probabilities.to_numpy()
    ids = corpus.ids if corpus.ids is not None else [str(d) for d in range(len(corpus))]
    best = values.argmax(axis=1)
    if format is options.Format.json:
        rows = zip(ids, best, values.tolist(), strict=True)
        tables.print_json(
            [{"id": i, "label": names[b], "probabilities": dict(zip(names, row, strict=True))} for i, b, row in rows]
        )
    elif format is options.Format.csv:
        cells = ([i, names[b], *(f"{p:.6g}" for p in row)] for i, b, row in zip(ids, best, values, strict=True))
        tables.print_csv(("id", "label", *names), cells)
    else:
        lines = [(short(i), short(names[b]), f"{row[b]:.2f}") for i, b, row in zip(ids, best, values, strict=True)]
        tables.print_table(("id", "label", "probability"), lines)


def evaluate(
    model: options.Model,
    data: options.Data,
    new: NewDocumentOptions,
    unseen: options.UnseenWords = Unseen.ignore,
    draws: options.Predicting = Draws.mean,
    jobs: options.Jobs = 1,
    format: Annotated[PlainFormat, typer.Option("--format", help="How to print.")] = PlainFormat.table,
) -> None:
    """Print how well a model predicts new documents: every second word, given the others and the labels.

    DATA is read as the training data was, unless options say otherwise. Diversity and exclusivity are of the model
    itself: whether its topics have words of their own.
    """
    from metalda.evaluation import exclusivity, topic_diversity

    fitted = _load(model, jobs)
    corpus = new.read(fitted, data)
    perplexity = fitted.perplexity(corpus, unseen=unseen.value, draws=draws.value)
    result = {
        "perplexity": perplexity,
        "log_probability_per_word": -math.log(perplexity),
        "documents": len(corpus),
        "words": corpus.n_tokens,
        "unseen_share": unseen_share(fitted, corpus),
        "unseen": unseen.value,
        "draws": draws.value,
        "topic_diversity": topic_diversity(fitted),
        "exclusivity": exclusivity(fitted),
    }
    if format is PlainFormat.json:
        tables.print_json(result)
        return
    kept = "left out"
    if unseen is Unseen.features:
        kept = "predicted by their features" if fitted.feature_names_ else "predicted alike, without features"
    rows = [
        ("perplexity", f"{perplexity:,.1f}"),
        ("log probability per word", f"{result['log_probability_per_word']:.4f}"),
        ("documents", f"{len(corpus):,}"),
        ("words", f"{corpus.n_tokens:,}"),
        ("unseen words", f"{result['unseen_share']:.1%}, {kept}"),
        ("draws", draws.value),
        ("topic diversity", f"{result['topic_diversity']:.3f}"),
        ("exclusivity", f"{result['exclusivity']:.3f}"),
    ]
    tables.print_table(("measure", "value"), rows, left=("measure",))


def unseen_share(model: TopicModel, corpus: Corpus) -> float:
    """How many of the words, repetitions counted, training never saw."""
    import numpy as np

    known = set(model.vocabulary_)
    is_unseen = np.array([word not in known for word in corpus.vocabulary], dtype=bool)
    return float(is_unseen[corpus.words].mean()) if corpus.n_tokens else 0.0


def _load(path: Path, jobs: int) -> TopicModel:
    import metalda

    return metalda.load(path).set_params(n_jobs=options.jobs(jobs))
