"""Symmetric-KL centroid as the limit of a discrete 2-Wasserstein gradient flow on a graph of words (chen2018).

Words are nodes, and mass flows along edges from larger F to smaller (Chen et al. 2018, section III):

    dρ_i/dt + Σ_{j∈N(i)} g_ij(ρ) (F_i(ρ) - F_j(ρ)) = 0,    g_ij = ρ_i if F_i > F_j, else ρ_j.

On a path of thousands of words the equation is stiff: neighbours equalize within about 1e-5 units of time, the ends of
the path within 1e10 or more. The time steps are therefore implicit in F, with the weights g of the step's start,

    ρ' = ρ - τ L_g F(ρ'),    L_g the graph's Laplacian with weights g,

whose solution minimizes the convex function E(ρ') + 1/(2τ) Σ_edges m²/g of the masses m moved along the edges. So the
energy E never rises and ρ stays positive for every step τ. The step size is controlled by the local error.

E and F are means over the class's documents here and sums in the paper. The paper's time is the time here divided by
the number of documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.classifiers.centroids.divergence import mean_skl, mean_skl_gradient
from benchmark.classifiers.centroids.graph_solvers import connected_graph, solve_laplacian
from benchmark.system.checks import check_positive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from benchmark.classifiers.centroids.divergence import ClassStatistics
    from benchmark.classifiers.centroids.graph_solvers import WordGraph

    Array = NDArray[np.float64]
    Indices = NDArray[np.int64]

#: Newton's iteration ends when no probability changes by more than this fraction: the next change would be its square.
_NEWTON_TOLERANCE = 1e-8
_NEWTON_ITERATIONS = 40
#: A Newton step reduces a probability by at most this fraction.
_LARGEST_DROP = 0.9
#: Bounds of the ratio of a step to the previous one, and the safety factor on the allowed error.
_SHRINK, _GROW, _SAFETY = 0.2, 5.0, 0.9
_SMALLEST_STEP = 1e-250
#: Tolerance when two energies of about 1 nat are compared.
_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class FlowResult:
    """Result of a flow.

    Parameters
    ----------
    centroid : float64 array, shape (V,)
        Positive, sums to 1.
    times, energies, masses : float64 arrays, shape (steps + 1,)
        Time, mean SKL to the documents in nats, and Σρ, at the start and after each step.
    gap : float
        Upper bound of the difference of the last energy and the minimum, in nats.
    """

    centroid: Array
    times: Array
    energies: Array
    masses: Array
    gap: float


def path_edges(order: ArrayLike) -> Indices:
    """Return the edges of the path through the words in this order, shape (V - 1, 2); the paper's is ``range(V)``."""
    words = np.asarray(order)
    if words.ndim != 1 or not np.issubdtype(words.dtype, np.integer) or len(np.unique(words)) < len(words):
        raise ValueError("a path's order must list word numbers, each once")
    return np.stack([words[:-1], words[1:]], axis=1).astype(np.int64)


def flow_velocity(statistics: ClassStatistics, rho: ArrayLike, edges: ArrayLike) -> Array:
    """Compute dρ/dt of the gradient flow, shape (V,): the right-hand side that `gradient_flow` integrates.

    Parameters
    ----------
    statistics : ClassStatistics
    rho : float64 array, shape (V,)
        Positive.
    edges : int array, shape (E, 2)
    """
    rho = np.asarray(rho, dtype=np.float64)
    potential = mean_skl_gradient(statistics, rho)
    first, second = _checked_edges(edges, len(rho)).T
    flux = _upwind(rho, potential, first, second) * (potential[first] - potential[second])
    return np.asarray(np.bincount(second, flux, len(rho)) - np.bincount(first, flux, len(rho)))


def energy_gap(statistics: ClassStatistics, rho: ArrayLike) -> float:
    """Compute an upper bound of E(ρ) - min E on the simplex, in nats: Σ_i ρ_i F_i - min_i F_i, as E is convex."""
    rho = np.asarray(rho, dtype=np.float64)
    potential = mean_skl_gradient(statistics, rho)
    return float((rho * (potential - potential.min())).sum())


