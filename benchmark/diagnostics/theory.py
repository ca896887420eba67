"""Numbers of papers that depend on no document: covering numbers, and measures of two distributions of two words."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - a parameter's type is asked for
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.classifiers.divergence_bayes import symmetric_kl
from benchmark.diagnostics.base import CurvePoint, Diagnostic, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.kernels.covering import Space, log_covering_bound, log_covering_number
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from benchmark.diagnostics.base import DiagnosticContext

_DIFFERENCE = "two-word-difference"
#: The share of the first word in q, as in the figure.
_FIXED = 0.01
_BOUND = "log-covering-bound"
#: log(1/ε) at t = 1, and t at ε = 0.01, between which exponents are measured. The number of eigenvalues differs there
#: from Weyl's law by 2 parts in a hundred at most for n = 10: by (n − 1) / 4 √μ, where μ is 2 log(1/ε) / t.
_LOG_INVERSE, _TIMES, _LOG_INVERSE_OF_TIMES = (1.0e4, 1.0e5), (1.0e-3, 1.0e-4), float(np.log(100))


@dataclass(frozen=True)
class CoveringNumbers(Diagnostic):
    """Bound of Lafferty and Lebanon (2002, theorem 4) on the covering numbers of SVMs with a heat kernel.

    Parameters
    ----------
    dimension : list of int
        Dimensions of the space, positive.
    t : list of float
        Diffusion times, positive.
    radius : list of float
        Radii ε of the cover, positive and ascending; tables show the bound at the first.
    """

    metrics: ClassVar[tuple[DiagnosticMetric, ...]] = (
        DiagnosticMetric(_BOUND, "one", "log10 of the bound on log N(ε)", "smaller", 2),
    )
    tags: ClassVar[Tags] = Tags(base_only=True)

    dimension: Sequence[int] = (2, 10)
    t: Sequence[float] = (0.5, 1.0, 2.0, 4.0)
    radius: Sequence[float] = tuple(10.0 ** (-6 + k / 2) for k in range(12))

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows, one for each dimension and diffusion time."""
        return tuple(f"covering-n{n}-t{t:g}" for n, t in product(self.dimension, self.t))

    def compute(self, context: DiagnosticContext) -> DiagnosticNumbers:  # noqa: ARG002
        """Compute the bounds, which depend on no document.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        DiagnosticNumbers
            A row per dimension and time, with the bound at the smallest radius; and a point per row and radius. Both
            are log10 of the bound on log N(ε).
        """
        rows, points, radius = [], [], np.array(self.radius)
        for name, (n, t) in zip(self.rows, product(self.dimension, self.t), strict=True):
            line = (log_covering_bound(radius, n, t) / np.log(10)).tolist()
            rows.append(DiagnosticRow.without_interval(name, _BOUND, line[0], 1))
            points += [CurvePoint("radius", x, name, "", _BOUND, y) for x, y in zip(self.radius, line, strict=True)]
        note = (
            "covering-n…-t…: log₁₀ of the bound of theorem 4 on log N(ε). N(ε) is the number of balls of radius ε that "
            f"cover the SVMs' functions, up to a constant that depends on n. The table has ε = {self.radius[0]:g}."
        )
        return DiagnosticNumbers(tuple(rows), tuple(points), (note,))


