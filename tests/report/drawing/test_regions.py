"""The picture of decision regions: what is drawn lies where the numbers say, nothing overlaps, bytes are the same."""

from __future__ import annotations

import functools
import struct
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmark.boundaries.machines import Boundary, boundary
from benchmark.boundaries.picture import CORNERS, MARKERS, TINTS, drawn, region_picture, region_rows
from benchmark.report.drawing.style import png_bytes, svg_bytes
from matplotlib.path import Path
from matplotlib.tri import LinearTriInterpolator, Triangulation

from benchmark.corpora.curved_points import draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Figure 1, row by row.
PANELS = (("simplex", "gaussian"), ("simplex", "diffusion"), ("half-plane", "gaussian"), ("half-plane", "hyperbolic"))
NOTE = "A note about the picture."


@functools.cache
def boundaries() -> tuple[Boundary, ...]:
    return tuple(boundary(draw(space, n=40, n_test=50), kernel, resolution=40) for space, kernel in PANELS)


@pytest.fixture(scope="module")
def figure() -> Figure:
    result = region_picture("Decision regions", region_rows(boundaries()), NOTE)
    result.canvas.draw()
    return result


def line(axes: Axes, label: str) -> Any:
    return next(each for each in axes.get_lines() if each.get_label() == label)


def contours(axes: Axes) -> list[Any]:
    return [each for each in axes.collections if hasattr(each, "levels")]


def test_a_panel_for_each_machine_in_reading_order(figure: Figure) -> None:
    assert len(figure.axes) == 4
    titles = [axes.get_title() for axes in figure.axes]
    assert ["Gaussian" in title for title in titles] == [True, False, True, False]
    assert all("t = 2" in title for title in titles)
    boxes = [axes.get_window_extent() for axes in figure.axes]
    assert boxes[0].x1 < boxes[1].x0
    assert boxes[2].x1 < boxes[3].x0
    assert boxes[0].y0 > boxes[2].y1


def test_every_training_point_is_drawn_with_its_class_marker(figure: Figure) -> None:
    for axes, result in zip(figure.axes, boundaries(), strict=True):
        for label in (0, 1):
            marks = line(axes, str(label))
            assert np.array_equal(marks.get_xydata(), drawn(result.points)[result.labels == label])
            assert marks.get_marker() == MARKERS[label]["marker"]


def test_rings_are_around_the_training_errors(figure: Figure) -> None:
    for axes, result in zip(figure.axes, boundaries(), strict=True):
        assert np.array_equal(line(axes, "wrong").get_xydata(), drawn(result.points)[result.errors])
    assert any(result.errors.any() for result in boundaries())


def test_lines_lie_where_decisions_and_log_odds_are_zero(figure: Figure) -> None:
    for axes, result in zip(figure.axes, boundaries(), strict=True):
        triangles = Triangulation(*drawn(result.grid).T)
        _, dashed, solid = contours(axes)
        for contour, values in ((dashed, result.optimal), (solid, result.decisions)):
            interpolated = LinearTriInterpolator(triangles, values)
            vertices = np.concatenate([path.vertices for path in contour.get_paths()])
            at = interpolated(*vertices.T)
            assert np.abs(at.compressed()).max() < 1e-6 * np.abs(values).max()
            assert at.count() > 0.9 * len(vertices)


def test_tints_say_who_is_decided_for(figure: Figure) -> None:
    """A grid point lies in the filled area of the class that its decision value is for."""
    for axes, result in zip(figure.axes, boundaries(), strict=True):
        filled = contours(axes)[0]
        # From below 0 to 0: class 1; from 0 up: class 0.
        second, first = filled.get_paths()
        expected = [tuple(int(tint[i : i + 2], 16) / 255 for i in (1, 3, 5)) for tint in TINTS[::-1]]
        assert filled.get_facecolors()[:, :3] == pytest.approx(np.array(expected))
        clear = np.abs(result.decisions) > 0.05 * np.abs(result.decisions).max()
        points = drawn(result.grid)
        inner = clear & _away_from_the_edge(result)
        for area, sign in ((first, 1), (second, -1)):
            own = points[inner & (np.sign(result.decisions) == sign)]
            other = points[inner & (np.sign(result.decisions) == -sign)]
            assert _inside(area, own).all()
            assert not _inside(area, other).any()


