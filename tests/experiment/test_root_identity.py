"""The root of a point on the simplex is the unit vector of the rooted weights: no classifier of points sees another."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

from benchmark import run


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
    simplex |= {"name": "simplex", "weighting": {"name": "aitchison", **exponents}}
    halved = {"name": "aitchison", **{key: value / 2 for key, value in exponents.items()}}
    plain = {"name": "plain", "weighting": halved, "fields": {"all": 1, "all-2": sqrt(0.5)}}  # rooted weights
    done = run(**sections, methods=[simplex, plain], metrics=["micro-f1"])
    one, other = (done.predictions(cell)["predicted"] for cell in ("simplex", "plain"))
    assert len(one) > 0
    assert (one == other).all(), f"{(one != other).sum()} of {len(one)} labels"
