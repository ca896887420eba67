"""Facts of a page's table of results, and of where its two best methods disagree; the template lays them out."""

from __future__ import annotations

import math
import shlex
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.comparisons import first_comparisons, planned_comparisons, shown_outcomes
from benchmark.analysis.formatting.table import ON_DEMAND
from benchmark.analysis.formatting.units import MISSING_TEXT, metric_with_unit, p_text
from benchmark.analysis.summary import HEADLINE_FOLD
from benchmark.report.tables import INTERVAL, TEST_TITLES, bar_numbers, cell_table, varying_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmark.analysis.summary import Summary

#: Detail from which a page shows a column only where a click opens its row.
OPENED_DETAIL = 6
#: Columns that tell tables apart: rows of different values have a heading each.
GROUPING = ("variant", "task", "choice")
#: Most classes of a matrix; of more, the most frequent confusions are listed.
MOST_MATRIX_CLASSES, MOST_CONFUSIONS = 8, 10


def results_of(summary: Summary) -> dict[str, Any]:
    """Return the table of cells with what only a page adds: bars, the first comparison of each cell, and details.

    Cells that have no score are left out. The rows are the best of each group first.
    """
    grid = cell_table(summary, costs=True, anywhere=True)
    main = metric_with_unit(summary.main_metric, summary.quantities)
    tests = {test: title for test, title in TEST_TITLES.items() if test in set(summary.significance["test"])}
    unit, numbers = summary.unit, bar_numbers(summary, grid)
    kept = {cell for cell, _ in summary.headlines} | set(summary.failures)
    texts = {row[0]: dict(zip(grid.header, row, strict=True)) for row in grid.texts if row[0] in kept}
    bars, ticks = bars_of([numbers[cell] for cell in texts])
    first, outcomes, opened = first_comparisons(summary), shown_outcomes(summary), _opened(summary, tests)
    grouping = [name for name in GROUPING if name in varying_columns(summary.cells)]
    cells, groups = {cell.id: cell for cell in summary.cells}, dict[str, list[dict[str, Any]]]()
    for (name, row), bar in zip(texts.items(), bars, strict=True):
        cell = cells[name]
        facts: dict[str, Any] = {"number": summary.cells.index(cell) + 1, "cell": name, "texts": row, "bar": bar}
        facts |= {"outcome": outcomes[name], "settings": "; ".join(filter(None, (cell.points, cell.classifier)))}
        facts["first"] = first.get(name)
        facts |= {"again": f"bench run {shlex.quote(summary.name)} --only {shlex.quote(name)}", **opened[name]}
        groups.setdefault(", ".join(filter(None, map(cell.columns.get, grouping))), []).append(facts)
    rows = [row for group in groups.values() for row in group]
    return {
        "grid": grid,
        "groups": groups,
        "rows": rows,
        "main": main,
        "unit": unit,
        "interval": INTERVAL,
        "said": [c for c in grid.columns[1:] if c.detail <= ON_DEMAND],
        "shown": [c for c in grid.columns[1:] if c.detail < OPENED_DETAIL and c.name not in (main, INTERVAL)],
        "ticks": ticks,
        "baselines": list(dict.fromkeys(pair.b.id for row in rows if (pair := row["first"]))),
        "tests": tests,
    }


