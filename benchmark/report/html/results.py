"""Facts of a page's table of results, and of where its two best methods disagree; the template lays them out."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.comparisons import planned_comparisons
from benchmark.analysis.formatting.number_text import MISSING_TEXT, is_missing, number_text, p_text
from benchmark.analysis.formatting.units import display_unit
from benchmark.analysis.summary import HEADLINE_FOLD
from benchmark.report.cell_facts import cell_facts, further_metrics
from benchmark.report.comparison_tables import TEST_TITLES
from benchmark.report.tables import VERDICT_MEANINGS, WITHOUT, difference_text, metric_header, varying_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.formatting.units import Unit
    from benchmark.analysis.summary import Summary
    from benchmark.report.cell_facts import CellFacts

#: Metrics that are columns beside the main one; others are in the tables beside the page.
FURTHER_METRICS = ("accuracy", "macro-f1", "micro-f1")
#: Columns that tell tables apart: rows of different values have a heading each.
GROUPING = ("variant", "task", "choice")
#: Most classes of a matrix; of more, the most frequent confusions are listed.
MOST_MATRIX_CLASSES, MOST_CONFUSIONS = 8, 10


def results_of(summary: Summary) -> dict[str, Any]:
    """Return the table of results: its rows, the best of each group first, and what its head and legend need.

    Cells that have no score are left out. A row has the texts of its numbers, the places of its bar, and what a click
    opens: splits, classes, tests and commands.
    """
    unit, declared = display_unit(summary.main_metric, summary.quantities), summary.quantities
    further = [metric for metric in further_metrics(summary) if metric in FURTHER_METRICS]
    leaks = {(row["leak"], row["cell"]): row["without"] for row in summary.leaks.to_dict("records")}
    leaking = [leak for leak in WITHOUT if any(leak == each for each, _ in leaks)]
    facts = [
        each
        for each in cell_facts(summary)
        if each.failed or any((each.info.id, m) in summary.headlines for m in (summary.main_metric, *further))
    ]
    bars, ticks = bars_of([each.numbers for each in facts])
    tests = [name for name in TEST_TITLES if name in set(summary.significance["test"])]
    grouping = [name for name in GROUPING if name in varying_columns(summary.cells)]
    opened, rows = _Opened(summary, unit, tests), []
    for each, bar in zip(facts, bars, strict=True):
        cell = each.info
        others = [unit.text(leaks.get((leak, cell.id))) for leak in leaking]
        others += [
            display_unit(m, declared).text(summary.headlines.get((cell.id, m), {}).get("value")) for m in further
        ]
        verdict = "failed" if each.failed else each.verdict.get("verdict", "")
        row: dict[str, Any] = {"number": summary.cells.index(cell) + 1, "cell": cell.id, "bar": bar, "others": others}
        row |= {"group": ", ".join(filter(None, map(cell.columns.get, grouping)))}
        row |= {"settings": "; ".join(filter(None, (cell.points, cell.classifier))), "outcome": each.outcome}
        row |= {"score": unit.text(each.score.get("value"))}
        row |= {"interval": unit.interval(each.score.get("low"), each.score.get("high")), "against": ""}
        if each.pair:
            row |= _difference(each.pair, cell.id, unit) | {"against": each.pair.b.id}
        row |= {"verdict": verdict, "published": each.verdict.get("published", "")}
        row |= {"less": difference_text(each.verdict) if each.verdict else "", "seconds": _seconds(each)}
        row |= {"again": f"bench run {shlex.quote(summary.name)} --only {shlex.quote(cell.id)}"}
        rows.append(row | opened.of(cell.id))
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    meanings = dict.fromkeys(row["verdict"] for row in rows if row["verdict"] in VERDICT_MEANINGS)
    return {
        "groups": groups,
        "rows": rows,
        "head": metric_header(summary.main_metric, declared),
        "others": [*(WITHOUT[leak] for leak in leaking), *(metric_header(each, declared) for each in further)],
        "ticks": ticks,
        "baselines": list(dict.fromkeys(row["against"] for row in rows if row["against"])),
        "tests": [TEST_TITLES[name] for name in tests],
        "published": any(each.verdict for each in facts),
        "compared": any("difference" in row for row in rows),
        "timed": any(row["seconds"] for row in rows),
        "judged": any(row["verdict"] for row in rows),
        "meanings": "; ".join(f"{word}: {VERDICT_MEANINGS[word]}" for word in meanings),
        "looked_into": summary.explained_by,
    }


def _seconds(facts: CellFacts) -> str:
    """Write the seconds of training and testing together, "" where they aren't known."""
    both = [facts.cost.get(name) for name in ("training_seconds", "testing_seconds")]
    return "" if is_missing(both[0]) else number_text(sum(value for value in both if not is_missing(value)))


