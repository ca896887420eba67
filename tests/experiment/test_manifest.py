"""The manifest says what was run on what, and is the only file of a run that knows when and where."""

from __future__ import annotations

import copy
import json
import os
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.config.model import BASE_VARIANT
from benchmark.corpora import registry
from benchmark.evaluation.predictions import PREDICTIONS_TABLE, RUN_FILES, TIMINGS_TABLE
from benchmark.experiment import manifest as manifests
from benchmark.experiment.context import RunContext
from benchmark.experiment.manifest import manifest_differences, manifest_of
from benchmark.experiment.run import report_again, run_and_write
from benchmark.experiment.run_folder import MANIFEST_FILE, read_manifest
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store, array_digest
from benchmark.report.html.page import PAGE_FILE
from tests.builders import small_experiment
from tests.processes import files_of


@pytest.fixture
def manifest(finished):
    return read_manifest(finished.folder)


def test_names_the_corpus_by_its_content(manifest):
    facts = manifest["variants"][BASE_VARIANT]
    assert facts["content_digest"] == registry.dataset_card("synthetic").digest
    assert facts["documents"] == registry.dataset_card("synthetic").total
    assert facts["source"]


def test_names_the_order_of_documents_and_classes(manifest):
    documents = registry.load_corpus("synthetic").documents
    facts = manifest["variants"][BASE_VARIANT]
    joined = np.frombuffer("\0".join(documents.ids).encode(), dtype=np.uint8)
    assert facts["documents_digest"] == array_digest(joined)
    assert facts["classes"] == list(documents.classes)
    assert facts["groups"] == list(documents.part_names)


def test_another_document_order_is_another_digest(store):
    first = registry.load_corpus("synthetic").documents.ids[0]
    facts = [
        run_experiment(small_experiment(corpus={"name": "synthetic", "exclude": exclude}), RunContext(store)).facts[
            BASE_VARIANT
        ]
        for exclude in ([], [first])
    ]
    assert facts[0]["documents_digest"] != facts[1]["documents_digest"]


def test_holds_the_configuration_as_written_and_as_resolved(manifest, finished):
    experiment = finished.results.experiment
    assert manifest["config"] == experiment.raw
    assert list(manifest["cells"]) == [cell.id for cell in experiment.cells]
    (ngd,) = manifest["methods"][BASE_VARIANT]["tf-l1-ngd"]
    assert ngd["kernel"] == {"name": "ngd", "shift": 0.0}
    machine = {"name": "svm", "C": 1.0, "epsilon": 1e-3, "scheme": "one-vs-one", "ridge": 0.0}
    machine |= {"cache_mb": 200.0, "scale_C": "one"}
    assert ngd["classifier"] == machine
    assert (ngd["weighting"], ngd["normalization"], ngd["idf"]) == ("tf", "l1", "collection")
    assert manifest["protocol"] == {BASE_VARIANT: {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]}}
    assert manifest["splits"][BASE_VARIANT] == {
        "cornell": {"train": 538, "test": 62},
        "texas": {"train": 536, "test": 64},
    }


@pytest.mark.usefixtures("sketched")
def test_holds_what_was_chosen_split_by_split(tmp_path):
    methods = [{"kernel": {"name": "ngd-e", "t": [0.001, 1]}}]
    experiment = small_experiment(methods=methods, choose={"by": ["oracle", "cross-validation"], "folds": 2})
    done = run_and_write(experiment, RunContext(Store(tmp_path / "store")), folder=tmp_path / "run")
    assert read_manifest(done.folder)["cells"] == {
        f"ngd-e-{choice}": {"ties": 0, "chosen": [1, 1]} for choice in ("oracle", "cv")
    }


@pytest.mark.usefixtures("sketched")
@pytest.mark.parametrize("protocol", [{"name": "k-fold", "k": 2}, {"name": "k-fold", "k": 2, "seed": 9}])
def test_holds_the_seeds_even_where_they_were_left_out(tmp_path, protocol):
    experiment = small_experiment(protocol=protocol, seed=4)
    done = run_and_write(experiment, RunContext(Store(tmp_path / "store")), folder=tmp_path / "run")
    found = read_manifest(done.folder)
    assert found["seeds"] == {"experiment": 4}
    assert found["protocol"][BASE_VARIANT]["seed"] == protocol.get("seed", 4)


