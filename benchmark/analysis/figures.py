"""Charts made from a figure of a configuration and the frame of scores: columns become x, lines and panels."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.analysis.charts.chart import Chart, ChartPanel, Line
from benchmark.analysis.formatting.labels import method_labels
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
from benchmark.evaluation.metrics import TIME_METRICS, is_time_metric
from benchmark.evaluation.sampling_model import sampling_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmark.config.model import Experiment, FigureView
    from benchmark.evaluation.score_table import ScoreTable
    from benchmark.papers.published import Published, PublishedValue

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


def charts_of(experiment: Experiment, scored: ScoreTable, published: Published | None) -> tuple[Chart, ...]:
    """Return the charts of the configured figures that have data.

    There is one panel for each combination of values in the panel columns and each metric, in the order of the frame.
    If a figure's x is a parameter or a number, the frame has a column of that name: the cell's value, infinite if its
    method has none (its score is then a horizontal line), missing if the cell also differs from the first variant in
    other ways. Rows of folds are the replicates of a cell.
    """
    figures = [figure for figure in experiment.figures if not figure.regions]
    frames = [each for each in (scored.frame, scored.drawn) if len(each)]
    if not figures or not frames:
        return ()
    scores = pd.concat(frames, ignore_index=True)
    for axis in {figure.x for figure in figures} - set(scores.columns):
        scores[axis] = np.nan
    of_run = _ChartsOfRun(experiment, scored, published)
    charts = (of_run.chart(figure, _rows_of(figure, scores[scores["metric"].isin(figure.y)])) for figure in figures)
    return tuple(chart for chart in charts if chart is not None)


def published_by_cell(published: Published | None, experiment: Experiment) -> dict[str, float]:
    """Return the published values of this configuration, or of the one it explains, by cell; shares as fractions."""
    return {
        value.cell: float(value.value) / (100 if value.unit == "percent" else 1)
        for value in _printed(published, experiment)
        if value.cell
    }


def _printed(published: Published | None, experiment: Experiment) -> list[PublishedValue]:
    values = published.values if published else ()  # noqa: PD011 - not a frame's
    return [value for value in values if value.config == (experiment.sensitivity_of or experiment.name)]


class _ChartsOfRun:
    """Charts of one run: texts and published numbers beside the scores."""

    def __init__(self, experiment: Experiment, scored: ScoreTable, published: Published | None) -> None:
        first = next(iter(experiment.variants.values()))
        self.title, self.declared, self.scored = experiment.title, experiment.declared, scored
        self.methods, self.sample = method_labels(experiment), sampling_of(first.protocol.tags, experiment.seed)
        self.tasks = {task.name: task.title for task in first.tasks}
        self.ranges = [each for each in published.ranges if each.config == experiment.name] if published else []
        cells = {cell.id: cell for cell in experiment.cells if cell.what == "diagnostic"}
        own = [value for value in _printed(published, experiment) if value.cell in cells]
        self.printed = {(v.metric, cells[v.cell or ""].of_class): float(v.value) for v in own}

    def chart(self, figure: FigureView, rows: pd.DataFrame) -> Chart | None:
        """Return the chart of a figure; None if no cell of it has a score."""
        facets = _facets(figure, rows)
        values = [list(dict.fromkeys(rows[column])) for column in facets]
        panels = []
        for *point, metric in product(*values, figure.y):
            chosen = rows[rows["metric"] == metric]
            for column, value in zip(facets, point, strict=True):
                chosen = chosen[chosen[column] == value]
            if len(chosen):
                shown = {"variant": figure.where.get("variant", "")} | dict(zip(facets, point, strict=True))
                title = self._panel_title(shown, figure, metric, rows)
                drawn = tuple(self._related(figure, chosen) if figure.relation else self._lines(figure, chosen))
                oracle = shown.get("choice") == CHOOSE_ORACLE
                panels.append(ChartPanel(title, drawn, self._band(figure, chosen), oracle=oracle))
        lines = [line for panel in panels for line in panel.lines]
        if figure.log_y and any(any(line.y) for line in lines):
            # A line that is 0 everywhere, such as the error of an exact method, has no place on a logarithmic axis.
            panels = [replace(panel, lines=tuple(line for line in panel.lines if any(line.y))) for panel in panels]
            lines = [line for panel in panels for line in panel.lines]
        if not lines:
            return None
        kind, declared = "".join(figure.relation[:1]), self.declared
        measured = any(is_time_metric(name, declared) for name in (figure.y[0], figure.x))
        x_is_metric = figure.x in (*TIME_METRICS, *declared)
        x_label = axis_label((figure.x,), declared) if x_is_metric else capitalized(figure.x)
        return Chart(
            name=figure.name,
            title=self._title(figure),
            x_label=X_LABELS.get(figure.x, x_label),
            y_label=self._y_label(figure),
            panels=tuple(panels),
            bars=self._bars_in_words(figure, rows),
            scale=1.0 if kind == "ratio" else axis_scale(figure.y, declared),
            round_x=x_is_metric,
            log_x=figure.log_x and all(line.x[0] > 0 for line in lines),
            log_y=figure.log_y and all(min(line.y) > 0 for line in lines),
            reference={"ratio": 1.0, "difference": 0.0}.get(kind),
            share_y=measured or kind == "difference",
            measured=measured,
        )

    def _lines(self, figure: FigureView, rows: pd.DataFrame) -> Iterator[Line]:
        """Yield the lines of a panel: levels of methods without a value on x, other lines, and the published value."""
        drawn = rows[rows[figure.line].notna()]
        values = drawn[["cell", "fold", "value", "low", "high"]].itertuples(index=False)
        groups: dict[Any, dict[float, list[Any]]] = {}  # by pandas, thousands of points would take seconds
        for name, at, row in zip(drawn[figure.line], drawn[figure.x], values, strict=True):
            groups.setdefault(name, {}).setdefault(float(at), []).append(row)
        lines, levels = list[Line](), dict[str, float]()
        for name, across_x in groups.items():
            label = self.methods.get(name, str(name)) if figure.line == "method" else str(name)
            points = [(at, *_point(figure, across_x[at])) for at in sorted(across_x)]
            lines += _line(label, [point for point in points if point[0] < math.inf])
            if points and points[0][0] == math.inf:
                levels[label] = points[0][1]
        across = tuple(sorted({at for line in lines for at in line.x}))
        if lines:
            ends = across[:1] + across[1:][-1:]
            for label, value in levels.items():
                yield from _line(label, [(x, value, math.nan, math.nan) for x in ends])
            yield from lines
            number = self.printed.get((rows["metric"].iloc[0], rows["of_class"].iloc[0]))
            if number is not None:
                yield Line(PUBLISHED_LINE_LABEL, across, (number,) * len(across))

    def _related(self, figure: FigureView, rows: pd.DataFrame) -> Iterator[Line]:
        """Yield a line of ratios or differences for each value of the line column, from cells that differ in method."""
        kind, a, b = figure.relation
        estimate = self.scored.ratio if kind == "ratio" else self.scored.difference
        headlines = rows[rows["fold"] == HEADLINE_FOLD]
        column = "variant" if figure.line == "method" else figure.line
        for name in dict.fromkeys(headlines[column]):
            points = []
            for at, group in headlines[headlines[column] == name].groupby(figure.x, sort=True):
                cells = dict(zip(group["method"], group["cell"], strict=True))
                try:
                    found = estimate(cells[a], cells[b], group["metric"].iloc[0])
                except (ValueError, KeyError):  # the ratio is not defined, or a cell has no score
                    continue
                points.append((float(at), found.value, found.low, found.high))
            sign = " / " if kind == "ratio" else " − "
            yield from _line(sign.join((a, b)) if figure.line == "method" else str(name), points)

    def _band(self, figure: FigureView, rows: pd.DataFrame) -> tuple[float, float] | None:
        """Return the range of the paper's axis if one of its cells is a point of this panel, else None."""
        cells, metrics = set(rows["cell"]), set(rows["metric"])
        ranges = () if figure.relation else self.ranges
        own = (r for r in ranges if r.metric in metrics and cells.intersection(r.expanded))
        return next(((float(r.low), float(r.high)) for r in own), None)

    def _panel_title(self, point: Mapping[str, Any], figure: FigureView, metric: str, rows: pd.DataFrame) -> str:
        """Write the panel columns' values on a line, then model selection and, of several metrics, the metric."""
        words = (
            self._named(column, value, rows)
            for column in ("variant", "task", "of_class", "method", "size", "terms")
            if (value := point.get(column))
        )
        others = [SELECTION_TITLES.get(point["choice"], str(point["choice"]))] if point.get("choice") else []
        others += [metric_labels(metric, self.declared).definition] if len(figure.y) > 1 else []
        return "\n".join(filter(None, [", ".join(words), *others]))

    def _named(self, column: str, value: Any, rows: pd.DataFrame) -> str:
        """Write a value of a panel column in words."""
        if column == "of_class" and value == ALL_CLASSES:
            classes = [name for name in dict.fromkeys(rows["of_class"]) if name not in ("", ALL_CLASSES)]
            return f"average of the {len(classes)} classes" if classes else "all classes"
        if column in {"size", "terms"}:
            return f"{int(value):,} {X_LABELS[column].lower()}"
        known = {"task": self.tasks, "method": self.methods, "variant": {BASE_VARIANT: "as configured"}}
        return known.get(column, {}).get(value, str(value))

    def _title(self, figure: FigureView) -> str:
        """Return the title of the figure, or one made from what it shows."""
        name, variant, title = metric_name(figure.y[0], self.declared), figure.where.get("variant"), figure.title
        if figure.relation and not title:
            a, b = (self.methods.get(method, method) for method in figure.relation[1:])
            title = f"{name}, {a} {'over' if figure.relation[0] == 'ratio' else 'minus'} {b}"
        elif not title:
            shown = "" if variant in (None, BASE_VARIANT) else variant  # several figures may show one variant each
            title = f"{name} of each class" if "of_class" in figure.panel else shown
        return f"{self.title}: {title}" if title and not title.startswith(self.title) else title or self.title

    def _y_label(self, figure: FigureView) -> str:
        if not figure.relation:
            return axis_label(figure.y, self.declared)
        name, unit = metric_name(figure.y[0], self.declared), display_unit(figure.y[0], self.declared)
        symbol = "points" if unit.name == "percent" else unit.symbol
        if figure.relation[0] == "ratio":
            return f"Ratio of the {name}"
        return f"Difference of the {name}" + (f" ({symbol})" if symbol else "")

    def _bars_in_words(self, figure: FigureView, rows: pd.DataFrame) -> str:
        if figure.relation:
            return self.sample.bars_of_ratio if figure.relation[0] == "ratio" else self.sample.bars_of_difference
        replicates = rows[rows["fold"] != HEADLINE_FOLD]["fold"].nunique()
        return {
            "interval": self.sample.bars,
            "2 standard deviations": f"2 standard deviations of the {replicates} replicates",
            "range": f"smallest and largest of the {replicates} replicates",
        }.get(figure.bars, "")


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
