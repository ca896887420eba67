"""Curves: every number is drawn where it is, nothing hides anything, and each line can be told from all others."""

import json
import subprocess
import sys
from functools import cache
from itertools import combinations, pairwise

import altair as alt
import numpy as np
import pytest

from benchmark.analysis.charts.chart import Chart, ChartPanel, Line
from benchmark.report.drawing.curves import curve_chart, curve_pictures
from benchmark.report.drawing.render import render_pictures
from benchmark.report.drawing.theme import COLUMN_WIDTH, MOST_LABELS, MUTED, PAPER, series_style
from tests.scenes import assert_vega_lite, looks, overlap, panels_of, rows_of, scene_of

SIZES = (40.0, 80.0, 120.0, 200.0, 400.0)
LABELS = ("linear", "RBF", "multinomial diffusion", "negative geodesic")
TEN = (*LABELS, "L1 Laplacian", "Bhattacharyya", "Hellinger RBF", "polynomial of degree 2", "sigmoid", "k-NN, cosine")


def curve(label, x=SIZES, seed=0, bars=True):
    rng = np.random.default_rng([seed, len(label), len(x)])
    y = rng.uniform(0.04, 0.12) + rng.uniform(0.15, 0.4) * np.exp(-np.linspace(0, 3, len(x)))
    low, high = y - rng.uniform(0.01, 0.03, len(x)), y + rng.uniform(0.01, 0.05, len(x))
    return Line(label, tuple(x), *(tuple(map(float, each)) for each in ((y, low, high) if bars else (y,))))


def chart(n=4, labels=LABELS, x=SIZES, columns=2, barred=True, printed=None, **others):
    panels = tuple(
        ChartPanel(f"topic {i}", tuple(curve(label, x, i, barred) for label in labels), printed) for i in range(n)
    )
    given = {
        "name": "figure",
        "title": "Test error against the training documents",
        "x_label": "Training documents",
        "y_label": "Test error (%)",
        "bars": "two standard deviations of the draws" if barred else "",
        "scale": 100,
    }
    return Chart(panels=panels, columns=columns, **(given | others))


KINDS = {
    "two by two": lambda: chart(printed=(0.0, 0.3)),
    "one panel": lambda: chart(1, x=tuple(np.arange(50.0, 1050, 50))),
    "twelve panels, ten lines": lambda: chart(12, TEN, columns=3, log_x=True, log_y=True),
    "ten panels": lambda: chart(10, LABELS[:3], (25.0, 50, 100, 200, 400, 800, 1600, 3200), columns=4, log_x=True),
    "shared": lambda: chart(7, TEN, (40.0, 80, 120, 200, 400, 600, 800, 1000), columns=3, share_y=True),
    "no bars": lambda: chart(2, barred=False),
    "a single point": lambda: chart(1, LABELS[:1], (100.0,), log_x=True),
    "long words": lambda: chart(
        3,
        [f"{label}, {'with a smoothing of the training documents ' * 3}" for label in LABELS],
        columns=3,
        printed=(0.0, 0.3),
        title="Test error of every kernel against the number of training documents, and much more " * 3,
        y_label="Share of the test documents whose predicted class is not the true class, of all of them (%)",
        bars="two standard deviations of the draws, either way, of which there are many more than fit a line " * 2,
    ),
}


@cache
def drawn(kind):
    """A chart, its specification and its scene, made once for all tests, which only read them."""
    given = KINDS[kind]()
    spec = curve_chart(given)
    return given, spec, scene_of(spec)


@pytest.fixture(params=KINDS)
def picture(request):
    return drawn(request.param)


def along(x, log):
    return np.log10(x) if log else np.asarray(x, dtype=float)


def layers_of(spec, panel, kind):
    """By the field of y, the layers of a panel with a kind of mark."""
    found = [layer for layer in panel["layer"] if layer["mark"]["type"] == kind]
    return {layer["encoding"]["y"]["field"]: layer for layer in found}


def points_of(spec, panel):
    (layer,) = layers_of(spec, panel, "point").values()
    return rows_of(spec, layer, panel)


