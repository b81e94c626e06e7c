"""A corpus of six themes, and a model that finds them."""

import random
from functools import cache

from metalda import LDA

THEMES = {
    "sport": "goal match team player coach league season striker defender stadium",
    "food": "bread butter cheese oven recipe salt pepper soup garlic onion",
    "space": "planet orbit rocket moon star telescope galaxy comet astronaut launch",
    "music": "guitar melody singer drum concert album chorus piano violin rhythm",
    "law": "court judge lawyer trial verdict appeal jury witness crime sentence",
    "sea": "ship harbor sailor wave anchor captain tide boat coast island",
}
THEME_OF = {word: theme for theme, words in THEMES.items() for word in words.split()}


def themed_texts(n: int = 120) -> list[str]:
    """Texts of three themes each: 20 words of the first, 12 of the second, 8 of the third."""
    rng = random.Random(0)
    texts = []
    for _ in range(n):
        chosen = rng.sample(list(THEMES), 3)
        sizes = zip(chosen, (20, 12, 8), strict=True)
        words = [word for theme, k in sizes for word in rng.choices(THEMES[theme].split(), k=k)]
        rng.shuffle(words)
        texts.append(f"The {' and the '.join(words)}. End!")
    return texts


@cache
def themed_model() -> LDA:
    """A model whose topics are the themes; tests must not change it."""
    return LDA(6, n_iter=60, n_draws=5, random_state=0, verbose=False).fit(themed_texts())
