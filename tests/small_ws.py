"""A very small Web Snippets, in the files of the real one, with word vectors and a corpus of reference beside it."""

import gzip
import lzma
from pathlib import Path

from contracts import PETS, SKIES

WORDS = sorted({word for text in PETS + SKIES for word in text.split()})


def write_small_ws(folder: Path) -> Path:
    """Make the folder, as METALDA_DATA would name it."""
    (folder / "WS").mkdir(parents=True)
    labeled = [("pets", text) for text in PETS] + [("sky", text) for text in SKIES]
    lines = [f"{i}\t{label}\t{text}\n" for i, (label, text) in enumerate(labeled)]
    (folder / "WS" / "train_doc.txt").write_text("".join(lines * 3))
    (folder / "WS" / "test_doc.txt").write_text("".join(lines))
    (folder / "WS" / "binary_embeddings.txt").write_text("".join(f"{word}\t{len(word) % 3}\n" for word in WORDS))
    with gzip.open(folder / "glove.6B.100d.subset.txt.gz", "wt") as file:
        file.writelines(f"{word} {len(word) % 5 - 2} {ord(word[0]) % 7 - 3} 0.5\n" for word in WORDS)
    with lzma.open(folder / "wikipedia-sample.tsv.xz", "wt") as file:
        file.writelines(f"{i}\ttitle\t{text}\n" for i, text in enumerate(PETS + SKIES))
    return folder
