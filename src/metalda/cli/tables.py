"""The output of commands: tables, JSON, CSV, and lines that describe a corpus or a model."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from metalda.cli.layout import Cell, Fragment, bar, cell_of, fits, record_lines, spans, table_lines, text_of
from metalda.cli.options import Format
from metalda.utils.csv_writer import write_csv
from metalda.utils.terminal import clean, short

if TYPE_CHECKING:
    import pandas as pd

    from metalda.corpus import Corpus
    from metalda.meta import WordFeatures
    from metalda.models.base import TopicModel
    from metalda.models.fitted import Parameters
    from metalda.utils.table import Table

BAR = ""  # the title of a column of bars
_WIDE = 80  # narrower windows have no bars
_MOST_PAIRS = 5  # of similar topics


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[str | Cell]], *, left: Iterable[str] = (), turn: bool = False
) -> None:
    """Print aligned text that fits the terminal: the last column wraps, others are right-aligned unless in `left`.

    On a terminal the cells have their styles, and a table that is wider than the window is printed as records; with
    `turn`, a table of figures, its rows become columns first. Control characters are escaped here, whatever the cells
    contain.
    """
    header, cells = [clean(name) for name in header], [[cell_of(cell) for cell in row] for row in rows]
    aligned, columns = set(map(clean, left)), terminal_columns()
    if not on_terminal():
        for line in table_lines(header, cells, aligned, columns):
            print(text_of(line))
        return
    from metalda.cli.colors import print_lines

    if turn and not fits(header, cells, columns):
        first, *cells = map(list, zip(*([Cell(name) for name in header], *cells), strict=True))
        header = [cell.text for cell in first]
        aligned = {header[0]}
    is_wide = fits(header, cells, columns)
    print_lines(table_lines(header, cells, aligned, columns) if is_wide else record_lines(header, cells, columns))


def on_terminal() -> bool:
    """Return whether the output is a terminal, which shows styles."""
    return sys.stdout.isatty()


def terminal_columns() -> int:
    """Return the width of the window, or 100 without one."""
    return shutil.get_terminal_size((100, 24)).columns


def print_heading(before: str, cell: Cell) -> None:
    """Print a line above a table, and an empty line. Both texts contain no control characters."""
    if not on_terminal():
        print(f"{before}{cell.text}\n")
        return
    from metalda.cli.colors import print_lines

    print_lines([[Fragment(before), *spans(cell)], []])


def sign_style(value: float, low: float, high: float) -> str:
    """Return the style of an effect: its sign, unless its interval contains 0."""
    if low <= 0 <= high:
        return "uncertain"
    return "raises" if value > 0 else "lowers" if value < 0 else ""


def print_json(value: object) -> None:
    """Print indented JSON without NaN and without control characters."""
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=2)
    print(json_safe(text))


def json_safe(text: str) -> str:
    """Escape the control characters that JSON allows inside strings."""
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def plain(value: object) -> object:
    """Convert a value to the types of JSON; NaN and infinity become null."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_csv(header: Sequence[str], rows: Iterable[Sequence[object]], *, raw: bool = False) -> None:
    """Print CSV. Control characters are escaped and formulas guarded, unless raw; on a terminal always escaped."""
    escape = _encodable if raw and not sys.stdout.isatty() else clean
    cells = ([_escaped(value, escape) for value in row] for row in rows)
    write_csv(sys.stdout, [escape(name) for name in header], cells, raw=raw)


def print_records(records: Sequence[Mapping[str, object]], *, raw: bool = False) -> None:
    """Print records with the same fields as CSV."""
    print_csv(list(records[0]), (list(record.values()) for record in records), raw=raw)


def print_frame(frame: pd.DataFrame | Table, *, raw: bool = False) -> None:
    """Print a DataFrame as CSV."""
    print_csv(list(frame.columns), frame.to_numpy(object), raw=raw)


def print_as(
    format: Format, frame: pd.DataFrame | Table, show: Callable[[], None], *, raw: bool = False, value: object = None
) -> None:
    """Print a frame as JSON or CSV, or call `show`, which prints a table; JSON of another value if it is given."""
    if format is Format.json:
        print_json(frame.to_dict("records") if value is None else value)
    elif format is Format.csv:
        print_frame(frame, raw=raw)
    else:
        show()


def _escaped(value: object, escape: Callable[[str], str]) -> object:
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    return escape(value) if isinstance(value, str) else value


def _encodable(text: str) -> str:
    """Return the text, or with escapes if it contains half of a surrogate pair, which cannot be written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return clean(text)
    return text


def count(n: int, noun: str) -> str:
    """Return ``1 document`` or ``2 documents``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def corpus_line(name: str, corpus: Corpus) -> str:
    """Return a line with the size of a corpus."""
    sizes = [
        count(len(corpus), "document"),
        count(corpus.n_tokens, "token"),
        count(len(corpus.vocabulary), "distinct word"),
    ]
    if corpus.labels is not None:
        sizes.append(count(len(corpus.label_names), "label"))
    return f"{name}: {', '.join(sizes)}"


def print_input(data: Path, corpus: Corpus, found: Parameters) -> None:
    """Print the size of a corpus, and how many of its words have features or vectors."""
    print(clean(corpus_line(data.name, corpus)))
    if "word_features" in found:
        print(coverage_line(found["word_features"], corpus.vocabulary))
    elif "embeddings" in found:
        print(f"Word vectors cover {found['embeddings'].coverage(corpus.vocabulary):.1%} of the vocabulary")
    sys.stdout.flush()  # training may take a while


