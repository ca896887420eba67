"""The configurations that are shipped: good, quick to check, and with the cells that they have always had."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import time
from pathlib import Path

import pytest

from benchmark.experiment.configuration import experiment_from_mapping, load_experiment
from benchmark.papers.load import load_published

REPOSITORY = Path(__file__).parents[2]
SHIPPED = sorted((REPOSITORY / "configs").glob("*.yaml"), key=lambda path: path.stem)
PAPERS = sorted((REPOSITORY / "results" / "published").glob("*.yaml"))
#: Of each configuration as it was when six kinds were written apart: how many cells, a digest of their sorted ids, how
#: many pairs were compared, a digest of them in order.
CELLS = {
    "20ng": (10, "91592e6b7ee3", 8, "1b2701a5553d"),
    "20ng-c": (42, "a5e37cdb894b", 0, "e3b0c44298fc"),
    "20ng-cliff": (14, "24136244ae72", 0, "e3b0c44298fc"),
    "20ng-sweep": (100, "fd26bf036016", 0, "e3b0c44298fc"),
    "decision-boundaries": (7, "37112c0220c6", 5, "dd1a59c66488"),
    "quickstart": (10, "91592e6b7ee3", 4, "b40096bce1a2"),
    "reuters-eef": (60, "9a9b20bf36b3", 72, "ccbee32a8504"),
    "reuters-eef-reduced": (40, "54211c3a34a0", 24, "81ff0d0cf93f"),
    "reuters-eef-sweep": (1440, "d130f0bbfc94", 864, "30a20def97c5"),
    "reuters-hp-top": (24, "96bc3c7148cb", 24, "fff276079a3e"),
    "reuters-hp-top-reduced": (6, "0ab57ccc9272", 6, "961c6d1f43ae"),
    "reuters-hp-top-weighting": (30, "e030e39d64d5", 30, "b0ef82751dc8"),
    "reuters-skl": (165, "a5bc91d3d686", 64, "6fb54839ebe8"),
    "reuters-skl-reduced": (62, "ad3f1a2874be", 16, "7d58dcc84b63"),
    "reuters-skl-sweep": (2397, "15bd03d8300f", 1088, "d4654a9ad605"),
    "webkb": (10, "91592e6b7ee3", 8, "1b2701a5553d"),
    "webkb-c": (42, "a5e37cdb894b", 0, "e3b0c44298fc"),
    "webkb-diffusion": (80, "02c013f87fe4", 80, "ae5b96cad128"),
    "webkb-diffusion-reduced": (32, "19d1fc634c71", 32, "bb27c1bdd75c"),
    "webkb-diffusion-sweep": (360, "8743543724d8", 360, "95e28bacd179"),
    "webkb-sweep": (100, "57335751fced", 0, "e3b0c44298fc"),
}


@functools.cache
def loaded(name):
    """A shipped experiment, and the seconds that it took to check."""
    start = time.process_time()
    experiment = load_experiment(REPOSITORY / "configs" / f"{name}.yaml")
    return experiment, time.process_time() - start


def shipped(name):
    return loaded(name)[0]


def digest(lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


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


#: Which cells came later.
ADDED = {
    "reuters-eef": lambda cell: cell.variant != "base",
    "reuters-hp-top": lambda cell: cell.variant == "counts",
    "reuters-skl": lambda cell: cell.what != "diagnostic" and cell.method == "pooled",
    "reuters-skl-reduced": lambda cell: cell.what != "diagnostic" and cell.method == "pooled",
    "decision-boundaries": lambda cell: cell.what == "diagnostic" or cell.variant.endswith("-regions"),
}


@pytest.mark.parametrize("name", CELLS)
def test_the_cells_and_pairs_are_those_that_there_were(name):
    experiment = shipped(name)
    added = {cell.id for cell in experiment.cells if name in ADDED and ADDED[name](cell)}
    ids = [cell for cell in experiment.ids if cell not in added]
    pairs = [f"{pair.a} {pair.b}" for pair in experiment.compare if not {pair.a, pair.b} & added]
    # 0.2 renamed the cells of gains.
    ids, pairs = ([re.sub(r"\bgain-", "growth-", each) for each in found] for found in (ids, pairs))
    assert (len(ids), digest(sorted(ids)), len(pairs), digest(pairs)) == CELLS[name]


@pytest.mark.parametrize("name", ["webkb", "20ng", "quickstart"])
def test_the_ten_cells_of_a_table_stand_in_their_order(name):
    words = "tf-l1-linear tf-l1-ned tf-l1-ngd tfidf-l1-linear tfidf-l1-ned tfidf-l1-ngd"
    words += " tf-l2-linear tf-l2-ned tfidf-l2-linear tfidf-l2-ned"
    assert [cell.id for cell in shipped(name).cells] == words.split()


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("webkb-c", "tf-l1-ngd-c0.001", "tfidf-l2-ned-c1000"),
        ("webkb-sweep", "digits-dropped-tf-l1-linear", "ties-reversed-tfidf-l2-ned"),
        ("webkb-diffusion", "faculty-course-linear-oracle-50", "faculty-student-heat-cv-250"),
        ("reuters-eef", "reuters-10-mnb-100", "plain-average-reuters-20-svm-2000"),
        ("reuters-eef-sweep", "reuters-10-mnb-100", "average-svm-tfidf-l2-reuters-20-svm-2000"),
        ("reuters-hp-top", "linear-1000", "counts-plsi-fisher-8000"),
        ("reuters-skl", "all-mean-50", "table-skl-money-fx"),
        ("decision-boundaries", "simplex-gaussian", "half-plane-regions-hyperbolic"),
    ],
)
def test_a_long_list_begins_and_ends_as_it_did(name, first, last):
    ids = list(shipped(name).ids)
    assert (ids[0], ids[-1]) == (first, last)


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.stem)
def test_a_paper_speaks_of_cells_that_its_configurations_have(path):
    paper = load_published(path)
    told = [(c.config, cell) for claim in paper.claims for c in claim.comparisons for cell in (c.a, c.b)]
    printed = [value for value in paper.values if value.kind != "count"]
    told += [(value.config, cell) for value in printed for cell in (value.pair or (value.cell,))]
    missing = {(name, cell) for name, cell in told if cell not in shipped(name).ids}
    assert not missing
