"""Kernels of someone else's are tried on the training documents before they are used, and errors are in one line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.config.components import Component
from benchmark.kernels import Kernel
from benchmark.methods.kernel_machines import check_finite_gram, check_not_constant, gram_rows
from benchmark.methods.registry import build_method
from benchmark.methods.wrappers import plugin_method
from benchmark.methods.wrappers.plugin_method import PluginMethod
from benchmark.plugins.toy_data import toy_group_splits, toy_problem

from .conftest import represented, spec_of

if TYPE_CHECKING:
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem

    Array = np.ndarray[Any, np.dtype[np.float64]]


class Own(Kernel):
    """The linear kernel, with a fault."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    def from_products(self, products: Array, left: Array, right: Array) -> Array:
        if self.fault == "error":
            raise KeyError("nothing")
        faults = {"constant": products * 0 + 2, "narrow": products[:, :1], "infinite": products + np.inf}
        return np.asarray(faults.get(self.fault, products))


def spec(fault: str = "") -> Any:
    kernel = Component.of("own", Own, {"fault": fault} if fault else {})
    return replace(spec_of("linear", represented("tf", "none", "collection")), kernel=kernel)


def alike(n: int) -> tuple[Problem, Any]:
    """A problem whose first `n` training documents have the same words, and a split of it."""
    problem = toy_problem(multilabel=False)
    split = toy_group_splits(problem)[0]
    matrix = problem.counts.matrix.toarray()
    matrix[split.train[:n]] = matrix[split.train[0]]
    return replace(problem, counts=replace(problem.counts, matrix=sp.csr_array(matrix)), key=f"alike {n}"), split


@pytest.mark.parametrize("few", [1, 3, 50])
def test_documents_that_are_alike_are_no_fault_of_the_kernel_where_others_differ(
    few: int, bench: MatrixCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin_method, "_FEW", few)
    problem, split = alike(3)
    method = build_method(spec(), problem, None, replicated=False)
    assert isinstance(method, PluginMethod)
    assert method.parts == (Own,)
    (found,) = method.solve(problem, [split], None, bench)
    linear = build_method(spec_of("linear", represented("tf", "none", "collection")), problem, None, replicated=False)
    np.testing.assert_array_equal(found.predicted, linear.solve(problem, [split], None, bench)[0].predicted)
    problem, split = alike(30)
    with pytest.raises(ValueError, match=r"the kernel Own\(\) gives \d+ for every pair of documents: all values equal"):
        build_method(spec(), problem, None, replicated=False).solve(problem, [split], None, bench)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("constant", r"the kernel Own\(fault='constant'\) gives 2 for every pair of documents: all values equal"),
        ("narrow", r"the kernel Own\(fault='narrow'\) gives values of the shape \(5, 1\), not \(5, 5\)"),
        ("infinite", r"the kernel Own\(fault='infinite'\) gives values that are not finite numbers"),
        ("error", r"^tests\.methods\.test_plugin_method\.Own: KeyError: 'nothing'$"),
    ],
)
def test_what_is_wrong_is_said_before_it_is_used(
    fault: str, message: str, bench: MatrixCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin_method, "_FEW", 5)
    problem, split = alike(0)
    with pytest.raises(ValueError, match=message):
        build_method(spec(fault), problem, None, replicated=False).solve(problem, [split], None, bench)
    if fault == "error":
        with pytest.raises(ValueError, match=message):
            build_method(spec(fault), problem, None, replicated=False).fit(problem, split, None, bench)


class Rows:
    """A transformer that isn't this package's: it spoils what it is given, and remembers it."""

    def __init__(self, gram: Array, tested: Array) -> None:
        self.values = {len(gram): gram, len(tested): tested}
        self.seen: list[Any] = []

    def fit(self, X: Any, y: Any) -> Rows:
        self.seen.append((X.toarray(), y.copy()))
        X.data[:] = y[:] = 0
        return self

    def transform(self, X: Any) -> Array:
        self.seen.append(X.toarray())
        X.data[:] = 0
        return self.values[X.shape[0]]


def test_rows_of_a_kernel_that_is_not_ours_are_of_copies_and_checked() -> None:
    points, tested = sp.csr_array(np.arange(1.0, 7).reshape(3, 2)), sp.csr_array(np.ones((2, 2)))
    labels, gram, rows = np.array([0, 1, 1]), np.arange(9.0).reshape(3, 3), np.ones((2, 3))
    kernel = Rows(gram, rows)
    found = gram_rows(kernel, points, labels, tested)
    np.testing.assert_array_equal(found[0], gram)
    np.testing.assert_array_equal(found[1], rows)
    assert points.toarray().tolist() == [[1, 2], [3, 4], [5, 6]]
    assert tested.toarray().tolist() == [[1, 1], [1, 1]]
    assert labels.tolist() == [0, 1, 1]
    np.testing.assert_array_equal(kernel.seen[0][0], points.toarray())
    np.testing.assert_array_equal(kernel.seen[1], points.toarray())
    np.testing.assert_array_equal(kernel.seen[2], tested.toarray())
    for wrong, message in (
        (Rows(gram[:, :2], rows), r"shape \(3, 2\), not \(3, 3\)"),
        (Rows(gram, rows[:, :2]), r"shape \(2, 2\), not \(2, 3\)"),
        (Rows(gram, rows * np.nan), "not finite"),
        (Rows(np.full((3, 3), 0.25), rows), r"gives 0\.25 for every pair of documents: all values equal"),
    ):
        with pytest.raises(ValueError, match=message):
            gram_rows(wrong, points, labels, tested)


def test_one_document_is_no_constant_matrix_and_one_value_no_number_is_found() -> None:
    check_not_constant("k", np.ones((1, 1)))
    check_not_constant("k", np.array([[1.0, 1.0], [1.0, np.nextafter(1.0, 2)]]))
    with pytest.raises(ValueError, match="the kernel 'k' gives 1 for every pair"):
        check_not_constant("k", np.ones((2, 2)))
    check_finite_gram("k", np.ones((2, 2)))
    for wrong in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="the kernel 'k' gives values that are not finite numbers"):
            check_finite_gram("k", np.array([[1.0, wrong], [1.0, 1.0]]))
