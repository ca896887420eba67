"""Configurations of the kind "decision-boundaries": machines on generated points of two curved spaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from benchmark.boundaries.regions import DEFAULT_C, GEOMETRIES, KERNELS
from benchmark.config.check import common, pairs_of
from benchmark.config.model import Study
from benchmark.config.schema import Section, StudySection, validated
from benchmark.config.source import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import Named
    from benchmark.config.source import YamlSource

KIND = "decision-boundaries"


class MachineItem(Section):
    """An item of `panels` or `besides`: a kernel on a space, with a time or width of its own."""

    space: str
    kernel: str
    t: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    sigma: float | None = Field(default=None, gt=0, allow_inf_nan=False)


class CoveringSection(Section):
    """`covering:` the bound of theorem 4 against ε."""

    dimensions: list[int] = Field(min_length=1)
    t: list[float] = Field(min_length=1)


class BoundariesSection(StudySection):
    """The whole file."""

    t: float = Field(gt=0, allow_inf_nan=False)
    C: float = Field(default=DEFAULT_C, gt=0, allow_inf_nan=False)
    geometry: str = GEOMETRIES[0]
    points: int = Field(default=120, ge=4)
    test_points: int = Field(default=2000, ge=1)
    resolution: int = Field(default=160, ge=10, le=1000)
    panels: list[MachineItem] = Field(min_length=1)
    besides: list[MachineItem] = Field(default_factory=list)
    compare: list[list[str]] = Field(default_factory=list)
    covering: CoveringSection | None = None


@dataclass(frozen=True)
class BoundaryCell:
    """One machine: a kernel on a space; `drawn` where it is a panel of the figure."""

    id: str
    space: str
    kernel: str
    t: float
    sigma: float | None
    drawn: bool


@dataclass(frozen=True)
class Boundaries(Study):
    """Machines on generated points of the simplex and of the half plane.

    Parameters
    ----------
    cells : tuple of BoundaryCell
    C : float
    geometry : str
        See `benchmark.boundaries.regions`.
    n_points, n_test, resolution : int
        Training and test points, and points along a side of the grid.
    covering_dimensions, covering_times : tuples
        What the bound of theorem 4 is drawn for; empty for no such picture.
    """

    cells: tuple[BoundaryCell, ...]
    C: float
    geometry: str
    n_points: int
    n_test: int
    resolution: int
    covering_dimensions: tuple[int, ...]
    covering_times: tuple[float, ...]

    @property
    def named_cells(self) -> Sequence[Named]:
        """Its cells, in table order."""
        return self.cells


def check_boundaries(source: YamlSource) -> Boundaries:
    """Check plain data of this kind."""
    config = validated(BoundariesSection, source)
    if config.geometry not in GEOMETRIES:
        raise source.error(("geometry",), unknown("geometry", config.geometry, GEOMETRIES))
    cells: dict[str, BoundaryCell] = {}
    for key, items in (("panels", config.panels), ("besides", config.besides)):
        for index, item in enumerate(items):
            cell = _cell(item, config, source, (key, index))
            if cell.id in cells:
                raise source.error((key, index), f"the machine {cell.id!r} stands here twice")
            cells[cell.id] = cell
    covering = config.covering or CoveringSection.model_construct(dimensions=[], t=[])
    for name, values in (("dimensions", covering.dimensions), ("t", covering.t)):
        for index, value in enumerate(values):
            if not 0 < value < float("inf"):
                raise source.error(("covering", name, index), f"{name} must be positive, not {value}")
    return Boundaries(
        **common(config, source),
        variants={},
        compare=pairs_of(config.compare, list(cells), source),
        expected_documents=None,
        expected_vocabulary=None,
        cells=tuple(cells.values()),
        C=config.C,
        geometry=config.geometry,
        n_points=config.points,
        n_test=config.test_points,
        resolution=config.resolution,
        covering_dimensions=tuple(covering.dimensions),
        covering_times=tuple(covering.t),
    )


def _cell(item: MachineItem, config: BoundariesSection, source: YamlSource, place: tuple[str, int]) -> BoundaryCell:
    if item.space not in KERNELS:
        raise source.error((*place, "space"), unknown("space", item.space, tuple(KERNELS)))
    if item.kernel not in KERNELS[item.space]:
        raise source.error((*place, "kernel"), unknown(f"kernel of the {item.space}", item.kernel, KERNELS[item.space]))
    if item.sigma is not None and (item.kernel != "gaussian" or item.t is not None):
        raise source.error((*place, "sigma"), "sigma is the width of a gaussian kernel, which has it or t, not both")
    words = [item.space, item.kernel]
    words += [f"t{item.t:g}"] if item.t is not None else []
    words += [f"sigma{item.sigma:g}"] if item.sigma is not None else []
    return BoundaryCell("-".join(words), item.space, item.kernel, item.t or config.t, item.sigma, place[0] == "panels")
