"""TOP features of hyperplane values in factored form, and the Gaussians that they derive from (Takamura et al. 2004).

The features are the log-odds v (see `benchmark.kernels.hp_top`) and all its partial derivatives (equations 8,
10). The derivatives follow from

    ∂v / ∂ log(P(x) q(d|x)) = 1 for x = c, and -r_x(d) for the others, r_e = P(e) q(d|e) / Σ_{e'≠c} P(e') q(d|e'),

times the derivative of log(P(x) q(d|x)) by a parameter of x. The derivative by w_xi has the factor d_i (equations 38,
39), so the |V|·k features by w have the inner product (Σ_x slope_x(d) slope_x(d')) <d, d'> (equation 45) and are never
stored: a Gram matrix is a matrix of low rank plus an elementwise product with the linear Gram matrix.

The paper has three misprints: equation 20 calls the variance σ_x, equation 33 omits b from f, and equation 43 has
P(d|e) for q(d|e). The derivatives (34)-(43) are correct for v with free P(x), not constrained to sum to 1.

As in the paper, features are not normalized, although their scales differ widely: those by w and b are divided by σ_x²,
while v and those by θ_2 are quadratic in f. The inner product over P includes the constant 1/P(c)², which has no effect
on an SVM with an offset.

"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.special import logsumexp

from benchmark.system.row_blocks import largest_magnitude

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.classifiers.libsvm import BinarySvm
    from benchmark.system.arrays import Array


#: Values of one category that differ by less than this, relative to their size, differ by rounding only.
_ROUNDING = 1e-12


def sample_moments(values: Array, members: NDArray[np.bool_], categories: Sequence[str]) -> tuple[Array, Array]:
    """Compute mean and variance of each category's values over its members (Takamura et al. 2004, equations 19, 20).

    Parameters
    ----------
    values, members : float64 and bool arrays, shape (n, k)
        Values f, and whether each document is a member of each category.
    categories : sequence of str
        Names for error messages.

    Returns
    -------
    mean, variance : float64 arrays, shape (k,)
        The variance is divided by n, not n - 1.

    Raises
    ------
    ValueError
        If a category has fewer than two documents, or all its values are equal: its density would be a point mass.
    """
    columns = []
    for x, name in enumerate(categories):
        inside = values[members[:, x], x]
        n = len(inside)
        if n < 2:
            raise ValueError(f"the category {name!r} has {n} training documents; a variance needs at least two")
        mean = inside.mean()
        variance = np.mean((inside - mean) ** 2)
        if not np.sqrt(variance) > _ROUNDING * np.abs(inside).max():
            msg = f"all {n} training documents of the category {name!r} lie equally far from its hyperplane"
            raise ValueError(msg)
        columns.append((mean, variance))
    means, variances = np.array(columns).T
    return means, variances


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Gaussian N(f; μ, σ²) of k categories, θ1 = μ/σ², θ2 = -1/2σ² (Takamura et al. 2004, equation 18, appendix B).

    log q = θ1 f + θ2 f² + θ1²/4θ2 - ½ log(-π/θ2)

    Parameters
    ----------
    theta1, theta2 : float64 arrays, shape (k,)
    """

    theta1: Array
    theta2: Array

    @classmethod
    def from_moments(cls, mean: Array, variance: Array) -> Self:
        """Return the Gaussians with these μ and σ²."""
        return cls(mean / variance, -0.5 / variance)

    @property
    def mean(self) -> Array:
        """Mean μ."""
        return -0.5 * self.theta1 / self.theta2

    @property
    def variance(self) -> Array:
        """Variance σ²."""
        return -0.5 / self.theta2

    def log_density(self, f: Array) -> Array:
        """Compute -(f - μ)²/2σ² - ½ log 2πσ², since θ2 f² and θ1²/4θ2 would cancel."""
        return self.theta2 * (f - self.mean) ** 2 - 0.5 * np.log(2 * np.pi * self.variance)

    def slope(self, f: Array) -> Array:
        """Compute (μ - f)/σ² (equation 38)."""
        return (self.mean - f) / self.variance

    def scores(self, f: Array) -> tuple[Array, Array]:
        """Compute the derivatives f - μ by θ1 and f² - μ² - σ² by θ2 (equations 34, 36)."""
        deviation = f - self.mean
        return deviation, deviation * (f + self.mean) - self.variance


