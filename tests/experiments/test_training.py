"""The corpora of the experiments."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from metalda.experiments.training import VECTORS, load_material


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Twelve documents of both corpora, and vectors of some of their words."""
    vectors = "".join(f"{word} 1 -1\n" for word in ("would", "rally", "fall", "doing", "jane", "john"))
    (tmp_path / VECTORS).write_bytes(gzip.compress(vectors.encode()))
    stories = ""
    for i in range(12):
        text = f"Doing so would {'rally' if i % 2 else 'fall'} unknowable"
        stories += f'<REUTERS NEWID="{i + 1}"><TOPICS><D>earn</D></TOPICS><TEXT>{text}</TEXT></REUTERS>\n'
        post = tmp_path / "20news-bydate-train" / "sci.med" / str(i)
        post.parent.mkdir(parents=True, exist_ok=True)
        header, signature = ("From: Jane", "Bob") if i % 2 else ("From: Bob", "John")
        post.write_text(f"{header}\n\n{text if i else 'rally'}\n--\n{signature}\n")
    (tmp_path / "reut2-000.sgm").write_text(stories.replace("would", "", 1))
    load_material.cache_clear()
    yield tmp_path
    load_material.cache_clear()


@pytest.mark.parametrize("dataset", ["reuters", "20ng"])
def test_corpora_are_preprocessed_as_nearly_to_the_paper_as_known(folder: Path, dataset: str) -> None:
    """The 127 stop words of NLTK, no headers and signatures, and no words without a vector."""
    corpus = load_material(dataset, folder).corpus
    assert corpus.vocabulary == ("fall", "rally", "would")
    assert corpus.n_tokens == 23
