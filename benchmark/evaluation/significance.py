"""Significance tests of two cells on the same documents, and of several methods by their ranks on several problems."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchmark.evaluation.metrics import METRICS, f1, more_is_better
from benchmark.evaluation.outcomes import check_same_documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.evaluation.metrics import Metric
    from benchmark.evaluation.outcomes import Outcome
    from benchmark.system.arrays import Array, Indices


#: Level below which a p-value is significant, unless a paper states another.
SIGNIFICANCE_LEVEL = 0.05


@dataclass(frozen=True)
class TestResult:
    """Result of one test of cell `a` against cell `b`.

    Parameters
    ----------
    a, b : str
        Names of the cells.
    test : str
        "sign", "mcnemar" or "wilcoxon", followed by details that distinguish tests of the same name: "wilcoxon,
        micro-f1".
    n : int
        Number of pairs: discordant documents (sign, mcnemar), folds that differ (wilcoxon).
    statistic : float
        Z (sign), the continuity-corrected χ² (mcnemar), the smaller rank sum (wilcoxon).
    p_value : float or None
        Exact, two-sided p-value; None where the design can't be tested.
    favours : str or None
        Cell with more wins (wilcoxon: with the larger rank sum); None where there is no difference.
    note : str
        Reason why there is no p-value, else "".
    p_holm : float or None
        p-value after Holm's correction over all tests of the table; None before the correction, or without p_value.
    least_p : float
        Smallest p-value that as many pairs can give. After Holm's correction, what it would be corrected to if all
        other tests stayed as they are.
    """

    __test__ = False  # not a test class for pytest

    a: str
    b: str
    test: str
    n: int
    statistic: float
    p_value: float | None
    favours: str | None = None
    note: str = ""
    p_holm: float | None = None
    least_p: float = 0.0

    def is_testable(self, alpha: float = SIGNIFICANCE_LEVEL) -> bool:
        """Return whether this test could be significant at level alpha, whatever the pairs favoured."""
        return self.p_value is not None and self.least_p <= alpha


def outcome_table(a: Outcome, b: Outcome) -> Indices:
    """Count for each fold the documents on which both, one or none of the two cells are right.

    Where documents may have several classes, decisions are counted, one for each document and class. If a single class
    is scored, only its documents are counted, or the decisions on it.

    Returns
    -------
    int array, shape (folds, 4)
        Columns: both right, only a, only b, both wrong.
    """
    check_same_documents(a, b)
    kind = 2 * ~a.correct + ~b.correct
    if a.multilabel:
        columns = slice(None) if a.of_class is None else slice(a.of_class, a.of_class + 1)
        return np.stack([np.bincount(kind[rows, columns].ravel(), minlength=4) for rows in a.rows])
    counted = a.counted()
    return np.stack([np.bincount(kind[rows[counted[rows]]], minlength=4) for rows in a.rows])


def sign_z(only_a: NDArray[np.integer] | int, only_b: NDArray[np.integer] | int) -> Array:
    """Compute Z of the micro sign test, ``(k - n/2) / (sqrt(n) / 2)``, or 0 where n = 0.

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
    """Test the difference over the test documents with an exact McNemar test or sign test.

    (McNemar, Psychometrika 12, 1947; Yang and Liu 1999.) A document counts once, even if several replicates test it:
    their predictions of one document aren't independent, and pooling them would count a document as often as it was
    tested. A document counts for the cell that is right on it in more replicates, and is discordant unless both are
    right equally often.

    Under the null hypothesis each discordant document counts for either cell with probability 1/2. The exact p-values
    of the two tests are therefore the same, and 1 where no document is discordant. The statistic is Z for the sign
    test, and for McNemar's test that of the asymptotic test with Edwards' continuity correction,
    ``max(|only_a - only_b| - 1, 0)² / (only_a + only_b)``.

    Parameters
    ----------
    name : {"mcnemar", "sign"}
    a, b : Outcome
        Outcomes on the same splits, where each document has exactly one class.

    Returns
    -------
    TestResult
    """
    check_same_documents(a, b)
    counted = a.counted()
    documents = np.unique(a.documents[counted], return_inverse=True)[1].ravel()
    advantage = np.bincount(documents, a.correct[counted].astype(np.float64) - b.correct[counted])
    only_a, only_b = int((advantage > 0).sum()), int((advantage < 0).sum())
    n = only_a + only_b
    if name == "sign":
        statistic, p_value = float(sign_z(only_a, only_b)), _sign_p(only_a, only_b)
    else:
        from statsmodels.stats.contingency_tables import mcnemar  # noqa: PLC0415 - a tenth of a second, for a test alone

        statistic = max(abs(only_a - only_b) - 1, 0) ** 2 / n if n else 0.0
        p_value = float(mcnemar([[0, only_a], [only_b, 0]], exact=True).pvalue)
    names = (a.cell, b.cell)
    favours = _favoured(names, only_a - only_b)
    return TestResult(*names, name, n, statistic, p_value, favours, least_p=_least_p(n))


