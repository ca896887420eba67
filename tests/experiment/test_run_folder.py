"""A run's folder comes back as it was written, or not at all: one clear error for damage of any kind."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal
from pyarrow import parquet

from benchmark.analysis.predictions_file import encode_predictions
from benchmark.evaluation.predictions import PREDICTIONS_TABLE, RECORDS_ARCHIVE, RUN_FILES, TIMINGS_TABLE
from benchmark.experiment.configuration import select_cells
from benchmark.experiment.manifest import manifest_of
from benchmark.experiment.run import run_folders
from benchmark.experiment.run_folder import MANIFEST_FILE, read_manifest, read_run, report_damage, write_run
from benchmark.experiment.runner import RunPredictions
from benchmark.system.errors import BenchError, ConfigError, DataError
from tests.builders import small_experiment


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished.folder, tmp_path / "run")


def sealed(folder, **changes):
    """Change a manifest as one does who knows how its digest is made."""
    rest = json.loads((folder / MANIFEST_FILE).read_text()) | changes
    del rest["digest"]
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    (folder / MANIFEST_FILE).write_text(json.dumps(rest | {"digest": digest}))


def replaced_by(folder, contents):
    """Put these contents into a run folder and its archive, with digests that fit."""
    path = folder / RECORDS_ARCHIVE
    with zipfile.ZipFile(path) as archive:
        known = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in known.items():
            archive.writestr(name, contents.get(name, content))
    replaced(folder, RECORDS_ARCHIVE, path.read_bytes())
    for name in contents.keys() - known.keys():
        replaced(folder, name, contents[name])


def replaced(folder, name, content):
    """Put another content under a file's name, with its digest."""
    files = json.loads((folder / MANIFEST_FILE).read_text())["files"]
    (folder / name).write_bytes(content)
    sealed(folder, files=files | {name: hashlib.sha256(content).hexdigest()})


def test_everything_comes_back(finished):
    back = read_run(finished.folder)
    assert encode_predictions(back.predictions) == encode_predictions(finished.results.predictions)
    assert (back.experiment, back.failures, back.facts) == (
        finished.results.experiment,
        finished.results.failures,
        finished.results.facts,
    )


def test_failures_come_back(finished, tmp_path):
    results = finished.results
    failed = RunPredictions(
        results.experiment, results.predictions, {"tf-l1-ngd": 'texas: "no",\nsaid LIBSVM'}, results.facts
    )
    write_run(failed, manifest_of(failed, jobs=1, seconds=0.1), tmp_path)
    assert read_run(tmp_path).failures == failed.failures


def test_bytes_of_predictions_depend_on_them_alone(finished, tmp_path):
    for name, seconds in (("one", 1.0), ("a longer name", 99.0)):
        (tmp_path / name).mkdir()
        write_run(finished.results, manifest_of(finished.results, jobs=1, seconds=seconds), tmp_path / name)
    contents = {path.read_bytes() for path in tmp_path.glob(f"*/{PREDICTIONS_TABLE}")}
    assert contents == {(finished.folder / PREDICTIONS_TABLE).read_bytes()}


class TestFormats:
    @pytest.fixture
    def of_01(self, tmp_path):
        """What version 0.1.0 left of a run."""
        return shutil.copytree(Path(__file__).parent / "run-0.1", tmp_path / "old")

    def test_a_folder_of_01_is_refused_in_a_line_that_says_what_to_do(self, of_01):
        said = r"is of format 1, of simplexbench 0\.1\.0; this version reads 5: run the configuration again$"
        for read in (read_manifest, read_run):
            with pytest.raises(DataError, match=said):
                read(of_01)

    def test_a_run_takes_its_place_and_leaves_nothing_of_it(self, of_01, finished):
        write_run(finished.results, manifest_of(finished.results, jobs=1, seconds=0.1), of_01)
        assert {path.name for path in of_01.iterdir()} == {MANIFEST_FILE, *RUN_FILES}
        read_run(of_01)

    def test_three_keys_make_a_manifest_of_01(self, tmp_path):
        for keys, said in (
            (("config", "files", "digest"), "is of format 1, "),
            (("config", "files"), "not a manifest"),
        ):
            (tmp_path / MANIFEST_FILE).write_text(json.dumps({key: {} for key in keys}))
            with pytest.raises(DataError, match=said):
                read_manifest(tmp_path)

    @pytest.mark.parametrize(
        ("kind", "does"), [(6, "read it with 9.9.9 or later, or run"), (4, "5: run the"), ("x", "or run")]
    )
    def test_of_any_other_format_too(self, folder, kind, does):
        sealed(folder, format=kind, versions={"simplexbench": "9.9.9"})
        with pytest.raises(DataError, match=f"is of format {kind!r}, of simplexbench 9.9.9; .*{does}"):
            read_manifest(folder)


