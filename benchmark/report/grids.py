"""From a summary to grids of text: which rows and columns a table has, and how its numbers are written.

Every rendering (Markdown, LaTeX, terminal, reproduction page) draws the same grids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.evaluation.judging import LANDMARK
from benchmark.measures import QUANTITIES
from benchmark.report.contents import HEADLINE
from benchmark.report.numbers import NONE, count, interval, is_missing, number, p_text, printed_decimals
from benchmark.report.quantities import capitalized, factor_shown, metric_name, named_in, unit_named, unit_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from benchmark.report.contents import CellInfo, Summary
    from benchmark.report.quantities import Declared

# As the literature writes them: in figures and in LaTeX. Elsewhere a value stands as in the config.
WORDS = {"tf": "TF", "tfidf": "TF×IDF", "linear": "LIN", "polynomial": "POL", "sigmoid": "SIG"} | {
    name: name.upper() for name in ("l1", "l2", "rbf", "ned", "ngd", "ngd-e")
}
TEST_NAMES = {"sign": "sign", "mcnemar": "McNemar", "wilcoxon": "Wilcoxon"}
OVER_GROUPS = "over groups"
# What the words of tables mean, in the line below each.
VERDICT_MEANINGS = {
    "equal": "ours rounds to the print",
    "consistent": "the print lies in the 95% interval of ours",
    "deviates": "it doesn't",
    "fitted": "a choice was made to come near it",
    "another setting": "ours is not the paper's",
}
VERDICT_WORDS = "; ".join(f"{word}: {means}" for word, means in VERDICT_MEANINGS.items()) + "; either shows nothing."
WIDEST_WORDS = " would pass: how far from ours a print could be and still be consistent."
LANDMARK_WORDS = (
    "What other methods scored on these documents, as published; nothing of it is judged. The difference is ours less "
    "theirs, with the 95% interval of ours about it. transductive: given the test documents, without their labels, "
    "while training."
)
GROUP_WORDS = (
    " The 95% interval is over the documents, the groups given; 'over groups' is Student's over the groups, as if they "
    "had been drawn."
)
CLAIM_WORDS = (
    "A claim holds where all of its comparisons do. Strictly: two-sided, at its level after Holm's correction over the "
    "claim's comparisons, or by the whole 95% interval where it speaks of sameness or a ratio; a comparison is not "
    "shown where the data decide neither way, and contradicted where they are significant the other way."
)
FAMILY_WORDS = "p is two-sided; p (Holm) is corrected over so many tests: those of its kind and family in this table."


@dataclass(frozen=True)
class Grid:
    """A table of text, each row as long as the header.

    The columns named in `text` hold words, aligned left; the others hold numbers, aligned right. The `note` below it
    says what its words mean.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text: frozenset[str]
    note: str = ""

    def without(self, *names: str) -> Grid:
        """Leave out these columns."""
        kept = [i for i, name in enumerate(self.header) if name not in names]
        header, *rows = (tuple(row[i] for i in kept) for row in (self.header, *self.rows))
        return Grid(self.title, header, tuple(rows), self.text, self.note)

    @property
    def width(self) -> int:
        """Characters that its lines take, with two spaces between columns."""
        columns = zip(self.header, *self.rows, strict=True)
        return sum(max(map(len, column)) + 2 for column in columns) - 2


def metric_header(metric: str, declared: Declared) -> str:
    """Return the head of a column of scores, "accuracy %"."""
    return named_in(metric, unit_shown(metric, declared), declared)


def word(value: str) -> str:
    """Write a value of a column as the literature does."""
    return WORDS.get(value, value)


def difference_text(row: dict[Any, Any]) -> str:
    """Ours less the print, in the print's unit."""
    if is_missing(row["value"]):
        return NONE
    decimals = 0 if row["unit"] == "documents" else printed_decimals(row["published"])
    return number(row["value"] - float(row["published"]), decimals, "+")


def headline_metrics(summary: Summary) -> list[str]:
    """Metrics of the headline rows: accuracy first, then as they come."""
    metrics = dict.fromkeys(metric for _, metric in summary.headlines)
    return sorted(metrics, key=lambda metric: metric != "accuracy")