def coverage_line(features: WordFeatures, vocabulary: Sequence[str]) -> str:
    """Return a line with the number of features and the share of words that have some."""
    n_features = count(len(features.features.names), "word feature")
    return f"{n_features}; {features.coverage(vocabulary):.1%} of the vocabulary has at least one"


def top_words(model: TopicModel, topic: int, top_n: int) -> list[str]:
    """Return the most probable words of a topic."""
    return list(model._topic_words(topic, top_n)["word"])


def describe_topic(model: TopicModel, topic: int, top_n: int) -> Cell:
    """Return the most probable words of a topic as a cell of a table, after its name if it has one."""
    fitted = model.fitted_
    name = fitted.topic_names[fitted.find_topic(topic)] if fitted.topic_names else None
    return with_name(name, topic_cell(model, topic, top_n))


def topic_cell(model: TopicModel, topic: int, top_n: int) -> str:
    """Return the most probable words of a topic as a cell of a table; those of a background topic are arbitrary."""
    from metalda.models.fitted import BACKGROUND

    is_background = model.fitted_.is_background[model.fitted_.find_topic(topic)]
    return BACKGROUND if is_background else joined(top_words(model, topic, top_n))


def with_name(name: str | None, words: str) -> Cell:
    """Return the words of a topic after its name, if it has one."""
    return Cell(f"{short(name)}: {words}", "name", len(short(name))) if name else Cell(words)


def joined(words: str | Iterable[str]) -> str:
    """Return the words of a topic as a cell of a table."""
    return clean(words) if isinstance(words, str) else ", ".join(map(short, words))


def print_topics(model: TopicModel, top_n: int, words_by: str = "probability") -> None:
    """Print all topics, the largest first and background topics last, with their names or labels if they have them."""
    import numpy as np

    from metalda.models.fitted import BACKGROUND

    table = model._topics(top_n, words_by)
    table = table.take(np.lexsort((-np.asarray(table["share"]), table["background"])))
    columns: list[tuple[str, Iterable[str | Cell]]] = [
        ("topic", map(str, table["topic"])),
        ("share", (f"{share:.1%}" for share in table["share"])),
    ]
    if shows_bars():
        columns.append((BAR, bars(table["share"])))
    columns += [(kind, named(table[kind])) for kind in ("name", "label") if kind in table]
    if "chains" in table:
        columns.append(("chains", chain_cells(model, table["chains"])))
    if "merged" in table:
        columns.append(("merged", [", ".join(map(str, parts)) for parts in table["merged"]]))
    rows = zip(table["background"], table["words"], strict=True)
    words = (BACKGROUND if is_background else joined(own) for is_background, own in rows)
    names, cells = zip(*columns, ("words", words), strict=True)
    print_table(names, list(zip(*cells, strict=True)), left=(BAR, "name", "label"))
    print_notes(model)
    print_similar(model, " (metalda correlations)")


def shows_bars() -> bool:
    """Return whether the output is a terminal that is wide enough for bars and has their characters."""
    if not on_terminal() or terminal_columns() < _WIDE:
        return False
    try:
        bar(0.99, 1).text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def bars(shares: Iterable[float]) -> list[Cell]:
    """Return a bar for each share, as cells of the column `BAR`; it is empty for a share that is NaN."""
    known = [share if math.isfinite(share) else 0.0 for share in shares]
    return [bar(share, max(known)) for share in known]


def named(names: Iterable[str]) -> list[Cell]:
    """Return names as cells of a table; they are bold on a terminal."""
    return [Cell(short(name), "name") for name in names]


def print_similar(model: TopicModel, see: str = "") -> None:
    """Print below a table which topics have nearly the same words, if there are some."""
    pairs = model._similar_topics().to_dict("records")
    if not pairs:
        return
    shown = [f"{row['topic']} and {row['other_topic']}" for row in pairs[:_MOST_PAIRS]]
    more = f", and {len(pairs) - _MOST_PAIRS:,} more pairs" if len(pairs) > _MOST_PAIRS else ""
    print(f"\nTopics with nearly the same words: {', '.join(shown)}{more}{see}.", end=" ")
    print("To avoid them, fit fewer topics, or merge them (metalda curate).")


def print_hidden(model: TopicModel) -> None:
    """Print below a table how many topics are hidden, and their share, if there are some."""
    if n_hidden := len(model.fitted_.curation.hidden):
        verb = "is" if n_hidden == 1 else "are"
        print(f"\n{count(n_hidden, 'topic')} {verb} hidden, with {model.fitted_.hidden_share:.1%} of the tokens.")


def chain_cells(model: TopicModel, counts: Iterable[int]) -> list[str]:
    """Return for topics in how many of the chains they were found, as cells of a table."""
    n_chains = len(model.chains_)
    return [f"{n} of {n_chains}" + (", not matched" if n == 1 else "") for n in counts]


def print_notes(model: TopicModel) -> None:
    """Print below a table of topics how many are hidden, and what the number of chains of a topic means."""
    fitted = model.fitted_
    print_hidden(model)
    if not fitted.chains:
        return
    n_chains = len(fitted.chains)
    in_all, alone = ((fitted.chain_counts == n).sum() for n in (n_chains, 1))
    print(
        f"\nOf {count(fitted.n_topics, 'topic')}, {in_all:,} were found in all {n_chains} chains and {alone:,} in one "
        "only (not matched). A topic that other chains lack depends on the seed."
    )
