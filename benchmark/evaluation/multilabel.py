"""From one binary decision a document and category to F-measures, and to tests between two methods.

Documents have any number of k categories, and each category is decided by itself. All scores come from three counts a
category: documents that have it and got it, that got it, that have it. A ratio of nothing, 0 / 0, is 0: the precision
of a category that no document got, the recall of one that no document has, and so the F of a category without either.
The number of terms in a mean over the categories then never depends on the predictions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binomtest

from benchmark.evaluation.significance import TestResult, sign_z, signed_rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CategoryCounts:
    """Documents by category; the leading axes are the draws.

    Parameters
    ----------
    right : int array, shape (..., k)
        Have the category and got it (tp).
    assigned : int array, shape (..., k)
        Got it (tp + fp).
    true : int array, shape (..., k)
        Have it (tp + fn).
    """

    right: Ints
    assigned: Ints
    true: Ints


def category_counts(truth: Bools, assigned: Bools) -> CategoryCounts:
    """Count the decisions.

    Parameters
    ----------
    truth : bool array, shape (n, k)
        Which categories each document has.
    assigned : bool array, shape (..., n, k)
        Which it was given, by draw.

    Raises
    ------
    ValueError
        If they are not boolean, or not of the same documents and categories.
    """
    _check(truth, assigned)
    right = (assigned & truth).sum(axis=-2, dtype=np.int64)
    true = np.broadcast_to(truth.sum(axis=0, dtype=np.int64), right.shape)
    return CategoryCounts(right, assigned.sum(axis=-2, dtype=np.int64), true)


def precision(counts: CategoryCounts) -> Floats:
    """Tp / (tp + fp) of each category, shape (..., k)."""
    return _ratio(counts.right, counts.assigned)


def recall(counts: CategoryCounts) -> Floats:
    """Tp / (tp + fn) of each category, shape (..., k)."""
    return _ratio(counts.right, counts.true)


def f1(counts: CategoryCounts) -> Floats:
    """F1 = 2 tp / (2 tp + fp + fn) of each category, shape (..., k)."""
    return _ratio(2 * counts.right, counts.assigned + counts.true)


def macro_f1(counts: CategoryCounts) -> Floats:
    """Mean over the categories of their F1, shape (...): the "averaged F1" of Opitz and Burst (arXiv:1911.03347)."""
    return np.asarray(f1(counts).mean(axis=-1))


def macro_f1_of_means(counts: CategoryCounts) -> Floats:
    """F1 of the mean precision P and the mean recall R over the categories, 2 P R / (P + R), shape (...).

    The "F1 of averages" of Opitz and Burst (2019), never below `macro_f1`.
    """
    p, r = precision(counts).mean(axis=-1), recall(counts).mean(axis=-1)
    return _ratio(2 * p * r, p + r)


def micro_f1(counts: CategoryCounts) -> Floats:
    """F1 of the counts summed over the categories, 2 Σtp / (2 Σtp + Σfp + Σfn), shape (...)."""
    right, assigned, true = (part.sum(axis=-1) for part in (counts.right, counts.assigned, counts.true))
    return _ratio(2 * right, assigned + true)


def micro_sign_test(names: tuple[str, str], truth: Bools, a: Bools, b: Bools) -> TestResult:
    """Micro sign test over all decisions, one for each document and category (Yang and Liu 1999, section 4.1).

    Each draw is tested by itself: all draws decide on the same documents, and pooled they would count each document
    as often as there are draws. The k-th smallest of r p-values, times r/k, is a p-value however they depend on each
    other (Rüger, Metrika 25, 1978); k = r/2, rounded up, makes it twice the median. The decisions of one draw on one
    document, for its categories, aren't independent either, as in Yang and Liu's own: p leans to small values.

    It counts right decisions, most of which are to give a category to no document: a method of higher F1 may lose.

    Parameters
    ----------
    names : pair of str
    truth : bool array, shape (n, k)
    a, b : bool arrays, shape (draws, n, k)
        What the two methods decided, draw by draw on the same training documents.

    Returns
    -------
    TestResult
        `n`, the decisions on which one is right and the other wrong, and Z are medians over the draws.
    """
    _check(truth, a)
    if a.ndim != 3 or a.shape != b.shape or b.dtype != np.bool_:
        raise ValueError(f"{names[0]!r} and {names[1]!r} decided {a.shape} and {b.shape}: they can't be paired")
    only_a = ((a == truth) & (b != truth)).sum(axis=(1, 2))
    only_b = ((a != truth) & (b == truth)).sum(axis=(1, 2))
    z = float(np.median(sign_z(only_a, only_b)))
    p_values = sorted(
        binomtest(int(k), int(k + others)).pvalue if k + others else 1.0
        for k, others in zip(only_a, only_b, strict=True)
    )
    middle = (len(p_values) + 1) // 2
    p_value = min(1.0, float(p_values[middle - 1]) * len(p_values) / middle)
    return TestResult(*names, "sign", int(np.median(only_a + only_b)), z, p_value, _favoured(names, z))


def wilcoxon_over_categories(names: tuple[str, str], a: Floats, b: Floats, alpha: float = 0.05) -> TestResult:
    """Wilcoxon's signed rank test with a pair for each draw and category, exact (see `significance.signed_rank`).

    A draw's categories share their training documents, and a category's draws share its test documents: there is less
    in k·r such pairs than in as many independent ones, and p leans to small values.

    Parameters
    ----------
    names : pair of str
    a, b : float arrays, shape (draws, k)
        F1 of each category on each draw.
    alpha : float
        Level that so many pairs must be able to reach.
    """
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError(f"{names[0]!r} and {names[1]!r}: scores of {a.shape} and {b.shape} can't be paired")
    differences = np.round(a - b, 12).ravel()
    n = int(np.count_nonzero(differences))
    smallest = min(1.0, 2.0 ** (1 - differences.size))
    if smallest > alpha:
        return TestResult(*names, "wilcoxon", n, math.nan, None, note=f"not testable (smallest p {smallest:g})")
    above, below, p_value = signed_rank(differences)
    return TestResult(*names, "wilcoxon", n, min(above, below), p_value, _favoured(names, above - below))


def _favoured(names: tuple[str, str], advantage: float) -> str | None:
    return None if advantage == 0 else names[0] if advantage > 0 else names[1]


def _check(truth: Bools, assigned: Bools) -> None:
    if truth.dtype != np.bool_ or assigned.dtype != np.bool_:
        raise ValueError("decisions are boolean: whether a document has a category, and whether it got it")
    if truth.ndim != 2 or not truth.size or assigned.shape[-2:] != truth.shape:
        raise ValueError(f"decisions of shape {assigned.shape} aren't of documents and categories {truth.shape}")


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Divide, with 0 / 0 = 0."""
    quotient = np.zeros(np.shape(whole))
    np.divide(part, whole, out=quotient, where=np.asarray(whole) != 0)
    return quotient