def test_every_point_and_bar_is_in_the_data(picture):
    given, spec, _ = picture
    for part, panel in zip(panels_of(spec), given.panels, strict=True):
        assert " ".join(part["title"]["text"]) == panel.title
        rows = points_of(spec, part)
        assert list(dict.fromkeys(row["series"] for row in rows)) == [line.label for line in panel.lines]
        for line in panel.lines:
            own = [row for row in rows if row["series"] == line.label]
            assert [row["y"] for row in own] == pytest.approx(100 * np.array(line.y), rel=1e-11)
            moves = along([row["x"] for row in own], given.log_x) - along(line.x, given.log_x)
            assert np.ptp(moves) < 1e-9
            gaps = np.diff(along(line.x, given.log_x))
            assert abs(moves[0]) <= 0.35 * min(gaps, default=1) + 1e-9
            if line.low:
                bars = [row for row in rows_of(spec, layers_of(spec, part, "rule")["low"], part) if row in own]
                assert [row["low"] for row in bars] == pytest.approx(100 * np.array(line.low), rel=1e-11)
                assert [row["high"] for row in bars] == pytest.approx(100 * np.array(line.high), rel=1e-11)


def test_every_point_and_bar_is_drawn_where_it_is(picture):
    """One straight line leads from numbers to places, the same for points and bars, in each panel."""
    given, spec, scene = picture
    for i, part in enumerate(panels_of(spec)):
        rows, symbols = points_of(spec, part), scene.of("symbol", i)
        places = {"x": [mark.x for mark in symbols], "y": [mark.y for mark in symbols]}
        numbers = {"x": along([r["x"] for r in rows], given.log_x), "y": along([r["y"] for r in rows], given.log_y)}
        if rules := layers_of(spec, part, "rule"):
            bars, marks = rows_of(spec, rules["low"], part), scene.of("rule", i)
            for end, name in (("low", "y"), ("high", "y2")):
                ends = [mark.y + (mark.item["y2"] - mark.item["y"] if name == "y2" else 0) for mark in marks]
                inside = [j for j, row in enumerate(bars) if not given.log_y or row[end] > 0]
                places["y"] += [ends[j] for j in inside]
                numbers["y"] = np.append(numbers["y"], along([bars[j][end] for j in inside], given.log_y))
            numbers["x"] = np.append(numbers["x"], along([row["x"] for row in bars], given.log_x))
            places["x"] += [mark.x for mark in marks]
        for name in "xy":
            if np.ptp(numbers[name]) == 0:
                continue
            slope, start = np.polyfit(numbers[name], places[name], 1)
            assert slope > 0 if name == "x" else slope < 0
            np.testing.assert_allclose(
                slope * numbers[name] + start, places[name], atol=1.01
            )  # rules lie on half points


def test_bars_of_different_lines_stand_apart(picture):
    _, _, scene = picture
    for i in range(len(scene.panels)):
        bars = [(mark.x, mark.item["stroke"]) for mark in scene.of("rule", i)]
        caps = [mark.item["width"] for mark in scene.of("rect", i) if mark.item["width"] < 10]
        thick = max((mark.item["strokeWidth"] for mark in scene.of("rule", i)), default=0)
        for (x, colour), (after, other) in pairwise(sorted(bars)):
            if colour != other:
                assert after - x > thick
                assert after - x > 0.8 * max(caps)  # the dodging counts on a little more width


def test_without_bars_nothing_is_moved():
    _, spec, _ = drawn("no bars")
    assert {row["x"] for part in panels_of(spec) for row in points_of(spec, part)} == set(SIZES)


def test_each_label_stands_once_in_the_legend_and_looks_as_in_the_panels(picture):
    given, _, scene = picture
    labels = list(dict.fromkeys(line.label for panel in given.panels for line in panel.lines))
    words = [text for text in scene.texts if text.panel is None and text.role == "mark"]
    expected = [given.bars.strip()] if given.bars else []
    expected += ["range of the paper's figure"] * bool(given.panels[0].printed)
    assert [text.text for text in words] == [label.strip() for label in labels] + expected
    samples = dict(
        zip(labels, [mark for mark in scene.marks if mark.kind == "symbol" and mark.panel is None], strict=False)
    )
    dashes = dict(
        zip(labels, [mark.item.get("strokeDash") for mark in scene.of("rule") if mark.panel is None], strict=False)
    )
    for i in range(len(scene.panels)):
        lines = {mark.item["stroke"]: mark.item["strokeDash"] for mark in scene.of("line", i)}
        shown = {mark.item["stroke"]: looks(mark) for mark in scene.of("symbol", i)}
        for label in (line.label for line in given.panels[i].lines):
            stroke, fill, shape = looks(samples[label])
            assert shown[stroke] == (stroke, fill, shape)
            assert lines[stroke] == dashes[label]
            assert abs(samples[label].y - next(t for t in words if t.text == label.strip()).y) < 1


