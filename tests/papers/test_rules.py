"""Published values and claims as data, and what is decided of them, where a file says what few files say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scipy.stats import wilcoxon

from benchmark.analysis.scoring import RunPredictions
from benchmark.evaluation.intervals import replicate_mean
from benchmark.evaluation.outcomes import Estimate
from benchmark.evaluation.significance import TestResult as Result
from benchmark.papers.claims import Evidence, evidence_for, judge_claim, judge_claims
from benchmark.papers.published import Claim, Published, PublishedValue
from benchmark.papers.published_verdicts import value_row
from tests.analysis.made import drawn_study, predicted, table_study

if TYPE_CHECKING:
    from benchmark.evaluation.score_table import ScoreTable

HEAD = {"paper": "p", "title": "t", "reference": "r"}
PAIR = {"config": "table", "a": "tf-l1-ngd", "b": "tf-l1-linear"}
CLAIM: dict[str, Any] = {"id": "c", "text": "t", "relation": "greater", "test": "sign", "comparisons": [PAIR]}
VALUE: dict[str, Any] = {"config": "table", "cell": "tf-l1-ngd", "metric": "accuracy", "value": "0.9"}


def paper(**sections: Any) -> Published:
    """A paper with some sections."""
    return Published.model_validate(HEAD | sections)


@pytest.fixture(scope="module", name="table")
def table_of_two_splits() -> ScoreTable:
    experiment = table_study()
    return RunPredictions(experiment, predicted(experiment), {}, {}).scored


@pytest.fixture(scope="module", name="drawn")
def curves() -> ScoreTable:
    experiment = drawn_study()
    return RunPredictions(experiment, predicted(experiment), {}, {}).scored


def of_pair(p: float | None, least: float, n: int) -> Result:
    """A test of the pair."""
    return Result(PAIR["a"], PAIR["b"], "sign", n, 2.0, p, PAIR["a"], least_p=least)


class TestVerdicts:
    @pytest.mark.parametrize(
        ("n", "p", "least", "verdict"),
        [
            (0, 1.0, 1.0, "holds"),  # never different
            (3, 1.0, 0.25, "not testable"),  # no outcome could have been significant
            (9, 0.01, 0.004, "contradicted"),
            (9, None, 0.004, "not testable"),
        ],
    )
    def test_the_same_by_a_test_needs_one_that_could_be_significant(
        self, n: int, p: float | None, least: float, verdict: str
    ) -> None:
        relation = {"relation": "equivalent", "margin": "0.01", "because": "b", "test": None, "rule": {"test": "sign"}}
        claim = Claim.model_validate(CLAIM | relation)
        evidence = Evidence(Estimate(0.0, -0.1, 0.1, 9, "t"), None, of_pair(p, least, n))
        assert judge_claim(claim, {claim.comparisons[0]: evidence}).paper == verdict

    def test_one_claim_may_be_of_several_metrics(self, table: ScoreTable) -> None:
        """A sentence on two figures is one claim, and all of its comparisons have to hold."""
        loop = PAIR | {"for": {"metric": ["accuracy", "macro-f1"]}, "metric": "{metric}"}
        (judged,) = judge_claims(paper(claims=[CLAIM | {"comparisons": [loop, PAIR]}]), table_study(), table)
        gaps = [each.evidence.estimate.value for each in judged.comparisons if each.evidence]
        own = [table.difference(PAIR["a"], PAIR["b"], metric).value for metric in ("accuracy", "macro-f1", "accuracy")]
        assert gaps == own
        assert gaps[0] != gaps[1]

    @pytest.mark.parametrize(
        ("points", "n", "grade"),
        [
            (0.3, 100, "same"),
            (0.5, 1000, "same"),  # 5 documents
            (0.51, 900, "near"),  # less than 5 documents, more than half a point
            (0.4, 2000, "near"),  # 8 documents
            (1.01, 10_000, "inside the interval"),
        ],
    )
    def test_five_documents_are_the_same_up_to_half_a_point(self, points: float, n: int, grade: str) -> None:
        printed = PublishedValue(**VALUE | {"value": "90.00", "unit": "percent"})
        for sign in (1, -1):
            ours = Estimate(round(0.9 + sign * points / 100, 6), 0.8, 0.95, n, "t")
            assert value_row(printed, ours)["grade"] == grade


def test_one_comparison_without_evidence_leaves_the_others_theirs(drawn: ScoreTable) -> None:
    def compared(b: str) -> dict[str, str]:
        return {"config": "drawn", "a": "linear-oracle-50", "b": b}

    cells = ["rbf-oracle-100", "rbf-oracle-50", "gone", "rbf-cv-50"]  # the first is tested on other documents
    claim = Claim.model_validate(CLAIM | {"metric": "error", "comparisons": [compared(b) for b in cells]})
    found = evidence_for(claim, "drawn", drawn)
    assert [comparison.b for comparison in found] == ["rbf-oracle-50", "rbf-cv-50"]
    assert evidence_for(claim, "other", drawn) == {}
    judged = judge_claim(claim, found)
    assert [each.strict == "missing" for each in judged.comparisons] == [True, False, True, False]


def test_a_cell_is_compared_with_the_mean_of_two(drawn: ScoreTable) -> None:
    """The mean is of each split, so that the difference is the mean of both differences, and its interval is paired."""
    a, *others = cells = ["linear-oracle-50", "rbf-oracle-50", "rbf-cv-50"]
    pair = {"config": "drawn", "a": a, "b": others[0], "mean_with": "{other}", "for": {"other": [others[1]]}}
    changes = {"metric": "error", "relation": "lower", "test": "wilcoxon", "comparisons": [pair]}
    claim = Claim.model_validate(CLAIM | changes)
    assert claim.comparisons[0].cells == tuple(cells)
    assert claim.comparisons[0].prefixed("v-", "x").cells == tuple(f"v-{cell}" for cell in cells)
    ((comparison, found),) = evidence_for(claim, "drawn", drawn).items()
    assert comparison.second == "mean of rbf-oracle-50 and rbf-cv-50"
    gaps = [drawn.difference(a, other, "error").value for other in others]
    assert found.estimate.value == pytest.approx(sum(gaps) / 2, abs=1e-15)
    splits = [drawn.cells[cell].values["error"] for cell in cells]
    paired = replicate_mean(splits[0] - (splits[1] + splits[2]) / 2, 1)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((paired.low, paired.high))
    assert found.test is not None
    assert found.test.p_value == pytest.approx(wilcoxon(splits[0], (splits[1] + splits[2]) / 2, mode="exact").pvalue)
    gone = [pair | {"for": {"other": ["gone"]}}]
    assert evidence_for(Claim.model_validate(CLAIM | changes | {"comparisons": gone}), "drawn", drawn) == {}
