"""A run in the formats of others: valid by their rules, with the run's own numbers, and no texts of documents."""

from __future__ import annotations

import csv
import importlib.util
import json
import math
import re
import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pandas as pd
import pytest
import requests
import yaml
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.commands.every_eval_ever import SCHEMA_VERSION, _axes, _results, _slug, _source, every_eval_ever
from benchmark.commands.ro_crate import _corpora, _names
from benchmark.config.model import Cell, FigureView
from benchmark.corpora import registry
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.run_folder import read_manifest
from benchmark.experiment.store import Store
from tests.builders import small_experiment

pytestmark = pytest.mark.usefixtures("sketched")


def eval_schema():
    """Return the schema of the package every-eval-ever, which needs Python 3.12; None where it isn't installed."""
    found = importlib.util.find_spec("every_eval_ever")
    if found is None or found.origin is None:
        return None
    return json.loads((Path(found.origin).parent / "schemas" / "eval.schema.json").read_text(encoding="utf-8"))


#: Terms of the context of RO-Crate 1.1 that a crate of ours has.
TERMS = """
    CreateAction CreativeWork Dataset SoftwareApplication about actionStatus contentSize datePublished description
    encodingFormat endTime hasPart identifier instrument license mentions name object result softwareRequirements
    softwareVersion startTime url version
"""
CONTEXT = {name: f"http://schema.org/{name}" for name in TERMS.split()} | {
    "File": "http://schema.org/MediaObject",
    "conformsTo": "http://purl.org/dc/terms/conformsTo",
}


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def exported(run, to, out):
    result = invoke("export", run, "--to", to, "--out", out)
    assert result.exit_code == 0, result.output
    assert sorted(map(Path, result.stdout.splitlines())) == sorted(path for path in out.rglob("*") if path.is_file())
    return out


@pytest.fixture(scope="module")
def crate(finished, tmp_path_factory):
    return exported(finished.folder, "ro-crate", tmp_path_factory.mktemp("crate"))


@pytest.fixture(scope="module")
def entities(crate):
    graph = json.loads((crate / "ro-crate-metadata.json").read_text(encoding="utf-8"))["@graph"]
    found = {each["@id"]: each for each in graph}
    assert len(found) == len(graph)
    return found


