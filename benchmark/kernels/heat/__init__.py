"""Heat kernels of the sphere and of hyperbolic space as functions of distance and time; covering numbers.

Nothing here knows of text: distances or cosines go in, kernel values and their logarithms come out. The convention is
Lafferty & Lebanon's: K solves ∂_t K = ΔK, so that K ≈ (4πt)^(-n/2) exp(-d²/4t) for small t.
"""
