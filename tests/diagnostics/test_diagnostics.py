"""Measures against their definitions, on the generated corpus."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.classifiers.centroids import (
    average_skl_to_others,
    class_statistics,
    mean_skl,
    skl_centroid,
    symmetric_kl,
)
from benchmark.config.experiment import check_experiment
from benchmark.config.model import BASE_VARIANT
from benchmark.diagnostics import CentroidDistances, CentroidFlow, DocumentCounts
from benchmark.diagnostics.base import DiagnosticArrays, DiagnosticContext
from benchmark.diagnostics.centroid_distances import divergence_bayes_of_variant
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.store import Store
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.yaml_source import Node

CLASSES = ["faculty", "course", "student"]
CONFIG = {
    "name": "centroids",
    "corpus": {"name": "synthetic", "classes": CLASSES},
    "text": {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 40},
    "protocol": {"name": "random-subsets", "train_size": [12, 60], "replicates": 6},
    "defaults": {"classifier": {"name": "divergence-bayes", "smoothing": 0.001}},
    "methods": [{"classifier": {"centroid": ["mean", "skl"]}}],
    "metrics": ["macro-recall"],
}
MADE = [
    CentroidDistances(resamples=8, smoothing=(0.001, 0.1)),
    CentroidFlow(),
    DocumentCounts(),
]


class Shelf:
    """What was kept, and how often it was asked for."""

    def __init__(self):
        self.kept, self.hits = {}, 0

    def __call__(self, content, compute):
        key = str(content)
        self.hits += key in self.kept
        if key not in self.kept:
            self.kept[key] = compute()
        return self.kept[key]


@pytest.fixture(scope="module", name="experiment")
def fixture_study():
    return check_experiment(Node.of_data(CONFIG, "test.yaml"), BUILTIN_REGISTRIES)


@pytest.fixture(scope="module", name="context")
def fixture_context(experiment, tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("store"), limit=10**9)
    variant = experiment.variants[BASE_VARIANT]
    counts, *_ = read_counts(variant.collection, RunContext(store))
    return DiagnosticContext(counts, variant, 0, 2, Shelf())


@pytest.fixture(scope="module", name="statistics")
def fixture_statistics(context):
    labels = context.counts.documents.labels
    return [class_statistics(context.counts.matrix[labels == c], 0.001) for c in range(3)]


@pytest.fixture(scope="module", name="found")
def fixture_found(context):
    return {type(each): DiagnosticArrays(BASE_VARIANT, each.compute(context)) for each in MADE}


@pytest.mark.parametrize("diagnostic", MADE, ids=lambda each: type(each).__name__)
class TestEveryMeasure:
    def test_fills_the_cells_that_it_names(self, diagnostic, found):
        cells, rows = diagnostic.cells(BASE_VARIANT, CLASSES), diagnostic.numbers(found[type(diagnostic)]).rows
        assert {cell.id for cell in cells} <= {row.cell for row in rows}
        assert all(row.estimate.low <= row.estimate.value <= row.estimate.high for row in rows)


class TestDistances:
    def test_are_the_mean_divergences_between_the_centroids_of_all_documents(self, found, statistics):
        arrays = found[CentroidDistances].arrays
        for name, centroids in (
            ("skl", [skl_centroid(each) for each in statistics]),
            ("mean", [each.mean for each in statistics]),
        ):
            for c in range(3):
                others = [symmetric_kl(centroids[c], centroids[o]) for o in range(3) if o != c]
                assert arrays[f"{name}/values"][c] == pytest.approx(np.mean(others))

    def test_pooled_is_of_summed_counts(self, context, found):
        labels = context.counts.documents.labels
        sums = np.array([context.counts.matrix[labels == c].sum(axis=0) for c in range(3)]) + 0.001
        expected = average_skl_to_others(sums / sums.sum(axis=1, keepdims=True))
        assert found[CentroidDistances].arrays["pooled/values"] == pytest.approx(expected)

    def test_more_resamples_leave_the_first_as_they_were(self, context, found):
        more = CentroidDistances(centroids=("mean",), resamples=12).compute(context)
        assert np.array_equal(more["mean/resampled"][:8], found[CentroidDistances].arrays["mean/resampled"])


class TestFlow:
    def test_reaches_the_exact_energies(self, found, statistics):
        arrays = found[CentroidFlow].arrays
        exact = [mean_skl(each, skl_centroid(each)) for each in statistics]
        assert arrays["exact"] == pytest.approx(exact, abs=1e-13)
        assert arrays["energies"] == pytest.approx(exact, abs=1e-9)


def test_centroids_need_a_classifier_that_has_some(experiment):
    variant = experiment.variants[BASE_VARIANT]
    assert divergence_bayes_of_variant(variant).smoothing == 0.001
    other = check_experiment(
        Node.of_data(CONFIG | {"defaults": {}, "methods": ["mnb"]}, "test.yaml"), BUILTIN_REGISTRIES
    )
    with pytest.raises(ValueError, match="divergence-bayes"):
        divergence_bayes_of_variant(other.variants[BASE_VARIANT])
