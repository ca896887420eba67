"""Symmetric-KL centroid as the limit of a discrete 2-Wasserstein gradient flow on the path of all words (chen2018).

Words are nodes, in the order of the vocabulary, and mass flows along edges from larger F to smaller (Chen et al. 2018,
section III):

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
from typing import TYPE_CHECKING

import numpy as np

from benchmark.classifiers.divergence_bayes import mean_skl, mean_skl_gradient
from benchmark.system.numba_jit import compile_lazily

if TYPE_CHECKING:
    from benchmark.classifiers.divergence_bayes import ClassStatistics
    from benchmark.system.arrays import Array


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


def flow_velocity(statistics: ClassStatistics, rho: Array) -> Array:
    """Compute dρ/dt of the gradient flow, shape (V,): the right-hand side that `gradient_flow` integrates."""
    potential = mean_skl_gradient(statistics, rho)
    flux = _upwind(rho, potential) * (potential[:-1] - potential[1:])
    return np.asarray(np.append(0.0, flux) - np.append(flux, 0.0))


def energy_gap(statistics: ClassStatistics, rho: Array) -> float:
    """Compute an upper bound of E(ρ) - min E on the simplex, in nats: Σ_i ρ_i F_i - min_i F_i, as E is convex."""
    potential = mean_skl_gradient(statistics, rho)
    return float((rho * (potential - potential.min())).sum())


def gradient_flow(
    statistics: ClassStatistics, tolerance: float = 1e-9, *, accuracy: float = 1e-2, max_steps: int = 2_000
) -> FlowResult:
    """Follow the gradient flow of the energy from the arithmetic mean, until the energy is near its minimum.

    Parameters
    ----------
    statistics : ClassStatistics
    tolerance : float
        Upper limit of `energy_gap`, in nats.
    accuracy : float
        Allowed local error of a step, in probability mass (Σ|error|). The limit of the flow doesn't depend on it.
    max_steps : int
        Largest number of steps.

    Raises
    ------
    FloatingPointError
        If `max_steps` don't suffice, or no step makes progress because the tolerance is below rounding errors.

    References
    ----------
    chen2018, section III.
    """
    rho = statistics.mean.copy()
    before = flow_velocity(statistics, rho)
    moving = np.abs(before).sum()
    tau = accuracy / moving if moving > 0 else 1.0
    times, energies, masses = [0.0], [mean_skl(statistics, rho)], [float(rho.sum())]
    gap = energy_gap(statistics, rho)
    while gap > tolerance:
        if len(times) > max_steps:
            msg = f"after {max_steps} steps of the flow the energy may still be {gap:.3g} above its minimum"
            raise FloatingPointError(msg)
        new = _implicit_step(statistics, rho, tau)
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
            raise FloatingPointError(msg)
    return FlowResult(rho, np.array(times), np.array(energies), np.array(masses), gap)


def _upwind(rho: Array, potential: Array) -> Array:
    """Return g_ij of the edges of the path: the probability at the end with the larger potential."""
    return np.where(potential[1:] > potential[:-1], rho[1:], rho[:-1])


def _implicit_step(statistics: ClassStatistics, start: Array, tau: float) -> Array | None:
    """Solve ρ + τ L_g F(ρ) = start, with g of the start, by Newton's method; return None if it doesn't converge.

    With D the diagonal of ∂F_i/∂ρ_i, an iteration replaces F by its linearization ψ = F + D δρ and solves
    (1/D + τ L_g) ψ = F/D + start - ρ. The right-hand side doesn't contain τ, however stiff the equation.
    """
    a = statistics.mean
    weights = tau * _upwind(start, mean_skl_gradient(statistics, start))
    rho = start
    for _ in range(_NEWTON_ITERATIONS):
        inverse = rho * rho / (a + rho)
        potential = mean_skl_gradient(statistics, rho)
        # L_g maps constants to 0; without the constant part, rounding errors are smaller.
        potential -= (inverse * potential).sum() / inverse.sum()
        change = inverse * (solve_path(inverse, weights, inverse * potential + start - rho) - potential)
        # In exact arithmetic Σρ stays 1; the constant part of ψ corrects the rounding error of Σρ.
        change += inverse * ((1.0 - rho.sum() - change.sum()) / inverse.sum())
        relative = change / rho
        if not np.isfinite(relative).all():
            return None
        rho = np.asarray(rho + min(1.0, _LARGEST_DROP / max(-relative.min(), 1e-300)) * change)
        if np.abs(relative).max() <= _NEWTON_TOLERANCE:
            return rho
    return None


def solve_path(diagonal: Array, weights: Array, rhs: Array) -> Array:
    """Solve (diag(diagonal) + L) ψ = rhs for ψ, L the Laplacian of the path; diagonal and weights must be positive."""
    solution = np.empty_like(rhs)
    _eliminate(diagonal.copy(), weights, rhs.copy(), solution)
    return solution


@compile_lazily("void(f8[::1], f8[::1], f8[::1], f8[::1])")
def _eliminate(excess: Array, weights: Array, rhs: Array, solution: Array) -> None:
    """Eliminate from one end of the path to the other and substitute back, overwriting ``excess`` and ``rhs``.

    A node's pivot is stored as its excess over the weight to the next. The excess is a sum of positive numbers; the
    usual elimination subtracts nearly equal ones and loses the diagonal beside weights 1e16 times as large.
    """
    for i in range(len(rhs) - 1, 0, -1):
        part = weights[i - 1] / (excess[i] + weights[i - 1])
        excess[i - 1] += excess[i] * part
        rhs[i - 1] += rhs[i] * part
    solution[0] = rhs[0] / excess[0]
    for i in range(1, len(rhs)):
        solution[i] = (rhs[i] + weights[i - 1] * solution[i - 1]) / (excess[i] + weights[i - 1])
