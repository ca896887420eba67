"""Figures made from a run: charts of the frame of scores, whose columns become x, lines and panels, and regions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.analysis.formatting.labels import component_label, method_labels
from benchmark.analysis.formatting.units import axis_label, axis_scale, display_unit, metric_name
from benchmark.analysis.model_selection import selected_predictions
from benchmark.config.model import ALL_CLASSES, BASE_VARIANT, CHOOSE_ORACLE, method_of
from benchmark.evaluation.metrics import TIME_METRICS, is_time_metric
from benchmark.evaluation.outcomes import ALL_SPLITS
from benchmark.evaluation.sampling_model import sampling_of
from benchmark.system.arrays import split_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Experiment, FigureView
    from benchmark.evaluation.score_table import ScoreTable

#: Columns of the points of a chart.
POINT_COLUMNS = ("panel", "series", "x", "y", "low", "high")
#: Columns that tell cells apart. A column that varies and that a figure does not mention becomes panels.
FACET_COLUMNS = ("choice", "task", "method", "size", "terms")
X_LABELS = {"size": "Training documents", "terms": "Terms selected"}
#: What a panel says of parameters that were chosen on the test documents, since a figure may stand alone.
ORACLE_TITLE = "oracle (optimistic)"
#: Columns whose values without x are drawn as horizontal lines.
LEVEL_COLUMNS = ("method", "kernel")
COORDINATES_DIAGNOSTIC = "coordinates"


@dataclass(frozen=True, eq=False)
class Chart:
    """One figure of curves.

    Parameters
    ----------
    name : str
        Stem of the files of the figure.
    title, x_label, y_label : str
        Texts with units: "Training documents", "Test error (%)".
    points : DataFrame
        Columns `POINT_COLUMNS`: panels in reading order, then lines, then ascending x. Bars reach
        from `low` to `high`, which are missing where there is none.
    bars : str
        Meaning of the error bars in words, empty if no line has bars.
    scale : float
        Factor from the numbers to the unit of the axis: 100 for percent.
    log_x, log_y : bool
    round_x : bool
        Whether x is measured, not set: ticks are then round numbers, not the values.
    reference : float or None
        Value of y that means "no difference", drawn as a line: 1 for ratios, 0 for differences.
    share_y : bool
        Whether the panels share their vertical scale.
    measured : bool
        Whether the chart shows measured times. Such a chart is drawn but not written to tables, since equal results
        must give equal tables.
    oracle : frozenset of str
        Panels whose parameters were chosen on the test documents.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    points: pd.DataFrame = field(repr=False)
    bars: str = ""
    scale: float = 1.0
    log_x: bool = False
    round_x: bool = False
    log_y: bool = False
    reference: float | None = None
    share_y: bool = False
    measured: bool = False
    oracle: frozenset[str] = frozenset()

    @property
    def panels(self) -> list[str]:
        """Titles of the panels."""
        return list(dict.fromkeys(self.points["panel"]))


def charts_of(experiment: Experiment, scored: ScoreTable) -> tuple[Chart, ...]:
    """Return the charts of the configured figures that have data.

    There is one panel for each combination of values in the panel columns and each metric, in the order of the frame.
    If a figure's x is a parameter or a number, the frame has a column of that name: the cell's value, infinite if its
    method has none (its score is then a horizontal line), missing if the cell also differs from the first variant in
    other ways. Rows of folds are the replicates of a cell.
    """
    figures = [figure for figure in experiment.figures if not figure.regions]
    frames = [each for each in (scored.frame, scored.drawn) if len(each)] if figures else []
    if not frames:
        return ()
    scores, of_run = pd.concat(frames, ignore_index=True), _ChartsOfRun(experiment, scored)
    charts = (of_run.chart(figure, _rows_of(figure, scores[scores["metric"].isin(figure.y)])) for figure in figures)
    return tuple(chart for chart in charts if chart is not None)


