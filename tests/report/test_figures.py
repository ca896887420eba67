"""Figures as views of the score frame: what is a line, a panel, a bar; what is left out; what axes say."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest

from benchmark.analysis.figures import ChartLabels, PublishedAxisRange, chart_from_figure
from benchmark.config.model import ALL_CLASSES, FigureView
from benchmark.evaluation.intervals import Estimate

COLUMNS = (
    *("cell", "variant", "task", "of_class", "method", "choice", "size", "terms"),
    *("fold", "metric", "value", "low", "high"),
)
LABELS = ChartLabels("Title", bars="95% interval", tasks={"a-b": "a vs b"})
SIZES, METHODS, DRAWS = (50, 100, 200), ("linear", "ngd"), 4


def value_of(method, size, metric="error"):
    return 0.3 / (1 + METHODS.index(method)) - size / 1000 + (0.5 if metric != "error" else 0.0)


def scores(
    variants=("base",), tasks=("",), classes=("",), choices=("",), sizes=SIZES, terms=(None,), metrics=("error",)
):
    """Every combination with as many draws around its value; a cell has one."""
    rows = []
    for variant, task, of_class, choice, method, size, number in product(
        variants, tasks, classes, choices, METHODS, sizes, terms
    ):
        names = [task, of_class, method, choice, size, number]
        cell = "-".join(str(name) for name in ([variant] if variant != "base" else []) + names if name)
        for metric in metrics:
            key = (cell, variant, task, of_class, method, choice, size, number)
            value = value_of(method, size or 100, metric)
            rows.append((*key, "all", metric, value, value - 0.01, value + 0.02))
            rows += [
                (*key, f"replicate-{i}", metric, value + shift, math.nan, math.nan)
                for i, shift in enumerate(np.linspace(-0.03, 0.03, DRAWS))
            ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_a_method_is_a_line_and_size_runs_along_x():
    chart = chart_from_figure(FigureView("figure", ("error",)), scores(), LABELS)
    (panel,) = chart.panels
    assert [line.label for line in panel.lines] == list(METHODS)
    assert panel.lines[1].x == (50.0, 100.0, 200.0)
    assert panel.lines[1].y == pytest.approx([value_of("ngd", size) for size in SIZES])
    assert (chart.x_label, chart.y_label, chart.title) == ("Training documents", "Test error (%)", "Title")
    assert (chart.scale, chart.bars, chart.measured) == (100, "95% interval", False)


def test_choices_and_tasks_are_panels_in_rows_of_a_choice():
    frame = scores(tasks=("a-b", "a-c"), choices=("oracle", "cross-validation"))
    chart = chart_from_figure(FigureView("figure", ("error",)), frame, LABELS)
    titles = [panel.title for panel in chart.panels]
    assert [panel.oracle for panel in chart.panels] == [True, True, False, False]
    assert titles[0] == "a vs b\nbest parameter on the test error (optimistic)"
    assert [title.split("\n")[0] for title in titles] == ["a vs b", "a-c"] * 2


@pytest.mark.parametrize(
    ("bars", "low", "high", "words"),
    [
        ("interval", -0.01, 0.02, "95% interval"),
        ("range", -0.03, 0.03, "smallest and largest of the 4 replicates"),
        (
            "2 standard deviations",
            -2 * np.std(np.linspace(-0.03, 0.03, DRAWS), ddof=1),
            2 * np.std(np.linspace(-0.03, 0.03, DRAWS), ddof=1),
            "2 standard deviations of the 4 replicates",
        ),
    ],
)
def test_bars_are_what_the_figure_says(bars, low, high, words):
    chart = chart_from_figure(FigureView("figure", ("error",), bars=bars), scores(), LABELS)
    line = chart.panels[0].lines[0]
    assert np.subtract(line.low, line.y) == pytest.approx([low] * len(SIZES))
    assert np.subtract(line.high, line.y) == pytest.approx([high] * len(SIZES))
    assert chart.bars == words


def test_no_bars_where_none_are_wanted_or_one_is_missing():
    assert not chart_from_figure(FigureView("figure", ("error",), bars="none"), scores(), LABELS).panels[0].lines[0].low
    frame = scores()
    frame.loc[0, "high"] = math.nan
    first, second = chart_from_figure(FigureView("figure", ("error",)), frame, LABELS).panels[0].lines
    assert not first.low
    assert second.low


def test_several_metrics_stand_side_by_side():
    frame = scores(metrics=("macro-f1", "macro-f1-of-means"))
    chart = chart_from_figure(FigureView("figure-1", ("macro-f1", "macro-f1-of-means")), frame, LABELS)
    assert [panel.title for panel in chart.panels] == [
        "mean of the classes' F1",
        "F1 of the mean precision and recall",
    ]
    assert chart.y_label == "F-measure (%)"


@pytest.mark.parametrize(
    ("metrics", "scale", "label"),
    [
        (("error", "accuracy"), 100, "Test error or accuracy (%)"),
        (("error", "seconds"), 1, "Test error (fraction) or seconds"),
        (("seconds", "macro-f1"), 1, "Seconds or F-measure (fraction)"),
        (("seconds",), 1, "Seconds"),
    ],
)
def test_shares_are_percent_unless_another_unit_is_on_their_axis(metrics, scale, label):
    chart = chart_from_figure(FigureView("figure", metrics), scores(metrics=metrics), LABELS)
    assert (chart.scale, chart.y_label) == (scale, label)


def test_classes_are_left_out_unless_they_are_panels():
    frame = scores(classes=(ALL_CLASSES, "earn", "acq"), metrics=("macro-recall",))
    whole = chart_from_figure(FigureView("figure", ("macro-recall",)), frame, LABELS)
    assert len(whole.panels) == 1
    each = chart_from_figure(FigureView("figure", ("macro-recall",), panel=("of_class",)), frame, LABELS)
    assert [panel.title for panel in each.panels] == ["average of the 2 classes", "earn", "acq"]
    assert each.title == "Title: macro-recall of each class"
    only = chart_from_figure(FigureView("figure", ("macro-recall",), where={"of_class": "earn"}), frame, LABELS)
    assert only.panels[0].lines[0].x == (50.0, 100.0, 200.0)


def test_of_variants_the_first_is_shown_unless_they_are_named():
    frame = scores(variants=("base", "digits"))
    first = chart_from_figure(FigureView("figure", ("error",)), frame, LABELS)
    assert len(first.panels[0].lines) == len(METHODS)
    panels = chart_from_figure(FigureView("figure", ("error",), panel=("variant",)), frame, LABELS).panels
    assert [panel.title for panel in panels] == ["as configured", "digits"]
    lines = chart_from_figure(FigureView("figure", ("error",), line="variant", where={"method": "ngd"}), frame, LABELS)
    assert [line.label for line in lines.panels[0].lines] == ["base", "digits"]


def test_what_a_figure_is_silent_on_becomes_panels_where_it_varies():
    frame = scores(sizes=(50, 100), terms=(10, 20, 30))
    chart = chart_from_figure(FigureView("figure", ("error",), x="terms", log_x=True), frame, LABELS)
    assert [panel.title for panel in chart.panels] == ["50 training documents", "100 training documents"]
    assert (chart.x_label, chart.log_x) == ("Terms selected", True)


def test_a_parameter_runs_along_x_of_the_cells_that_have_it():
    frame = scores(variants=("base", "less", "other"), sizes=(50, 100))
    frame["smoothing"] = frame["variant"].map({"base": 0.1, "less": 0.01, "other": math.nan})
    chart = chart_from_figure(
        FigureView("smoothing", ("error",), x="smoothing", panel=("size",), log_x=True), frame, LABELS
    )
    assert [panel.title for panel in chart.panels] == ["50 training documents", "100 training documents"]
    assert chart.panels[0].lines[0].x == (0.01, 0.1)


def relate(kind, a, b, metric):
    assert (a.replace("ngd", "linear"), metric) == (b, "error")
    return None if "100" in a else Estimate(1.5 if kind == "ratio" else 0.1, 0.05, 2.0, 4, "")


def test_a_relation_is_one_line_through_what_can_be_computed():
    chart = chart_from_figure(FigureView("ratio", ("error",), ("ratio", "ngd", "linear")), scores(), LABELS, relate)
    ((line,),) = (panel.lines for panel in chart.panels)
    assert (line.label, line.x, line.y) == ("ngd / linear", (50.0, 200.0), (1.5, 1.5))
    assert (chart.scale, chart.y_label) == (1, "Ratio of the error")
    frame = scores(variants=("base", "digits"))
    figure = FigureView("gain", ("error",), ("difference", "ngd", "linear"), line="variant")
    chart = chart_from_figure(figure, frame, LABELS, relate)
    assert [line.label for line in chart.panels[0].lines] == ["base", "digits"]
    assert (chart.scale, chart.y_label) == (100, "Difference of the error (points)")


def test_printed_ranges_and_numbers_are_drawn_where_they_belong():
    ranges = [PublishedAxisRange("error", frozenset({"a-b-ngd-50"}), 0.02, 0.18)]
    frame = scores(tasks=("a-b", "a-c"))
    labels = ChartLabels("Title", ranges=ranges)
    assert [panel.printed for panel in chart_from_figure(FigureView("f", ("error",)), frame, labels).panels] == [
        (0.02, 0.18),
        None,
    ]
    frame = scores(classes=("earn", "acq"), metrics=("average-skl",))
    labels = ChartLabels("Title", printed={("average-skl", "earn"): 9.0})
    earn, acq = chart_from_figure(FigureView("f", ("average-skl",), panel=("of_class",)), frame, labels).panels
    assert [line.label for line in earn.lines] == [*METHODS, "printed"]
    assert earn.lines[-1].y == (9.0, 9.0, 9.0)
    assert len(acq.lines) == len(METHODS)


def test_what_is_read_off_the_clock_is_marked_and_shares_its_scale():
    chart = chart_from_figure(
        FigureView("f", ("seconds",), bars="range", log_y=True), scores(metrics=("seconds",)), LABELS
    )
    assert (chart.measured, chart.share_y, chart.log_y, chart.y_label, chart.scale) == (True, True, True, "Seconds", 1)


class TestNumbersOfTheMethods:
    """Two maps of two numbers of features each, and the kernel that has none."""

    @pytest.fixture(name="frame")
    def fixture_frame(self):
        frame = pd.concat([scores(sizes=(None,)).assign(method=name, cell=name) for name in "abcdk"]).query(
            "fold == 'all'"
        )
        frame = frame[~frame["cell"].duplicated()]
        features = {"a": 10.0, "b": 100.0, "c": 20.0, "d": 200.0, "k": math.inf}
        kernels = {"a": "one", "b": "one", "c": "other", "d": "other", "k": "exact"}
        values = {"a": 0.3, "b": 0.1, "c": 0.0, "d": 0.0, "k": 0.05}
        return frame.assign(
            **{
                name: frame["cell"].map(given)
                for name, given in (("features", features), ("kernel", kernels), ("value", values))
            }
        )

    def test_a_kernel_is_a_line_and_one_without_features_a_level(self, frame):
        chart = chart_from_figure(FigureView("f", ("error",), x="features", line="kernel", bars="none"), frame, LABELS)
        (panel,) = chart.panels
        assert {line.label: (line.x, line.y) for line in panel.lines} == {
            "exact": ((10.0, 200.0), (0.05, 0.05)),
            "one": ((10.0, 100.0), (0.3, 0.1)),
            "other": ((20.0, 200.0), (0.0, 0.0)),
        }
        assert (chart.x_label, chart.round_x, chart.measured) == ("Features", True, False)

    def test_what_is_0_throughout_is_left_out_of_a_logarithmic_axis(self, frame):
        chart = chart_from_figure(FigureView("f", ("error",), x="features", line="kernel", log_y=True), frame, LABELS)
        assert chart.log_y
        assert [line.label for line in chart.panels[0].lines] == ["exact", "one"]

    def test_levels_alone_are_no_chart(self, frame):
        only = frame[frame["kernel"] == "exact"]
        assert chart_from_figure(FigureView("f", ("error",), x="features", line="kernel"), only, LABELS) is None


def test_a_logarithmic_axis_without_a_logarithm_is_drawn_linear():
    frame = scores(sizes=(50,))
    frame["value"] = 0.0
    assert not chart_from_figure(FigureView("f", ("error",), bars="none", log_y=True), frame, LABELS).log_y


def test_nothing_to_draw_is_no_chart():
    assert chart_from_figure(FigureView("f", ("accuracy",)), scores(), LABELS) is None
    assert chart_from_figure(FigureView("f", ("error",), x="terms"), scores(), LABELS) is None


class TestDetails:
    """What figures say of bars, titles, scales and columns, case by case."""

    DIFFERENCE = FigureView("gain", ("error",), ("difference", "ngd", "linear"))

    @pytest.mark.parametrize(
        ("changes", "title"),
        [
            ({}, "Title"),
            ({"title": "Title"}, "Title"),
            ({"title": "Title of more"}, "Title of more"),
            ({"title": "Other"}, "Title: Other"),
            ({"relation": ("ratio", "ngd", "linear")}, "Title: error, ngd over linear"),
            ({"relation": ("difference", "ngd", "linear")}, "Title: error, ngd minus linear"),
            ({"panel": ("of_class",)}, "Title: error of each class"),
            ({"where": {"variant": "digits"}}, "Title: digits"),
            ({"where": {"variant": "base"}}, "Title"),
        ],
    )
    def test_a_title_says_what_is_shown(self, changes, title):
        frame = scores(variants=("base", "digits"))
        assert chart_from_figure(FigureView("f", ("error",), **changes), frame, LABELS, relate).title == title

    @pytest.mark.parametrize(("word", "sizes"), [("0.1", (50.0, 200.0)), ("2", (100.0,)), ("0.10", None)])
    def test_numbers_are_chosen_as_a_configuration_writes_them(self, word, sizes):
        frame = scores()
        frame["smoothing"] = frame["size"].map({50: 0.1, 100: 2.0, 200: 0.1})
        chart = chart_from_figure(FigureView("f", ("error",), where={"smoothing": word}), frame, LABELS)
        assert (chart and chart.panels[0].lines[0].x) == sizes
