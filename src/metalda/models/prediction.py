"""Labels of documents whose labels are not known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from metalda.corpus import Schema
from metalda.errors import InputError
from metalda.meta.design import Design
from metalda.models.inputs import without_labels
from metalda.samplers.folding import Documents, infer_labels
from metalda.utils.threads import count_jobs

if TYPE_CHECKING:
    import pandas as pd

    from metalda.samplers import Draw

MOST_SETS = 2000  # the time of a prediction grows with their number


class LabelSets(NamedTuple):
    """The sets of labels that training documents had, the most frequent first."""

    matrix: Any  # [set, label], the default label last
    shares: NDArray[np.float64]  # of the labelled documents

    @classmethod
    def of(cls, design: Design) -> LabelSets:
        """Without the empty set: that a document has no label may mean that nobody looked."""
        sizes = np.where(np.diff(design.row_starts) > 1, design.row_sizes, 0)
        rows = np.argsort(-sizes, kind="stable")[: min(MOST_SETS, np.count_nonzero(sizes))]
        return cls(design.matrix[rows], sizes[rows] / sizes[rows].sum())

    def alpha(self, draws: Sequence[Draw]) -> NDArray[np.float64]:
        """alpha[draw, set, topic]; kept from 0 and infinity."""
        logs = np.stack([self.matrix @ draw.log_doc_weights for draw in draws])
        return np.exp(np.clip(logs, -80, 80))


class Prediction:
    """Prediction of labels by a fitted model."""

    if TYPE_CHECKING:
        draws_: tuple[Draw, ...]
        label_names_: tuple[str, ...]
        n_jobs: int | None
        schema_: Schema | None
        vocabulary_: tuple[str, ...]
        _has_label_effects: ClassVar[bool]

        def _labels_of_training(self) -> Design: ...

        def _known_documents(self, X: Any, y: Any) -> tuple[Documents, Design, NDArray[np.float32]]: ...

    def predict_label_probabilities(self, X: Any) -> pd.DataFrame:
        """How probable each label is for documents whose labels are not known: a row per document, a column per label.

        By Bayes' rule over the sets of labels that training documents had: the share of the set times the probability
        of the document's words under the set's alpha, averaged over draws; a label has the probability of all sets
        with it. Where each training document had one label, the sets are the labels, and rows sum to 1.

        Parameters
        ----------
        X
            Documents, as in `fit`. Labels that a corpus may have are not looked at.

        Notes
        -----
        The sum over the topics of words is done by Gibbs sampling, seeded by the document. Of very many sets only the
        2,000 most frequent are considered.
        """
        import pandas as pd

        check_is_fitted(self)
        name = type(self).__name__
        if not self.label_names_:
            raise InputError(f"this {name} learnt from no labels: it cannot predict them; fit MetaLDA with labels")
        design = self._labels_of_training()
        if (design.row_values != 1).any():
            raise InputError(f"this {name} learnt from numbers: it cannot predict them; cut them into bins for labels")
        documents, _, phi = self._known_documents(without_labels(X, self.schema_, self.vocabulary_), None)
        sets = LabelSets.of(design)
        alpha, members = sets.alpha(self.draws_), sparse.csr_array(sets.matrix[:, :-1])
        probabilities = infer_labels(documents, alpha, sets.shares, members, phi, count_jobs(self.n_jobs))
        return pd.DataFrame(probabilities, columns=list(self.label_names_))

    def predict_labels(self, X: Any, threshold: float | None = None) -> NDArray[Any] | list[tuple[str, ...]]:
        """The most probable label of each document; or, with a threshold, all labels that are probable enough.

        Parameters
        ----------
        X
            Documents, as in `fit`. Labels that a corpus may have are not looked at.
        threshold : float, optional
            For documents that may have several labels, or none: the least probability of a label, such as 0.5.

        Returns
        -------
        array of str, or list of tuples of str
            One label per document; with a threshold its labels, the most probable first.

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
        if threshold is not None and not 0 < threshold <= 1:
            raise InputError(f"threshold must lie between 0 and 1, not {threshold!r}")
        probabilities = self.predict_label_probabilities(X).to_numpy()
        names = np.array(self.label_names_, dtype=object)
        if threshold is None:
            return names[probabilities.argmax(axis=1)]
        order = np.argsort(-probabilities, axis=1, kind="stable")
        rows = zip(probabilities, order, strict=True)
        return [tuple(names[j] for j in best if row[j] >= threshold) for row, best in rows]
