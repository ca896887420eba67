from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import f1_score

from benchmark.evaluation import intervals
from benchmark.evaluation.intervals import (
    TOO_FEW_TESTED,
    bonett_price,
    estimate_difference,
    estimate_score,
    sign_z_estimate,
    wilson,
)
from benchmark.evaluation.metrics import METRICS, is_metric_defined, tally_predictions
from benchmark.evaluation.outcomes import CellScores, Outcome, fold_scores
from benchmark.evaluation.sampling_model import SamplingModel
from benchmark.evaluation.significance import outcome_table, sign_z
from tests.evaluation.outcomes import paired, random_outcome

COUNTED = [name for name, metric in METRICS.items() if metric.ranking is None]  # the others: test_ranking_metrics.py
SINGLE = [name for name in COUNTED if is_metric_defined(name, multilabel=False, of_class=False)]
OF_CLASS = [name for name in COUNTED if is_metric_defined(name, multilabel=True, of_class=True)]
SEVERAL = [name for name in COUNTED if is_metric_defined(name, multilabel=True, of_class=False)]


def take(o, rows):
    return Outcome(o.cell, rows, o.folds[rows], o.truth[rows], o.predicted[rows], o.n_classes, o.of_class)


def resampled(*outcomes):
    """The bootstrap as the textbook has it: documents drawn one by one, with replacement, within each fold."""
    rng, found = np.random.default_rng(0), []
    for _ in range(1500):
        rows = np.concatenate([rng.choice(rows, rows.size) for rows in outcomes[0].rows])
        found.append([take(outcome, rows) for outcome in outcomes])
    return found


def score(o, metric):
    """The score over all splits: of all documents at once where the metric is pooled, else the mean of the splits."""
    if not METRICS[metric].pooled:
        return fold_scores(o, metric).mean()
    whole = tally_predictions(o.truth, o.predicted, o.n_classes)
    return METRICS[metric].of(whole if o.of_class is None else whole.only(o.of_class))


def assert_ends_are(result, brute):
    """The standard error of a 2.5% quantile of 1500 draws is about 0.07 standard deviations of them."""
    assert (result.low, result.high) == pytest.approx(np.quantile(brute, [0.025, 0.975]), abs=0.3 * np.std(brute))


def assert_bootstrapped(outcome, resamples, metric):
    result = estimate_score(outcome, metric, resamples=20_000)
    assert result.method == "bootstrap"
    assert_ends_are(result, [score(own, metric) for (own,) in resamples])


def assert_difference_bootstrapped(a, b, resamples, metric):
    result = estimate_difference(a, b, metric, resamples=20_000)
    assert result.value == pytest.approx(score(a, metric) - score(b, metric))
    assert_ends_are(result, [score(one, metric) - score(other, metric) for one, other in resamples])


def decisions(cell, sizes, seed, k=3, of_class=None):
    """Documents with any number of k classes, and a classifier that errs on every fifth decision."""
    truth = np.random.default_rng(len(sizes)).random((sum(sizes), k)) < 0.4
    given = truth ^ (np.random.default_rng(seed).random(truth.shape) < 0.2)
    return Outcome(cell, np.arange(len(truth)), np.repeat(np.arange(len(sizes)), sizes), truth, given, k, of_class)


class TestWilson:
    @given(data=st.data(), n=st.integers(1, 500))
    def test_agrees_with_the_closed_form(self, data, n):
        right = data.draw(st.integers(0, n))
        p, z2 = right / n, stats.norm.ppf(0.975) ** 2
        centre, reach = p + z2 / (2 * n), np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n)))
        assert wilson(right, n) == pytest.approx(
            ((centre - reach) / (1 + z2 / n), (centre + reach) / (1 + z2 / n)), abs=1e-12
        )