def test_all_styles_differ_also_without_colour():
    styles = [series_style(i) for i in range(MOST_LABELS)]
    assert len({(style["stroke"], style["shape"], str(style["dash"])) for style in styles}) == MOST_LABELS
    for name in ("shape", "stroke"):
        assert len({style[name] for style in styles[:10]}) == 10
    assert len({str(style["dash"]) for style in styles[:5]}) == 5
    assert [style["fill"] == PAPER for style in styles[:4]] == [False, True, False, True]


def scales(spec, name):
    found = []
    for part in panels_of(spec):
        (layer,) = layers_of(spec, part, "point").values()
        found.append(layer["encoding"][name]["scale"])
    return found


def test_scales_and_shared_limits():
    _, spec, _ = drawn("twelve panels, ten lines")
    assert {scale["type"] for name in "xy" for scale in scales(spec, name)} == {"log"}
    _, spec, _ = drawn("shared")
    assert {scale["type"] for name in "xy" for scale in scales(spec, name)} == {"linear"}
    ends = [tuple(scale["domain"]) for scale in scales(spec, "y")]
    for row in (ends[:3], ends[3:6]):
        assert len(set(row)) == 1
    assert len(set(ends)) > 1
    assert len({tuple(scale["domain"]) for scale in scales(spec, "x")}) == 1


def test_a_linear_axis_starts_at_zero_where_there_is_room():
    _, spec, _ = drawn("two by two")
    assert {scale["domain"][0] for scale in scales(spec, "y")} == {0.0}
    high = ChartPanel("", (Line("a", (1.0, 2.0), (0.9, 0.95)),))
    spec = curve_chart(Chart("c", "t", "x", "y", (high,), scale=100))
    assert scales(spec, "y")[0]["domain"][0] > 80


def numbers_of(scene, panel, side):
    """Labels of an axis by where they stand: below the panel, or left of it."""
    left, _, _, bottom = scene.panels[panel]
    texts = [text for text in scene.texts if text.panel == panel and text.role == "axis-label"]
    return [text for text in texts if (text.y > bottom) == (side == "x") and (text.x < left) == (side == "y")]


def test_ticks_stand_at_the_sizes():
    _, spec, scene = drawn("two by two")
    for part in panels_of(spec):
        (layer,) = layers_of(spec, part, "point").values()
        assert tuple(layer["encoding"]["x"]["axis"]["values"]) == SIZES
    assert [text.text for text in numbers_of(scene, 3, "x")] == ["40", "80", "120", "200", "400"]
    assert not numbers_of(scene, 0, "x")  # those below have the same
    assert 3 <= len(numbers_of(drawn("one panel")[2], 0, "x")) <= 10


def test_axes_are_named_once_with_their_units(picture):
    given, _, scene = picture
    titles = [text.text for text in scene.texts if text.role == "title-text" and text.panel is None]
    assert sorted(titles) == sorted(text.strip() for text in (given.title, given.x_label, given.y_label))


def test_the_paper_s_range_is_a_band():
    spec = curve_chart(chart(1, printed=(0.05, 0.6)))
    (panel,) = panels_of(spec)
    band = panel["layer"][0]
    assert band["mark"]["type"] == "rect"
    assert rows_of(spec, band, panel) == [{"low": 5.0, "high": 60.0}]
    low, high = scales(spec, "y")[0]["domain"]
    assert low <= 5
    assert high >= 60
    scene = scene_of(spec)
    (drawn_band,) = [mark for mark in scene.of("rect", 0) if mark.item["width"] > 50]
    left, top, right, bottom = scene.panels[0]
    assert drawn_band.item["width"] == pytest.approx(right - left)
    assert top <= drawn_band.y < bottom


