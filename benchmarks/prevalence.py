"""Numbers and curves in MetaLDA: ``python -m benchmarks.prevalence coverage|speed|dates|pooling [--jobs 2]``.

- ``coverage``: simulated corpora whose topics are learned. Do the intervals of slopes, curves and scales cover? What is
  the effect of a column of noise?
- ``speed``: seconds per sweep with a curve over the date beside ten bins, on 30,000 arXiv titles, and how they grow.
- ``dates``: held-out perplexity without the date, with ten bins and with a curve, on arXiv (by month) and Reuters (by
  day), beside topica's STM with the same formula: seconds to fit, and perplexity by document completion.
- ``pooling``: held-out perplexity with the learned strength of labels beside the gamma prior with fixed shapes mu.

All but ``coverage`` need METALDA_DATA; ``dates`` uses topica if it is installed.
"""

from __future__ import annotations

import argparse
import lzma
import re
import tarfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from functools import lru_cache
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.data import data_folder
from metalda import Corpus, MetaLDA
from metalda.datasets import load_tmn, load_ws
from metalda.evaluation.matching import match
from metalda.meta.margins import find_margin
from metalda.meta.terms import Terms

FORMULA = "genre + x + s(year) + noise"
GRID = np.linspace(1905, 1995, 10)
N_DOCUMENTS, N_TOPICS, N_TOKENS, N_WORDS = 600, 5, 60, 200
INTERVAL = 0.9
SHAPES = (0.1, 0.3, 1.0, 3.0, 10.0)


def simulate(seed: int) -> tuple[Corpus, Terms, np.ndarray, np.ndarray, dict[str, float]]:
    """Return documents from the model itself, with its terms, true weights [column, topic], topics and scales."""
    rng = np.random.default_rng(seed)
    columns = {
        "genre": rng.choice(["a", "b", "c"], N_DOCUMENTS),
        "x": rng.normal(3, 2, N_DOCUMENTS),
        "year": rng.integers(1900, 2001, N_DOCUMENTS),
        "noise": rng.normal(size=N_DOCUMENTS),
    }
    frame = pd.DataFrame({"text": ["w"] * N_DOCUMENTS, **columns})
    numbers = Corpus.from_frame(frame, labels="genre", numbers=["x", "year", "noise"], token_pattern=r"\w")
    assert numbers.labels is not None
    terms = Terms.fit(FORMULA, numbers.labels, numbers.schema)
    design = terms.fit_columns(numbers.labels, numbers.schema, None)
    groups = np.array(terms.groups_of(design.names))
    scales = {group: float(np.exp(rng.uniform(np.log(0.3), np.log(1.2)))) for group in dict.fromkeys(groups)}
    scales["noise"] = 0.0
    weights = rng.normal(size=(len(groups), N_TOPICS)) * np.array([scales[group] for group in groups])[:, None]
    level = rng.normal(np.log(0.3), 0.3, N_TOPICS)
    alpha = np.exp(design.matrix @ weights + level)
    phi = rng.dirichlet(np.full(N_WORDS, 0.05), N_TOPICS)
    names = np.array([f"w{v:03d}" for v in range(N_WORDS)])
    texts = []
    for own in alpha:
        topics = rng.choice(N_TOPICS, N_TOKENS, p=rng.dirichlet(own))
        texts.append(" ".join(names[rng.choice(N_WORDS, p=phi[k])] for k in topics))
    corpus = Corpus.from_frame(
        frame.assign(text=texts), labels="genre", numbers=["x", "year", "noise"], min_df=1, max_df=1.0
    )
    return corpus, terms, np.vstack([weights, level]), phi, scales


