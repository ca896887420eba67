"""What diagnostics ask the store for: it differs with all that decides the numbers, and with nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.config.model import BASE_VARIANT
from benchmark.corpora.corpus import Documents
from benchmark.diagnostics import CentroidDistances, CentroidFlow, FeatureErrors
from benchmark.diagnostics.base import DiagnosticContext
from benchmark.text.counts import Counts
from tests.builders import small_experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmark.diagnostics.base import Arrays, Diagnostic

LABELS = np.array([0, 1, 0, 1], dtype=np.int32)
DOCUMENTS = Documents(tuple("abcd"), LABELS, np.zeros(4, dtype=np.int32), ("tea", "rum"), ("all",))
COUNTS = Counts(DOCUMENTS, sp.csr_array(np.arange(1, 13, dtype=np.int32).reshape(4, 3)), ("x", "y", "z"))
BAYES = {"classifier": {"name": "divergence-bayes", "smoothing": 0.01}}
ARCSINE = {"features": {"name": "arcsine", "n_components": 16}, "classifier": "linear-svm"}


def asked(
    diagnostic: Diagnostic, method: Any = BAYES, *, seed: int = 0, jobs: int = 1, name: str = BASE_VARIANT
) -> list[str]:
    """Return what the store is asked for under a variant; nothing is computed."""
    found = list[str]()

    def once(content: Mapping[str, Any], compute: Callable[[], Arrays]) -> Arrays:
        found.append(json.dumps(content, sort_keys=True))
        return {}

    variants = {"few": {"text": {"min_occurrences": 50}}}
    variant = small_experiment(methods=[method], variants=variants).variants[name]
    diagnostic.compute(DiagnosticContext(COUNTS, variant, seed, jobs, once))
    return found


def bayes(**changes: Any) -> Any:
    return {"classifier": BAYES["classifier"] | changes}


def arcsine(**changes: Any) -> Any:
    return {**ARCSINE, "features": ARCSINE["features"] | changes}  # type: ignore[operator]


@pytest.mark.parametrize(
    ("given", "other"),
    [
        ((CentroidDistances(),), (CentroidDistances(resamples=9),)),
        ((CentroidDistances(),), (CentroidDistances(smoothing=(0.1,)),)),
        ((CentroidDistances(centroids=("mean",)),), (CentroidDistances(centroids=("skl",)),)),
        *(
            ((CentroidDistances(),), (CentroidDistances(), bayes(**change)))
            for change in ({"smoothing": 0.1}, {"prior": "uniform"}, {"length": "counted"})
        ),
        ((CentroidFlow(),), (CentroidFlow(), bayes(smoothing=0.1))),
        ((FeatureErrors(), ARCSINE), (FeatureErrors(9), ARCSINE)),
        ((FeatureErrors(), ARCSINE), (FeatureErrors(), arcsine(n_components=32))),
        ((FeatureErrors(), ARCSINE), (FeatureErrors(), ARCSINE | {"weighting": "tfidf"})),
    ],
)
def test_parameters_that_decide_numbers_are_in_the_content(given: Any, other: Any) -> None:
    assert given
    assert set(asked(*given)).isdisjoint(asked(*other))


@pytest.mark.parametrize(
    ("given", "drawn"), [((CentroidDistances(),), True), ((CentroidFlow(),), False), ((FeatureErrors(), ARCSINE), True)]
)
def test_the_seed_counts_where_something_is_drawn(given: Any, drawn: bool) -> None:
    assert set(asked(*given)).isdisjoint(asked(*given, seed=1)) == drawn


def test_only_the_base_is_swept_over_smoothing() -> None:
    swept, plain = CentroidDistances(smoothing=(0.1,)), CentroidDistances()
    assert asked(swept, name="few") == asked(plain, name="few") == asked(plain) != asked(swept)


def computed(diagnostic: Diagnostic, counts: Counts = COUNTS, method: Any = BAYES) -> Arrays:
    variant = small_experiment(methods=[method]).variants[BASE_VARIANT]
    return diagnostic.compute(DiagnosticContext(counts, variant, 0, 1, lambda _, compute: compute()))


def test_swept_distances_are_those_of_their_smoothing() -> None:
    swept = computed(CentroidDistances(centroids=("mean", "pooled"), resamples=2, smoothing=(0.01, 0.5, 3.0)))
    for name in ("mean", "pooled"):
        for row, smoothing in zip(swept[f"{name}/by_smoothing"], (0.01, 0.5, 3.0), strict=True):
            own = computed(CentroidDistances(centroids=(name,), resamples=2), method=bayes(smoothing=smoothing))
            np.testing.assert_allclose(row, own[f"{name}/values"])


def test_distances_are_those_of_their_class_whichever_document_is_first() -> None:
    order = np.array([1, 2, 0, 4, 5, 3])
    ids, labels = tuple("abcdef"), np.array([0, 1, 2, 0, 1, 2], dtype=np.int32)
    documents = Documents(ids, labels, np.zeros(6, dtype=np.int32), ("x", "y", "z"), ("all",))
    matrix = sp.csr_array(np.random.default_rng(3).integers(1, 9, (6, 5)).astype(np.int32))
    one = Counts(documents, matrix, tuple("vwxyz"))
    other = Counts(documents.take(order), sp.csr_array(matrix[order]), one.vocabulary)
    first, second = (computed(CentroidDistances(resamples=2), counts) for counts in (one, other))
    for name in ("mean", "skl", "pooled"):
        np.testing.assert_allclose(first[f"{name}/values"], second[f"{name}/values"])
        assert len(set(first[f"{name}/values"].round(6))) == 3
