"""Every parameter of every kernel: it is kept by name, changes the values, and has the stated limits."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from benchmark.kernels import KERNELS
from tests.kernels.cases import KERNELS as ELEMENTWISE

NAN, INF = float("nan"), float("inf")

#: Another value of each parameter than its default, which changes kernel values.
OTHERWISE: dict[str, dict[str, Any]] = {
    "linear": {},
    "polynomial": {"degree": 3, "c": 0.5},
    "rbf": {"sigma": 0.5},
    "sigmoid": {"kappa": 0.5, "theta": 0.5},
    "ned": {},
    "ngd": {"shift": -1.0},
    "ngd-e": {"t": 0.25},
    "diffusion": {"t": 0.25},
    "heat": {"t": 0.25},
    "bhattacharyya": {"ridge": -0.25},
    "probability-product": {"rho": 0.75},
    "cpd-power": {"base": "ned", "beta": 0.75},
    "cpd-log": {"base": "ned"},
}


def points() -> np.ndarray:
    return np.random.default_rng(0).dirichlet(np.full(12, 0.3), size=9)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_each_parameter_changes_the_values(name: str) -> None:
    cls, X = KERNELS[name], points()
    assert set(OTHERWISE[name]) == set(cls().get_params())
    plain = cls().fit(X).transform(X)
    for parameter, value in OTHERWISE[name].items():
        other = cls(**{parameter: value}).fit(X).transform(X)
        assert np.abs(other - plain).max() > 1e-3, parameter


#: Kernel, parameter, values that are allowed up to the limits, values beyond, and what is said of them.
LIMITS = [
    (
        "polynomial",
        "degree",
        (1, 2.0, 100),
        (0, -1, 1.5, NAN, INF),
        "degree must be a whole number of at least 1, not ",
    ),
    ("polynomial", "c", (0.0, 1e9), (-1e-9, NAN), "c must be a number of at least 0, not "),
    ("rbf", "sigma", (1e-9, 1e9), (0.0, -1.0, NAN), "sigma must be a positive number, not "),
    ("sigmoid", "kappa", (1e-9, 1e9), (0.0, -1.0, NAN), "kappa must be a positive number, not "),
    ("sigmoid", "theta", (-9.0, 9.0), (), ""),
    ("ngd", "shift", (-9.0, 9.0), (), ""),
    *(
        (name, "t", (1e-9, 1e9), (0.0, -1.0, NAN), "t must be a positive number, not ")
        for name in ("ngd-e", "diffusion")
    ),
    *(
        (name, "t", (1e-9, 1e6), (0.9e-9, 1.1e6, 0.0, NAN, INF), "t must be a number from 1e-09 to 1e+06, not ")
        for name in ("heat", "hyperbolic")
    ),
    ("hyperbolic", "geometry", ("curvature -1", "fisher"), ("flat",), "geometry must be one of curvature -1, fisher, "),
    ("probability-product", "rho", (1e-9, 2.0), (0.0, -1.0, NAN), "rho must be a positive number, not "),
    *(
        ("hp-top", name, (1e-9, 1e9), (0.0, -1.0, NAN, INF), f"{name} must be a positive number, not ")
        for name in ("C", "epsilon")
    ),
    *(
        (
            "plsi-fisher",
            name,
            (least, least + 5),
            (least - 1, 2.5, NAN),
            f"{name} must be a whole number of at least {least}",
        )
        for name, least in (("max_iterations", 0), ("seed", 0))
    ),
    (
        "plsi-fisher",
        "tolerance",
        (0.0, 1e9),
        (-1e-9, NAN, INF),
        "tolerance must be a number of at least 0, not ",
    ),
]


@pytest.mark.parametrize(("name", "parameter", "allowed", "refused", "message"), LIMITS)
def test_limits_of_parameters(
    name: str, parameter: str, allowed: tuple[Any, ...], refused: tuple[Any, ...], message: str
) -> None:
    cls = KERNELS[name]
    for value in allowed:
        cls(**{parameter: value}).check()
    for value in refused:
        wrong = cls(**{parameter: value})
        for action in (wrong.check, lambda wrong=wrong: wrong.fit(points(), np.eye(9, 2))):
            with pytest.raises(ValueError, match=f"^{re.escape(message)}") as error:
                action()
            assert repr(value) in str(error.value)


@pytest.mark.parametrize(
    ("n_classes", "message"), [((), "at least one number of classes"), ((2, 0), "not 0"), ((1.5,), "n_cl")]
)
def test_numbers_of_latent_classes_are_checked(n_classes: Any, message: str) -> None:
    KERNELS["plsi-fisher"](n_classes=(1, 5)).check()
    with pytest.raises(ValueError, match=message):
        KERNELS["plsi-fisher"](n_classes=n_classes).check()
