"""Lists of components: what each is called, its parameters with their defaults, and a description that fits a line."""

from __future__ import annotations

import pytest

from benchmark.schema.reference import list_components
from benchmark.system.errors import ConfigError


@pytest.mark.parametrize(
    ("kind", "name", "parameters", "description"),
    [
        ("kernels", "rbf", "sigma=1.0", "RBF: k(x, x') = exp(-||x - x'||² / 2σ²)."),
        (
            "protocols",
            "k-fold",
            "k, seed=0, stratified=True, grouped=False",
            "Test each document exactly once, in",
        ),
        ("datasets", "synthetic", "subset: all, several", "Synthetic pages in WebKB's shape"),
        ("metrics", "error", "", "Compute the share of documents with a wrong prediction, where each document has ex"),
        ("metrics", "f1", "", "Compute the F1 of one class."),
        ("metrics", "seconds", "", "Wall-clock seconds, for figures and claims; tables omit the metric."),
        ("metrics", "average-skl", "", "Metric of centroid-distances: average SKL, in nats."),
        ("metrics", "seconds-to-map", "", "Metric of feature-errors: seconds to map a thousand"),
        ("normalizations", "l1", "", "scaled to sum 1: points of the simplex"),
        ("digits", "joined", "", "all digits are the same letter, inside words too: cs101 is cs###"),
        ("stoplists", "smart", "", "523 words"),
        ("papers", "chen2018", "", "Centroid estimation based on symmetric KL divergence for multinomial text"),
    ],
)
def test_a_component_is_listed_with_its_parameters(kind: str, name: str, parameters: str, description: str) -> None:
    (table,) = list_components(kind)
    assert table.title == kind
    found = {row[0]: row[1:] for row in table.rows}
    assert found[name][0] == parameters
    assert found[name][1].startswith(description)


def test_an_unknown_kind_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"unknown list 'kernals'; did you mean 'kernels'\? \(allowed: datasets, ker"):
        list_components("kernals")
