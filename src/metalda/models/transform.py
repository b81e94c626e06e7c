"""Apply a fitted model to new documents: topic proportions, perplexity, and prediction of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp

from metalda.corpus import Corpus, NamedMatrix, Schema
from metalda.errors import InputError, warn
from metalda.meta.design import Design
from metalda.meta.groups import UNKNOWN, groups_of
from metalda.models.chains import average_proportions
from metalda.models.declaration import Declaration
from metalda.models.encoded import LEFT_OUT, EncodedDocuments, warn_of_unknown_labels, with_model_names, word_key
from metalda.models.estimator import available_if, follows_set_output
from metalda.models.fitted import Fitted
from metalda.models.inputs import has_words, read_input, without_labels
from metalda.models.prediction import (
    above_threshold,
    best_by_column,
    check_threshold,
    label_columns,
    label_probabilities,
    predicted_labels,
    require_labels,
)
from metalda.samplers import Draw
from metalda.samplers.folding import Documents, complete
from metalda.samplers.shards import shard_bounds
from metalda.training.distributed.cluster import Cluster
from metalda.utils.keywords import names_wrong_keywords
from metalda.utils.threads import count_jobs

if TYPE_CHECKING:
    import pandas as pd
    from distributed import Client
    from sklearn.utils import Tags

TOKENS_PER_TASK = 1 << 18  # of a worker of a cluster

# theta of documents, given the design of their labels and phi.
Infer = Callable[[Documents, Design, NDArray[np.float32]], NDArray[np.float32]]


class FoldingIn(Declaration):
    """Methods for new documents, given the topics of a fitted model."""

    @follows_set_output
    @names_wrong_keywords()
    def transform(
        self, X: object, y: object = None, *, labels: object = None, client: Client | None = None
    ) -> NDArray[np.float32]:
        """Return the topic proportions of documents, one row each; rows sum to 1, less what hidden topics have.

        Out-of-vocabulary words are used if they have features (or vectors, in models that learn from these). Labels
        are given as y, or as `labels`, which scikit-learn can route through a pipeline. They may be typed as in
        `label_contrasts`. Labels that the model was not trained on are ignored with a warning. Documents that lack a
        kind of label are a mixture over the label sets of the training documents. A row depends on its own document
        only. With a `dask.distributed.Client` the documents are distributed over the workers of a cluster. After a fit
        with several chains, documents are inferred in each, and their proportions averaged as in `doc_topics_`. The
        columns are the topics of `topics()`: a merged topic has the sum of its parts.
        """
        if labels is not None and y is not None:
            raise InputError("labels given twice: as y and as labels=; drop one")
        return self._infer_documents(self.to_corpus(X, y if labels is None else labels), self.fitted_, client)

    def _infer_trained(self, X: object) -> NDArray[np.float32]:
        """Return the proportions of all topics of training, without curation."""
        return self._infer_documents(self.to_corpus(X), self.fitted_.trained)

    def _infer_documents(self, corpus: Corpus, shown: Fitted, client: Client | None = None) -> NDArray[np.float32]:
        """Return the proportions of the topics of `shown`: with the curation, or without it."""
        fitted = self.fitted_
        chains = (self,) if fitted.partners is None else self.chains_
        proportions = np.empty((len(corpus), shown.n_topics), np.float32)
        for parts in zip(*(chain._infer_parts(corpus, client) for chain in chains), strict=True):
            chosen, theta = parts[0]
            if fitted.partners is not None:
                theta = average_proportions([own for _, own in parts], fitted.partners)
            proportions[chosen] = shown.sum_parts(theta)
        return proportions

    def _infer_parts(self, corpus: Corpus, client: Client | None) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Yield slices of the documents, and their topic proportions under a single chain."""
        encoded, unseen, phi = self._encode_known(corpus)
        infer: Infer = partial(self._infer, self.draws_)
        if client is not None:
            light = copy(self).set_params(n_jobs=1)  # without arrays that workers do not need
            trained = self.fitted_.trained
            nothing = np.empty((0, phi.shape[1]), np.float32)
            light._fitted = replace(trained, proportions=partial(np.asarray, nothing), phi=trained.phi[:0])
            infer = partial(infer_on_cluster, Cluster(client), partial(light._infer, light.draws_))

        @lru_cache(1)
        def phi_of(group: int) -> NDArray[np.float32]:
            return phi if group == UNKNOWN else self._mean_group_phi(group, self.draws_, unseen, alone=True)

        whole = [(slice(0, len(corpus)), encoded)]
        for documents, part in encoded.parts() if client is None else whole:
            selected = part.select()
            theta = np.empty((len(part.corpus), phi.shape[1]), np.float32)
            for group, chosen in self._split_by_wording(part.corpus):
                theta[chosen] = infer(selected.take(chosen), part.labels, phi_of(group))
            yield documents, theta

    def _proportions_by_draw(self, corpus: Corpus) -> Iterator[NDArray[np.float32]]:
        """Yield the topic proportions of documents under the topics and the prior of each draw of a single chain."""
        encoded, unseen, _ = self._encode_known(corpus)
        documents, labels = encoded.select(), encoded.labels
        groups = self._split_by_wording(corpus)
        for draw in self.draws_:
            theta = np.empty((len(corpus), len(draw.mean_alpha)), np.float32)
            for group, chosen in groups:
                phi = self._phi_of(group, (draw,), unseen)
                theta[chosen] = self._infer((draw,), documents.take(chosen), labels, phi)
            yield theta

    def _split_by_wording(self, corpus: Corpus) -> list[tuple[int, NDArray[np.bool_]]]:
        """Return the groups of new documents, each with a mask of its documents; `UNKNOWN` without groups."""
        groups = np.full(len(corpus), UNKNOWN)
        if names := self.fitted_.wording:
            labels = corpus.labels
            labels = None if labels is None else with_model_names(labels, names, frozenset(names))
            groups = groups_of(labels, names, len(corpus))
        return [(int(group), groups == group) for group in np.unique(groups)]

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the columns of `transform`: those of topics that have one, and topic0, topic1, …."""
        return np.array(self.fitted_.column_names, dtype=object)

    @names_wrong_keywords()
    def perplexity(self, X: object, y: object = None, *, unseen: str = "ignore", draws: str = "mean") -> float:
        """Return the perplexity of every second word of each document, given the other words and the labels.

        It is that of all topics of training: names, merged and hidden topics have no effect on it.

        Parameters
        ----------
        X, y
            Documents and labels, as in `fit`.
        unseen : {"ignore", "features"}
            Ignore out-of-vocabulary words, or predict them from their features (from the default feature if they have
            none, or from their vectors).
        draws : {"mean", "last", "each"}
            Use topics averaged over draws ("mean"); use the last draw, as the Java original does ("last"); or average
            the predictions of all draws, which is the most accurate and slowest ("each"). After a fit with several
            chains, "mean" and "last" use the first chain, and "each" uses all.
        """
        return float(np.exp(-self._mean_log_predictive(X, y, unseen=unseen, draws=draws)))

    def score(self, X: object, y: object = None) -> float:
        """Return the mean log predictive probability per word by document completion; higher is better."""
        return self._mean_log_predictive(X, y, unseen="ignore", draws="mean")

    @available_if(lambda model: model.uses_labels)
    def predict_label_probabilities(self, X: object) -> pd.DataFrame:
        """Return the probabilities of labels for unlabeled documents: a row per document, a column per label.

        They follow from Bayes' rule over the label sets of the training documents. The probability of a set is
        proportional to its share times a power of the probability of the document's words under the set's alpha. The
        probability of a label is the sum over all sets that contain it. If each training document had one label, the
        sets are the labels, and rows sum to 1.

        Parameters
        ----------
        X
            Documents, as in `fit`. Labels in a corpus are ignored.

        Notes
        -----
        The result does not depend on the seed. The power is ``min(1, (12 / n) ** (1 / 3))`` for a document of n words:
        words of one document depend on each other more than a topic model assumes, and with the power 1 probabilities
        of long documents are too close to 0 and 1. Only the 2,000 most frequent sets are considered.
        """
        import pandas as pd

        if self.fitted_.chains:
            corpus = without_labels(X, self.schema_, self.vocabulary_)
            return sum(chain.predict_label_probabilities(corpus) for chain in self.chains_) / len(self.chains_)
        require_labels(self.fitted_)
        corpus = self.to_corpus(without_labels(X, self.schema_, self.vocabulary_))
        encoded, _, phi = self._encode_known(corpus)
        probabilities = label_probabilities(self.fitted_, encoded.select(), phi, count_jobs(self.n_jobs))
        names = [self.label_names_[j] for j in predicted_labels(self.fitted_)]
        return pd.DataFrame(probabilities, columns=names)

    @available_if(lambda model: model.uses_labels)
    @names_wrong_keywords()
    def predict_labels(
        self, X: object, threshold: float | None = None
    ) -> NDArray[np.object_] | pd.DataFrame | list[tuple[str, ...]]:
        """Return the most probable label of each document or, with a threshold, all labels at least that probable.

        Parameters
        ----------
        X
            Documents, as in `fit`. Labels in a corpus are ignored.
        threshold : float, optional
            For documents that may have several labels, or none: the smallest probability of a label, such as 0.5.

        Returns
        -------
        array of str, DataFrame, or list of tuples of str
            One label per document. If labels come from several columns of the training data, a frame with these columns
            and the most probable value of each. With a threshold the labels of the document, the most probable first.

        Examples
        --------
        >>> from metalda import MetaLDA
        >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
        >>> labels = ["pets", "pets", "weather", "weather"]
        >>> model = MetaLDA(2, n_iter=100, random_state=0, verbose=False).fit(10 * texts, 10 * labels)
        >>> model.predict_labels(["dog dog", "rain"]).tolist()
        ['pets', 'weather']
        >>> model.predict_labels(["dog dog", "rain"], threshold=0.5)
        [('pets',), ('weather',)]
        """
        check_threshold(threshold)
        table = self.predict_label_probabilities(X)
        probabilities, columns = table.to_numpy(), list(table.columns)
        if threshold is None and label_columns(self.fitted_, columns):
            return best_by_column(self.fitted_, columns, probabilities)
        names = np.array(columns, dtype=object)
        if threshold is None:
            best_names: NDArray[np.object_] = names[probabilities.argmax(axis=1)]
            return best_names
        return [tuple(names[j] for j in best) for best in above_threshold(probabilities, threshold)]

    def to_corpus(self, X: object, y: object = None) -> Corpus:
        """Convert documents to a corpus as the model reads them: texts and rows of frames are read by `schema_`."""
        fitted = self.fitted_
        if not fitted.named_words and has_words(X):
            raise InputError(
                "the model was fitted on a matrix without names, so it knows no words, only columns; "
                "give a matrix with the same columns, or fit with vocabulary="
            )
        labels = y if self._reads_labels else None
        schema = fitted.schema
        if schema is not None and not self._reads_labels:
            schema = schema.override(labels=())
        return read_input(self, X, labels, fitted.vocabulary, fitting=False, schema=schema)

    def to_pyldavis(self, X: object, y: object = None) -> dict[str, Any]:
        """Return the arguments of ``pyLDAvis.prepare`` for these documents; pyLDAvis need not be installed.

        Out-of-vocabulary words are left out of lengths and frequencies. Topics keep their order, but pyLDAvis counts
        from 1: its topic 1 is our topic 0, or the first that is not hidden. pyLDAvis needs proportions that sum to 1,
        so those of a document are divided by the share that is not hidden.

        Parameters
        ----------
        X, y
            Documents and labels, as in `fit`: the training documents, or others.

        Examples
        --------
        >>> from metalda import LDA
        >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
        >>> model = LDA(2, n_iter=20, random_state=0, verbose=False).fit(texts)
        >>> arguments = model.to_pyldavis(texts)
        >>> arguments["doc_lengths"].tolist()
        [3, 2, 3, 2]

        Then ``pyLDAvis.display(pyLDAvis.prepare(**arguments))``.
        """
        corpus = self.to_corpus(X, y)
        known = self._encode(corpus, ()).select()
        theta = np.asarray(self.transform(corpus), np.float64)
        return {
            "topic_term_dists": self.components_.astype(np.float64),
            "doc_topic_dists": _sum_to_one(theta) if self.fitted_.curation.hidden else theta,
            "doc_lengths": np.diff(known.offsets),
            "vocab": list(self.vocabulary_),
            "term_frequency": np.bincount(known.words, minlength=len(self.vocabulary_)),
            "sort_topics": False,
        }

    def _encode_known(self, corpus: Corpus) -> tuple[EncodedDocuments, tuple[str, ...], NDArray[np.float32]]:
        """Return new documents with the words that the model has information on, and their labels.

        Also returns the out-of-vocabulary words among them, and phi. Warns of documents whose words are all unknown.
        """
        fitted = self.fitted_
        unseen, phi_of_unseen = self._phi_of_unseen([w for w in corpus.vocabulary if w not in fitted.word_index])
        encoded = self._encode(corpus, unseen)
        n_unknown = encoded.count_unknown()
        if n_unknown:
            warn(
                f"{n_unknown:,} of {len(corpus):,} documents have words, but no word that the model knows; "
                "they get the proportions expected of a document with their labels, as documents without words do",
            )
        phi = fitted.trained.phi
        phi = phi if phi_of_unseen is None else np.concatenate([phi, phi_of_unseen])
        return encoded, unseen, phi

    def _encode(self, corpus: Corpus, unseen: Sequence[str]) -> EncodedDocuments:
        """Number words and labels as the model does, and `unseen` words after its vocabulary.

        Other words are ignored, and labels that the model was not trained on with a warning.
        """
        fitted, labels, n_documents = self.fitted_, corpus.labels, len(corpus)
        if labels is None or not self.uses_labels:
            names = fitted.label_names
            columns, has_numbers = NamedMatrix(sparse.csr_array((n_documents, len(names))), names), False
        else:
            columns, has_numbers = self._design_columns(labels, corpus.schema), fitted.labels.has_numbers
        n_seen = len(fitted.vocabulary)
        seen, new = fitted.word_index, {word: n_seen + u for u, word in enumerate(unseen)}
        numbers = np.array([seen.get(word, new.get(word, LEFT_OUT)) for word in corpus.vocabulary], np.int32)
        new_keys = np.array([word_key(word) for word in unseen], np.uint64)
        word_keys = np.concatenate([np.arange(n_seen, dtype=np.uint64), new_keys])
        return EncodedDocuments(corpus, numbers, columns, self._real_labels, has_numbers, word_keys, fitted.seed)

    def _design_columns(self, labels: NamedMatrix, schema: Schema | None) -> NamedMatrix:
        """Return the columns of the model's design for new documents; warns of unknown labels.

        Numbers that the corpus has not standardized are in their own units.
        """
        fitted, terms = self.fitted_, self.fitted_.labels.terms
        if terms is None:  # of a Mallet model
            known, numbers = frozenset(fitted.label_names), frozenset[str]()
        else:
            known, numbers = terms.label_names, frozenset(terms.numbers)
            labels = terms.drop_unused(labels, fitted.schema)
        labels = with_model_names(labels, sorted(known - numbers), known)
        warn_of_unknown_labels(labels, known.union(fitted.wording))
        if terms is None:
            return labels.select(fitted.label_names)
        return terms.design_columns(labels, schema, fitted.label_names)

    def _mean_log_predictive(self, X: object, y: object, *, unseen: str, draws: str) -> float:
        """Return the mean of log p(w) over every second word."""
        total, n_words = 0.0, 0
        for log_predictive in self._log_predictive(self.to_corpus(X, y), unseen=unseen, draws=draws):
            total += float(log_predictive.sum())
            n_words += len(log_predictive)
        if not n_words:
            raise InputError("no words to score: no document has a second word that the model knows")
        return total / n_words

    def _log_predictive(self, corpus: Corpus, *, unseen: str, draws: str) -> Iterator[NDArray[np.float64]]:
        """Yield log p(w) of every second word, of some documents at a time."""
        fitted = self.fitted_
        if unseen not in ("ignore", "features"):
            raise InputError(f"unseen must be 'ignore' or 'features', not {unseen!r}")
        if draws not in ("mean", "last", "each"):
            raise InputError(f"draws must be 'mean', 'last' or 'each', not {draws!r}")
        if fitted.chains:
            chains = self.chains_ if draws == "each" else self.chains_[:1]
            parts = [chain._log_predictive(corpus, unseen=unseen, draws=draws) for chain in chains]
            for each in zip(*parts, strict=True):
                yield np.asarray(logsumexp(each, axis=0) - np.log(len(each)))
            return
        new_words: tuple[str, ...] = ()
        if unseen == "features":
            new_words = tuple(word for word in corpus.vocabulary if word not in fitted.word_index)
        kept = fitted.draws[-1:] if draws == "last" else fitted.draws
        states = [(draw,) for draw in kept] if draws == "each" else [kept]

        @lru_cache(1)
        def phi_of(group: int, state: int) -> NDArray[np.float32]:
            return self._phi_of(group, states[state], new_words)

        for _, part in self._encode(corpus, new_words).parts():
            observed, scored = part.halves()
            found = np.empty(len(scored.words))
            for group, chosen in self._split_by_wording(part.corpus):
                own = observed.take(chosen)
                predictions = (
                    (self._infer(states[state], own, part.labels, phi_of(group, state)), phi_of(group, state))
                    for state in range(len(states))
                )
                tokens = np.repeat(chosen, np.diff(scored.offsets))
                found[tokens] = complete(scored.take(chosen), predictions)
            yield np.log(found)

    def _phi_of(self, group: int, draws: Sequence[Draw], new_words: tuple[str, ...]) -> NDArray[np.float32]:
        """Return phi[word, topic] of a group, averaged over draws: of the vocabulary, then of new words."""
        fitted = self.fitted_
        if group != UNKNOWN:
            return self._mean_group_phi(group, draws, new_words)
        if draws is fitted.draws and not new_words:
            return fitted.trained.phi
        return self._mean_phi(draws, fitted.vocabulary, fitted.word_prior, new_words)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _sum_to_one(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return proportions that sum to 1; equal ones for a document that has nothing but hidden topics."""
    sums = theta.sum(axis=1, keepdims=True)
    equal = np.full(theta.shape, 1 / theta.shape[1])
    divided: NDArray[np.float64] = np.divide(theta, sums, out=equal, where=sums > 0)
    return divided


def infer_on_cluster(
    cluster: Cluster, infer: Infer, documents: Documents, labels: Design, phi: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return theta of new documents, computed by the workers of a cluster; equals the result of `infer`."""
    bounds = shard_bounds(documents.offsets, 1 + len(documents.words) // TOKENS_PER_TASK)
    parts = (_cut(documents, first, last) for first, last in pairwise(bounds))
    rows = replace(labels, row_of=labels.row_of[:0])  # every part has the rows of its documents
    return np.concatenate(list(cluster.map(_infer_part, parts, infer, rows, phi, name="transform")))


def _cut(documents: Documents, first: int, last: int) -> Documents:
    offsets = documents.offsets[first : last + 1]
    words = documents.words[offsets[0] : offsets[-1]]
    return Documents(words, offsets - offsets[0], documents.doc_rows[first:last], documents.keys[first:last])


def _infer_part(documents: Documents, infer: Infer, labels: Design, phi: NDArray[np.float32]) -> NDArray[np.float32]:
    return infer(documents, labels, phi)
