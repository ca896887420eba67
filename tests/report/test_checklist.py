"""The reproducibility checklist has a run's own numbers, and says of all else that it isn't known."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import checklist_of_run, run_and_write
from benchmark.experiment.run_folder import read_manifest
from benchmark.experiment.store import Store
from benchmark.report.checklist import NOT_KNOWN, checklist_markdown
from tests.builders import small_experiment


def answers(text: str) -> dict[str, str]:
    """The answer to each item."""
    rows = re.findall(r"^\| (\S.*?) +\| (.*?) +\|$", text.partition("## Scores")[0], re.MULTILINE)
    return {item: answer for item, answer in rows if item != "item" and not item.startswith(":")}


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    svm = {"weighting": "tfidf", "classifier": {"name": "linear-svm", "C": [0.1, 1, 10]}}
    choose = {"by": "cross-validation", "folds": 3}
    experiment = small_experiment(methods=["mnb", svm], choose=choose)
    return run_and_write(experiment, RunContext(Store(folder / "store", limit=10**9)), folder=folder / "run")


def test_every_item_has_an_answer_of_the_run(finished) -> None:
    found, manifest = answers(checklist_of_run(finished.folder)), read_manifest(finished.folder)
    assert len(found) == 24
    assert all(found.values())
    facts = manifest["variants"]["base"]
    assert f"{facts['documents']:,} documents" in found["Statistics, such as the number of examples"]
    sizes = [size["test"] for splits in manifest["splits"].values() for size in splits.values()]
    assert f"{len(sizes)} splits" in found["Splits for training, validation and testing"]
    assert str(max(sizes)) in found["Splits for training, validation and testing"]
    assert facts["content_digest"] in found["Where the data can be downloaded"]
    assert "no validation part" in found["Splits for training, validation and testing"]
    assert found["Ranges of hyperparameters"] == "one each"
    unknown = {item for item, answer in found.items() if answer == NOT_KNOWN}
    models = {"Mathematical setting, algorithm and model", "Assumptions", "Complexity: time, space, sample size"}
    assert unknown == models | {"Energy"}
    assert f"answer {len(found) - len(unknown)} of {len(found)} items" in checklist_of_run(finished.folder)


def test_candidates_and_the_way_to_choose_are_told(tuned) -> None:
    found = answers(checklist_of_run(tuned.folder))
    assert found["Ranges of hyperparameters"] == "tfidf-linear-svm: classifier.C in {0.1, 1.0, 10.0}"
    assert found["How the best were selected"].startswith("cross-validation; ")
    assert found["Hyperparameters of the results"].startswith("mnb: ")
    assert "tfidf-linear-svm" not in found["Hyperparameters of the results"]
    assert "validation by cross-validation (k-fold (k 3" in found["Splits for training, validation and testing"]


def test_defaults_of_the_text_are_told(tuned) -> None:
    manifest = read_manifest(tuned.folder)
    stated = {key: manifest["config"].get("text", {}).get(key) for key in ("stoplist", "digits")}
    found = answers(checklist_of_run(tuned.folder))["Preprocessing"]
    assert f"stoplist {stated['stoplist'] or 'smart'}" in found
    assert f"digits {stated['digits'] or 'drop'}" in found


def test_what_a_manifest_lacks_is_not_known(tuned) -> None:
    manifest = read_manifest(tuned.folder)
    variants = manifest["experiment"]["variants"]
    variants["base"]["collection"]["corpus"] = "files"
    manifest["config"]["methods"] = [{"pipeline": "mine.py:make"}]
    found = answers(checklist_markdown(tuned.summary, manifest | {"git": {}, "machine": {}}))
    for item in ("How new data were collected, with instructions to annotators", "Energy"):
        assert found[item] == NOT_KNOWN
    assert found["Where the data can be downloaded"].startswith(f"{NOT_KNOWN}; content digest")
    assert found["Pretrained models"] == f"{NOT_KNOWN}: methods have pipeline"
    assert found["Training code"].endswith(f"commit {NOT_KNOWN}")
    assert found["Computing infrastructure"].startswith(f"{NOT_KNOWN}; {NOT_KNOWN} processors")


def test_the_command_prints_it_and_writes_nothing(tuned) -> None:
    before = {path: path.stat().st_mtime_ns for path in tuned.folder.iterdir()}
    result = CliRunner().invoke(app, ["report", str(tuned.folder), "--checklist"])
    assert result.stdout == checklist_of_run(tuned.folder)
    assert {path: path.stat().st_mtime_ns for path in tuned.folder.iterdir()} == before
