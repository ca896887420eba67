"""Fisher kernel of PLSI (Hofmann 2000; Takamura et al. 2004, section 4 and appendix A).

    K(d,d') = Σ_k P(z_k|d) P(z_k|d') / P(z_k) + Σ_j P̂(w_j|d) P̂(w_j|d') Σ_k P(z_k|d,w_j) P(z_k|d',w_j) / P(w_j|z_k)

It is the inner product of derivatives of l(d) = Σ_j P̂(w_j|d) log Σ_k P(w_j|z_k) P(z_k|d), P̂ the relative frequencies
in d, by ρ_jk = 2 P(w_j|z_k)^½ and ρ_k = 2 P(z_k)^½ (equations 12-15). In these variance-stabilizing parameters a
multinomial's Fisher information is near the identity, and is approximated by it:

    ∂l/∂ρ_jk = P̂(w_j|d) P(z_k|d,w_j) / P(w_j|z_k)^½,   ∂l/∂ρ_k ≈ P(z_k|d) / P(z_k)^½.

The latter is exact for the joint log P(d, w), with P(z|d) = P(z) P(d|z) / P(d), when EM has converged: then
Σ_j P̂(w_j|d) P(z_k|d,w_j) = P(z_k|d). Neither derivative uses the constraint that probabilities sum to 1.

With P(z_k|d,w_j) = P(z_k|d) P(w_j|z_k) / P(w_j|d) a derivative is P̂(w_j|d) P(z_k|d) P(w_j|z_k)^½ / P(w_j|d). It has no
division by P(w_j|z_k), and where that is 0, so is the derivative. A document has few classes, so its derivatives are a
sparse vector of K(V + 1) coordinates. Concatenating the vectors for several K adds their kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from benchmark.kernels.plsi import PLSI, FittedPLSI, checked_counts, known_words, word_probabilities
from benchmark.kernels.products import inner_products
from benchmark.representation.estimator import MatrixEstimator
from benchmark.representation.weighting import canonical_csr
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.system.arrays import Array


_NOTE = (
    "plsi-fisher uses term counts, whatever the weighting. Its models are fitted to the training documents of a split "
    "only, and test documents are folded in."
)


def fisher_scores(counts: sp.csr_array, *mixtures: tuple[Array, Array, Array]) -> sp.csr_array:
    """Compute the derivatives (14) and (15) of mixtures, concatenated as a canonical CSR array, (n, Σ K (V + 1)).

    The columns of a mixture are ordered by class, words first. A class without documents, P(z_k) = 0, gets no
    derivative by P(z_k). That changes no kernel value, since no training document has the class.

    Parameters
    ----------
    counts : canonical CSR array, shape (n, V)
        Words whose row of `phi` is 0 are ignored, also in P̂.
    mixtures : tuples of float64 arrays
        Theta = P(z|d), shape (n, K); phi = P(w|z), shape (V, K); and P(z), shape (K,). Zeros in theta add no entries.

    Raises
    ------
    FloatingPointError
        If a word that occurs has probability 0 in its document.
    ValueError
        If Σ K (V + 1) needs more than 32 bits.
    """
    n, V = counts.shape
    if (k := sum(len(classes) for _, _, classes in mixtures)) * (V + 1) > np.iinfo(np.int32).max:
        raise ValueError(f"{k} classes of {V} words have too many coordinates for 32-bit indices")
    first, parts = 0, list[tuple[Any, Any, Any]]()  # rows, columns and values
    for theta, phi, classes in mixtures:
        known = known_words(counts, phi)
        document, word = np.repeat(np.arange(n), np.diff(known.indptr)), known.indices
        length, root = np.asarray(known.sum(axis=1)), np.sqrt(phi)
        ratio = known.data / word_probabilities(known, np.ascontiguousarray(theta), phi) / length[document]
        weight = np.divide(1.0, np.sqrt(classes), out=np.zeros(len(classes)), where=classes > 0)
        for k in range(len(classes)):
            share, root_of_class = theta[:, k], root[:, k]
            some = np.flatnonzero((share[document] > 0) & (root_of_class[word] > 0))
            values = ratio[some] * share[document[some]] * root_of_class[word[some]]
            parts.append((document[some], first + word[some], values))
            having = np.flatnonzero(share > 0)
            parts.append((having, np.full(len(having), first + V), share[having] * weight[k]))
            first += V + 1
    rows, columns, values = map(np.concatenate, zip(*parts, strict=True))
    places = rows.astype(np.int32), columns.astype(np.int32)
    return canonical_csr(sp.coo_array((values, places), shape=(n, first)))


@dataclass(eq=False, repr=False)
class PLSIFisher(TransformerMixin, MatrixEstimator):
    """Fisher kernel of PLSI as a transformer of counts: the sum of kernels for several numbers of latent classes.

    New documents are folded in independently of each other. A document without known words has P(z|d) = P(z) and no P̂.
    Its kernel with any other document is the first sum, which is 1 for each number of classes.

    Parameters
    ----------
    n_classes : sequence of int
        Numbers of latent classes; a PLSI model is fitted for each.
    tolerance, max_iterations, seed
        As in `PLSI`.

    Attributes
    ----------
    models_ : tuple of FittedPLSI
        One model for each number of classes.
    scores_ : CSR array, shape (n, Σ K (V + 1))
        The derivatives at the training documents.
    n_features_in_ : int
        V, the size of the vocabulary.

    Examples
    --------
    >>> counts = np.array([[4, 2, 0, 0], [1, 3, 0, 0], [0, 0, 5, 1], [0, 0, 2, 2]])
    >>> PLSIFisher(n_classes=(1, 2)).fit(counts).transform(counts).round(1)
    array([[6.3, 5.5, 1. , 1. ],
           [5.5, 6.7, 1. , 1. ],
           [1. , 1. , 6.3, 5.6],
           [1. , 1. , 5.6, 6.6]])
    """

    tags: ClassVar[Tags] = Tags(
        normalization="none", sees_counts=True, set_by_run=("seed",), solved_by="scores", note=_NOTE
    )

    non_negative: ClassVar[bool] = True

    n_classes: Sequence[int] = (10, 20, 30)
    tolerance: float = 1e-4
    max_iterations: int = 2000
    seed: int = 0

    def check(self) -> None:
        """Raise ValueError if a parameter is outside its range."""
        self._models()

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Fit the models to the training documents.

        Parameters
        ----------
        X : dense or sparse matrix, shape (n, V)
            Term counts.
        y : ignored

        Returns
        -------
        PLSIFisher
            This kernel.

        Raises
        ------
        ValueError
            If a parameter is out of range, a count is negative or not finite, or no document has a word.
        """
        models = self._models()
        counts = self._counts(X, fitting=True)
        return self.take(counts, [model.fit(counts) for model in models])

    def take(self, X: Any, models: Sequence[FittedPLSI]) -> Self:
        """Use models that are already fitted to the counts X.

        Parameters
        ----------
        X : dense or sparse matrix, shape (n, V)
            Term counts of the training documents.
        models : sequence of FittedPLSI
            One for each number of classes.

        Returns
        -------
        PLSIFisher
            This kernel.
        """
        self.models_: tuple[FittedPLSI, ...] = tuple(models)
        thetas = [model.class_given_document for model in self.models_]
        self.scores_ = self._side_by_side(self._counts(X, fitting=True), thetas)
        return self

    def fold(self, X: Any) -> list[Array]:
        """Fold in new documents under each model.

        Parameters
        ----------
        X : dense or sparse matrix, shape (m, V)
            Term counts.

        Returns
        -------
        list of float64 arrays, shapes (m, K)
            P(z|d) under each model.

        Raises
        ------
        ValueError
            If X has another number of words, or a count is negative or not finite.
        """
        check_is_fitted(self, "scores_")
        counts = self._counts(X, fitting=False)
        return [model.fold(counts) for model in self.models_]

    def scores(self, X: Any, folded: Sequence[Array] | None = None) -> sp.csr_array:
        """Compute the derivatives at new documents; their inner products are kernel values.

        Parameters
        ----------
        X : dense or sparse matrix, shape (m, V)
            Term counts.
        folded : sequence of float64 arrays, shapes (m, K), optional
            The result of `fold(X)`; computed if omitted.

        Returns
        -------
        CSR array, shape (m, Σ K (V + 1))
        """
        check_is_fitted(self, "scores_")
        counts = self._counts(X, fitting=False)
        return self._side_by_side(counts, self.fold(X) if folded is None else folded)

    def transform(self, X: Any) -> Array:
        """Return the Gram rows of `X` against the training documents.

        Parameters
        ----------
        X : dense or sparse matrix, shape (m, V)
            Term counts.

        Returns
        -------
        float64 array, shape (m, n)

        Raises
        ------
        ValueError
            If X has another number of words, or a count is negative or not finite.
        """
        return inner_products(self.scores(X), self.scores_)

    def _counts(self, X: Any, *, fitting: bool) -> sp.csr_array:
        return checked_counts(self.validated(X, fitting=fitting))

    def _models(self) -> list[PLSI]:
        """Return an unfitted model for each number of classes; ValueError if a parameter is out of range."""
        if not len(self.n_classes):
            raise ValueError("n_classes must have at least one number of classes")
        shared = {name: value for name, value in self.get_params().items() if name != "n_classes"}
        return [PLSI(n_classes=k, **shared) for k in self.n_classes]

    def _side_by_side(self, counts: sp.csr_array, thetas: Sequence[Array]) -> sp.csr_array:
        mixtures = (
            (theta, model.word_given_class, model.classes) for model, theta in zip(self.models_, thetas, strict=True)
        )
        return fisher_scores(counts, *mixtures)
