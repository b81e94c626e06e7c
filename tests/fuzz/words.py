"""Files of words: vectors, word features, stop words, and the state of a model trained by Mallet."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz import mutations
from tests.fuzz.cases import Case, Kind, Violation, refusing
from tests.fuzz.inputs import COMPRESSORS, WORDS

Made = tuple[dict[str, bytes], dict[str, Any]]


def kinds() -> list[Kind]:
    return [
        Kind("vectors", make_vectors, check_vectors, prepare),
        Kind("word-features", make_features, check_features, prepare),
        Kind("stop-words", make_stop_words, check_stop_words, prepare),
        Kind("mallet", make_mallet, check_mallet, prepare),
    ]


def prepare() -> None:
    """Load and compile what the checks use."""
    import metalda

    Path("state").write_text(_state([[("cat", 0)], [("dog", 1)]], [0.1, 0.1], 0.01))
    metalda.read_mallet_state("state")


def _finish(name: str, data: bytes, expected: Any, rng: random.Random, others: dict[str, bytes] | None = None) -> Made:
    """Mutate and compress the file, or leave it whole; then the expected content is compared."""
    files = {name: data, **(others or {})}
    if rng.random() < 0.7:
        changed = rng.choice(sorted(files))
        files[changed] = mutations.mutate(files[changed], rng)
        expected = None
    if rng.random() < 0.2 and not name.endswith(".npy"):
        suffix, compress = rng.choice(list(COMPRESSORS.items()))
        files[name + suffix] = compress(files.pop(name))
        name += suffix
        if rng.random() < 0.3:
            files[name], expected = mutations.mutate(files[name], rng), None
    return files, {"path": name, "expected": expected}


def _words(rng: random.Random) -> list[str]:
    words = rng.sample(WORDS, rng.randrange(1, len(WORDS)))
    if rng.random() < 0.2:
        words += {name for name in mutations.NAMES[:-2] if name.strip() == name and name and len(name.split()) == 1}
    return [word for word in words if not set(word) & set(' \t\n\r\0"\ufeff\x85\x1c\u2028')]


def make_vectors(rng: random.Random) -> Made:
    words = _words(rng)
    n = rng.choice((1, 2, 5, 50))
    vectors = [[round(rng.uniform(-2, 2), 3) for _ in range(n)] for _ in words]
    form = rng.choice(("glove", "word2vec", "word2vec-binary", "npy"))
    others = {}
    if form == "npy":
        out = io.BytesIO()
        np.save(out, np.array(vectors, dtype=rng.choice((np.float32, np.float64))))
        data, others = out.getvalue(), {"words.txt": "\n".join(words).encode()}
    elif form == "word2vec-binary":
        rows = [word.encode() + b" " + np.array(row, "<f4").tobytes() for word, row in zip(words, vectors, strict=True)]
        data = f"{len(words)} {n}\n".encode() + rng.choice((b"", b"\n")).join(rows)
    else:
        lines = [" ".join([word, *map(str, row)]) for word, row in zip(words, vectors, strict=True)]
        data = "\n".join([f"{len(words)} {n}"] * (form == "word2vec") + lines).encode()
    suffix = {"npy": ".npy", "word2vec-binary": ".bin"}.get(form, ".txt")
    files, options = _finish(f"vectors{suffix}", data, [words, vectors], rng, others)
    options["words"] = "words.txt" if others else None
    options["format"] = form if n < 2 or rng.random() < 0.3 else None
    options["vocabulary"] = rng.choice((None, None, ["cat", "dog"], words[:2]))
    return files, options


def check_vectors(case: Case) -> str:
    from metalda import Embeddings

    options = case.options
    names = ("words", "format", "vocabulary")
    outcome, found = refusing(
        lambda: Embeddings.read(options["path"], **{name: options[name] for name in names if options[name] is not None})
    )
    if outcome == "refused":
        wanted = options["vocabulary"]
        if options["expected"] and (wanted is None or set(wanted) & set(options["expected"][0])):
            raise Violation("refused valid", found)
        return outcome
    found.binarize()
    if not np.isfinite(found.vectors).all():
        raise Violation("not finite", repr(found))
    if options["expected"]:
        words, vectors = options["expected"]
        wanted = words if options["vocabulary"] is None else options["vocabulary"]
        expected = {word: row for word, row in zip(words, vectors, strict=True) if word in wanted}
        if list(found.words) != list(expected):
            raise Violation("words changed", f"{list(found.words)} instead of {list(expected)}")
        if not np.array_equal(found.vectors, np.array(list(expected.values()), np.float32)):
            raise Violation("vectors changed", repr(found.vectors))
    return outcome


def make_features(rng: random.Random) -> Made:
    words = _words(rng)
    features = {word: sorted(rng.sample(range(5), rng.randrange(4))) for word in words}
    suffix = rng.choice((".txt", ".csv", ".tsv", ""))
    if suffix in (".csv", ".tsv"):
        comma = "," if suffix == ".csv" else "\t"
        features = {word: own for word, own in features.items() if comma not in word}
        rows = [comma.join([word, *("1" if j in own else "0" for j in range(5))]) for word, own in features.items()]
        data = "\n".join([comma.join(["word", *"01234"]), *rows])
    else:
        data = "\n".join(f"{word}\t{' '.join(map(str, own))}" for word, own in features.items())
    expected = {word: [str(j) for j in own] for word, own in features.items()} or None
    return _finish(f"features{suffix}", data.encode(), expected, rng)


def check_features(case: Case) -> str:
    from metalda import WordFeatures

    outcome, found = refusing(lambda: WordFeatures.read(case.options["path"]))
    expected = case.options["expected"]
    if outcome == "refused":
        if expected:
            raise Violation("refused valid", found)
        return outcome
    matrix = found.features.matrix
    rows = [matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]] for i in range(len(found.words))]
    actual = {word: sorted(found.features.names[j] for j in row) for word, row in zip(found.words, rows, strict=True)}
    if expected and actual != expected:
        raise Violation("features changed", f"{actual} instead of {expected}")
    return outcome


def make_stop_words(rng: random.Random) -> Made:
    words = _words(rng)
    end = rng.choice(("\n", "\r\n"))
    return _finish("stop.txt", end.join(words).encode(), words, rng)


def check_stop_words(case: Case) -> str:
    from metalda.cli.data import ReadingOptions

    Path("data.txt").write_text("\n".join([" ".join(WORDS), "unique"]), encoding="utf-8")
    stop = [case.options["path"]]
    outcome, corpus = refusing(lambda: ReadingOptions(stop_words=stop).read(Path("data.txt"), verbose=False))
    if outcome == "refused" and case.options["expected"]:
        raise Violation("refused valid", corpus)
    if outcome == "accepted" and case.options["expected"]:
        left = {word.lower() for word in case.options["expected"]} & set(corpus.vocabulary)
        if left or "unique" not in corpus.vocabulary:
            raise Violation("stop words kept", f"{sorted(left)} of {corpus.vocabulary}")
    return outcome


def _state(documents: list[list[tuple[str, int]]], alpha: list[float], beta: float) -> str:
    number = {word: j for j, word in enumerate(sorted({word for document in documents for word, _ in document}))}
    lines = [f"{d} NA {i} {number[w]} {w} {k}" for d, own in enumerate(documents) for i, (w, k) in enumerate(own)]
    start = ["#doc source pos typeindex type topic", f"#alpha : {' '.join(map(str, alpha))}", f"#beta : {beta}"]
    return "\n".join([*start, *lines])


def make_mallet(rng: random.Random) -> Made:
    words = _words(rng)
    n_topics = rng.choice((1, 2, 5))
    documents = [[(rng.choice(words), rng.randrange(n_topics)) for _ in range(rng.randrange(1, 9))] for _ in range(5)]
    alpha = [rng.choice((0.1, 5.0, 1e-300, 1e300)) if rng.random() < 0.1 else 0.1 for _ in range(n_topics)]
    data = _state(documents, alpha, rng.choice((0.01, 0.01, 0.01, 1e-300, 1e300))).encode()
    expected = [[word for word, _ in document] for document in documents]
    return _finish("state.txt", data, expected if "1e" not in repr(data) else None, rng)


def check_mallet(case: Case) -> str:
    import metalda

    outcome, found = refusing(lambda: metalda.read_mallet_state(case.options["path"]))
    if outcome == "refused":
        if case.options["expected"]:
            raise Violation("refused valid", found)
        return outcome
    model, corpus = found
    if case.options["expected"] and list(corpus) != case.options["expected"]:
        raise Violation("text changed", f"{list(corpus)}")
    model.save("model")
    loaded = metalda.load("model")
    for name in ("components_", "doc_topics_"):
        if not np.isfinite(getattr(loaded, name)).all():
            raise Violation("not finite", name)
    if not np.isfinite(loaded.transform(corpus)).all():
        raise Violation("not finite", "transform")
    return outcome
