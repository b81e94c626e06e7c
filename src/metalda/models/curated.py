"""Curate the topics of a fitted model: name, merge and hide them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError
from metalda.models.chains import in_chain
from metalda.models.curation import Curation, merge_words
from metalda.models.fitted import Fitted
from metalda.models.transform import FoldingIn
from metalda.models.word_scores import top_indices
from metalda.utils.arguments import check_count
from metalda.utils.keywords import names_wrong_keywords
from metalda.utils.names import check_name, unused

if TYPE_CHECKING:
    from typing import Self

Topic = int | str  # a number or a name


class CuratedModel(FoldingIn):
    """Methods that name, merge and hide topics. They change the fitted model and return it, as `fit` does."""

    def rename(self, names: Mapping[Topic, str | None]) -> Self:
        """Name topics. All tables, plots, reports and files show the names, and methods accept them.

        Parameters
        ----------
        names : mapping
            Names by the numbers of topics, or by the names that they have; None takes a name away, also that of a seed
            set. Names are distinct and printable, and have at most 200 characters.

        Examples
        --------
        >>> from metalda import LDA
        >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"] * 5
        >>> model = LDA(3, n_iter=50, random_state=0, verbose=False).fit(texts)
        >>> model.rename({0: "pets"}).get_feature_names_out().tolist()
        ['pets', 'topic1', 'topic2']
        """
        if not isinstance(names, Mapping) or not names:
            raise InputError("rename needs names by topic, such as {7: 'economy'}")
        topics = self._numbers(names, "rename")
        given = [None if name is None else check_name(name) for name in names.values()]
        seeds = self.fitted_.trained.topic_names
        return self._curate(self.fitted_.curation.rename(dict(zip(topics, given, strict=True)), seeds))

    def merge(self, topics: Iterable[Topic], name: str | None = None) -> Self:
        """Merge topics into one.

        Within each draw, its proportion is the sum of those of its parts, and its words are the mean of theirs,
        weighted by their tokens. So intervals and effects are exact.

        Parameters
        ----------
        topics : list of int or str
            Two topics or more, by number or name. The merged topic has the smallest number.
        name : str, optional
            Its name. By default that of the first topic in the list that has one.

        Examples
        --------
        >>> from metalda import LDA
        >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"] * 5
        >>> model = LDA(3, n_iter=50, random_state=0, verbose=False).fit(texts)
        >>> model.merge([0, 2], "most").topics()[["topic", "name", "merged"]].values.tolist()
        [[0, 'most', [0, 2]], [1, '', []]]
        """
        numbers = self._numbers(topics, "merge")
        if len(numbers) < 2:
            raise InputError("merge needs two topics or more")
        fitted = self.fitted_
        if name is None:
            found = [fitted.topic_names[fitted.find_topic(number)] for number in numbers if fitted.topic_names]
            name = next((own for own in found if own is not None), None)
        else:
            name = check_name(name)
        return self._curate(fitted.curation.merge(numbers, name, fitted.trained.topic_names))

    def hide(self, topics: Iterable[Topic]) -> Self:
        """Hide topics: no table, plot, report or file shows them, until `show` does.

        The proportions and the words of the others stay as they are, so that proportions sum to less than 1.

        Parameters
        ----------
        topics : list of int or str
            Topics by number or name.
        """
        return self._curate(self.fitted_.curation.hide(self._numbers(topics, "hide")))

    def show(self, topics: Iterable[Topic]) -> Self:
        """Show hidden topics again.

        Parameters
        ----------
        topics : list of int or str
            Hidden topics by number or name.

        Examples
        --------
        >>> from metalda import LDA
        >>> model = LDA(3, n_iter=20, random_state=0, verbose=False).fit(["cat dog cat", "rain sun rain"] * 5)
        >>> model.hide([0, 2]).show([2]).topics()["topic"].tolist()
        [1, 2]
        """
        fitted = self.fitted_
        return self._curate(fitted.curation.show([fitted.find_hidden(topic) for topic in _listed(topics, "show")]))

    def restore(self) -> Self:
        """Undo `rename`, `merge` and `hide`: show all topics as they were trained."""
        return self._curate(Curation())

    @names_wrong_keywords()
    def name_topics(
        self,
        function: Callable[[list[str], list[str]], str | None],
        X: object = None,
        *,
        top_n: int = 20,
        n_documents: int = 5,
    ) -> Self:
        """Name topics by a function, such as one that asks a person or a language model.

        Topics that have a name keep it, and background topics, whose words are arbitrary, get none. A name that
        is used already gets a number: ``economy (2)``.

        Parameters
        ----------
        function : callable
            ``function(words, documents)`` gets the most probable words of a topic and its most typical documents, and
            returns the name, or None for no name.
        X : optional
            Documents, as in `transform`. The function gets their texts as written, or their words if they are a corpus
            without texts. Without X, the list of documents is empty.
        top_n, n_documents : int
            Number of words and of documents.

        Examples
        --------
        >>> from metalda import LDA
        >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"] * 5
        >>> model = LDA(2, n_iter=50, random_state=0, verbose=False).fit(texts)
        >>> model = model.name_topics(lambda words, documents: " and ".join(sorted(words[:2])))
        >>> sorted(model.topics()["name"])
        ['cat and dog', 'rain and sun']
        """
        if not callable(function):
            raise InputError(f"name_topics needs a function of words and documents, not {function!r}")
        fitted, n_documents = self.fitted_, check_count("n_documents", n_documents)
        documents = [[] for _ in range(fitted.n_topics)] if X is None else self._typical_texts(X, n_documents)
        taken = {name for name in fitted.all_names.values() if name is not None}
        names: dict[Topic, str | None] = {}
        for k, words in enumerate(self.top_words(top_n)):
            if fitted.is_background[k] or (fitted.topic_names and fitted.topic_names[k] is not None):
                continue
            number = int(fitted.topic_numbers[k])
            name = function(words, documents[k])
            if name is None:
                continue
            if not isinstance(name, str) or not name.split():
                raise InputError(f"the function must return a name or None, but for topic {number} it gave {name!r}")
            names[number] = unique = unused(check_name(" ".join(name.split())), taken)
            taken.add(unique)
        return self.rename(names) if names else self

    def _curate(self, curation: Curation) -> Self:
        """Replace the curation of the model; InputError if it does not fit."""
        trained = self.fitted_.trained
        curation.check(trained.n_topics, trained.topic_names)
        self._fitted = trained.curate(curation, self._shown_phi(trained, curation))
        return self

    def _shown_phi(self, trained: Fitted, curation: Curation) -> NDArray[np.float32]:
        """Return phi [word, shown topic]; of a merged topic, averaged over the chains that have all its parts."""
        parts = curation.parts(trained.n_topics)
        phi = trained.phi[:, [part[0] for part in parts]]
        merged = [place for place, part in enumerate(parts) if len(part) > 1]
        partners = np.arange(trained.n_topics)[None] if trained.partners is None else trained.partners
        total, n_chains = np.zeros((len(phi), len(merged))), np.zeros(len(merged))
        for chain, own in zip(trained.chains or (trained,), partners, strict=True):
            members = [in_chain(own, parts[place]) for place in merged]
            has = [i for i, part in enumerate(members) if part]
            if has:
                total[:, has] += merge_words(
                    chain.draws,
                    [members[i] for i in has],
                    lambda draw: self._mean_phi((draw,), trained.vocabulary, trained.word_prior),
                    lambda draw: draw.topic_totals,
                )
                n_chains[has] += 1
        phi[:, merged] = total / n_chains
        return phi

    def _numbers(self, topics: Iterable[Topic], what: str) -> list[int]:
        """Return the numbers of topics that are shown, given by number or name."""
        fitted = self.fitted_
        given = _listed(topics, what)
        numbers = [int(fitted.topic_numbers[fitted.find_topic(topic)]) for topic in given]
        if len(set(numbers)) < len(numbers):
            raise InputError(f"{what}: a topic is given twice ({', '.join(map(repr, given))}); give each once")
        return numbers

    def _typical_texts(self, X: object, n_documents: int) -> list[list[str]]:
        """Return for each topic the documents with its largest proportions, as written if the corpus has texts."""
        corpus = self.to_corpus(X)
        texts = corpus.texts
        theta = np.asarray(self.transform(corpus))
        return [
            [
                " ".join(corpus.document(d)) if texts is None else texts[d]
                for d in top_indices(column, n_documents)
                if column[d] > 0
            ]
            for column in theta.T
        ]


def _listed(topics: object, what: str) -> list[Topic]:
    """Return topics as a list; one topic may be given without it."""
    if isinstance(topics, int | np.integer | str):
        return [topics if isinstance(topics, bool | str) else int(topics)]
    if not isinstance(topics, Iterable) or not (given := list(topics)):
        raise InputError(f"{what} needs topics: give their numbers or names, such as [3, 8], not {topics!r}")
    return given
