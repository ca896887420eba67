"""Scores of learning curves from predictions made up by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.config import config_from_mapping
from benchmark.corpora.corpus import Documents
from benchmark.experiment.learning_curves import CurveResults, SizeResults, TaskResults
from benchmark.experiment.learning_scores import select

if TYPE_CHECKING:
    from collections.abc import Sequence

TASK = "faculty-course"
#: Of 20 documents, alternately of the one class and of the other, the first 12 train.
LABELS = np.arange(20, dtype=np.int32) % 2
TRAINED = np.arange(20) < 12


def scored(wrong: Sequence[int], inner: Sequence[Sequence[float]] = ()) -> dict[str, Any]:
    """What is selected where a grid's kernels get so many of the 8 tested documents wrong on each draw.

    `inner` has the inner error of each draw by kernel.
    """
    study = config_from_mapping(
        {
            "kind": "learning-curves",
            "name": "made-up",
            "corpus": {"name": "synthetic"},
            "text": {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 5},
            "tasks": [["faculty", "course"]],
            "sizes": [12],
            "replicates": 2,
            "kernels": [{"name": "diffusion", "t": [0.1 * (1 + i) for i in range(len(wrong))]}],
            "inner_folds": 3,
        },
        "test.yaml",
    )
    nothing = np.zeros(20, dtype=np.int32)
    documents = Documents(tuple(map(str, range(20))), LABELS, nothing, ("faculty", "course"), ("",))
    task = TaskResults(documents, {12: np.tile(TRAINED, (2, 1))})
    for index, number in enumerate(wrong):
        mistaken = (np.arange(20) >= 12) & (np.arange(20) < 12 + number)
        second = ((LABELS == 1) ^ mistaken) & ~TRAINED
        errors = np.array(inner[index]) if inner else np.zeros(2)
        task.found["diffusion", index, 12] = SizeResults(np.tile(second, (2, 1)), np.zeros(2, dtype=np.int64), errors)
    return select(CurveResults(study, {("base", TASK): task}, {}, {}))


@pytest.mark.parametrize("wrong", [0, 3, 8])
def test_only_tested_documents_can_be_wrong(wrong: int) -> None:
    for each in scored([wrong, 8]).values():
        assert each.scored.scores["error"].tolist() == [wrong / 8] * 2
        assert each.scored.n == 8


@pytest.mark.parametrize(
    ("inner", "middle"),
    [
        ([[0.1], [0.1]], 0),
        ([[0.1], [0.1], [0.1]], 1),
        ([[0.1], [0.1], [0.1], [0.1]], 1),
        ([[0.2], [0.1], [0.1], [0.2]], 1),
        ([[0.1], [0.2], [0.1], [0.1], [0.1]], 2),
    ],
)
def test_among_equals_the_middle_one_is_chosen_the_lower_of_two(inner: list[list[float]], middle: int) -> None:
    point = scored(range(len(inner)), [each * 2 for each in inner])[f"{TASK}-diffusion-cv-12"]
    assert point.chosen.tolist() == [middle] * 2
    assert point.scored.scores["error"].tolist() == [middle / 8] * 2