def main_metric(summary: Summary) -> str:
    """Metric that is shown with its interval, its folds and its picture."""
    return next(iter(headline_metrics(summary)), "accuracy")


def varying_columns(cells: Sequence[CellInfo]) -> list[str]:
    """Columns that take more than one value over the cells, in the order of the first cell that has them."""
    names = dict.fromkeys(name for cell in cells for name in cell.columns)
    return [name for name in names if len({cell.columns.get(name, "") for cell in cells}) > 1]


def labels_identify(cells: Sequence[CellInfo]) -> bool:
    """Whether the columns that vary tell the cells apart, so that their ids can be left out."""
    names = varying_columns(cells)
    return bool(names) and len({tuple(cell.columns.get(n, "") for n in names) for cell in cells}) == len(cells)


def main_verdicts(summary: Summary) -> dict[str, dict[Any, Any]]:
    """By cell, the print of the main metric: the verdicts that stand in the table of cells."""
    metric = main_metric(summary)
    chosen: dict[str, dict[Any, Any]] = {}
    for row in summary.verdicts.to_dict("records"):
        if row["metric"] == metric and not row["reading"]:
            chosen.setdefault(row["cell"], row)
    return {cell.id: chosen[cell.id] for cell in summary.cells if cell.id in chosen}


def cell_grid(summary: Summary) -> Grid:
    """One row a cell: what varies, its scores, ties, and the print beside them."""
    varying, metrics, main = varying_columns(summary.cells), headline_metrics(summary), main_metric(summary)
    scores, verdicts = summary.headlines, main_verdicts(summary)
    others, declared = [metric for metric in metrics if metric != main], summary.quantities
    unit, units = unit_shown(main, declared), {metric: unit_shown(metric, declared) for metric in others}
    heads = [metric_header(metric, declared) for metric in (main, *others)]
    header = ["cell", *varying, heads[0], "95% interval", *heads[1:], "ties"]
    if verdicts:
        header += ["published", "difference"]
    if verdicts or summary.failures:
        header.append("verdict")
    rows = []
    for cell in summary.cells:
        score = scores.get((cell.id, main), {})
        row = [cell.id, *(cell.columns.get(name, "") or NONE for name in varying), unit.text(score.get("value"))]
        row.append(unit.interval(score.get("low"), score.get("high")))
        row += [units[metric].text(scores.get((cell.id, metric), {}).get("value")) for metric in others]
        row.append(count(score.get("ties")))
        verdict = verdicts.get(cell.id)
        if verdicts:
            row += [verdict["published"], difference_text(verdict)] if verdict else [NONE, NONE]
        if verdicts or summary.failures:
            row.append("failed" if cell.id in summary.failures else verdict["verdict"] if verdict else NONE)
        rows.append(tuple(row))
    words = frozenset({"cell", *varying, "verdict"})
    return Grid(summary.title, tuple(header), tuple(rows), words, VERDICT_WORDS if verdicts else "")


def fold_grid(summary: Summary) -> Grid:
    """The main metric of each cell on each fold; no rows where there is one split only."""
    main = main_metric(summary)
    unit = unit_shown(main, summary.quantities)
    of_metric = summary.scores[summary.scores["metric"] == main]
    folds = [fold for fold in dict.fromkeys(of_metric["fold"]) if fold != HEADLINE]
    value = {(row["cell"], row["fold"]): row["value"] for row in of_metric.to_dict("records")}
    rows = tuple(
        (cell.id, *(unit.text(value.get((cell.id, fold))) for fold in (*folds, HEADLINE))) for cell in summary.cells
    )
    header = ("cell", *(str(fold) for fold in folds), "mean")
    title = f"{capitalized(metric_name(main, summary.quantities))} on each fold" + (
        f", {unit.symbol}" if unit.symbol else ""
    )
    return Grid(title, header, rows if len(folds) > 1 else (), frozenset({"cell"}))