class TestBonettPrice:
    def test_by_hand(self):
        # only a 6, only b 1, n = 20: p1 = 7/22, p2 = 2/22
        spread = 1.959963984540054 * np.sqrt((9 / 22 - (5 / 22) ** 2) / 22)
        assert bonett_price(6, 1, 20) == pytest.approx((5 / 22 - spread, 5 / 22 + spread))

    @pytest.mark.parametrize("chances", [(0.1, 0.1), (0.15, 0.05), (0.02, 0.0)])
    @pytest.mark.parametrize("n", [30, 200])
    def test_covers(self, chances, n):
        """Exact coverage, by summing over all outcomes: near 95% also where hardly any document is discordant."""
        only_a, only_b = chances
        tables = np.array([(x, y, n - x - y) for x in range(n + 1) for y in range(n + 1 - x)])
        chance = stats.multinomial.pmf(tables, n, [only_a, only_b, 1 - only_a - only_b])
        low, high = np.array([bonett_price(int(x), int(y), n) for x, y, _ in tables]).T
        assert chance[(low <= only_a - only_b) & (only_a - only_b <= high)].sum() > 0.94


class TestEstimate:
    @pytest.mark.parametrize("metric", SINGLE)
    def test_value_is_the_mean_over_folds_or_pooled(self, metric):
        outcome = random_outcome("a", [60, 90, 120], 3, 0.7, 1)
        result = estimate_score(outcome, metric)
        assert result.value == pytest.approx(score(outcome, metric))
        assert result.low < result.value < result.high
        assert (result.n, result.method) == (270, "bootstrap")

    @pytest.mark.parametrize(("sizes", "tested"), [([9, 200], 9), ([10, 200], 10), ([1, 1, 300], 1)])
    def test_a_mean_over_classes_has_no_interval_where_a_class_has_fewer_than_ten(self, sizes, tested):
        truth = np.repeat(np.arange(len(sizes)), sizes)
        given = np.where(np.arange(truth.size) % 5 == 0, (truth + 1) % len(sizes), truth)
        folds = np.arange(truth.size) % 2  # the documents of all splits count together
        a = Outcome("a", np.arange(truth.size), folds, truth, given, len(sizes))
        b = Outcome("b", np.arange(truth.size), folds, truth, truth, len(sizes))
        for result in (estimate_score(a, "macro-f1"), estimate_difference(a, b, "macro-f1")):
            assert np.isnan([result.low, result.high]).all() == (tested < 10)
        assert estimate_score(a).low < estimate_score(a).high
        of_largest = replace(a, of_class=len(sizes) - 1)
        assert estimate_score(of_largest, "f1").method == "bootstrap"

    @pytest.mark.parametrize("of_splits", [(6, 6), (10, 10), (19, 1)])
    def test_where_a_mean_over_classes_is_one_over_splits_each_split_needs_ten_of_a_class(self, of_splits):
        truth = np.concatenate([np.repeat([0, 1], [n, 60]) for n in of_splits])
        folds = np.repeat([0, 1], [n + 60 for n in of_splits])
        given = np.where(np.arange(truth.size) % 5 == 0, 1 - truth, truth)
        outcome = Outcome("a", np.arange(truth.size), folds, truth, given, 2)
        assert estimate_score(outcome, "macro-f1").method == "bootstrap"
        alone = estimate_score(outcome, "macro-f1-mean-of-splits").method
        assert alone == ("bootstrap" if min(of_splits) >= 10 else TOO_FEW_TESTED)

    @pytest.mark.parametrize("metric", SINGLE)
    def test_a_class_that_is_neither_tested_nor_predicted_takes_no_interval(self, metric):
        own = random_outcome("a", [60, 90], 3, 0.7, 1)
        assert estimate_score(replace(own, n_classes=5), metric) == estimate_score(own, metric)

    @pytest.mark.parametrize("metric", SINGLE)
    def test_a_score_that_a_document_of_a_small_class_decides_has_no_interval(self, metric):
        """One document in 303 moves a share of documents by 1/303, and a mean over classes by far more."""
        truth = np.repeat([0, 1], [300, 3])
        right = np.where(np.arange(303) % 5 == 0, 1 - truth, truth)
        wrong = np.where(np.arange(303) == 302, 0, right)
        a, b = (
            Outcome(name, np.arange(303), np.zeros(303, int), truth, own, 2)
            for name, own in (("a", right), ("b", wrong))
        )
        decides = abs(score(a, metric) - score(b, metric)) > 1.5 / 303
        for result in (estimate_score(a, metric), estimate_difference(a, b, metric)):
            assert (result.method == TOO_FEW_TESTED) == decides

    def test_pooled_macro_f1_is_scikit_learns_of_all_documents(self):
        """Of one split alone, as scikit-learn has it: a class that it lacks is left out, unless it is predicted."""
        truth, folds = np.repeat([0, 1], 40), np.repeat([0, 1], 40)
        perfect = Outcome("a", np.arange(80), folds, truth, truth, 2)
        assert estimate_score(perfect, "macro-f1").value == 1
        assert estimate_score(perfect, "macro-f1-mean-of-splits").value == 1
        given = np.where(np.arange(80) % 40 == 0, 1 - truth, truth)
        of_splits = [f1_score(truth[folds == i], given[folds == i], average="macro") for i in (0, 1)]
        found = estimate_score(replace(perfect, predicted=given), "macro-f1-mean-of-splits")
        assert found.value == pytest.approx(np.mean(of_splits)) == pytest.approx(0.4936, abs=1e-4)
        other = random_outcome("a", [30, 60, 90], 3, 0.7, 1)
        expected = f1_score(other.truth, other.predicted, average="macro")
        assert estimate_score(other, "macro-f1").value == pytest.approx(expected)

    @pytest.mark.parametrize("metric", ["accuracy", "micro-f1"])
    def test_one_split_has_wilsons_interval(self, metric):
        outcome = random_outcome("a", [80], 3, 0.7, 1)
        result = estimate_score(outcome, metric)
        assert (result.low, result.high) == wilson(int(outcome.correct.sum()), 80)
        assert result.value == pytest.approx(outcome.correct.mean())
        assert result.method == "wilson"

    def test_is_the_bootstrap_of_documents(self):
        """The kinds' counts drawn at once and the documents drawn one by one give the same distribution."""
        outcome = random_outcome("a", [50, 60, 70], 3, 0.6, 1)
        resamples = resampled(outcome)
        for metric in SINGLE:
            assert_bootstrapped(outcome, resamples, metric)


