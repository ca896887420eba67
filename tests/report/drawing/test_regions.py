"""The picture of decision regions: what is drawn lies where the numbers say, nothing overlaps, bytes are the same."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.interpolate import LinearNDInterpolator

from benchmark.corpora.curved_points import draw_points
from benchmark.report.drawing.contours import delaunay_triangles, indexed_png, region_mask, zero_lines
from benchmark.report.drawing.regions import CORNERS, MARKS, TINTS, figure_positions, region_chart
from benchmark.report.drawing.theme import INK, MUTED
from tests.report.regions import figure_of, panels
from tests.scenes import Scene, assert_vega_lite, overlap, rows_of, scene_of

if TYPE_CHECKING:
    from benchmark.analysis.charts.region_charts import RegionPanel


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    return region_chart(figure_of(panels()[:2], panels()[2:]))


@pytest.fixture(scope="module")
def scene(spec: dict[str, Any]) -> Scene:
    return scene_of(spec)


def parts_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Its panels in reading order: all layers that have an image."""
    if "layer" in spec:
        return [spec] if any(layer["mark"]["type"] == "image" for layer in spec["layer"]) else []
    return [part for each in spec.get("concat", ()) for part in parts_of(each)]


def shown(spec: dict[str, Any], part: dict[str, Any], kind: str, **look: Any) -> list[dict[str, Any]]:
    """Rows of the layers of a panel whose mark looks so."""
    layers = [each for each in part["layer"] if {"type": kind, **look}.items() <= _hashable(each["mark"]).items()]
    return [row for layer in layers for row in rows_of(spec, layer, part)]


def _hashable(mark: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in mark.items() if not isinstance(value, list)}


def places(rows: list[dict[str, Any]]) -> Any:
    return np.array([(row["x"], row["y"]) for row in rows]).reshape(-1, 2)


def test_a_panel_for_each_machine_in_reading_order(spec: dict[str, Any], scene: Scene) -> None:
    titles = [part["title"]["text"][0] for part in parts_of(spec)]
    assert titles == [each.title for each in panels()]
    shown = sorted((text for text in scene.texts if text.text in titles), key=lambda text: (round(text.y), text.x))
    assert [text.text for text in shown] == titles
    heights = [text.y for text in shown]
    assert heights == pytest.approx([heights[0]] * 2 + [heights[2]] * 2)
    assert heights[1] < heights[2]


def test_every_training_point_is_drawn_with_its_class_marker(spec: dict[str, Any]) -> None:
    assert len({mark["shape"] for mark in MARKS}) == len({mark["fill"] for mark in MARKS}) == 2
    for part, result in zip(parts_of(spec), panels(), strict=True):
        for label, mark in enumerate(MARKS):
            own = shown(spec, part, "point", shape=mark["shape"], fill=mark["fill"])
            assert places(own) == pytest.approx(
                figure_positions(result.points)[result.labels == label], rel=1e-11, abs=1e-11
            )


def test_lines_lie_where_decisions_and_log_odds_are_zero(spec: dict[str, Any]) -> None:
    for part, result in zip(parts_of(spec), panels(), strict=True):
        points = figure_positions(result.grid)
        for colour, values in ((MUTED, 1.0 - 2 * result.likelier), (INK, 1.0 - 2 * result.predicted)):
            vertices = places(shown(spec, part, "line", color=colour))
            at = LinearNDInterpolator(points, values)(vertices)
            inside = ~np.isnan(at)
            assert np.abs(at[inside]).max() < 1e-6 * np.abs(values).max()
            assert inside.sum() > 0.9 * len(vertices)


