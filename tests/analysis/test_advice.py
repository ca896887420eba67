"""Advice on a person's own documents, end to end: a run of a table, and what its first sentence says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

import benchmark
from benchmark.analysis.prose.main_finding import advice_on_own_documents, main_finding
from tests.report.rows import result as of_pair
from tests.report.rows import summary_of

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.api import Result

METHODS = ["mnb", {"name": "linear", "classifier": "linear-svm"}, {"name": "constant", "predictions": "constant.csv"}]


def result(folder: Path, *, noise: int, compare: list[list[str]]) -> Result:
    """Return the run of a table of 120 texts of two classes; `noise` of each ten have the other label."""
    rows = [(i, "sun sea sand" if i % 2 else "snow ice wind", "ab"[(i % 2) ^ (i % 10 < noise)]) for i in range(120)]
    frame = pd.DataFrame(rows, columns=["id", "text", "label"])
    frame.to_csv(folder / "own.csv", index=False)
    frame.assign(label="a")[["id", "label"]].to_csv(folder / "constant.csv", index=False)
    path = folder / "own.yaml"
    path.write_text(
        "name: own\ncorpus: {name: files, path: own.csv, id: id, text: text, label: label}\n"
        f"protocol: {{name: k-fold, k: 3}}\nmethods: {METHODS}\ncompare: {compare}\n"
    )
    return benchmark.run(path)


class TestAdvice:
    def test_the_baseline_is_advised_unless_a_method_is_better_by_a_test(self, tmp_path: Path) -> None:
        done = result(tmp_path, noise=2, compare=[["constant", "linear"], ["mnb", "linear"]])
        advice = advice_on_own_documents(done.summary)
        assert advice is not None
        assert (advice["cell"], advice["baseline"], advice["better"], advice["worse"]) == (
            "linear",
            "linear",
            [],
            ["constant"],
        )
        assert advice["documents"] == 120

    def test_of_better_methods_the_one_with_the_best_score_is_advised(self, tmp_path: Path) -> None:
        done = result(tmp_path, noise=0, compare=[["linear", "constant"], ["mnb", "constant"]])
        advice = advice_on_own_documents(done.summary)
        assert advice is not None
        assert (advice["cell"], advice["baseline"], advice["possible"]) == ("linear", "constant", None)
        assert set(advice["better"]) == {"linear", "mnb"}
        assert main_finding(done.summary).headline.startswith("Use linear: accuracy 100.00% (95% interval ")

    def test_beside_a_better_method_no_other_is_said_to_be_possibly_better(self) -> None:
        gaps = [("a", "c", 0.2, 0.1, 0.3, 120), ("b", "c", 0.1, -0.1, 0.3, 120)]
        tests = [of_pair("a", "c"), of_pair("b", "c", 0.3)]
        advice = advice_on_own_documents(summary_of("abc", gaps=gaps, tests=tests, own_documents=True))
        assert advice is not None
        assert (advice["cell"], advice["open"], advice["possible"]) == ("a", ["b"], None)
