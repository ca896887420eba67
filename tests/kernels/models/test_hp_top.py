"""The HP-TOP kernel as an estimator: its Gram matrices, its machines, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.classifiers.libsvm import NodeMatrix
from benchmark.classifiers.svm import SupportVectorClassifier
from benchmark.kernels.hp_top import HyperplaneTop
from benchmark.kernels.products import inner_products
from tests.kernels.models.drawn import draw_points

N, K = 60, 4  # documents and categories of the corpus


def test_the_gram_matrix_is_symmetric_and_has_no_negative_eigenvalue(top, corpus):
    for target in range(K):
        gram = top.set_params(target=target).transform(corpus[0])
        scale = np.trace(gram)
        np.testing.assert_allclose(gram, gram.T, rtol=0, atol=1e-15 * scale)
        assert np.linalg.eigvalsh((gram + gram.T) / 2).min() >= -N * np.finfo(float).eps * scale


def test_permuting_the_training_documents_permutes_the_gram(corpus, rng):
    X, Y = corpus
    order = rng.permutation(N)
    # The hyperplanes are unique; how near the solver comes to them depends on the order, by its tolerance.
    fitted = [HyperplaneTop(epsilon=1e-10).fit(points, labels) for points, labels in ((X, Y), (X[order], Y[order]))]
    before, after = (top.set_params(target=3).transform(top.points_) for top in fitted)
    np.testing.assert_allclose(after, before[np.ix_(order, order)], rtol=1e-6, atol=1e-6 * np.abs(before).max())


def test_permuting_the_other_categories_changes_nothing(corpus):
    X, Y = corpus
    order = np.array([2, 3, 1, 0])
    fitted = [HyperplaneTop().fit(X, labels) for labels in (Y, Y[:, order])]
    np.testing.assert_allclose(
        fitted[0].set_params(target=1).transform(X), fitted[1].set_params(target=2).transform(X), rtol=1e-10, atol=1e-10
    )


def test_targets_are_solved_as_by_a_classifier_on_the_gram_matrix(corpus, rng):
    X, Y = corpus
    points = draw_points(rng, 15)[0]
    top = HyperplaneTop(epsilon=1e-9).fit(X, Y)
    decisions = top.solve_targets([2, 0], points)
    assert decisions.shape == (15, 2)
    for column, target in enumerate([2, 0]):
        machine = SupportVectorClassifier(epsilon=1e-9).fit(
            top.set_params(target=target).transform(X), np.where(Y[:, target], 1, -1)
        )
        expected = machine.decision_function(top.set_params(target=target).transform(points))[:, 0]
        np.testing.assert_allclose(decisions[:, column], expected, rtol=1e-6, atol=1e-6)


def test_threads_company_and_memory_change_nothing(corpus, rng):
    points, nodes = draw_points(rng, 15)[0], NodeMatrix()
    first = HyperplaneTop().fit(*corpus)
    linear = inner_products(corpus[0], corpus[0])
    second = HyperplaneTop(jobs=2).fit(*corpus, linear=linear)
    together = second.solve_targets(range(K), points, nodes)
    for target in range(K):
        np.testing.assert_array_equal(first.solve_targets([target], points)[:, 0], together[:, target])


def test_the_model_is_learnt_from_each_categorys_documents(corpus):
    X, Y = corpus
    top = HyperplaneTop().fit(X, Y)
    f = top.hyperplanes_.values(X)
    for x in range(K):
        np.testing.assert_allclose(top.component_.mean[x], f[Y[:, x], x].mean(), rtol=1e-12)
        np.testing.assert_allclose(top.component_.variance[x], f[Y[:, x], x].var(), rtol=1e-12)
    np.testing.assert_array_equal(top.priors_, 1 / K)


@pytest.mark.parametrize(("rows", "complaint"), [([], "no training"), ([5], "at least two"), ([5, 6], "equally far")])
def test_a_category_that_gives_no_density_is_refused_by_name(corpus, rows, complaint):
    X, Y = corpus[0].toarray(), corpus[1].copy()
    Y[:, 3] = False
    Y[rows, 3] = True
    X[6] = X[5]
    with pytest.raises(ValueError, match=f"{complaint}.*'corn'|'corn'.*{complaint}"):
        HyperplaneTop().fit(X, Y, categories=["earn", "acq", "ship", "corn"])


@pytest.mark.parametrize("target", range(K))
def test_the_rows_are_those_of_the_target(corpus, target, rng):
    points = draw_points(rng, 5)[0]
    top = HyperplaneTop(target=target).fit(*corpus)
    own = top.transform(points)
    others = [top.set_params(target=other).transform(points) for other in range(K) if other != target]
    assert all(np.abs(own - other).max() > 1e-3 for other in others)