def gradient_flow(
    statistics: ClassStatistics,
    edges: ArrayLike | None = None,
    *,
    start: ArrayLike | None = None,
    tolerance: float = 1e-9,
    accuracy: float = 1e-2,
    max_steps: int = 2_000,
) -> FlowResult:
    """Follow the gradient flow of the energy until the energy is at most `tolerance` above its minimum.

    Parameters
    ----------
    statistics : ClassStatistics
    edges : int array, shape (E, 2), optional
        Pairs of words; the graph must be connected. The path 0, 1, …, V-1 by default. A step on a path or any other
        tree costs O(V); on other graphs it needs a sparse factorization, whose cost grows with the number of cycles.
    start : float64 array, shape (V,), optional
        A positive distribution; the arithmetic mean by default.
    tolerance : float
        Upper limit of `energy_gap`, in nats.
    accuracy : float
        Allowed local error of a step, in probability mass (Σ|error|). The limit of the flow doesn't depend on it.
    max_steps : int
        Largest number of steps.

    Raises
    ------
    ValueError
        If the edges or the start don't fit the words, the graph isn't connected, or a parameter is out of range.
    RuntimeError
        If `max_steps` don't suffice, or no step makes progress because the tolerance is below rounding errors. The
        latter can happen on graphs with cycles, where the factorization loses digits, for a smoothing of 1e-12 or less.

    References
    ----------
    chen2018, section III.
    """
    v = len(statistics.mean)
    _check_parameters(tolerance, accuracy, max_steps)
    graph = connected_graph(path_edges(np.arange(v)) if edges is None else _checked_edges(edges, v), v)
    rho = statistics.mean.copy() if start is None else _checked_start(start, v)
    before = flow_velocity(statistics, rho, graph.edges)
    moving = np.abs(before).sum()
    tau = accuracy / moving if moving > 0 else 1.0
    times, energies, masses = [0.0], [mean_skl(statistics, rho)], [float(rho.sum())]
    gap = energy_gap(statistics, rho)
    while gap > tolerance:
        if len(times) > max_steps:
            msg = f"after {max_steps} steps of the flow the energy may still be {gap:.3g} above its minimum"
            raise RuntimeError(msg)
        new = _implicit_step(statistics, graph, rho, tau)
        ratio = _SHRINK
        if new is not None:
            speed = (new - rho) / tau
            error = 0.5 * tau * np.abs(speed - before).sum()
            energy = mean_skl(statistics, new)
            # The scheme never raises the energy; a rise beyond rounding means that Newton's iteration stopped early.
            if energy - energies[-1] <= _ROUNDING * max(1.0, abs(energy)):
                ratio = min(_GROW, max(_SHRINK, _SAFETY * np.sqrt(accuracy / max(error, 1e-300))))
                if error <= accuracy:
                    rho, before = new, speed
                    times.append(times[-1] + tau)
                    energies.append(energy)
                    masses.append(float(rho.sum()))
                    gap = energy_gap(statistics, rho)
        tau *= ratio
        if not _SMALLEST_STEP < tau < 1 / _SMALLEST_STEP:
            msg = f"rounding errors stop the flow at an energy that may be {gap:.3g} above its minimum"
            raise RuntimeError(msg)
    return FlowResult(rho, np.array(times), np.array(energies), np.array(masses), gap)


def _upwind(rho: Array, potential: Array, first: Indices, second: Indices) -> Array:
    """Return g_ij of the edges: the probability at the end with the larger potential."""
    return np.where(potential[first] > potential[second], rho[first], rho[second])


def _implicit_step(statistics: ClassStatistics, graph: WordGraph, start: Array, tau: float) -> Array | None:
    """Solve ρ + τ L_g F(ρ) = start, with g of the start, by Newton's method; return None if it doesn't converge.

    With D the diagonal of ∂F_i/∂ρ_i, an iteration replaces F by its linearization ψ = F + D δρ and solves
    (1/D + τ L_g) ψ = F/D + start - ρ. The right-hand side doesn't contain τ, however stiff the equation.
    """
    a = statistics.mean
    first, second = graph.edges[:, 0], graph.edges[:, 1]
    weights = tau * _upwind(start, mean_skl_gradient(statistics, start), first, second)
    rho = start
    for _ in range(_NEWTON_ITERATIONS):
        inverse = rho * rho / (a + rho)
        potential = mean_skl_gradient(statistics, rho)
        # L_g maps constants to 0; without the constant part, rounding errors are smaller.
        potential -= (inverse * potential).sum() / inverse.sum()
        change = inverse * (solve_laplacian(graph, inverse, weights, inverse * potential + start - rho) - potential)
        # In exact arithmetic Σρ stays 1; the constant part of ψ corrects the rounding error of Σρ.
        change += inverse * ((1.0 - rho.sum() - change.sum()) / inverse.sum())
        relative = change / rho
        if not np.isfinite(relative).all():
            return None
        rho = np.asarray(rho + min(1.0, _LARGEST_DROP / max(-relative.min(), 1e-300)) * change)
        if np.abs(relative).max() <= _NEWTON_TOLERANCE:
            return rho
    return None


def _check_parameters(tolerance: float, accuracy: float, max_steps: int) -> None:
    check_positive("tolerance", tolerance)
    check_positive("accuracy", accuracy)
    if not max_steps >= 1:
        raise ValueError(f"max_steps must be at least 1, not {max_steps}")


def _checked_edges(edges: ArrayLike, v: int) -> Indices:
    array = np.asarray(edges)
    if array.size == 0:
        array = np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        msg = f"edges must be an array of whole numbers of shape (E, 2), not of {array.dtype} and shape {array.shape}"
        raise ValueError(msg)
    if array.size and not (array.min() >= 0 and array.max() < v):
        raise ValueError(f"edges must join words 0 to {v - 1}, but they range from {array.min()} to {array.max()}")
    pairs = np.sort(array.astype(np.int64), axis=1)
    if (pairs[:, 0] == pairs[:, 1]).any() or len(np.unique(pairs, axis=0)) < len(pairs):
        raise ValueError("edges must join two different words, each pair at most once")
    return pairs


def _checked_start(start: Any, v: int) -> Array:
    rho = np.array(start, dtype=np.float64)
    if rho.shape != (v,) or not (np.isfinite(rho).all() and (rho > 0).all()) or abs(rho.sum() - 1) > 1e-9:
        raise ValueError(f"the start must be a distribution of {v} positive probabilities that sum to 1")
    return np.asarray(rho / rho.sum())
