"""Grids of text made from a summary: the rows and columns of each table, with formatted numbers.

Every output format (Markdown, LaTeX, terminal, HTML) renders the same grids.
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

# Spelling of the literature, for figures and LaTeX. Other outputs use the spelling of the configuration.
WORDS = {"tf": "TF", "tfidf": "TF×IDF", "linear": "LIN", "polynomial": "POL", "sigmoid": "SIG"} | {
    name: name.upper() for name in ("l1", "l2", "rbf", "ned", "ngd", "ngd-e")
}
TEST_NAMES = {"sign": "sign", "mcnemar": "McNemar", "wilcoxon": "Wilcoxon"}
OVER_GROUPS = "over groups"
# Meanings of verdicts, for the note below a table.
VERDICT_MEANINGS = {
    "equal": "our value rounds to the published value",
    "consistent": "the published value lies in our 95% interval",
    "deviates": "the published value lies outside our 95% interval",
    "fitted": "a setting was chosen to come near the published value",
    "another setting": "our setting differs from the paper's",
}
VERDICT_WORDS = (
    "; ".join(f"{word}: {means}" for word, means in VERDICT_MEANINGS.items())
    + ". Fitted values and values of another setting are no evidence for or against the paper."
)
WIDEST_WORDS = " would pass: how far from our value a published value may lie and still be consistent."
LANDMARK_WORDS = (
    "Published scores of other methods on the same test documents; they get no verdict. The difference is our score "
    "minus theirs; its 95% interval is that of our score, minus their score. transductive: the method saw the test "
    "documents, without their labels, in training."
)
GROUP_WORDS = (
    " The 95% interval is over documents, with groups held fixed; 'over groups' is Student's t interval over groups, "
    "as if the groups were a random sample."
)
CLAIM_WORDS = (
    "A claim holds if all of its comparisons hold. Strict tests are two-sided, at the claim's level after Holm's "
    "correction over its comparisons; claims of equivalence or of a ratio are decided by the whole 95% interval. A "
    "comparison is not shown if the data decide neither way, and contradicted if they are significant the other way."
)
FAMILY_WORDS = (
    "p is two-sided. p (Holm) is corrected over the number of tests in parentheses: those of the same kind and family "
    "in this table."
)


@dataclass(frozen=True)
class Grid:
    """A table of text, each row as long as the header.

    The columns named in `text` contain words, aligned left. The others contain numbers, aligned right. The `note` below
    the table explains its terms.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text: frozenset[str]
    note: str = ""

    def without(self, *names: str) -> Grid:
        """Return the grid without these columns."""
        places = [i for i, name in enumerate(self.header) if name not in names]
        header, *rows = (tuple(row[i] for i in places) for row in (self.header, *self.rows))
        return Grid(self.title, header, tuple(rows), self.text, self.note)

    @property
    def width(self) -> int:
        """Characters in a line, with two spaces between columns."""
        columns = zip(self.header, *self.rows, strict=True)
        return sum(max(map(len, column)) + 2 for column in columns) - 2


def metric_header(metric: str, declared: Declared) -> str:
    """Return the head of a column of scores, "accuracy %"."""
    return named_in(metric, unit_shown(metric, declared), declared)


def word(value: str) -> str:
    """Return a value of a column as the literature spells it."""
    return WORDS.get(value, value)


def difference_text(row: dict[Any, Any]) -> str:
    """Write our value minus the published value, in the unit of the published value."""
    if is_missing(row["value"]):
        return NONE
    decimals = 0 if row["unit"] == "documents" else printed_decimals(row["published"])
    return number(row["value"] - float(row["published"]), decimals, "+")


def headline_metrics(summary: Summary) -> list[str]:
    """Return the metrics of the headline rows: accuracy first, then in the order of the rows."""
    metrics = dict.fromkeys(metric for _, metric in summary.headlines)
    return sorted(metrics, key=lambda metric: metric != "accuracy")


def main_metric(summary: Summary) -> str:
    """Return the metric that is shown with intervals, folds and a figure."""
    return next(iter(headline_metrics(summary)), "accuracy")


def varying_columns(cells: Sequence[CellInfo]) -> list[str]:
    """Return the columns with more than one value over the cells, in the order of the first cell that has them."""
    names = dict.fromkeys(name for cell in cells for name in cell.columns)
    return [name for name in names if len({cell.columns.get(name, "") for cell in cells}) > 1]


def labels_identify(cells: Sequence[CellInfo]) -> bool:
    """Test whether the varying columns identify every cell, so that ids can be left out."""
    names = varying_columns(cells)
    return bool(names) and len({tuple(cell.columns.get(n, "") for n in names) for cell in cells}) == len(cells)


