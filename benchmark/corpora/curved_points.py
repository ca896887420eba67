"""Generate two interleaved classes of points, on the 2-simplex or on the half plane of normal distributions.

Both classes are mixtures with known densities, so that the Bayes-optimal boundary is known (`log_odds`). All random
numbers are raw doubles of PCG64, mapped by inverse distribution functions: numpy keeps that stream stable, and the
first n points are the same however many are drawn.

A point is a document whose terms are its coordinates. A grid over the whole space is tested for pictures of decision
regions; a grid point belongs to the class that is likelier there.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaincinv, gammaln, logsumexp, ndtr, ndtri

from benchmark.corpora.corpus import Documents
from benchmark.corpora.reader import CorpusReader
from benchmark.corpora.user.counts_folder import CountsCorpus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.corpora.archive import CorpusSource

    Array = NDArray[np.float64]
    Labels = NDArray[np.int8]

#: Coordinates of a point: θ_1, θ_2, θ_3 with sum 1; or the mean μ and the standard deviation σ > 0.
COORDINATE_NAMES = {"simplex": ("θ₁", "θ₂", "θ₃"), "half-plane": ("mean μ", "standard deviation σ")}
SPACES = tuple(COORDINATE_NAMES)

#: Dirichlet parameters of each class's components. In the first class the third outcome is either rare or frequent, in
#: the second in between: one border of the second class lies inside the simplex, the other close along an edge.
DIRICHLET = (((2.0, 2.0, 0.25), (2.5, 2.5, 9.0)), ((4.0, 4.0, 3.0), (4.0, 4.0, 3.0)))
#: Means of each class's components, in turn along the line, and the deviation of μ around them in units of σ: the
#: smaller the variance, the better the mean is known.
MEANS = ((0.2, 0.65), (0.4, 0.85))
SPREAD = 0.25
#: σ is log-uniform here, which is uniform along vertical geodesics; μ is cut to [0, 1]. The paper's axes are 0 to 1.
DEVIATIONS = (0.03, 1.0)
#: Smaller coordinates of the simplex are rounding errors.
MIN_COORDINATE = 1e-12


#: Smallest σ of the grid, below all drawn ones; σ = 0 is infinitely far away.
MIN_GRID_SIGMA = 0.01
POINT_PARTS = ("train", "test", "grid")
POINT_CLASSES = ("class 1", "class 2")


@dataclass(frozen=True)
class CurvedPoints(CorpusReader):
    """Points of two classes on a curved space: drawn training and test points, and a grid.

    Parameters
    ----------
    space : {"simplex", "half-plane"}
        Trinomials θ; or normals by their mean μ and standard deviation σ.
    train, test : int
        Numbers of training and test points, half of them of either class.
    resolution : int
        Steps of the grid along an edge of the space.
    seed : int
        Seed of the drawn points.
    """

    space: str = "simplex"
    train: int = 120
    test: int = 2000
    resolution: int = 160
    seed: int = 1

    name: ClassVar[str] = "curved-points"

    def check(self) -> None:
        """Raise ValueError if a parameter is outside its range."""
        if self.space not in SPACES:
            raise ValueError(f"unknown space {self.space!r}; one of {', '.join(SPACES)}")
        if min(self.train - 4, self.test - 2, self.resolution - 1, self.seed) < 0:
            raise ValueError("train must be at least 4, test 2, resolution 1, and seed 0")

    @cache  # noqa: B019 - a run has a few
    def outline(self) -> Documents:
        """Return the points, without their coordinates."""
        drawn = [np.arange(size) % 2 for size in (self.train, self.test)]
        labels = [*drawn, log_odds(self.space, grid_points(self.space, self.resolution)) < 0]
        sizes = [len(part) for part in labels]
        ids = tuple(f"{group}-{row + 1}" for group, n in zip(POINT_PARTS, sizes, strict=True) for row in range(n))
        parts = np.repeat(np.arange(len(POINT_PARTS)), sizes).astype(np.int32)
        return Documents(ids, np.concatenate(labels).astype(np.int32), parts, POINT_CLASSES, POINT_PARTS)

    def content(self, source: CorpusSource) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the parameters, which decide the points."""
        return asdict(self)

    def load(self, source: CorpusSource) -> CountsCorpus:  # type: ignore[override]  # noqa: ARG002
        """Return the points, with their coordinates as counts."""
        samples = draw_points(self.space, self.train, self.test, self.seed)
        coordinates = np.vstack([samples.points, samples.test_points, grid_points(self.space, self.resolution)])
        matrix, terms = sp.csr_array(coordinates), COORDINATE_NAMES[self.space]
        digest = hashlib.sha256(np.ascontiguousarray(coordinates).tobytes()).hexdigest()
        blocks = np.zeros(len(terms), dtype=np.int32)
        return CountsCorpus(self.name, self.outline(), matrix, terms, digest, ("all",), blocks)