def micro_sign_test(a: Outcome, b: Outcome) -> TestResult:
    """Test the difference over all decisions, one for each document and class (Yang and Liu 1999, section 4.1).

    Splits that test each document once are pooled. Replicates that predict the same documents are tested separately:
    pooling them would count each document as often as there are replicates. The k-th smallest of r p-values, times r/k,
    is a p-value under any dependence (Rüger, Metrika 25, 1978); k = r/2, rounded up, makes it twice the median. The
    decisions of one replicate on one document's classes aren't independent either, as in Yang and Liu's test: p-values
    tend to be too small.

    The test counts right decisions, most of which are that a document doesn't have a class. A method with a higher F1
    may therefore lose.

    Returns
    -------
    TestResult
        `n`, the number of decisions on which exactly one cell is right, and Z are medians over the replicates.
    """
    _, only_a, only_b, _ = (outcome_table(a, b) if a.repeats_documents else outcome_table(a, b).sum(axis=0)[None]).T
    z = float(np.median(sign_z(only_a, only_b)))
    middle = (len(only_a) + 1) // 2

    def combined(p_values: Iterable[float]) -> float:
        return min(1.0, sorted(p_values)[middle - 1] * len(only_a) / middle)

    p_value = combined(_sign_p(int(k), int(others)) for k, others in zip(only_a, only_b, strict=True))
    least, n = combined(map(_least_p, (only_a + only_b).tolist())), int(np.median(only_a + only_b))
    names = (a.cell, b.cell)
    return TestResult(*names, "sign", n, z, p_value, _favoured(names, z), least_p=least)


def signed_rank_test(
    names: tuple[str, str],
    a: Array,
    b: Array,
    metric: str,
    alpha: float = SIGNIFICANCE_LEVEL,
    known: Mapping[str, Metric] = METRICS,
) -> TestResult:
    """Test paired scores of the splits with Wilcoxon's signed rank test (Biometrics Bulletin 1, 1945).

    Splits without a difference are dropped (Wilcoxon's own zero rule) and equal differences share their mean rank. The
    p-value is exact, also with ties. With N splits it is never below 2 / 2^N: where that exceeds alpha, the design
    can't be tested. Splits share training documents, so p-values tend to be too small (Dietterich, Neural Computation
    10, 1998): read the test together with those over documents. `favours` is the cell with the better scores: the lower
    scores where less is better.
    """
    # Scores are ratios of counts: rounding restores ties and zeros that floating-point errors break.
    differences = np.round(a - b, 12).ravel()
    n = int(np.count_nonzero(differences))
    smallest = _least_p(differences.size)
    if smallest > alpha:
        return not_testable(names, "wilcoxon", f"smallest p {smallest:g} with {differences.size} cases", n)
    above, below, p_value = exact_signed_rank(differences)
    advantage = above - below if more_is_better(metric, known) else below - above
    favours = _favoured(names, advantage)
    return TestResult(*names, "wilcoxon", n, min(above, below), p_value, favours, least_p=_least_p(n))