def test_holds_versions_threads_and_commit(manifest):
    assert {"python", "numpy", "scipy", "libsvm-official", "numba", "simplexbench"} <= manifest["versions"].keys()
    assert manifest["machine"]["threads"] == 1
    assert set(manifest["git"]) in ({"commit", "changed"}, set())
    assert all(re.fullmatch(r"[0-9a-f]{40}", manifest["git"][key]) for key in manifest["git"] if key == "commit")
    assert manifest["finished"].endswith("+00:00")
    assert manifest["machine"]["processors"] == os.cpu_count()
    assert "only" not in manifest, "all cells were run"


def test_holds_the_seconds_from_the_beginning_to_the_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    started = time.perf_counter()
    done = run_and_write(small_experiment(methods=["mnb"]), RunContext(Store(tmp_path / "store")))
    assert done.folder == Path("results/runs/small")
    most = time.perf_counter() - started
    assert 0 <= read_manifest(done.folder)["seconds"] <= done.seconds + 0.005 <= most + 0.005
    again = manifest_of(done.results, jobs=3, seconds=1.2345)
    assert (again["seconds"], again["machine"]["threads"]) == (1.23, 3)
    assert manifest_of(
        replace(done.results, experiment=replace(done.results.experiment, only=("m*",))), jobs=1, seconds=0
    )["only"] == ["m*"]


def test_holds_how_many_documents_each_split_trains_and_tests_on(manifest, finished):
    documents = registry.load_corpus("synthetic").documents
    for split, sizes in manifest["splits"]["base"].items():
        held_out = documents.parts == documents.part_names.index(split)
        assert sizes == {"train": int((~held_out).sum()), "test": int(held_out.sum())}
    assert set(manifest["splits"]["base"]) == {"cornell", "texas"}


@pytest.mark.parametrize(("says", "changed"), [("", False), (" M benchmark/api.py", True)])
def test_the_commit_is_that_of_this_project_s_own_checkout(monkeypatch, tmp_path, says, changed):
    def git(checkout, *arguments):
        return {"--show-toplevel": str(top), "--porcelain": says, "HEAD": "abc"}[
            next(word for word in arguments if word in ("--show-toplevel", "--porcelain", "HEAD"))
        ]

    monkeypatch.setattr(manifests, "_git_says", git)
    monkeypatch.setattr(manifests, "CHECKOUT", tmp_path)
    top = tmp_path
    assert manifests._code_origin() == {"git": {"commit": "abc", "changed": changed}}
    top = tmp_path.parent  # the package lies within another repository
    assert manifests._code_origin()["git"] == {}
    monkeypatch.setattr(manifests, "CHECKOUT", None)
    assert manifests._code_origin()["git"] == {}


def test_counts_ties_by_cell(manifest, finished):
    scores = finished.summary.scores
    whole = scores[(scores["metric"] == "accuracy") & (scores["fold"] == "all")].set_index("cell")["ties"]
    assert {cell: facts["ties"] for cell, facts in manifest["cells"].items()} == whole.to_dict()


def test_is_json_without_surprises(finished):
    text = (finished.folder / MANIFEST_FILE).read_text(encoding="utf-8")
    assert json.loads(text) == json.loads(json.dumps(json.loads(text), allow_nan=False))
    results = finished.results
    assert json.loads(json.dumps(manifest_of(results, jobs=2, seconds=1.0)))["machine"]["threads"] == 2


def unmeasured(files):
    """The files with nothing in the page where it says what was measured."""
    return files | {PAGE_FILE: re.sub(rb'(<[^>]* class="[^"]*\bmeasured">)[^<]*', rb"\1", files[PAGE_FILE])}