def test_everything_lies_inside_the_page_and_nothing_overlaps(picture):
    given, _, scene = picture
    assert scene.width <= (504 if given.columns > 1 and len(given.panels) > 1 else 360)
    assert scene.height <= 11 * 72
    boxes = [(text.text, text.box) for text in scene.texts] + [("panel", panel) for panel in scene.panels]
    for words, (left, top, right, bottom) in boxes:
        assert left >= -0.5, words
        assert top >= -0.5, words
        assert right <= scene.width + 0.5, words
        assert bottom <= scene.height + 0.5, words
    for (one, box), (two, other) in combinations(boxes, 2):
        assert overlap(box, other) <= 0.5, (one, two)


def test_marks_lie_inside_their_panels(picture):
    _, _, scene = picture
    for i, (left, top, right, bottom) in enumerate(scene.panels):
        for mark in (*scene.of("symbol", i), *scene.of("rule", i)):
            assert left < mark.x < right
        for mark in scene.of("symbol", i):
            assert top - 0.01 <= mark.y <= bottom + 0.01


def test_letters_are_legible_and_ticks_apart(picture):
    _, _, scene = picture
    assert all(text.item["fontSize"] >= 8 for text in scene.texts)
    for i, (left, _, right, _) in enumerate(scene.panels):
        assert right - left > 72
        for side, (start, end) in (("x", (0, 2)), ("y", (1, 3))):
            boxes = sorted(text.box for text in numbers_of(scene, i, side))
            boxes.sort(key=lambda box, start=start: box[start])
            assert all(after[start] > before[end] for before, after in pairwise(boxes))


@pytest.mark.parametrize("kind", KINDS)
def test_in_a_column_panels_are_below_each_other_and_within_its_width(kind):
    given, spec, _ = drawn(kind)
    narrow = curve_chart(given, COLUMN_WIDTH)
    scene = scene_of(narrow)
    assert scene.width <= COLUMN_WIDTH + 15
    assert len(scene.panels) == len(given.panels)
    assert all(above[3] <= below[1] for above, below in pairwise(scene.panels))
    for one, two in zip(panels_of(spec), panels_of(narrow), strict=True):
        assert [row["y"] for row in points_of(spec, one)] == [row["y"] for row in points_of(narrow, two)]


def test_a_limit_is_a_line_with_its_name_and_no_entry_of_the_legend():
    lines = (Line("a", (1.0, 10.0), (0.5, 3.0)),)
    panels = (ChartPanel("one", lines, limits=(("8 GB", 8.0), ("16 GB", 16.0))), ChartPanel("two", lines))
    spec = curve_chart(Chart("c", "t", "x", "y", panels, log_x=True, log_y=True))
    scene = scene_of(spec)
    left, top, right, bottom = scene.panels[0]
    levels = {mark.y: mark for mark in scene.of("rule", 0) if mark.item.get("strokeDash")}
    names = {mark.text: mark for mark in scene.texts if mark.text.endswith(" GB")}
    assert sorted(names) == ["16 GB", "8 GB"]  # once each, in the first panel
    assert len(levels) == 2
    for text, level in zip(("16 GB", "8 GB"), sorted(levels), strict=True):
        assert abs(levels[level].item["x2"] - levels[level].item.get("x", 0)) == pytest.approx(right - left)
        assert 0 <= level - names[text].box[3] < 4  # just above its line
        assert left <= names[text].box[0]
        assert top <= level <= bottom


AGAIN = """import sys, json
from tests.report.drawing.test_curves import KINDS
from benchmark.report.drawing.curves import curve_chart
from benchmark.report.drawing.render import render_pictures
names = json.loads(sys.argv[1])
made = render_pictures({name: curve_chart(KINDS[name]()) for name in names})
print(json.dumps({name: [files["svg"].decode(), files["png"].hex()] for name, files in made.items()}))
"""


def test_two_drawings_have_equal_bytes():
    """In another process and another order, too, and whatever theme is chosen for charts of one's own."""
    names = ["two by two", "one panel"]
    specs = {name: curve_chart(KINDS[name]()) for name in names}
    first = render_pictures(specs)
    assert {kind for files in first.values() for kind in files} == {"png", "svg"}
    with alt.theme.enable("dark"):
        assert {name: curve_chart(KINDS[name]()) for name in names} == specs
    other = subprocess.run([sys.executable, "-c", AGAIN, json.dumps(names[::-1])], capture_output=True, check=True)
    told = json.loads(other.stdout)
    assert list(told) == names[::-1]
    for name in names:
        assert told[name] == [first[name]["svg"].decode(), first[name]["png"].hex()]


