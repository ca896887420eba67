"""Decision boundaries from a configuration to a folder, and back."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.config import config_from_mapping
from benchmark.errors import ConfigError, DataError
from benchmark.experiment import boundaries
from benchmark.experiment.folder import read_results
from benchmark.experiment.overview import compare_cells, compare_runs
from benchmark.experiment.session import again, perform
from benchmark.experiment.store import Store
from benchmark.kernels.heat import log_covering_bound

PLANES = {
    "kind": "decision-boundaries",
    "name": "planes",
    "t": 2,
    "points": 40,
    "test_points": 200,
    "resolution": 20,
    "panels": [
        {"space": "simplex", "kernel": "gaussian"},
        {"space": "simplex", "kernel": "diffusion"},
        {"space": "half-plane", "kernel": "gaussian"},
        {"space": "half-plane", "kernel": "hyperbolic"},
    ],
    "besides": [{"space": "simplex", "kernel": "gaussian", "sigma": 0.2}],
    "compare": [["simplex-diffusion", "simplex-gaussian"]],
    "covering": {"dimensions": [2], "t": [1, 2]},
}


def never(*args, **kwargs):
    pytest.fail("this must not be called")


def planes(**changes):
    return config_from_mapping(PLANES | changes, "test.yaml")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planes")
    return perform(planes(), Store(folder / "store", limit=10**9), folder=folder / "run")


def test_the_folder_holds_the_picture_the_bound_and_the_table(done):
    names = {path.name for path in done.folder.iterdir()}
    assert {"figure.png", "figure.svg", "covering.png", "covering.svg", "curves.csv", "table.md", "scores.csv"} <= names
    cells = [cell.id for cell in done.results.experiment.cells]
    assert cells[-1] == "simplex-gaussian-sigma0.2"
    assert done.summary.scores["cell"].unique().tolist() == cells


def test_accuracies_are_those_of_the_test_points(done):
    headline = done.summary.scores[done.summary.scores["fold"] == "all"].set_index("cell")["value"]
    for cell, each in done.results.boundaries.items():
        assert headline[cell] == pytest.approx(np.mean(each.test_labels == each.test_predictions))


def test_only_the_panels_are_drawn(done):
    (picture,) = done.summary.regions
    assert len(picture.panels) == 4


def test_the_bound_is_theorem_fours(done):
    (chart,) = done.summary.charts
    for line, t in zip(chart.panels[0].lines, (1, 2), strict=True):
        np.testing.assert_allclose(line.y, log_covering_bound(np.array(line.x), 2, t) / np.log(10))


def test_comes_back_and_is_drawn_again_without_training(done, monkeypatch):
    before = {path.name: path.read_bytes() for path in done.folder.iterdir()}
    monkeypatch.setattr(boundaries, "boundary", never)
    again(done.folder)
    assert {path.name: path.read_bytes() for path in done.folder.iterdir()} == before
    assert boundaries.encode(read_results(done.folder)) == (done.folder / "predictions.npz").read_bytes()


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(done, tmp_path):
    same = boundaries.run_boundaries(planes(), Store(tmp_path))
    other = boundaries.run_boundaries(planes(seed=3), Store(tmp_path))
    assert boundaries.encode(same) == boundaries.encode(done.results)
    assert boundaries.encode(other) != boundaries.encode(done.results)


def test_machines_of_one_space_can_be_compared(done):
    (part,) = compare_cells(done.folder, "simplex-diffusion", "simplex-gaussian")
    assert part.rows[0][0] == "accuracy"
    with pytest.raises(ConfigError, match="different spaces"):
        compare_cells(done.folder, "simplex-diffusion", "half-plane-gaussian")
    _, scores = compare_runs(done.folder, done.folder)
    assert {row[3] for row in scores.rows} == {"+0.00"}


def test_damage_is_told(done, tmp_path):
    for name in ("predictions.npz", "manifest.json"):
        (tmp_path / name).write_bytes((done.folder / name).read_bytes())
    content = bytearray((tmp_path / "predictions.npz").read_bytes())
    content[len(content) // 2] ^= 0xFF
    (tmp_path / "predictions.npz").write_bytes(content)
    with pytest.raises(DataError, match=r"predictions\.npz"):
        read_results(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t": 0}, "t is 0"),
        ({"t": -1}, "t is -1"),
        ({"C": 0}, "C is 0"),
        ({"geometry": "flat"}, "unknown geometry 'flat'"),
        ({"panels": []}, "panels"),
        ({"panels": [{"space": "sphere", "kernel": "gaussian"}]}, "unknown space 'sphere'"),
        ({"panels": [{"space": "half-plane", "kernel": "diffusion"}]}, "unknown kernel of the half-plane 'diffusion'"),
        ({"panels": [{"space": "simplex", "kernel": "diffusion", "sigma": 1.0}]}, "sigma is the width"),
        ({"panels": [{"space": "simplex", "kernel": "gaussian", "sigma": 0.0}]}, "sigma"),
        ({"panels": PLANES["panels"] + PLANES["panels"][:1]}, "stands here twice"),
        ({"covering": {"dimensions": [0], "t": [1]}}, "must be positive"),
        ({"covering": {"dimensions": [2], "t": [0]}}, "must be positive"),
        ({"compare": [["simplex-heat", "simplex-gaussian"]]}, "unknown cell 'simplex-heat'"),
        ({"points": 1}, "points"),
    ],
)
def test_wrong_configurations_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        planes(**changes)