class LabelledPoints(NamedTuple):
    """Labelled training and test points.

    Parameters
    ----------
    points, test_points : float64 arrays, shapes (n, d) and (n_test, d)
        d = 3: θ_1, θ_2, θ_3; d = 2: μ, σ.
    labels, test_labels : int8 arrays, shapes (n,) and (n_test,)
        0 for the first class, 1 for the second.
    """

    points: Array
    labels: Labels
    test_points: Array
    test_labels: Labels


def draw_points(space: str, n: int = 120, n_test: int = 2000, seed: int = 1) -> LabelledPoints:
    """Draw `n` ≥ 2 training and `n_test` ≥ 2 test points of a space, half of them of either class.

    Examples
    --------
    >>> draw_points("half-plane", n=4, n_test=2).labels
    array([0, 1, 0, 1], dtype=int8)
    """
    train, test = (_labelled(space, size, [seed, SPACES.index(space), part]) for part, size in enumerate((n, n_test)))
    return LabelledPoints(*train, *test)


def grid_points(space: str, resolution: int) -> Array:
    """Return a grid of points, shape (m, d): over the simplex with its edges; or over 0 ≤ μ ≤ 1, 0.01 ≤ σ ≤ 1.

    `resolution` is the number of steps along an edge.

    Examples
    --------
    >>> grid_points("simplex", 1)
    array([[0., 0., 1.],
           [0., 1., 0.],
           [1., 0., 0.]])
    """
    if space == "half-plane":
        steps = np.linspace(0.0, 1.0, resolution + 1)
        mu, sigma = np.meshgrid(steps, MIN_GRID_SIGMA + (1 - MIN_GRID_SIGMA) * steps)
        return np.column_stack([mu.ravel(), sigma.ravel()])
    i, j = np.indices((resolution + 1, resolution + 1)).reshape(2, -1)
    inside = i + j <= resolution
    i, j = i[inside], j[inside]
    return np.column_stack([i, j, resolution - i - j]) / resolution


def log_odds(space: str, points: Array) -> Array:
    """Compute log p(x | first class) - log p(x | second class) of points, shape (m, d); return shape (m,).

    The boundary with the fewest errors is at 0.
    """
    log_density = {"simplex": _log_dirichlet, "half-plane": _log_normal}[space]
    first, second = (logsumexp([log_density(points, c, k) for k in (0, 1)], axis=0) for c in (0, 1))
    return np.asarray(first - second)


def _labelled(space: str, size: int, seed: list[int]) -> tuple[Array, Labels]:
    """Draw points and labels; classes alternate, and within a class its components."""
    generator = {"simplex": _dirichlet_points, "half-plane": _normal_points}[space]
    index = np.arange(size)
    label, component = index % 2, index // 2 % 2
    uniform = np.random.default_rng(seed).random((size, len(COORDINATE_NAMES[space])))
    return generator(uniform, label, component), label.astype(np.int8)


def _dirichlet_points(uniform: Array, label: NDArray[np.intp], component: NDArray[np.intp]) -> Array:
    """Draw Dirichlet points: gamma variables divided by their sum."""
    gamma = np.maximum(gammaincinv(np.array(DIRICHLET)[label, component], uniform), MIN_COORDINATE)
    return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))


def _log_dirichlet(theta: Array, label: int, component: int) -> Array:
    alpha = np.array(DIRICHLET[label][component])
    constant = gammaln(alpha.sum()) - gammaln(alpha).sum()
    return np.asarray(constant + np.log(np.maximum(theta, MIN_COORDINATE)) @ (alpha - 1))


def _normal_points(uniform: Array, label: NDArray[np.intp], component: NDArray[np.intp]) -> Array:
    """Draw (μ, σ) with log σ uniform and μ | σ normal around the component's mean, truncated to [0, 1]."""
    low, high = np.log(DEVIATIONS)
    sigma = np.exp(low + uniform[:, 1] * (high - low))
    mean, scale = np.array(MEANS)[label, component], SPREAD * sigma
    below, above = ndtr(-mean / scale), ndtr((1 - mean) / scale)
    mu = mean + scale * ndtri(below + uniform[:, 0] * (above - below))
    return np.column_stack([np.clip(mu, 0.0, 1.0), sigma])


def _log_normal(points: Array, label: int, component: int) -> Array:
    """Compute log p(μ | σ); the density of σ is the same in all components."""
    mean, scale = MEANS[label][component], SPREAD * points[:, 1]
    # P(0 ≤ μ ≤ 1) from the two tails outside it, each less than half.
    inside = np.log1p(-ndtr(-mean / scale) - ndtr((mean - 1) / scale))
    return np.asarray(-0.5 * ((points[:, 0] - mean) / scale) ** 2 - np.log(scale) - inside)
