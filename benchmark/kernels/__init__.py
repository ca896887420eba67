"""Points to Gram matrices: every kernel by the name a configuration calls it."""

from typing import Any

from benchmark.kernels.base import Kernel, elementwise
from benchmark.kernels.euclidean import (
    Linear,
    NegativeEuclideanDistance,
    Polynomial,
    RadialBasisFunction,
    Sigmoid,
)
from benchmark.kernels.fields import SumOverFields
from benchmark.kernels.heat.half_plane import Hyperbolic
from benchmark.kernels.heat.kernel import Heat
from benchmark.kernels.models.fisher import PLSIFisher
from benchmark.kernels.models.hp_top import HyperplaneTop
from benchmark.kernels.multinomial import (
    Bhattacharyya,
    Diffusion,
    ExponentialGeodesicDistance,
    NegativeGeodesicDistance,
    ProbabilityProduct,
)
from benchmark.kernels.transforms import CpdLogarithm, CpdPower

#: Subclasses of `Kernel` are elementwise functions of inner products; the others learn a model of the documents, or
#: sum kernels of their blocks.
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
    "sum-over-fields": SumOverFields,
    "hp-top": HyperplaneTop,
    "plsi-fisher": PLSIFisher,
}

__all__ = [
    "KERNELS",
    "Bhattacharyya",
    "CpdLogarithm",
    "CpdPower",
    "Diffusion",
    "ExponentialGeodesicDistance",
    "Heat",
    "Hyperbolic",
    "HyperplaneTop",
    "Kernel",
    "Linear",
    "NegativeEuclideanDistance",
    "NegativeGeodesicDistance",
    "PLSIFisher",
    "Polynomial",
    "ProbabilityProduct",
    "RadialBasisFunction",
    "Sigmoid",
    "SumOverFields",
    "elementwise",
]
