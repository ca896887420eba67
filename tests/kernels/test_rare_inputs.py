"""What a kernel is given rarely: values outside their range by rounding, memory that may not be written, no entries."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.kernels import KERNELS, Kernel, Linear, is_elementwise_kernel
from benchmark.kernels.gram import InnerProducts, LazyGram, kernel_diagonal
from benchmark.kernels.models.plsi import PLSI, checked_counts
from benchmark.kernels.multinomial import arccos_clipped
from benchmark.kernels.products import StreamedProducts, inner_products, self_products
from tests.kernels.cases import KERNELS as ELEMENTWISE
from tests.kernels.cases import sparse_forms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.kernels.cases import Case

#: Those that a stored matrix of inner products can't give the values of.
OF_NO_PRODUCTS = {"hyperbolic", "hp-top", "plsi-fisher"}


class OfItsOwn(Linear):
    """A kernel whose values are no function of inner products, though its base class has one."""

    def transform(self, X: Any) -> NDArray[np.float64]:
        return super().transform(X) + 1


def test_a_kernel_with_a_transform_of_its_own_is_no_function_of_inner_products() -> None:
    assert {name for name, cls in KERNELS.items() if not is_elementwise_kernel(cls)} == OF_NO_PRODUCTS
    assert is_elementwise_kernel(type("Renamed", (Linear,), {}))
    assert is_elementwise_kernel(Kernel)
    assert not is_elementwise_kernel(OfItsOwn)
    assert not is_elementwise_kernel(type("Further", (OfItsOwn,), {}))


@pytest.mark.parametrize("fitted", [False, True])
def test_reading_values_from_products_leaves_the_kernel_as_it_is(registered: Case, fitted: bool) -> None:
    points = np.eye(4) / 2 + 1 / 8 if registered.normalization == "l1" else np.eye(4) + 1
    kernel, normalization = registered.build(), registered.normalization
    if fitted:
        kernel.fit(np.eye(6))  # of another number of coordinates
    before = pickle.dumps(vars(kernel))
    embedded = sp.csr_array(points**kernel.exponent)
    own = self_products(embedded)
    held = InnerProducts(
        inner_products(embedded, embedded), np.arange(4), own, {normalization: np.ones(4)}, kernel.exponent, 4
    )
    gram = LazyGram(kernel, held, normalization, np.arange(4), np.arange(4)).block(0, 4)
    np.testing.assert_array_equal(kernel_diagonal(kernel, held, normalization), np.diag(gram))
    np.testing.assert_array_equal(held.self_products, own)
    assert pickle.dumps(vars(kernel)) == before
    assert fitted or not hasattr(kernel, "heat_kernel_")


@pytest.mark.parametrize("name", ["ngd", "ngd-e", "diffusion", "heat", "cpd-power", "cpd-log"])
def test_an_affinity_outside_its_range_by_rounding_is_that_at_the_end(name: str) -> None:
    kernel = ELEMENTWISE[name]().learn(5)
    ones = np.ones(6)

    def values(affinities: list[float]) -> NDArray[np.float64]:
        return kernel.from_products(np.array([affinities]), ones[:1], ones)[0]

    outside = values([-1e-9, -1e-12, -1e-300, 1 + 2e-16, 1 + 1e-12, 1 + 1e-9])
    np.testing.assert_array_equal(outside, values([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]))
    assert np.ptp(outside) > 1e-3


def test_angles_of_affinities_lie_between_0_and_a_right_angle() -> None:
    affinities = np.array([-1.0, -1e-9, 0.0, 0.5, 1.0, 1 + 1e-9, 7.0])
    expected = [np.pi / 2] * 3 + [np.pi / 3] + [0.0] * 3
    angles = arccos_clipped(affinities)
    np.testing.assert_allclose(angles, expected, rtol=1e-15)
    assert angles is affinities


def test_equal_documents_have_the_ridge_up_to_rounding_and_no_others() -> None:
    kernel = ELEMENTWISE["bhattacharyya"](ridge=0.5)
    given = np.array([[1.0, 1 - 4e-10, 1 + 4e-10, 1 - 2e-9, 0.5, 0.0]])
    expected = given + np.array([0.5, 0.5, 0.5, 0, 0, 0])
    np.testing.assert_array_equal(kernel.from_products(given.copy(), np.ones(1), np.ones(6)), expected)
    np.testing.assert_array_equal(ELEMENTWISE["bhattacharyya"]().from_products(given, np.ones(1), np.ones(6)), given)


def documents() -> NDArray[np.float64]:
    rng = np.random.default_rng(14)
    return rng.random((9, 12)) * (rng.random((9, 12)) < 0.4)


@pytest.mark.parametrize("form", [name for name in sparse_forms(np.eye(2)) if name != "list"])
def test_streamed_products_are_the_same_in_any_form_of_the_points(form: str) -> None:
    dense, columns = documents(), np.array([1, 2, 5, 8])
    points = sp.csr_array(dense)
    expected = inner_products(points, points[columns])
    given = sparse_forms(dense)[form].tocsr()
    streamed = StreamedProducts(given, columns, [np.array([2, 0]), np.array([1, 3])])
    np.testing.assert_array_equal(streamed[:], expected)
    ones = sp.csr_array(np.eye(9, 12))
    held = StreamedProducts(ones, columns)
    held.hold(given)
    np.testing.assert_array_equal(held[:], inner_products(points, ones[columns]))
    np.testing.assert_array_equal(StreamedProducts(points, columns).of(given)[2:5], expected[2:5])


def test_points_that_may_not_be_written_such_as_a_mapped_file_s_are_read() -> None:
    points, columns = sp.csr_array(documents()), np.array([1, 2, 5, 8])
    expected = inner_products(points, points)
    fixed = points.copy()
    for part in (fixed.data, fixed.indices, fixed.indptr, columns):
        part.flags.writeable = False
    for found in (inner_products(fixed, fixed), inner_products(fixed, points), inner_products(points, fixed)):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(self_products(fixed), np.diag(expected))
    np.testing.assert_array_equal(StreamedProducts(fixed, columns)[:], expected[:, columns])
    np.testing.assert_array_equal(inner_products(fixed, fixed, width=3), expected)


def test_counts_that_are_stored_zeros_are_no_words() -> None:
    counts = np.array([[4, 2, 0, 0], [1, 3, 0, 0], [0, 0, 5, 1], [0, 0, 2, 2]])
    zeros = sparse_forms(np.zeros((3, 4)))["explicit zeros"]
    assert zeros.nnz == 12
    assert checked_counts(zeros).nnz == 0
    assert zeros.nnz == 12  # the caller's are left
    with pytest.raises(ValueError, match="no document has a word: there is nothing to learn from"):
        PLSI(n_classes=2).fit(zeros)
    model = PLSI(n_classes=2).fit(counts)
    np.testing.assert_array_equal(model.fold(zeros), np.tile(model.classes, (3, 1)))
    stored = sparse_forms(counts.astype(float))["explicit zeros"]
    np.testing.assert_array_equal(PLSI(n_classes=2).fit(stored).word_given_class, model.word_given_class)
    assert not checked_counts(sp.csr_array((2, 3))).nnz


def test_the_most_negative_count_is_named() -> None:
    for wrong in (np.array([[3.0, -0.5], [-2.0, 1.0]]), sp.csr_array([[3.0, -0.5], [-2.0, 1.0]])):
        for action in (checked_counts, PLSI(n_classes=1).fit, PLSI(n_classes=1).fit([[1, 2]]).fold):
            with pytest.raises(ValueError, match=r"^counts can't be negative, but one is -2\.0$"):
                action(wrong)
