from functools import cache
from itertools import combinations, pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex

from benchmark.report.charts import Chart, Line, Panel
from benchmark.report.drawing.curves import MOST_LABELS, chart_figure, line_style
from benchmark.report.drawing.style import png_bytes, svg_bytes

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
        Panel(f"topic {i}", tuple(curve(label, x, i, barred) for label in labels), printed) for i in range(n)
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
    """A chart and its figure, drawn once for all tests, which only read it."""
    given = KINDS[kind]()
    figure = chart_figure(given)
    figure.draw_without_rendering()
    return given, figure


@pytest.fixture(params=KINDS)
def picture(request):
    return drawn(request.param)


def panels_of(figure):
    return [axes for part in figure.subfigs for axes in part.axes]


def keys_of(figure):
    return [key for part in figure.subfigs for key in part.legends]


def drawn_lines(axes):
    return {each.get_label(): each for each in axes.get_lines() if not each.get_label().startswith("_")}


def drawn_bars(axes):
    """By colour, the segments of the bars: (x, low), (x, high)."""
    return {
        to_hex(container.lines[2][0].get_color()[0]): container.lines[2][0].get_segments()
        for container in axes.containers
    }


def along(x, log):
    return np.log10(x) if log else np.asarray(x)


def test_every_point_and_bar_is_drawn_where_it_is(picture):
    given, figure = picture
    for axes, panel in zip(panels_of(figure), given.panels, strict=True):
        assert axes.get_title().replace("\n", " ") == panel.title
        lines, bars = drawn_lines(axes), drawn_bars(axes)
        assert list(lines) == [line.label for line in panel.lines]
        for line in panel.lines:
            xs, ys = lines[line.label].get_data()
            np.testing.assert_allclose(ys, 100 * np.array(line.y))
            moves = along(xs, given.log_x) - along(line.x, given.log_x)
            assert np.ptp(moves) < 1e-9
            gaps = np.diff(along(line.x, given.log_x))
            assert abs(moves[0]) <= 0.35 * min(gaps, default=1)
            if line.low:
                segments = np.array(bars[to_hex(lines[line.label].get_color())])
                np.testing.assert_allclose(segments[:, :, 0], np.transpose([xs, xs]))
                np.testing.assert_allclose(segments[:, :, 1], 100 * np.transpose([line.low, line.high]))


def test_bars_of_different_lines_stand_apart(picture):
    figure = picture[1]
    for axes in panels_of(figure):
        bars = [container.lines[2][0] for container in axes.containers]
        spots = sorted(
            (axes.transData.transform(end[0])[0] * 72 / figure.dpi, i)
            for i, bar in enumerate(bars)
            for end in bar.get_segments()
        )
        caps = [cap.get_markersize() for container in axes.containers for cap in container.lines[1]]
        for (x, i), (after, j) in pairwise(spots):
            if i != j:
                assert after - x > bars[i].get_linewidth()[0]
                assert after - x > 0.8 * max(caps)  # the axes' width in print is estimated


def test_without_bars_nothing_is_moved():
    for axes in panels_of(drawn("no bars")[1]):
        assert all(tuple(line.get_xdata()) == SIZES for line in drawn_lines(axes).values())


def test_each_label_stands_once_in_the_legend_and_looks_as_in_the_panels(picture):
    given, figure = picture
    key, *others = keys_of(figure)
    labels = list(dict.fromkeys(line.label for panel in given.panels for line in panel.lines))
    handles = {text.get_text(): handle for text, handle in zip(key.get_texts(), key.legend_handles, strict=True)}
    assert sorted(text.replace("\n", " ") for text in handles) == sorted(label.strip() for label in labels)
    wrapped = {text.replace("\n", " "): handle for text, handle in handles.items()}
    for axes in panels_of(figure):
        for label, line in drawn_lines(axes).items():
            handle = wrapped[label.strip()]
            for look in ("color", "marker", "markerfacecolor", "markersize"):
                assert mpl.artist.getp(handle, look) == mpl.artist.getp(line, look)
            assert handle._unscaled_dash_pattern == line._unscaled_dash_pattern
    meanings = [text.get_text().replace("\n", " ") for other in others for text in other.get_texts()]
    expected = [given.bars.strip()] if given.bars else []
    if given.panels[0].printed:
        expected.append("range of the paper's figure")
    assert meanings == expected


def test_all_styles_differ_also_without_colour():
    styles = [line_style(i, 4) for i in range(MOST_LABELS)]
    looks = [(style["color"], style["marker"], style["linestyle"]) for style in styles]
    assert len(set(looks)) == MOST_LABELS
    assert len({style["marker"] for style in styles[:10]}) == 10
    assert len({style["color"] for style in styles[:10]}) == 10
    assert len({style["linestyle"] for style in styles[:5]}) == 5


def test_scales_and_shared_limits():
    logarithmic = panels_of(drawn("twelve panels, ten lines")[1])
    assert {(axes.get_xscale(), axes.get_yscale()) for axes in logarithmic} == {("log", "log")}
    shared = panels_of(drawn("shared")[1])
    assert {(axes.get_xscale(), axes.get_yscale()) for axes in shared} == {("linear", "linear")}
    for row in (shared[:3], shared[3:6]):
        assert len({axes.get_ylim() for axes in row}) == 1
    assert len({axes.get_ylim() for axes in shared}) > 1
    assert len({axes.get_xlim() for axes in shared}) == 1


