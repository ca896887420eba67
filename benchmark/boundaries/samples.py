"""Generates two interleaved classes of points, on the 2-simplex or on the half plane of normal distributions.

Both classes are mixtures with known densities, so that the best possible boundary is known too (`log_odds`). All
randomness is raw doubles of PCG64 put through inverse distribution functions: numpy keeps that stream stable, and the
first n points are the same however many are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaincinv, gammaln, logsumexp, ndtr, ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Labels = NDArray[np.int8]

#: Coordinates of a point: θ_1, θ_2, θ_3 with sum 1; or the mean μ and the standard deviation σ > 0.
COORDINATES = {"simplex": 3, "half-plane": 2}
SPACES = tuple(COORDINATES)

#: Dirichlet parameters of each class's components. The first class has the third outcome almost never or mostly, the
#: second sometimes: one border of the second lies inside the simplex, the other close along an edge.
DIRICHLET = (((2.0, 2.0, 0.25), (2.5, 2.5, 9.0)), ((4.0, 4.0, 3.0), (4.0, 4.0, 3.0)))
#: Means of each class's components, in turn along the line, and the deviation of μ around them in units of σ: the less
#: the variance, the better the mean is known.
MEANS = ((0.2, 0.65), (0.4, 0.85))
SPREAD = 0.25
#: σ is log-uniform here, which is uniform along vertical geodesics; μ is cut to [0, 1]. The paper's axes are 0 to 1.
DEVIATIONS = (0.03, 1.0)
#: Below this a coordinate of the simplex is rounding.
SMALLEST = 1e-12


@dataclass(frozen=True, eq=False)
class Samples:
    """Labelled points to train and to test on.

    Parameters
    ----------
    space : {"simplex", "half-plane"}
    points, test_points : float64 arrays, shapes (n, d) and (n_test, d)
        d = 3: θ_1, θ_2, θ_3; d = 2: μ, σ.
    labels, test_labels : int8 arrays, shapes (n,) and (n_test,)
        0 is the first class, 1 the second.

    Raises
    ------
    ValueError
        If a point lies outside the space, or labels and points don't belong together.
    """

    space: str
    points: Array
    labels: Labels
    test_points: Array
    test_labels: Labels

    def __post_init__(self) -> None:
        for points, labels in ((self.points, self.labels), (self.test_points, self.test_labels)):
            check_points(self.space, points)
            if len(points) != len(labels) or not np.isin(labels, (0, 1)).all():
                raise ValueError(f"{len(points)} points need as many labels, 0 or 1, not {len(labels)}")


def draw(space: str, n: int = 120, n_test: int = 2000, seed: int = 1) -> Samples:
    """Draw `n` ≥ 2 training and `n_test` ≥ 2 test points of a space, half of them of either class.

    Examples
    --------
    >>> draw("half-plane", n=4, n_test=2).labels
    array([0, 1, 0, 1], dtype=int8)
    """
    check_space(space)
    if n < 2 or n_test < 2:
        raise ValueError(f"there must be at least 2 training and 2 test points, not {n} and {n_test}")
    train, test = (_labelled(space, size, [seed, SPACES.index(space), part]) for part, size in enumerate((n, n_test)))
    return Samples(space, *train, *test)


def log_odds(space: str, points: Array) -> Array:
    """Log p(x | first class) - log p(x | second class) of points, shape (m, d): shape (m,).

    At 0 lies the boundary with the fewest errors.

    Raises
    ------
    ValueError
        If a point lies outside the space, or where neither class has any: μ outside [0, 1].
    """
    check_points(space, points)
    if space == "half-plane" and not ((points[:, 0] >= 0) & (points[:, 0] <= 1) & (points[:, 1] >= 1e-6)).all():
        raise ValueError("points of both classes have 0 ≤ μ ≤ 1 (and a standard deviation of at least 1e-6)")
    log_density = {"simplex": _log_dirichlet, "half-plane": _log_normal}[space]
    first, second = (logsumexp([log_density(points, c, k) for k in (0, 1)], axis=0) for c in (0, 1))
    return np.asarray(first - second)


def check_space(space: str) -> None:
    """Raise ValueError unless `space` is one of `SPACES`."""
    if space not in COORDINATES:
        raise ValueError(f"unknown space {space!r}; one of {', '.join(SPACES)}")


def check_points(space: str, points: Array) -> None:
    """Raise ValueError unless `points` is an array of points of `space`, shape (m, d)."""
    check_space(space)
    if points.ndim != 2 or points.shape[1] != COORDINATES[space]:
        raise ValueError(f"points of the {space} have shape (m, {COORDINATES[space]}), not {points.shape}")
    if not np.isfinite(points).all():
        raise ValueError(f"points of the {space} must be finite numbers")
    if space == "simplex" and not ((points >= 0).all() and np.allclose(points.sum(axis=1), 1.0, rtol=0, atol=1e-9)):
        raise ValueError("points of the simplex have coordinates that aren't negative and sum to 1")
    if space == "half-plane" and not (points[:, 1] > 0).all():
        raise ValueError("points of the half plane have a positive standard deviation")


def _labelled(space: str, size: int, seed: list[int]) -> tuple[Array, Labels]:
    """Points and labels; classes take turns, and in each class its components."""
    generator = {"simplex": _dirichlet_points, "half-plane": _normal_points}[space]
    index = np.arange(size)
    label, component = index % 2, index // 2 % 2
    uniform = np.random.default_rng(seed).random((size, COORDINATES[space]))
    return generator(uniform, label, component), label.astype(np.int8)


def _dirichlet_points(uniform: Array, label: NDArray[np.intp], component: NDArray[np.intp]) -> Array:
    """Gamma variables, divided by their sum."""
    gamma = np.maximum(gammaincinv(np.array(DIRICHLET)[label, component], uniform), SMALLEST)
    return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))


def _log_dirichlet(theta: Array, label: int, component: int) -> Array:
    alpha = np.array(DIRICHLET[label][component])
    constant = gammaln(alpha.sum()) - gammaln(alpha).sum()
    return np.asarray(constant + np.log(np.maximum(theta, SMALLEST)) @ (alpha - 1))


def _normal_points(uniform: Array, label: NDArray[np.intp], component: NDArray[np.intp]) -> Array:
    """(μ, σ) with log σ uniform and μ | σ normal around the component's mean, cut to [0, 1]."""
    low, high = np.log(DEVIATIONS)
    sigma = np.exp(low + uniform[:, 1] * (high - low))
    mean, scale = np.array(MEANS)[label, component], SPREAD * sigma
    below, above = ndtr(-mean / scale), ndtr((1 - mean) / scale)
    mu = mean + scale * ndtri(below + uniform[:, 0] * (above - below))
    return np.column_stack([np.clip(mu, 0.0, 1.0), sigma])


def _log_normal(points: Array, label: int, component: int) -> Array:
    """Log p(μ | σ); the density of σ is the same in all components."""
    mean, scale = MEANS[label][component], SPREAD * points[:, 1]
    # P(0 ≤ μ ≤ 1) from what is cut off at either end, which is less than half.
    inside = np.log1p(-ndtr(-mean / scale) - ndtr((mean - 1) / scale))
    return np.asarray(-0.5 * ((points[:, 0] - mean) / scale) ** 2 - np.log(scale) - inside)
