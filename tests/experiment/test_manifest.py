"""The manifest says what was run on what, and is the only file of a run that knows when and where."""

from __future__ import annotations

import json
import os
import re
import time

import pytest

from benchmark.config.experiment_data import experiment_from_data
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.run_folder import MANIFEST_FILE, manifest_differences, read_manifest
from benchmark.experiment.store import Store
from tests.builders import small_experiment
from tests.processes import contents_of, files_of


def test_holds_the_configuration_as_written_and_as_resolved_versions_threads_and_commit(finished):
    manifest, experiment = read_manifest(finished.folder), finished.results.experiment
    assert manifest["config"] == experiment.raw
    assert list(manifest["cells"]) == [cell.id for cell in experiment.cells]
    assert experiment_from_data(manifest["experiment"], manifest["config"]) == experiment
    assert {"python", "numpy", "scipy", "libsvm-official", "numba", "simplexbench"} <= manifest["versions"].keys()
    assert (manifest["machine"]["threads"], manifest["machine"]["processors"]) == (1, os.cpu_count())
    assert re.fullmatch(r"[0-9a-f]{40}", manifest["git"].get("commit", "0" * 40))
    assert manifest["finished"].endswith("+00:00")


@pytest.mark.usefixtures("sketched")
def test_holds_what_was_chosen_split_by_split(tmp_path):
    methods = [{"kernel": {"name": "ngd-e", "t": [0.001, 1]}}]
    experiment = small_experiment(methods=methods, choose={"by": ["oracle", "cross-validation"], "folds": 2})
    done = run_and_write(experiment, RunContext(Store(tmp_path / "store")), folder=tmp_path / "run")
    assert read_manifest(done.folder)["cells"] == {
        f"ngd-e-{choice}": {"ties": 0, "chosen": [1, 1]} for choice in ("oracle", "cv")
    }


def test_every_other_file_has_the_same_bytes_wherever_and_whenever(finished, tmp_path, monkeypatch):
    """But for what the clock and the memory said, which have files of their own."""
    monkeypatch.chdir(tmp_path)
    time.sleep(1.1)  # the manifest tells whole seconds
    experiment = finished.results.experiment
    other = run_and_write(
        experiment, RunContext(Store(tmp_path / "another store"), jobs=2), folder=tmp_path / "another folder"
    )
    assert contents_of(finished.folder) == contents_of(other.folder)
    ours, theirs = files_of(finished.folder), files_of(other.folder)
    assert ours.keys() == theirs.keys()
    assert not [name for name in theirs if name != MANIFEST_FILE and str(tmp_path).encode() in theirs[name]]
    changed = manifest_differences(json.loads(ours[MANIFEST_FILE]), json.loads(theirs[MANIFEST_FILE]))
    assert [key for key, _, _ in changed] == ["machine.threads"]
