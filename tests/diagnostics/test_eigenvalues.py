"""Smallest eigenvalues against numpy's, on documents that are all drawn, and of kernels whose definiteness is known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from benchmark.diagnostics import DIAGNOSTICS
from tests.diagnostics.computing import computed, counts_of, values_of

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


def eigenvalues(documents: int = 40, part: str = "old", seed: int = 0) -> dict[str, list[float]]:
    """Return both eigenvalues by method."""
    counts = counts_of(MATRIX, parts=np.repeat([0, 1], 20), part_names=("old", "new"))
    built = DIAGNOSTICS["smallest-eigenvalues"](documents=documents, part=part)
    found = computed(built, counts, seed=seed, methods=METHODS)
    assert {row.estimate.n for row in found.rows} == {min(documents, len(KEPT))}
    values = list(values_of(found).items())
    return {cell: [plain, centred] for ((cell, _), plain), (_, centred) in zip(values[::2], values[1::2], strict=True)}


def test_eigenvalues_are_those_of_the_whole_matrix_and_of_coefficients_that_sum_to_zero() -> None:
    found = eigenvalues()
    assert len(found) == 4 + 1
    assert found["rounding"] == [1e-6, 1e-6]
    theta, unit = normalize(MATRIX[KEPT].astype(float), "l1"), normalize(MATRIX[KEPT].astype(float))
    angle = np.arccos(np.clip(np.sqrt(theta) @ np.sqrt(theta).T, 0, 1))
    grams = {"ngd-shift0": -2 * angle, "rbf": np.exp(unit @ unit.T - 1), "diffusion-t8": np.exp(-(angle**2) / 8)}
    # An orthonormal basis of the vectors whose sum is zero.
    basis = np.linalg.qr(np.column_stack([np.ones(len(KEPT)), np.eye(len(KEPT))[:, 1:]]))[0][:, 1:]
    for name, gram in grams.items():
        (pair,) = (pair for label, pair in found.items() if label.endswith(name))
        expected = [np.linalg.eigvalsh(each)[0] for each in (gram, basis.T @ gram @ basis)]
        np.testing.assert_allclose(pair, expected, rtol=0, atol=1e-6, err_msg=name)


def test_ngd_is_conditionally_definite_and_with_pi_definite() -> None:
    (plain, centred), (shifted, same) = (pair for name, pair in eigenvalues().items() if "ngd" in name)
    assert plain < -1
    assert centred > 0
    assert shifted > 0
    assert same == pytest.approx(centred, abs=1e-9)


def test_a_part_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="no part 'dev', but old, new"):
        eigenvalues(part="dev")
