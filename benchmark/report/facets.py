"""A figure of a configuration and the frame of scores to charts: what runs along x, what is a line, what is a panel."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.model import ALL, BASE
from benchmark.evaluation.metrics import CLOCK, on_clock
from benchmark.measures import QUANTITIES
from benchmark.report.charts import Chart, Line, Panel
from benchmark.report.contents import HEADLINE
from benchmark.report.quantities import axis_label, capitalized, metric_name, quantity, scale_shown, unit_shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from benchmark.config.model import Figure
    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.metrics import MeasuredQuantity
    from benchmark.report.quantities import Declared

#: Columns that tell cells apart; those of which a figure says nothing become panels where they vary.
APART = ("choice", "task", "method", "size", "terms")
X_LABELS = {
    "size": "Training documents",
    "terms": "Terms selected",
    "smoothing": "Smoothing (added to every count)",
    "n_components": "Random features of each term",
    "samples": "Samples of the spectrum",
}
CHOICES = {
    "oracle": "best parameter on the test error (optimistic)",
    "cross-validation": "parameter by inner cross-validation",
    "newest": "parameter by the newest training documents",
}
PRINTED = "printed"
#: Columns of which a value that has no x is a level.
LEVELLED = ("method", "kernel")
NO_BAR = (math.nan, math.nan)
MOST_COLUMNS = 4

#: ("ratio" or "difference", cell a, cell b, metric) to what stands on y; None where it can't be computed.
Relate = Callable[[str, str, str, str], "Estimate | None"]


@dataclass(frozen=True)
class PrintedRange:
    """What an axis of the paper spans, in the frame's unit, and the cells that its figure shows."""

    metric: str
    cells: frozenset[str]
    low: float
    high: float


@dataclass(frozen=True)
class Labels:
    """What charts say that stands in no score.

    Parameters
    ----------
    title : str
        Of the experiment.
    bars, related : str
        What the intervals of the frame are, "95% interval (Wilson)", and those of ratios and differences.
    tasks : mapping of str to str
        Titles by name.
    ranges : sequence of PrintedRange
        Drawn as bands.
    printed : mapping of (str, str) to float
        Printed numbers by metric and class, in the frame's unit, drawn as lines.
    quantities : mapping of str to MeasuredQuantity
        The metrics that measures declare, by name.
    methods : mapping of str to str
        What methods are called, by name; the others are called by their names.
    """

    title: str
    bars: str = "95% interval"
    related: str = "95% interval"
    tasks: Mapping[str, str] = field(default_factory=dict)
    ranges: Sequence[PrintedRange] = ()
    printed: Mapping[tuple[str, str], float] = field(default_factory=dict)
    quantities: Mapping[str, MeasuredQuantity] = field(default_factory=lambda: QUANTITIES)
    methods: Mapping[str, str] = field(default_factory=dict)


def chart_of(figure: Figure, scores: pd.DataFrame, labels: Labels, relate: Relate | None = None) -> Chart | None:
    """Draw a figure's view of the scores.

    Parameters
    ----------
    figure : Figure
    scores : DataFrame
        The frame of scores with the cells' columns (variant, task, of_class, method, choice, size, terms). Where
        `figure.x` is a parameter or a number, a column of that name: the cell's value, infinite where its method has
        none (its score is a level, then), missing where the cell differs from the first variant in other ways too. Rows
        of folds are a cell's draws.
    labels : Labels
    relate : callable, optional
        Needed by figures of a relation.

    Returns
    -------
    Chart or None
        None where no cell of the figure has a score. Its panels are the metrics of each combination of the figure's
        panel columns, in the order of the frame.
    """
    own = _rows_of(figure, scores[scores["metric"].isin(figure.y)])
    facets = _facets(figure, own)
    values = [list(dict.fromkeys(own[column])) for column in facets]
    panels = []
    for *point, metric in product(*values, figure.y):
        chosen = own[own["metric"] == metric]
        for column, value in zip(facets, point, strict=True):
            chosen = chosen[chosen[column] == value]
        if len(chosen):
            title = _panel_title(dict(zip(facets, point, strict=True)), figure, metric, own, labels)
            panels.append(Panel(title, _lines(figure, chosen, labels, relate), _band(figure, chosen, labels)))
    lines = [line for panel in panels for line in panel.lines]
    if figure.log_y and any(any(line.y) for line in lines):
        # What is 0 throughout, such as the error of what is exact, has no place beside the others.
        panels = [replace(panel, lines=tuple(line for line in panel.lines if any(line.y))) for panel in panels]
        lines = [line for panel in panels for line in panel.lines]
    if not lines:
        return None
    declared = labels.quantities
    kind, measured = "".join(figure.relation[:1]), any(on_clock(each, declared) for each in (figure.y[0], figure.x))
    found = figure.x in (*CLOCK, *declared)
    return Chart(
        name=figure.name,
        title=_title(figure, labels),
        x_label=X_LABELS.get(figure.x) or (axis_label((figure.x,), declared) if found else capitalized(figure.x)),
        y_label=_y_label(figure, declared),
        panels=tuple(panels),
        columns=_columns(len(figure.y) if len(figure.y) > 1 else len(values[-1]) if values else 1),
        bars=_bars_in_words(figure, own, labels),
        scale=1.0 if kind == "ratio" else scale_shown(figure.y, declared),
        round_x=found,
        log_x=figure.log_x and all(line.x[0] > 0 for line in lines),
        log_y=figure.log_y and all(min(line.y) > 0 for line in lines),
        share_y=measured or kind == "difference",
        measured=measured,
    )


