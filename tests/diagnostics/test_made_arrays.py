"""Numbers and notes of diagnostics from arrays made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.config.model import BASE_VARIANT
from benchmark.corpora.corpus import Documents
from benchmark.diagnostics import CentroidDistances, CentroidFlow, DocumentCounts
from benchmark.diagnostics.base import DiagnosticArrays, DiagnosticContext
from benchmark.system.string_arrays import join_names
from benchmark.text.counts import Counts
from tests.builders import small_experiment

CLASSES = ("a", "b", "c")


def notes(diagnostic: Any, arrays: Any) -> list[str]:
    return list(diagnostic.notes([DiagnosticArrays(BASE_VARIANT, arrays)]))


def counts_of(matrix: Any, topics: Any = None, parts: Any = None, part_names: tuple[str, ...] = ("all",)) -> Counts:
    n = matrix.shape[0]
    labels = np.zeros(n, dtype=np.int32) if topics is None else np.full(n, -1, dtype=np.int32)
    own = np.zeros(n, dtype=np.int32) if parts is None else np.array(parts, dtype=np.int32)
    documents = Documents(tuple(f"d{i}" for i in range(n)), labels, own, CLASSES, part_names, topics)
    return Counts(documents, sp.csr_array(matrix), tuple(f"w{i}" for i in range(matrix.shape[1])))


def computed(diagnostic: Any, counts: Counts) -> Any:
    variant = small_experiment().variants[BASE_VARIANT]
    return diagnostic.compute(DiagnosticContext(counts, variant, 0, 1, lambda _, compute: compute()))


class TestDistances:
    made = CentroidDistances(centroids=("mean", "skl"), resamples=2, smoothing=(0.1, 1.0))

    @staticmethod
    def arrays(smoothing: tuple[float, ...] = (0.1, 1.0)) -> dict[str, Any]:
        found: dict[str, Any] = {"classes": join_names(CLASSES), "documents": np.array([4, 5, 6])}
        found["smoothing"] = np.array(smoothing)
        values = {"mean": [1.0, 2.0, 6.0], "skl": [3.0, 2.0, 1.0]}
        swept = {"mean": [[1.0, 2.0, 3.0], [9.0, 2.0, 3.0]], "skl": [[1.0, 2.0, 3.5], [1.0, 2.0, 3.25]]}
        for name, own in values.items():
            found[f"{name}/values"] = np.array(own)
            found[f"{name}/resampled"] = np.array(own) + np.array([[1.0], [3.0]])
            found[f"{name}/by_smoothing"] = np.array(swept[name][: len(smoothing)]).reshape(len(smoothing), 3)
        return found

    def test_each_row_has_its_value_moved_spread_and_documents(self) -> None:
        told = self.made.numbers(DiagnosticArrays("few", self.arrays()))
        shown = {each.cell: (each.estimate.value, each.estimate.n) for each in told.rows}
        assert shown == {
            "few-table-mean-a": (1.0, 4),
            "few-table-mean-b": (2.0, 5),
            "few-table-mean-c": (6.0, 6),
            "few-table-skl-a": (3.0, 4),
            "few-table-skl-b": (2.0, 5),
            "few-table-skl-c": (1.0, 6),
        }
        for each in told.rows:
            assert each.estimate.low == pytest.approx(each.estimate.value - 0.95)
            assert each.estimate.high == pytest.approx(each.estimate.value + 0.95)
        assert [(p.x, p.value) for p in told.points if (p.method, p.of_class) == ("mean", "a")] == [(0.1, 1), (1.0, 9)]
        assert {(p.axis, p.metric) for p in told.points} == {("smoothing", "average-skl")}

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("smoothing", (0.0, 1.0)),
            ("centroids", ("skll",)),
        ],
    )
    def test_parameters_outside_are_refused(self, name: str, value: Any) -> None:
        with pytest.raises(ValueError, match=name):
            CentroidDistances(**{name: value}).check()


@pytest.mark.parametrize(("excess", "within"), [(3e-8, "1e-07"), (2**-16, "1e-04"), (0.0, "1e-12")])
def test_notes_round_the_excess_of_a_flow_up_and_its_mean_steps(excess: float, within: str) -> None:
    arrays: dict[str, Any] = {
        "classes": join_names(CLASSES),
        "exact": np.array([0.5, 0.25, 0.125]),
        "energies": np.array([0.5, 0.25 - excess, 0.125]),
        "steps": np.array([95, 111, 340]),
    }
    first, second = notes(CentroidFlow(), arrays)
    assert first.endswith("a 0.500000, b 0.250000, c 0.125000.")
    assert f"every energy within {within} of the exact one, after about 180 steps" in second


class TestDocumentCounts:
    topics = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 0]], dtype=bool)

    def test_documents_count_for_each_of_their_classes_and_without_any_by_part(self) -> None:
        counts = counts_of(np.ones((5, 2)), self.topics, [0, 1, 1, 1, 1], ("train", "test", "unused"))
        arrays = computed(DocumentCounts(), counts)
        rows = DocumentCounts().numbers(DiagnosticArrays(BASE_VARIANT, arrays)).rows
        assert {each.cell: each.estimate.value for each in rows if each.cell != "all"} == {
            "a-train": 1,
            "a-test": 2,
            "a-unused": 0,
            "b-train": 0,
            "b-test": 2,
            "b-unused": 0,
            "c-train": 0,
            "c-test": 1,
            "c-unused": 0,
            "all-train": 1,
            "all-test": 4,
            "all-unused": 0,
        }
        assert notes(DocumentCounts(), arrays) == [
            (
                "Documents without any of the 3 classes (0 train, 2 test, 0 unused), whether they have other topics or "
                "none, are negative examples of every class in training and in testing."
            )
        ]