def _opened(summary: Summary, tests: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return what a click on each method shows: scores of its splits, found documents of each class, comparisons."""
    opened: dict[str, dict[str, Any]] = defaultdict(lambda: {"folds": [], "recalls": [], "comparisons": []})
    of_splits = (summary.scores["metric"] == summary.main_metric) & (summary.scores["fold"] != HEADLINE_FOLD)
    for cell, rows in summary.scores[of_splits].groupby("cell"):
        folds = [(str(fold), summary.unit.text(value)) for fold, value in zip(rows["fold"], rows["value"], strict=True)]
        opened[str(cell)]["folds"] = folds if len(folds) > 1 else []
    for cell, counts in summary.confusions.groupby("cell"):
        of, right = counts.groupby("truth", sort=False)["n"].sum(), counts[counts["truth"] == counts["predicted"]]
        found = right.set_index("truth")["n"].reindex(of.index, fill_value=0) / of
        opened[str(cell)]["recalls"] = [(str(truth), f"{100 * share:.1f}") for truth, share in found.items()]
    tested = summary.significance.to_dict("records")
    p_values = {(row["a"], row["b"], row["test"]): p_text(row["p_holm"], row["note"]) for row in tested}
    for pair in planned_comparisons(summary):
        p = [p_values.get((pair.a.id, pair.b.id, test), MISSING_TEXT) for test in tests]
        for comparison in (pair, pair.turned):
            opened[comparison.a.id]["comparisons"].append((comparison, p))
    return opened


def bars_of(
    numbers: Sequence[Mapping[str, float | None]],
) -> tuple[list[dict[str, Any]], list[tuple[float | None, str]]]:
    """Return the places of bars, and of ticks with their texts, in percent of the width of one scale.

    Parameters
    ----------
    numbers : sequence of mapping
        Numbers of each bar, None for missing ones: "value", "low", "high", "published", "base_low", "base_high".

    Returns
    -------
    bars : list of dict
        Places by the same names; "beyond" is the end of the scale that the score lies beyond, "low" or "high", or "".
    ticks : list of (float, str)
    """
    ends, ticks = _scale(numbers)

    def place(number: float | None) -> float | None:
        """Return a number's place on the scale; one beyond the scale is at its end."""
        return None if number is None else round(float(np.interp(number, ends, (0, 100))), 2)

    bars = []
    for each in numbers:
        value = each.get("value")
        beyond = "" if value is None else "low" if value < ends[0] else "high" if value > ends[1] else ""
        bars.append({name: place(number) for name, number in each.items()} | {"beyond": beyond})
    return bars, [(place(tick), f"{tick:g}") for tick in ticks]


def _scale(numbers: Sequence[Mapping[str, float | None]]) -> tuple[list[float], list[float]]:
    """Return the ends and ticks of a scale on which outliers don't press the other rows together.

    A score is an outlier that is farther from the quartiles of all scores than three times their distance.
    """
    rows = [(value, each) for each in numbers if (value := each.get("value")) is not None]
    if not rows:
        return [0.0, 1.0], []
    low, high = np.quantile([value for value, _ in rows], [0.25, 0.75])
    reach = 3 * (high - low)
    shown = [each for value, each in rows if low - reach <= value <= high + reach]
    ends = ("value", "low", "high", "published")
    drawn = [number for each in shown for end in ends if (number := each.get(end)) is not None]
    return ends_and_ticks(min(drawn), max(drawn))


def ends_and_ticks(low: float, high: float) -> tuple[list[float], list[float]]:
    """Return the ends of a scale that shows these numbers, and at least three round ticks.

    Examples
    --------
    >>> ends_and_ticks(29.0, 98.0)
    ([26.93, 100.07], [40.0, 60.0, 80.0, 100.0])
    """
    margin = 0.03 * (high - low) or abs(high) / 10 or 1.0
    low, high = low - margin, high + margin
    exponent, ticks = math.floor(math.log10(high - low)), list[float]()
    for step in (float(f"{factor}e{power}") for power in (exponent, exponent - 1) for factor in (5, 2, 1)):
        ticks = [float(f"{i * step:.12g}") for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
        if len(ticks) >= 3:
            break
    return [low, high], ticks


def confusions_of_pair(summary: Summary) -> dict[str, Any]:
    """Return what the two methods of the summary's disagreement confuse, {} without one.

    Returns
    -------
    dict
        `cells`, and for each a matrix of documents, a row for each true one of the `classes`; of many classes instead
        the most frequent confusions, `most`: true class, predicted class, and documents of each method.
    """
    frame = summary.confusions
    if summary.disagreement is None or not frame["cell"].isin(summary.disagreement.cells).any():
        return {}
    pair = summary.disagreement.cells
    counts: list[dict[Any, int]] = [
        frame[frame["cell"] == cell].set_index(["truth", "predicted"])["n"].to_dict() for cell in pair
    ]
    classes = list(dict.fromkeys(frame["truth"][frame["cell"].isin(pair)]))
    if len(classes) <= MOST_MATRIX_CLASSES:
        matrices = [[[each.get((true, predicted), 0) for predicted in classes] for true in classes] for each in counts]
        return {"cells": pair, "classes": classes, "matrices": matrices}
    first, second = counts
    kinds = [(*kind, first.get(kind, 0), second.get(kind, 0)) for kind in first | second if kind[0] != kind[1]]
    return {"cells": pair, "most": sorted(kinds, key=lambda kind: -max(kind[2:]))[:MOST_CONFUSIONS]}
