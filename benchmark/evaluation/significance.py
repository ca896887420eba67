"""From two cells' outcomes on the same documents to tests of the difference between them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from benchmark.evaluation.metrics import METRICS, f1, more_is_better
from benchmark.evaluation.outcomes import check_same_documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from benchmark.evaluation.metrics import Metric
    from benchmark.evaluation.outcomes import Outcome


@dataclass(frozen=True)
class TestResult:
    """One test of cell `a` against cell `b`.

    Parameters
    ----------
    a, b : str
        Names of the cells.
    test : str
        "sign", "mcnemar" or "wilcoxon", and what distinguishes it from another of that name: "wilcoxon, micro-f1".
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

    Of documents with several classes it counts decisions, one for each document and class; of a class that is scored by
    itself its own documents, or the decisions on it.

    Returns
    -------
    int array, shape (folds, 4)
        Columns: both right, only a, only b, both wrong.
    """
    check_same_documents(a, b)
    kind = 2 * ~a.correct + ~b.correct
    if a.several:
        columns = slice(None) if a.of_class is None else slice(a.of_class, a.of_class + 1)
        return np.stack([np.bincount(kind[rows, columns].ravel(), minlength=4) for rows in a.rows])
    own = a.counted()
    return np.stack([np.bincount(kind[rows[own[rows]]], minlength=4) for rows in a.rows])


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


def document_test(name: str, a: Outcome, b: Outcome) -> TestResult:
    """McNemar's test (Psychometrika 12, 1947) or the sign test (Yang and Liu 1999), exact, over the tested documents.

    Each counts once, also where several draws tested it: their decisions on one document aren't independent, so that
    pooling them would count a document as often as it was tested. It stands on the side of the cell that was right on
    it in more of its draws, and is discordant unless both were right equally often.

    Under the null hypothesis each discordant document falls to either side with probability 1/2, so that the exact
    p-values of the two tests are the same, and 1 where there is none. The statistic is Z, or the asymptotic test's
    with Edwards' continuity correction,
    ``max(|only_a - only_b| - 1, 0)² / (only_a + only_b)``.

    Parameters
    ----------
    name : {"mcnemar", "sign"}
    a, b : Outcome
        Of one class a document, on the same splits.
    """
    check_same_documents(a, b)
    own = a.counted()
    documents = np.unique(a.documents[own], return_inverse=True)[1].ravel()
    advantage = np.bincount(documents, a.correct[own].astype(np.float64) - b.correct[own])
    only_a, only_b = int((advantage > 0).sum()), int((advantage < 0).sum())
    n = only_a + only_b
    if name == "sign":
        statistic, p_value = float(sign_z(only_a, only_b)), _sign_p(only_a, only_b)
    else:
        statistic = max(abs(only_a - only_b) - 1, 0) ** 2 / n if n else 0.0
        p_value = float(mcnemar([[0, only_a], [only_b, 0]], exact=True).pvalue)
    names = (a.cell, b.cell)
    return TestResult(*names, name, n, statistic, p_value, _favoured(names, only_a - only_b))


def micro_sign_test(a: Outcome, b: Outcome) -> TestResult:
    """Micro sign test over all decisions, one for each document and class (Yang and Liu 1999, section 4.1).

    Each draw is tested by itself: draws decide on the same documents, and pooled they would count each document as
    often as there are draws. The k-th smallest of r p-values, times r/k, is a p-value however they depend on each
    other (Rüger, Metrika 25, 1978); k = r/2, rounded up, makes it twice the median. The decisions of one draw on one
    document, for its classes, aren't independent either, as in Yang and Liu's own: p leans to small values.

    It counts right decisions, most of which are to give a class to no document: a method of higher F1 may lose.

    Returns
    -------
    TestResult
        `n`, the decisions on which one is right and the other wrong, and Z are medians over the draws.
    """
    _, only_a, only_b, _ = outcome_table(a, b).T
    z = float(np.median(sign_z(only_a, only_b)))
    p_values = sorted(_sign_p(int(k), int(others)) for k, others in zip(only_a, only_b, strict=True))
    middle = (len(p_values) + 1) // 2
    p_value = min(1.0, p_values[middle - 1] * len(p_values) / middle)
    names = (a.cell, b.cell)
    return TestResult(*names, "sign", int(np.median(only_a + only_b)), z, p_value, _favoured(names, z))


def signed_rank_test(
    names: tuple[str, str],
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    metric: str,
    alpha: float = 0.05,
    known: Mapping[str, Metric] = METRICS,
) -> TestResult:
    """Wilcoxon's signed rank test (Biometrics Bulletin 1, 1945) of the scores of the splits, in pairs.

    Splits without a difference are dropped (Wilcoxon's own zero rule) and equal differences share their mean rank. The
    p-value is exact, ties included. With N splits it is never below 2 / 2^N: where that exceeds alpha the design cannot
    be tested at all. Splits share training documents, so the test leans to small p-values (Dietterich, Neural
    Computation 10, 1998): read it beside the tests over documents. `favours` is the cell with the better scores: the
    lower ones where less is better.
    """
    # Scores are ratios of counts: rounding restores the ties and zeros that floating point takes apart.
    differences = np.round(a - b, 12).ravel()
    n = int(np.count_nonzero(differences))
    smallest = min(1.0, 2.0 ** (1 - differences.size))
    if smallest > alpha:
        return untestable(names, "wilcoxon", f"smallest p {smallest:g}", n)
    above, below, p_value = signed_rank(differences)
    advantage = above - below if more_is_better(metric, known) else below - above
    return TestResult(*names, "wilcoxon", n, min(above, below), p_value, _favoured(names, advantage))


def signed_rank(differences: NDArray[np.float64]) -> tuple[float, float, float]:
    """Rank sums of the positive and of the negative differences, and the exact two-sided p-value.

    Given the ranks of |d|, all 2^n sign patterns are equally likely; their rank sums are counted by convolution
    (twice the mid-rank is an integer, so that ties need no approximation; without ties it is scipy's exact p-value).
    """
    kept = differences[differences != 0]
    if not kept.size:
        return 0.0, 0.0, 1.0
    doubled = (2 * stats.rankdata(np.abs(kept))).astype(np.intp)
    chance = np.zeros(int(doubled.sum()) + 1)
    chance[0] = 1.0
    for rank in doubled:
        flipped = np.zeros_like(chance)
        flipped[rank:] = chance[: chance.size - rank]
        chance = (chance + flipped) / 2
    above, below = int(doubled[kept > 0].sum()), int(doubled[kept < 0].sum())
    tail = float(chance[: min(above, below) + 1].sum())
    return above / 2, below / 2, min(1.0, 2 * tail)


def wilcoxon_over_classes(a: Outcome, b: Outcome) -> TestResult:
    """Wilcoxon's signed rank test of F1 with a pair for each draw and class, exact.

    A draw's classes share their training documents, and a class's draws share its test documents: there is less in k·r
    such pairs than in as many independent ones, and p leans to small values.
    """
    check_same_documents(a, b)
    found = signed_rank_test((a.cell, b.cell), f1(a.tallies), f1(b.tallies), "f1")
    return replace(found, test="wilcoxon, category × draw" if len(a.rows) > 1 else "wilcoxon, categories")


def holm(results: Iterable[TestResult]) -> list[TestResult]:
    """Fill in `p_holm` over these results (Holm, Scandinavian Journal of Statistics 6, 1979), untestable ones aside."""
    results = list(results)
    raw = [result.p_value for result in results if result.p_value is not None]
    each = iter(multipletests(raw, method="holm")[1] if raw else ())
    return [result if result.p_value is None else replace(result, p_holm=float(next(each))) for result in results]


def untestable(names: tuple[str, str], test: str, reason: str, n: int = 0) -> TestResult:
    """A test that can't be made of this design."""
    return TestResult(*names, test, n, math.nan, None, note=f"not testable ({reason})")


def _sign_p(k: int, others: int) -> float:
    """Compute the exact two-sided p-value of k successes in k + others tosses of a fair coin; 1 of no toss."""
    return float(stats.binomtest(k, k + others).pvalue) if k + others else 1.0


def _favoured(names: tuple[str, str], advantage: float) -> str | None:
    """The name of the first or of the second, or None where neither has an advantage."""
    return None if advantage == 0 else names[0] if advantage > 0 else names[1]
