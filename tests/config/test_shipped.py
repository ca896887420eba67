"""The configurations that are shipped: good, quick to check, and with the cells that they have always had."""

from __future__ import annotations

import functools
import json
import time
from pathlib import Path

import pytest

from benchmark.experiment.configuration import experiment_from_mapping, load_experiment
from benchmark.papers.load import load_published

REPOSITORY = Path(__file__).parents[2]
SHIPPED = sorted((REPOSITORY / "configs").glob("*.yaml"), key=lambda path: path.stem)
PAPERS = sorted((REPOSITORY / "results" / "published").glob("*.yaml"))


@functools.cache
def shipped(name):
    return load_experiment(REPOSITORY / "configs" / f"{name}.yaml")


@pytest.mark.parametrize("name", [path.stem for path in SHIPPED])
def test_each_is_good_named_as_its_file_and_the_same_out_of_a_manifest(name):
    start = time.process_time()
    experiment = shipped(name)
    assert time.process_time() - start < 1
    assert experiment.name == name
    assert experiment_from_mapping(json.loads(json.dumps(experiment.raw)), "manifest.json") == experiment
    assert len(set(experiment.ids)) == len(experiment.ids)
    assert {cell for pair in experiment.compare for cell in (pair.a, pair.b)} <= set(experiment.ids)


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.stem)
def test_a_paper_speaks_of_cells_that_its_configurations_have(path):
    paper = load_published(path)
    told = [(c.config, cell) for claim in paper.claims for c in claim.comparisons for cell in (c.a, c.b)]
    printed = [value for value in paper.values if value.kind != "count"]
    told += [(value.config, cell) for value in printed for cell in (value.pair or (value.cell,))]
    missing = {(name, cell) for name, cell in told if cell not in shipped(name).ids}
    assert not missing
