"""The HP-TOP kernel is the inner product of the log-odds and its derivatives by every parameter."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.classifiers.libsvm import Machine, NodeMatrix
from benchmark.classifiers.svm import SupportVectorClassifier
from benchmark.kernels.products import inner_products
from benchmark.model_kernels.components import COMPONENTS
from benchmark.model_kernels.hp_top import HyperplaneTop, TopGram, decide, log_joint, top_features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

N, V, K = 60, 25, 4


def documents(rng: np.random.Generator, n: int) -> tuple[sp.csr_array, NDArray[np.bool_]]:
    """Documents of unit length with one or two of the categories; each category has its words."""
    members = np.eye(K, dtype=bool)[np.arange(n) % K]
    members[(np.arange(n) % 9) == 2, 1] = True
    rates = 0.3 + members @ (rng.random((K, V)) < 0.25) * 1.5
    counts = rng.poisson(rates)
    counts[counts.sum(axis=1) == 0, 0] = 1
    return sp.csr_array(counts / np.linalg.norm(counts, axis=1, keepdims=True)), members


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(2004)


@pytest.fixture
def corpus(rng: np.random.Generator) -> tuple[sp.csr_array, NDArray[np.bool_]]:
    return documents(rng, N)


@pytest.fixture(params=list(COMPONENTS))
def component(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def top(corpus: tuple[sp.csr_array, NDArray[np.bool_]], component: str) -> HyperplaneTop:
    return HyperplaneTop(component=component, target=1).fit(*corpus)


@dataclasses.dataclass(frozen=True)
class Parameters:
    """All parameters of the model, each an array that ends in the categories."""

    density: Any
    weights: Array
    offsets: Array
    priors: Array

    def log_odds(self, points: Array, target: int) -> Array:
        """Equation 6 with (16) and (17), as it is printed: no logarithm is taken before the sum."""
        joint = self.priors * np.exp(self.density.log_density(points @ self.weights - self.offsets))
        return np.asarray(np.log(joint[:, target]) - np.log(np.delete(joint, target, axis=1).sum(axis=1)))


def parameters_of(top: HyperplaneTop) -> Parameters:
    return Parameters(top.component_, top.hyperplanes_.weights, top.hyperplanes_.offsets, top.priors_)


def derivative(parameters: Parameters, name: str, index: Any, points: Array, target: int) -> Array:
    """∂v by one number of one parameter, by Richardson's rule."""
    inner = name not in ("weights", "offsets", "priors")
    value = getattr(parameters.density if inner else parameters, name)

    def at(step: float) -> Array:
        changed = value.copy()
        changed[index] += step
        if inner:
            moved = dataclasses.replace(parameters, density=dataclasses.replace(parameters.density, **{name: changed}))
        else:
            moved = dataclasses.replace(parameters, **{name: changed})
        return moved.log_odds(points, target)

    step = 1e-3 * max(abs(value[index]), 0.1)
    wide, narrow = ((at(h) - at(-h)) / (2 * h) for h in (step, step / 2))
    return (4 * narrow - wide) / 3


def explicit(top: HyperplaneTop, points: Array, target: int) -> Array:
    """All 1 + (p + 2 + |V|) k features by finite differences of v."""
    parameters = parameters_of(top)
    columns = [parameters.log_odds(points, target)]
    names = [field.name for field in dataclasses.fields(parameters.density)]
    for name in [*names, "offsets", "priors"]:
        columns += [derivative(parameters, name, x, points, target) for x in range(K)]
    columns += [derivative(parameters, "weights", (i, x), points, target) for i in range(V) for x in range(K)]
    return np.column_stack(columns)


def in_full(top: HyperplaneTop, points: Array, target: int) -> Array:
    """The same features from the factors that the kernel keeps."""
    features = top_features(top.joint(points), target)
    by_weight = points[:, :, None] * features.slopes[:, None, :]
    return np.hstack([features.scalars, by_weight.reshape(len(points), -1)])