def _difference(pair: PlannedComparison, cell: str, unit: Unit) -> dict[str, str]:
    """Return the difference of a method to the other one of a pair, and the interval."""
    sign, ends = (1, (pair.low, pair.high)) if pair.a.id == cell else (-1, (-pair.high, -pair.low))
    return {"difference": unit.text(sign * pair.value, "+"), "difference_interval": unit.interval(*ends, "+")}


class _Opened:
    """What a click on a method shows: its score on each split, found documents of each class, and comparisons."""

    def __init__(self, summary: Summary, unit: Unit, tests: Sequence[str]) -> None:
        self._unit, self._tests, self._pairs = unit, tests, planned_comparisons(summary)
        apart = summary.scores[
            (summary.scores["metric"] == summary.main_metric) & (summary.scores["fold"] != HEADLINE_FOLD)
        ]
        self._folds = {cell: rows.set_index("fold")["value"].to_dict() for cell, rows in apart.groupby("cell")}
        self._classes = dict(list(summary.confusions.groupby("cell")))
        self._p = {
            (row["a"], row["b"], row["test"]): p_text(row["p_holm"], row["note"])
            for row in summary.significance.to_dict("records")
        }

    def of(self, cell: str) -> dict[str, Any]:
        """Return the splits, recalls and tests of a cell."""
        folds = [(str(fold), self._unit.text(value)) for fold, value in self._folds.get(cell, {}).items()]
        counts, recalls = self._classes.get(cell), []
        if counts is not None:
            of, right = counts.groupby("truth", sort=False)["n"].sum(), counts[counts["truth"] == counts["predicted"]]
            found = right.set_index("truth")["n"].reindex(of.index, fill_value=0) / of
            recalls = [(str(truth), f"{100 * share:.1f}") for truth, share in found.items()]
        folds = folds if len(folds) > 1 else []
        return {"folds": folds, "recalls": recalls, "comparisons": list(self._comparisons(cell))}

    def _comparisons(self, cell: str) -> Iterator[dict[str, Any]]:
        for pair in self._pairs:
            if cell in (pair.a.id, pair.b.id):
                values = [self._p.get((pair.a.id, pair.b.id, test), MISSING_TEXT) for test in self._tests]
                other = pair.b if pair.a.id == cell else pair.a
                yield {"other": other.id, "p": values} | _difference(pair, cell, self._unit)


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
    bars = []
    for each in numbers:
        value = each.get("value")
        beyond = "" if value is None else "low" if value < ends[0] else "high" if value > ends[1] else ""
        bars.append({name: _place(number, ends) for name, number in each.items()} | {"beyond": beyond})
    return bars, [(_place(tick, ends), f"{tick:g}") for tick in ticks]


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


def _place(value: float | None, ends: Sequence[float]) -> float | None:
    """Return a number's place on the scale, in percent; one beyond the scale is at its end."""
    if value is None:
        return None
    return round(100 * (min(max(value, ends[0]), ends[1]) - ends[0]) / (ends[1] - ends[0]), 2)


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
        matrices = [[[each.get((true, told), 0) for told in classes] for true in classes] for each in counts]
        return {"cells": pair, "classes": classes, "matrices": matrices}
    first, second = counts
    kinds = [(*kind, first.get(kind, 0), second.get(kind, 0)) for kind in first | second if kind[0] != kind[1]]
    return {"cells": pair, "most": sorted(kinds, key=lambda kind: -max(kind[2:]))[:MOST_CONFUSIONS]}
