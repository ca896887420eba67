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
def loaded(name):
    """A shipped experiment, and the seconds that it took to check."""
    start = time.process_time()
    experiment = load_experiment(REPOSITORY / "configs" / f"{name}.yaml")
    return experiment, time.process_time() - start


def shipped(name):
    return loaded(name)[0]


@pytest.mark.parametrize("name", [path.stem for path in SHIPPED])
class TestEach:
    def test_is_good_named_as_its_file_and_checked_in_a_second(self, name):
        experiment, seconds = loaded(name)
        assert seconds < 1
        assert experiment.name == name

    def test_is_the_same_out_of_a_manifest(self, name):
        experiment = shipped(name)
        assert experiment_from_mapping(json.loads(json.dumps(experiment.raw)), "manifest.json") == experiment

    def test_compares_cells_that_it_has_under_ids_of_their_own(self, name):
        ids = list(shipped(name).ids)
        assert len(set(ids)) == len(ids)
        assert {cell for pair in shipped(name).compare for cell in (pair.a, pair.b)} <= set(ids)


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.stem)
def test_a_paper_speaks_of_cells_that_its_configurations_have(path):
    paper = load_published(path)
    told = [(c.config, cell) for claim in paper.claims for c in claim.comparisons for cell in (c.a, c.b)]
    printed = [value for value in paper.values if value.kind != "count"]
    told += [(value.config, cell) for value in printed for cell in (value.pair or (value.cell,))]
    missing = {(name, cell) for name, cell in told if cell not in shipped(name).ids}
    assert not missing