def test_lines_part_the_plane_where_signs_change(spec: dict[str, Any]) -> None:
    """Each edge between a positive and a negative point is crossed, once, and lines go from neighbour to neighbour."""
    for result in panels():
        points = figure_positions(result.grid)
        corners = delaunay_triangles(points)
        edges = {tuple(sorted(edge)) for each in corners.tolist() for edge in combinations(each, 2)}
        decisions = 1.0 - 2 * result.predicted
        positive = decisions >= 0
        crossed = sum(bool(positive[a] != positive[b]) for a, b in edges)
        lines = zero_lines(points, corners, decisions)
        closed = sum(np.array_equal(line[0], line[-1]) for line in lines)
        assert sum(map(len, lines)) - closed == crossed
        side = 2.5 / 40  # a step of the grid, and some more
        assert all(np.linalg.norm(np.diff(line, axis=0), axis=1).max() < side for line in lines if len(line) > 1)


def test_best_and_decided_boundary_differ_without_colour(spec: dict[str, Any]) -> None:
    for part in parts_of(spec):
        dashed = [layer["mark"].get("strokeDash") for layer in part["layer"] if layer["mark"]["type"] == "line"]
        assert [bool(dash) for dash in dashed] == [True, False]


def pixels(part: dict[str, Any], spec: dict[str, Any]) -> Any:
    """The codes of the image of a panel, and the colours of the codes, as any reader of PNG finds them."""
    (row,) = shown(spec, part, "image")
    data = base64.b64decode(row["url"].removeprefix("data:image/png;base64,"))
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        content = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length]) == (
            zlib.crc32(data[at + 4 : at + 8] + content),
        )
        chunks[data[at + 4 : at + 8]] = content
        at += length + 12
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    codes = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not codes[:, 0].any()
    assert chunks[b"tRNS"][0] == 0
    return codes[:, 1:], np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3), row


