"""Configurations of the kind "decision-boundaries": machines on generated points of two curved spaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from benchmark.boundaries.machines import DEFAULT_C, GEOMETRIES, KERNELS
from benchmark.classifiers import LIMITS
from benchmark.config.cells import checked_pairs
from benchmark.config.check import common
from benchmark.config.limits import MOST, check_number
from benchmark.config.model import Pair, Study
from benchmark.config.schema import StudySection
from benchmark.errors import unknown
from benchmark.kernels.heat.kernel import LONGEST, SHORTEST
from benchmark.sections import Section, validated

if TYPE_CHECKING:
    from benchmark.source import YamlSource

KIND: Literal["decision-boundaries"] = "decision-boundaries"


class PointsSection(Section):
    """`points:` how many are generated in each space, and from which seed."""

    train: int = Field(default=120, ge=4, le=10_000, description="Training points.")
    test: int = Field(default=2000, ge=2, le=MOST, description="Test points.")
    seed: int = Field(default=1, ge=0, description="What they are drawn with.")


class DefaultsSection(Section):
    """`defaults:` what a machine has that its own entry does not state."""

    t: float = Field(ge=SHORTEST, le=LONGEST, allow_inf_nan=False, description="Diffusion time.")
    C: float = Field(
        default=DEFAULT_C, ge=LIMITS["C"][0], le=LIMITS["C"][1], allow_inf_nan=False, description="LIBSVM's -c."
    )
    geometry: str = Field(default=GEOMETRIES[0], description=f"Of the half plane: {' or '.join(GEOMETRIES)}.")


class MachineSection(Section):
    """An item of `methods`: a kernel on a space, with a time or width of its own."""

    space: str = Field(description=f"{' or '.join(KERNELS)}.")
    kernel: str = Field(
        description="; ".join(f"of the {space}: {', '.join(own)}" for space, own in KERNELS.items()) + "."
    )
    t: float | None = Field(
        default=None, ge=SHORTEST, le=LONGEST, allow_inf_nan=False, description="A diffusion time of its own."
    )
    sigma: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Width of a gaussian, instead of t."
    )
    drawn: bool = Field(default=True, description="Whether it is a panel of the figure.")


class CoveringSection(Section):
    """`covering:` the bound of theorem 4 against ε."""

    dimensions: list[int] = Field(min_length=1, description="Of the space, a curve each.")
    t: list[float] = Field(min_length=1, description="Diffusion times.")


class BoundariesSection(StudySection):
    """The whole file."""

    kind: Literal["decision-boundaries"] = Field(default=KIND, description="The one experiment that is no text.")
    points: PointsSection = Field(default=PointsSection(), description="Generated points.")
    defaults: DefaultsSection = Field(description="What a machine has that doesn't say otherwise.")
    resolution: int = Field(default=160, ge=10, le=1000, description="Points along a side of the grid that is drawn.")
    methods: list[MachineSection] = Field(min_length=1, description="Machines.")
    compare: list[list[str]] = Field(default=[], description="Pairs of machines of one space.")
    covering: CoveringSection | None = Field(default=None, description="The bound of theorem 4 against ε.")


@dataclass(frozen=True)
class PlaneMachine:
    """One machine: a kernel on a space; `drawn` where it is a panel of the figure."""

    id: str
    space: str
    kernel: str
    t: float
    drawn: bool


@dataclass(frozen=True)
class Boundaries(Study):
    """Machines on generated points of the simplex and of the half plane.

    Parameters
    ----------
    machines : tuple of PlaneMachine
        In table order.
    C, geometry
        As for `benchmark.boundaries.machines.boundary`.
    n_points, n_test, resolution : int
        Training and test points, and points along a side of the grid. The points' seed is the study's.
    covering_dimensions, covering_times : tuples
        What the bound of theorem 4 is drawn for; empty for no such picture.
    """

    machines: tuple[PlaneMachine, ...]
    C: float
    geometry: str
    n_points: int
    n_test: int
    resolution: int
    covering_dimensions: tuple[int, ...]
    covering_times: tuple[float, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of its cells, in table order."""
        return tuple(each.id for each in self.machines)