def exact_signed_rank(differences: Array) -> tuple[float, float, float]:
    """Return the rank sums of the positive and the negative differences, and the exact two-sided p-value.

    Given the ranks of |d|, all 2^n sign patterns are equally likely. Their rank sums are counted by convolution: twice
    the mid-rank is an integer, so that ties need no approximation. Without ties, the p-value is scipy's exact one.
    """
    nonzero = differences[differences != 0]
    if not nonzero.size:
        return 0.0, 0.0, 1.0
    doubled = (2 * stats.rankdata(np.abs(nonzero))).astype(np.intp)
    chance = np.zeros(int(doubled.sum()) + 1)
    chance[0] = 1.0
    for rank in doubled:
        flipped = np.zeros_like(chance)
        flipped[rank:] = chance[: chance.size - rank]
        chance = (chance + flipped) / 2
    above, below = int(doubled[nonzero > 0].sum()), int(doubled[nonzero < 0].sum())
    tail = float(chance[: min(above, below) + 1].sum())
    return above / 2, below / 2, min(1.0, 2 * tail)


def wilcoxon_over_classes(a: Outcome, b: Outcome) -> TestResult:
    """Test F1 with the exact signed rank test, with a pair for each replicate and class.

    The classes of a replicate share training documents, and the replicates of a class share test documents: k·r such
    pairs hold less information than as many independent pairs, and p-values tend to be too small.
    """
    check_same_documents(a, b)
    result = signed_rank_test((a.cell, b.cell), f1(a.tallies), f1(b.tallies), "f1")
    return replace(result, test="wilcoxon, category × replicate" if len(a.rows) > 1 else "wilcoxon, categories")


def holm_correction(results: Iterable[TestResult], alpha: float = SIGNIFICANCE_LEVEL) -> list[TestResult]:
    """Return the results with `p_holm` filled in (Holm, Scandinavian Journal of Statistics 6, 1979).

    Results without a p-value are returned unchanged and don't count in the correction. `least_p` is corrected, too: it
    is put in the place of the result's own p-value, the others being as they are. If it then exceeds alpha, the test
    could not become significant, and `note` says so.
    """
    results = list(results)
    raw = np.array([result.p_value for result in results if result.p_value is not None])
    if not raw.size:
        return results
    # Not by statsmodels, whose function collects the garbage of the whole process at each call.
    ascending = np.sort(raw)
    before = np.concatenate([[0.0], np.maximum.accumulate(ascending * np.arange(raw.size, 0, -1))])
    found = []
    for result in results:
        if result.p_value is None:
            found.append(result)
            continue
        rank = int(np.searchsorted(ascending, result.least_p))  # p-values below its smallest
        least = min(1.0, max(float(before[rank]), (raw.size - rank) * result.least_p))
        corrected = min(1.0, float(before[np.searchsorted(ascending, result.p_value) + 1]))
        found.append(_with_note(replace(result, p_holm=corrected, least_p=least), alpha))
    return found


def _with_note(result: TestResult, alpha: float) -> TestResult:
    """Return the result with a note if it has a p-value that could not be at most alpha."""
    if result.p_value is None or result.is_testable(alpha):
        return result
    least = f"smallest p {result.least_p:.3g} after Holm's correction, with {result.n:,} cases that differ"
    reason = least if result.n else "the two never differ"
    return replace(result, note=f"not testable ({reason})")


def not_testable(names: tuple[str, str], test: str, reason: str, n: int = 0) -> TestResult:
    """Return the result of a test that this design doesn't allow, with the reason in `note`."""
    return TestResult(*names, test, n, math.nan, None, note=f"not testable ({reason})")


def _sign_p(k: int, others: int) -> float:
    """Compute the exact two-sided p-value of k successes in k + others tosses of a fair coin; 1 for no toss."""
    return float(stats.binomtest(k, k + others).pvalue) if k + others else 1.0


def _least_p(n: int) -> float:
    """Compute the smallest two-sided p-value of n fair signs: all of them alike; 1 for none."""
    return min(1.0, 2.0 ** (1 - n))