def _rows_of(figure: Figure, scores: pd.DataFrame) -> pd.DataFrame:
    """The rows that a figure shows: where it says; without a word on variants the first one's, on classes all's."""
    own = scores
    for column, value in figure.where.items():
        own = own[[_word(each) == value for each in own[column]]]
    named = {*figure.where, figure.x, figure.line, *figure.panel}
    if "variant" not in named and figure.x in {"size", "terms"}:
        own = own[own["variant"] == next(iter(own["variant"]), BASE)]
    if "of_class" not in named:
        own = own[own["of_class"].isin(("", ALL))]
    levels = figure.line in LEVELLED and not figure.relation
    return own[own[figure.x].notna() & (levels | (own[figure.x] != math.inf))]


def _facets(figure: Figure, own: pd.DataFrame) -> list[str]:
    """Columns whose values are panels: those the figure names, before them those it is silent on and that vary."""
    lines = figure.relation or figure.line in LEVELLED
    taken = {*figure.panel, *figure.where, figure.x, figure.line, *(("method",) if lines else ())}
    varying = [column for column in APART if column not in taken and len(own[column].unique()) > 1]
    return [*varying, *figure.panel]


def _lines(figure: Figure, rows: pd.DataFrame, labels: Labels, relate: Relate | None) -> tuple[Line, ...]:
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
    return (*below, *lines, *([Line(PRINTED, across, (number,) * len(across))] if number is not None else []))


def _related(figure: Figure, rows: pd.DataFrame, relate: Relate | None) -> list[Line]:
    """One line a value of the line's column, of cells that differ in the method alone."""
    if relate is None:
        raise ValueError(f"the figure {figure.name!r} shows a relation, and nothing is given to compute it by")
    kind, a, b = figure.relation
    own = rows[rows["fold"] == HEADLINE]
    column = "variant" if figure.line == "method" else figure.line
    lines = []
    for name in dict.fromkeys(own[column]):
        points = []
        for at, group in own[own[column] == name].groupby(figure.x, sort=True):
            cells = dict(zip(group["method"], group["cell"], strict=True))
            found = relate(kind, cells[a], cells[b], group["metric"].iloc[0]) if {a, b} <= set(cells) else None
            points += [(float(at), found.value, found.low, found.high)] if found else []
        sign = " / " if kind == "ratio" else " − "
        lines += _line(sign.join((a, b)) if figure.line == "method" else str(name), points)
    return lines


