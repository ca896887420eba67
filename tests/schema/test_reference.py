"""The reference of configurations: what good files fit and wrong ones don't, the page made of it, and its lists."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from benchmark.config.components import component_model
from benchmark.config.experiment import ExperimentSection
from benchmark.schema.reference import COMPONENT_REGISTRIES, json_schema, list_components, reference_page
from benchmark.system.errors import ConfigError

TOP = Path(__file__).parents[2]
CONFIGS = sorted((TOP / "configs").glob("*.yaml"))
SMALL = {"name": "a", "corpus": {"name": "synthetic"}, "protocol": "fixed-split", "methods": ["ngd"]}
FUSE = {"fuse": ["mnb", "ngd"], "name": "x"}
FITS = """
methods: svm
methods: [{kernel: {name: rbf, sigma: [1, 2.5]}, classifier: {C: [1, 10]}}]
methods: [{text: {stoplist: [none, smart], min_documents: null}, kernel: ngd}]
defaults: {C: 10, svm: {C: 1, weighting: tf}, classifier: svm}
methods: [mnb, ngd, {fuse: [mnb, ngd], name: both}]
methods: [mnb, ngd, {fuse: [[mnb, ngd], [ngd, mnb]], name: both}]
variants: {v: {text: {digits: null}, defaults: {C: 1}}}
diagnostics: [document-counts, {name: centroid-distances, smoothing: [0.1]}]
methods: {kernel: [ngd, {name: rbf}], dirichlet: [0, 0.5], idf: [training, collection]}
methods: {weighting: [tf, {name: bm25, k1: [1, 2]}], features: hellinger, classifier: mnb}
methods: {threshold: [zero, {name: at-least-one}], kernel: ngd, name: x}
methods: [{predictions: a.csv, name: A large model}]
methods: [{vectors: a.parquet}, {vectors: {file: a.npy, ids: b.txt}, threshold: zero}]
methods: [{pipeline: 'mine.py:make'}, {pipeline: {name: sklearn.a.B, c__d: [1, 2]}}]
methods: [sklearn.ensemble.Forest, {classifier: {name: sklearn.ensemble.Forest, n: 3}}]
methods: [{text: [{fields: [all, title]}, {ngrams: [[1], [1, 2]]}], classifier: mnb}]
text: {stoplist: ./mine.txt, within: white-space, characters: [3, 5]}
corpus: {name: files, path: {train: a, test: b}, text: [a, b], drop: [rare]}
terms: {number: [1, 5], rank: information-gain, aggregate: maximum}
metrics: [seconds]
defaults: {threshold: zero, mnb: {threshold: zero, idf: training}, dirichlet: 0}
"""
FITS_NOT = """
corpse: {}
corpus: {name: nosuch}
methods: [{}]
methods: [{text: {stoplists: smart}, kernel: ngd}]
methods: [mnb, {fuse: [mnb], name: one}]
metrics: [acuracy]
variants: {v: {diagnostics: [coordinates]}}
diagnostics: [{name: document-count}]
methods: {kernel: ngd, dirichlet: []}
methods: {kernel: ngd, features: helinger}
methods: {vectors: {ids: a}, classifier: logistic}
methods: {vectors: {file: a, key: b}, classifier: logistic}
methods: {vectors: 3, classifier: logistic}
methods: {pipeline: make}
methods: {pipeline: {name: make}}
methods: Forest
methods: .Forest
methods: a b.Forest
methods: a.1b
text: {stoplist: mine}
text: {within: lines}
text: {digits: 3}
text: {min_documents: 0}
terms: {number: 5, rank: chi}
terms: {number: 5, aggregate: mean}
terms: {number: 0}
defaults: {weighting: tf-idf}
variants: {v: {name: w}}
variants: {v: {text: {digit: drop}}}
"""


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(json.dumps(json_schema()))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_configuration_of_ours_fits(validator, path):
    assert validator.is_valid(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize("line", FITS.strip().splitlines())
def test_what_a_file_may_say_fits(validator, line):
    assert validator.is_valid(SMALL | yaml.safe_load(line))


@pytest.mark.parametrize("line", FITS_NOT.strip().splitlines())
def test_what_a_file_may_not_say_does_not_fit(validator, line):
    assert not validator.is_valid(SMALL | yaml.safe_load(line))


@pytest.mark.parametrize("more", [{"weights": [1, 0]}, {"weights": [1, 1e13]}, {"scale": "fold"}, {"name": 1}])
def test_a_sum_has_positive_weights_and_a_name(validator, more):
    assert not validator.is_valid(SMALL | {"methods": [FUSE | more]})


def test_a_file_that_extends_another_says_no_more_than_what_is_otherwise(validator):
    assert validator.is_valid({"name": "a", "extends": "b", "corpus": {"classes": ["x", "y"]}, "choose": None})
    assert validator.is_valid({"name": "a", "extends": "b", "defaults": {"t": 2}, "text": {"digits": None}})
    assert not validator.is_valid({"name": "a", "extends": "b", "corpse": {}})
    assert not validator.is_valid({"extends": "b", "seed": 1}), "it needs a name of its own"
    for key in set(ExperimentSection.model_fields) - {"name"}:
        assert validator.is_valid({"name": "a", "extends": "b", key: None}), key


def test_every_key_and_parameter_says_what_it_is():
    schema = ExperimentSection.model_json_schema()
    found = {"": schema, **schema["$defs"]}
    keys = [(name, key, each) for name, section in found.items() for key, each in section["properties"].items()]
    assert len(keys) >= 70
    for registry in COMPONENT_REGISTRIES.values():
        models = [(name, component_model(cls).model_json_schema()["properties"]) for name, cls in registry.items()]
        keys += [(name, key, each) for name, properties in models for key, each in properties.items() if key != "seed"]
    assert [(name, key) for name, key, each in keys if not each.get("description", "").endswith(".")] == []


def test_the_reference_is_what_the_code_makes_and_has_every_key_component_and_word():
    page = (TOP / "docs" / "reference.md").read_text(encoding="utf-8")
    assert page == reference_page(), "bench schema --markdown > docs/reference.md"
    assert all(f"| `{key}` |" in page for key in ExperimentSection.model_fields)
    for table in list_components(""):
        assert f"\n## {table.title.capitalize()}\n" in page
        for name, *_ in table.rows:
            assert f"### {name}\n" in page or f"| `{name}` |" in page, name


@pytest.mark.parametrize(
    ("kind", "name", "parameters", "description"),
    [
        ("kernels", "rbf", "sigma=1.0", "RBF: k(x, x') = exp(-||x - x'||² / 2σ²)."),
        ("protocols", "k-fold", "k, seed=0, stratified=True, grouped=False", "Test each document exactly once, in"),
        ("datasets", "synthetic", "subset: all, several", "Synthetic pages in WebKB's shape"),
        ("metrics", "error", "", "Compute the share of documents with a wrong prediction, where each document has ex"),
        ("metrics", "f1", "", "Compute the F1 of one class."),
        ("metrics", "seconds", "", "Wall-clock seconds, for figures and claims; tables omit the metric."),
        ("metrics", "average-skl", "", "Metric of centroid-distances: average SKL, in nats."),
        ("normalizations", "l1", "", "scaled to sum 1: points of the simplex"),
        ("digits", "joined", "", "all digits are the same letter, inside words too: cs101 is cs###"),
        ("stoplists", "smart", "", "523 words"),
        ("papers", "chen2018", "", "Centroid estimation based on symmetric KL divergence for multinomial text"),
    ],
)
def test_a_component_is_listed_with_its_parameters(kind, name, parameters, description):
    (table,) = list_components(kind)
    assert table.title == kind
    found = {row[0]: row[1:] for row in table.rows}
    assert found[name][0] == parameters
    assert found[name][1].startswith(description)


def test_an_unknown_kind_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown list 'kernals'; did you mean 'kernels'\? \(allowed: datasets, ker"):
        list_components("kernals")