def _favoured(names: tuple[str, str], advantage: float) -> str | None:
    """Return the name of the cell with the advantage: the first if it is positive, None if it is 0."""
    return None if advantage == 0 else names[0] if advantage > 0 else names[1]


@dataclass(frozen=True)
class MeanRanks:
    """Methods from the best to the worst over several problems.

    Parameters
    ----------
    methods : tuple of str
        Names of the methods, the best first.
    ranks : tuple of float
        Mean rank of each method; 1 is the best.
    problems : int
        Number of problems, or of their groups.
    statistic, p_value : float
        Iman and Davenport's F of Friedman's test, corrected for ties, and its p-value under the hypothesis that all
        methods are equal. NaN for fewer than two problems or methods; ∞ and 0 if all problems give the same ranking.
    critical : float
        Nemenyi's critical difference at 5%: mean ranks that are closer don't differ significantly. ∞ for fewer than
        two problems or methods.
    """

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    problems: int
    statistic: float
    p_value: float
    critical: float


def rank_methods(methods: Sequence[str], scores: Array, groups: Sequence[str] | None = None) -> MeanRanks:
    """Rank methods by their scores on each problem, the largest first; ties get the mean of their ranks.

    Friedman's and Nemenyi's tests need independent problems. Those of one group (the problems of one corpus, which
    share documents) count as one: methods are ranked by the mean of their ranks on them.

    Parameters
    ----------
    methods : sequence of str
    scores : array, shape (problems, methods)
        Larger is better. Only ranks within a problem count, so problems may be scored by different metrics.
    groups : sequence of str, length problems, optional
        Group of each problem; by default each is one of its own.

    Returns
    -------
    MeanRanks

    Raises
    ------
    ValueError
        If a score is missing: ranks on different problems wouldn't be comparable.
    """
    scores = np.asarray(scores, dtype=np.float64)
    n, k = scores.shape
    if k != len(methods) or not n or not k:
        raise ValueError(f"{n} × {k} scores of {len(methods)} methods")
    if not np.isfinite(scores).all():
        raise ValueError("a method without a score on some problem has no mean rank")
    # Means of the same counts may differ in the last digits; rounding restores ties.
    rounded = np.round(-scores, 12)
    if groups is not None:
        each, names = stats.rankdata(rounded, axis=1), np.asarray(groups)
        rounded = np.array([each[names == name].mean(axis=0) for name in dict.fromkeys(groups)]).round(12)
        n = len(rounded)
    means = stats.rankdata(rounded, axis=1).mean(axis=0)
    order = np.argsort(means, kind="stable")
    statistic = p_value = math.nan
    critical = math.inf
    if n > 1 and k > 1:
        chi2 = _friedman(rounded)
        rest = n * (k - 1) - chi2
        statistic = (n - 1) * chi2 / rest if rest > 1e-9 else math.inf
        p_value = float(stats.f.sf(statistic, k - 1, (k - 1) * (n - 1)))
        critical = critical_difference(k, n)
    ranks = tuple(float(means[i]) for i in order)
    return MeanRanks(tuple(methods[i] for i in order), ranks, n, float(statistic), p_value, critical)


def _friedman(scores: Array) -> float:
    """Compute Friedman's χ² of scores of shape (problems, methods), corrected for ties; 0 where all are equal."""
    if not np.ptp(scores, axis=1).any():
        return 0.0
    if scores.shape[1] > 2:
        return float(stats.friedmanchisquare(*scores.T).statistic)
    # scipy needs three methods; for two, χ² is the square of the sign test's Z.
    ahead = np.sign(scores[:, 0] - scores[:, 1])
    return float(ahead.sum() ** 2 / np.count_nonzero(ahead))


def critical_difference(methods: int, problems: int) -> float:
    """Compute Nemenyi's critical difference of mean ranks at 5% (Demšar 2006, section 3.2.2).

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # Demšar's example
    1.25
    """
    quantile = float(stats.studentized_range.ppf(1 - SIGNIFICANCE_LEVEL, methods, np.inf))
    return quantile / math.sqrt(2) * math.sqrt(methods * (methods + 1) / (6 * problems))