class TestCrate:
    def test_every_reference_leads_to_an_entity_and_every_file_is_there(self, crate, entities):
        def references(value):
            if isinstance(value, dict):
                yield from [value["@id"]] if list(value) == ["@id"] else []
                value = list(value.values())
            if isinstance(value, list):
                for each in value:
                    yield from references(each)

        named = {name for each in entities.values() for name in references({**each, "@id": None})}
        assert named - entities.keys() == {"https://w3id.org/ro/crate/1.1"}
        assert entities.keys() - named == {"ro-crate-metadata.json"}
        files = {name: each for name, each in entities.items() if each["@type"] == "File"}
        assert {*files, "ro-crate-metadata.json"} == {path.name for path in crate.iterdir()}
        assert all(int(each["contentSize"]) == (crate / name).stat().st_size for name, each in files.items())

    def test_has_what_ro_crate_and_its_profile_require(self, entities):
        root, descriptor = entities["./"], entities["ro-crate-metadata.json"]
        assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
        assert descriptor["about"] == {"@id": "./"}
        assert all(root[key] for key in ("name", "description", "license"))
        assert datetime.fromisoformat(root["datePublished"])
        assert entities[root["conformsTo"]["@id"]]["@type"] == "CreativeWork"
        assert root["conformsTo"]["@id"].startswith("https://w3id.org/ro/wfrun/process/")
        (action,) = (each for each in entities.values() if each["@type"] == "CreateAction")
        assert entities[action["instrument"]["@id"]]["@type"] == "SoftwareApplication"
        assert root["mentions"] == {"@id": action["@id"]}

    def test_its_validator_finds_nothing_that_is_required(self, crate, monkeypatch):
        """Where roc-validator is installed; the context, which it would download, is given to it."""
        services = pytest.importorskip("rocrate_validator.services")
        models = pytest.importorskip("rocrate_validator.models")
        name = "rdflib.plugins.shared.jsonld.context.Context._fetch_context"
        monkeypatch.setattr(name, lambda *_: {"@context": CONTEXT})
        answer = requests.Response()
        answer.status_code, answer._content = 200, json.dumps({"@context": CONTEXT}).encode()
        answer.headers["Content-Type"] = "application/ld+json"
        for session in (requests.Session, pytest.importorskip("requests_cache").CachedSession):
            monkeypatch.setattr(session, "request", lambda *_, **__: answer)
        settings = services.ValidationSettings(
            rocrate_uri=str(crate),
            profile_identifier="process-run-crate",
            requirement_severity=models.Severity.REQUIRED,
            skip_availability_check=True,
        )
        assert [each.message for each in services.validate(settings).get_issues()] == []

    def test_says_what_the_manifest_says(self, finished, entities):
        manifest = read_manifest(finished.folder)
        software = {e["name"]: e["softwareVersion"] for e in entities.values() if e["@type"] == "SoftwareApplication"}
        assert software == manifest["versions"]
        run = entities["#run"]
        assert run["endTime"] == manifest["finished"]
        took = datetime.fromisoformat(run["endTime"]) - datetime.fromisoformat(run["startTime"])
        assert abs(took.total_seconds() - manifest["seconds"]) <= 0.5
        (corpus,) = (each for name, each in entities.items() if name.startswith("#corpus-"))
        assert corpus["identifier"] == f"sha256:{manifest['variants']['base']['content_digest']}"

    def test_is_a_run_folder_itself_and_its_configuration_can_be_run(self, finished, crate, tmp_path):
        again = invoke("report", shutil.copytree(crate, tmp_path / "crate"), "--quiet")
        assert (again.exit_code, again.stderr) == (0, "")
        assert invoke("validate", crate / "configuration.yaml").exit_code == 0
        assert yaml.safe_load((crate / "configuration.yaml").read_text()) == read_manifest(finished.folder)["config"]

    def test_the_page_which_may_hold_texts_stays_behind(self, finished, crate):
        assert (finished.folder / "report.html").exists()
        assert not (crate / "report.html").exists()

    def test_a_folder_with_another_run_is_refused(self, finished, crate, tmp_path):
        other = shutil.copytree(crate, tmp_path / "other")
        assert invoke("export", finished.folder, "--to", "ro-crate", "--out", other).exit_code == 0
        whole = (other / "manifest.json").read_text(encoding="utf-8")
        number = next(each for each in re.findall(r"\d", whole) if each != "9")
        for text in ("{}", whole.replace(number, "9", 1)):
            (other / "manifest.json").write_text(text, encoding="utf-8")
            result = invoke("export", finished.folder, "--to", "ro-crate", "--out", other)
            assert (result.exit_code, result.stdout) == (2, "")
            assert "holds another run" in result.stderr
        result = invoke("export", finished.folder, "--to", "ro-crate", "--out", other)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "holds another run" in result.stderr

    def test_files_of_all_figures_and_tables_may_be_there(self, finished):
        experiment = finished.results.experiment
        figures = tuple(FigureView(name, ("accuracy",)) for name in ("b", "a-b"))
        names = _names(replace(experiment, figures=figures))
        assert len(set(names)) == len(names)
        assert {f"{name}.{kind}" for name in ("figure", "b", "a-b") for kind in ("png", "svg")} <= set(names)
        written = {path.name for path in finished.folder.iterdir()} - {"report.html", "figures"}
        assert written <= set(names)
        assert "receipt.json" in names

    @pytest.mark.parametrize("variants", [["base"], ["base", "b"], ["base", "b", "c"]])
    def test_each_corpus_is_an_entity_and_the_same_one_is_one(self, finished, variants):
        """One corpus may be read of several files: `base` and `c` read the same."""
        experiment, manifest = finished.results.experiment, read_manifest(finished.folder)
        (variant,), facts = experiment.variants.values(), manifest["variants"]["base"]
        of = {"base": facts, "b": facts | {"content_digest": "ab" * 32}, "c": facts}
        found = _corpora(replace(experiment, variants=dict.fromkeys(variants, variant)), {"variants": of})
        digests = dict.fromkeys(of[name]["content_digest"] for name in variants)
        assert [each["identifier"] for each in found] == [f"sha256:{digest}" for digest in digests]
        assert len({each["@id"] for each in found}) == len(found)
        card = registry.dataset_card("synthetic")
        assert {each["name"] for each in found} == {card.title}
        assert {each["description"] for each in found} == {f"Terms of use: {' '.join(card.licence.split())}"}


