"""Charts made from a figure of a configuration and the frame of scores: columns become x, lines and panels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.charts.chart import Chart, ChartPanel, Line
from benchmark.analysis.formatting.units import (
    axis_label,
    axis_scale,
    capitalized,
    display_unit,
    metric_labels,
    metric_name,
)
from benchmark.analysis.summary import HEADLINE_FOLD
from benchmark.config.model import ALL_CLASSES, BASE_VARIANT, CHOOSE_ORACLE
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.evaluation.metrics import TIME_METRICS, is_time_metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from benchmark.analysis.formatting.units import DeclaredMetrics
    from benchmark.config.model import FigureView
    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.metrics import DiagnosticMetric

#: Columns that tell cells apart. A column that varies and that a figure does not mention becomes panels.
FACET_COLUMNS = ("choice", "task", "method", "size", "terms")
X_LABELS = {
    "size": "Training documents",
    "terms": "Terms selected",
    "smoothing": "Smoothing (added to every count)",
    "n_components": "Random features of each term",
    "samples": "Samples of the spectrum",
}
SELECTION_TITLES = {
    "oracle": "best parameter on the test error (optimistic)",
    "cross-validation": "parameter by inner cross-validation",
    "temporal-holdout": "parameter by temporal hold-out",
}
PUBLISHED_LINE_LABEL = "printed"
#: Columns whose values without x are drawn as horizontal lines.
LEVEL_COLUMNS = ("method", "kernel")
NO_BAR = (math.nan, math.nan)

#: Maps ("ratio" or "difference", cell a, cell b, metric) to the value on y; None if it can't be computed.
RelationEstimator = Callable[[str, str, str, str], "Estimate | None"]


@dataclass(frozen=True)
class PublishedAxisRange:
    """Range of an axis in a figure of the paper, in the frame's unit, with the cells that the figure shows."""

    metric: str
    cells: frozenset[str]
    low: float
    high: float


@dataclass(frozen=True)
class ChartLabels:
    """Texts and published numbers of charts, beyond the scores.

    Parameters
    ----------
    title : str
        Title of the experiment.
    bars, related : str
        Meaning of the intervals of the frame, "95% interval (Wilson)", and of those of ratios and differences.
    tasks : mapping of str to str
        Titles of tasks by name.
    ranges : sequence of PublishedAxisRange
        Ranges that are drawn as bands.
    printed : mapping of (str, str) to float
        Published values by metric and class, in the frame's unit, drawn as horizontal lines.
    quantities : mapping of str to DiagnosticMetric
        Metrics declared by diagnostics, by name.
    methods : mapping of str to str
        Labels of methods by name. A method without a label is shown by its name.
    """

    title: str
    bars: str = "95% interval"
    related: str = "95% interval"
    tasks: Mapping[str, str] = field(default_factory=dict)
    ranges: Sequence[PublishedAxisRange] = ()
    printed: Mapping[tuple[str, str], float] = field(default_factory=dict)
    quantities: Mapping[str, DiagnosticMetric] = field(default_factory=lambda: DIAGNOSTIC_METRICS)
    methods: Mapping[str, str] = field(default_factory=dict)


def chart_from_figure(
    figure: FigureView, scores: pd.DataFrame, labels: ChartLabels, relate: RelationEstimator | None = None
) -> Chart | None:
    """Return the chart of a figure of the scores.

    Parameters
    ----------
    figure : FigureView
    scores : DataFrame
        The frame of scores with the columns of cells (variant, task, of_class, method, choice, size, terms). If
        `figure.x` is a parameter or a number, there is a column of that name: the cell's value, infinite if its method
        has none (its score is then a horizontal line), missing if the cell also differs from the first variant in other
        ways. Rows of folds are the replicates of a cell.
    labels : ChartLabels
    relate : callable, optional
        Required for figures of a ratio or difference.

    Returns
    -------
    Chart or None
        None if no cell of the figure has a score. There is one panel for each combination of values in the panel
        columns and each metric, in the order of the frame.
    """
    rows = _rows_of(figure, scores[scores["metric"].isin(figure.y)])
    facets = _facets(figure, rows)
    values = [list(dict.fromkeys(rows[column])) for column in facets]
    panels = []
    for *point, metric in product(*values, figure.y):
        chosen = rows[rows["metric"] == metric]
        for column, value in zip(facets, point, strict=True):
            chosen = chosen[chosen[column] == value]
        if len(chosen):
            shown = {"variant": figure.where.get("variant", "")} | dict(zip(facets, point, strict=True))
            title = _panel_title(shown, figure, metric, rows, labels)
            oracle = shown.get("choice") == CHOOSE_ORACLE
            drawn, band = _lines(figure, chosen, labels, relate), _band(figure, chosen, labels)
            panels.append(ChartPanel(title, drawn, band, oracle=oracle))
    lines = [line for panel in panels for line in panel.lines]
    if figure.log_y and any(any(line.y) for line in lines):
        # A line that is 0 everywhere, such as the error of an exact method, has no place on a logarithmic axis.
        panels = [replace(panel, lines=tuple(line for line in panel.lines if any(line.y))) for panel in panels]
        lines = [line for panel in panels for line in panel.lines]
    if not lines:
        return None
    declared = labels.quantities
    kind, measured = (
        "".join(figure.relation[:1]),
        any(is_time_metric(name, declared) for name in (figure.y[0], figure.x)),
    )
    x_is_metric = figure.x in (*TIME_METRICS, *declared)
    return Chart(
        name=figure.name,
        title=_title(figure, labels),
        x_label=X_LABELS.get(figure.x) or (axis_label((figure.x,), declared) if x_is_metric else capitalized(figure.x)),
        y_label=_y_label(figure, declared),
        panels=tuple(panels),
        bars=_bars_in_words(figure, rows, labels),
        scale=1.0 if kind == "ratio" else axis_scale(figure.y, declared),
        round_x=x_is_metric,
        log_x=figure.log_x and all(line.x[0] > 0 for line in lines),
        log_y=figure.log_y and all(min(line.y) > 0 for line in lines),
        reference={"ratio": 1.0, "difference": 0.0}.get(kind),
        share_y=measured or kind == "difference",
        measured=measured,
    )


