"""A run's folder comes back as it was written, or not at all: one clear error for damage of any kind."""

from __future__ import annotations

import json
import shutil

import pytest

from benchmark.analysis.predictions_file import encode_predictions
from benchmark.evaluation.predictions import PREDICTIONS_TABLE
from benchmark.experiment.run_folder import MANIFEST_FILE, RUN_FORMAT, manifest_of, read_run, write_run
from benchmark.experiment.runner import RunPredictions
from benchmark.system.checks import digest_without_itself
from benchmark.system.errors import DataError


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


def test_a_manifest_that_a_hand_changed_is_refused(folder):
    manifest = json.loads((folder / MANIFEST_FILE).read_text())
    for key in ("config", "failures", "variants", "versions", "finished", "git"):
        for changed in ({name: manifest[name] for name in manifest if name != key}, manifest | {key: ["x"]}):
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