def test_ticks_stand_at_the_sizes():
    figure = drawn("two by two")[1]
    for axes in panels_of(figure):
        assert tuple(axes.get_xticks()) == SIZES
    labels = [text.get_text() for text in panels_of(figure)[-1].get_xticklabels()]
    assert labels == ["40", "80", "120", "200", "400"]
    many = panels_of(drawn("one panel")[1])[0]
    assert 3 <= len(many.get_xticks()) <= 10


def test_axes_are_named_with_their_units():
    axes = panels_of(drawn("one panel")[1])[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Training documents", "Test error (%)")
    above = drawn("two by two")[1].subfigs[0]
    assert (above.get_supxlabel(), above.get_supylabel()) == ("Training documents", "Test error (%)")
    assert above.get_suptitle() == "Test error against the training documents"


def test_the_paper_s_range_is_a_band():
    axes = panels_of(chart_figure(chart(1, printed=(0.05, 0.6))))[0]
    (band,) = axes.patches
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((5, 60))
    low, high = axes.get_ylim()
    assert low <= 5
    assert high >= 60


def test_everything_lies_inside_the_page_and_nothing_overlaps(picture):
    given, figure = picture
    tight, page = figure.get_tightbbox(), figure.bbox_inches
    assert page.width == (7 if given.columns > 1 and len(given.panels) > 1 else 5)
    assert page.height <= 11
    assert tight.x0 >= -0.01
    assert tight.y0 >= -0.01
    assert tight.x1 <= page.x1 + 0.01
    assert tight.y1 <= page.y1 + 0.01
    above = figure.subfigs[0]
    boxes = [axes.get_tightbbox() for axes in above.axes] + [key.get_window_extent() for key in keys_of(figure)]
    names = [getattr(above, name, None) for name in ("_suptitle", "_supxlabel", "_supylabel")]
    boxes += [text.get_window_extent() for text in names if text is not None]
    for one, two in combinations(boxes, 2):
        width, height = min(one.x1, two.x1) - max(one.x0, two.x0), min(one.y1, two.y1) - max(one.y0, two.y0)
        assert width <= 1 or height <= 1  # pixel: a marker on the frame


def test_letters_are_legible_and_ticks_apart(picture):
    figure = picture[1]
    for axes in panels_of(figure):
        assert axes.get_position().width * figure.bbox_inches.width > 1
        for labels, side in ((axes.get_xticklabels(), "x"), (axes.get_yticklabels(), "y")):
            shown = [label for label in labels if label.get_text() and label.get_visible()]
            assert all(label.get_fontsize() >= 8 for label in shown)
            boxes = [getattr(label.get_window_extent(), f"interval{side}") for label in shown]
            assert all(after[0] > before[1] for before, after in pairwise(boxes))
    texts = [text for key in keys_of(figure) for text in key.get_texts()]
    assert all(text.get_fontsize() >= 8 for text in texts)


def test_two_drawings_have_equal_bytes():
    def again():
        return chart_figure(chart(2, printed=(0.0, 0.3)))

    one, two = again(), again()
    png, svg = png_bytes(one), svg_bytes(one)
    with mpl.rc_context({"font.size": 20, "axes.facecolor": "black", "svg.hashsalt": None}):
        assert svg_bytes(two) == svg  # also in the other order
        assert png_bytes(two) == png
        assert svg_bytes(again()) == svg


def test_a_panel_without_lines_says_so():
    full = chart(1).panels[0]
    empty = Panel("failed", ())
    for panels in ((full, empty), (empty,)):
        figure = chart_figure(Chart("c", "t", "x", "y", panels))
        assert [text.get_text() for text in panels_of(figure)[-1].texts] == ["no points"]
        assert len(png_bytes(figure)) > 1000


def test_a_bar_may_reach_zero_or_leave_out_its_point():
    wide = Line("wide", (1.0, 2.0), (0.1, 0.2), (-0.1, 0.0), (0.3, 0.1))
    for log in (False, True):
        panel = Panel("", (wide,), (0.0, 0.4))
        figure = chart_figure(Chart("c", "t", "x", "y", (panel,), bars="all", log_y=log))
        axes = panels_of(figure)[0]
        assert np.isfinite(axes.get_ylim()).all()
        ((first, second),) = drawn_bars(axes).values()
        assert first[1][1] == pytest.approx(0.3)
        assert second[1][1] == pytest.approx(0.1)
        assert first[0][1] < axes.get_ylim()[0] if log else first[0][1] == pytest.approx(-0.1)
        assert len(png_bytes(figure)) > 1000


POINT = Line("a", (1.0,), (1.0,))


@pytest.mark.parametrize(
    ("lines", "others", "message"),
    [
        ((POINT, POINT), {}, "two lines of one label"),
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
        chart_figure(Chart("c", "t", "x", "y", (Panel("p", lines),), **others))
