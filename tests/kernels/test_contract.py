"""What holds for every registered kernel, whatever its formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from benchmark.kernels import (
    Diffusion,
    ExponentialGeodesicDistance,
    NegativeGeodesicDistance,
    Sigmoid,
)
from benchmark.kernels.multinomial import CPD_KERNELS, CpdLogarithm, CpdPower
from tests.kernels.cases import sparse_forms
from tests.points import points_pipeline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.kernels.cases import Case

EPS = np.finfo(np.float64).eps


def smallest_eigenvalue(gram: NDArray[np.float64]) -> float:
    return float(np.linalg.eigvalsh((gram + gram.T) / 2)[0])


def rounding(case: Case, points: NDArray[np.float64], gram: NDArray[np.float64]) -> float:
    """How far rounding can move an eigenvalue: Weyl's bound by the largest row sum of errors, and eigvalsh's own."""
    low, high = case.bounds(points, points)
    return float((high - low).sum(axis=1).max() + len(gram) * EPS * np.abs(gram).sum(axis=1).max())


def test_gram_is_symmetric(case: Case, counts: NDArray[Any]) -> None:
    points = case.points(counts)
    gram = case.build().fit(points).transform(points)
    low, high = case.bounds(points, points)
    assert (np.abs(gram - gram.T) <= high - low).all()


def test_swapping_training_and_other_points_transposes(case: Case, counts: NDArray[Any]) -> None:
    points = case.points(counts)
    low, high = case.bounds(points[:20], points[20:])
    forth = case.build().fit(points[20:]).transform(points[:20])
    back = case.build().fit(points[:20]).transform(points[20:])
    assert (np.abs(forth - back.T) <= high - low).all()


def test_permuting_the_documents_permutes_the_gram(case: Case, counts: NDArray[Any]) -> None:
    points = case.points(counts)
    order = np.random.default_rng(1).permutation(len(points))
    gram = case.build().fit(points).transform(points)
    np.testing.assert_array_equal(case.build().fit(points[order]).transform(points[order]), gram[np.ix_(order, order)])


def test_permuting_the_terms_changes_nothing(case: Case, counts: NDArray[Any]) -> None:
    points = case.points(counts)
    permuted = points[:, np.random.default_rng(2).permutation(points.shape[1])]
    low, high = case.bounds(points, points)
    difference = case.build().fit(points).transform(points) - case.build().fit(permuted).transform(permuted)
    assert (np.abs(difference) <= high - low).all()


def test_a_term_that_never_occurs_changes_nothing_but_the_dimension(case: Case, counts: NDArray[Any]) -> None:
    points = case.points(counts)
    wider = np.insert(points, 5, 0.0, axis=1)
    with_it, without = case.build().fit(wider).transform(wider), case.build().fit(points).transform(points)
    if case.name == "heat":
        low, high = case.bounds(points, points)
        assert ((with_it < low) | (with_it > high)).any(), "it changes nothing here either: the kernel should say so"
    else:
        np.testing.assert_array_equal(with_it, without)


def test_a_row_depends_on_no_other_row(case: Case, counts: NDArray[Any]) -> None:
    points = case.points(counts)
    kernel = case.build().fit(points)
    gram = kernel.transform(points)
    for row in range(0, len(points), 3):
        np.testing.assert_array_equal(kernel.transform(points[row : row + 1]), gram[row : row + 1])
    np.testing.assert_array_equal(case.build().fit(points[4:9]).transform(points), gram[:, 4:9])


def test_dense_and_sparse_forms_agree(case: Case, counts: NDArray[Any]) -> None:
    points = case.points(counts)
    gram = case.build().fit(points).transform(points)
    for name, form in sparse_forms(points).items():
        np.testing.assert_array_equal(case.build().fit(form).transform(form), gram, err_msg=name)


def test_arguments_are_left_as_they_are(registered: Case, counts: NDArray[Any]) -> None:
    forms = sparse_forms(registered.points(counts))
    for name in ("unsorted", "duplicates", "explicit zeros"):
        given = forms[name]
        before = given.copy()
        registered.build().fit(given).transform(given)
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(given, part), getattr(before, part), err_msg=f"{name} {part}")


def test_documents_without_terms_are_allowed(case: Case) -> None:
    nothing = np.zeros((3, 5))
    low, high = case.bounds(nothing, nothing)
    gram = case.build().fit(nothing).transform(nothing)
    assert ((low <= gram) & (gram <= high)).all()


def test_positive_definite_kernels_have_no_negative_eigenvalue(pd_case: Case, counts: NDArray[Any]) -> None:
    kernel, points = pd_case.build(), pd_case.points(counts)
    gram = kernel.fit(points).transform(points)
    assert smallest_eigenvalue(gram) >= -rounding(pd_case, points, gram)


def test_conditionally_positive_kernels_are_positive_where_the_coefficients_sum_to_zero(
    cpd_case: Case, counts: NDArray[Any]
) -> None:
    kernel, points = cpd_case.build(), cpd_case.points(counts)
    gram = kernel.fit(points).transform(points)
    n = len(gram)
    centring = np.eye(n) - 1 / n
    # The centring matrix is a projection, so it lengthens no error; its two products round like eigvalsh does.
    assert smallest_eigenvalue(centring @ gram @ centring) >= -3 * rounding(cpd_case, points, gram)
    if not cpd_case.params.get("shift"):
        assert smallest_eigenvalue(gram) < -1, "not positive definite, or the kernel should say so"


def test_conditionally_positive_kernels_become_positive_definite_by_exp(cpd_case: Case, counts: NDArray[Any]) -> None:
    """Schoenberg: k is cpd if and only if exp(tk) is pd for every t > 0."""
    kernel, points = cpd_case.build(), cpd_case.points(counts)
    gram = kernel.fit(points).transform(points)
    for t in (0.1, 1.0, 10.0):
        values = np.exp(t * gram)
        # The derivative of exp(tk) is t exp(tk), which is largest where k is.
        steepness = t * float(values.max())
        assert (
            smallest_eigenvalue(values) >= -max(steepness, 1.0) * rounding(cpd_case, points, gram) - EPS * values.sum()
        )


@pytest.mark.parametrize("base", ["ned", "ngd"])
def test_powers_below_one_and_logarithms_stay_conditionally_positive(base: str) -> None:
    """Zhang et al. 2005, lemma 4. The square isn't: "-d² looks not cpd" of the geodesic distance; of NED it is one."""
    points = np.vstack([np.eye(3), (1 - np.eye(3)) / 2, np.full((1, 3), 1 / 3)])
    centring = np.eye(len(points)) - 1 / len(points)

    def centred(gram: NDArray[np.float64]) -> float:
        return smallest_eigenvalue(centring @ gram @ centring)

    kernels = [CpdLogarithm(base), *(CpdPower(base, beta) for beta in (0.05, 0.5, 0.95))]
    for kernel in kernels:
        gram = kernel.fit(points).transform(points)
        assert centred(gram) >= -1e-9, kernel  # seven values below 4, with roots of distances of 1e-16 at most
        assert smallest_eigenvalue(gram) < -0.1
    distances = CPD_KERNELS[base]().fit(points).transform(points)
    assert (centred(-(distances**2)) >= -1e-9) == (base == "ned")