def main_verdicts(summary: Summary) -> dict[str, dict[Any, Any]]:
    """Return, by cell, the row of verdicts on the main metric that the table of cells shows."""
    metric = main_metric(summary)
    chosen: dict[str, dict[Any, Any]] = {}
    for row in summary.verdicts.to_dict("records"):
        if row["metric"] == metric and not row["reading"]:
            chosen.setdefault(row["cell"], row)
    return {cell.id: chosen[cell.id] for cell in summary.cells if cell.id in chosen}


def cell_grid(summary: Summary) -> Grid:
    """Return a grid with one row for each cell: varying columns, scores, ties, and the published value."""
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
    """Return a grid of the main metric of each cell on each fold; it has no rows if there is only one split."""
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
    """Return a grid with one row for each test; only the first row of a pair shows the difference."""
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
    """Return a grid of published values and ours, in the published unit, which follows the metric's name.

    Reference values are left out: see `landmark_grid`.
    """
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
    """Return a grid of reference values and our scores; only the first row of a method shows its name and notes."""
    rows, above = [], ""
    for row in verdicts[verdicts["verdict"] == LANDMARK].to_dict("records"):
        decimals, theirs = printed_decimals(row["published"]), float(row["published"])
        named = (row["reading"], row["aside"]) if row["reading"] != above else ("", "")
        above = row["reading"]
        gap = interval(row["low"] - theirs, row["high"] - theirs, decimals, "+")
        value = named_in(row["metric"], unit_named(row["unit"]), QUANTITIES), row["published"]
        ours = row["cell"], number(row["value"], decimals), difference_text(row), gap
        rows.append((named[0], *value, *ours, named[1]))
    header = ("method", "metric", "published", "cell", "ours", "difference", "95% interval", "notes")
    words = frozenset({"method", "metric", "cell", "notes"})
    return Grid("Reference values", header, tuple(rows), words, LANDMARK_WORDS)


def other_verdicts(summary: Summary) -> pd.DataFrame:
    """Return the verdicts that the table of cells does not show: those on pairs and on other metrics."""
    key = ["cell", "metric", "published", "reading"]
    placed = {tuple(row[name] for name in key) for row in main_verdicts(summary).values()}
    keys = zip(*(summary.verdicts[name] for name in key), strict=True)
    return summary.verdicts.loc[[key not in placed for key in keys]]


def claim_grid(claims: pd.DataFrame) -> Grid:
    """Return a grid of the paper's claims, by the paper's rule and strictly, with the variant if there are several."""
    rows = []
    for row in claims.to_dict("records"):
        whole = row["whole"] if row["whole"] > row["of"] else 0
        paper = _claim_text(row["verdict"], row["holds"], row["of"], whole)
        strictly = _claim_text(row["strict_verdict"], row["strict_holds"], row["of"], whole)
        rows.append((row["claim"], row["variant"], row["text"], row["rule"], paper, strictly, row["counted"]))
    header = ("claim", "variant", "text", "the paper's rule", "by the paper's rule", "strictly", "not counted")
    grid = Grid("Claims", header, tuple(rows), frozenset(header), CLAIM_WORDS)
    empty = [
        name for i, name in enumerate(header) if name in ("variant", "not counted") and not any(r[i] for r in rows)
    ]
    return grid.without(*empty)


def _claim_text(verdict: str, holds: int, of: int, whole: int) -> str:
    """Write a verdict on a claim, or only counts if `of` is part of its `whole` comparisons."""
    if verdict == "no test":
        return verdict
    if whole:
        return f"{count(holds)} of {count(of)} here; verdict over all {count(whole)} on the paper's page"
    return verdict if "(" in verdict else f"{verdict} ({count(holds)} of {count(of)})"


def range_grid(ranges: pd.DataFrame) -> Grid:
    """Return a grid of axis ranges of published figures and our ranges, in the unit of the metric."""
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
    return Grid("Axis ranges of the published figures", header, tuple(rows), frozenset({"cells", "metric", "verdict"}))


def mistake_grid(mistakes: pd.DataFrame) -> Grid:
    """Return a grid with one row for each of the documents that most cells misclassify."""
    rows = tuple(
        (row["document"], row["task"], row["truth"], f"{count(row['wrong'])} of {count(row['of'])}", row["given"])
        for row in mistakes.to_dict("records")
    )
    header = ("document", "task", "true", "wrong", "predicted")
    grid = Grid("Documents that most cells misclassify", header, rows, frozenset(set(header) - {"wrong"}))
    return grid if any(row[1] for row in rows) else grid.without("task")


def cost_grid(costs: pd.DataFrame) -> Grid:
    """Return a grid of seconds of training and testing over all splits and peak memory, one row for each cell."""
    rows = []
    for row in costs.to_dict("records"):
        peak = NONE if is_missing(row["peak_bytes"]) else f"{row['peak_bytes'] / 1e6:,.0f}"
        rows.append((row["cell"], number(row["training_seconds"]), number(row["testing_seconds"]), peak))
    header = ("cell", "training s", "testing s", "peak MB")
    return Grid("Costs, as measured when first computed", header, tuple(rows), frozenset({"cell"}))
