"""A corpus that means harm: whatever a report shows of it must stay text."""

import metalda
from metalda import Corpus, MetaLDA

PWN = "window.__pwned=1"
WORDS = [
    f"<script>{PWN}</script>",
    f"</script><script>{PWN}</script>",
    f"<img src=x onerror={PWN}>",
    f'"><svg onload={PWN}>',
    f"';{PWN};//",
    "<!--",
    "]]>",
    "${" + PWN + "}",
    "{{" + PWN + "}}",
    f'<a href="javascript:{PWN}">click</a>',
    "<b>bold</b>",
    "&lt;b&gt;",
    "$\\alpha$",
    "%{x}",
    "\u202eright-to-left\u202c",
    "שלום",
    "\u200f",
    "👩‍👩‍👧‍👦",
    "line\u2028separator",
    "nul\x00and\x1b[31mcontrol",
    "constructor",
    "__proto__",
    "javascript:alert(1)",
    "long" * 250_000,  # a megabyte
]


def hostile_corpus() -> Corpus:
    """Every word in several documents, one of them very long; labels and names of the same kind."""
    documents = [WORDS[i:] + WORDS[: i // 2] for i in range(len(WORDS))] + [WORDS * 100]
    labels = [[WORDS[i % len(WORDS)], WORDS[(i + 1) % 7]] for i in range(len(documents))]
    names = [f"{WORDS[i % len(WORDS)]}\ud800{i}" for i in range(len(documents))]  # half of a pair is no letter
    return Corpus.from_tokens(documents, labels, names)


def hostile_model(corpus: Corpus) -> metalda.MetaLDA:
    features = {word: WORDS[i % 5] for i, word in enumerate(WORDS)}
    settings = {"n_iter": 20, "thin": 2, "n_draws": 4, "random_state": 0, "verbose": False}
    return MetaLDA(4, word_features=features, **settings).fit(corpus)
