"""Every registered classifier, kernel, weighting and feature map passes scikit-learn's checks of estimators.

Some kernels are defined only on points, or labels, that scikit-learn's data are not: a subclass moves the data there
first, so that all else is checked. Other tests of these kernels have what they refuse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from benchmark.classifiers import CLASSIFIERS, EmbeddedFamily, LinearSvm, ProjectedPdf
from benchmark.kernels import KERNELS, Hyperbolic, HyperplaneTop, Kernel, PLSIFisher
from benchmark.representation import WEIGHTINGS
from benchmark.representation.features import FEATURE_MAPS
from benchmark.representation.weighting import normalize_rows
from benchmark.system.tags import tags_of


class OnSimplex:
    """Divides each point by its sum."""

    def validated(self, X: Any, **how: Any) -> sp.csr_array:
        return normalize_rows(sp.csr_array(super().validated(X, **how), copy=True), "l1")  # type: ignore[misc]


class HyperbolicOfMoments(Hyperbolic):
    """Takes the mean of the coordinates for μ, and a function of their variation for σ > 0."""

    def validated(self, X: Any, **how: Any) -> Any:
        points = sp.csr_array(super().validated(X, **how)).toarray()
        return np.column_stack([points.mean(axis=1), 1 + points.std(axis=1)])


class HyperplaneTopOfLabels(HyperplaneTop):
    """Takes one label for each document, not a column for each category."""

    def fit(self, X: Any, y: Any) -> Any:  # type: ignore[override]
        labels = np.asarray(y)
        return super().fit(X, None if y is None else labels.reshape(-1, 1) == np.unique(labels))


def in_its_domain(kernel: type[Any]) -> type[Any]:
    """The kernel, or a subclass that takes scikit-learn's data, under a name by which pickle finds it."""
    own = {Hyperbolic: HyperbolicOfMoments, HyperplaneTop: HyperplaneTopOfLabels}
    if not issubclass(kernel, Kernel) or tags_of(kernel()).normalizations != ("l1",):
        return own.get(kernel, kernel)
    moved = type(f"{kernel.__name__}OnSimplex", (OnSimplex, kernel), {"__module__": __name__})
    globals()[moved.__name__] = moved
    return moved


#: Parameters other than the defaults: those that would take minutes, or warn that LIBLINEAR doesn't converge.
PARAMETERS: dict[type[Any], dict[str, Any]] = {
    LinearSvm: {"loss": "squared-hinge"},
    PLSIFisher: {"n_classes": (1, 2), "max_iterations": 20, "tolerance": 1e-2},
    HyperplaneTopOfLabels: {"C": 0.01},
}
CLASSES = [
    *CLASSIFIERS.values(),
    *map(in_its_domain, KERNELS.values()),
    *WEIGHTINGS.values(),
    *FEATURE_MAPS.values(),
]
ESTIMATORS = [
    *(each(**PARAMETERS.get(each, {})) for each in CLASSES),
    ProjectedPdf(n_terms=1),
    EmbeddedFamily(n_terms=1),
]

IN_ORDER_OF_TRAINING = "classes_ stand in the order of training, which breaks ties as the paper does"
PAIRS = "decision values are those of pairs of classes, in LIBSVM's order and with its signs"
#: Why checks fail, by the name of the class and of the check; one that passes is an error, too.
EXPECTED: dict[str, dict[str, str]] = {
    "DivergenceBayes": dict.fromkeys(["check_classifiers_classes", "check_classifiers_train"], IN_ORDER_OF_TRAINING),
    "SupportVectorClassifier": dict.fromkeys(["check_classifiers_classes", "check_classifiers_train"], PAIRS),
    "HeatOnSimplex": {"check_fit2d_1feature": "the simplex of one coordinate is a point, which has no heat kernel"},
    "HyperplaneTopOfLabels": {"check_fit2d_1sample": "one document has one category, and the message is about those"},
}


def expected_failures(estimator: Any) -> dict[str, str]:
    return EXPECTED.get(type(estimator).__name__, {})


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)
