"""Saved folders with one value changed: they work, or one line says what is wrong; nothing crashes or hangs."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from tests.fuzz import saved
from tests.fuzz.worker import Worker

from marks import slow_after_first
from metalda.corpus.parts import PartWriter, read_parts
from metalda.corpus.readers import Document
from metalda.corpus.schema import Schema
from metalda.errors import StorageError
from metalda.storage import read_folder, write_folder

# Before loaded values were checked, these crashed, hung, ended in a traceback, or read memory that was not theirs.
BROKE = [
    ("model-DMR", "array", "draws.count_starts", "million"),
    ("model-MetaLDA", "array", "draws.count_starts", "wrapped"),
    ("model-PTM", "array", "draws.count_starts", "noise"),
    ("model-MetaLDA", "array", "labels.labels", "million"),
    ("model-MetaLDA", "array", "labels.starts", "million"),
    ("model-MetaLDA", "array", "labels.row_of", "million"),
    ("model-LabeledLDA", "json", '["label_names"]', "longer"),
    ("model-MetaLDA", "json", '["label_names"]', "shorter"),
    ("model-MetaLDA", "json", '["feature_names", 0]', "missing"),
    ("model-MetaLDA", "json", '["model"]', "empty list"),
    ("model-MetaLDA", "json", '["seed"]', "string"),
    ("model-MetaLDA", "json", '["n_iter"]', "string"),
    ("model-LFLDA", "array", "history.log_likelihood", "longer"),
    ("model-DMR", "array", "doc_topics", "nan"),
    ("model-MetaLDA-seeds", "json", '["feature_names"]', "shorter"),
    ("model-MetaLDA-seeds", "json", '["parameters", "seeds"]', "string"),
    ("model-MetaLDA-seeds", "json", '["parameters", "seeds", "sky"]', "empty list"),
    ("model-MetaLDA-seeds", "json", '["parameters", "seeds", "sky", 0]', "large"),
    ("model-MetaLDA-seeds", "json", '["parameters", "seed_weight"]', "zero"),
    ("model-MetaLDA-chains", "array", "chain1.draws.count_starts", "million"),
    ("model-MetaLDA-chains", "array", "chain1.doc_topics", "nan"),
    ("model-MetaLDA-chains", "array", "chain1.doc_topics", "narrower"),
    ("model-MetaLDA-chains", "array", "chain1.weights.label", "narrower"),
    ("model-MetaLDA-chains", "array", "chain1.weights.feature", "missing"),
    ("model-MetaLDA-chains", "array", "chain1.history.log_likelihood", "longer"),
    ("model-MetaLDA-chains", "json", '["chains"]', "empty list"),
    ("model-MetaLDA-chains", "json", '["chains"]', "longer"),
    ("model-MetaLDA-chains", "json", '["chains", 0]', "string"),
    ("model-MetaLDA-chains", "json", '["chains", 0, "seed"]', "string"),
    ("model-MetaLDA-chains", "json", '["parameters", "n_chains"]', "zero"),
    ("model-MetaLDA-chains", "json", '["parameters", "n_chains"]', "large"),
    ("checkpoint-MetaLDA-chains", "array", "chain1.trace", "shorter"),
    ("checkpoint-MetaLDA-chains", "array", "chain1.log_doc_weights", "nan"),
    ("checkpoint-MetaLDA-chains", "json", '["chains"]', "missing"),
    ("checkpoint-MetaLDA", "array", "log_doc_weights", "nan"),
    ("checkpoint-MetaLDA", "array", "log_word_weights", "all nan"),
    ("checkpoint-MetaLDA", "array", "log_word_weights", "narrower"),
    ("checkpoint-PTM", "array", "assignment.pseudo_documents", "million"),
    ("checkpoint-MetaLDA", "json", '["generators", 0, "has_uint32"]', "large"),
    ("checkpoint-MetaLDA", "json", '["identity", "parameters"]', "empty list"),
    ("model-MetaLDA-wording", "array", "draws.group_count_starts", "million"),
    ("model-MetaLDA-wording", "array", "draws.group_count_topics", "missing"),
    ("model-MetaLDA-wording", "array", "draws.extra.concentrations", "nan"),
    ("model-MetaLDA-wording", "json", '["wording"]', "longer"),
    ("model-MetaLDA-wording", "json", '["wording"]', "missing"),
    ("checkpoint-MetaLDA-wording", "array", "assignment.table_counts", "million"),
    ("checkpoint-MetaLDA-wording", "array", "assignment.table_sizes", "noise"),
    ("checkpoint-MetaLDA-wording", "array", "assignment.concentrations", "nan"),
    ("model-MetaLDA-curated", "json", '["curation"]', "empty object"),
    ("model-MetaLDA-curated", "json", '["curation", "names"]', "object"),
    ("model-MetaLDA-curated", "json", '["curation", "names"]', "repeated"),
    ("model-MetaLDA-curated", "json", '["curation", "merged"]', "repeated"),
    ("model-MetaLDA-curated", "json", '["curation", "merged", 0]', "reversed"),
    ("model-MetaLDA-curated", "json", '["curation", "merged", 0, 0]', "large"),
    ("model-MetaLDA-curated", "json", '["curation", "hidden"]', "repeated"),
    ("model-MetaLDA-curated", "json", '["curation", "hidden", 0]', "true"),
    ("corpus-prepared", "array", "label_rows", "million"),
    ("corpus-prepared", "array", "label_columns", "million"),
    ("corpus-prepared", "array", "offsets", "wrapped"),
    ("corpus-prepared", "array", "id_bytes", "noise"),
    ("corpus-prepared", "array", "text_offsets", "million"),
    ("corpus-prepared", "array", "text_offsets", "shorter"),
    ("corpus-prepared", "array", "text_bytes", "noise"),
    ("corpus-prepared", "json", '["labels", 0]', "missing"),
]


@pytest.mark.parametrize("n_others", slow_after_first([40, 150]))
def test_what_broke_before_is_refused_and_other_changes_too_or_they_work(n_others: int) -> None:
    """In one child, since it takes seconds to start."""
    every_save = [save for saves in saved.SAVES.values() for save in saves]
    jobs = random.Random(1).sample([job for save in every_save for job in saved.jobs_of(save)], n_others)
    with Worker(patience=600) as worker:
        outcomes = {job: worker.run(saved.case_of(job, seed=1)) for job in sorted({*jobs, *BROKE})}
    assert {" ".join(job): outcome for job, outcome in outcomes.items() if outcome.is_finding} == {}
    assert {" ".join(job): outcomes[job] for job in BROKE if outcomes[job].result != "refused"} == {}


def test_an_array_that_is_not_aligned_is_copied(tmp_path: Path) -> None:
    """The header of a .npy file may have any length."""
    write_folder(tmp_path / "m", "thing", {}, {"x": np.arange(5.0)}, layout="npy")
    (file,) = (tmp_path / "m").glob("*.npy")
    data = file.read_bytes()
    header = data[:-40].replace(b" \n", b"\n")
    header = header[:8] + (len(header) - 10).to_bytes(2, "little") + header[10:]
    file.write_bytes(header + data[-40:])
    manifest = tmp_path / "m" / "thing.json"
    content = json.loads(manifest.read_text())
    content["files"][file.name]["bytes"] = file.stat().st_size
    manifest.write_text(json.dumps(content))
    array = read_folder(tmp_path / "m", "thing", mmap=True)[1]["x"]
    assert array.flags.aligned
    np.testing.assert_array_equal(array, np.arange(5.0))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("label_offsets", 10**6),
        ("label_columns", 7),
        ("words", -1),
        ("offsets", 10**6),
        ("totals", -1),
        ("text_offsets", 10**6),
    ],
)
def test_a_damaged_part_of_an_interrupted_preparation_is_refused(name: str, value: int, tmp_path: Path) -> None:
    documents = [Document("cat dog cat", ["pets"]), Document("rain sun", ["sky"])]
    PartWriter(tmp_path, Schema(), texts=True, source="texts")(0, documents, True)
    (part,) = (path for path in tmp_path.iterdir() if path.is_dir())
    document, arrays = read_folder(part, "part")
    assert len(next(read_parts(tmp_path, 1))) == 2
    arrays[name][1] = value
    write_folder(part, "part", document, arrays)
    shown = "offsets of its texts" if name == "text_offsets" else name
    with pytest.raises(StorageError, match=f"{shown} .*--restart"):
        next(read_parts(tmp_path, 1))
