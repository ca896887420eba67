"""The root of a point on the simplex is the unit vector of the rooted weights: no classifier of points sees another."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from benchmark import run
from benchmark.config.extends import read_config
from benchmark.corpora import registry

CONFIGS = Path(__file__).parents[2] / "configs"
SECTIONS = ("corpus", "text", "protocol", "defaults")
#: Settings that `simplex` chooses on each corpus (on WebKB for most universities), over those of its configuration.
CHOSEN: dict[str, dict[str, Any]] = {
    "20ng": {
        "text": {"min_documents": 2},
        "fields": {"all": 1, "all-2": 1, "subject": 0.25},
        "weighting": {"concentration": 1},
    },
    "webkb": {
        "fields": {"all": 1, "all-2": 0.5, "title": 0.5, "headings": 0.25, "anchors": 0.25},
        "weighting": {"idf": 1, "concentration": 1},
    },
    "r8": {"fields": {"all": 1, "title": 0.25}, "weighting": {"idf": 2, "concentration": 0}},
    "r52": {"fields": {"all": 1, "title": 0.25}, "weighting": {"idf": 1, "concentration": 1}},
    "modapte": {"weighting": {"concentration": 1}, "classifier": {"C": 2}, "threshold": "at-least-one"},
}


def rooted_and_not(simplex: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a method on the simplex, and the linear SVM on its rooted weights of length 1."""
    weighting = {key: value if key == "name" else value / 2 for key, value in simplex["weighting"].items()}
    fields = {block: sqrt(weight) for block, weight in simplex["fields"].items()}
    plain = {key: value for key, value in simplex.items() if key != "features"}
    return [simplex | {"name": "simplex"}, plain | {"name": "plain", "weighting": weighting, "fields": fields}]


def assert_same_labels(sections: dict[str, Any], simplex: dict[str, Any]) -> None:
    done = run(**sections, methods=rooted_and_not(simplex), metrics=["micro-f1"])
    one, other = (done.predictions(cell) for cell in ("simplex", "plain"))
    assert len(one) > 0
    assert (one["given"] == other["given"]).all(), f"{(one['given'] != other['given']).sum()} of {len(one)} labels"


@pytest.mark.parametrize("exponents", [{"power": 0.5, "idf": 2, "concentration": 1}, {"power": 1, "idf": 0}])
@pytest.mark.parametrize("classifier", [{"C": 2, "ridge": 0.5708}, {"C": 1, "scheme": "one-vs-one"}])
def test_a_rooted_point_of_the_simplex_is_a_plain_unit_vector(exponents: Any, classifier: Any) -> None:
    text = {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 2, "ngrams": [1, 2]}
    sections = {
        "corpus": "synthetic",
        "text": text,
        "protocol": {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]},
        "defaults": {"idf": "training", "classifier": {"name": "linear-svm", **classifier}},
    }
    simplex = {"fields": {"all": 1, "all-2": 0.5}, "features": "hellinger"}
    assert_same_labels(sections, simplex | {"weighting": {"name": "aitchison", **exponents}})


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("name", CHOSEN)
def test_labels_are_the_same_on_public_test_sets(name: str) -> None:
    raw = read_config(CONFIGS / f"simplex-{name}.yaml").value
    sections = {key: raw[key] for key in SECTIONS}
    sections["defaults"] = {key: value for key, value in raw["defaults"].items() if key != "svm"}
    if registry.find_corpus(raw["corpus"]["name"]) is None:
        pytest.skip(f"the corpus {raw['corpus']['name']} is not on this machine")
    (simplex,) = (each for each in raw["methods"] if each.get("name") == "simplex")
    for key, value in CHOSEN[name].items():
        simplex[key] = {**simplex.get(key, {}), **value} if key in ("text", "weighting", "classifier") else value
    assert_same_labels(sections, simplex)