def _point(figure: Figure, rows: Sequence[Any]) -> tuple[float, float, float]:
    """The first cell's value and the ends of its bar, NaN where there is none."""
    own = [row for row in rows if row.cell == rows[0].cell]
    headline = next(row for row in own if row.fold == HEADLINE)
    draws = np.array([row.value for row in own if row.fold != HEADLINE], dtype=np.float64)
    value = float(headline.value)
    if figure.bars == "interval":
        return value, float(headline.low), float(headline.high)
    if figure.bars == "range" and len(draws):
        return float(draws.mean()), float(draws.min()), float(draws.max())
    if figure.bars == "2 standard deviations" and len(draws) > 1:
        mean, reach = float(draws.mean()), 2 * float(draws.std(ddof=1))
        return mean, mean - reach, mean + reach
    return value, math.nan, math.nan


def _line(label: str, points: Sequence[tuple[float, float, float, float]]) -> list[Line]:
    """A line through the points that have a value; bars where all of them have some."""
    points = [point for point in points if math.isfinite(point[1])]
    if not points:
        return []
    x, y, low, high = zip(*points, strict=True)
    if not all(map(math.isfinite, (*low, *high))):
        low, high = (), ()
    return [Line(label, x, y, low, high)]


def _word(value: Any) -> str:
    """A value of a column as a configuration writes it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _band(figure: Figure, rows: pd.DataFrame, labels: Labels) -> tuple[float, float] | None:
    """The range of the paper's axis, where one of its cells is a point of this panel."""
    cells, metrics = set(rows["cell"]), set(rows["metric"])
    found = (each for each in labels.ranges if each.metric in metrics and cells & each.cells and not figure.relation)
    return next(((each.low, each.high) for each in found), None)


def _panel_title(point: Mapping[str, Any], figure: Figure, metric: str, own: pd.DataFrame, labels: Labels) -> str:
    """Where the panel stands in a line; in another by what was chosen, and which of several metrics it shows."""
    words = [
        labels.tasks.get(str(value), str(value)) if column == "task" else _named(column, value, own, labels)
        for column in ("variant", "task", "of_class", "method", "size", "terms")
        if (value := point.get(column))
    ]
    others = [CHOICES.get(point["choice"], str(point["choice"]))] if point.get("choice") else []
    if len(figure.y) > 1:
        others.append(quantity(metric, labels.quantities).definition)
    return "\n".join(filter(None, [", ".join(words), *others]))


def _named(column: str, value: Any, own: pd.DataFrame, labels: Labels) -> str:
    """The value of a panel's column in words."""
    if column == "of_class" and value == ALL:
        classes = [each for each in dict.fromkeys(own["of_class"]) if each not in ("", ALL)]
        return f"average of the {len(classes)} classes" if classes else "all classes"
    if column in {"size", "terms"}:
        return f"{int(value):,} {X_LABELS[column].lower()}"
    if column == "method":
        return labels.methods.get(value, str(value))
    return "as configured" if value == BASE else str(value)


def _title(figure: Figure, labels: Labels) -> str:
    """The figure's own title; of one without, what it shows."""
    if figure.title not in ("", labels.title):
        return figure.title if figure.title.startswith(labels.title) else f"{labels.title}: {figure.title}"
    name = metric_name(figure.y[0], labels.quantities)
    if figure.relation:
        kind, a, b = figure.relation
        return f"{labels.title}: {name}, {a} {'over' if kind == 'ratio' else 'less'} {b}"
    return f"{labels.title}: {name} of each class" if "of_class" in figure.panel else labels.title


def _y_label(figure: Figure, declared: Declared) -> str:
    if not figure.relation:
        return axis_label(figure.y, declared)
    kind, name = figure.relation[0], metric_name(figure.y[0], declared)
    unit = unit_shown(figure.y[0], declared)
    symbol = "points" if unit.name == "percent" else unit.symbol
    if kind == "ratio":
        return f"Ratio of the {name}"
    return f"Difference of the {name}" + (f" ({symbol})" if symbol else "")


def _bars_in_words(figure: Figure, own: pd.DataFrame, labels: Labels) -> str:
    if figure.relation:
        return labels.related
    draws = own[own["fold"] != HEADLINE]["fold"].nunique()
    return {
        "interval": labels.bars,
        "2 standard deviations": f"2 standard deviations of the {draws} draws",
        "range": f"least and most of the {draws} draws",
    }.get(figure.bars, "")


def _columns(n: int) -> int:
    """Panels side by side, of n that belong together."""
    if n <= 3:
        return n
    return 2 if n == 4 else 3 if n < 8 else MOST_COLUMNS
