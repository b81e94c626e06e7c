"""What notebooks show of a corpus is small, and never runs."""

from hostile import HOSTILE, SAFE, Page
from metalda import Corpus


def test_the_first_documents_are_shown_with_labels_and_ids() -> None:
    corpus = Corpus.from_tokens([["cat", "dog"]] * 7, [["pets", "home"]] * 7, ids=[f"n{i}" for i in range(7)])
    shown = Page(corpus._repr_html_()).text
    assert shown.startswith("Corpus: 7 documents, 14 tokens, 2 words, 2 labels")
    assert shown.count("cat dog") == shown.count("home, pets") == 5
    assert "n4" in shown
    assert "n5" not in shown
    assert "… and 2 more" in shown


def test_hostile_words_labels_and_ids_are_text() -> None:
    corpus = Corpus.from_tokens([[word] for word in HOSTILE], labels=HOSTILE, ids=HOSTILE)
    page = corpus._repr_html_()
    assert Page(page).tags <= SAFE
    assert all(Page(page).text.count(word) == 3 for word in HOSTILE[:4])
    assert len(page) < 5_000
