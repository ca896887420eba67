"""Heat kernels of the sphere and of hyperbolic space as functions of distance and time; covering numbers.

Nothing here knows of text: distances or cosines go in, kernel values and their logarithms come out. The convention is
Lafferty & Lebanon's: K solves ∂_t K = ΔK, so that K ≈ (4πt)^(-n/2) exp(-d²/4t) for small t.
"""

from benchmark.kernels.heat.covering import log_covering_bound, log_orthant_volume
from benchmark.kernels.heat.half_space import curvature_radius, fisher_distance
from benchmark.kernels.heat.hyperbolic import HyperbolicHeatKernel
from benchmark.kernels.heat.sphere import HypersphereHeatKernel

__all__ = [
    "HyperbolicHeatKernel",
    "HypersphereHeatKernel",
    "curvature_radius",
    "fisher_distance",
    "log_covering_bound",
    "log_orthant_volume",
]
