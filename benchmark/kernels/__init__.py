"""Points to Gram matrices: every kernel by the name a configuration calls it."""

from benchmark.kernels.base import Kernel
from benchmark.kernels.euclidean import (
    Linear,
    NegativeEuclideanDistance,
    Polynomial,
    RadialBasisFunction,
    Sigmoid,
)
from benchmark.kernels.heat.kernel import Heat
from benchmark.kernels.multinomial import (
    Bhattacharyya,
    Diffusion,
    ExponentialGeodesicDistance,
    NegativeGeodesicDistance,
    ProbabilityProduct,
)
from benchmark.kernels.transforms import CpdLogarithm, CpdPower

KERNELS: dict[str, type[Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "rbf": RadialBasisFunction,
    "sigmoid": Sigmoid,
    "ned": NegativeEuclideanDistance,
    "ngd": NegativeGeodesicDistance,
    "ngd-e": ExponentialGeodesicDistance,
    "diffusion": Diffusion,
    "heat": Heat,
    "bhattacharyya": Bhattacharyya,
    "probability-product": ProbabilityProduct,
    "cpd-power": CpdPower,
    "cpd-log": CpdLogarithm,
}

__all__ = [
    "KERNELS",
    "Bhattacharyya",
    "CpdLogarithm",
    "CpdPower",
    "Diffusion",
    "ExponentialGeodesicDistance",
    "Heat",
    "Kernel",
    "Linear",
    "NegativeEuclideanDistance",
    "NegativeGeodesicDistance",
    "Polynomial",
    "ProbabilityProduct",
    "RadialBasisFunction",
    "Sigmoid",
]
