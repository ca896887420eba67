"""Smallest eigenvalues against numpy's, on documents that are all drawn, and of kernels whose definiteness is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from benchmark.config.model import BASE_VARIANT
from benchmark.corpora.corpus import Documents
from benchmark.diagnostics import DIAGNOSTICS
from benchmark.diagnostics.base import DiagnosticArrays, DiagnosticContext
from benchmark.text.counts import Counts
from tests.builders import small_experiment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.diagnostics.base import Arrays

#: 40 documents, of which the second half is another part; one is empty and one has the counts of another.
MATRIX = np.random.default_rng(5).poisson(0.5, (40, 30))
MATRIX[3], MATRIX[4] = 0, MATRIX[5]
KEPT = np.delete(np.arange(20), [3, 4])
METHODS = [
    {"normalization": "l1", "kernel": {"name": "ngd", "shift": [0, np.pi]}},
    {"normalization": "l2", "kernel": "rbf"},
    {"normalization": "l1", "kernel": {"name": "diffusion", "t": [8]}},
    "mnb",
]


def computed(documents: int = 40, part: str = "old", seed: int = 0) -> Arrays:
    parts = np.repeat(np.array([0, 1], dtype=np.int32), 20)
    ids = tuple(f"d{i}" for i in range(40))
    made = Documents(ids, np.zeros(40, dtype=np.int32), parts, ("x", "y"), ("old", "new"))
    counts = Counts(made, sp.csr_array(MATRIX.astype(np.int32)), tuple(f"w{i}" for i in range(30)))
    variant = small_experiment(methods=METHODS).variants[BASE_VARIANT]
    built = DIAGNOSTICS["smallest-eigenvalues"](documents=documents, part=part)
    return built.compute(DiagnosticContext(counts, variant, seed, 1, lambda _, compute: compute()))


def grams() -> dict[str, NDArray[np.float64]]:
    theta, unit = normalize(MATRIX[KEPT].astype(float), "l1"), normalize(MATRIX[KEPT].astype(float))
    angle = np.arccos(np.clip(np.sqrt(theta) @ np.sqrt(theta).T, 0, 1))
    return {"ngd-shift0": -2 * angle, "rbf": np.exp(unit @ unit.T - 1), "diffusion-t8": np.exp(-(angle**2) / 8)}


def test_eigenvalues_are_those_of_the_whole_matrix_and_of_coefficients_that_sum_to_zero() -> None:
    found = computed()
    assert int(found["documents"]) == len(KEPT)
    # An orthonormal basis of the vectors whose sum is zero.
    basis = np.linalg.qr(np.column_stack([np.ones(len(KEPT)), np.eye(len(KEPT))[:, 1:]]))[0][:, 1:]
    for name, gram in grams().items():
        (array,) = (array for label, array in found.items() if label.endswith(name))
        expected = [np.linalg.eigvalsh(each)[0] for each in (gram, basis.T @ gram @ basis)]
        np.testing.assert_allclose(array, expected, rtol=0, atol=1e-6, err_msg=name)


def test_ngd_is_conditionally_definite_and_with_pi_definite() -> None:
    found = {name: array.tolist() for name, array in computed().items() if "ngd" in name}
    (plain, centred), (shifted, same) = found.values()
    assert plain < -1
    assert centred > 0
    assert shifted > 0
    assert same == pytest.approx(centred, abs=1e-9)


def test_rows_are_methods_with_a_kernel_and_the_bound_of_rounding() -> None:
    built = DIAGNOSTICS["smallest-eigenvalues"]()
    rows = built.numbers(DiagnosticArrays("base", computed())).rows
    assert len(rows) == 2 * (4 + 1)
    assert {row.estimate.n for row in rows} == {len(KEPT)}
    assert [row.estimate.value for row in rows if row.cell == "rounding"] == [1e-6, 1e-6]


def test_fewer_documents_are_drawn_by_seed() -> None:
    one, again, other = (computed(5, part="", seed=seed) for seed in (0, 0, 1))
    for name in one.keys() - {"documents"}:
        np.testing.assert_array_equal(one[name], again[name])
        assert (one[name] != other[name]).any()
    assert int(one["documents"]) == 5


def test_a_part_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="no part 'dev', but old, new"):
        computed(part="dev")