class TestEvaluations:
    def documents(self, folder):
        return {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in folder.rglob("*.json")}

    def check(self, document):
        if (schema := eval_schema()) is not None:
            jsonschema.Draft7Validator(schema).validate(document)

    @pytest.mark.skipif(eval_schema() is None, reason="every-eval-ever isn't installed")
    def test_follow_the_schema_of_their_version(self, finished, tmp_path):
        assert eval_schema()["version"] == SCHEMA_VERSION
        found = self.documents(exported(finished.folder, "every-eval-ever", tmp_path))
        assert found.keys() == read_manifest(finished.folder)["cells"].keys()
        for document in found.values():
            self.check(document)

    def test_have_the_numbers_of_scores_csv(self, finished, tmp_path):
        found = self.documents(exported(finished.folder, "every-eval-ever", tmp_path))
        with (finished.folder / "scores.csv").open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["fold"] == "all"]
        results = {
            (name, each["metric_config"]["metric_id"]): each["score_details"]
            for name, document in found.items()
            for each in document["evaluation_results"]
        }
        assert results.keys() == {(row["cell"], row["metric"]) for row in rows}
        for row in rows:
            details = results[row["cell"], row["metric"]]
            interval = details.get("uncertainty", {}).get("confidence_interval", {})
            assert f"{details['score']:.12g}" == row["value"]
            assert details.get("details", {}).get("ties", "") == row["ties"]
            if interval:
                assert details["uncertainty"]["num_samples"] == int(row["n"])
                assert interval["confidence_level"] == 0.95
                assert "95%" in interval["method"] or interval["method"]
            assert [f"{interval[end]:.12g}" if interval else "" for end in ("lower", "upper")] == [
                row["low"],
                row["high"],
            ]

    def test_error_is_better_when_lower_and_gains_are_no_scores(self, tmp_path):
        protocol = {"name": "random-subsets", "train_size": [12, 30], "replicates": 3}
        changes = {"protocol": protocol, "methods": ["mnb"], "metrics": ["error"], "gain": True}
        folder = run_and_write(
            small_experiment(**changes), RunContext(Store(tmp_path / "store", limit=10**9)), folder=tmp_path / "run"
        ).folder
        found = self.documents(exported(folder, "every-eval-ever", tmp_path / "out"))
        assert any(name.startswith("gain-") for name in read_manifest(folder)["cells"])
        assert found.keys() == {"mnb-12", "mnb-30"}
        for document in found.values():
            self.check(document)
            assert [each["metric_config"]["lower_is_better"] for each in document["evaluation_results"]] == [True]

    def test_a_document_says_what_was_run_where_and_on_what(self, finished, tmp_path):
        manifest = read_manifest(finished.folder)
        found = self.documents(exported(finished.folder, "every-eval-ever", tmp_path))
        for cell, document in found.items():
            model, time = document["model_info"], datetime.fromisoformat(manifest["finished"])
            assert (model["name"], model["id"]) == (cell, f"simplexbench/{cell}")
            details = model["additional_details"]
            assert json.loads(details["method"]) == manifest["methods"]["base"][cell]
            assert {k: v for k, v in details.items() if k != "method"} == {
                "deployment_type": "self_deployed",
                "model_availability": "unknown",
                "variant": "base",
            }
            assert document["evaluation_id"] == f"small/simplexbench/{cell}/{int(time.timestamp())}"
            assert (document["evaluation_timestamp"], document["retrieved_timestamp"]) == (
                time.isoformat(),
                str(int(time.timestamp())),
            )
            library = document["eval_library"]
            versions = {"simplexbench": library["version"], **library["additional_details"]}
            assert versions == manifest["versions"]
            assert document["source_metadata"]["source_name"] == "simplexbench, A small one"
            for result in document["evaluation_results"]:
                metric = result["metric_config"]
                assert result["evaluation_result_id"] == f"{cell}/{metric['metric_id']}"
                assert result["evaluation_name"] == "small"
                assert not metric["lower_is_better"]
                assert (metric["min_score"], metric["max_score"], metric["metric_unit"]) == (0, 1, "proportion")
                assert result["source_data"] == {
                    "dataset_name": "synthetic",
                    "source_type": "other",
                    "additional_details": {
                        "content_digest": manifest["variants"]["base"]["content_digest"],
                        "documents_digest": manifest["variants"]["base"]["documents_digest"],
                        "classes": ", ".join(manifest["variants"]["base"]["classes"]),
                    },
                }

    def test_the_documents_of_a_known_corpus_have_an_address_and_those_of_a_part_its_name(self, finished):
        run, manifest = finished.results, read_manifest(finished.folder)
        (variant,), cell = run.experiment.variants.values(), run.experiment.cells[0]
        for corpus, subset in (("webkb", None), ("reuters", "r8"), ("own", None)):
            collection = replace(variant.collection, corpus=corpus, subset=subset)
            other = replace(run.experiment, variants={"base": replace(variant, collection=collection)})
            found = _source(cell, replace(run, experiment=other), manifest)
            assert found["additional_details"].get("subset") == subset
            if corpus == "own":
                assert (found["dataset_name"], found["source_type"], "url" in found) == ("own", "other", False)
            else:
                card = registry.dataset_card(corpus)
                assert (found["dataset_name"], found["source_type"]) == (card.title, "url")
                assert found["url"] == list(card.addresses)

    def test_a_cell_stands_where_it_does_on_each_axis_that_there_is(self):
        """Axes without a value are left out, and no two are told under one name."""
        axes = {"task": "t", "class": "c", "choice": "oracle", "variant": "v", "size": 40, "terms": 1000}
        own = {"of_class" if name == "class" else name: value for name, value in axes.items()}
        empty = {"task": "", "variant": "", "of_class": "", "choice": "", "size": None, "terms": None}
        assert _axes(Cell("x", method="m", **own)) == axes
        for name, value in axes.items():
            key = "of_class" if name == "class" else name
            assert _axes(Cell("x", method="m", **empty | {key: value})) == {name: value}

    def test_a_plug_in_s_metric_has_its_own_direction(self, finished):
        """Rows of other folds, of gains and without a value aren't scores; a score may lack its interval and ties."""
        run, manifest = finished.results, read_manifest(finished.folder)
        (cell, gain, *_), accuracy = run.experiment.cells, run.experiment.scorers["accuracy"]
        scorers = {"mine": replace(accuracy, more_is_better=False), "accuracy": accuracy, "yours": accuracy}
        experiment = replace(run.experiment, scorers=scorers, cells=(cell, replace(gain, what="gain")))
        rows = [
            (cell.id, "all", "mine", 0.25, 0.125, 0.5, 60, 3.0),
            (cell.id, "all", "accuracy", 0.75, math.nan, math.nan, 60, math.nan),
            (cell.id, "all", "yours", math.nan, 0.0, 1.0, 60, 0.0),
            (cell.id, "all", "seconds", 2.0, 1.0, 3.0, 60, 0.0),
            (cell.id, "texas", "accuracy", 0.5, 0.0, 1.0, 30, 0.0),
            (gain.id, "all", "accuracy", 0.5, 0.0, 1.0, 60, 0.0),
        ]
        frame = pd.DataFrame(rows, columns=["cell", "fold", "metric", "value", "low", "high", "n", "ties"])
        other = SimpleNamespace(experiment=experiment, predictions=run.predictions, scored=SimpleNamespace(frame=frame))
        ((name, found),) = _results(other, manifest).items()
        assert name == cell.id
        directions = [(e["metric_config"]["metric_id"], e["metric_config"]["lower_is_better"]) for e in found]
        assert directions == [("mine", True), ("accuracy", False)]
        mine, plain = (each["score_details"] for each in found)
        assert (mine["score"], mine["details"], plain) == (0.25, {"ties": "3"}, {"score": 0.75})
        interval = mine["uncertainty"]["confidence_interval"]
        assert (interval["lower"], interval["upper"], mine["uncertainty"]["num_samples"]) == (0.125, 0.5, 60)

    @pytest.mark.parametrize(
        ("text", "name"), [("tf-l1_ngd", "tf-l1_ngd"), ("a b/c", "a-b-c"), ("ä–b", "-b"), ("C0.5", "C0-5")]
    )
    def test_folders_have_plain_names(self, text, name):
        assert _slug(text) == name

    def test_files_of_another_run_of_the_same_configuration_have_other_names(self, finished, tmp_path, monkeypatch):
        names = {path.rpartition("/")[2] for path in every_eval_ever(finished.folder)}
        manifest = read_manifest(finished.folder)
        monkeypatch.setattr(
            "benchmark.commands.every_eval_ever.read_manifest", lambda _: manifest | {"digest": "another"}
        )
        others = {path.rpartition("/")[2] for path in every_eval_ever(finished.folder)}
        assert len(names) == len(others) == 4
        assert names.isdisjoint(others)

    def test_exporting_again_gives_the_same_bytes(self, finished, tmp_path):
        one, two = (exported(finished.folder, "every-eval-ever", tmp_path / name) for name in "ab")
        files = sorted(path.relative_to(one) for path in one.rglob("*.json"))
        assert files == sorted(path.relative_to(two) for path in two.rglob("*.json"))
        assert all((one / name).read_bytes() == (two / name).read_bytes() for name in files)


def test_an_unknown_format_is_refused_with_those_that_there_are(finished, tmp_path):
    result = invoke("export", finished.folder, "--to", "ro-crat", "--out", tmp_path / "out")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "unknown format 'ro-crat'" in result.stderr
    assert "(allowed: counts, ro-crate, every-eval-ever)" in result.stderr
    assert not (tmp_path / "out").exists()