def test_every_other_file_has_the_same_bytes_wherever_and_whenever(finished, tmp_path, monkeypatch):
    """But for what the clock and the memory said, which have files of their own."""
    monkeypatch.chdir(tmp_path)
    time.sleep(1.1)  # the manifest tells whole seconds
    experiment = finished.results.experiment
    other = run_and_write(
        experiment, RunContext(Store(tmp_path / "another store"), jobs=2), folder=tmp_path / "another folder"
    )
    ours, theirs = unmeasured(files_of(finished.folder)), unmeasured(files_of(other.folder))
    assert ours.keys() == theirs.keys()
    assert {name for name in ours if ours[name] != theirs[name]} <= {MANIFEST_FILE, TIMINGS_TABLE}
    for name, content in theirs.items():
        assert name == MANIFEST_FILE or str(tmp_path).encode() not in content
    changed = {
        key for key, _, _ in manifest_differences(json.loads(ours[MANIFEST_FILE]), json.loads(theirs[MANIFEST_FILE]))
    }
    assert changed == {"machine.threads"}


def test_from_the_same_store_come_the_same_bytes(finished, tmp_path):
    store = Store(tmp_path / "store")
    done = [
        run_and_write(finished.results.experiment, RunContext(store), folder=tmp_path / name) for name in ("one", "two")
    ]
    first, second = (unmeasured(files_of(each.folder)) for each in done)
    assert {name for name in first if first[name] != second[name]} <= {MANIFEST_FILE}
    costs = [each.summary.costs for each in done]
    assert [set(each.pop("stored")) for each in costs] == [{False}, {True}]
    pd.testing.assert_frame_equal(*costs)


def test_making_the_tables_again_changes_no_byte(finished):
    before = files_of(finished.folder)
    for name in before.keys() - {MANIFEST_FILE, *RUN_FILES}:
        (finished.folder / name).unlink()
    report_again(finished.folder)
    assert files_of(finished.folder) == before


class TestDiffering:
    def test_nothing_between_equals(self, manifest):
        assert manifest_differences(manifest, copy.deepcopy(manifest)) == []

    def test_lists_of_mappings_are_compared_item_by_item(self):
        one = {"method": [{"C": 1, "t": 2}], "grid": [{"t": 1}, {"t": 2}], "order": [1, 2]}
        other = {"method": [{"C": 3, "t": 2}], "grid": [{"t": 1}, {"t": 4}], "order": [2, 1]}
        assert manifest_differences(one, other) == [("method.C", 1, 3), ("grid.1.t", 2, 4), ("order", [1, 2], [2, 1])]

    @pytest.mark.parametrize("key", ["finished", "seconds", "command", "name", "timings", "digest", "experiment"])
    def test_times_and_commands_are_left_aside(self, manifest, key):
        assert manifest_differences(manifest, manifest | {key: "other"}) == []
        files = manifest["files"]
        assert manifest_differences(manifest, manifest | {"files": files | {TIMINGS_TABLE: "other"}}) == []
        other = manifest | {"files": files | {PREDICTIONS_TABLE: "other"}}
        assert manifest_differences(manifest, other) == [
            (f"files.{PREDICTIONS_TABLE}", files[PREDICTIONS_TABLE], "other")
        ]

    @pytest.mark.parametrize(
        "key",
        [
            "seeds.experiment",
            "cells.tf-l1-ngd.ties",
            "versions.numpy",
            "config.corpus.name",
            "protocol.base.held_out",
        ],
    )
    def test_each_changed_key_is_found(self, manifest, key):
        other = copy.deepcopy(manifest)
        place = other
        *path, last = key.split(".")
        for part in path:
            place = place[part]
        before, place[last] = place[last], "changed"
        assert manifest_differences(manifest, other) == [(key, before, "changed")]
        del place[last]
        assert manifest_differences(manifest, other) == [(key, before, None)]
        assert manifest_differences(other, manifest) == [(key, None, before)]


@pytest.mark.usefixtures("sketched")
def test_holds_the_seconds_of_measures(tmp_path):
    methods = [{"classifier": {"name": "divergence-bayes", "smoothing": 0.1}}]
    diagnostics = [{"name": "centroid-flow", "tolerance": 1e-3}]
    done = run_and_write(
        small_experiment(methods=methods, diagnostics=diagnostics),
        RunContext(Store(tmp_path / "store")),
        folder=tmp_path / "run",
    )
    timings = read_manifest(done.folder)["timings"]
    assert len(timings) == 1
    assert timings["base-centroid-flow"]["centroids"].keys() == {"exact", "path"}
