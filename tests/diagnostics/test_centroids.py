"""Distances of centroids and the flow to them, on the generated corpus and on documents whose distances are given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.classifiers.divergence_bayes import (
    average_skl_to_others,
    class_statistics,
    mean_skl,
    skl_centroid,
    symmetric_kl,
)
from benchmark.diagnostics import CentroidDistances, CentroidFlow, FeatureErrors
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.store import Store
from tests.builders import small_experiment
from tests.diagnostics.computing import computed, counts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmark.diagnostics.base import Diagnostic
    from benchmark.text.counts import Counts

CLASSES = ["faculty", "course", "student"]
BAYES: dict[str, Any] = {"name": "divergence-bayes", "smoothing": 0.001}
CENTROIDS: dict[str, Any] = {
    "corpus": {"name": "synthetic", "classes": CLASSES},
    "text": {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 40},
    "protocol": {"name": "random-subsets", "train_size": [12, 60], "replicates": 6},
    "metrics": ["macro-recall"],
    "methods": [{"classifier": BAYES | {"centroid": ["mean", "skl"]}}],
}
ARCSINE = {"features": {"name": "arcsine", "n_components": 16}, "classifier": "linear-svm"}


@pytest.fixture(scope="module", name="counts")
def fixture_counts(tmp_path_factory: pytest.TempPathFactory) -> Counts:
    variant = small_experiment(**CENTROIDS).variants["base"]
    return read_counts(variant.collection, RunContext(Store(tmp_path_factory.mktemp("store"), limit=10**9)))[0]


def distances(counts: Counts, classifier: Any = BAYES, seed: int = 0, **parameters: Any) -> dict[str, Any]:
    """Return the arrays of each kind of centroid."""
    found = dict[str, Any]()

    def once(content: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        found[content["classifier"]["centroid"]] = arrays = compute()
        return arrays

    methods = [{"classifier": classifier}]
    computed(CentroidDistances(**{"resamples": 2} | parameters), counts, once, seed, **CENTROIDS | {"methods": methods})
    return found


def test_distances_are_the_mean_divergences_between_the_centroids_of_all_documents(counts: Counts) -> None:
    labels, found = counts.documents.labels, distances(counts)
    statistics = [class_statistics(counts.matrix[labels == c], 0.001) for c in range(3)]
    kinds = {"skl": [skl_centroid(each) for each in statistics], "mean": [each.mean for each in statistics]}
    for name, centroids in kinds.items():
        for c in range(3):
            others = [symmetric_kl(centroids[c], centroids[o]) for o in range(3) if o != c]
            assert found[name]["values"][c] == pytest.approx(np.mean(others))
    sums = np.array([counts.matrix[labels == c].sum(axis=0) for c in range(3)]) + 0.001
    expected = average_skl_to_others(sums / sums.sum(axis=1, keepdims=True))
    assert found["pooled"]["values"] == pytest.approx(expected)


def test_each_row_has_its_value_moved_spread_and_documents() -> None:
    values = {"mean": [1.0, 2.0, 6.0], "skl": [3.0, 2.0, 1.0]}
    swept = {"mean": [[1.0, 2.0, 3.0], [9.0, 2.0, 3.0]], "skl": [[1.0, 2.0, 3.5], [1.0, 2.0, 3.25]]}

    def once(content: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        name = content["classifier"]["centroid"]
        own, by_smoothing = np.array(values[name]), np.array(swept[name])
        return {"values": own, "resampled": own + np.array([[1.0], [3.0]]), "by_smoothing": by_smoothing}

    built = CentroidDistances(centroids=("mean", "skl"), resamples=2, smoothing=(0.1, 1.0))
    counts = counts_of(np.ones((15, 2)), np.repeat([0, 1, 2], [4, 5, 6]))
    found = computed(built, counts, once, **CENTROIDS)
    assert {each.cell: (each.estimate.value, each.estimate.n) for each in found.rows} == {
        f"table-{name}-{each}": (values[name][c], 4 + c) for name in values for c, each in enumerate("abc")
    }
    for each in found.rows:
        assert each.estimate.low == pytest.approx(each.estimate.value - 0.95)
        assert each.estimate.high == pytest.approx(each.estimate.value + 0.95)
    assert [(p.x, p.value) for p in found.points if (p.method, p.of_class) == ("mean", "a")] == [(0.1, 1), (1.0, 9)]
    assert {(p.axis, p.metric) for p in found.points} == {("smoothing", "average-skl")}


def test_swept_distances_are_those_of_their_smoothing(counts: Counts) -> None:
    swept = distances(counts, centroids=("mean", "pooled"), smoothing=(0.01, 3.0))
    for position, smoothing in enumerate((0.01, 3.0)):
        own = distances(counts, BAYES | {"smoothing": smoothing}, centroids=("mean", "pooled"))
        for name in ("mean", "pooled"):
            np.testing.assert_allclose(swept[name]["by_smoothing"][position], own[name]["values"])


def test_distances_are_those_of_their_class_whichever_document_is_first() -> None:
    order, labels = np.array([1, 2, 0, 4, 5, 3]), np.array([0, 1, 2, 0, 1, 2])
    matrix = np.random.default_rng(3).integers(1, 9, (6, 5))
    one, other = (distances(counts_of(matrix[rows], labels[rows])) for rows in (np.arange(6), order))
    for name in ("mean", "skl", "pooled"):
        np.testing.assert_allclose(one[name]["values"], other[name]["values"])
        assert len(set(one[name]["values"].round(6))) == 3


@pytest.mark.parametrize(("name", "value"), [("smoothing", (0.0, 1.0)), ("centroids", ("skll",)), ("resamples", 1)])
def test_parameters_outside_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        CentroidDistances(**{name: value}).check()


def test_the_flow_reaches_the_exact_energies(counts: Counts) -> None:
    found = dict[str, Any]()
    computed(CentroidFlow(), counts, lambda _, compute: found.update(compute()) or found, **CENTROIDS)
    of_classes = (counts.matrix[counts.documents.labels == c] for c in range(3))
    exact = [mean_skl(each, skl_centroid(each)) for each in (class_statistics(rows, 0.001) for rows in of_classes)]
    assert found["exact"] == pytest.approx(exact, abs=1e-13)
    assert found["energies"] == pytest.approx(exact, abs=1e-9)


# --- What the store is asked for: it differs with all that decides the numbers, and with nothing else ---


def asked(diagnostic: Diagnostic, method: Any = None, *, seed: int = 0, variant: str = "base") -> set[str]:
    found = set[str]()

    def once(content: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        found.add(json.dumps(content, sort_keys=True))
        arrays = dict.fromkeys(("values", "exact", "energies", "steps", "errors", "sizes"), np.zeros(3))
        arrays |= {"documents": np.array(4), "seconds": np.array(0.0), "resampled": np.zeros((2, 3))}
        return arrays | {"by_smoothing": np.zeros((len(content.get("grid", "012")[2]), 3))}

    counts = counts_of(np.arange(1, 13).reshape(4, 3), [0, 1, 0, 1])
    few = {"variants": {"few": {"text": {"min_occurrences": 50}}}, "methods": [method or {"classifier": BAYES}]}
    computed(diagnostic, counts, once, seed, variant, **few)
    return found


def bayes(**changes: Any) -> Any:
    return {"classifier": BAYES | changes}


PLAIN, SWEPT = CentroidDistances(), CentroidDistances(smoothing=(0.1,))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((PLAIN,), (CentroidDistances(resamples=9),)),
        ((PLAIN,), (SWEPT,)),
        ((CentroidDistances(("mean",)),), (CentroidDistances(("skl",)),)),
        ((PLAIN,), (PLAIN, bayes(smoothing=0.1))),
        ((PLAIN,), (PLAIN, bayes(prior="uniform"))),
        ((PLAIN,), (PLAIN, bayes(length="counted"))),
        ((CentroidFlow(),), (CentroidFlow(), bayes(smoothing=0.1))),
        ((FeatureErrors(), ARCSINE), (FeatureErrors(9), ARCSINE)),
        ((FeatureErrors(), ARCSINE), (FeatureErrors(), ARCSINE | {"features": {"name": "arcsine"}})),
        ((FeatureErrors(), ARCSINE), (FeatureErrors(), ARCSINE | {"weighting": "tfidf"})),
    ],
)
def test_parameters_that_decide_numbers_are_in_the_content(one: Any, other: Any) -> None:
    assert asked(*one)
    assert asked(*one).isdisjoint(asked(*other))


@pytest.mark.parametrize(
    ("one", "drawn"), [((PLAIN,), True), ((CentroidFlow(),), False), ((FeatureErrors(), ARCSINE), True)]
)
def test_the_seed_counts_where_something_is_drawn(one: Any, drawn: bool) -> None:
    assert asked(*one).isdisjoint(asked(*one, seed=1)) == drawn


def test_only_the_base_is_swept_over_smoothing() -> None:
    assert asked(SWEPT, variant="few") == asked(PLAIN, variant="few") == asked(PLAIN) != asked(SWEPT)
