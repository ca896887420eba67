"""From two cells' outcomes on the same documents to tests of the difference between them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binomtest, rankdata
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from benchmark.evaluation.metrics import fold_rows, fold_scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.evaluation.metrics import Outcome

TESTS = ("sign", "mcnemar", "wilcoxon")


@dataclass(frozen=True)
class TestResult:
    """One test of cell `a` against cell `b`.

    Parameters
    ----------
    a, b : str
        Names of the cells.
    test : str
        One of `TESTS`.
    n : int
        Pairs that the test counts: discordant documents (sign, mcnemar), folds that differ (wilcoxon).
    statistic : float
        Z (sign), the continuity-corrected χ² (mcnemar), the smaller rank sum (wilcoxon).
    p_value : float or None
        Exact and two-sided; None where the design cannot be tested, and `note` says why.
    favours : str or None
        The cell with the more wins (for wilcoxon: the larger rank sum); None where there is no difference.
    note : str
        Empty, or why there is no p-value.
    p_holm : float or None
        The p-value after Holm's correction over the table the test stands in; None before it, or without p_value.
    """

    __test__ = False  # the name is the field's; pytest need not collect it

    a: str
    b: str
    test: str
    n: int
    statistic: float
    p_value: float | None
    favours: str | None = None
    note: str = ""
    p_holm: float | None = None


def outcome_table(a: Outcome, b: Outcome) -> NDArray[np.intp]:
    """Count, fold by fold, the documents on which both, one or none of the two cells are right.

    Returns
    -------
    int array, shape (folds, 4)
        Columns: both right, only a, only b, both wrong.
    """
    check_same_documents(a, b)
    kind = 2 * ~a.correct + ~b.correct
    return np.stack([np.bincount(kind[rows], minlength=4) for rows in fold_rows(a)])


def check_same_documents(a: Outcome, b: Outcome) -> None:
    """Refuse to pair outcomes that are not of the same documents in the same order."""
    for name in ("documents", "folds", "truth"):
        if not np.array_equal(getattr(a, name), getattr(b, name)):
            raise ValueError(f"{a.cell!r} and {b.cell!r} differ in {name}: only the same test documents can be paired")


def sign_z(only_a: NDArray[np.integer] | int, only_b: NDArray[np.integer] | int) -> NDArray[np.float64]:
    """Z of the micro sign test, ``(k - n/2) / (sqrt(n) / 2)``, and 0 where n = 0.

    Yang and Liu, "A re-examination of text categorization methods" (SIGIR 1999), section 4.1: n documents on which
    exactly one of two classifiers is right, k of them the first one's.

    Parameters
    ----------
    only_a, only_b : int or int array
        k and n - k.

    Examples
    --------
    >>> float(sign_z(12, 4))
    2.0
    """
    n = np.asarray(only_a + only_b, dtype=np.float64)
    difference = np.asarray(only_a, dtype=np.float64) - only_b  # (k - n/2) / (sqrt(n)/2) = (k - (n-k)) / sqrt(n)
    return np.divide(difference, np.sqrt(n), out=np.zeros_like(n), where=n > 0)


def sign_test(a: Outcome, b: Outcome) -> TestResult:
    """Micro sign test over the discordant documents of all folds (Yang and Liu 1999).

    The statistic is their Z; the p-value is the exact binomial one rather than the normal tail they look up, and 1
    where no document is discordant. Documents tested more than once are not independent trials and are refused.
    """
    if a.repeats_documents:
        return _untestable(a, b, "sign", "documents are tested more than once")
    _, only_a, only_b, _ = _pooled(a, b)
    z = float(sign_z(only_a, only_b))
    return TestResult(a.cell, b.cell, "sign", only_a + only_b, z, _binomial_p(only_a, only_b), _favours(a, b, z))


def mcnemar_test(a: Outcome, b: Outcome) -> TestResult:
    """McNemar's test (Psychometrika 12, 1947), exact.

    Under the null hypothesis each discordant document falls to either side with probability 1/2, so that the exact
    p-value *is* the exact sign test's, by definition; the statistic is the asymptotic test's, with Edwards'
    continuity correction, ``max(|only_a - only_b| - 1, 0)² / (only_a + only_b)``. The asymptotic p-value is not used:
    statsmodels makes it 0 for two identical classifiers.
    """
    if a.repeats_documents:
        return _untestable(a, b, "mcnemar", "documents are tested more than once")
    both, only_a, only_b, neither = _pooled(a, b)
    n = only_a + only_b
    corrected = max(abs(only_a - only_b) - 1, 0) ** 2 / n if n else 0.0
    p_value = float(mcnemar([[both, only_a], [only_b, neither]], exact=True).pvalue) if n else 1.0
    return TestResult(a.cell, b.cell, "mcnemar", n, corrected, p_value, _favours(a, b, only_a - only_b))


def wilcoxon_test(a: Outcome, b: Outcome, metric: str = "accuracy", alpha: float = 0.05) -> TestResult:
    """Wilcoxon's signed rank test (Biometrics Bulletin 1, 1945) over the scores of the folds or replicates.

    Folds without a difference are dropped (Wilcoxon's own zero rule) and equal differences share their mean rank. The
    p-value is exact, ties included. With N folds it is never below 2 / 2^N: where that exceeds alpha the design cannot
    be tested at all. Folds share training documents, so the test leans to small p-values (Dietterich, Neural
    Computation 10, 1998): read it beside the tests over documents.
    """
    check_same_documents(a, b)
    # Scores are ratios of counts: rounding restores the ties and zeros that floating point takes apart.
    differences = np.round(fold_scores(a, metric) - fold_scores(b, metric), 12)
    smallest = min(1.0, 2.0 ** (1 - differences.size))
    if smallest > alpha:
        return _untestable(a, b, "wilcoxon", f"smallest p {smallest:g}", n=int(np.count_nonzero(differences)))
    above, below, p_value = signed_rank(differences)
    n = int(np.count_nonzero(differences))
    return TestResult(a.cell, b.cell, "wilcoxon", n, min(above, below), p_value, _favours(a, b, above - below))


def signed_rank(differences: NDArray[np.float64]) -> tuple[float, float, float]:
    """Rank sums of the positive and of the negative differences, and the exact two-sided p-value.

    Given the ranks of |d|, all 2^n sign patterns are equally likely; their rank sums are counted by convolution
    (twice the mid-rank is an integer, so ties need no approximation).
    """
    kept = differences[differences != 0]
    if not kept.size:
        return 0.0, 0.0, 1.0
    doubled = np.rint(2 * rankdata(np.abs(kept))).astype(np.intp)
    chance = np.zeros(int(doubled.sum()) + 1)
    chance[0] = 1.0
    for rank in doubled:
        flipped = np.zeros_like(chance)
        flipped[rank:] = chance[: chance.size - rank]
        chance = (chance + flipped) / 2
    above, below = int(doubled[kept > 0].sum()), int(doubled[kept < 0].sum())
    tail = float(chance[: min(above, below) + 1].sum())
    return above / 2, below / 2, min(1.0, 2 * tail)


def compare_all(
    pairs: Sequence[tuple[str, str]],
    outcomes: Mapping[str, Outcome],
    metric: str = "accuracy",
    alpha: float = 0.05,
) -> list[TestResult]:
    """Every test of every pair, corrected by Holm's method over the pairs, each kind of test on its own.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Cells (a, b) to compare.
    outcomes : mapping of str to Outcome
        By cell; all of one experiment, so that they share their test documents.
    metric : str
        What the signed rank test ranks.
    alpha : float
        Level that a design must be able to reach.
    """
    kinds = (
        [sign_test(outcomes[a], outcomes[b]) for a, b in pairs],
        [mcnemar_test(outcomes[a], outcomes[b]) for a, b in pairs],
        [wilcoxon_test(outcomes[a], outcomes[b], metric, alpha) for a, b in pairs],
    )
    return [result for results in kinds for result in holm(results)]


def holm(results: Iterable[TestResult]) -> list[TestResult]:
    """Fill in `p_holm` over these results (Holm, Scandinavian Journal of Statistics 6, 1979), untestable ones aside."""
    results = list(results)
    raw = [result.p_value for result in results if result.p_value is not None]
    corrected = iter(multipletests(raw, method="holm")[1] if raw else ())
    return [result if result.p_value is None else replace(result, p_holm=float(next(corrected))) for result in results]


def _pooled(a: Outcome, b: Outcome) -> tuple[int, int, int, int]:
    """The outcome table summed over the folds, in Python's integers."""
    both, only_a, only_b, neither = (int(count) for count in outcome_table(a, b).sum(axis=0))
    return both, only_a, only_b, neither


def _binomial_p(k: int, others: int) -> float:
    return float(binomtest(k, k + others).pvalue) if k + others else 1.0


def _favours(a: Outcome, b: Outcome, advantage: float) -> str | None:
    return None if advantage == 0 else (a.cell if advantage > 0 else b.cell)


def _untestable(a: Outcome, b: Outcome, test: str, reason: str, n: int = 0) -> TestResult:
    return TestResult(a.cell, b.cell, test, n, math.nan, None, note=f"not testable ({reason})")
