"""Coordinates of points for figures of decision regions, and covering numbers: a bound, and how they grow."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - a parameter's type is asked for
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.diagnostics.base import CurvePoint, Diagnostic, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.kernels.heat.covering import Space, log_covering_bound, log_covering_number
from benchmark.system.string_arrays import join_names
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.diagnostics.base import Arrays, DiagnosticArrays, DiagnosticContext

#: The largest number of coordinates that a figure shows.
_MOST = 3
_BOUND = "log-covering-bound"
_EXPONENTS = ("covering-exponent-epsilon", "covering-exponent-time")
#: log(1/ε) at t = 1, and t at ε = 0.01, between which exponents are measured. The number of eigenvalues differs there
#: from Weyl's law by 2 parts in a hundred at most for n = 10: by (n − 1) / 4 √μ, where μ is 2 log(1/ε) / t.
_LOG_INVERSE, _TIMES, _LOG_INVERSE_OF_TIMES = (1.0e4, 1.0e5), (1.0e-3, 1.0e-4), float(np.log(100))


@dataclass(frozen=True)
class Coordinates(Diagnostic):
    """Coordinates of all points, from which figures of decision regions are drawn."""

    def compute(self, context: DiagnosticContext) -> Arrays:
        """Return the points, the names of their coordinates, and their parts.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        dict of str to array
            ``points`` (n, d), ``names`` of the coordinates (text), ``parts`` (n,), and ``part_names`` (text).

        Raises
        ------
        ValueError
            If the documents are not points with two or three coordinates.
        """
        counts = context.counts
        if counts.matrix.dtype.kind != "f" or not 2 <= counts.matrix.shape[1] <= _MOST:
            raise ValueError(f"a figure shows points with 2 or {_MOST} coordinates, not counts of terms")
        documents = counts.documents
        return {
            "points": counts.matrix.toarray(),
            "names": join_names(counts.vocabulary),
            "parts": documents.parts,
            "part_names": join_names(documents.part_names),
        }


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
        return tuple(f"covering-n{n}-t{t:g}" for n in self.dimension for t in self.t)

    def compute(self, context: DiagnosticContext) -> Arrays:  # noqa: ARG002
        """Compute the bounds, which depend on no document.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        dict of str to array
            ``bounds`` (n_rows, n_radii): log10 of the bound on log N(ε).
        """
        radius = np.array(self.radius)
        bounds = [log_covering_bound(radius, n, t) / np.log(10) for n in self.dimension for t in self.t]
        return {"bounds": np.array(bounds)}

    def numbers(self, found: DiagnosticArrays) -> DiagnosticNumbers:
        """Return each row's bound at the smallest radius, and its curve over all radii.

        Parameters
        ----------
        found : DiagnosticArrays
            From `compute`.

        Returns
        -------
        DiagnosticNumbers
            A row per dimension and time, and a point per row and radius, as log10.
        """
        bounds, rows, points = found.arrays["bounds"].tolist(), [], []
        for name, line in zip(self.rows, bounds, strict=True):
            rows.append(DiagnosticRow.without_interval(name, _BOUND, line[0], 1))
            points += [CurvePoint("radius", x, name, "", _BOUND, y) for x, y in zip(self.radius, line, strict=True)]
        return DiagnosticNumbers(tuple(rows), tuple(points))

    def notes(self, found: Sequence[DiagnosticArrays]) -> Iterable[str]:  # noqa: ARG002
        """Explain the bounds.

        Parameters
        ----------
        found : sequence of DiagnosticArrays

        Returns
        -------
        iterable of str
            One line.
        """
        yield (
            "covering-n…-t…: log₁₀ of the bound of theorem 4 on log N(ε). N(ε) is the number of balls of radius ε that "
            f"cover the SVMs' functions, up to a constant that depends on n. The table has ε = {self.radius[0]:g}."
        )


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
        DiagnosticMetric(_EXPONENTS[0], "one", "exponent of log(1/ε) in log N(ε)", "neither", 3),
        DiagnosticMetric(_EXPONENTS[1], "one", "exponent of t in log N(ε)", "neither", 3),
    )
    tags: ClassVar[Tags] = Tags(base_only=True)

    dimension: Sequence[int] = (2, 10)

    def check(self) -> None:
        """Refuse parameters outside their range.

        Raises
        ------
        ValueError
            If a dimension is not a positive whole number.
        """
        if not self.dimension or not all(isinstance(n, int) and n > 0 for n in self.dimension):
            raise ValueError(f"dimension must be a list of positive whole numbers, not {self.dimension}")

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows: the theorem, the simplex and the torus of each dimension."""
        return tuple(f"{name}-n{n}" for n in self.dimension for name in ("theorem", "simplex", "torus"))

    def compute(self, context: DiagnosticContext) -> Arrays:  # noqa: ARG002
        """Compute the exponents, which depend on no document.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        dict of str to array
            ``exponents`` (n_rows, 2): of log(1/ε) and of t.
        """
        spaces: tuple[Space, ...] = ("simplex", "torus")
        found = list[tuple[float, float]]()
        for n in self.dimension:
            found.append(((n + 2) / 2, -n / 2))
            for space in spaces:
                by_radius = [log_covering_number(x, n, 1.0, space) for x in _LOG_INVERSE]
                by_time = [log_covering_number(_LOG_INVERSE_OF_TIMES, n, t, space) for t in _TIMES]
                found.append((_slope(_LOG_INVERSE, by_radius), _slope(_TIMES, by_time)))
        return {"exponents": np.array(found)}

    def numbers(self, found: DiagnosticArrays) -> DiagnosticNumbers:
        """Return both exponents of each row.

        Parameters
        ----------
        found : DiagnosticArrays
            From `compute`.

        Returns
        -------
        DiagnosticNumbers
            Two rows per dimension and space.
        """
        pairs = zip(self.rows, found.arrays["exponents"].tolist(), strict=True)
        rows = [
            DiagnosticRow.without_interval(name, metric, value, 1)
            for name, values in pairs
            for metric, value in zip(_EXPONENTS, values, strict=True)
        ]
        return DiagnosticNumbers(tuple(rows))

    def notes(self, found: Sequence[DiagnosticArrays]) -> Iterable[str]:  # noqa: ARG002
        """Explain the exponents.

        Parameters
        ----------
        found : sequence of DiagnosticArrays

        Returns
        -------
        iterable of str
            One line.
        """
        yield (
            "theorem-n…, simplex-n…, torus-n…: exponents by which log N(ε) grows, of log(1/ε) at t = 1 and of t at "
            "ε = 0.01: those of theorem 4, and as measured on the eigenvalues of the simplex and of a flat torus of "
            f"equal volume, for log(1/ε) from {_LOG_INVERSE[0]:g} to {_LOG_INVERSE[1]:g} and t from {_TIMES[0]:g} to "
            f"{_TIMES[1]:g}. The theorem is of the limit; at radii and times of practice the exponents differ."
        )


def _slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the exponent of a power law through two points."""
    return float(np.log(y[1] / y[0]) / np.log(x[1] / x[0]))
