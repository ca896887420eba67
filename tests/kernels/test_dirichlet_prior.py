"""Smoothed products against the same numbers with every zero written out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.kernels import Diffusion, Linear
from benchmark.kernels.gram import LazyGram, dirichlet_products


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(5)
    dense = rng.poisson(0.4, (30, 50)).astype(np.float64)
    dense[7] = 0.0
    return dense


@pytest.mark.parametrize("smoothing", [1e-6, 0.1, 1.0, 7.5])
@pytest.mark.parametrize("exponent", [1.0, 0.5, 0.3])
def test_equal_the_products_of_dense_frequencies(counts, smoothing, exponent):
    products = dirichlet_products(sp.csr_array(counts), exponent, smoothing)
    sums = (counts + smoothing).sum(axis=1)
    raised = (counts + smoothing) ** exponent
    np.testing.assert_allclose(products.matrix, raised @ raised.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(products.self_products, np.diag(raised @ raised.T), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(products.norms["l1"], sums)


@pytest.mark.parametrize("kernel", [Linear(), Diffusion(t=0.7)])
def test_make_the_gram_matrix_of_the_smoothed_points(counts, kernel):
    products = dirichlet_products(sp.csr_array(counts), kernel.exponent, 0.2)
    everything = np.arange(len(counts))
    found = LazyGram(kernel, products, "l1", everything, everything).block(0, len(counts))
    smoothed = (counts + 0.2) / (counts + 0.2).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, kernel.fit_transform(smoothed), rtol=1e-7, atol=1e-7)


def test_much_smoothing_makes_all_documents_alike(counts):
    products = dirichlet_products(sp.csr_array(counts), 0.5, 1e9)
    scale = products.norms["l1"] ** -0.5
    np.testing.assert_allclose(products.matrix * scale[:, None] * scale, 1.0, rtol=1e-9)
