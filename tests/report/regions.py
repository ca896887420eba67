"""Figures of decision regions, of methods that decide as the best boundary does of other odds."""

from __future__ import annotations

import functools

import numpy as np

from benchmark.analysis.figures import RegionFigure, RegionPanel
from benchmark.corpora.curved_points import COORDINATE_NAMES, POINT_CLASSES, draw_points, grid_points, log_odds

SPACES = ("simplex", "half-plane")


def panel(space: str, turned: float) -> RegionPanel:
    """A method that decides as the best boundary does of other odds."""
    everywhere, samples = grid_points(space, 40), draw_points(space, n=40, n_test=2)
    odds = log_odds(space, everywhere)
    return RegionPanel(
        f"a method, t = {turned:g}",
        space,
        COORDINATE_NAMES[space],
        POINT_CLASSES,
        everywhere,
        (odds < turned).astype(np.int16),
        (odds < 0).astype(np.int32),
        samples.points,
        samples.labels,
        f"{space} {turned:g}: 71.2 % of the space",
    )


@functools.cache
def panels() -> tuple[RegionPanel, ...]:
    return tuple(panel(space, turned) for space in SPACES for turned in (1.0, -0.5))


def figure_of(*rows: tuple[RegionPanel, ...]) -> RegionFigure:
    return RegionFigure("figure", "Decision regions", rows)
