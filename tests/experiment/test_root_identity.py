"""The root of a point on the simplex is the unit vector of the rooted weights: no classifier of points sees another."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

from benchmark import run


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
    assert (one["predicted"] == other["predicted"]).all(), (
        f"{(one['predicted'] != other['predicted']).sum()} of {len(one)} labels"
    )


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