class TestSeveralClasses:
    @pytest.mark.parametrize("of_class", [None, 1])
    def test_documents_are_drawn_with_all_of_their_decisions(self, of_class):
        outcome = decisions("a", [50, 60], 1, of_class=of_class)
        resamples = resampled(outcome)
        for metric in SEVERAL if of_class is None else OF_CLASS:
            assert_bootstrapped(outcome, resamples, metric)

    def test_differences_are_of_the_same_documents(self):
        a, b = decisions("a", [30, 50], 1), decisions("b", [30, 50], 2)
        assert_difference_bootstrapped(a, b, resampled(a, b), "micro-f1")

    def test_of_one_class_of_single_labels_too(self):
        whole = random_outcome("a", [50, 60], 3, 0.6, 1)
        own = Outcome("a", whole.documents, whole.folds, whole.truth, whole.predicted, 3, 2)
        assert_bootstrapped(own, resampled(own), "recall")


def test_the_error_is_what_the_accuracy_lacks():
    for sizes in ([80], [30, 50]):
        outcome = random_outcome("a", sizes, 3, 0.7, 1)
        right, wrong = estimate_score(outcome, "accuracy"), estimate_score(outcome, "error")
        assert (wrong.value, wrong.low, wrong.high) == pytest.approx((1 - right.value, 1 - right.high, 1 - right.low))
    a, b = random_outcome("a", [80], 3, 0.7, 1), random_outcome("b", [80], 3, 0.5, 2)
    assert estimate_difference(a, b, "error").high == pytest.approx(-estimate_difference(a, b, "accuracy").low)


class TestDifference:
    def test_one_split(self):
        result = estimate_difference(*paired(50, 12, 5, 13))
        assert result.value == pytest.approx(7 / 80)
        assert (result.low, result.high) == bonett_price(12, 5, 80)

    def test_is_the_paired_bootstrap_of_documents(self):
        a, b = random_outcome("a", [60, 70], 3, 0.7, 1), random_outcome("b", [60, 70], 3, 0.6, 2)
        resamples = resampled(a, b)
        for metric in SINGLE:
            assert_difference_bootstrapped(a, b, resamples, metric)

    def test_of_cells_that_never_differ_is_that_of_the_counted_documents(self):
        """On several splits as on one: a sample without a difference doesn't show that there is none."""
        a = random_outcome("a", [30, 50], 3, 0.7, 1)
        found = estimate_difference(a, a)
        assert found == intervals.Estimate(0.0, *bonett_price(0, 0, 80), 80, "bonett-price")
        assert np.isnan(estimate_difference(a, a, "macro-f1").high)