def check_boundaries(source: YamlSource) -> Boundaries:
    """Check plain data of this kind."""
    config = validated(BoundariesSection, source)
    if "seed" in config.model_fields_set:
        raise source.error(("seed",), "the seed of the points stands under points; nothing else here is random")
    geometry = config.defaults.geometry
    if geometry not in GEOMETRIES:
        raise source.error(("defaults", "geometry"), unknown("geometry", geometry, GEOMETRIES))
    machines: dict[str, PlaneMachine] = {}
    for index, item in enumerate(config.methods):
        machine = _machine(item, config.defaults.t, source, index)
        if machine.id in machines:
            raise source.error(("methods", index), f"the machine {machine.id!r} stands here twice")
        machines[machine.id] = machine
    return Boundaries(
        **common(config, source) | {"seed": config.points.seed},
        compare=_pairs(config.compare, machines, source),
        machines=tuple(machines.values()),
        C=config.defaults.C,
        geometry=geometry,
        n_points=config.points.train,
        n_test=config.points.test,
        resolution=config.resolution,
        covering_dimensions=tuple(config.covering.dimensions) if config.covering else (),
        covering_times=_covering_times(config.covering, source),
    )


def _machine(item: MachineSection, t: float, source: YamlSource, index: int) -> PlaneMachine:
    place = ("methods", index)
    if item.space not in KERNELS:
        raise source.error((*place, "space"), unknown("space", item.space, tuple(KERNELS)))
    if item.kernel not in KERNELS[item.space]:
        raise source.error((*place, "kernel"), unknown(f"kernel of the {item.space}", item.kernel, KERNELS[item.space]))
    if item.sigma is not None and (item.kernel != "gaussian" or item.t is not None):
        raise source.error((*place, "sigma"), "sigma is the width of a gaussian kernel, which has it or t, not both")
    name = f"{item.space}-{item.kernel}"
    if item.sigma is not None:
        time = item.sigma * item.sigma / 2  # flat space's heat kernel of time t is a Gaussian of σ² = 2t
        if not SHORTEST <= time <= LONGEST:
            problem = f"its square, 2t, must lie between {2 * SHORTEST:g} and {2 * LONGEST:g}"
            raise source.error((*place, "sigma"), f"sigma is {item.sigma:g}: {problem}")
        return PlaneMachine(f"{name}-sigma{item.sigma:g}", item.space, item.kernel, time, item.drawn)
    if item.t is not None:
        return PlaneMachine(f"{name}-t{item.t:g}", item.space, item.kernel, item.t, item.drawn)
    return PlaneMachine(name, item.space, item.kernel, t, item.drawn)


def _pairs(given: list[list[str]], machines: dict[str, PlaneMachine], source: YamlSource) -> tuple[Pair, ...]:
    """The pairs under `compare`, each of one space; Holm's family is all of them."""
    pairs = checked_pairs(given, list(machines), source, "machine")
    for index, (a, b) in enumerate(pairs):
        if machines[a].space != machines[b].space:
            raise source.error(("compare", index), f"{a!r} and {b!r} are tested on points of different spaces")
    return tuple(Pair(a, b, family="") for a, b in pairs)


def _covering_times(covering: CoveringSection | None, source: YamlSource) -> tuple[float, ...]:
    """The times of the bound; dimensions and times must be positive."""
    if covering is None:
        return ()
    for name, values in (("dimensions", covering.dimensions), ("t", covering.t)):
        for index, value in enumerate(values):
            if not 0 < value < float("inf"):
                raise source.error(("covering", name, index), f"{name} must be positive, not {value}")
    number = len(covering.dimensions) * len(covering.t)
    check_number(number, "curves (dimensions × t)", source, ("covering",), most=1000)
    return tuple(covering.t)