class TestDamage:
    def test_a_flipped_byte_anywhere_in_the_predictions(self, folder):
        path = folder / PREDICTIONS_TABLE
        whole = path.read_bytes()
        for position in range(0, len(whole), 97):
            for bits in (0x01, 0x80):
                content = bytearray(whole)
                content[position] ^= bits
                path.write_bytes(content)
                with pytest.raises(DataError, match=r"predictions\.parquet: .*run the configuration again"):
                    read_run(folder)
        path.write_bytes(whole)
        read_run(folder)

    def test_predictions_cut_short(self, folder):
        path = folder / PREDICTIONS_TABLE
        whole = path.read_bytes()
        for length in (*range(0, len(whole), 97), len(whole) - 1):
            path.write_bytes(whole[:length])
            with pytest.raises(DataError, match="run the configuration again"):
                read_run(folder)

    @pytest.mark.parametrize("content", [b"", b"cell,fold\na,b\n", b"PK\x03\x04"])
    def test_another_file_under_its_name_even_with_its_digest(self, folder, content):
        (folder / PREDICTIONS_TABLE).write_bytes(content)
        with pytest.raises(DataError, match="predictions"):
            read_run(folder)
        replaced(folder, PREDICTIONS_TABLE, content)
        with pytest.raises(DataError, match="predictions"):
            read_run(folder)

    def test_foreign_arrays_even_with_their_digest(self, folder):
        with (folder / PREDICTIONS_TABLE).open("wb") as file:
            np.savez(file, index=np.arange(3))
        replaced(folder, PREDICTIONS_TABLE, (folder / PREDICTIONS_TABLE).read_bytes())
        with pytest.raises(DataError, match=r"its predictions can't be read"):
            read_run(folder)

    def test_predictions_of_another_run(self, folder, finished):
        """As a run leaves them that is stopped between the two files."""
        results = finished.results
        points = dict(list(results.predictions.settings.items())[1:])
        contents = encode_predictions(replace(results.predictions, settings=points))
        (folder / PREDICTIONS_TABLE).write_bytes(contents[PREDICTIONS_TABLE])
        with pytest.raises(DataError, match=r"not what manifest\.json belongs to"):
            read_run(folder)
        replaced_by(folder, contents)
        with pytest.raises(DataError, match=r"aren't of the documents and cells that manifest\.json names"):
            read_run(folder)

    def test_fewer_documents_are_seen_even_with_all_digests_of_files(self, folder, finished):
        results = finished.results
        (key, first), *rest = results.predictions.splits.items()
        split = first[0]
        fewer = (replace(split, test=split.test[1:]), *first[1:])
        points = {
            place: replace(
                each,
                predicted=each.predicted[1:],
                tied=each.tied[1:],
                sizes=(each.sizes[0] - 1, *each.sizes[1:]),
            )
            for place, each in results.predictions.settings.items()
        }
        short = replace(results.predictions, splits={key: fewer, **dict(rest)}, settings=points)
        replaced_by(folder, encode_predictions(short))
        with pytest.raises(DataError, match=r"aren't of the documents"):
            read_run(folder)

    def test_times_that_a_hand_changed(self, folder):
        table = parquet.read_table(folder / TIMINGS_TABLE)
        cells = table["cell"].cast("string").to_pylist()
        renamed = pa.array([name.replace("ngd", "ned") for name in cells])
        for other in (table.slice(1), table.set_column(table.column_names.index("cell"), "cell", renamed)):
            parquet.write_table(other, folder / TIMINGS_TABLE)
            with pytest.raises(DataError, match=r"timings\.parquet: is damaged"):
                read_run(folder)
            replaced(folder, TIMINGS_TABLE, (folder / TIMINGS_TABLE).read_bytes())
            with pytest.raises(DataError, match="can't be read"):
                read_run(folder)

    @pytest.mark.parametrize(
        "key", ["config", "failures", "variants", "splits", "seeds", "versions", "finished", "git"]
    )
    @pytest.mark.parametrize("value", [None, 3, [], {}, "x", {"base": []}])
    def test_manifests_that_a_hand_changed(self, folder, key, value):
        manifest = json.loads((folder / MANIFEST_FILE).read_text())
        without = {name: each for name, each in manifest.items() if name != key}
        for changed in (without, *([manifest | {key: value}] if manifest[key] != value else [])):
            (folder / MANIFEST_FILE).write_text(json.dumps(changed))
            with pytest.raises(DataError, match=r"manifest\.json: (was changed after the run|is not a manifest)"):
                read_run(folder)

    @pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", "{}", '{"config": {}}', '{"config": {}, "failures"'])
    def test_manifests(self, folder, text):
        (folder / MANIFEST_FILE).write_text(text)
        with pytest.raises(DataError, match=r"manifest\.json"):
            read_run(folder)

    def test_a_manifest_that_is_no_text(self, folder):
        (folder / MANIFEST_FILE).write_bytes(b"\xff\xfe{}")
        with pytest.raises(DataError, match=r"manifest\.json"):
            read_manifest(folder)

    def test_a_manifest_whose_configuration_is_wrong(self, folder):
        """A run is read by its experiment, whatever configurations may say by then."""
        before = read_run(folder)
        sealed(folder, config=json.loads((folder / MANIFEST_FILE).read_text())["config"] | {"methods": ["ngb"]})
        assert_frame_equal(read_run(folder).scored.frame, before.scored.frame)

    def test_a_manifest_whose_experiment_is_wrong(self, folder):
        sealed(
            folder, experiment=json.loads((folder / MANIFEST_FILE).read_text())["experiment"] | {"variants": ["ngb"]}
        )
        with pytest.raises(DataError, match=r"run/manifest\.json: its experiment can't be read .*; run the config"):
            read_run(folder)

    @pytest.mark.parametrize("name", [MANIFEST_FILE, PREDICTIONS_TABLE, TIMINGS_TABLE])
    def test_missing_files(self, folder, name):
        (folder / name).unlink()
        with pytest.raises(BenchError, match=f"not the folder of a finished run.*{name} is missing") as caught:
            read_run(folder)
        assert not isinstance(caught.value, DataError)

    def test_a_folder_that_is_a_file(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(BenchError):
            read_run(tmp_path / "file")


ERRORS = [IndexError("i"), KeyError("k"), TypeError("t"), ValueError("v"), ZeroDivisionError("z")]


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_what_does_not_fit_is_told_in_a_line(tmp_path, error):
    said = f"don't fit each other .{type(error).__name__}.*run the configuration again"
    with pytest.raises(DataError, match=said), report_damage(tmp_path):
        raise error
    with pytest.raises(BenchError, match="the disk is full"), report_damage(tmp_path):
        raise BenchError("the disk is full")


PART = replace(small_experiment(), only=("tf-l1-ngd",))


class TestFreeFolders:
    """A folder holds one experiment; a part of it may not take the place of the whole or of another part."""

    @pytest.mark.parametrize(
        ("names", "manifest"),
        [
            ([], None),
            ([".DS_Store", ".git"], None),
            (list(RUN_FILES), None),  # of a run that was stopped before its manifest
            (["predictions.npz", "timings.csv"], None),
            (["page.html"], {"name": "small"}),
            (["page.html"], {"name": "small", "only": ["tf-l1-ngd"]}),
            ([PREDICTIONS_TABLE, "page.html"], "damaged"),
        ],
    )
    def test_what_a_run_may_replace(self, tmp_path, names, manifest):
        for name in names:
            (tmp_path / name).write_text("")
        if manifest is not None:
            (tmp_path / MANIFEST_FILE).write_text(manifest if isinstance(manifest, str) else json.dumps(manifest))
        assert run_folders([small_experiment()], tmp_path, overwrite=False) == [tmp_path]

    @pytest.mark.parametrize(
        ("names", "manifest", "experiment", "holds"),
        [
            (["b", "a"], None, small_experiment(), "files that no run wrote (a, b)"),
            (["c", "b", "a"], None, small_experiment(), "files that no run wrote (a, b, c)"),
            (["c", "b", "d", "a", ".a"], None, small_experiment(), "files that no run wrote (a, b, c, …)"),
            ([PREDICTIONS_TABLE, "a"], None, small_experiment(), f"files that no run wrote (a, {PREDICTIONS_TABLE})"),
            ([], "damaged", small_experiment(), "files that no run wrote (manifest.json)"),
            ([], "[]", small_experiment(), "files that no run wrote (manifest.json)"),
            ([], "{}", small_experiment(), "files that no run wrote (manifest.json)"),
            ([], '{"cells": {}}', small_experiment(), "files that no run wrote (manifest.json)"),
            ([PREDICTIONS_TABLE], '{"name": "large"}', small_experiment(), "the run of 'large'"),
            ([], '{"name": "small"}', PART, "the whole run"),
            ([], '{"name": "small", "only": ["mnb", "ngd"]}', PART, "the run of mnb, ngd"),
            ([], '{"name": "small", "only": 3}', PART, "the whole run"),
        ],
    )
    def test_what_it_may_not(self, tmp_path, names, manifest, experiment, holds):
        for name in names:
            (tmp_path / name).write_text("")
        if manifest is not None:
            (tmp_path / MANIFEST_FILE).write_text(manifest)
        with pytest.raises(ConfigError) as refused:
            run_folders([experiment], tmp_path, overwrite=False)
        assert str(refused.value) == f"{tmp_path}: holds {holds}; name another folder with --out, or add --overwrite"
        assert run_folders([experiment], tmp_path, overwrite=True) == [tmp_path]

    def test_several_runs_have_folders_of_their_own(self, tmp_path):
        (tmp_path / MANIFEST_FILE).write_text('{"name": "small", "only": ["tf-l1-ngd"]}')
        assert run_folders([PART], tmp_path, overwrite=False) == [tmp_path]
        whole, part = run_folders([small_experiment(), PART], tmp_path, overwrite=False)
        assert (whole, part) == (tmp_path / "small", tmp_path / "small-only")
        folders = run_folders([small_experiment(), PART], None, overwrite=True)
        assert folders == [Path("results/runs/small"), Path("results/runs/small-only")]


def test_rows_are_those_of_the_settings_in_any_order(finished, folder):
    """A run that finds some in the store has them in another order."""
    predictions = finished.results.predictions
    turned = replace(predictions, settings=dict(reversed(predictions.settings.items())))
    write_run(replace(finished.results, predictions=turned), manifest_of(finished.results, jobs=1, seconds=0), folder)
    assert read_manifest(folder)["rows"] == read_manifest(finished.folder)["rows"]


def test_cells_are_selected_by_patterns_and_a_pattern_without_one_is_refused():
    experiment = small_experiment()
    assert select_cells(experiment, ()) is experiment
    assert select_cells(experiment, ("tf-*", "*-ngd")).ids == ("tf-l1-linear", "tf-l1-ngd", "tfidf-l1-ngd")
    for patterns in (("tf-l2-*",), ("tf-*", "tf-l2-*")):
        with pytest.raises(ConfigError, match=r"tf-l2-\*"):
            select_cells(experiment, patterns)


def test_files_of_a_persons_own_stay(finished, tmp_path):
    """Only a run of a former format leaves its files to the run that takes its place."""
    (tmp_path / "costs.csv").write_text("mine")
    with pytest.raises(ConfigError, match=r"holds files that no run wrote \(costs\.csv\)"):
        run_folders([finished.results.experiment], tmp_path, overwrite=False)
    write_run(finished.results, manifest_of(finished.results, jobs=1, seconds=0.1), tmp_path)
    assert (tmp_path / "costs.csv").read_text() == "mine"
    sealed(tmp_path, format=3)
    write_run(finished.results, manifest_of(finished.results, jobs=1, seconds=0.1), tmp_path)
    assert not (tmp_path / "costs.csv").exists()