class TestNothingVaries:
    """Folds or replicates without an error: every resample is as the sample, and the bootstrap's interval [1, 1]."""

    @pytest.mark.parametrize(("right", "n"), [(40, 40), (0, 40)])
    @pytest.mark.parametrize("folds", [1, 2, 5])
    def test_accuracy_and_error_have_wilsons_interval(self, right, n, folds):
        truth = np.arange(n) % 2
        predicted = truth if right else 1 - truth
        own = Outcome("a", np.arange(n), np.arange(n) % folds, truth, predicted, 2)
        low, high = wilson(right, n)
        for metric in ("accuracy", "micro-f1"):
            found = estimate_score(own, metric)
            assert (found.low, found.high, found.method) == (low, high, "wilson")
        found = estimate_score(own, "error")
        assert (found.low, found.high) == pytest.approx((1 - high, 1 - low))

    @pytest.mark.parametrize("metric", ["macro-f1", "macro-f1-mean-of-splits"])
    def test_other_scores_have_none(self, metric):
        truth = np.arange(80) % 2
        found = estimate_score(Outcome("a", np.arange(80), np.arange(80) // 40, truth, truth, 2), metric)
        assert (found.value, found.method) == (1, "none: nothing varies")
        assert np.isnan([found.low, found.high]).all()

    def test_replicates_count_a_document_once(self):
        truth = np.tile(np.arange(40) % 2, 3)
        own = Outcome("a", np.tile(np.arange(40), 3), np.repeat(np.arange(3), 40), truth, truth, 2)
        tested, ties = np.full(3, 40), np.zeros(3, np.int64)
        cells = [CellScores(name, ("1", "2", "3"), {"accuracy": np.ones(3)}, tested, ties, own) for name in "ab"]
        found = SamplingModel(0, replicated=True).estimate(cells[0], "accuracy")
        assert (found.value, found.low, found.high) == (1, *wilson(40, 40))
        gap = SamplingModel(0, replicated=True).difference(*cells, "accuracy")
        assert (gap.value, gap.low, gap.high) == (0, *bonett_price(0, 0, 40))


class TestSignZ:
    def test_is_the_bootstrap_of_documents(self):
        a, b = random_outcome("a", [60, 90], 3, 0.8, 1), random_outcome("b", [60, 90], 3, 0.6, 2)
        brute = []
        for one, other in resampled(a, b):
            _, only_a, only_b, _ = outcome_table(one, other).sum(axis=0)
            brute.append(sign_z(only_a, only_b))
        result = sign_z_estimate(a, b)
        assert result.low < result.value < result.high
        assert_ends_are(result, brute)
        _, only_a, only_b, _ = outcome_table(a, b).sum(axis=0)
        assert (result.value, result.n, result.method) == (sign_z(only_a, only_b), only_a + only_b, "bootstrap")
        assert result == sign_z_estimate(a, b, seed=0, resamples=10_000)

    def test_no_discordant_pair(self):
        result = sign_z_estimate(*paired(5, 0, 0, 5))
        assert (result.value, result.n) == (0, 0)
        assert np.isnan([result.low, result.high]).all()


def test_documents_that_are_tested_more_than_once_cannot_be_pooled():
    documents, folds = np.tile(np.arange(20), 3), np.repeat(np.arange(3), 20)
    pair = [Outcome(name, documents, folds, folds * 0, folds * 0, 2) for name in "ab"]
    for refused in (
        lambda: estimate_score(pair[0]),
        lambda: estimate_difference(*pair),
        lambda: sign_z_estimate(*pair),
    ):
        with pytest.raises(ValueError, match="more than once"):
            refused()


class TestReplicates:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ([0.25], (0.25, np.nan, np.nan, 7, "single replicate")),
            ([0.25, 0.25], (0.25, np.nan, np.nan, 7, "none: nothing varies")),
            ([0.2, 0.3, 0.5], (1 / 3, *stats.ttest_1samp([0.2, 0.3, 0.5], 0).confidence_interval(), 7,
                               "t over replicates")),
        ],
    )  # fmt: skip
    def test_have_students_interval(self, values, expected):
        found = intervals.replicate_mean(np.array(values), 7)
        numbers = (found.value, found.low, found.high)
        assert numbers == pytest.approx(expected[:3], nan_ok=True)
        assert (found.n, found.method) == expected[3:]
