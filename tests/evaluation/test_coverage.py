"""What intervals and tests promise, counted over simulated experiments whose truth is known.

Nominal 95% is between 94 and 96 in 2,000 runs (2.05 standard errors), and no test rejects a true null hypothesis more
often than its level, but for chance. Where a promise can't be kept, the test says how far off it is.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from benchmark.evaluation.intervals import (
    _resampled,
    bonett_price,
    estimate_difference,
    estimate_score,
    replicate_mean,
    wilson,
)
from benchmark.evaluation.metrics import METRICS
from benchmark.evaluation.outcomes import CellScores, Outcome
from benchmark.evaluation.sampling_model import SamplingModel
from benchmark.evaluation.significance import document_test, exact_signed_rank, holm_correction
from tests.trials.limits import mostly_slow

RUNS = 2000


def covered(hits):
    return np.mean(list(hits))


def outcome(rng, truth, folds, right):
    """Predictions of which each is right with this chance; the wrong ones go to the next class."""
    wrong = rng.random(truth.size) >= right
    documents = np.arange(truth.size)
    return Outcome("a", documents, folds, truth, (truth + wrong) % 3, 3)


class TestIntervals:
    @pytest.mark.parametrize(("n", "chance"), mostly_slow(itertools.product([250, 1000, 3000], [0.3, 0.7, 0.9]), 3))
    def test_wilson_exactly(self, n, chance):
        """By summing over all outcomes, averaged over a small range of chances: at one it jumps with whole numbers."""
        shares = np.linspace(chance - 0.01, chance + 0.01, 21)
        right = np.arange(n + 1)
        low, high = np.array([wilson(k, n) for k in right]).T
        chances = [stats.binom.pmf(right, n, p)[(low <= p) & (p <= high)].sum() for p in shares]
        assert 0.94 < np.mean(chances) < 0.96

    def test_bonett_price(self):
        rng = np.random.default_rng(1)
        drawn = rng.multinomial(1000, [0.05, 0.03, 0.92], size=RUNS)
        ends = (bonett_price(int(a), int(b), 1000) for a, b, _ in drawn)
        assert 0.94 < covered(low <= 0.02 <= high for low, high in ends) < 0.96

    def test_the_bootstrap_of_a_mean_over_groups(self):
        """WebKB's shape, 1,041 documents in four groups, and the accuracy of each group given."""
        rng = np.random.default_rng(2)
        folds = np.repeat(np.arange(4), [226, 252, 255, 308])
        chances = np.array([0.88, 0.9, 0.92, 0.94])
        truth = rng.integers(3, size=folds.size)
        found = (estimate_score(outcome(rng, truth, folds, chances[folds]), resamples=400) for _ in range(RUNS))
        assert 0.94 < covered(each.low <= chances.mean() <= each.high for each in found) < 0.96

    def test_folds_that_may_be_without_an_error(self):
        """Of 40 documents of which 2% are wrong, 45 samples in 100 have no error: all of their resamples are 1."""
        rng, folds = np.random.default_rng(10), np.arange(40) % 2
        truth = rng.integers(3, size=40)
        found = [estimate_score(outcome(rng, truth, folds, 0.98), resamples=400) for _ in range(RUNS)]
        assert covered(each.low <= 0.98 <= each.high for each in found) > 0.94

    def test_the_paired_bootstrap(self):
        """Of two splits: of more, each run takes longer and shows no more."""
        rng = np.random.default_rng(3)
        folds = np.repeat([0, 1], [400, 600])
        truth = rng.integers(3, size=folds.size)

        def gap():
            hard = rng.random(truth.size)
            a, b = (outcome(rng, truth, folds, np.where(hard < 0.8, 1.0, chance)) for chance in (0.5, 0.3))
            return estimate_difference(a, b, resamples=400)

        found = (gap() for _ in range(RUNS))
        assert 0.94 < covered(each.low <= 0.04 <= each.high for each in found) < 0.96

    @pytest.mark.parametrize("folds", mostly_slow([1, 4], 1))
    def test_the_bootstrap_of_macro_f1(self, folds):
        """Of classes of 30 to 300 tested documents. With 4 folds, the resamples keep the size of each fold."""
        rng, sizes, recalls = np.random.default_rng(9), np.array([30, 60, 100, 300]), np.array([0.6, 0.7, 0.9, 0.95])
        n, k = sizes.sum(), len(sizes)
        chances = (1 - recalls)[:, None] * sizes / (n - sizes)[:, None]  # a wrong one goes to the others by their sizes
        np.fill_diagonal(chances, recalls)
        chances *= sizes[:, None] / n
        expected = (2 * np.diag(chances) / (chances.sum(axis=0) + chances.sum(axis=1))).mean()

        def drawn():
            kinds = rng.permutation(np.repeat(np.arange(k * k), rng.multinomial(n, chances.ravel())))
            return Outcome("a", np.arange(n), np.arange(n) % folds, kinds // k, kinds % k, k)

        found = [estimate_score(drawn(), "macro-f1", resamples=400) for _ in range(RUNS)]
        assert 0.925 < covered(each.low <= expected <= each.high for each in found) < 0.96

    def test_macro_f1_where_classes_are_small_would_not_cover(self):
        """R52 has classes of one tested document: a resample without it has F1 0 there. So there is no interval."""
        truth = np.repeat(np.arange(21), [200] + [1] * 20)
        perfect = Outcome("a", np.arange(truth.size), np.zeros_like(truth), truth, truth, 21)
        assert np.isnan(estimate_score(perfect, "macro-f1").high)
        of_resamples = [tallies for (tallies,) in _resampled([perfect], False, 0, 400)]
        assert np.quantile(METRICS["macro-f1"].of(of_resamples[0]), 0.975) < 0.85, "the score is 1"

    @pytest.mark.parametrize("draws", [4, 10, 20])
    def test_students_over_draws(self, draws):
        rng = np.random.default_rng(4)
        found = (replicate_mean(rng.normal(0.9, 0.02, draws), 100) for _ in range(RUNS))
        assert 0.94 < covered(each.low <= 0.9 <= each.high for each in found) < 0.96

    @pytest.mark.parametrize("draws", [10, 20])
    def test_fiellers_of_a_ratio(self, draws):
        rng = np.random.default_rng(5)

        def ratio():
            below = rng.normal(0.1, 0.02, draws)
            above = 0.55 * below + rng.normal(0, 0.008, draws)
            cells = [CellScores(name, tuple(map(str, range(draws))), {"error": v}, *2 * [np.ones(draws, np.int64)])
                     for name, v in (("a", above), ("b", below + rng.normal(0, 0.008, draws)))]  # fmt: skip
            return SamplingModel(0, replicated=True).ratio(*cells, "error")

        found = (ratio() for _ in range(RUNS))
        assert 0.94 < covered(each.low <= 0.55 <= each.high for each in found) < 0.96


class TestLevels:
    def rejected(self, p_values, level):
        """At most the level, and three standard errors."""
        share = np.mean(np.array(list(p_values)) < level)
        return share, level + 3 * np.sqrt(level * (1 - level) / RUNS)

    @pytest.mark.parametrize("name", ["sign", "mcnemar"])
    def test_of_documents(self, name):
        rng = np.random.default_rng(6)
        folds, truth = np.zeros(1000, np.intp), rng.integers(3, size=1000)

        def p():
            return document_test(name, *(outcome(rng, truth, folds, 0.9) for _ in range(2))).p_value

        share, most = self.rejected((p() for _ in range(RUNS)), 0.05)
        assert 0.02 < share < most

    @pytest.mark.parametrize("pairs", [10, 20])
    def test_of_signed_ranks(self, pairs):
        rng = np.random.default_rng(7)
        share, most = self.rejected((exact_signed_rank(rng.normal(size=pairs))[2] for _ in range(RUNS)), 0.05)
        assert 0.03 < share < most

    @pytest.mark.slow
    def test_of_holms_correction_over_a_claim(self):
        """Of eight comparisons none of which differs, one in twenty claims has any that seems to."""
        rng = np.random.default_rng(8)
        folds, truth = np.zeros(300, np.intp), rng.integers(3, size=300)

        def smallest():
            pairs = ([outcome(rng, truth, folds, 0.85) for _ in range(2)] for _ in range(8))
            return min(each.p_holm for each in holm_correction(document_test("sign", *pair) for pair in pairs))

        share = np.mean([smallest() < 0.05 for _ in range(100)])
        assert share < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)
