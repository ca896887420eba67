"""Counts and classes to rankings of terms by information gain: one ranking for all classes, or one for each class.

A ranking is made once; the K terms selected from it, for any number of sizes K, are its prefixes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmark.representation.weighting import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: What terms can be ranked by.
RANKS = ("information-gain",)
#: Decimals of a gain that count in a ranking. A gain's rounding error is some 1e-16 nats: beyond these decimals, the
#: order of two terms would be that of the additions, or of the machine's logarithm.
_DECIMALS = 12


def information_gain(counts: Any, labels: Any, classes: Sequence[str] | None = None) -> Array:
    """What the presence of each term tells about each class, in nats, shape (n_classes, V).

    IG(t, c) = Σ_{c'∈{c,¬c}} Σ_{t'∈{t,¬t}} P(t',c') ln( P(t',c') / (P(t') P(c')) )    (Tang et al. 2016, equation 14)

    with P(t', c') the share of documents that have the term or not, and are of the class or not. It lies between 0
    and the entropy of "c or not c". With two classes both rows are the same.

    Parameters
    ----------
    counts : sparse or dense matrix, shape (n, V)
        Term counts, or presences: only whether an entry is 0 matters.
    labels : int array, shape (n,), or bool array, shape (n, n_classes)
        Class of each document, from 0; or which classes it has, of which it may have several or none.
    classes : sequence of str, optional
        Names of the classes; without them there are as many as the largest label says, or as columns.

    Raises
    ------
    ValueError
        There are no documents, a count is negative or not finite, a label has no class, or a class no document. (Of
        documents with several classes, one without any document has a gain of 0, as has one that all of them have.)

    Examples
    --------
    >>> information_gain([[2, 1], [1, 0], [0, 3], [0, 0]], [0, 0, 1, 1]).round(3)
    array([[0.693, 0.   ],
           [0.693, 0.   ]])
    """
    present = _presence(counts)
    n = present.shape[0]
    members = _members(np.asarray(labels), n, classes)
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
        # An empty cell adds nothing, whatever its margins: 0 ln 0 = 0.
        ratio = np.divide(joint * n, of_term * of_class, out=np.ones(both.shape), where=joint > 0)
        gain += joint * np.log(ratio)
    return np.asarray(np.maximum(gain / n, 0.0))


def _members(labels: NDArray[Any], n: int, classes: Sequence[str] | None) -> sp.csr_array:
    """Ones where a document is of a class, shape (n_classes, n)."""
    if labels.dtype == np.bool_:
        if labels.ndim != 2 or len(labels) != n or (classes is not None and labels.shape[1] != len(classes)):
            raise ValueError(f"memberships of shape {labels.shape} don't say which classes each of {n} documents has")
        return sp.csr_array(labels.T.astype(np.float64))
    if labels.shape != (n,) or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(f"labels must be integers of shape ({n},), not {labels.dtype} of shape {labels.shape}")
    sizes = _class_sizes(labels, classes)
    return sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(len(sizes), n))


def _presence(counts: Any) -> sp.csr_array:
    """Ones where a count isn't 0; ValueError for an empty collection or an impossible count."""
    matrix = canonical(counts)
    if not matrix.shape[0]:
        raise ValueError("there is no document to learn the information gain from")
    if not (np.isfinite(matrix.data).all() and (matrix.data >= 0).all()):
        raise ValueError("term counts must be finite and not negative")
    present = sp.csr_array(matrix != 0, dtype=np.float64)
    present.eliminate_zeros()
    return present


def _class_sizes(codes: NDArray[np.integer], classes: Sequence[str] | None) -> NDArray[np.float64]:
    """Documents of each class, shape (n_classes,); ValueError, with its name, for a class that has none."""
    names = list(classes) if classes is not None else [str(code) for code in range(codes.max() + 1)]
    if codes.min() < 0 or codes.max() >= len(names):
        raise ValueError(f"labels go from {codes.min()} to {codes.max()}, but there are {len(names)} classes, from 0")
    sizes = np.bincount(codes, minlength=len(names)).astype(np.float64)
    empty = [name for name, size in zip(names, sizes, strict=True) if not size]
    if empty:
        raise ValueError(f"no document to learn from in the class {', '.join(map(repr, empty))}")
    return sizes


#: From the gains for each class, shape (n_classes, V), and P(c), shape (n_classes,), to one for all, shape (V,).
AGGREGATES: dict[str, Callable[[Array, Array], Array]] = {
    "sum": lambda gains, _: np.asarray(gains.sum(axis=0)),
    "average": lambda gains, priors: np.asarray(priors @ gains),
    "maximum": lambda gains, _: np.asarray(gains.max(axis=0)),
}


def aggregate(gains: Array, priors: Array, how: str = "sum") -> Array:
    """One gain a term for all classes: Σ_c, Σ_c P(c) or max_c of IG(t, c), shape (V,).

    Tang et al. (2016, section III) name the sum and the average, and don't say which they took; the average weighted
    by P(c) and the maximum are those of Yang & Pedersen (1997).

    Parameters
    ----------
    gains : float64 array, shape (n_classes, V)
    priors : float64 array, shape (n_classes,)
        P(c).
    how : {"sum", "average", "maximum"}
    """
    if how not in AGGREGATES:
        raise ValueError(f"unknown aggregate {how!r}; one of {', '.join(AGGREGATES)}")
    if gains.ndim != 2 or priors.shape != (len(gains),):
        raise ValueError(f"gains of shape {gains.shape} and priors of shape {priors.shape} don't belong together")
    return AGGREGATES[how](gains, priors)


def rank_terms(gains: Array) -> NDArray[np.intp]:
    """Terms by falling gain, for each row of `gains`; those that agree to 12 decimals by rising index.

    Parameters
    ----------
    gains : float64 array, shape (V,) or (n_classes, V)
        Finite.

    Returns
    -------
    intp array, of the shape of `gains`

    Examples
    --------
    >>> rank_terms(np.array([0.1, 0.3, 0.1, 0.2]))
    array([1, 3, 0, 2])
    """
    if not np.isfinite(gains).all():
        raise ValueError("gains that are not finite can't be ranked")
    return np.argsort(-np.round(gains, _DECIMALS), axis=-1, kind="stable")


def checked_size(size: int, n_terms: int) -> int:
    """`size`; ValueError if so many terms can't be selected from `n_terms`."""
    if not 1 <= size <= n_terms:
        raise ValueError(f"{size} terms can't be selected from {n_terms}; ask for 1 to {n_terms}")
    return size
