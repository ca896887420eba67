"""A run computed again: equal where nothing changed, and a receipt of each difference where something did."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from benchmark.analysis.run_comparisons import CellAgreement
from benchmark.cli import app
from benchmark.commands.rerun import Receipt, _check_target
from benchmark.evaluation.predictions import TIMINGS_TABLE
from benchmark.experiment.run_folder import RUN_FORMAT, read_manifest, read_run, write_run
from benchmark.system.checks import digest_without_itself
from benchmark.system.errors import ConfigError
from tests.builders import small_experiment

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


def receipt_of(folder):
    return json.loads((folder / "receipt.json").read_text())


def test_an_unchanged_run_is_equal_to_the_byte(run, here):
    result = invoke("rerun", run)
    again, found = here / "results" / "runs" / "run-rerun", receipt_of(here / "results" / "runs" / "run-rerun")
    n = len(pd.read_parquet(run / "predictions.parquet"))
    assert result.exit_code == 0, result.output
    assert f"small, computed again: all {n:,} predictions equal, all " in " ".join(result.stdout.split())
    assert (found["predictions_equal"], found["numbers_equal"]) == (True, True)
    assert sum(cell["predictions"] for cell in found["cells"]) == n
    scores = pd.read_csv(run / "scores.csv")
    assert sum(cell["numbers"] for cell in found["cells"]) == 5 * len(scores)  # value, low, high, n, ties
    for name in {*read_manifest(run)["files"], "scores.csv", "table.md"} - {TIMINGS_TABLE}:
        assert (again / name).read_bytes() == (run / name).read_bytes(), name
    assert found["run"]["digest"] == read_manifest(run)["digest"]
    assert found["rerun"]["versions"] == read_manifest(again)["versions"]


def test_nothing_comes_from_the_store(run, here):
    assert invoke("rerun", run, "--out", "again").exit_code == 0
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
    result = invoke("rerun", run, "--out", "again", "--json")
    assert result.exit_code == 1
    (receipt,) = json.loads(result.stdout)["receipts"]
    assert {cell["cell"]: cell["other_predictions"] for cell in receipt["cells"] if cell["other_predictions"]} == {
        "tf-l1-ngd": 3
    }
    assert receipt["predictions_equal"] is False
    assert {
        "key": "versions.numpy",
        "run": "1.0",
        "rerun": read_manifest(run.parent / "again")["versions"]["numpy"],
    } in (receipt["manifest_differences"])
    assert "3 of " in json.loads(result.stdout)["answers"][0]["sentence"]


def test_a_receipt_counts_what_differs_and_in_how_many_cells():
    """In numbers, predictions, units and words; values left out by one run are told as missing."""
    agreement = [
        CellAgreement("tf-l1-linear", 1500, 0, 1200, 0, (0.5, 0.5)),
        CellAgreement("tf-l1-ngd", 1500, 2, 1200, 1100, (0.25, None)),
    ]
    manifests = (
        {"finished": "then", "digest": "a", "versions": {"numpy": "1"}, "name": "x"},
        {"finished": "now", "digest": "b", "versions": {"numpy": "2"}, "name": "y", "seconds": 2.5},
    )
    receipt = Receipt(small_experiment(), Path("again"), tuple(agreement), manifests)
    assert not receipt.equal
    assert receipt.sentence == (
        "small, computed again: 2 of 3,000 predictions differ in 1 cell, 1,100 of 2,400 numbers differ in 1 cell; "
        "receipt in again/receipt.json"
    )
    settings, cells = receipt.tables
    assert settings.rows == [("versions.numpy", "1", "2")]
    assert settings.header == ("setting", "then", "now")
    assert cells.header == ("cell", "predictions", "differ", "numbers", "unequal", "accuracy % then", "now")
    assert cells.rows[0] == ("tf-l1-linear", "1,500", "0", "1,200", "0", "50.00", "50.00")
    assert cells.rows[1][:6] == ("tf-l1-ngd", "1,500", "2", "1,200", "1,100", "25.00")
    data = receipt.data
    assert (data["format"], data["name"], data["predictions_equal"], data["numbers_equal"]) == (
        1,
        "small",
        False,
        False,
    )
    assert data["run"] == {"finished": "then", "digest": "a", "versions": {"numpy": "1"}}
    assert data["rerun"] == {"finished": "now", "digest": "b", "versions": {"numpy": "2"}, "seconds": 2.5}
    assert data["manifest_differences"] == [{"key": "versions.numpy", "run": "1", "rerun": "2"}]
    equal = replace(receipt, cells=(agreement[0], replace(agreement[1], other_predictions=0, other_numbers=0)))
    assert equal.equal
    assert equal.data["numbers_equal"]
    assert "computed again: all 3,000 predictions equal, all 2,400 numbers equal; receipt" in equal.sentence
    both = replace(receipt, cells=(agreement[1], agreement[1]))
    assert "4 of 3,000 predictions differ in 2 cells" in both.sentence
    only_numbers = replace(receipt, cells=(replace(agreement[1], other_predictions=0),))
    assert (only_numbers.equal, only_numbers.data["numbers_equal"]) == (True, False)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    ("files", "refused_without"),
    [((), False), (("manifest.json",), True), (("manifest.json", "receipt.json"), False), (("other",), False)],
)
def test_a_run_that_is_no_rerun_is_only_overwritten_where_that_is_said(here, files, refused_without, overwrite):
    target = here / "again"
    target.mkdir()
    for name in files:
        (target / name).touch()
    if refused_without and not overwrite:
        with pytest.raises(
            ConfigError, match=r"again: holds a run; name another folder with --out, or add --overwrite"
        ):
            _check_target(target, here / "run", overwrite=overwrite)
    else:
        _check_target(target, here / "run", overwrite=overwrite)
    with pytest.raises(ConfigError, match="holds the run that would be computed again; name another folder with --out"):
        _check_target(target, here / "x" / ".." / "again", overwrite=overwrite)


def test_a_part_is_run_again_as_a_part(run, here):
    assert invoke("rerun", run, "--out", "whole").exit_code == 0
    (here / "small.yaml").write_text(json.dumps(read_manifest(run)["config"]))
    assert invoke("run", "small.yaml", "--only", "*-ngd", "--out", "part").exit_code == 0
    assert invoke("rerun", "part", "--out", "again").exit_code == 0
    assert read_manifest(here / "again")["only"] == ["*-ngd"]


class TestOwn:
    def test_files_are_found_from_anywhere(self, own, here):
        assert invoke("run", own / "own.yaml", "--out", "run").exit_code == 0
        assert invoke("rerun", "run", "--out", "again").exit_code == 0
        assert receipt_of(here / "again")["manifest_differences"] == []
        assert invoke("rerun", "again", "--out", "third").exit_code == 0

    def test_an_edited_corpus_is_a_difference(self, own, here):
        assert invoke("run", own / "own.yaml", "--out", "run").exit_code == 0
        text = (own / "own.csv").read_text().replace("sun sea sand", "snow ice wind", 15)
        (own / "own.csv").write_text(text)
        result = invoke("rerun", "run", "--out", "again")
        assert result.exit_code == 1, result.output
        keys = {each["key"] for each in receipt_of(here / "again")["manifest_differences"]}
        assert "variants.base.content_digest" in keys

    def test_a_missing_corpus_is_refused(self, own):
        assert invoke("run", own / "own.yaml", "--out", "run").exit_code == 0
        (own / "own.csv").unlink()
        refused(invoke("rerun", "run", "--out", "again"), 3, "own.csv: no such file or folder")

    def test_plugins_run_again_unless_they_are_gone(self, own, here):
        (own / "mine.py").write_text(PLUGIN)
        (own / "own.yaml").write_text(OWN.replace("mnb", "mine") + "plugins: [mine.py]\n")
        assert invoke("run", own / "own.yaml", "--out", "run").exit_code == 0
        assert invoke("rerun", "run", "--out", "again").exit_code == 0
        assert receipt_of(here / "again")["manifest_differences"] == []
        (own / "mine.py").unlink()
        refused(invoke("rerun", "run", "--out", "third"), 2, "mine.py: no such file")


class TestRefused:
    def test_another_format(self, run):
        manifest = read_manifest(run) | {"format": RUN_FORMAT + 1}
        manifest["digest"] = digest_without_itself(manifest)
        (run / "manifest.json").write_text(json.dumps(manifest))
        refused(invoke("rerun", run), 3, f"is of format {RUN_FORMAT + 1}")

    def test_folders_that_hold_a_run(self, run, finished, here):
        refused(invoke("rerun", run, "--out", run), 2, "name another folder with --out")
        shutil.copytree(finished.folder, here / "other")
        refused(invoke("rerun", run, "--out", "other"), 2, "other: holds a run", "--overwrite")
        assert not (here / "other" / "receipt.json").exists()

    def test_a_configuration_of_another_grammar(self, run):
        manifest = read_manifest(run)
        manifest["config"] = manifest["config"] | {"methods": ["gone"]}
        manifest["digest"] = digest_without_itself(manifest)
        (run / "manifest.json").write_text(json.dumps(manifest))
        refused(invoke("rerun", run), 2, "gone")
