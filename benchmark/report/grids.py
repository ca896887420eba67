"""Grids of text made from a summary: the rows and columns of each table, with formatted numbers.

Every output format (Markdown, LaTeX, terminal, HTML) renders the same grids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.number_text import (
    MISSING_TEXT,
    count_text,
    interval_text,
    is_missing,
    number_text,
    printed_decimals,
)
from benchmark.analysis.formatting.published_rows import in_shown_unit
from benchmark.analysis.formatting.units import (
    capitalized,
    display_factor,
    display_unit,
    metric_name,
    metric_with_unit,
    unit_named,
)
from benchmark.analysis.summary import HEADLINE_FOLD
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.evaluation.metrics import METRICS
from benchmark.evaluation.predictions import NEAR_DUPLICATES, SHARED_GROUPS
from benchmark.papers.published import COUNT_UNITS
from benchmark.papers.published_verdicts import (
    NEAR_POINTS,
    REFERENCE_VALUE,
    SAME_DOCUMENTS,
    SAME_DOCUMENTS_POINTS,
    SAME_POINTS,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from benchmark.analysis.formatting.units import DeclaredMetrics
    from benchmark.analysis.summary import CellInfo, Summary

OVER_GROUPS = "over groups"
#: Heads of the columns of scores without the tested documents that leak.
WITHOUT = {NEAR_DUPLICATES: "without duplicates", SHARED_GROUPS: "without shared groups"}
#: Mark of seconds that another run measured.
STORED_MARK = "*"
STORED_NOTE = (
    f"Seconds with {STORED_MARK} are another run's, from the store; the machine may have been busier or idler then."
)
# Meanings of verdicts, for the note below a table.
VERDICT_MEANINGS = {
    "equal": "our value rounds to the published value",
    "consistent": "the published value lies in our 95% interval",
    "deviates": "the published value lies outside our 95% interval",
    "tuned": "a setting was chosen to come near the published value",
    "another setting": "our setting differs from the paper's",
}
VERDICT_NOTE = (
    "; ".join(f"{word}: {means}" for word, means in VERDICT_MEANINGS.items())
    + ". Tuned values and values of another setting are no evidence for or against the paper."
)
GRADE_NOTE = (
    f" The grade describes nearness and decides nothing; same: at most {SAME_POINTS:g} points, or at most "
    f"{SAME_DOCUMENTS} documents where that is at most {SAME_DOCUMENTS_POINTS:g} points (any other number: it rounds "
    f"to the published value); near: at most {NEAR_POINTS:g} point; else inside the interval or outside; the "
    "nearness of a Z is no information."
)
WIDER_INTERVAL_NOTE = " tolerance: how far from our value a published value may lie and still be consistent."
REFERENCE_VALUE_NOTE = (
    "Published scores of other methods on the same test documents; they get no verdict. The difference is our score "
    "minus theirs; its 95% interval is that of our score, minus their score. transductive: the method saw the test "
    "documents, without their labels, in training."
)
GROUP_INTERVAL_NOTE = (
    " The 95% interval is over documents, with groups held fixed; 'over groups' is Student's t interval over groups, "
    "as if the groups were a random sample."
)
CLAIM_NOTE = (
    "A claim holds if all of its comparisons hold. Strict tests are two-sided, at the claim's level. The claim as a "
    "whole is an intersection–union test, which needs no correction (Berger 1982); how many of its comparisons hold is "
    "counted after Holm's correction over them. Claims of equivalence or of a ratio are decided by the whole 95% "
    "interval. A comparison is not shown if the data decide neither way, contradicted if they are significant the "
    "other way, and not testable if no outcome of its test could be significant."
)


@dataclass(frozen=True)
class TextTable:
    """A table of text, each row as long as the header.

    The columns named in `text` contain words, aligned left. The others contain numbers, aligned right. The `note` below
    the table explains its terms.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text: frozenset[str]
    note: str = ""

    def without(self, *names: str) -> TextTable:
        """Return the grid without these columns."""
        places = [i for i, name in enumerate(self.header) if name not in names]
        header, *rows = (tuple(row[i] for i in places) for row in (self.header, *self.rows))
        return TextTable(self.title, header, tuple(rows), self.text, self.note)

    @property
    def width(self) -> int:
        """Characters in a line, with two spaces between columns."""
        columns = zip(self.header, *self.rows, strict=True)
        return sum(max(map(len, column)) + 2 for column in columns) - 2


def metric_header(metric: str, declared: DeclaredMetrics) -> str:
    """Return the head of a column of scores, "accuracy %"."""
    return metric_with_unit(metric, display_unit(metric, declared), declared)