class _ChartsOfRun:
    """Charts of one run."""

    def __init__(self, experiment: Experiment, scored: ScoreTable) -> None:
        first = next(iter(experiment.variants.values()))
        self.title, self.quantities, self.scored = experiment.title, experiment.quantities, scored
        self.methods, self.sample = method_labels(experiment), sampling_of(first.protocol.tags, experiment.seed)
        self.names: dict[str, Mapping[Any, str]] = {"task": {task.name: task.title for task in first.tasks}}
        self.names |= {"method": self.methods, "variant": {BASE_VARIANT: "as configured"}}
        self.names |= {"of_class": {ALL_CLASSES: "all classes"}, "choice": {CHOOSE_ORACLE: ORACLE_TITLE}}

    def chart(self, figure: FigureView, rows: pd.DataFrame) -> Chart | None:
        """Return the chart of a figure; None if no cell of it has a score."""
        facets = _facets(figure, rows)
        points = self._relations(figure, rows, facets) if figure.relation else self._scores(figure, rows, facets)
        panels, oracle = list[pd.DataFrame](), set[str]()
        for values in product(*(dict.fromkeys(rows[column]) for column in facets), figure.y):
            panel = points
            for column, value in zip((*facets, "metric"), values, strict=True):
                panel = panel[panel[column] == value]
            shown = {"variant": figure.where.get("variant", "")} | dict(zip(facets, values, strict=False))
            title = self._panel_title(shown, figure, str(values[-1]))
            panels.append(self._lines(panel).assign(panel=title))
            oracle |= {title} if shown.get("choice") == CHOOSE_ORACLE else set()
        points = pd.concat([points[:0], *panels], ignore_index=True)
        if figure.log_y and points["y"].any():
            # A line that is 0 everywhere, such as the error of an exact method, has no place on a logarithmic axis.
            points = points[points.groupby(["panel", "series"])["y"].transform("any")]
        if not len(points):
            return None
        kind, declared, variant = "".join(figure.relation[:1]), self.quantities, figure.where.get("variant", "")
        measured = any(is_time_metric(name, declared) for name in (figure.y[0], figure.x))
        x_is_metric = figure.x in (*TIME_METRICS, *declared)
        x_label = axis_label((figure.x,), declared) if x_is_metric else figure.x
        return Chart(
            name=figure.name,
            title=": ".join(filter(None, (self.title, figure.title or (variant if variant != BASE_VARIANT else "")))),
            x_label=X_LABELS.get(figure.x, x_label),
            y_label=self._y_label(figure),
            points=points[list(POINT_COLUMNS)].reset_index(drop=True),
            bars=self._bars_in_words(figure, rows),
            scale=1.0 if kind == "ratio" else axis_scale(figure.y, declared),
            round_x=x_is_metric,
            log_x=figure.log_x and points["x"].min() > 0,
            log_y=figure.log_y and points["y"].min() > 0,
            reference={"ratio": 1.0, "difference": 0.0}.get(kind),
            share_y=measured or kind == "difference",
            measured=measured,
            oracle=frozenset(oracle),
        )

    def _scores(self, figure: FigureView, rows: pd.DataFrame, facets: Sequence[str]) -> pd.DataFrame:
        """Return x, score and ends of the bar of the first cell of each panel, line and x."""
        keys, rows = list(dict.fromkeys((*facets, "metric", figure.line, figure.x))), rows[rows[figure.line].notna()]
        first = rows[rows["cell"] == rows.groupby(keys, dropna=False)["cell"].transform("first")]
        points = first[first["fold"] == ALL_SPLITS].rename(columns={"value": "y"})
        if figure.bars != "interval":
            replicates = first[first["fold"] != ALL_SPLITS].groupby(keys, dropna=False)["value"]
            spread = replicates.agg(["mean", "min", "max", "std"]).reset_index()
            points = points.drop(columns=["low", "high"]).merge(spread, on=keys, how="left")
            reach = 2 * points["std"]
            ends = {"range": (points["min"], points["max"])}
            ends["2 standard deviations"] = points["mean"] - reach, points["mean"] + reach
            low, high = ends.get(figure.bars, (np.nan, np.nan))
            points = points.assign(low=low, high=high)
            points["y"] = points["y"].where(points["low"].isna(), points["mean"])
        names = self.methods if figure.line == "method" else {}
        series = [names.get(name, str(name)) for name in points[figure.line]]
        return points.assign(series=series, x=points[figure.x].astype(float))

    def _relations(self, figure: FigureView, rows: pd.DataFrame, facets: Sequence[str]) -> pd.DataFrame:
        """Return ratios or differences of two methods, by panel, value of the line's column and x."""
        kind, a, b = figure.relation
        estimate = self.scored.ratio if kind == "ratio" else self.scored.difference
        line = "variant" if figure.line == "method" else figure.line
        keys, points = [*facets, "metric", line, figure.x], list[dict[str, Any]]()
        for key, group in rows[rows["fold"] == ALL_SPLITS].groupby(keys, sort=False, dropna=False):
            cells = dict(zip(group["method"], group["cell"], strict=True))
            values: dict[str, Any] = dict(zip(keys, key, strict=True))
            try:
                found = estimate(cells[a], cells[b], values["metric"])
            except (ValueError, KeyError):  # the ratio is not defined, or a cell has no score
                continue
            name = f"{a} {'/' if kind == 'ratio' else '−'} {b}" if figure.line == "method" else str(values[line])
            numbers = {"x": float(values[figure.x]), "y": found.value, "low": found.low, "high": found.high}
            points.append(values | numbers | {"series": name})
        return pd.DataFrame(points, columns=[*dict.fromkeys((*keys, *POINT_COLUMNS))])

    def _lines(self, points: pd.DataFrame) -> pd.DataFrame:
        """Return the points of a panel, line by line: levels of methods without x, then other lines."""
        points = points[np.isfinite(points["y"].astype(float))]
        lines = points[np.isfinite(points["x"].astype(float))]
        if not len(lines):
            return lines
        levels = (
            points[~points["series"].isin(lines["series"])].drop_duplicates("series").assign(low=np.nan, high=np.nan)
        )
        ends = [levels.assign(x=at) for at in dict.fromkeys((lines["x"].min(), lines["x"].max()))]
        order = {name: i for i, name in enumerate(dict.fromkeys(points["series"]))}
        parts = [part.assign(order=part["series"].map(order)) for part in (pd.concat(ends), lines) if len(part)]
        return pd.concat(part.sort_values(["order", "x"], kind="stable") for part in parts)

    def _panel_title(self, shown: Mapping[str, Any], figure: FigureView, metric: str) -> str:
        """Write the values of the panel's columns and, of several metrics, the metric."""
        columns = ("variant", "task", "of_class", "method", "size", "terms", "choice")
        words = [self._named(column, shown[column]) for column in columns if shown.get(column)]
        return ", ".join([*words, *([metric_name(metric, self.quantities)] if len(figure.y) > 1 else [])])

    def _named(self, column: str, value: Any) -> str:
        """Write a value of a panel column in words."""
        if column in X_LABELS:
            return f"{int(value):,} {X_LABELS[column].lower()}"
        return self.names.get(column, {}).get(value, str(value))

    def _y_label(self, figure: FigureView) -> str:
        name, unit = metric_name(figure.y[0], self.quantities), display_unit(figure.y[0], self.quantities)
        difference = f"Difference of the {name} ({unit.points})".removesuffix(" ()")
        related = {"ratio": f"Ratio of the {name}", "difference": difference}
        return related[figure.relation[0]] if figure.relation else axis_label(figure.y, self.quantities)

    def _bars_in_words(self, figure: FigureView, rows: pd.DataFrame) -> str:
        texts, replicates = self.sample.texts, len(set(rows["fold"]) - {ALL_SPLITS})
        words = {
            "ratio": texts.bars_of_ratio,
            "difference": texts.bars_of_difference,
            "interval": texts.bars,
            "2 standard deviations": f"2 standard deviations of the {replicates} replicates",
            "range": f"smallest and largest of the {replicates} replicates",
        }
        return words.get(figure.relation[0] if figure.relation else figure.bars, "")


