"""Heat kernels of the sphere and of hyperbolic space as functions of distance and time; covering numbers.

These modules don't depend on text: they map distances or cosines to kernel values and their logarithms. The convention
is Lafferty & Lebanon's: K solves ∂_t K = ΔK, so that K ≈ (4πt)^(-n/2) exp(-d²/4t) for small t.
"""
