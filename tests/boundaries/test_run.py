"""Decision boundaries from a configuration to what is written of them, and back."""

from __future__ import annotations

import zipfile
import zlib
from typing import Any

import numpy as np
import pytest

from benchmark.boundaries.config import Boundaries, check_boundaries
from benchmark.boundaries.run import BOUNDARIES, BoundaryResults
from benchmark.errors import ConfigError
from benchmark.kernels.heat.covering import log_covering_bound
from benchmark.observer import Observer
from benchmark.source import YamlSource

METHODS = [
    {"space": "simplex", "kernel": "gaussian"},
    {"space": "simplex", "kernel": "diffusion"},
    {"space": "half-plane", "kernel": "gaussian"},
    {"space": "half-plane", "kernel": "hyperbolic"},
    {"space": "simplex", "kernel": "gaussian", "sigma": 0.2, "drawn": False},
]
PLANES = {
    "kind": "decision-boundaries",
    "name": "planes",
    "points": {"train": 40, "test": 200, "seed": 1},
    "defaults": {"t": 2},
    "resolution": 20,
    "methods": METHODS,
    "compare": [["simplex-diffusion", "simplex-gaussian"]],
    "covering": {"dimensions": [2], "t": [1, 2]},
}


def planes(**changes: Any) -> Boundaries:
    return check_boundaries(YamlSource("test.yaml", PLANES | changes))


def results_of(study: Boundaries, jobs: int = 1) -> BoundaryResults:
    return BOUNDARIES.run(study, jobs=jobs, observer=Observer())


@pytest.fixture(scope="module")
def done() -> BoundaryResults:
    return results_of(planes())


def test_accuracies_are_those_of_the_test_points(done: BoundaryResults) -> None:
    scores = BOUNDARIES.summarized(done).scores
    headline = scores[scores["fold"] == "all"].set_index("cell")["value"]
    assert list(headline.index) == [cell.id for cell in done.study.machines]
    assert headline.index[-1] == "simplex-gaussian-sigma0.2"
    for cell, each in done.boundaries.items():
        assert headline[cell] == pytest.approx(np.mean(each.test_labels == each.test_predictions))


def test_sigma_is_another_way_to_give_the_time(done: BoundaryResults) -> None:
    times = {cell.id: cell.t for cell in planes(**machine(sigma=2.0), compare=[]).machines}
    assert times == {"simplex-gaussian-sigma2": 2.0}
    assert done.boundaries["simplex-gaussian-sigma0.2"].sigma == pytest.approx(0.2)


def test_only_what_is_to_be_drawn_is_a_panel(done: BoundaryResults) -> None:
    (draw,) = BOUNDARIES.summarized(done).pictures.values()
    assert len(draw().axes) == 4


def test_the_bound_is_theorem_fours(done: BoundaryResults) -> None:
    (chart,) = BOUNDARIES.summarized(done).charts
    for line, t in zip(chart.panels[0].lines, (1, 2), strict=True):
        np.testing.assert_allclose(line.y, log_covering_bound(np.array(line.x), 2, t) / np.log(10))


def test_comes_back_from_its_bytes(done: BoundaryResults) -> None:
    content = BOUNDARIES.encode(done)
    again = BOUNDARIES.decode(done.study, content, {}, done.facts)
    assert BOUNDARIES.encode(again) == content
    assert BOUNDARIES.summarized(again).scores.equals(BOUNDARIES.summarized(done).scores)


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(done: BoundaryResults) -> None:
    content = BOUNDARIES.encode(done)
    assert BOUNDARIES.encode(results_of(planes(), jobs=2)) == content
    assert BOUNDARIES.encode(results_of(planes(points={"train": 40, "test": 200, "seed": 3}))) != content


def test_machines_of_one_space_can_be_compared(done: BoundaryResults) -> None:
    (part,) = BOUNDARIES.compare_cells(done, "simplex-diffusion", "simplex-gaussian")
    assert part.rows[0][0] == "accuracy"
    with pytest.raises(ConfigError, match="different spaces"):
        BOUNDARIES.compare_cells(done, "simplex-diffusion", "half-plane-gaussian")
    (part,) = BOUNDARIES.compare_runs(done, done, ("a", "b"))
    assert {row[3] for row in part.rows} == {"+0.00"}


def test_damage_is_told(done: BoundaryResults) -> None:
    ((name, whole),) = BOUNDARIES.encode(done).items()
    content = bytearray(whole)
    content[len(content) // 2] ^= 0xFF
    with pytest.raises((ValueError, KeyError, OSError, zlib.error, zipfile.BadZipFile)):
        BOUNDARIES.decode(done.study, {name: bytes(content)}, {}, {})


def machine(**changes: Any) -> dict[str, Any]:
    return {"methods": [{"space": "simplex", "kernel": "gaussian"} | changes]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"defaults": {"t": 0}}, "t is 0"),
        ({"defaults": {"t": -1}}, "t is -1"),
        ({"defaults": {"t": 1, "C": 0}}, "C is 0"),
        ({"defaults": {"t": 1, "geometry": "flat"}}, "unknown geometry 'flat'"),
        ({"methods": []}, "methods"),
        (machine(space="sphere"), "unknown space 'sphere'"),
        (machine(space="half-plane", kernel="diffusion"), "unknown kernel of the half-plane 'diffusion'"),
        (machine(kernel="diffusion", sigma=1.0), "sigma is the width"),
        (machine(sigma=0.0), "sigma"),
        (machine(sigma=1e200), "sigma is 1e\\+200: its square"),
        (machine(sigma=1e-200), "sigma is 1e-200: its square"),
        (machine(t=float("nan")), "finite"),
        (machine(t=1e308), "methods.0.t is 1e\\+308: input should be less than or equal to 1000000"),
        (machine(t=1e-300), "methods.0.t is 1e-300: "),
        ({"defaults": {"t": 2.0, "C": 1e-300}}, "defaults.C is 1e-300: "),
        ({"methods": METHODS + METHODS[:1]}, "stands here twice"),
        ({"covering": {"dimensions": [0], "t": [1]}}, "must be positive"),
        ({"covering": {"dimensions": [2], "t": [0]}}, "must be positive"),
        ({"compare": [["simplex-heat", "simplex-gaussian"]]}, "unknown machine 'simplex-heat'"),
        ({"compare": [["simplex-diffusion", "half-plane-gaussian"]]}, "different spaces"),
        ({"points": {"train": 1}}, "train"),
        ({"points": {"train": 10**6}}, "less than or equal to 10000"),
        ({"points": {"test": 10**6}}, "less than or equal to 100000"),
        ({"covering": {"dimensions": [2] * 40, "t": [1.0] * 30}}, "this comes to 1,200 curves"),
        ({"seed": 3}, "stands under points"),
    ],
)
def test_wrong_configurations_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        planes(**changes)