def _rows_of(figure: FigureView, scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that a figure shows, filtered by `figure.where`.

    A figure that does not mention variants shows the first variant. One that does not mention classes shows scores over
    all classes.
    """
    rows = scores
    for column, expected in figure.where.items():
        rows = rows[[(f"{value:g}" if isinstance(value, float) else str(value)) == expected for value in rows[column]]]
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


@dataclass(frozen=True, eq=False)
class RegionPanel:
    """One method's predictions over a whole space.

    Parameters
    ----------
    title : str
        The method.
    row : str
        Heading shared by the panels of one row.
    axes : tuple of str
        Names of the d coordinates: x and y if d is 2, the corners of a triangle if d is 3.
    classes : tuple of str
        The two classes.
    grid : float64 array, shape (m, d)
        Points that cover the space.
    predicted, likelier : int arrays, shape (m,)
        Predicted class of each point of `grid`, and the class that is more likely there: 0 or 1.
    points : float64 array, shape (n, d)
        Training points.
    labels : int array, shape (n,)
        Class of each training point: 0 or 1.
    caption : str
        Text below the panel.
    """

    title: str
    row: str
    axes: tuple[str, ...]
    classes: tuple[str, ...]
    grid: NDArray[np.float64]
    predicted: NDArray[Any]
    likelier: NDArray[Any]
    points: NDArray[np.float64]
    labels: NDArray[Any]
    caption: str


@dataclass(frozen=True)
class RegionFigure:
    """A figure of decision regions.

    Parameters
    ----------
    name : str
        Stem of its files.
    title : str
    rows : tuple of tuple of RegionPanel
    """

    name: str
    title: str
    rows: tuple[tuple[RegionPanel, ...], ...]


def decision_region_figures(run: RunPredictions) -> tuple[RegionFigure, ...]:
    """Return the figures of regions whose rows all have panels."""
    found = []
    for figure in run.experiment.figures if run.predictions.settings else ():
        rows = tuple(tuple(_panels(run, name)) for name in figure.regions)
        if rows and all(rows):
            found.append(RegionFigure(figure.name, figure.title or run.experiment.title, rows))
    return tuple(found)


def _panels(run: RunPredictions, variant: str) -> Iterator[RegionPanel]:
    """Yield a panel for each cell of a variant that has predictions."""
    arrays = run.predictions.diagnostics.get((COORDINATES_DIAGNOSTIC, variant))
    cells = [cell for cell in run.experiment.cells if cell.variant == variant and cell.what == "point"]
    for cell in cells:
        candidates = run.scored.chosen.get(cell.id)
        documents = run.predictions.tasks.get(cell.of_task)
        if arrays is None or candidates is None or documents is None:
            continue
        points, (split, *_) = arrays["points"], run.predictions.splits[cell.of_splits]
        group = run.experiment.variants[variant].protocol.resolved.get("train", "train")
        trained = np.flatnonzero(arrays["parts"] == split_names(arrays["part_names"]).index(group))
        kernel = method_of(run.experiment, cell).candidates[int(candidates[0])].kernel
        right = run.scored.cells[cell.id].values.get("accuracy")  # noqa: PD011 - not a frame's
        share = "" if right is None else f"Agreement with the best boundary: {100 * right.mean():.1f}% of the space"
        yield RegionPanel(
            cell.method if kernel is None else component_label(kernel),
            variant,
            split_names(arrays["names"]),
            documents.classes,
            points[split.test],
            selected_predictions(run.predictions, cell, candidates).split(0).predicted,
            documents.truth[split.test],
            points[trained],
            documents.truth[trained],
            share,
        )