def difference_text(row: dict[Any, Any]) -> str:
    """Write our value minus the published value, in the unit of the row."""
    if is_missing(row["value"]):
        return MISSING_TEXT
    decimals = 0 if row["unit"] in COUNT_UNITS else printed_decimals(row["published"])
    return number_text(row["value"] - float(row["published"]), decimals, "+")


def varying_columns(cells: Sequence[CellInfo]) -> list[str]:
    """Return the columns with more than one value over the cells, in the order of the first cell that has them."""
    names = dict.fromkeys(name for cell in cells for name in cell.columns)
    return [name for name in names if len({cell.columns.get(name, "") for cell in cells}) > 1]


def main_verdicts(summary: Summary) -> dict[str, dict[Any, Any]]:
    """Return, by cell, the row of verdicts on the main metric that the table of cells shows."""
    metric = summary.main_metric
    chosen: dict[str, dict[Any, Any]] = {}
    for row in summary.verdicts.to_dict("records"):
        if row["metric"] == metric and not row["reading"]:
            chosen.setdefault(row["cell"], row)
    return {cell.id: chosen[cell.id] for cell in summary.cells if cell.id in chosen}


def cell_grid(summary: Summary) -> TextTable:
    """Return a grid with one row for each cell: varying columns, scores, ties, and the published value.

    Beside the main score stands the one without the tested documents that leak.
    """
    varying, metrics, main = varying_columns(summary.cells), summary.headline_metrics, summary.main_metric
    scores, verdicts = summary.headlines, main_verdicts(summary)
    others, declared = [metric for metric in metrics if metric != main], summary.quantities
    unit, units = display_unit(main, declared), {metric: display_unit(metric, declared) for metric in others}
    heads = [metric_header(metric, declared) for metric in (main, *others)]
    leaks = dict.fromkeys(summary.leaks["leak"])
    without = {(row["leak"], row["cell"]): row["without"] for row in summary.leaks.to_dict("records")}
    header = ["cell", *varying, heads[0], "95% interval", *(WITHOUT[leak] for leak in leaks), *heads[1:], "ties"]
    if verdicts:
        header += ["published", "difference"]
    if verdicts or summary.failures:
        header.append("verdict")
    rows = []
    for cell in summary.cells:
        score = scores.get((cell.id, main), {})
        row = [
            cell.id,
            *(cell.columns.get(name, "") or MISSING_TEXT for name in varying),
            unit.text(score.get("value")),
        ]
        row.append(unit.interval(score.get("low"), score.get("high")))
        row += [unit.text(without.get((leak, cell.id))) for leak in leaks]
        row += [units[metric].text(scores.get((cell.id, metric), {}).get("value")) for metric in others]
        row.append(count_text(score.get("ties")))
        verdict = verdicts.get(cell.id)
        if verdicts:
            shown = in_shown_unit(verdict) if verdict else {}
            row += [shown["published"], difference_text(shown)] if verdict else [MISSING_TEXT, MISSING_TEXT]
        if verdicts or summary.failures:
            row.append("failed" if cell.id in summary.failures else verdict["verdict"] if verdict else MISSING_TEXT)
        rows.append(tuple(row))
    words = frozenset({"cell", *varying, "verdict"})
    notes = [*([VERDICT_NOTE] if verdicts else []), *_mean_notes(summary)]
    return TextTable(summary.title, tuple(header), tuple(rows), words, " ".join(notes))


def _mean_notes(summary: Summary) -> list[str]:
    """Say that the main score is a mean over splits, if it is one."""
    main = summary.main_metric
    of_metric = summary.scores[summary.scores["metric"] == main]
    n = len(set(of_metric["fold"]) - {HEADLINE_FOLD})
    if n < 2 or (main in METRICS and METRICS[main].pooled):
        return []
    name = capitalized(metric_name(main, summary.quantities))
    return [f"{name} is the mean of {n} splits, which count alike, and not that of all tested documents together."]


def fold_grid(summary: Summary) -> TextTable:
    """Return a grid of the main metric of each cell on each fold; it has no rows if there is only one split."""
    main = summary.main_metric
    unit = display_unit(main, summary.quantities)
    of_metric = summary.scores[summary.scores["metric"] == main]
    folds = [fold for fold in dict.fromkeys(of_metric["fold"]) if fold != HEADLINE_FOLD]
    value = {(row["cell"], row["fold"]): row["value"] for row in of_metric.to_dict("records")}
    rows = tuple(
        (cell.id, *(unit.text(value.get((cell.id, fold))) for fold in (*folds, HEADLINE_FOLD)))
        for cell in summary.cells
    )
    header = ("cell", *(str(fold) for fold in folds), "mean")
    title = f"{capitalized(metric_name(main, summary.quantities))} on each fold" + (
        f", {unit.symbol}" if unit.symbol else ""
    )
    return TextTable(title, header, rows if len(folds) > 1 else (), frozenset({"cell"}))


