"""Rankings of terms by information gain: one ranking for all classes, or one for each class.

A ranking is computed once, and its prefixes are the selected terms for any numbers of terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmark.representation.weighting import canonical_csr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from benchmark.system.arrays import Array, Indices


#: Criteria for ranking terms.
TERM_RANKINGS = ("information-gain",)
#: Decimals that gains are rounded to before ranking. A gain's rounding error is some 1e-16 nats: without rounding, the
#: order of summation and the machine's logarithm would decide between terms of equal gain.
_DECIMALS = 12


def information_gain(counts: Any, labels: Any, classes: Sequence[str] | None = None) -> Array:
    """Compute the information gain of each term's presence about each class, in nats, shape (n_classes, V).

    IG(t, c) = Σ_{c'∈{c,¬c}} Σ_{t'∈{t,¬t}} P(t',c') ln( P(t',c') / (P(t') P(c')) )    (Tang et al. 2016, equation 14)

    with P(t', c') the share of documents that have the term or not, and have the class or not. It lies between 0
    and the entropy of "c or not c". With two classes both rows are the same.

    Parameters
    ----------
    counts : sparse or dense matrix, shape (n, V)
        Term counts or presences: only whether an entry is 0 matters.
    labels : int array, shape (n,), or bool array, shape (n, n_classes)
        Class of each document, from 0; or memberships, where a document may have several classes or none.
    classes : sequence of str, optional
        Names of the classes. By default there are as many classes as columns, or as the largest label plus 1.

    Returns
    -------
    float64 array, shape (n_classes, V)

    Examples
    --------
    >>> information_gain([[2, 1], [1, 0], [0, 3], [0, 0]], [0, 0, 1, 1]).round(3)
    array([[0.693, 0.   ],
           [0.693, 0.   ]])
    """
    present = sp.csr_array(canonical_csr(counts) != 0, dtype=np.float64)
    n, members = present.shape[0], _members(np.asarray(labels), classes)
    class_size = np.asarray(members.sum(axis=1))[:, None]
    both = (members @ present).toarray()
    with_term = np.asarray(present.sum(axis=0))
    gain = np.zeros(both.shape)
    for joint, of_term, of_class in (
        (both, with_term, class_size),
        (with_term - both, with_term, n - class_size),
        (class_size - both, n - with_term, class_size),
        (n - class_size - with_term + both, n - with_term, n - class_size),
    ):
        # An empty cell of the contingency table adds nothing, whatever its margins: 0 ln 0 = 0.
        ratio = np.divide(joint * n, of_term * of_class, out=np.ones(both.shape), where=joint > 0)
        gain += joint * np.log(ratio)
    return np.asarray(np.maximum(gain / n, 0.0))


def _members(labels: NDArray[Any], classes: Sequence[str] | None) -> sp.csr_array:
    """Return ones where a document has a class, shape (n_classes, n)."""
    if labels.dtype == np.bool_:
        return sp.csr_array(labels.T.astype(np.float64))
    n_classes = int(labels.max()) + 1 if classes is None else len(classes)
    return sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(n_classes, len(labels)))


#: Functions of the gains for each class, shape (n_classes, V), and P(c), shape (n_classes,), to one gain a term, (V,).
#: Tang et al. (2016, section III) mention the sum and the average without stating which they used. The average
#: weighted by P(c) and the maximum follow Yang & Pedersen (1997).
GAIN_AGGREGATES: dict[str, Callable[[Array, Array], Array]] = {
    "sum": lambda gains, _: np.asarray(gains.sum(axis=0)),
    "average": lambda gains, priors: np.asarray(priors @ gains),
    "maximum": lambda gains, _: np.asarray(gains.max(axis=0)),
}


def rank_terms(gains: Array) -> Indices:
    """Return the terms in order of decreasing gain, for each row of `gains`; ties to 12 decimals by increasing index.

    Parameters
    ----------
    gains : float64 array, shape (V,) or (n_classes, V)

    Returns
    -------
    intp array of the shape of `gains`

    Examples
    --------
    >>> rank_terms(np.array([0.1, 0.3, 0.1, 0.2]))
    array([1, 3, 0, 2])
    """
    return np.argsort(-np.round(gains, _DECIMALS), axis=-1, kind="stable")


def checked_n_terms(size: int, n_terms: int) -> int:
    """Return `size`; ValueError unless it is between 1 and `n_terms`."""
    if not 1 <= size <= n_terms:
        raise ValueError(f"{size} terms can't be selected from {n_terms}; ask for 1 to {n_terms}")
    return size
