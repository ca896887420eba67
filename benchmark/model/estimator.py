"""A kept model as a scikit-learn classifier of texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmark.corpora.corpus import FieldedText
from benchmark.errors import BenchError
from benchmark.model.folder import read_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from benchmark.model.kept import Answers, KeptModel

    Text = str | bytes | Mapping[str, str | bytes]


class TextClassifier(ClassifierMixin, BaseEstimator):
    """A kept model, trained already: `fit` changes nothing, and a clone is the model itself.

    Texts are str, or bytes as a corpus has them; or fields by their names, which are joined by line feeds. Some of them
    are held at a time.

    Parameters
    ----------
    model : KeptModel
    jobs : int
        Threads.

    Attributes
    ----------
    classes_ : array of str, shape (k,)
        Sorted, as scikit-learn's; columns are in their order.
    """

    def __init__(self, model: KeptModel, jobs: int = 1) -> None:
        self.model = model
        self.jobs = jobs

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        return np.asarray(np.sort(self.model.classes))

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Nothing: it was trained before."""
        return self

    def predict(self, X: Iterable[Text]) -> NDArray[Any]:
        """The class of each text, shape (m,); or, where it may have several, which classes, bool of shape (m, k)."""
        given = [each.given for each in self._answers(X)]
        if self.model.several:
            return np.concatenate([np.empty((0, len(self._order)), dtype=bool), *given])[:, self._order]
        return np.asarray(np.array(self.model.classes)[np.concatenate([np.empty(0, dtype=np.int32), *given])])

    def decision_function(self, X: Iterable[Text]) -> NDArray[np.float64]:
        """A decision value for each class, shape (m, k), see `FittedMethod.class_values`.

        Where each text has one of two classes, how much the second's is above the first's, shape (m,).
        """
        values = self._in_order([each.values for each in self._answers(X)])
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 and not self.model.several else values

    def predict_proba(self, X: Iterable[Text]) -> NDArray[np.float64]:
        """A probability for each class, shape (m, k).

        Raises
        ------
        BenchError
            If the model was fitted without.
        """
        if self.model.sigmoids is None:
            raise BenchError("the model has no probabilities: fit it with --probability")
        return self._in_order([each.probabilities for each in self._answers(X) if each.probabilities is not None])

    @property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(np.array(self.model.classes))

    def _in_order(self, found: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.concatenate([np.empty((0, len(self._order))), *found])[:, self._order]

    def _answers(self, X: Iterable[Text]) -> Iterator[Answers]:
        if isinstance(X, str | bytes):
            raise TypeError("X must be a sequence of texts, not a text")
        for _, answers in self.model.answers((("", _bytes(text)) for text in X), jobs=self.jobs):
            yield answers


def _bytes(text: Text) -> bytes:
    if isinstance(text, Mapping):
        own = {name: _bytes(each) for name, each in text.items()}
        return FieldedText(b"\n".join(own.values()), own)
    return text.encode("utf-8", "replace") if isinstance(text, str) else text


def load_model(path: str | Path, jobs: int = 1) -> TextClassifier:
    """The model that ``bench fit`` wrote into a folder.

    Parameters
    ----------
    path : str or Path
    jobs : int
        Threads that it predicts with.

    Raises
    ------
    DataError
        If the folder holds no model, or one that is damaged, changed, or of another format.
    """
    return TextClassifier(read_model(Path(path)), jobs)