def _inside(area: Path, points: Any) -> Any:
    """By the even-odd rule: one region may be a hole in the other, which `Path.contains_points` overlooks."""
    rings = [Path(ring) for ring in area.to_polygons()]
    return np.sum([ring.contains_points(points) for ring in rings], axis=0) % 2 == 1


def _away_from_the_edge(result: Boundary) -> Any:
    if result.space == "simplex":
        return result.grid.min(axis=1) > 0.01
    low, high = result.grid.min(axis=0), result.grid.max(axis=0)
    return ((result.grid > low + 0.01) & (result.grid < high - 0.01)).all(axis=1)


def test_triangle_keeps_distances() -> None:
    theta = draw("simplex", n=30).points
    flat = drawn(theta)
    sides = np.linalg.norm(theta[:, None] - theta, axis=2)
    assert np.linalg.norm(flat[:, None] - flat, axis=2) == pytest.approx(sides / np.sqrt(2), abs=1e-12)
    assert drawn(np.eye(3)) == pytest.approx(np.array([(x, y) for _, x, y in CORNERS]))


def test_corners_and_axes_are_named(figure: Figure) -> None:
    for axes, result in zip(figure.axes, boundaries(), strict=True):
        words = {text.get_text() for text in axes.texts}
        if result.space == "simplex":
            assert {"θ₁", "θ₂", "θ₃"} <= words
        else:
            assert axes.get_xlabel() == "mean μ"
            assert axes.get_ylabel() == "standard deviation σ"


def test_numbers_below_a_panel_are_the_machines(figure: Figure) -> None:
    for axes, result in zip(figure.axes, boundaries(), strict=True):
        facts = next(text.get_text() for text in axes.texts if "support" in text.get_text())
        right = np.sum(result.test_labels == result.test_predictions)
        assert f"{right / 50:.1%}".replace("%", " %") in facts
        assert f"{result.n_support} of 40" in facts


def test_legend_explains_every_mark(figure: Figure) -> None:
    (legend,) = (strip.legends[0] for strip in figure.subfigs if strip.legends)
    labels = [text.get_text() for text in legend.get_texts()]
    for word in ("class 1: training", "class 2: training", "for class 1", "for class 2", "decision", "best", "error"):
        assert sum(word in label for label in labels) >= 1, word
    assert len(labels) == len(set(labels)) == 7


def test_words_lie_inside_the_figure_and_do_not_overlap(figure: Figure) -> None:
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    texts = [text for part in (figure, *figure.subfigs) for text in part.texts]
    texts += [text for axes in figure.axes for text in (axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts)]
    texts += [text for strip in figure.subfigs for legend in strip.legends for text in legend.get_texts()]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts if text.get_text()]
    assert NOTE in [word for word, _ in boxes]
    for word, box in boxes:
        assert box.x0 >= 0, word
        assert box.y0 >= 0, word
        assert box.x1 <= figure.bbox.x1, word
        assert box.y1 <= figure.bbox.y1, word
    for (word, box), (other_word, other) in combinations(boxes, 2):
        assert not box.overlaps(other), (word, other_word)


def test_same_bytes_each_time_seven_inches_wide() -> None:
    first, second = (region_picture("Decision regions", [boundaries()[:2]]) for _ in range(2))
    image = png_bytes(first, dpi=100)
    assert image == png_bytes(second, dpi=100)
    assert struct.unpack(">I", image[16:20]) == (700,)
    assert svg_bytes(first) == svg_bytes(second)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_machine_that_decides_one_way_has_no_border(sign: float) -> None:
    result = replace(boundaries()[0], decisions=np.full_like(boundaries()[0].decisions, sign))
    axes = region_picture("One way", [(result, boundaries()[1])]).axes
    assert [len(contours(each)) for each in axes] == [2, 3]


def test_titles_name_the_geometry_only_where_it_is_not_the_usual(figure: Figure) -> None:
    fisher = [replace(result, geometry="fisher") for result in boundaries()]
    titles = [axes.get_title() for axes in region_picture("", region_rows(fisher)).axes]
    assert ["Fisher" in title for title in titles] == [False, False, False, True]
    assert not any("Fisher" in axes.get_title() for axes in figure.axes)


def test_rows_must_be_full_and_of_one_space() -> None:
    for bad in ((), boundaries()[:3]):
        with pytest.raises(ValueError, match="full rows"):
            region_rows(bad)
    with pytest.raises(ValueError, match="different spaces"):
        region_rows((boundaries()[0], boundaries()[2]))
