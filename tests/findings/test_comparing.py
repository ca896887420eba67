"""Two cells of a run, and two runs."""

from __future__ import annotations

from benchmark.findings.comparing import compare_cells, compare_runs


class TestComparing:
    def test_two_cells_have_scores_and_tests(self, drawn):
        study, predictions, _ = drawn
        scores, tests = compare_cells(study, predictions, {}, "rbf-oracle-50", "linear-oracle-50")
        assert [row[0] for row in scores.rows] == ["error %"]
        assert [row[0] for row in tests.rows] == ["wilcoxon", "mcnemar"]

    def test_a_run_and_itself_decide_alike(self, drawn):
        study, predictions, _ = drawn
        (part,) = compare_runs((study, predictions), (study, predictions), ("one", "two"))
        assert len(part.rows) == len(study.cells)
        assert all(row[-3:] == ("+0.00", 240, 0) for row in part.rows)
