"""Every registered kernel with parameters and normalizations to test it at, and what its values must be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.special import eval_gegenbauer
from sklearn.preprocessing import normalize

from benchmark.kernels import KERNELS as REGISTRY
from benchmark.kernels import Kernel
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

#: Those that are elementwise functions of inner products.
KERNELS = {name: cls for name, cls in REGISTRY.items() if issubclass(cls, Kernel)}

EPS = np.finfo(np.float64).eps
VOCABULARY = 12

#: The parameters each kernel is tested at; one that isn't named here is tested at its defaults.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "polynomial": [{"degree": 2, "c": 1.0}, {"degree": 5, "c": 0.0}],
    "rbf": [{"sigma": 0.7}],
    "sigmoid": [{"kappa": 0.4, "theta": -0.3}],
    "ngd": [{"shift": 0.0}, {"shift": math.pi}],
    "ngd-e": [{"t": 0.3}],
    "diffusion": [{"t": 0.3}],
    "heat": [{"t": 0.3}, {"t": 2.0}],
    "probability-product": [{"rho": 0.3}, {"rho": 0.5}, {"rho": 1.0}, {"rho": 2.0}],
    "cpd-power": [{"base": "ned", "beta": 0.4}, {"base": "ngd", "beta": 0.7}],
    "cpd-log": [{"base": "ned"}, {"base": "ngd"}],
}


@dataclass(frozen=True)
class Geometry:
    """What the formulas of the papers are made of, for each pair of points, with the error it may have.

    Parameters
    ----------
    inner, squared_distance : float arrays, shape (m, n)
        <x,x'> and ||x-x'||², the latter from the differences: nothing cancels in it.
    power : function of p
        Σ x_i^p x'_i^p.
    n_coordinates : int
        V.
    """

    inner: Matrix
    squared_distance: Matrix
    power: Callable[[float], Matrix]
    n_coordinates: int


def _power(params: Mapping[str, Any], g: Geometry) -> Matrix:
    return -((-FORMULAS[params["base"]]({}, g)) ** params["beta"])


def _angle(g: Geometry) -> Matrix:
    return np.arccos(np.clip(g.power(0.5), 0, 1))


def _heat(params: Mapping[str, Any], g: Geometry) -> Matrix:
    """The series of the sphere S^n, n = V - 1 ≥ 2, of radius 2, divided by its value at s = 1.

    Σ_l d_l exp(-l(l+n-1) t/4) C_l^λ(s)/C_l^λ(1), λ = (n-1)/2, where d_l is the number of spherical harmonics of
    degree l: that of homogeneous polynomials of degree l less that of those of degree l-2. At the times tested here
    terms above 60 weigh nothing, and the sum is above 1e-4 of its largest value: few digits cancel.
    """
    n = g.n_coordinates - 1
    degrees = np.arange(60)
    harmonics = [math.comb(n + d, n) - (math.comb(n + d - 2, n) if d > 1 else 0) for d in range(60)]
    weights = np.array(harmonics) * np.exp(-degrees * (degrees + n - 1) * params["t"] / 4)
    s = np.clip(g.power(0.5), 0, 1)[..., None]
    order = (n - 1) / 2
    zonal = eval_gegenbauer(degrees, order, s) / eval_gegenbauer(degrees, order, 1.0)
    return np.asarray((weights * zonal).sum(axis=-1) / weights.sum())


#: The relative error that a kernel tabulated by interpolation promises, beside that of elementary functions.
INTERPOLATION = {"heat": 1e-12}
#: The papers' formulas, each increasing in the inner products and decreasing in the distance.
FORMULAS: dict[str, Callable[[Mapping[str, Any], Geometry], Matrix]] = {
    "linear": lambda _, g: g.inner,
    "polynomial": lambda p, g: (np.maximum(g.inner, 0) + p["c"]) ** p["degree"],
    "rbf": lambda p, g: np.exp(-g.squared_distance / (2 * p["sigma"] ** 2)),
    "sigmoid": lambda p, g: np.tanh(p["kappa"] * g.inner + p["theta"]),
    "ned": lambda _, g: -np.sqrt(g.squared_distance),
    "ngd": lambda p, g: -2 * _angle(g) + p.get("shift", 0.0),
    "ngd-e": lambda p, g: np.exp(-_angle(g) / p["t"]),
    "diffusion": lambda p, g: np.exp(-(_angle(g) ** 2) / p["t"]),
    "heat": _heat,
    "bhattacharyya": lambda _, g: g.power(0.5),
    "probability-product": lambda p, g: g.power(p["rho"]),
    "cpd-power": _power,
    "cpd-log": lambda p, g: -np.log(1 - FORMULAS[p["base"]]({}, g)),
}


@dataclass(frozen=True)
class Case:
    """A kernel at given parameters, and a normalization it is defined for."""

    name: str
    params: dict[str, Any]
    normalization: str

    def __str__(self) -> str:
        values = [f"{value:.3g}" if isinstance(value, float) else str(value) for value in self.params.values()]
        return "-".join([self.name, *values, self.normalization])

    def build(self) -> Kernel:
        """A fresh kernel."""
        return KERNELS[self.name](**self.params)

    def points(self, counts: NDArray[Any]) -> Matrix:
        """Counts, normalized; rows without terms stay zero."""
        if self.normalization == "none":
            return np.asarray(counts, dtype=np.float64)
        return np.asarray(normalize(np.asarray(counts, dtype=np.float64), self.normalization))

    def bounds(self, X: Matrix, Y: Matrix) -> tuple[Matrix, Matrix]:
        """The smallest and the largest values that rounding can lead to.

        A sum of V products of numbers ≥ 0 has a relative error below V·eps; to this come a few eps for the powers
        and norms of its factors (V·eps each for two norms). ||x-x'||² from the inner products has that error
        relative to their sum. A formula only increases with them, so its values at the two ends enclose the true
        one, however steep it is in between (the root and the arc cosine have infinite slope at distance 0).
        """
        relative = (3 * X.shape[1] + 16) * EPS
        inner = X @ Y.T
        squared_distance = ((X[:, None] - Y[None]) ** 2).sum(axis=2)
        total = (X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1) + 2 * inner

        def geometry(sign: int) -> Geometry:
            return Geometry(
                inner * (1 + sign * relative),
                np.maximum(squared_distance - sign * relative * total, 0),
                lambda p: (X**p @ (Y**p).T) * (1 + sign * relative),
                X.shape[1],
            )

        low, high = (np.asarray(FORMULAS[self.name](self.params, geometry(sign))) for sign in (-1, 1))
        # The formula's own elementary functions, one after another: under 8 roundings of numbers up to 1 + |value|.
        largest = np.maximum(np.abs(low), np.abs(high))
        slack = 8 * EPS * (1 + largest) + INTERPOLATION.get(self.name, 0.0) * largest
        return low - slack, high + slack


CASES = [
    Case(name, params, normalization)
    for name, cls in KERNELS.items()
    for params in VARIANTS.get(name, [{}])
    for normalization in tags_of(cls(**params)).normalizations
]
#: Only Σα = 0 makes their quadratic form positive.
CONDITIONALLY_POSITIVE = {"ned", "ngd", "cpd-power", "cpd-log"}
#: Kernels in use although some parameters, or some points, give them negative eigenvalues.
INDEFINITE = {"sigmoid", "diffusion"}


def sparse_forms(dense: Matrix) -> dict[str, Any]:
    """Give the same matrix in every form a caller may have it in."""
    csr = sp.csr_array(dense)
    rows = csr.tocoo()
    backwards = np.lexsort((-rows.col, rows.row))
    unsorted = sp.csr_array((rows.data[backwards], rows.col[backwards], csr.indptr), shape=csr.shape)
    # Halves of a float add up to it exactly.
    halves = sp.csr_array((np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), csr.indptr * 2), shape=csr.shape)
    n, width = dense.shape
    explicit_zeros = sp.csr_array(
        (dense.ravel().copy(), np.tile(np.arange(width), n), np.arange(n + 1) * width), shape=csr.shape
    )
    return {
        "csr": csr,
        "matrix": sp.csr_matrix(dense),
        "csc": sp.csc_array(dense),
        "coo": sp.coo_array(dense),
        "unsorted": unsorted,
        "duplicates": halves,
        "explicit zeros": explicit_zeros,
        "list": dense.tolist(),
    }