def verdict_grid(verdicts: pd.DataFrame) -> TextTable:
    """Return a grid of published values and ours, in the unit of ours, which follows the metric's name.

    Reference values are left out: see `reference_value_grid`.
    """
    rows, verdicts = [], verdicts[verdicts["verdict"] != REFERENCE_VALUE]
    for row in map(in_shown_unit, verdicts.to_dict("records")):
        decimals = 0 if row["unit"] in COUNT_UNITS else printed_decimals(row["published"])
        ours = number_text(row["value"], decimals), interval_text(row["low"], row["high"], decimals)
        over = interval_text(row["between_low"], row["between_high"], decimals)
        name = metric_with_unit(row["metric"], unit_named(row["unit"]), DIAGNOSTIC_METRICS)
        verdict = f"{row['verdict']} ({row['reading']} reading)" if row["reading"] else row["verdict"]
        verdict = f"{row['aside']}" if row["verdict"] == "another setting" else verdict
        documents = MISSING_TEXT if is_missing(row["documents"]) else number_text(row["documents"], 0, "+")
        widest = MISSING_TEXT if is_missing(row["widest"]) else f"±{number_text(row['widest'], decimals)}"
        gap, grade = difference_text(row), row["grade"] or MISSING_TEXT
        further = (row["sample"] or MISSING_TEXT, over, gap, documents, widest, grade, verdict)
        rows.append((row["cell"], name, row["published"], *ours, *further))
    header = ("cell", "metric", "published", "ours", "95% interval", "sample", OVER_GROUPS, "difference")
    last = ("difference in documents", "tolerance", "grade", "verdict")
    words = frozenset({"cell", "metric", "sample", "grade", "verdict"})
    graded = GRADE_NOTE if any(verdicts["grade"] != "") else ""
    note = (
        VERDICT_NOTE
        + graded
        + WIDER_INTERVAL_NOTE
        + (GROUP_INTERVAL_NOTE if any(verdicts["between_low"].notna()) else "")
    )
    grid = TextTable("Published numbers", (*header, *last), tuple(rows), words, note)
    empty = [name for i, name in enumerate(grid.header) if rows and all(row[i] == MISSING_TEXT for row in rows)]
    return grid.without(*empty)


def reference_value_grid(verdicts: pd.DataFrame) -> TextTable:
    """Return a grid of reference values and our scores; only the first row of a method shows its name and notes."""
    rows, above = [], ""
    for row in map(in_shown_unit, verdicts[verdicts["verdict"] == REFERENCE_VALUE].to_dict("records")):
        decimals, theirs = printed_decimals(row["published"]), float(row["published"])
        named = (row["reading"], row["aside"]) if row["reading"] != above else ("", "")
        above = row["reading"]
        gap = interval_text(row["low"] - theirs, row["high"] - theirs, decimals, "+")
        value = metric_with_unit(row["metric"], unit_named(row["unit"]), DIAGNOSTIC_METRICS), row["published"]
        ours = row["cell"], number_text(row["value"], decimals), difference_text(row), gap
        rows.append((named[0], *value, *ours, named[1]))
    header = ("method", "metric", "published", "cell", "ours", "difference", "95% interval", "notes")
    words = frozenset({"method", "metric", "cell", "notes"})
    return TextTable("Reference values", header, tuple(rows), words, REFERENCE_VALUE_NOTE)


def other_verdicts(summary: Summary) -> pd.DataFrame:
    """Return the verdicts that the table of cells does not show: those on pairs and on other metrics."""
    key = ["cell", "metric", "published", "reading"]
    placed = {tuple(row[name] for name in key) for row in main_verdicts(summary).values()}
    keys = zip(*(summary.verdicts[name] for name in key), strict=True)
    return summary.verdicts.loc[[key not in placed for key in keys]]


