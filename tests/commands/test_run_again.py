"""A run's folder is run again: equal where nothing changed, and each difference is shown where something did."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pandas as pd
import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.evaluation.predictions import TIMINGS_TABLE
from benchmark.experiment.run_folder import RUN_FORMAT, read_manifest, read_run, write_run
from benchmark.system.checks import digest_without_itself
from tests.processes import files_of

pytestmark = pytest.mark.usefixtures("sketched")
OWN = """
name: own
corpus: {name: files, path: own.csv, id: id, text: text, label: label}
text: {lexer: unicode}
protocol: {name: k-fold, k: 2}
methods: [mnb, ngd]
compare: [[mnb, ngd]]
"""
PLUGIN = """
from benchmark.classifiers import MultinomialBayes

class Mine(MultinomialBayes):
    pass

CLASSIFIERS = {"mine": Mine}
"""


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refused(result, code, *parts):
    """One line on standard error, and nothing else."""
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert all(part in result.stderr for part in parts), result.stderr


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def run(finished, here):
    return shutil.copytree(finished.folder, here / "run")


@pytest.fixture
def own(here):
    """A run of a user's own table, in a folder that isn't the current one."""
    (here / "mine").mkdir()
    rows = [(i, f"{'sun sea sand' if i % 2 else 'snow ice wind'} word{i % 7}", "ab"[i % 2]) for i in range(40)]
    pd.DataFrame(rows, columns=["id", "text", "label"]).to_csv(here / "mine" / "own.csv", index=False)
    (here / "mine" / "own.yaml").write_text(OWN)
    return here / "mine"


def test_an_unchanged_run_is_equal_and_nothing_is_kept_or_taken_from_the_store(run, here):
    before = files_of(run)
    result = invoke("run", run, "-j", 1)
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert words.startswith("small, run again: 4 of 4 common cells agree in every prediction.")
    assert words.endswith("Settings that differ: none")
    assert files_of(run) == before
    assert {path.name for path in here.iterdir()} == {"run"}


def test_a_new_run_is_written_where_that_is_asked_for(run, here):
    assert invoke("run", run, "--out", "again").exit_code == 0
    for name in {*read_manifest(run)["files"], "scores.csv", "table.md"} - {TIMINGS_TABLE}:
        assert (here / "again" / name).read_bytes() == (run / name).read_bytes(), name
    assert not (here / "cache").exists()


def test_changed_predictions_are_counted_and_fail(run):
    """Three predictions of one cell are replaced in the folder, with digests that fit."""
    found, manifest = read_run(run), read_manifest(run)
    key = next(key for key in found.predictions.settings if key.method == "tf-l1-ngd")
    setting = found.predictions.settings[key]
    changed = setting.predicted.copy()
    changed[:3] = (changed[:3] + 1) % 4
    settings = {**found.predictions.settings, key: replace(setting, predicted=changed)}
    old = {name: each for name, each in manifest.items() if name not in ("digest", "files", "rows", "diagnostic_notes")}
    old["versions"] = {**old["versions"], "numpy": "1.0"}
    write_run(replace(found, predictions=replace(found.predictions, settings=settings)), old, run)
    result = invoke("run", run, "-j", 1, "--json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    (answer,) = document["answers"]
    assert answer["equal"] is False
    assert answer["sentence"].startswith("small, run again: 3 of 4 common cells agree in every prediction; the largest")
    scores, differences = (table["rows"] for table in document["tables"])
    assert {row["cell"]: row["different"] for row in scores if row["different"]} == {"tf-l1-ngd": 3}
    assert [(row["setting"], row["then"]) for row in differences] == [("versions.numpy", "1.0")]


def test_a_part_is_run_again_as_a_part(run, here):
    (here / "small.yaml").write_text(json.dumps(read_manifest(run)["config"]))
    assert invoke("run", "small.yaml", "--only", "*-ngd", "--out", "part").exit_code == 0
    assert invoke("run", "part", "--out", "again").exit_code == 0
    assert read_manifest(here / "again")["only"] == ["*-ngd"]


class TestOwn:
    def test_files_are_found_from_anywhere(self, own, here):
        assert invoke("run", own / "own.yaml", "--out", "run").exit_code == 0
        assert invoke("run", "run", "--out", "again").stdout.endswith("Settings that differ: none\n")
        assert invoke("run", "again").exit_code == 0

    def test_an_edited_corpus_is_a_difference(self, own, here):
        assert invoke("run", own / "own.yaml", "--out", "run").exit_code == 0
        text = (own / "own.csv").read_text().replace("sun sea sand", "snow ice wind", 15)
        (own / "own.csv").write_text(text)
        assert invoke("run", "run", "--out", "again").exit_code == 1
        assert "variants.base.content_digest" in invoke("compare", "run", "again", "--all").stdout

    def test_a_missing_corpus_is_refused(self, own):
        assert invoke("run", own / "own.yaml", "--out", "run").exit_code == 0
        (own / "own.csv").unlink()
        refused(invoke("run", "run", "--out", "again"), 3, "own.csv: no such file or folder")

    def test_plugins_run_again_unless_they_are_gone(self, own, here):
        (own / "mine.py").write_text(PLUGIN)
        (own / "own.yaml").write_text(OWN.replace("mnb", "mine") + "plugins: [mine.py]\n")
        assert invoke("run", own / "own.yaml", "--out", "run").exit_code == 0
        result = invoke("run", "run")
        assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "Settings that differ: none")
        (own / "mine.py").unlink()
        refused(invoke("run", "run"), 2, "mine.py: no such file")


class TestRefused:
    def test_another_format(self, run):
        manifest = read_manifest(run) | {"format": RUN_FORMAT + 1}
        manifest["digest"] = digest_without_itself(manifest)
        (run / "manifest.json").write_text(json.dumps(manifest))
        refused(invoke("run", run), 3, f"is no manifest of format {RUN_FORMAT}")

    def test_the_folder_itself_and_other_runs_as_the_new_folder(self, run, here):
        refused(invoke("run", run, "--out", run), 2, "name another folder with --out")
        (here / "other.yaml").write_text(json.dumps(read_manifest(run)["config"] | {"name": "other"}))
        assert invoke("run", "other.yaml", "--only", "tf-l1-ngd", "--out", "other").exit_code == 0
        refused(invoke("run", run, "--out", "other"), 2, "holds the run of 'other'", "--overwrite")

    def test_a_folder_of_no_run_and_one_beside_other_arguments(self, run, here):
        (here / "empty").mkdir()
        refused(invoke("run", "empty"), 2, "empty: holds no run (manifest.json is missing)")
        for words in ((run,), ("--only", "x"), ("--dask", "local:1"), ("--max-workers", 1)):
            refused(invoke("run", run, *words), 2, "name its folder alone")

    def test_a_configuration_of_another_grammar(self, run):
        manifest = read_manifest(run)
        manifest["config"] = manifest["config"] | {"methods": ["gone"]}
        manifest["digest"] = digest_without_itself(manifest)
        (run / "manifest.json").write_text(json.dumps(manifest))
        refused(invoke("run", run), 2, "gone")