def significance_grid(summary: Summary) -> Grid:
    """One row a test; the difference stands on the first row of its pair."""
    difference = {(row["a"], row["b"]): row for row in summary.differences.to_dict("records")}
    tests: dict[tuple[str, str], list[dict[Any, Any]]] = {pair: [] for pair in difference}
    for row in summary.significance.to_dict("records"):
        tests.setdefault((row["a"], row["b"]), []).append(row)
    rows, unit = [], unit_shown(main_metric(summary), summary.quantities)
    for (a, b), results in tests.items():
        gap = difference.get((a, b), {})
        gap_text = (unit.text(gap.get("value"), "+"), unit.interval(gap.get("low"), gap.get("high"), "+"))
        if not results:
            rows.append((a, b, *gap_text, NONE, NONE, NONE, NONE, NONE))
        for i, test in enumerate(results):
            rows.append((a, b, *(gap_text if i == 0 else ("", "")), *_test_text(test)))
    header = ("a", "b", "a − b", "95% interval", "test", "n", "statistic", "p", "p (Holm)")
    return Grid("Significance", header, tuple(rows), frozenset({"a", "b", "test"}), FAMILY_WORDS)


def _test_text(test: dict[Any, Any]) -> tuple[str, str, str, str, str]:
    statistic = number(test["statistic"])
    if test["test"] == "sign" and statistic != NONE:
        statistic = f"Z {statistic}"
    holm = NONE if is_missing(test["p_holm"]) else f"{p_text(test['p_holm'])} (of {count(test['family'])})"
    name = TEST_NAMES.get(test["test"], test["test"])
    return name, count(test["n"]), statistic, p_text(test["p_value"], test["note"]), holm


def verdict_grid(verdicts: pd.DataFrame) -> Grid:
    """Printed numbers beside ours, in the unit of the print, which stands behind the metric; without landmarks."""
    rows, verdicts = [], verdicts[verdicts["verdict"] != LANDMARK]
    for row in verdicts.to_dict("records"):
        decimals = 0 if row["unit"] == "documents" else printed_decimals(row["published"])
        ours = number(row["value"], decimals), interval(row["low"], row["high"], decimals)
        over = interval(row["between_low"], row["between_high"], decimals)
        name = named_in(row["metric"], unit_named(row["unit"]), QUANTITIES)
        verdict = f"{row['verdict']} ({row['reading']} reading)" if row["reading"] else row["verdict"]
        verdict = f"{row['aside']}" if row["verdict"] == "another setting" else verdict
        documents = NONE if is_missing(row["documents"]) else number(row["documents"], 0, "+")
        widest = NONE if is_missing(row["widest"]) else f"±{number(row['widest'], decimals)}"
        further = (row["sample"] or NONE, over, difference_text(row), documents, widest, verdict)
        rows.append((row["cell"], name, row["published"], *ours, *further))
    header = ("cell", "metric", "published", "ours", "95% interval", "sample", OVER_GROUPS, "difference", "documents")
    words = frozenset({"cell", "metric", "sample", "verdict"})
    note = VERDICT_WORDS + WIDEST_WORDS + (GROUP_WORDS if any(verdicts["between_low"].notna()) else "")
    grid = Grid("Published numbers", (*header, "would pass", "verdict"), tuple(rows), words, note)
    empty = [name for i, name in enumerate(grid.header) if rows and all(row[i] == NONE for row in rows)]
    return grid.without(*empty)


def landmark_grid(verdicts: pd.DataFrame) -> Grid:
    """What other methods scored beside ours; the method stands on the first of its rows, and what is otherwise."""
    rows, above = [], ""
    for row in verdicts[verdicts["verdict"] == LANDMARK].to_dict("records"):
        decimals, theirs = printed_decimals(row["published"]), float(row["published"])
        named = (row["reading"], row["aside"]) if row["reading"] != above else ("", "")
        above = row["reading"]
        gap = interval(row["low"] - theirs, row["high"] - theirs, decimals, "+")
        what = named_in(row["metric"], unit_named(row["unit"]), QUANTITIES), row["published"]
        ours = row["cell"], number(row["value"], decimals), difference_text(row), gap
        rows.append((named[0], *what, *ours, named[1]))
    header = ("method", "metric", "published", "cell", "ours", "difference", "95% interval", "of the method")
    words = frozenset({"method", "metric", "cell", "of the method"})
    return Grid("Landmarks", header, tuple(rows), words, LANDMARK_WORDS)