def cover(seed: int) -> list[dict[str, Any]]:
    """Return a row for each interval of one corpus: what it is of, the truth, the estimate, and whether it covers."""
    corpus, terms, weights, phi, scales = simulate(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MetaLDA(N_TOPICS, prevalence=FORMULA, n_iter=1000, random_state=seed, verbose=False).fit(corpus)
        effects = model.label_effects(INTERVAL).set_index(["label", "topic"])
        grid = model.prevalence_at({"year": GRID.tolist()}, INTERVAL).set_index(["year", "topic"])
    words = [int(word[1:]) for word in model.vocabulary_]
    own, true, similarity = match(np.sqrt(model.components_) @ np.sqrt(phi[:, words]).T)
    true_of = {int(k): int(j) for k, j, s in zip(own, true, similarity, strict=True) if s >= 0.9}
    if len(true_of) < N_TOPICS:
        return []  # the topics of a corpus that were not found have no true effects
    names = terms.grid({"year": GRID.tolist()}, model.label_names_).names
    margin = find_margin(terms, model.fitted_.labels, {"year": GRID.tolist()})
    own_weights = weights[[*(names.index(name) for name in model.label_names_), -1]]
    proportions = margin.mean_proportions(own_weights)
    rows = []
    for k, j in true_of.items():
        for label in ("x", "noise"):
            row = effects.loc[(label, k)]
            rows.append(
                _row(f"slope of {label}", weights[names.index(label), j], row["effect"], row["low"], row["high"])
            )
            moved = row[["difference", "difference_low", "difference_high"]]
            if label == "noise":
                rows.append(_row("difference of noise", 0.0, *moved))
        for i, year in enumerate(GRID):
            rows.append(_row("curve", proportions[i, j], *grid.loc[(year, k), ["mean", "low", "high"]]))
    for _, row in model.pooling_.iterrows():
        if scales.get(row["group"]):
            rows.append(_row(f"scale of {row['group']}", scales[row["group"]], row["scale"], row["low"], row["high"]))
    return rows


def _row(kind: str, truth: float, value: float, low: float, high: float) -> dict[str, Any]:
    return {"kind": kind, "truth": truth, "value": value, "covers": low <= truth <= high, "width": high - low}


def coverage(n_corpora: int, n_jobs: int) -> None:
    with ProcessPoolExecutor(n_jobs) as pool:
        found = list(pool.map(cover, range(n_corpora)))
    table = pd.DataFrame([row for rows in found for row in rows])
    print(f"{sum(map(bool, found))} of {n_corpora} corpora with all topics found\n")
    print("| interval | n | bias | rmse | mean absolute value | coverage | width |\n|---|---|---|---|---|---|---|")
    for kind, own in table.groupby("kind"):
        error = own["value"] - own["truth"]
        figures = error.mean(), np.sqrt((error**2).mean()), own["value"].abs().mean()
        shown = " | ".join(f"{figure:.3f}" for figure in figures)
        print(f"| {kind} | {len(own):,} | {shown} | {own['covers'].mean():.1%} | {own['width'].mean():.3f} |")


class Dated(NamedTuple):
    """Documents with labels and a date as a number."""

    frame: pd.DataFrame  # text, labels, date

    def read(self, *, bins: int | None = None) -> Corpus:
        kind: dict[str, Any] = {"numbers": "date"} if bins is None else {"bins": {"date": bins}}
        return Corpus.from_frame(self.frame, text="text", labels="labels", min_df=5, max_df=0.5, **kind)


@lru_cache
def load_arxiv(n_documents: int, text: str) -> Dated:
    """Return arXiv titles or abstracts with their main categories and the month of their identifier."""
    with lzma.open(data_folder() / "arxiv.tsv.xz", "rt", encoding="utf-8") as file:
        table = pd.read_csv(file, sep="\t", quoting=3)
    month = table["id"].astype(str).str.extract(r"(?P<year>\d\d)(?P<month>\d\d)\.?\d+$").astype(float)
    century = np.where(month["year"] > 90, 1900, 2000)
    table["date"] = century + month["year"] + (month["month"] - 1) / 12
    table["labels"] = table["categories"].str.split(",").str[0].str.split(".").str[0]
    table = table[table["date"].notna() & (month["month"] <= 12)]
    chosen = table.sample(n_documents, random_state=0)
    return Dated(chosen.rename(columns={text: "text"})[["text", "labels", "date"]].reset_index(drop=True))


@lru_cache
def load_reuters() -> Dated:
    """Return Reuters articles that have topics, with the day of 1987 on which they appeared."""
    rows = []
    with tarfile.open(data_folder() / "reuters21578.tar.gz") as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            file = archive.extractfile(member) if member.name.endswith(".sgm") else None
            if file is None:
                continue
            for article in file.read().decode("latin-1").split("</REUTERS>"):
                date = re.search(r"<DATE>\s*(\d+-[A-Z]+-\d+)", article)
                topics = re.search(r"<TOPICS>(.*?)</TOPICS>", article)
                body = re.search(r"<BODY>(.*?)</BODY>", article, re.DOTALL)
                labels = re.findall(r"<D>(.*?)</D>", topics[1]) if topics else []
                if date and body and labels:
                    day = datetime.strptime(date[1].title(), "%d-%b-%Y").timetuple().tm_yday
                    rows.append((body[1], labels[0], day))
    return Dated(pd.DataFrame(rows, columns=["text", "labels", "date"]))


def speed(n_documents: int = 30_000) -> None:
    dated = load_arxiv(n_documents, "title")
    print("| titles | topics | date | columns | rows | ms per sweep | times ten bins |\n|---|---|---|---|---|---|---|")
    for n_topics in (50, 200):
        base = None
        for title, formula, corpus in (
            ("ten bins", None, dated.read(bins=10)),
            ("number", None, dated.read()),
            ("s(date)", "labels + s(date)", dated.read()),
            ("s(date, df=15)", "labels + s(date, df=15)", dated.read()),
            ("labels*s(date)", "labels*s(date)", dated.read()),
        ):
            model = MetaLDA(n_topics, prevalence=formula, word_prior=0.01, n_iter=60, random_state=0, verbose=False)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(corpus)
            milliseconds = 1000 * float(np.median(model.history_["seconds"][20:]))
            base = base or milliseconds
            design = model.fitted_.labels
            print(
                f"| {n_documents:,} | {n_topics} | {title} | {len(design.names) - 1} | {design.n_rows:,} | "
                f"{milliseconds:.1f} | {milliseconds / base:.2f} |",
                flush=True,
            )


def dates(n_iter: int, seeds: int) -> None:
    print("| corpus | K | model | seconds | perplexity |\n|---|---|---|---|---|")
    for name, dated, n_topics in (
        ("arXiv abstracts, 10,000", load_arxiv(10_000, "abstract"), 50),
        ("Reuters", load_reuters(), 50),
    ):
        by_number, by_bin = dated.read(), dated.read(bins=10)
        is_test = np.random.default_rng(0).random(len(by_number)) < 0.2
        for title, formula, corpus in (
            ("MetaLDA, labels", "labels", by_number),
            ("MetaLDA, labels + ten bins", None, by_bin),
            ("MetaLDA, labels + s(date)", "labels + s(date)", by_number),
            ("MetaLDA, labels + s(date, df=15)", "labels + s(date, df=15)", by_number),
        ):
            train, test = corpus[~is_test], corpus[is_test]
            seconds, scores = [], []
            for seed in range(seeds):
                model = MetaLDA(n_topics, prevalence=formula, n_iter=n_iter, random_state=seed, verbose=False)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    start = time.perf_counter()
                    model.fit(train)
                    seconds.append(time.perf_counter() - start)
                    scores.append(model.perplexity(test))
            spread = f" ± {np.std(scores, ddof=1):.0f}" if seeds > 1 else ""
            print(f"| {name} | {n_topics} | {title} | {fmean(seconds):.0f} | {fmean(scores):.0f}{spread} |", flush=True)
        _structural(name, dated, by_number, is_test, n_topics)


def _structural(name: str, dated: Dated, corpus: Corpus, is_test: np.ndarray, n_topics: int) -> None:
    """Fit topica's STM with the same formula and split."""
    try:
        import topica
    except ImportError:
        return
    design: Any = topica.design.design_matrix("~ labels + s(date)", dated.frame)
    matrix = np.asarray(design[0] if isinstance(design, tuple) else design, float)
    train, test = corpus[~is_test], corpus[is_test]
    start = time.perf_counter()
    model: Any = topica.STM(n_topics, seed=0).fit(list(train), prevalence=matrix[~is_test])
    seconds = time.perf_counter() - start
    documents = list(test)
    number_of = {word: v for v, word in enumerate(model.vocabulary)}
    known = [[word if word in number_of else None for word in own] for own in documents]  # as in MetaLDA.perplexity
    observed = [[word for word in own[::2] if word is not None] for own in known]
    theta = np.asarray(topica.stm.transform(model, observed, prevalence=matrix[is_test]))
    phi, logs = np.asarray(model.topic_word), []
    for own, shares in zip(known, theta, strict=True):
        logs += [np.log(shares @ phi[:, number_of[word]]) for word in own[1::2] if word is not None]
    score = float(np.exp(-np.mean(logs)))
    print(f"| {name} | {n_topics} | topica's STM, labels + s(date) | {seconds:.0f} | {score:.0f} |", flush=True)


@lru_cache
def load_labeled(name: str) -> tuple[Corpus, Corpus]:
    """Return training and held-out documents with one kind of labels."""
    if name == "Web Snippets":
        return load_ws(data_folder())
    corpus = load_tmn(data_folder()) if name == "Tag My News" else load_reuters().read()
    return corpus.split(test_size=0.2, random_state=0)


def fit_pooled(job: tuple[str, float | None, int, int]) -> float:
    """Return the held-out perplexity of one fit with labels; without mu, their strength is learned."""
    name, mu, seed, n_iter = job
    train, test = load_labeled(name)
    formula = "labels" if name == "Reuters" else None  # which also has a date
    model = MetaLDA(50, mu=mu, prevalence=formula, word_prior=0.01, n_iter=n_iter, random_state=seed, verbose=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(train).perplexity(test)


def pooling(n_iter: int, seeds: int, n_jobs: int) -> None:
    print(f"| corpus | seeds | learned | {' | '.join(f'mu = {mu:g}' for mu in SHAPES)} | best fixed |")
    print(f"|---|{'---|' * 8}")
    with ProcessPoolExecutor(n_jobs) as pool:
        for name in ("Web Snippets", "Tag My News", "Reuters"):
            jobs = [(name, mu, seed, n_iter) for mu in (None, *SHAPES) for seed in range(seeds)]
            scores = np.array(list(pool.map(fit_pooled, jobs))).reshape(-1, seeds)
            means, errors = scores.mean(axis=1), scores.std(axis=1, ddof=1) / np.sqrt(seeds)
            shown = " | ".join(f"{mean:.1f} ± {error:.1f}" for mean, error in zip(means, errors, strict=True))
            print(f"| {name} | {seeds} | {shown} | {means[0] / means[1:].min() - 1:+.1%} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["coverage", "speed", "dates", "pooling"])
    parser.add_argument("--corpora", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    if given.part == "coverage":
        coverage(given.corpora, given.jobs)
    elif given.part == "speed":
        speed()
    elif given.part == "pooling":
        pooling(given.iterations, max(given.seeds, 2), given.jobs)
    else:
        dates(given.iterations, given.seeds)


if __name__ == "__main__":
    main()
