"""Kernels, which turn points into Gram matrices, by their names in a configuration."""

from typing import Any

from benchmark.kernels.base import Kernel, is_elementwise_kernel
from benchmark.kernels.euclidean import Linear, NegativeEuclideanDistance, Polynomial, RadialBasisFunction, Sigmoid
from benchmark.kernels.fisher import PLSIFisher
from benchmark.kernels.hp_top import HyperplaneTop
from benchmark.kernels.hyperbolic import Hyperbolic
from benchmark.kernels.multinomial import (
    Bhattacharyya,
    CpdLogarithm,
    CpdPower,
    Diffusion,
    ExponentialGeodesicDistance,
    NegativeGeodesicDistance,
    ProbabilityProduct,
)
from benchmark.kernels.sphere import Heat

#: Subclasses of `Kernel` are elementwise functions of inner products. The others learn a model of the documents, or
#: work on points of two coordinates.
KERNELS: dict[str, type[Any]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "rbf": RadialBasisFunction,
    "sigmoid": Sigmoid,
    "ned": NegativeEuclideanDistance,
    "ngd": NegativeGeodesicDistance,
    "ngd-e": ExponentialGeodesicDistance,
    "diffusion": Diffusion,
    "heat": Heat,
    "hyperbolic": Hyperbolic,
    "bhattacharyya": Bhattacharyya,
    "probability-product": ProbabilityProduct,
    "cpd-power": CpdPower,
    "cpd-log": CpdLogarithm,
    "hp-top": HyperplaneTop,
    "plsi-fisher": PLSIFisher,
}

__all__ = ["KERNELS", "Kernel", "is_elementwise_kernel"]