@pytest.mark.parametrize("target", range(K))
def test_every_feature_is_the_derivative_of_the_log_odds(top, rng, target):
    points = documents(rng, 9)[0].toarray()
    # Uniform priors would hide where one is forgotten.
    top.priors_ = np.array([0.1, 0.2, 0.3, 0.4])
    expected = explicit(top, points, target)
    np.testing.assert_allclose(in_full(top, points, target), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("target", range(K))
def test_the_kernel_is_the_inner_product_of_explicit_features(top, corpus, rng, target):
    points = documents(rng, 9)[0].toarray()
    features, own = (in_full(top, X, target) for X in (points, corpus[0].toarray()))
    np.testing.assert_allclose(top.gram(points, target), features @ own.T, rtol=1e-12, atol=1e-11)


def test_blocks_are_rows_of_the_kernel(top, corpus):
    features = top_features(top.joint_, 0)
    gram = TopGram(features, features, top.linear_)
    assert gram.shape == (N, N)
    blocks = np.vstack([gram.block(start, min(start + 7, N)) for start in range(0, N, 7)])
    np.testing.assert_allclose(blocks, top.gram(corpus[0], 0), rtol=1e-12, atol=1e-12)


def test_the_gaussians_features_are_the_papers(corpus):
    """Equations 34-43, letter by letter."""
    top = HyperplaneTop().fit(*corpus)
    points, c = corpus[0].toarray(), 2
    f = points @ top.hyperplanes_.weights - top.hyperplanes_.offsets
    own = [f[corpus[1][:, x], x] for x in range(K)]
    mu, variance = np.array([values.mean() for values in own]), np.array([values.var() for values in own])
    P = np.full(K, 1 / K)
    q = np.exp(-((f - mu) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
    negative = sum(P[e] * q[:, e] for e in range(K) if e != c)
    columns = [np.log(P[c] * q[:, c]) - np.log(negative)]
    sign = [np.ones(N) if x == c else -P[x] * q[:, x] / negative for x in range(K)]
    columns += [sign[x] * (f[:, x] - mu[x]) for x in range(K)]
    columns += [sign[x] * (f[:, x] ** 2 - mu[x] ** 2 - variance[x]) for x in range(K)]
    columns += [sign[x] * (f[:, x] - mu[x]) / variance[x] for x in range(K)]
    columns += [np.full(N, 1 / P[c]) if x == c else -q[:, x] / negative for x in range(K)]
    columns += [sign[x] * (mu[x] - f[:, x]) / variance[x] * points[:, i] for i in range(V) for x in range(K)]
    np.testing.assert_allclose(in_full(top, points, c), np.column_stack(columns), rtol=1e-9, atol=1e-11)


def test_the_gram_matrix_is_symmetric_and_has_no_negative_eigenvalue(top, corpus):
    for target in range(K):
        gram = top.gram(corpus[0], target)
        scale = np.trace(gram)
        np.testing.assert_allclose(gram, gram.T, rtol=0, atol=1e-15 * scale)
        assert np.linalg.eigvalsh((gram + gram.T) / 2).min() >= -N * np.finfo(float).eps * scale


def test_permuting_the_new_documents_permutes_the_rows(top, rng):
    points = documents(rng, 20)[0]
    order = rng.permutation(20)
    np.testing.assert_allclose(top.transform(points[order]), top.transform(points)[order], rtol=1e-13, atol=1e-12)


def test_permuting_the_training_documents_permutes_the_gram(corpus, component, rng):
    X, Y = corpus
    order = rng.permutation(N)
    # The hyperplanes are unique; how near the solver comes to them depends on the order, by its tolerance.
    fitted = [
        HyperplaneTop(component=component, epsilon=1e-10).fit(points, labels)
        for points, labels in ((X, Y), (X[order], Y[order]))
    ]
    before, after = (top.gram(top.points_, 3) for top in fitted)
    np.testing.assert_allclose(after, before[np.ix_(order, order)], rtol=1e-6, atol=1e-6 * np.abs(before).max())


def test_permuting_the_other_categories_changes_nothing(corpus, component):
    X, Y = corpus
    order = np.array([2, 3, 1, 0])
    fitted = [HyperplaneTop(component=component).fit(X, labels) for labels in (Y, Y[:, order])]
    np.testing.assert_allclose(fitted[0].gram(X, 1), fitted[1].gram(X, 2), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("far", [1e3, -1e3, 1e6])
def test_far_from_every_hyperplane_the_features_are_finite_and_right(top, far):
    f = np.array([[far] * K, [far, -far, far, -far]])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        features = top_features(log_joint(f, top.component_, top.priors_), 1)
    assert (np.exp(top.component_.log_density(f)) == 0).all()
    by_prior = features.scalars[:, -K:] * top.priors_
    np.testing.assert_allclose(by_prior[:, 1], 1.0)
    np.testing.assert_allclose(np.delete(by_prior, 1, axis=1).sum(axis=1), -1.0)
    # Out there one of the others outweighs the rest, beyond what floating point can tell.
    log_q = top.component_.log_density(f)
    rest = np.sort(np.delete(log_q, 1, axis=1), axis=1)
    clear = rest[:, -1] - rest[:, -2] > 50
    assert clear.any()
    np.testing.assert_allclose(features.scalars[clear, 0], (log_q[:, 1] - rest[:, -1])[clear], rtol=1e-12)


def test_farther_than_numbers_reach_is_an_error_not_a_nan(corpus):
    top = HyperplaneTop().fit(*corpus)
    with pytest.raises(FloatingPointError, match="finite"):
        top_features(log_joint(np.full((1, K), 1e200), top.component_, top.priors_), 0)
    features = top_features(log_joint(np.full((1, K), 1e90), top.component_, top.priors_), 0)
    with pytest.raises(FloatingPointError, match="finite"):
        TopGram(features, features, np.ones((1, 1))).block(0, 1)


def test_decisions_are_the_kernels_rows_times_the_coefficients(top, corpus, rng):
    points = documents(rng, 15)[0]
    support = np.array([40, 3, 17, 22])
    machine = Machine(support, np.array([0.5, -1.0, 0.25, 0.25]), 0.3)
    trained, new = top_features(top.joint_, 1), top_features(top.joint(points), 1)
    expected = top.transform(points)[:, support] @ machine.coefficients - machine.rho
    actual = decide(machine, new, points, trained, corpus[0])
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10)


def test_targets_are_solved_as_by_a_classifier_on_the_gram_matrix(corpus, component, rng):
    X, Y = corpus
    points = documents(rng, 15)[0]
    top = HyperplaneTop(component=component, epsilon=1e-9).fit(X, Y)
    decisions = top.solve_targets([2, 0], points)
    assert decisions.shape == (15, 2)
    for column, target in enumerate([2, 0]):
        machine = SupportVectorClassifier(epsilon=1e-9).fit(top.gram(X, target), np.where(Y[:, target], 1, -1))
        expected = machine.decision_function(top.gram(points, target))[:, 0]
        np.testing.assert_allclose(decisions[:, column], expected, rtol=1e-6, atol=1e-6)


def test_threads_company_and_memory_change_nothing(corpus, component, rng):
    points, nodes = documents(rng, 15)[0], NodeMatrix()
    first = HyperplaneTop(component=component).fit(*corpus)
    linear = inner_products(corpus[0], corpus[0])
    second = HyperplaneTop(component=component, jobs=2).fit(*corpus, linear=linear, nodes=nodes)
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


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [({"C": 0.0}, "C must"), ({"epsilon": np.nan}, "epsilon must"), ({"component": "gumbel"}, "component must be one")],
)
def test_parameters_out_of_range_are_refused(corpus, parameters, complaint):
    with pytest.raises(ValueError, match=complaint):
        HyperplaneTop(**parameters).fit(*corpus)


def test_input_of_the_wrong_shape_is_refused(corpus):
    X, Y = corpus
    for labels in (Y[:, 0], Y[:, :1], Y[1:]):
        with pytest.raises(ValueError, match="Y must say"):
            HyperplaneTop().fit(X, labels)
    with pytest.raises(ValueError, match="boolean"):
        HyperplaneTop().fit(X, Y + 1)
    top = HyperplaneTop().fit(X, Y)
    with pytest.raises(ValueError, match="24 coordinates"):
        top.transform(X[:, 1:])
    for target in (-1, K):
        with pytest.raises(ValueError, match="target must be"):
            top.gram(X, target)
