"""Hyperplanes of categories decide as linear machines do, and refuse what can't be separated."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.classifiers.libsvm import DenseRows, NodeMatrix
from benchmark.classifiers.matrix_svm import linear_svm_hyperplanes, train_one_vs_rest
from benchmark.classifiers.svm import SupportVectorClassifier


@pytest.fixture
def points():
    rng = np.random.default_rng(8)
    return sp.csr_array(rng.poisson(0.7, size=(50, 12)).astype(float))


@pytest.fixture
def members():
    rng = np.random.default_rng(9)
    return rng.random((40, 4)) < np.array([0.5, 0.3, 0.2, 0.1])


def gram_of(points):
    return (points @ points.T).toarray()


def fit_hyperplanes(points, gram, members, names="abcd", C=1.0, jobs=1):
    nodes = NodeMatrix()
    nodes.fill(DenseRows(gram), jobs)
    names = names[: members.shape[1]]
    machines = train_one_vs_rest(nodes, members, names, C=C, epsilon=1e-3, jobs=jobs)
    return linear_svm_hyperplanes(points, machines)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_values_are_the_decisions_of_one_machine_a_category(points, members, C):
    own = points[:40]
    planes = fit_hyperplanes(own, gram_of(own), members, C=C, jobs=2)
    assert planes.weights.shape == (12, 4)
    kernel = (points @ own.T).toarray()
    for x in range(4):
        alone = SupportVectorClassifier(C=C).fit(kernel[:40], np.where(members[:, x], 1, -1))
        expected = alone.decision_function(kernel)[:, 0]
        scale = C * len(members) * kernel.max()
        np.testing.assert_allclose(
            planes.values(points)[:, x], expected, rtol=0, atol=100 * np.finfo(float).eps * scale
        )


@pytest.mark.parametrize(("value", "has"), [(False, "no"), (True, "every")])
def test_a_category_of_no_or_every_document_is_refused_by_name(points, members, value, has):
    members[:, 2] = value
    own = points[:40]
    with pytest.raises(ValueError, match=f"'ship' has {has} training document"):
        fit_hyperplanes(own, gram_of(own), members, ["earn", "acq", "ship", "corn"])


def test_a_product_that_is_no_number_is_refused(points, members):
    own = points[:40]
    gram = gram_of(own)
    gram[3, 5] = np.inf
    with pytest.raises(FloatingPointError, match="finite"):
        fit_hyperplanes(own, gram, members)