def other_verdicts(summary: Summary) -> pd.DataFrame:
    """Verdicts that have no place in the table of cells: of pairs, and of the other metrics."""
    key = ["cell", "metric", "published", "reading"]
    placed = {tuple(row[name] for name in key) for row in main_verdicts(summary).values()}
    keys = zip(*(summary.verdicts[name] for name in key), strict=True)
    return summary.verdicts.loc[[key not in placed for key in keys]]


def claim_grid(claims: pd.DataFrame) -> Grid:
    """Claims of the paper, by its own rule and strictly; the variant where there are several."""
    rows = []
    for row in claims.to_dict("records"):
        whole = row["whole"] if row["whole"] > row["of"] else 0
        paper = _told(row["verdict"], row["holds"], row["of"], whole)
        strictly = _told(row["strict_verdict"], row["strict_holds"], row["of"], whole)
        rows.append((row["claim"], row["variant"], row["text"], row["rule"], paper, strictly, row["counted"]))
    header = ("claim", "variant", "text", "the paper's rule", "by it", "strictly", "not counted")
    grid = Grid("Claims", header, tuple(rows), frozenset(header), CLAIM_WORDS)
    empty = [
        name for i, name in enumerate(header) if name in ("variant", "not counted") and not any(r[i] for r in rows)
    ]
    return grid.without(*empty)


def _told(verdict: str, holds: int, of: int, whole: int) -> str:
    """A verdict on a claim; of a part of its comparisons there is none."""
    if verdict == "no test":
        return verdict
    if whole:
        return f"{count(holds)} of {count(of)} here; judged over {count(whole)} on the page"
    return verdict if "(" in verdict else f"{verdict} ({count(holds)} of {count(of)})"


def range_grid(ranges: pd.DataFrame) -> Grid:
    """Ranges of printed figures beside ours, in the unit of the metric."""
    rows = []
    for row in ranges.to_dict("records"):
        factor = factor_shown(row["unit"], row["metric"], QUANTITIES)
        unit = unit_shown(row["metric"], QUANTITIES)
        spans = (
            interval(factor * row[low], factor * row[high], unit.decimals)
            for low, high in (("published_low", "published_high"), ("low", "high"))
        )
        inside = f"{count(row['inside'])} of {count(row['of'])}"
        metric = metric_header(row["metric"], QUANTITIES)
        rows.append((count(row["figure"]), row["what"], metric, *spans, inside, row["verdict"]))
    header = ("figure", "cells", "metric", "published axis", "ours", "inside", "verdict")
    return Grid("Ranges of the printed figures", header, tuple(rows), frozenset({"cells", "metric", "verdict"}))


def mistake_grid(mistakes: pd.DataFrame) -> Grid:
    """The documents that most cells decide wrongly, one a row."""
    rows = tuple(
        (row["document"], row["task"], row["truth"], f"{count(row['wrong'])} of {count(row['of'])}", row["given"])
        for row in mistakes.to_dict("records")
    )
    header = ("document", "task", "true", "wrong", "given")
    grid = Grid("Documents that most cells decide wrongly", header, rows, frozenset(set(header) - {"wrong"}))
    return grid if any(row[1] for row in rows) else grid.without("task")


def cost_grid(costs: pd.DataFrame) -> Grid:
    """Seconds of training and testing over all splits, and memory at the peak, one row a cell."""
    rows = []
    for row in costs.to_dict("records"):
        peak = NONE if is_missing(row["peak_bytes"]) else f"{row['peak_bytes'] / 1e6:,.0f}"
        rows.append((row["cell"], number(row["training_seconds"]), number(row["testing_seconds"]), peak))
    header = ("cell", "training s", "testing s", "peak MB")
    return Grid("Costs, as measured when first computed", header, tuple(rows), frozenset({"cell"}))
