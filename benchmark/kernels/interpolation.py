"""Chebyshev interpolation of a smooth function, for fast evaluation on millions of values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.polynomial import chebyshev
from scipy.fft import dct

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.system.arrays import Array


INTERPOLATION_EPS = float(np.finfo(np.float64).eps)
#: Number of values evaluated at a time: five arrays of this size fit in a core's cache.
VALUES_PER_BLOCK = 1 << 13
CHEBYSHEV_DEGREES = (32, 64, 128, 256, 512)


@dataclass(frozen=True)
class ChebyshevInterpolant:
    """p(x) = Σ c_k T_k(y), with y the map of [lower, upper] onto [-1, 1].

    Parameters
    ----------
    coefficients : float array, shape (degree + 1,)
    lower, upper : float
    error : float
        Estimated largest absolute error on [lower, upper], from the samples, the dropped coefficients and rounding.
    """

    coefficients: Array
    lower: float
    upper: float
    error: float

    @classmethod
    def fit(cls, function: Callable[[Array], tuple[Array, Array]], lower: float, upper: float) -> Self:
        """Interpolate `function`, which returns values and their absolute errors, up to these errors.

        The degree is doubled until the last quarter of the coefficients is as small as the errors. Coefficients of an
        analytic function fall geometrically, so the omitted ones are no larger.

        Raises
        ------
        ArithmeticError
            If the function isn't smooth enough for degree 512.
        """
        for degree in CHEBYSHEV_DEGREES:
            y = chebyshev.chebpts1(degree + 1)[::-1]
            values, errors = function((upper - lower) * (y + 1) / 2 + lower)
            # On these nodes the T_k are orthogonal cosines: a DCT takes a tenth of the time of chebinterpolate.
            coefficients = np.asarray(dct(values, type=2) / (degree + 1), dtype=np.float64)
            coefficients[0] /= 2
            sizes = np.abs(coefficients)
            # Clenshaw's recurrence amplifies a rounding error of c_k by at most |U_k| ≤ k+1 in p(x).
            noise = float(errors.max()) + INTERPOLATION_EPS * float(sizes @ np.arange(8, degree + 9))
            if sizes[-degree // 4 :].max() <= noise:
                # Dropping the coefficients from k on adds an error of at most rest[k] = Σ_{j≥k} |c_j|.
                rest = np.cumsum(sizes[::-1])[::-1]
                keep = max(1, int(np.searchsorted(-rest, -noise)))
                cut = float(rest[keep]) if keep <= degree else 0.0
                return cls(np.ascontiguousarray(coefficients[:keep]), lower, upper, noise + cut)
        raise ArithmeticError(
            f"no polynomial of degree {CHEBYSHEV_DEGREES[-1]} follows the function on [{lower}, {upper}]"
        )

    def shifted(self, constant: float) -> Self:
        """Return the interpolant of the function plus a constant."""
        coefficients = self.coefficients.copy()
        coefficients[0] += constant
        return type(self)(coefficients, self.lower, self.upper, self.error)

    def __call__(self, x: Array, out: Array | None = None) -> Array:
        """Evaluate p(x) by Clenshaw's recurrence, with x of any shape clipped to [lower, upper].

        `out` may be `x` itself.
        """
        result = np.empty(x.shape) if out is None else out
        target = result if result.flags.c_contiguous else np.empty(x.shape)
        source, flat = x.reshape(-1), target.reshape(-1)
        scratch = np.empty((4, min(VALUES_PER_BLOCK, max(source.size, 1))))
        for start in range(0, source.size, VALUES_PER_BLOCK):
            stop = min(start + VALUES_PER_BLOCK, source.size)
            self._clenshaw(source[start:stop], flat[start:stop], scratch[:, : stop - start])
        if target is not result:
            result[...] = target
        return result

    def _clenshaw(self, x: Array, out: Array, scratch: Array) -> None:
        """Compute b_k = 2y b_{k+1} - b_{k+2} + c_k down to k = 1, and write p = y b_1 - b_2 + c_0 to `out`."""
        twice, following, current, after = scratch
        np.clip(x, self.lower, self.upper, out=twice)
        twice -= self.lower
        twice *= 4 / (self.upper - self.lower)
        twice -= 2
        current.fill(0.0)
        following.fill(0.0)
        for c in self.coefficients[:0:-1].tolist():
            np.multiply(twice, current, out=after)
            after -= following
            after += c
            following, current, after = current, after, following
        np.multiply(twice, current, out=out)
        out *= 0.5
        out -= following
        out += self.coefficients[0]