@pytest.mark.parametrize("centred", [False, True])
def test_ngd_shifted_by_pi_is_positive_definite(counts: NDArray[Any], centred: bool) -> None:
    points = points_pipeline(normalization="l1").fit_transform(counts)
    gram = NegativeGeodesicDistance(shift=np.pi).fit(points).transform(points)
    if centred:
        n = len(gram)
        gram = (np.eye(n) - 1 / n) @ gram @ (np.eye(n) - 1 / n)
    # s is off by V·eps at most, and 2 arcsin s on the diagonal, where it is steepest, by 2 arccos(1 - V·eps).
    error = 2 * np.arccos(1 - 2 * points.shape[1] * EPS)
    assert smallest_eigenvalue(gram) >= -error - len(gram) * EPS * np.abs(gram).sum(axis=1).max()


def test_sigmoid_is_not_positive_definite_but_bounded_and_increasing(counts: NDArray[Any]) -> None:
    points = counts.astype(np.float64)
    kernel = Sigmoid(kappa=0.4, theta=-0.3)
    gram = kernel.fit(points).transform(points)
    # A document without terms has k(0,0) = tanh ϑ < 0: a negative diagonal.
    assert gram[19, 19] == np.tanh(-0.3)
    assert smallest_eigenvalue(gram) <= np.tanh(-0.3)
    assert (np.abs(gram) <= 1).all()
    inner = points @ points.T
    order = np.argsort(inner, axis=None, kind="stable")
    assert (np.diff(gram.ravel()[order]) >= 0).all()


def test_diffusion_is_not_positive_definite_at_every_time() -> None:
    """The parametrix is a Gaussian of a geodesic distance: on a curved space some time t breaks it.

    The points are the corners of the simplex, its edges' middles and its own.
    """
    points = np.vstack([np.eye(3), (1 - np.eye(3)) / 2, np.full((1, 3), 1 / 3)])
    gram = Diffusion(t=20.0).fit(points).transform(points)
    assert smallest_eigenvalue(gram) < -1e-3
    assert smallest_eigenvalue(Diffusion(t=0.3).fit(points).transform(points)) > 0.1
    # NGD-E, the exponential of a cpd kernel, holds there too.
    assert smallest_eigenvalue(ExponentialGeodesicDistance(t=20.0).fit(points).transform(points)) > 0


def test_simplex_kernels_refuse_points_off_the_simplex(simplex_case: Case, counts: NDArray[Any]) -> None:
    points = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    with pytest.raises(ValueError, match="every row must sum to 1, but row 0 sums to 2"):
        simplex_case.build().fit(2 * points)
    with pytest.raises(ValueError, match="every row must sum to 1"):
        simplex_case.build().fit(points).transform(2 * points)
    with pytest.raises(ValueError, match="Negative values in data"):
        simplex_case.build().fit(np.array([[2.0, -1.0]]))


def test_works_in_a_pipeline_from_counts_to_classes(case: Case) -> None:
    """Two classes that share no term are told apart, by the steps in a pipeline as by the steps one by one."""
    own = np.random.default_rng(3).poisson(2.0, size=(2, 12, 4)) + 1
    nothing = np.zeros((12, 4), dtype=own.dtype)
    documents = np.vstack([np.hstack([own[0], nothing]), np.hstack([nothing, own[1]])])
    labels = np.repeat(["first", "second"], 12)
    weighting = points_pipeline("tfidf", case.normalization)
    pipeline = make_pipeline(weighting, case.build(), SVC(kernel="precomputed", C=1e3))
    trained, other = documents[::2], documents[1::2]
    assert pipeline.fit(trained, labels[::2]).score(trained, labels[::2]) == 1.0
    kernel = case.build().fit(weighting.fit_transform(trained))
    machine = SVC(kernel="precomputed", C=1e3).fit(kernel.transform(weighting.transform(trained)), labels[::2])
    rows = kernel.transform(weighting.transform(other))
    np.testing.assert_array_equal(pipeline.decision_function(other), machine.decision_function(rows))