def test_tints_say_who_is_decided_for(spec: dict[str, Any]) -> None:
    """A grid point lies in the filled area of the class that its decision value is for."""
    for part, result in zip(parts_of(spec), panels(), strict=True):
        codes, colours, row = pixels(part, spec)
        assert ["#" + bytes(colour.tolist()).hex() for colour in colours[1:]] == list(TINTS)
        points = figure_positions(result.grid)
        (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
        assert (row["x"], row["y"]) == pytest.approx((left, top))
        (image,) = [layer["mark"] for layer in part["layer"] if layer["mark"]["type"] == "image"]
        assert image["width"] / image["height"] == pytest.approx((right - left) / (top - bottom))
        inner = _away_from_the_edge(result)
        height, width = codes.shape
        across = ((points[inner, 0] - left) / (right - left) * width).astype(int)
        down = ((top - points[inner, 1]) / (top - bottom) * height).astype(int)
        np.testing.assert_array_equal(codes[down, across], 1 + result.predicted[inner])


def test_outside_of_the_triangle_nothing_is_tinted(spec: dict[str, Any]) -> None:
    codes, _, _ = pixels(parts_of(spec)[0], spec)
    assert not codes[0, [0, -1]].any()
    assert codes[-1].all()
    assert codes.astype(bool).mean() == pytest.approx(0.5, abs=0.01)
    plane, _, _ = pixels(parts_of(spec)[2], spec)
    assert plane.all()


def _away_from_the_edge(result: RegionPanel) -> Any:
    if len(result.axes) == 3:
        return result.grid.min(axis=1) > 0.01
    low, high = result.grid.min(axis=0), result.grid.max(axis=0)
    return ((result.grid > low + 0.01) & (result.grid < high - 0.01)).all(axis=1)


def test_one_unit_is_as_long_both_ways(spec: dict[str, Any]) -> None:
    for part in parts_of(spec):
        (image,) = [layer for layer in part["layer"] if layer["mark"]["type"] == "image"]
        x, y = (image["encoding"][name]["scale"]["domain"] for name in "xy")
        assert part["width"] / (x[1] - x[0]) == pytest.approx(part["height"] / (y[1] - y[0]))
        assert image["mark"]["width"] <= part["width"] + 1e-9


def test_triangle_keeps_distances() -> None:
    theta = draw_points("simplex", n=30).points
    flat = figure_positions(theta)
    sides = np.linalg.norm(theta[:, None] - theta, axis=2)
    assert np.linalg.norm(flat[:, None] - flat, axis=2) == pytest.approx(sides / np.sqrt(2), abs=1e-12)
    assert figure_positions(np.eye(3)) == pytest.approx(np.array(CORNERS))


def test_corners_and_axes_are_named(scene: Scene) -> None:
    words = [text.text for text in scene.texts]
    assert words.count("θ") == 2 * 3
    assert all(words.count(digit) == 2 for digit in "123")
    assert words.count("mean μ") == words.count("standard deviation σ") == 2


def test_captions_stand_below_their_panels(scene: Scene) -> None:
    shown = [text for text in scene.texts if "of the space" in text.text]
    found = [text.text for text in sorted(shown, key=lambda text: (round(text.y), text.x))]
    assert found == [each.caption for each in panels()]


def test_legend_explains_every_mark(scene: Scene) -> None:
    labels = [text.text for text in scene.texts]
    training = ("class 1: training", "class 2: training")
    for word in (*training, "predicted class 1", "predicted class 2", "decision b", "best"):
        assert sum(word in label for label in labels) == 1, word


def test_words_lie_inside_the_figure_and_do_not_overlap(scene: Scene) -> None:
    assert scene.width <= 504
    boxes = [(text.text, text.box) for text in scene.texts]
    for word, (left, top, right, bottom) in boxes:
        assert left >= -0.5, word
        assert top >= -0.5, word
        assert right <= scene.width + 0.5, word
        assert bottom <= scene.height + 0.5, word
    for (word, box), (other_word, other) in combinations(boxes, 2):
        corner = {"θ", "1", "2", "3"}
        if word not in corner or other_word not in corner:  # a small digit stands under its letter's arm
            assert overlap(box, other) <= 0.5, (word, other_word)


def test_same_specification_each_time() -> None:
    first, second = (region_chart(figure_of(panels()[:2])) for _ in range(2))
    assert first == second
    assert_vega_lite(first)


@pytest.mark.parametrize("label", [0, 1])
def test_a_method_that_decides_one_way_has_no_border(label: int) -> None:
    result = replace(panels()[0], predicted=np.full_like(panels()[0].predicted, label))
    spec = region_chart(figure_of((result, panels()[1])))
    lines = [
        [layer["mark"]["color"] for layer in part["layer"] if layer["mark"]["type"] == "line"]
        for part in parts_of(spec)
    ]
    assert lines == [[MUTED], [MUTED, INK]]


def test_lines_around_an_island_are_closed_and_others_are_not() -> None:
    axis = np.linspace(-1, 1, 21)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    corners = delaunay_triangles(points)
    (island,) = zero_lines(points, corners, 0.5 - np.linalg.norm(points, axis=1))
    assert np.array_equal(island[0], island[-1])
    assert np.linalg.norm(island, axis=1) == pytest.approx(0.5, abs=0.01)
    (across,) = zero_lines(points, corners, points[:, 0] - 0.03)
    assert across[:, 0] == pytest.approx(0.03)
    assert sorted(across[[0, -1], 1]) == pytest.approx([-1, 1])


def test_an_image_has_the_first_row_on_top() -> None:
    points = np.array([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
    mask = region_mask(points, np.array([-1.0, -1.0, 1.0, 1.0]), 4, 2)
    assert mask.tolist() == [[1] * 4, [2] * 4]
    assert indexed_png(mask, [(1, 2, 3), (4, 5, 6)]) == indexed_png(mask, [(1, 2, 3), (4, 5, 6)])


def test_values_that_only_touch_zero_are_crossed_by_no_line():
    """Zero counts as positive: of a triangle with a corner at zero, there is a line if another corner is negative."""
    points, corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([[0, 1, 2]])
    assert zero_lines(points, corners, np.array([0.0, 1.0, 1.0])) == []
    (line,) = zero_lines(points, corners, np.array([0.0, 1.0, -1.0]))
    assert sorted(line.tolist()) == [[0.0, 0.0], [0.5, 0.5]]
