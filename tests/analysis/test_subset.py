"""A part of an experiment: what is shown of it is what the whole shows of the same cells, and nothing of the others."""

from __future__ import annotations

import pytest

from benchmark.experiment.configuration import select_cells
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from tests.builders import small_experiment

pytestmark = pytest.mark.usefixtures("sketched")
CELLS = ("tf-l1-linear", "tf-l1-ngd", "tfidf-l1-linear", "tfidf-l1-ngd")
VALUE = {"config": "small", "metric": "accuracy", "value": "70", "unit": "percent"}
CLAIM = {"text": "It is better.", "relation": "greater", "test": "mcnemar", "alpha": 0.05}
RANGE = {"config": "small", "metric": "accuracy", "low": "0.1", "high": "1.0", "figure": 1}
PAPER = {
    "paper": "p",
    "title": "t",
    "reference": "r",
    "values": [*({**VALUE, "cell": cell} for cell in CELLS)]
    + [{"config": "small", "pair": list(pair), "metric": "sign-z", "value": "1"} for pair in (CELLS[:2], CELLS[1:3])],
    "ranges": [
        {**RANGE, "cells": "{w}-l1-ngd", "for": {"w": ["tf", "tfidf"]}},
        {**RANGE, "cells": "tf-l1-{k}", "for": {"k": ["linear", "ngd"]}},
    ],
    "claims": [
        {**CLAIM, "id": "here", "comparisons": [{"config": "small", "a": CELLS[1], "b": CELLS[0]}]},
        {
            **CLAIM,
            "id": "in-part",
            "comparisons": [{"config": "small", "a": a, "b": b} for a, b in (CELLS[1::-1], CELLS[:1:-1])],
        },
    ],
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("store"), limit=10**9)


def of(table, *columns):
    return [tuple(row) for row in table[list(columns)].itertuples(index=False)]


def test_what_needs_a_cell_that_is_not_here_is_not_judged(publish, store, tmp_path):
    experiment = small_experiment(paper=publish(PAPER), compare=[list(CELLS[:2]), [CELLS[0], CELLS[2]]])
    whole = run_and_write(experiment, RunContext(store), folder=tmp_path / "whole").summary
    part = run_and_write(select_cells(experiment, ["tf-*"]), RunContext(store), folder=tmp_path / "part").summary
    judged = ("cell", "metric", "value", "low", "high", "verdict")
    here = {*CELLS[:2], " vs ".join(CELLS[:2])}
    assert of(part.verdicts, *judged) == [row for row in of(whole.verdicts, *judged) if row[0] in here]
    assert len(whole.verdicts) == 6
    assert len(part.verdicts) == 3
    claims = ("claim", "holds", "of", "verdict", "strict_verdict")
    assert of(part.claims, *claims) == [row for row in of(whole.claims, *claims) if row[0] == "here"]
    ranges = ("what", "low", "high", "inside", "of", "verdict")
    assert of(part.ranges, *ranges) == of(whole.ranges, *ranges)[1:]
    assert of(part.differences, "a", "b", "value") == of(whole.differences, "a", "b", "value")[:1]
    assert part.notes[0] == "Only tf-*: 2 of 4 cells. Holm's correction covers only comparisons among them."