@dataclass(frozen=True)
class CoveringGrowth(Diagnostic):
    """Exponents by which covering numbers of SVMs with a heat kernel grow (Lafferty and Lebanon 2002, theorem 4).

    They are measured on the spectra of the simplex and of the flat torus of equal volume, beside those of the theorem.

    Parameters
    ----------
    dimension : list of int
        Dimensions of the space, positive.
    """

    metrics: ClassVar[tuple[DiagnosticMetric, ...]] = (
        DiagnosticMetric("covering-exponent-epsilon", "one", "exponent of log(1/ε) in log N(ε)", "neither", 3),
        DiagnosticMetric("covering-exponent-time", "one", "exponent of t in log N(ε)", "neither", 3),
    )
    tags: ClassVar[Tags] = Tags(base_only=True)

    dimension: Sequence[int] = (2, 10)

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows: the theorem, the simplex and the torus of each dimension."""
        return tuple(f"{name}-n{n}" for n in self.dimension for name in ("theorem", "simplex", "torus"))

    def compute(self, context: DiagnosticContext) -> DiagnosticNumbers:  # noqa: ARG002
        """Compute the exponents, which depend on no document.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        DiagnosticNumbers
            Two rows per dimension and space: the exponents of log(1/ε) and of t.
        """
        spaces: tuple[Space, ...] = ("simplex", "torus")
        rows = list[DiagnosticRow]()
        for n in self.dimension:
            rows += DiagnosticRow.exact(f"theorem-n{n}", self.metrics, ((n + 2) / 2, -n / 2), 1)
            for space in spaces:
                by_radius = [log_covering_number(x, n, 1.0, space) for x in _LOG_INVERSE]
                by_time = [log_covering_number(_LOG_INVERSE_OF_TIMES, n, t, space) for t in _TIMES]
                exponents = _slope(_LOG_INVERSE, by_radius), _slope(_TIMES, by_time)
                rows += DiagnosticRow.exact(f"{space}-n{n}", self.metrics, exponents, 1)
        note = (
            "theorem-n…, simplex-n…, torus-n…: exponents by which log N(ε) grows, of log(1/ε) at t = 1 and of t at "
            "ε = 0.01: those of theorem 4, and as measured on the eigenvalues of the simplex and of a flat torus of "
            f"equal volume, for log(1/ε) from {_LOG_INVERSE[0]:g} to {_LOG_INVERSE[1]:g} and t from {_TIMES[0]:g} to "
            f"{_TIMES[1]:g}. The theorem is of the limit; at radii and times of practice the exponents differ."
        )
        return DiagnosticNumbers(tuple(rows), notes=(note,))


def _slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the exponent of a power law through two points."""
    return float(np.log(y[1] / y[0]) / np.log(x[1] / x[0]))


@dataclass(frozen=True)
class TwoWordDifferences(Diagnostic):
    """Measures of p = (x, 1 - x) against q = (0.01, 0.99): figure 1 of Chen et al. (2018).

    Parameters
    ----------
    x : list of float
        Shares of the first word in p, ascending, between 0.01 and 1; speeds are from the first to the last.
    """

    metrics: ClassVar[tuple[DiagnosticMetric, ...]] = (
        DiagnosticMetric(_DIFFERENCE, "one", "divergence (nats), similarity or distance", "neither", 3),
        DiagnosticMetric("speed-near", "one", "speed while p and q are near", "neither", 3),
        DiagnosticMetric("speed-far", "one", "speed while p and q are far apart", "neither", 3),
    )
    tags: ClassVar[Tags] = Tags(base_only=True)

    x: Sequence[float] = tuple((1 + 7 * k) / 100 for k in range(15))

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the measures."""
        return ("symmetric-kl", "cosine-similarity", "euclidean-distance")

    def check(self) -> None:
        """Refuse parameters outside their range.

        Raises
        ------
        ValueError
            If a parameter is outside its range.
        """
        if len(self.x) < 2 or self.x[0] < _FIXED or self.x[-1] >= 1 or min(np.diff(self.x)) <= 0:
            raise ValueError(f"x must be two or more numbers from {_FIXED:g} to less than 1, ascending")

    def compute(self, context: DiagnosticContext) -> DiagnosticNumbers:  # noqa: ARG002
        """Compute the measures, which depend on no document.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        DiagnosticNumbers
            Two rows per measure: its change over the nearer and over the farther half of x, where 1 is the linear
            speed, of which both are half of the whole change; and a point per measure and x.
        """
        halves = np.linspace(self.x[0], self.x[-1], 3)
        ends = _differences(halves)
        speeds = 2 * np.diff(ends) / (ends[:, -1:] - ends[:, :1])
        rows, points = [], []
        for name, curve, of_measure in zip(self.rows, _differences(np.array(self.x)).tolist(), speeds, strict=True):
            rows += DiagnosticRow.exact(name, self.metrics[1:], of_measure, 1)
            points += [CurvePoint("x", x, name, "", _DIFFERENCE, y) for x, y in zip(self.x, curve, strict=True)]
        note = (
            f"{', '.join(self.rows)}: of p = (x, 1 − x) against (0.01, 0.99). Speeds are the change over x from "
            f"{self.x[0]:g} to {halves[1]:g} (near) and from {halves[1]:g} to {self.x[-1]:g} (far), where 1 is that of "
            "a straight line."
        )
        return DiagnosticNumbers(tuple(rows), tuple(points), (note,))


def _differences(x: np.ndarray) -> np.ndarray:
    """Return the symmetric KL divergence, cosine similarity and Euclidean distance at each x, shape (3, n_x)."""
    p, q = np.stack([x, 1 - x], axis=1), np.array([_FIXED, 1 - _FIXED])
    cosine = (p * q).sum(axis=1) / np.linalg.norm(p, axis=1) / np.linalg.norm(q)
    return np.array([symmetric_kl(p, q), cosine, np.linalg.norm(p - q, axis=1)])