def _rows_of(figure: FigureView, scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that a figure shows, filtered by `figure.where`.

    A figure that does not mention variants shows the first variant. One that does not mention classes shows scores over
    all classes.
    """
    rows = scores
    for column, expected in figure.where.items():
        rows = rows[[_word(value) == expected for value in rows[column]]]
    named = {*figure.where, figure.x, figure.line, *figure.panel}
    if "variant" not in named and figure.x in {"size", "terms"}:
        rows = rows[rows["variant"] == next(iter(rows["variant"]), BASE_VARIANT)]
    if "of_class" not in named:
        rows = rows[rows["of_class"].isin(("", ALL_CLASSES))]
    levels = figure.line in LEVEL_COLUMNS and not figure.relation
    return rows[rows[figure.x].notna() & (levels | (rows[figure.x] != math.inf))]


def _facets(figure: FigureView, rows: pd.DataFrame) -> list[str]:
    """Return the columns whose values become panels: varying columns that the figure doesn't mention, then its own."""
    lines = figure.relation or figure.line in LEVEL_COLUMNS
    taken = {*figure.panel, *figure.where, figure.x, figure.line, *(("method",) if lines else ())}
    varying = [column for column in FACET_COLUMNS if column not in taken and len(rows[column].unique()) > 1]
    return [*varying, *figure.panel]


def _lines(
    figure: FigureView, rows: pd.DataFrame, labels: ChartLabels, relate: RelationEstimator | None
) -> tuple[Line, ...]:
    if figure.relation:
        return tuple(_related(figure, rows, relate))
    lines, levels = [], dict[str, float]()
    drawn = rows[rows[figure.line].notna()]
    values = drawn[["cell", "fold", "value", "low", "high"]].itertuples(index=False)
    groups: dict[Any, dict[float, list[Any]]] = {}  # by pandas, thousands of points would take seconds
    for name, at, row in zip(drawn[figure.line], drawn[figure.x], values, strict=True):
        groups.setdefault(name, {}).setdefault(float(at), []).append(row)
    for name, across_x in groups.items():
        label = labels.methods.get(name, str(name)) if figure.line == "method" else str(name)
        points = [(at, *_point(figure, across_x[at])) for at in sorted(across_x)]
        lines += _line(label, [point for point in points if point[0] < math.inf])
        if points and points[0][0] == math.inf:
            levels[label] = points[0][1]
    number = labels.printed.get((rows["metric"].iloc[0], rows["of_class"].iloc[0]))
    across = tuple(sorted({at for line in lines for at in line.x}))
    ends = across[:1] + across[1:][-1:]
    if not lines:
        return ()
    below = [line for label, value in levels.items() for line in _line(label, [(x, value, *NO_BAR) for x in ends])]
    return (
        *below,
        *lines,
        *([Line(PUBLISHED_LINE_LABEL, across, (number,) * len(across))] if number is not None else []),
    )


def _related(figure: FigureView, rows: pd.DataFrame, relate: RelationEstimator | None) -> list[Line]:
    """Return a line of ratios or differences for each value of the line column, from cells that differ in method."""
    if relate is None:
        raise ValueError(f"the figure {figure.name!r} shows a ratio or difference, which needs the argument `relate`")
    kind, a, b = figure.relation
    headlines = rows[rows["fold"] == HEADLINE_FOLD]
    column = "variant" if figure.line == "method" else figure.line
    lines = []
    for name in dict.fromkeys(headlines[column]):
        points = []
        for at, group in headlines[headlines[column] == name].groupby(figure.x, sort=True):
            cells = dict(zip(group["method"], group["cell"], strict=True))
            estimate = relate(kind, cells[a], cells[b], group["metric"].iloc[0]) if {a, b} <= set(cells) else None
            points += [(float(at), estimate.value, estimate.low, estimate.high)] if estimate else []
        sign = " / " if kind == "ratio" else " − "
        lines += _line(sign.join((a, b)) if figure.line == "method" else str(name), points)
    return lines


def _point(figure: FigureView, rows: Sequence[Any]) -> tuple[float, float, float]:
    """Return the value of the first cell and the ends of its bar, NaN without a bar."""
    of_cell = [row for row in rows if row.cell == rows[0].cell]
    headline = next(row for row in of_cell if row.fold == HEADLINE_FOLD)
    replicates = np.array([row.value for row in of_cell if row.fold != HEADLINE_FOLD], dtype=np.float64)
    value = float(headline.value)
    if figure.bars == "interval":
        return value, float(headline.low), float(headline.high)
    if figure.bars == "range" and len(replicates):
        return float(replicates.mean()), float(replicates.min()), float(replicates.max())
    if figure.bars == "2 standard deviations" and len(replicates) > 1:
        mean, reach = float(replicates.mean()), 2 * float(replicates.std(ddof=1))
        return mean, mean - reach, mean + reach
    return value, math.nan, math.nan


def _line(label: str, points: Sequence[tuple[float, float, float, float]]) -> list[Line]:
    """Return the line through the points that have a value, with bars only if every point has one."""
    points = [point for point in points if math.isfinite(point[1])]
    if not points:
        return []
    x, y, low, high = zip(*points, strict=True)
    if not all(map(math.isfinite, (*low, *high))):
        low, high = (), ()
    return [Line(label, x, y, low, high)]


def _word(value: Any) -> str:
    """Write a value of a column as a configuration does."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _band(figure: FigureView, rows: pd.DataFrame, labels: ChartLabels) -> tuple[float, float] | None:
    """Return the range of the paper's axis if one of its cells is a point of this panel, else None."""
    cells, metrics = set(rows["cell"]), set(rows["metric"])
    ranges = (r for r in labels.ranges if r.metric in metrics and cells & r.cells and not figure.relation)
    return next(((r.low, r.high) for r in ranges), None)


def _panel_title(
    point: Mapping[str, Any], figure: FigureView, metric: str, rows: pd.DataFrame, labels: ChartLabels
) -> str:
    """Write the values of the panel columns on one line, then model selection and, of several metrics, the metric."""
    words = [
        labels.tasks.get(str(value), str(value)) if column == "task" else _named(column, value, rows, labels)
        for column in ("variant", "task", "of_class", "method", "size", "terms")
        if (value := point.get(column))
    ]
    others = [SELECTION_TITLES.get(point["choice"], str(point["choice"]))] if point.get("choice") else []
    if len(figure.y) > 1:
        others.append(metric_labels(metric, labels.quantities).definition)
    return "\n".join(filter(None, [", ".join(words), *others]))


def _named(column: str, value: Any, rows: pd.DataFrame, labels: ChartLabels) -> str:
    """Write a value of a panel column in words."""
    if column == "of_class" and value == ALL_CLASSES:
        classes = [name for name in dict.fromkeys(rows["of_class"]) if name not in ("", ALL_CLASSES)]
        return f"average of the {len(classes)} classes" if classes else "all classes"
    if column in {"size", "terms"}:
        return f"{int(value):,} {X_LABELS[column].lower()}"
    if column == "method":
        return labels.methods.get(value, str(value))
    return "as configured" if value == BASE_VARIANT else str(value)


def _title(figure: FigureView, labels: ChartLabels) -> str:
    """Return the title of the figure, or one made from what it shows."""
    if figure.title not in ("", labels.title):
        return figure.title if figure.title.startswith(labels.title) else f"{labels.title}: {figure.title}"
    name = metric_name(figure.y[0], labels.quantities)
    if figure.relation:
        kind, *methods = figure.relation
        a, b = (labels.methods.get(method, method) for method in methods)
        return f"{labels.title}: {name}, {a} {'over' if kind == 'ratio' else 'minus'} {b}"
    if "of_class" in figure.panel:
        return f"{labels.title}: {name} of each class"
    variant = figure.where.get("variant", BASE_VARIANT)  # several figures may show one variant each
    return labels.title if variant == BASE_VARIANT else f"{labels.title}: {variant}"


def _y_label(figure: FigureView, declared: DeclaredMetrics) -> str:
    if not figure.relation:
        return axis_label(figure.y, declared)
    kind, name = figure.relation[0], metric_name(figure.y[0], declared)
    unit = display_unit(figure.y[0], declared)
    symbol = "points" if unit.name == "percent" else unit.symbol
    if kind == "ratio":
        return f"Ratio of the {name}"
    return f"Difference of the {name}" + (f" ({symbol})" if symbol else "")


def _bars_in_words(figure: FigureView, rows: pd.DataFrame, labels: ChartLabels) -> str:
    if figure.relation:
        return labels.related
    replicates = rows[rows["fold"] != HEADLINE_FOLD]["fold"].nunique()
    return {
        "interval": labels.bars,
        "2 standard deviations": f"2 standard deviations of the {replicates} replicates",
        "range": f"smallest and largest of the {replicates} replicates",
    }.get(figure.bars, "")
