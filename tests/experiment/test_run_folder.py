"""A run's folder comes back as it was written, or not at all: one clear error for damage of any kind."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.analysis.predictions_file import encode_predictions
from benchmark.evaluation.predictions import PREDICTIONS_TABLE, RUN_FILES, TIMINGS_TABLE
from benchmark.experiment.run import run_folders
from benchmark.experiment.run_folder import MANIFEST_FILE, RUN_FORMAT, manifest_of, read_run, write_run
from benchmark.experiment.runner import RunPredictions
from benchmark.system.checks import digest_without_itself
from benchmark.system.errors import BenchError, ConfigError, DataError
from tests.builders import small_experiment


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished.folder, tmp_path / "run")


def test_everything_comes_back(finished, tmp_path):
    results = finished.results
    failures = {"tf-l1-ngd": 'texas: "no",\nsaid LIBSVM'}
    failed = RunPredictions(results.experiment, results.predictions, failures, results.facts)
    write_run(failed, manifest_of(failed, jobs=1, seconds=0.1), tmp_path)
    back = read_run(tmp_path)
    assert encode_predictions(back.predictions) == encode_predictions(results.predictions)
    assert (back.experiment, back.failures, back.facts) == (results.experiment, failures, results.facts)
    assert (tmp_path / PREDICTIONS_TABLE).read_bytes() == (finished.folder / PREDICTIONS_TABLE).read_bytes()


@pytest.mark.parametrize("name", RUN_FILES)
def test_a_changed_or_shorter_file_is_refused(folder, name):
    whole = (folder / name).read_bytes()
    for position in range(0, len(whole), max(1, len(whole) // 20)):
        for content in (whole[:position], whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :]):
            (folder / name).write_bytes(content)
            with pytest.raises(DataError, match=rf"{name}: .*run the configuration again"):
                read_run(folder)
    (folder / name).write_bytes(whole)
    read_run(folder)


@pytest.mark.parametrize("key", ["config", "failures", "variants", "splits", "seeds", "versions", "finished", "git"])
def test_a_manifest_that_a_hand_changed_is_refused(folder, key):
    manifest = json.loads((folder / MANIFEST_FILE).read_text())
    without = {name: each for name, each in manifest.items() if name != key}
    for changed in (without, manifest | {key: ["x"]}):
        (folder / MANIFEST_FILE).write_text(json.dumps(changed))
        with pytest.raises(DataError, match=r"manifest\.json: was changed after the run"):
            read_run(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"config": {}}', "\x00", f'{{"format": {RUN_FORMAT + 1}}}'])
def test_no_manifest_of_this_program_or_one_of_another_format_is_refused(folder, text):
    (folder / MANIFEST_FILE).write_text(text)
    with pytest.raises(DataError, match=r"manifest\.json.*; run the configuration again"):
        read_run(folder)


def test_a_run_is_read_whatever_configurations_may_say_by_then(folder, finished):
    manifest = json.loads((folder / MANIFEST_FILE).read_text())
    manifest["config"]["methods"] = ["ngb"]
    (folder / MANIFEST_FILE).write_text(json.dumps(manifest | {"digest": digest_without_itself(manifest)}))
    assert read_run(folder).scored.frame.equals(read_run(finished.folder).scored.frame)


@pytest.mark.parametrize("name", [MANIFEST_FILE, PREDICTIONS_TABLE, TIMINGS_TABLE])
def test_missing_files(folder, name):
    (folder / name).unlink()
    with pytest.raises(BenchError, match=f"not the folder of a finished run.*{name} is missing") as caught:
        read_run(folder)
    assert not isinstance(caught.value, DataError)


PART = replace(small_experiment(), only=("tf-l1-ngd",))


class TestFreeFolders:
    """A folder holds one experiment; a part of it may not take the place of the whole or of another part."""

    @pytest.mark.parametrize(
        ("names", "manifest", "experiment", "holds"),
        [
            ([], None, small_experiment(), ""),
            ([".DS_Store", *RUN_FILES], None, small_experiment(), ""),  # stopped before its manifest
            (["page.html"], '{"name": "small"}', small_experiment(), ""),
            (["page.html"], '{"name": "small", "only": ["tf-l1-ngd"]}', small_experiment(), ""),
            ([PREDICTIONS_TABLE, "a"], None, small_experiment(), "files that no run wrote ("),
            ([], "damaged", small_experiment(), "files that no run wrote ("),
            ([], '{"cells": {}}', small_experiment(), "files that no run wrote ("),
            ([PREDICTIONS_TABLE], '{"name": "large"}', small_experiment(), "the run of 'large'"),
            ([], '{"name": "small"}', PART, "the whole run"),
            ([], '{"name": "small", "only": ["mnb", "ngd"]}', PART, "the run of mnb, ngd"),
        ],
    )
    def test_what_a_run_may_replace(self, tmp_path, names, manifest, experiment, holds):
        for name in names:
            (tmp_path / name).write_text("")
        if manifest is not None:
            (tmp_path / MANIFEST_FILE).write_text(manifest)
        if holds:
            with pytest.raises(
                ConfigError, match=rf"{re.escape(holds)}.*; name another folder with --out, or add --ov"
            ):
                run_folders([experiment], tmp_path, overwrite=False)
        assert run_folders([experiment], tmp_path, overwrite=bool(holds)) == [tmp_path]

    def test_several_runs_have_folders_of_their_own(self, tmp_path):
        whole, part = run_folders([small_experiment(), PART], tmp_path, overwrite=False)
        assert (whole, part) == (tmp_path / "small", tmp_path / "small-only")
        folders = run_folders([small_experiment(), PART], None, overwrite=True)
        assert folders == [Path("results/runs/small"), Path("results/runs/small-only")]
