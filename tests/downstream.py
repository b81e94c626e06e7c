"""Code of somebody who uses metalda, for mypy alone: it checks that the types of the package reach them."""

from typing import assert_type

from metalda import Corpus, Embeddings, MetaLDA, load
from metalda.models.base import TopicModel

corpus = assert_type(Corpus.from_texts(["a cat", "a dog"], ["pets", None]), Corpus)
train, test = corpus.split(test_size=0.5, random_state=0)
model = assert_type(MetaLDA(2, random_state=0).fit(train), MetaLDA)
assert_type(model.perplexity(test), float)
assert_type(corpus.vocabulary, tuple[str, ...])
assert_type(load("model"), TopicModel)
assert_type(Embeddings.read("glove.txt"), Embeddings)
load(3)  # type: ignore[arg-type]
model.perplexity(test, unseen=1)  # type: ignore[arg-type]
