"""The schema of configurations: what good files fit and wrong ones don't, and the page made of it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from benchmark.config.components import component_model
from benchmark.config.experiment import ExperimentSection
from benchmark.schema.reference import COMPONENT_REGISTRIES, json_schema, list_components, reference_page

TOP = Path(__file__).parents[2]
CONFIGS = sorted((TOP / "configs").glob("*.yaml"))
SMALL = {"name": "a", "corpus": {"name": "synthetic"}, "protocol": "fixed-split", "methods": ["ngd"]}


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(json.dumps(json_schema()))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_configuration_of_ours_fits(validator, path):
    assert validator.is_valid(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"methods": "svm"},
        {"methods": [{"kernel": {"name": "rbf", "sigma": [1, 2.5]}, "classifier": {"C": [1, 10]}}]},
        {"methods": [{"text": {"stoplist": ["none", "smart"], "min_documents": None}, "kernel": "ngd"}]},
        {"defaults": {"C": 10, "svm": {"C": 1, "weighting": "tf"}, "classifier": "svm"}},
        {"methods": ["mnb", "ngd", {"fuse": ["mnb", "ngd"], "name": "both"}]},
        {"methods": ["mnb", "ngd", {"fuse": [["mnb", "ngd"], ["ngd", "mnb"]], "name": "both"}]},
        {"variants": {"v": {"text": {"digits": None}, "defaults": {"C": 1}}}},
        {"diagnostics": ["document-counts", {"name": "centroid-distances", "smoothing": [0.1]}]},
        {"methods": {"kernel": ["ngd", {"name": "rbf"}], "dirichlet": [0, 0.5], "idf": ["training", "collection"]}},
        {
            "methods": {
                "weighting": ["tf", {"name": "bm25", "k1": [1, 2]}],
                "features": "hellinger",
                "classifier": "mnb",
            }
        },
        {"methods": {"threshold": ["zero", {"name": "at-least-one"}], "kernel": "ngd", "name": "x"}},
        {"methods": [{"predictions": "a.csv", "name": "x"}]},
        {"methods": [{"vectors": "a.parquet"}, {"vectors": {"file": "a.npy", "ids": "b.txt"}, "threshold": "zero"}]},
        {"methods": [{"pipeline": "mine.py:make"}, {"pipeline": {"name": "sklearn.a.B", "c__d": [1, 2]}}]},
        {"methods": ["sklearn.ensemble.Forest", {"classifier": {"name": "sklearn.ensemble.Forest", "n": 3}}]},
        {"methods": [{"text": [{"fields": ["all", "title"]}, {"ngrams": [[1], [1, 2]]}], "classifier": "mnb"}]},
        {"text": {"stoplist": "./mine.txt", "within": "white-space", "characters": [3, 5]}},
        {"corpus": {"name": "files", "path": {"train": "a", "test": "b"}, "text": ["a", "b"], "drop": ["rare"]}},
        {"terms": {"number": [1, 5], "rank": "information-gain", "aggregate": "maximum"}, "metrics": ["seconds"]},
        {"defaults": {"threshold": "zero", "mnb": {"threshold": "zero", "idf": "training"}, "dirichlet": 0}},
    ],
)
def test_what_a_file_may_say_fits(validator, changes):
    assert validator.is_valid(SMALL | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"corpse": {}},
        {"corpus": {"name": "nosuch"}},
        {"methods": [{}]},
        {"methods": [{"text": {"stoplists": "smart"}, "kernel": "ngd"}]},
        {"methods": ["mnb", {"fuse": ["mnb"], "name": "one"}]},
        {"metrics": ["acuracy"]},
        {"variants": {"v": {"diagnostics": ["coordinates"]}}},
        {"diagnostics": [{"name": "document-count"}]},
        {"methods": {"kernel": "ngd", "dirichlet": []}},
        {"methods": {"kernel": "ngd", "features": "helinger"}},
        *(
            {"methods": {"vectors": each, "classifier": "logistic"}}
            for each in ({"ids": "a"}, {"file": "a", "key": "b"}, 3)
        ),
        *({"methods": {"pipeline": each}} for each in ("make", {"name": "make"})),
        *({"methods": each} for each in ("Forest", ".Forest", "a b.Forest", "a.1b")),
        *(
            {"methods": [{"fuse": ["mnb", "ngd"], "name": "x"} | more]}
            for more in ({"weights": [1, 0]}, {"weights": [1, 1e13]}, {"scale": "fold"}, {"more": 1}, {"name": 1})
        ),
        *({"text": each} for each in ({"stoplist": "mine"}, {"within": "lines"}, {"digits": 3}, {"min_documents": 0})),
        *({"terms": {"number": 5} | each} for each in ({"rank": "chi"}, {"aggregate": "mean"}, {"number": 0})),
        {"defaults": {"weighting": "tf-idf"}},
        {"variants": {"v": {"name": "w"}}},
        {"variants": {"v": {"text": {"digit": "drop"}}}},
    ],
)
def test_what_a_file_may_not_say_does_not_fit(validator, changes):
    assert not validator.is_valid(SMALL | changes)


def test_a_file_that_extends_another_says_no_more_than_what_is_otherwise(validator):
    assert validator.is_valid({"name": "a", "extends": "b", "corpus": {"classes": ["x", "y"]}, "choose": None})
    assert validator.is_valid({"name": "a", "extends": "b", "defaults": {"t": 2}, "text": {"digits": None}})
    assert not validator.is_valid({"name": "a", "extends": "b", "corpse": {}})
    assert not validator.is_valid({"extends": "b", "seed": 1}), "it needs a name of its own"
    for key in set(ExperimentSection.model_fields) - {"name"}:
        assert validator.is_valid({"name": "a", "extends": "b", key: None}), key


def test_every_key_of_every_section_says_what_it_is():
    schema = ExperimentSection.model_json_schema()
    found = {"": schema, **schema["$defs"]}
    keys = [(name, key, each) for name, section in found.items() for key, each in section["properties"].items()]
    assert len(keys) >= 70
    assert [(name, key) for name, key, each in keys if not each.get("description", "").endswith(".")] == []


@pytest.mark.parametrize("kind", COMPONENT_REGISTRIES)
def test_parameters_have_the_words_and_choices_of_their_docstrings(kind):
    for name, cls in COMPONENT_REGISTRIES[kind].items():
        for key, each in component_model(cls).model_json_schema()["properties"].items():
            assert each.get("description") or each.get("enum") or key == "seed", f"{name} doesn't say what {key} is"


def test_the_reference_is_what_the_code_makes():
    written = (TOP / "docs" / "reference.md").read_text(encoding="utf-8")
    assert written == reference_page(), "bench schema --markdown > docs/reference.md"


def test_the_page_has_every_key_component_and_word():
    page = reference_page()
    assert all(f"| `{key}` |" in page for key in ExperimentSection.model_fields)
    for table in list_components(""):
        assert f"\n## {table.title.capitalize()}\n" in page
        for name, *_ in table.rows:
            assert f"### {name}\n" in page or f"| `{name}` |" in page, name