def test_a_specification_is_one_that_vega_lite_knows(picture):
    given, spec, _ = picture
    assert_vega_lite(spec)
    for each in curve_pictures(given):
        assert_vega_lite(each.spec)


def test_a_page_shows_the_same_points_as_a_file(picture):
    given, spec, _ = picture
    for part, each in zip(panels_of(spec), curve_pictures(given), strict=True):
        rows, of_page = points_of(spec, part), points_of(each.spec, each.spec)
        for name in ("series", "y", "low", "high", "at", "value_text", "interval"):
            assert [row[name] for row in of_page] == [row[name] for row in rows]


def test_a_panel_without_lines_says_so():
    full = chart(1).panels[0]
    empty = ChartPanel("failed", ())
    for panels in ((full, empty), (empty,)):
        spec = curve_chart(Chart("c", "t", "x", "y", panels))
        last = len(panels) - 1
        assert [text.text for text in scene_of(spec).of("text", last)] == ["no points"]
        assert render_pictures({"c": spec})["c"]["png"]


def test_a_bar_may_reach_zero_or_leave_out_its_point():
    wide = Line("wide", (1.0, 2.0), (0.1, 0.2), (-0.1, 0.0), (0.3, 0.1))
    for log in (False, True):
        spec = curve_chart(Chart("c", "t", "x", "y", (ChartPanel("", (wide,), (0.0, 0.4)),), bars="all", log_y=log))
        low, high = scales(spec, "y")[0]["domain"]
        assert np.isfinite([low, high]).all()
        (panel,) = panels_of(spec)
        rule = layers_of(spec, panel, "rule")["low"]
        first, second = rows_of(spec, rule, panel)
        assert (first["high"], second["high"]) == (pytest.approx(0.3), pytest.approx(0.1))
        assert 0 < first["low"] < low if log else first["low"] == pytest.approx(-0.1)
        assert rule["mark"]["clip"]
        assert render_pictures({"c": spec})["c"]["png"]


def test_error_bars_are_explained_in_a_quiet_colour():
    _, _, scene = drawn("two by two")
    assert MUTED in {mark.item["stroke"] for mark in scene.of("rule") if mark.panel is None}


POINT = Line("a", (1.0,), (1.0,))


@pytest.mark.parametrize(
    ("lines", "others", "message"),
    [
        ((POINT, POINT), {}, "two lines with the same label"),
        ((Line("a", (1.0,), (np.nan,)),), {}, "not finite"),
        ((Line("a", (1.0,), (1.0,), (0.0,), (np.inf,)),), {}, "not finite"),
        ((Line("a", (1.0,), (1.0,), (2.0,), (0.0,)),), {}, "low end"),
        ((Line("a", (2.0, 1.0), (1.0, 1.0)),), {}, "do not ascend"),
        ((Line("a", (0.0, 1.0), (1.0, 1.0)),), {"log_x": True}, "not positive"),
        ((Line("a", (0.0, 1.0), (0.0, 1.0)),), {"log_y": True}, "not positive"),
        ((POINT,), {"columns": 0}, "0 panels wide"),
        ((POINT,), {"scale": 0}, "scale of 0"),
        (tuple(Line(f"line {i}", (1.0,), (1.0,)) for i in range(MOST_LABELS + 1)), {}, "labels"),
    ],
)
def test_what_cannot_be_drawn_is_refused(lines, others, message):
    with pytest.raises(ValueError, match=message):
        curve_chart(Chart("c", "t", "x", "y", (ChartPanel("p", lines),), **others))


def test_the_expressions_of_a_page_have_plain_numbers():
    """A number of numpy would be written as a call, which no browser can evaluate."""
    line = Line("a", (1.0, 2.0), tuple(np.array([0.9, 1.7])), tuple(np.array([0.8, 1.1])), tuple(np.array([1.1, 1.9])))
    panels = ChartPanel("one", (line,)), ChartPanel("two", (line,))
    for log in (False, True):
        for picture in curve_pictures(Chart("c", "T", "X", "Y", panels, log_y=log)):
            assert "own ?" in json.dumps(picture.spec)
            assert "np." not in json.dumps(picture.spec)
