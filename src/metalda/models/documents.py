"""Tables of documents and their topics: typical documents, correlations of topics, and proportions with metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import Corpus
from metalda.corpus.metadata import metadata_columns
from metalda.errors import InputError, warn
from metalda.meta.label_index import LabelIndex
from metalda.models.chains import MIN_SIMILARITY, NO_PARTNER, bhattacharyya
from metalda.models.curated import CuratedModel
from metalda.models.weights import check_interval, draws_needed
from metalda.models.word_scores import WORD_SCORES, top_indices
from metalda.utils.arguments import as_number, check_count
from metalda.utils.keywords import names_wrong_keywords
from metalda.utils.names import unused
from metalda.utils.table import Table

if TYPE_CHECKING:
    import pandas as pd


class TopicCorrelations(NamedTuple):
    """Correlations of the proportions of each two topics, by pair."""

    first: NDArray[np.int64]  # topics
    second: NDArray[np.int64]
    mean: NDArray[np.float64]  # over the draws; NaN if unknown
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    similarity: NDArray[np.float64]  # of the words
    are_held: NDArray[np.bool_]  # whether there are enough draws for the interval


class DocumentTables(CuratedModel):
    """Tables for reading: which documents are typical, which topics occur together, and everything in one frame."""

    @names_wrong_keywords()
    def typical_documents(
        self,
        topic: int | str | None = None,
        n: int = 5,
        *,
        corpus: Any = None,
        label: str | Iterable[str] | None = None,
    ) -> pd.DataFrame:
        """Return the documents with the largest proportions of each topic, with their texts if the corpus has them.

        Parameters
        ----------
        topic : int or str, optional
            The number or the name of a topic; all topics by default.
        n : int
            The number of documents of a topic. Documents without the topic are left out.
        corpus : Corpus, or any other input of `transform`, optional
            The documents, such as the training documents. Without it, the table has the positions and proportions of
            the training documents, because a model keeps no texts.
        label : str or list of str, optional
            Only documents with this label, or with all of these, as in `label_effects`; it may be typed in short, such
            as ``Drama`` for ``genre=Drama``.

        Returns
        -------
        DataFrame
            The `topic` (and its `name`), the position of the `document`, its `id` if it has one, the `proportion` of
            the topic, and with a corpus its `labels` and its `text` as written, or its words if the corpus has no texts
            (`Corpus.texts`).

        Examples
        --------
        >>> from metalda import LDA, Corpus
        >>> corpus = Corpus.from_texts(["The cat! The cat saw a dog.", "Rain... rain and sun.", "A dog, a CAT."])
        >>> model = LDA(2, n_iter=50, random_state=0, verbose=False).fit(corpus)
        >>> topic = int(model.transform(["rain"]).argmax())
        >>> model.typical_documents(topic, n=1, corpus=corpus)["text"][0]
        'Rain... rain and sun.'
        """
        import pandas as pd

        fitted, n = self.fitted_, check_count("n", n)
        topics = range(fitted.n_topics) if topic is None else [fitted.find_topic(topic)]
        if corpus is None:
            if label is not None:
                raise InputError("label= chooses among the documents of a corpus: give corpus=")
            documents, theta = None, self.doc_topics_
            chosen = np.arange(len(theta))
        else:
            documents = self.to_corpus(corpus)
            chosen = np.arange(len(documents)) if label is None else np.flatnonzero(_has_labels(documents, label))
            if not len(chosen):
                raise InputError(f"no document has the label {label!r}")
            theta = np.asarray(self.transform(documents[chosen]), np.float32)
        best = [(k, own[theta[own, k] > 0]) for k in topics for own in [top_indices(theta[:, k], n)]]
        places = np.concatenate([own for _, own in best])
        of_topic = np.repeat([k for k, _ in best], [len(own) for _, own in best])
        rows = chosen[places]
        table = pd.DataFrame({name: column[of_topic] for name, column in self._topic_columns().items()})
        table["document"] = rows
        if documents is not None and documents.ids is not None:
            table["id"] = _objects(documents.ids[row] for row in rows.tolist())
        table["proportion"] = theta[places, of_topic]
        if documents is not None:
            if documents.labels is not None:
                table["labels"] = _objects(_labels_of(documents, row) for row in rows.tolist())
            table["text"] = _objects(_text_of(documents, row) for row in rows.tolist())
        return table

    @names_wrong_keywords()
    def topic_correlations(self, corpus: Any = None, *, interval: float = 0.8) -> pd.DataFrame:
        """Return the correlations of the proportions of each two topics over the documents.

        Proportions sum to 1, so that most correlations are slightly negative. Topics that occur in the same documents
        have positive ones. `similarity` is that of their words: two topics with a similarity of 0.8 or more have the
        same words (see `similar_topics`).

        Parameters
        ----------
        corpus : Corpus, or any other input of `transform`, optional
            Documents, such as the training documents, whose proportions are inferred under the topics of each draw. It
            takes as long as one `transform` for each draw. Without it, the average proportions of the training
            documents are correlated, and there are no intervals.
        interval : float
            Probability of the intervals. The 15 draws of a model by default (`n_draws`) have intervals of up to 0.87.

        Returns
        -------
        DataFrame
            A row per pair of topics, the largest `correlation` first: its posterior mean, the ends `low` and `high` of
            its interval over the draws, and the `similarity` of the words.

        Examples
        --------
        >>> from metalda import LDA
        >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"] * 5
        >>> model = LDA(2, n_iter=50, random_state=0, verbose=False).fit(texts)
        >>> bool(model.topic_correlations(texts)["correlation"][0] < -0.9)
        True
        """
        import pandas as pd

        check_interval(interval)
        found = self._correlations(None if corpus is None else self.to_corpus(corpus), interval)
        if corpus is not None and not found.are_held.all():
            warn(
                f"an interval of {interval:g} needs {draws_needed(interval):,} draws or more, but some topics have "
                "fewer, so that its ends are NaN: fit with more draws (n_draws, --n-draws), or give a smaller interval"
            )
        values = {"correlation": found.mean, "low": found.low, "high": found.high, "similarity": found.similarity}
        table = pd.DataFrame({**self._name_pairs(found.first, found.second), **values})
        return table.sort_values("correlation", ascending=False, kind="stable", ignore_index=True)

    @names_wrong_keywords()
    def similar_topics(self, min_similarity: float = MIN_SIMILARITY) -> pd.DataFrame:
        """Return the pairs of topics that have nearly the same words, the most similar first.

        The similarity is the Bhattacharyya coefficient of their word probabilities, by which topics are also matched
        across chains: from 0.8 on, two topics count as the same. Fewer topics, or merging them, removes such pairs.

        Examples
        --------
        >>> from metalda import LDA
        >>> model = LDA(2, n_iter=50, random_state=0, verbose=False).fit(["cat dog cat", "rain sun rain"] * 5)
        >>> len(model.similar_topics())
        0
        """
        return self._similar_topics(min_similarity).frame()

    def _similar_topics(self, min_similarity: float = MIN_SIMILARITY) -> Table:
        """Return the columns of `similar_topics`."""
        if not 0 <= as_number(min_similarity) <= 1:
            raise InputError(f"min_similarity must lie between 0 and 1, not {min_similarity!r}")
        similarity = bhattacharyya(self.fitted_.phi, self.fitted_.phi)
        first, second = np.triu_indices(self.fitted_.n_topics, 1)
        kept = similarity[first, second] >= min_similarity
        first, second = first[kept], second[kept]
        table = Table({**self._name_pairs(first, second), "similarity": similarity[first, second]})
        return table.take(np.argsort(-similarity[first, second], kind="stable"))

    @names_wrong_keywords()
    def to_frame(self, corpus: Any = None, *, text: bool = False) -> pd.DataFrame:
        """Return a row per document: its metadata, its topic with the largest proportion, and all proportions.

        Parameters
        ----------
        corpus : Corpus, or any other input of `transform`, optional
            The documents. Without it, the training documents, of which a model only keeps the proportions.
        text : bool
            Add the texts as written; InputError if the corpus has none.

        Returns
        -------
        DataFrame
            `id` if documents have ids, or their positions as `document`; a column for each label column and number of
            the corpus, `text`, `top_topic`, and a column for each topic under its name. A document with several labels
            of a column has a list of them. `top_topic` is None for a document of hidden topics only. A topic with the
            name of another column, such as ``text``, has the column ``text_2``.

        Examples
        --------
        >>> from metalda import LDA, Corpus
        >>> corpus = Corpus.from_texts(["The cat saw the dog.", "It rains."], labels=["pets", "weather"])
        >>> model = LDA(2, n_iter=20, random_state=0, verbose=False).fit(corpus)
        >>> list(model.to_frame(corpus, text=True).columns)
        ['document', 'label', 'text', 'top_topic', 'topic0', 'topic1']
        """
        import pandas as pd

        names = [str(name) for name in self.get_feature_names_out()]
        taken = {"document", "id", "text", "top_topic"}
        topics = [_add_unused(name, taken) for name in names]
        if corpus is None:
            if text:
                raise InputError("text=True needs the documents: give corpus=")
            theta = self.doc_topics_
            columns: dict[str, Any] = {"document": np.arange(len(theta))}
        else:
            documents = self.to_corpus(corpus)
            if text and documents.texts is None:
                raise InputError(
                    "the corpus has no texts: read or prepare it with keep_text=True (--keep-text), or leave out "
                    "text=True (--with-text)"
                )
            theta = np.asarray(self.transform(documents), np.float32)
            ids = documents.ids
            columns = {"document": np.arange(len(documents))} if ids is None else {"id": _objects(ids)}
            taken = {*columns, *topics, "text", "top_topic"}
            for name, values in metadata_columns(documents).items():
                is_number = all(isinstance(value, int | float) for value in values)
                columns[_add_unused(name, taken)] = values if is_number else _objects(values)
            if text and documents.texts is not None:
                columns["text"] = _objects(documents.texts)
        has = theta.max(axis=1) > 0  # a document may have hidden topics only
        best = zip(theta.argmax(axis=1).tolist(), has.tolist(), strict=True)
        columns["top_topic"] = _objects(names[k] if has_topic else None for k, has_topic in best)
        return pd.concat([pd.DataFrame(columns), pd.DataFrame(theta, columns=topics)], axis=1)

    @names_wrong_keywords()
    def words_frame(self, top_n: int = 100) -> pd.DataFrame:
        """Return the most probable words of all topics, a row each, with all their scores.

        Parameters
        ----------
        top_n : int
            Words per topic.

        Returns
        -------
        DataFrame
            `topic`, `name` if topics have names, `word`, and its `probability`, `relevance`, `frex` and `lift`, as in
            `topics`.
        """
        import pandas as pd

        best = top_indices(self.components_, check_count("top_n", top_n))
        topics = np.repeat(np.arange(len(best)), best.shape[1])
        words = best.ravel()
        scores = {by: self._word_scores(by)[topics, words] for by in WORD_SCORES}
        named = {name: column[topics] for name, column in self._topic_columns().items()}
        return pd.DataFrame({**named, "word": np.array(self.vocabulary_, dtype=object)[words], **scores})

    def _correlations(self, corpus: Corpus | None, interval: float) -> TopicCorrelations:
        """Return the correlations of all pairs of topics, without a warning if there are too few draws."""
        if corpus is None:
            drawn = np.array([_correlate(np.asarray(self.doc_topics_, np.float64))])
        else:
            drawn = np.array([_correlate(theta) for theta in self._drawn_proportions(corpus)])
        first, second = np.triu_indices(self.fitted_.n_topics, 1)
        pairs = drawn[:, first, second]  # [draw, pair]; NaN where a chain lacks a topic, or a topic does not vary
        n_draws = np.isfinite(pairs).sum(axis=0)
        mean = np.nansum(pairs, axis=0) / np.where(n_draws, n_draws, np.nan)
        low, high = (np.full(len(first), np.nan) for _ in range(2))
        held = n_draws >= draws_needed(interval)
        if held.any() and corpus is not None:
            tails = [(1 - interval) / 2, (1 + interval) / 2]
            low[held], high[held] = np.nanquantile(pairs[:, held], tails, axis=0, method="weibull")
        similarity = bhattacharyya(self.fitted_.phi, self.fitted_.phi)[first, second]
        return TopicCorrelations(first, second, mean, low, high, similarity, held)

    def _drawn_proportions(self, corpus: Corpus) -> Iterator[NDArray[np.float64]]:
        """Yield [document, topic] the proportions of documents under the topics of each draw of all chains.

        Topics are those of the model; the proportions of a topic that a chain lacks are NaN.
        """
        fitted = self.fitted_
        partners = np.arange(fitted.trained.n_topics)[None] if fitted.partners is None else fitted.partners
        for chain, own in zip(self.chains_, partners, strict=True):
            has = own != NO_PARTNER
            for theta in chain._proportions_by_draw(corpus):
                aligned = np.full((len(theta), len(own)), np.nan)
                aligned[:, has] = theta[:, own[has]]
                yield np.asarray(fitted.sum_parts(aligned))

    def _topic_columns(self) -> dict[str, NDArray[Any]]:
        """Return the numbers of the topics and, if they have names, the names."""
        return self.fitted_.named(np.arange(self.fitted_.n_topics))

    def _name_pairs(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Mapping[str, NDArray[Any]]:
        """Return columns that name the topics of pairs."""
        columns = self._topic_columns()
        pairs = {name: column[first] for name, column in columns.items()}
        return {**pairs, **{f"other_{name}": column[second] for name, column in columns.items()}}


def _objects(values: Iterable[object]) -> pd.Series:
    """Return a column of objects: a column of strings cannot contain half of a surrogate pair, as texts may."""
    import pandas as pd

    return pd.Series(list(values), dtype=object)


def _has_labels(corpus: Corpus, label: str | Iterable[str]) -> NDArray[np.bool_]:
    """Return which documents have a label, or all of several labels, that may be typed in short."""
    if corpus.labels is None:
        raise InputError(
            "label= chooses documents by their labels, but the corpus has none; read them with labels= (--labels)"
        )
    given = [label] if isinstance(label, str) or not isinstance(label, Iterable) else list(label)
    if not given or not all(isinstance(each, str) for each in given):
        raise InputError(f"label must be a label or a list of labels, not {label!r}")
    names = LabelIndex(corpus.label_names, owner="corpus").require_all(given)
    columns = [corpus.label_names.index(name) for name in names]
    has: NDArray[np.bool_] = (corpus.labels.matrix[:, columns].toarray() != 0).all(axis=1)
    return has


def _labels_of(corpus: Corpus, row: int) -> list[str]:
    """Return the labels of a document, without numbers."""
    assert corpus.labels is not None
    own = corpus.labels.matrix[[row]]
    numbers = set() if corpus.schema is None else set(corpus.schema.scales)
    found = (corpus.label_names[j] for j, value in zip(own.indices, own.data, strict=True) if value)
    return [name for name in found if name not in numbers]


def _text_of(corpus: Corpus, row: int) -> str:
    """Return the text of a document as written, or its words."""
    return " ".join(corpus.document(row)) if corpus.texts is None else corpus.texts[row]


def _correlate(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the correlations of columns; NaN for columns that are constant or missing."""
    centered = theta - theta.mean(axis=0)
    deviations = np.sqrt((centered**2).sum(axis=0))
    scaled = np.divide(centered, deviations, out=np.full_like(centered, np.nan), where=deviations > 1e-12)
    correlations: NDArray[np.float64] = np.clip(scaled.T @ scaled, -1, 1)
    return correlations


def _add_unused(name: str, taken: set[str]) -> str:
    """Return the name of a column, with a number if there is one with this name already, and add it to those."""
    taken.add(unique := unused(name, taken, "{}_{}"))
    return unique
