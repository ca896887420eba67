"""Counts of documents by class and part, and coordinates of points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.corpora.archive import CorpusSource
from benchmark.diagnostics import DocumentCounts
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.system.arrays import split_names
from tests.builders import small_experiment
from tests.diagnostics.computing import computed, counts_of, values_of

if TYPE_CHECKING:
    from pathlib import Path

POINTS: dict[str, Any] = {
    "corpus": {"name": "curved-points", "space": "half-plane", "train": 20, "test": 30, "resolution": 10},
    "text": {"stoplist": "none"},
    "protocol": "fixed-split",
    "methods": [{"weighting": "tf", "normalization": "none", "kernel": "rbf"}],
}


def test_coordinates_are_those_of_the_points(tmp_path: Path) -> None:
    experiment = small_experiment(**POINTS, diagnostics=["coordinates"])
    found = run_experiment(experiment, RunContext(Store(tmp_path))).predictions.diagnostics["coordinates", "base"]
    reader = experiment.variants["base"].collection.reader
    np.testing.assert_array_equal(found["points"], reader.load(CorpusSource(None)).matrix.toarray())
    assert split_names(found["names"]) == ("mean μ", "standard deviation σ")
    parts = split_names(found["part_names"])
    assert [parts[each] for each in found["parts"][[0, 20, 50]]] == ["train", "test", "grid"]


def test_documents_count_for_each_of_their_classes_and_without_any_by_part() -> None:
    topics = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 0]], dtype=bool)
    parts = ("train", "test", "unused")
    counts = counts_of(np.ones((5, 2)), np.full(5, -1), topics=topics, parts=[0, 1, 1, 1, 1], part_names=parts)
    found = computed(DocumentCounts(), counts)
    values = {cell: value for (cell, _), value in values_of(found).items() if cell != "all"}
    by_class = {"a": [1, 2, 0], "b": [0, 2, 0], "c": [0, 1, 0], "all": [1, 4, 0]}
    assert values == {f"{name}-{part}": row[i] for name, row in by_class.items() for i, part in enumerate(parts)}
    assert {metric: n for (cell, metric), n in values_of(found).items() if cell == "all"} == {
        "documents": 5,
        "classes": 4,  # of the corpus, before some are selected
        "words": 2,
    }
    assert found.notes == (
        (
            "Documents without any of the 3 classes (0 train, 2 test, 0 unused), whether they have other topics or "
            "none, are negative examples of every class in training and in testing."
        ),
    )