def claim_grid(claims: pd.DataFrame) -> TextTable:
    """Return a grid of the paper's claims, by the paper's rule and strictly, with the variant if there are several.

    Only the first row of a claim shows its text.
    """
    rows, above = [], ""
    for row in claims.to_dict("records"):
        text, above = "" if row["claim"] == above else row["text"], row["claim"]
        whole = row["whole"] if row["whole"] > row["of"] else 0
        paper = _claim_text(row["verdict"], row["holds"], row["of"], whole)
        strictly = _claim_text(row["strict_verdict"], row["strict_holds"], row["of"], whole)
        rows.append((row["claim"], row["variant"], text, row["rule"], paper, strictly, row["counted"]))
    verdicts = "by the paper's criterion", "by ours, strictly"
    header = ("claim", "variant", "text", "the paper's criterion", *verdicts, "why not counted")
    grid = TextTable("Claims", header, tuple(rows), frozenset(header), CLAIM_NOTE)
    empty = [
        name for i, name in enumerate(header) if name in ("variant", "why not counted") and not any(r[i] for r in rows)
    ]
    return grid.without(*empty)


def _claim_text(verdict: str, holds: int, of: int, whole: int) -> str:
    """Write a verdict on a claim, or only counts if `of` is part of its `whole` comparisons."""
    if verdict == "no test":
        return verdict
    if whole:
        return f"{count_text(holds)} of {count_text(of)} here; verdict over all {count_text(whole)} on the paper's page"
    return verdict if "(" in verdict else f"{verdict} ({count_text(holds)} of {count_text(of)})"


def range_grid(ranges: pd.DataFrame) -> TextTable:
    """Return a grid of axis ranges of published figures and our ranges, in the unit of the metric."""
    rows = []
    for row in ranges.to_dict("records"):
        factor = display_factor(row["unit"], row["metric"], DIAGNOSTIC_METRICS)
        unit = display_unit(row["metric"], DIAGNOSTIC_METRICS)
        spans = (
            interval_text(factor * row[low], factor * row[high], unit.decimals)
            for low, high in (("published_low", "published_high"), ("low", "high"))
        )
        inside = f"{count_text(row['inside'])} of {count_text(row['of'])}"
        metric, axis = metric_header(row["metric"], DIAGNOSTIC_METRICS), row["published_high"] - row["published_low"]
        on_axis = min(row["high"], row["published_high"]) - max(row["low"], row["published_low"])
        share = MISSING_TEXT if is_missing(on_axis) else f"{max(on_axis, 0) / axis:.0%}"
        rows.append((count_text(row["figure"]), row["what"], metric, *spans, inside, share, row["verdict"]))
    header = ("figure", "cells", "metric", "published axis", "ours", "inside", "of the axis", "verdict")
    return TextTable(
        "Axis ranges of the published figures", header, tuple(rows), frozenset({"cells", "metric", "verdict"})
    )


def misclassified_grid(mistakes: pd.DataFrame) -> TextTable:
    """Return a grid with one row for each of the documents that most cells misclassify."""
    rows = tuple(
        (
            row["document"],
            row["task"],
            row["truth"],
            f"{count_text(row['wrong'])} of {count_text(row['of'])}",
        )
        for row in mistakes.to_dict("records")
    )
    header = ("document", "task", "true", "wrong")
    grid = TextTable("Documents that most methods misclassify", header, rows, frozenset(set(header) - {"wrong"}))
    return grid if any(row[1] for row in rows) else grid.without("task")


def duplicate_grid(duplicates: pd.DataFrame) -> TextTable:
    """Return a grid of the near-duplicates between test and training documents, with an example for each split."""
    rows = tuple(
        (
            row["variant"],
            row["split"],
            f"{row['near']:,} of {row['tested']:,}",
            f"{row['same']:,}",
            row["document"],
            row["twin"],
            f"{row['shared']:.0%}",
        )
        for row in duplicates.to_dict("records")
    )
    header = ("variant", "split", "near-duplicates", "identical", "test document", "training document", "words shared")
    words = frozenset({"variant", "split", "test document", "training document"})
    note = (
        "Test documents that have at least nine of ten distinct words in common with a training document, and one such "
        "pair for each split."
    )
    grid = TextTable("Near-duplicates between test and training documents", header, rows, words, note)
    return grid if any(row[0] for row in rows) else grid.without("variant")


def cost_grid(costs: pd.DataFrame) -> TextTable:
    """Return a grid of seconds of training and testing over all splits and peak memory, one row for each cell."""
    rows = []
    for row in costs.to_dict("records"):
        peak = MISSING_TEXT if is_missing(row["peak_bytes"]) else f"{row['peak_bytes'] / 1e6:,.0f}"
        mark = STORED_MARK if row["stored"] else ""
        seconds = (f"{number_text(row[name])}{mark}" for name in ("training_seconds", "testing_seconds"))
        rows.append((row["cell"], *seconds, peak))
    header = ("cell", "training s", "testing s", "peak MB")
    return TextTable("Costs, as measured when first computed", header, tuple(rows), frozenset({"cell"}), STORED_NOTE)
