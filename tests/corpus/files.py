"""Files of every format, for the tests of reading."""

import bz2
import csv
import gzip
import io
import json
import lzma

import numpy as np
import pandas as pd
import pytest

from metalda.corpus import Corpus
from metalda.errors import InputError

COMPRESSORS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
ROWS = [
    {"id": "d1", "text": 'Rain, "heavy" rain\nand wind', "tags": "weather"},
    {"id": "d2", "text": "Über den Wolken", "tags": ""},
    {"id": "d3", "text": "", "tags": "sport"},
]
EXPECTED = [["rain", "heavy", "rain", "and", "wind"], ["über", "den", "wolken"], []]


def as_jsonl() -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode()


def as_table(delimiter: str, line_end: str = "\n") -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(ROWS[0]), delimiter=delimiter, lineterminator=line_end)
    writer.writeheader()
    writer.writerows(ROWS)
    return out.getvalue().encode()


def as_parquet() -> bytes:
    out = io.BytesIO()
    pd.DataFrame(ROWS).to_parquet(out)
    return out.getvalue()


FILES = {
    ".jsonl": as_jsonl,
    ".ndjson": as_jsonl,
    ".json": as_jsonl,
    ".csv": lambda: as_table(","),
    ".tsv": lambda: as_table("\t"),
    ".tab": lambda: as_table("\t"),
    ".parquet": as_parquet,
    ".pq": as_parquet,
}


def sets(corpus: Corpus) -> list[set[str]]:
    return [{corpus.label_names[j] for j in np.flatnonzero(row)} for row in corpus.labels.matrix.toarray()]


def write(path, data: bytes | str):
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def error_of(path, **keywords) -> str:
    with pytest.raises(InputError) as error:
        Corpus.read(path, **keywords)
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))