@dataclass(frozen=True, eq=False)
class LogJoint:
    """log P(x) q(d|x) of n documents and k categories, with derivatives; none of it depends on a target category.

    Parameters
    ----------
    values : float64 array, shape (n, k)
        log P(x) q(d|x).
    scores : float64 array, shape (p, n, k)
        Derivatives by the density's p parameters.
    slopes : float64 array, shape (n, k)
        Derivatives by f_x; times d_i by w_xi, and negated by b_x.
    priors : float64 array, shape (k,)
        P(x); the derivative by P(x) is 1/P(x).
    """

    values: Array
    scores: Array
    slopes: Array
    priors: Array


@np.errstate(over="ignore", invalid="ignore")  # `top_features` raises if values are not finite
def log_joint(f: Array, component: Gaussian, priors: Array) -> LogJoint:
    """Compute log P(x) q(d|x) and its derivatives at the hyperplanes' values f, shape (n, k)."""
    values = component.log_density(f) + np.log(priors)
    return LogJoint(values, np.array(component.scores(f)), component.slope(f), priors)


@dataclass(frozen=True, eq=False)
class TopFeatures:
    """TOP features of n documents in factored form.

    Parameters
    ----------
    scalars : float64 array, shape (n, 1 + (p + 2) k)
        v, then for all k categories ∂v by each of the density's p parameters, by b and by P.
    slopes : float64 array, shape (n, k)
        ∂v/∂f_x: the feature of w_xi is ``slopes[d, x] * d_i``.
    """

    scalars: Array
    slopes: Array

    def of(self, documents: slice | NDArray[np.intp]) -> TopFeatures:
        """Return the features of some of the documents."""
        return TopFeatures(self.scalars[documents], self.slopes[documents])


@np.errstate(over="ignore", invalid="ignore")
def top_features(joint: LogJoint, target: int) -> TopFeatures:
    """Compute the log-odds v and its derivatives for one target category (equations 34-43).

    The r_e are a softmax of logarithms: far from every hyperplane all q(d|e) underflow to 0, but still Σ r_e = 1.

    Raises
    ------
    ValueError
        If `target` is not the number of a category.
    FloatingPointError
        If a feature is not finite, for documents farther than about 1e150 from a hyperplane.
    """
    k = joint.values.shape[1]
    if not 0 <= target < k:
        raise ValueError(f"target must be the number of one of the {k} categories, 0 to {k - 1}, not {target}")
    others = np.arange(k) != target
    log_negative = logsumexp(joint.values[:, others], axis=1, keepdims=True)
    v = joint.values[:, [target]] - log_negative
    weights = np.ones_like(joint.values)
    weights[:, others] = -np.exp(joint.values[:, others] - log_negative)
    slopes = weights * joint.slopes
    scalars = np.hstack([v, *(weights * joint.scores), -slopes, weights / joint.priors])
    if not (np.isfinite(scalars).all() and np.isfinite(slopes).all()):
        raise FloatingPointError(f"the TOP features for the target category {target} are not all finite numbers")
    return TopFeatures(scalars, slopes)


@dataclass(frozen=True, eq=False)
class TopGram:
    """Gram matrix of the TOP kernel, computed a tile at a time.

    Parameters
    ----------
    rows, columns : TopFeatures
    linear : float64 array, shape (n_rows, n_columns)
        Inner products of the documents' points.
    """

    rows: TopFeatures
    columns: TopFeatures
    linear: Array

    def tile(self, rows: slice, columns: slice) -> Array:
        """Compute kernel values of some rows and columns as a new array; FloatingPointError if one is not finite."""
        left, right = self.rows.of(rows), self.columns.of(columns)
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.asarray(left.slopes @ right.slopes.T)
            values *= self.linear[rows, columns]
            values += left.scalars @ right.scalars.T
        if not np.isfinite(largest_magnitude(values)):
            raise FloatingPointError("the TOP kernel has values that are not finite numbers")
        return values


def top_decision_values(
    machine: BinarySvm, features: TopFeatures, points: sp.csr_array, trained: TopFeatures, trained_points: sp.csr_array
) -> Array:
    """Compute decision values of new documents, shape (n,), without kernel values against the support vectors.

    Σ_s a_s K(d, s) = scalars(d)·Σ_s a_s scalars(s) + Σ_x slope_x(d) d·(Σ_s a_s slope_x(s) s).

    Parameters
    ----------
    machine : BinarySvm
        Trained SVM whose support has row numbers of `trained` and `trained_points`.
    features, points : TopFeatures and CSR array, shape (n, V)
        The new documents.
    trained, trained_points : TopFeatures and CSR array, shape (n_train, V)
        The training documents.
    """
    support = trained.of(machine.support)
    flat = machine.coefficients @ support.scalars
    bent = trained_points[machine.support].T @ (machine.coefficients[:, None] * support.slopes)
    return np.asarray(features.scalars @ flat + (features.slopes * (points @ bent)).sum(axis=1) - machine.rho)
