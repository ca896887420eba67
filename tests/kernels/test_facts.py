"""What the tags of each kernel say of it, its defaults where another object has the same, and what a run may set."""

from __future__ import annotations

import inspect
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import pytest

from benchmark.classifiers import SupportVectorClassifier
from benchmark.classifiers.thresholds import MIN_THRESHOLD_F1
from benchmark.kernels import KERNELS, Kernel
from benchmark.kernels.heat.half_plane import HALF_PLANE_GEOMETRIES
from benchmark.kernels.heat.kernel import MAX_HEAT_TIME, MIN_HEAT_TIME
from benchmark.kernels.models.densities import DENSITIES
from benchmark.kernels.models.plsi import PLSI
from benchmark.kernels.transforms import CPD_KERNELS
from benchmark.system.tags import DEFAULT_TAGS, NORMALIZATIONS, tags_of

SIMPLEX = {"normalization": "l1", "normalizations": ("l1",)}
#: What differs from a plain kernel of any points, but for the notes.
TAGS: dict[str, dict[str, Any]] = {
    "linear": {"solved_by": "points", "sums_words": True},
    **{name: {} for name in ("polynomial", "rbf", "sigmoid", "ned")},
    **dict.fromkeys(("ngd", "ngd-e", "diffusion", "heat", "bhattacharyya", "probability-product"), SIMPLEX),
    "hyperbolic": {"normalization": "none", "normalizations": ("none",)},
    "cpd-power": {"normalization": "l1"},
    "cpd-log": {"normalization": "l1"},
    "hp-top": {"set_by_run": ("C", "epsilon", "cache_mb", "target", "jobs"), "solved_by": "targets"},
    "plsi-fisher": {"normalization": "none", "sees_counts": True, "set_by_run": ("seed",), "solved_by": "scores"},
}
#: The beginning and the end of each note, and whether it is one of documents of several classes.
NOTES = {
    "heat": ("note", "Heat kernels are used without their factor", "the same as a factor of C."),
    "plsi-fisher": ("note", "plsi-fisher uses term counts, whatever the weighting.", "are folded in."),
    "hp-top": ("note_multilabel", "HP-TOP's mixture leaves out classes", "includes the linear SVMs."),
}


@pytest.mark.parametrize("name", KERNELS)
def test_the_tags_of_each_kernel(name: str) -> None:
    cls, plain = KERNELS[name], asdict(DEFAULT_TAGS)
    tags = tags_of(cls)
    notes = ("note", "note_multilabel")
    assert {key: value for key, value in asdict(tags).items() if value != plain[key] and key not in notes} == TAGS[name]
    kind, start, end = NOTES.get(name, ("note", "", ""))
    assert getattr(tags, kind).startswith(start)
    assert getattr(tags, kind).endswith(end)
    assert [bool(getattr(tags, other)) for other in notes] == [name in NOTES and other == kind for other in notes]
    assert set(tags.set_by_run) <= set(inspect.signature(cls).parameters)
    assert tags.normalization in tags_of(cls()).normalizations
    assert {field.name for field in fields(tags)} >= set(TAGS[name])


def test_names_that_a_parameter_may_have() -> None:
    assert list(CPD_KERNELS) == ["ned", "ngd"]
    assert all(KERNELS[name] is cls for name, cls in CPD_KERNELS.items())
    assert list(DENSITIES) == ["gaussian", "logistic", "skew-logistic"]
    assert HALF_PLANE_GEOMETRIES == ("curvature -1", "fisher")
    assert (MIN_HEAT_TIME, MAX_HEAT_TIME, MIN_THRESHOLD_F1) == (1e-9, 1e6, 0.3)
    assert NORMALIZATIONS == ("none", "l1", "l2")


def defaults(made: Any) -> dict[str, Any]:
    parameters = inspect.signature(made).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not inspect.Parameter.empty}


def test_the_kernel_of_plsi_has_the_defaults_of_plsi() -> None:
    models = defaults(PLSI)
    kernel = defaults(KERNELS["plsi-fisher"])
    assert kernel.pop("n_classes") == (10, 20, 30)
    assert models.pop("n_classes") == 10
    assert kernel == models
    made = KERNELS["plsi-fisher"](n_classes=(3, 1)).models
    assert [each.n_classes for each in made] == [3, 1]
    assert [asdict(each) for each in made] == [models | {"n_classes": k} for k in (3, 1)]


def test_the_machines_of_hp_top_have_the_defaults_of_the_classifier() -> None:
    classifier, kernel = defaults(SupportVectorClassifier), defaults(KERNELS["hp-top"])
    shared = ("C", "epsilon", "cache_mb", "jobs")
    assert {name: kernel[name] for name in shared} == {name: classifier[name] for name in shared}


@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"hp-top", "hyperbolic"}))
def test_after_an_error_the_kernel_is_fitted_as_if_there_had_been_none(name: str) -> None:
    """A refused matrix leaves nothing that a later fit would use."""
    cls = KERNELS[name]
    parameters = {"n_classes": (2,)} if name == "plsi-fisher" else {}
    X = np.array([[3.0, 1, 0, 2], [0, 1, 1, 1], [2, 2, 1, 0], [0, 0, 4, 1]])
    X = X if tags_of(cls).sees_counts else X / X.sum(axis=1, keepdims=True)
    kernel = cls(**parameters)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        kernel.fit(np.full((2, 3), np.nan))
    np.testing.assert_array_equal(kernel.fit(X).transform(X), cls(**parameters).fit(X).transform(X))
    with pytest.raises(ValueError, match="3 features"):
        kernel.transform(X[:, 1:])
    np.testing.assert_array_equal(kernel.transform(X), cls(**parameters).fit(X).transform(X))


def test_a_kernel_without_a_formula_has_no_values() -> None:
    points = np.eye(3)
    kernel = Kernel().fit(points)
    assert (kernel.exponent, kernel.non_negative, kernel.learn(3)) == (1.0, False, kernel)
    for action in (lambda: kernel.transform(points), lambda: kernel.from_products(points, points[0], points[0])):
        with pytest.raises(NotImplementedError):
            action()
