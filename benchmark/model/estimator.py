"""A saved model as a scikit-learn classifier of texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmark.corpora.corpus import FieldedText
from benchmark.model.persistence import read_model
from benchmark.system.errors import BenchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from benchmark.model.text_model import TextModel, TextPredictions

    Text = str | bytes | Mapping[str, str | bytes]


class TextClassifier(ClassifierMixin, BaseEstimator):
    """Saved model that is already trained: `fit` changes nothing, and a clone is the model itself.

    A text is a str, bytes in the encoding of the corpus, or a mapping of field names to values, which are joined by
    line feeds. Texts are read and predicted in batches.

    Parameters
    ----------
    model : TextModel
        Trained method that predicts texts.
    jobs : int
        Number of threads.

    Attributes
    ----------
    classes_ : array of str, shape (k,)
        Sorted classes, in the order of the columns of decision values and probabilities.
    """

    def __init__(self, model: TextModel, jobs: int = 1) -> None:
        self.model = model
        self.jobs = jobs

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> NDArray[Any]:
        """Sorted classes."""
        return np.asarray(np.sort(self.model.classes))

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Return the classifier unchanged, since it is already trained."""
        return self

    def predict(self, X: Iterable[Text]) -> NDArray[Any]:
        """Return the class of each text, shape (m,), or a multi-label indicator matrix, bool of shape (m, k)."""
        predicted = [each.predicted for each in self._answers(X)]
        if self.model.multilabel:
            return np.concatenate([np.empty((0, len(self._order)), dtype=bool), *predicted])[:, self._order]
        return np.asarray(np.array(self.model.classes)[np.concatenate([np.empty(0, dtype=np.int32), *predicted])])

    def decision_function(self, X: Iterable[Text]) -> NDArray[np.float64]:
        """Return decision values, shape (m, k), see `FittedMethod.class_values`.

        With two classes, of which each text has one, they are the second class's value minus the first's, shape (m,).
        """
        values = self._in_order([each.values for each in self._answers(X)])
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 and not self.model.multilabel else values

    def predict_proba(self, X: Iterable[Text]) -> NDArray[np.float64]:
        """Return class probabilities, shape (m, k).

        Raises
        ------
        BenchError
            If the model was fitted without probabilities.
        """
        if not self.model.has_probabilities:
            raise BenchError("the model has no probabilities: fit it with --probability")
        return self._in_order([each.probabilities for each in self._answers(X) if each.probabilities is not None])

    @property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(np.array(self.model.classes))

    def _in_order(self, batches: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.concatenate([np.empty((0, len(self._order))), *batches])[:, self._order]

    def _answers(self, X: Iterable[Text]) -> Iterator[TextPredictions]:
        if isinstance(X, str | bytes):
            raise TypeError("X must be a sequence of texts, not a text")
        for _, answers in self.model.answers((("", _bytes(text)) for text in X), jobs=self.jobs):
            yield answers


def _bytes(text: Text) -> bytes:
    if isinstance(text, Mapping):
        fields = {name: _bytes(value) for name, value in text.items()}
        return FieldedText(b"\n".join(fields.values()), fields)
    return text.encode("utf-8", "replace") if isinstance(text, str) else text


def load_model(path: str | Path, jobs: int = 1) -> TextClassifier:
    """Load the model that ``bench fit`` wrote into a folder.

    Parameters
    ----------
    path : str or Path
        Folder of the model.
    jobs : int
        Number of threads for predictions.

    Returns
    -------
    TextClassifier
        Trained classifier of texts.

    Raises
    ------
    DataError
        If the folder has no model, or the model is damaged, changed, or of another format.
    """
    return TextClassifier(read_model(Path(path)), jobs)
