"""How three measures tell two distributions of two words apart, as the one moves away from the other."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - a parameter's type is asked for
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.classifiers.centroids import symmetric_kl
from benchmark.diagnostics.base import CurvePoint, Diagnostic, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.diagnostics.base import Arrays, DiagnosticArrays, DiagnosticContext

_DIFFERENCE = "two-word-difference"
_SPEEDS = ("speed-near", "speed-far")
#: The share of the first word in q, as in the figure.
_FIXED = 0.01


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
        DiagnosticMetric(_SPEEDS[0], "one", "speed while p and q are near", "neither", 3),
        DiagnosticMetric(_SPEEDS[1], "one", "speed while p and q are far apart", "neither", 3),
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

    def compute(self, context: DiagnosticContext) -> Arrays:  # noqa: ARG002
        """Compute the measures, which depend on no document.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        dict of str to array
            ``differences`` (3, n_x), and ``ends`` (3, 3) at the first x, in the middle and at the last.
        """
        ends = np.linspace(self.x[0], self.x[-1], 3)
        return {"differences": _differences(np.array(self.x)), "ends": _differences(ends)}

    def numbers(self, found: DiagnosticArrays) -> DiagnosticNumbers:
        """Return the speeds of each measure, and its curve.

        Parameters
        ----------
        found : DiagnosticArrays
            From `compute`.

        Returns
        -------
        DiagnosticNumbers
            Two rows per measure: its change over the nearer and over the farther half of x, where 1 is the linear
            speed, of which both are half of the whole change; and a point per measure and x.
        """
        differences, ends = found.arrays["differences"].tolist(), found.arrays["ends"]
        speeds = 2 * np.diff(ends) / (ends[:, -1:] - ends[:, :1])
        rows, points = [], []
        for name, curve, of_measure in zip(self.rows, differences, speeds.tolist(), strict=True):
            rows += [
                DiagnosticRow.without_interval(name, metric, speed, 1)
                for metric, speed in zip(_SPEEDS, of_measure, strict=True)
            ]
            points += [CurvePoint("x", x, name, "", _DIFFERENCE, y) for x, y in zip(self.x, curve, strict=True)]
        return DiagnosticNumbers(tuple(rows), tuple(points))

    def notes(self, found: Sequence[DiagnosticArrays]) -> Iterable[str]:  # noqa: ARG002
        """Explain the speeds.

        Parameters
        ----------
        found : sequence of DiagnosticArrays

        Returns
        -------
        iterable of str
            One line.
        """
        middle = (self.x[0] + self.x[-1]) / 2
        yield (
            f"{', '.join(self.rows)}: of p = (x, 1 − x) against (0.01, 0.99). Speeds are the change over x from "
            f"{self.x[0]:g} to {middle:g} (near) and from {middle:g} to {self.x[-1]:g} (far), where 1 is that of a "
            "straight line."
        )


def _differences(x: np.ndarray) -> np.ndarray:
    """Return the symmetric KL divergence, cosine similarity and Euclidean distance at each x, shape (3, n_x)."""
    p, q = np.stack([x, 1 - x], axis=1), np.array([_FIXED, 1 - _FIXED])
    cosine = (p * q).sum(axis=1) / np.linalg.norm(p, axis=1) / np.linalg.norm(q)
    return np.array([symmetric_kl(p, q), cosine, np.linalg.norm(p - q, axis=1)])
