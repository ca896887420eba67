"""Tables of a summary: scores, comparisons, published values, claims, and what else a run finds."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import NOT_SHOWN, UNDECIDED, first_comparisons, planned_comparisons, ranked_cells
from benchmark.analysis.formatting.table import ON_DEMAND, PLAIN, Column, Table
from benchmark.analysis.formatting.units import (
    MISSING_TEXT,
    capitalized,
    display_factor,
    display_unit,
    is_missing,
    metric_with_unit,
    number_text,
    p_text,
    printed_decimals,
    unit_named,
)
from benchmark.analysis.prose.sentences import template_value
from benchmark.analysis.summary import HEADLINE_FOLD
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.evaluation.metrics import METRICS
from benchmark.evaluation.predictions import NEAR_DUPLICATES, SHARED_GROUPS
from benchmark.papers.published import COUNT_UNITS
from benchmark.papers.published_verdicts import REFERENCE_VALUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.formatting.labels import CellInfo
    from benchmark.analysis.formatting.units import Unit
    from benchmark.analysis.summary import Summary

INTERVAL = "95% interval"
#: Heads of the columns of scores without the tested documents that leak.
WITHOUT = {NEAR_DUPLICATES: "without duplicates", SHARED_GROUPS: "without shared groups"}
#: Mark of seconds that another run measured.
STORED_MARK = "*"
#: Notes below tables, and meanings of verdicts, by name.
NOTES, VERDICT_MEANINGS = (template_value("tables.j2", name) for name in ("notes", "verdicts"))
#: Heads of the two verdicts on a claim, or on what it compares.
BY_PAPER, BY_OURS = Column("by the paper's criterion", verdict=True), Column("by our stricter test", verdict=True)
#: Numbers of a row of a published value that are in the unit of that value.
_IN_PUBLISHED_UNIT = ("value", "low", "high", "between_low", "between_high", "widest")
TEST_TITLES = {"sign": "sign", "mcnemar": "McNemar", "wilcoxon": "Wilcoxon"}
_P_HOLM = Column("p (Holm)", PLAIN, detail=1, note=NOTES["holm"])
#: What tables of claims say of a comparison, after its difference.
_TESTED = (
    *(Column(name, PLAIN, note=NOTES["strict p"]) for name in ("p", "p (Holm)")),
    *(Column("detectable", PLAIN, note=NOTES["detectable"]), BY_PAPER, BY_OURS),
)


def in_shown_unit(row: dict[Any, Any]) -> dict[Any, Any]:
    """Return a row of a published value in the unit in which its metric is shown: a fraction in percent.

    The digits are as printed, with the decimal point moved.
    """
    factor = display_factor(row["unit"], row["metric"], DIAGNOSTIC_METRICS)
    if factor == 1:
        return row
    moved = Decimal(row["published"]).scaleb(round(math.log10(factor)))
    numbers = {name: factor * row[name] for name in _IN_PUBLISHED_UNIT if name in row}
    unit = display_unit(row["metric"], DIAGNOSTIC_METRICS).name
    return row | numbers | {"published": f"{moved:f}", "unit": unit}


def score_column(summary: Summary, metric: str, detail: int = 0) -> Column:
    """Return the column of a metric's scores."""
    unit, better = display_unit(metric, summary.quantities), summary.more_is_better(metric)
    return Column(metric_with_unit(metric, summary.quantities), unit, more_is_better=better, detail=detail)


def varying_columns(cells: Sequence[CellInfo]) -> list[str]:
    """Return the columns with more than one value over the cells, in the order of the first cell that has them."""
    names = dict.fromkeys(name for cell in cells for name in cell.columns)
    return [name for name in names if len({cell.columns.get(name, "") for cell in cells}) > 1]


def main_verdicts(summary: Summary) -> dict[str, dict[Any, Any]]:
    """Return, by cell, the row of verdicts on the main metric that the table of cells shows."""
    chosen: dict[str, dict[Any, Any]] = {}
    for row in summary.verdicts.to_dict("records"):
        if row["metric"] == summary.main_metric and not row["reading"]:
            chosen.setdefault(row["cell"], row)
    return {cell.id: chosen[cell.id] for cell in summary.cells if cell.id in chosen}


def further_metrics(summary: Summary) -> list[str]:
    """Return the metrics beside the main one, without micro-F1 and accuracy where they repeat each other."""

    def values(metric: str) -> dict[str, Any]:
        return {cell: row["value"] for (cell, of), row in summary.headlines.items() if of == metric}

    main, *others = summary.headline_metrics or (summary.main_metric,)
    equal = values("micro-f1") == values("accuracy")
    again = ({"micro-f1", "accuracy"} if main in ("micro-f1", "accuracy") else {"micro-f1"}) if equal else set()
    return [metric for metric in others if metric not in again]


def cell_table(summary: Summary, *, costs: bool = False, anywhere: bool = False) -> Table:
    """Return the table of cells, the best first: scores, published values and, if asked for, what the cells cost.

    Beside the main score stands the one without the tested documents that leak. A table that must be the same
    `anywhere` explains the mark of earlier seconds also where no row has it.
    """
    main, others, declared = summary.main_metric, further_metrics(summary), summary.quantities
    unit, varying = summary.unit, varying_columns(summary.cells)
    verdicts = {cell: in_shown_unit(row) for cell, row in main_verdicts(summary).items()}
    without = {(WITHOUT[row["leak"]], row["cell"]): row["without"] for row in summary.leaks.to_dict("records")}
    measured = {row["cell"]: _cost_texts(row) for row in summary.costs.to_dict("records")} if costs else {}
    stored = any(STORED_MARK in row["training s"] for row in measured.values())
    seconds_note = NOTES["stored"] if stored or (measured and anywhere) else ""
    columns = [
        *(Column("method"), score_column(summary, main), Column(INTERVAL, unit, detail=1)),
        *(Column(name, unit, detail=4) for name in dict.fromkeys(name for name, _ in without)),
        *(Column("published", PLAIN), Column("difference", PLAIN, detail=2)),
        _verdict_column(row["verdict"] for row in verdicts.values()),
        *(score_column(summary, metric, detail) for detail, metric in enumerate(others, start=5)),
        Column("ties", PLAIN, detail=ON_DEMAND - 1),
        *(Column(name, PLAIN, detail=n, measured=True, note=seconds_note) for name, n in COST_COLUMNS.items()),
        *(Column(name, detail=ON_DEMAND + 1) for name in varying),
    ]
    cells, records = {cell.id: cell for cell in summary.cells}, []
    for name in ranked_cells(summary):
        score, verdict = summary.headlines.get((name, main), {}), verdicts.get(name, {})
        record: dict[str, Any] = {column: cells[name].columns.get(column) for column in varying}
        record |= {"method": name, INTERVAL: (score.get("low"), score.get("high"))}
        record["ties"] = None if is_missing(score.get("ties")) else int(score["ties"])
        record |= {column: value for (column, cell), value in without.items() if cell == name}
        for metric in (main, *others):
            record[metric_with_unit(metric, declared)] = summary.headlines.get((name, metric), {}).get("value")
        if verdict:
            record |= {"published": verdict["published"], "difference": difference_text(verdict)}
        record["verdict"] = "failed" if name in summary.failures else verdict.get("verdict")
        records.append(record | measured.get(name, {}))
    return Table.of(summary.title, columns, records, _mean_note(summary))


def bar_numbers(summary: Summary, table: Table) -> dict[str, dict[str, float | None]]:
    """Return what the bar of each cell shows, in the unit of the table: score, interval, published value and band.

    The band, `base_low` to `base_high`, is the interval of the cell that this one is first compared with.
    """
    rows, first = {row["method"]: row for row in table.records}, first_comparisons(summary)
    main, found = metric_with_unit(summary.main_metric, summary.quantities), {}
    for cell, row in rows.items():
        base = rows[first[cell].b.id] if cell in first else {}
        (low, high), (base_low, base_high) = (each.get(INTERVAL) or (None, None) for each in (row, base))
        numbers: dict[str, Any] = {"value": row.get(main), "low": low, "high": high, "published": row.get("published")}
        numbers |= {"base_low": base_low, "base_high": base_high}
        found[cell] = {name: None if is_missing(number) else float(number) for name, number in numbers.items()}
    return found


#: Columns of costs, and how early they are left out.
COST_COLUMNS = {"training s": 3, "testing s": ON_DEMAND, "peak MB": ON_DEMAND}


def _cost_texts(row: Mapping[Any, Any]) -> dict[str, str]:
    """Return seconds and memory of a cell, as text by the names of columns."""
    peak = MISSING_TEXT if is_missing(row["peak_bytes"]) else f"{row['peak_bytes'] / 1e6:,.0f}"
    mark = STORED_MARK if row["stored"] else ""
    seconds = [number_text(row[name]) + mark for name in ("training_seconds", "testing_seconds")]
    return dict(zip(COST_COLUMNS, (*seconds, peak), strict=True))


def _mean_note(summary: Summary) -> str:
    """Say that the main score is a mean over splits, if it is one."""
    main = summary.main_metric
    of_metric = summary.scores[summary.scores["metric"] == main]
    n = len(set(of_metric["fold"]) - {HEADLINE_FOLD})
    if n < 2 or (main in METRICS and METRICS[main].pooled):
        return ""
    name = capitalized(summary.metric_name)
    return f"{name} is the mean of {n} splits, which count alike, and not that of all tested documents together."


def fold_table(summary: Summary) -> Table:
    """Return a table of the main metric of each cell on each fold; it has no rows if there is only one split."""
    unit, of_metric = summary.unit, summary.scores[summary.scores["metric"] == summary.main_metric]
    folds = [*(fold for fold in dict.fromkeys(of_metric["fold"]) if fold != HEADLINE_FOLD), HEADLINE_FOLD]
    value = {(row["cell"], row["fold"]): row["value"] for row in of_metric.to_dict("records")}
    rows = [(cell, *(value.get((cell, fold)) for fold in folds)) for cell in ranked_cells(summary)]
    columns = [Column(str(fold) if fold != HEADLINE_FOLD else "mean", unit) for fold in folds]
    title = f"{capitalized(summary.metric_name)} on each fold{f', {unit.symbol}' if unit.symbol else ''}"
    return Table.of(title, ["method", *columns], rows if len(folds) > 2 else ())


def difference_text(row: Mapping[Any, Any]) -> str:
    """Write our value minus the published value, in the unit of the row."""
    if is_missing(row["value"]):
        return MISSING_TEXT
    return number_text(row["value"] - float(row["published"]), _unit_beside(row).decimals, "+")


def _unit_beside(row: Mapping[Any, Any]) -> Unit:
    """Return the unit of numbers beside a published value, with as many decimals as that has."""
    decimals = 0 if row["unit"] in COUNT_UNITS else printed_decimals(row["published"])
    return replace(PLAIN, decimals=decimals)


def verdict_table(verdicts: pd.DataFrame) -> Table:
    """Return a table of published values and ours, in the unit of ours, which follows the metric's name.

    Reference values are left out: see `reference_value_table`.
    """
    return _published_table("Published numbers", verdicts[verdicts["verdict"] != REFERENCE_VALUE])


def reference_value_table(verdicts: pd.DataFrame) -> Table:
    """Return a table of reference values and our scores."""
    values = verdicts[verdicts["verdict"] == REFERENCE_VALUE]
    return _published_table("Reference values", values, NOTES["reference values"])


def _published_table(title: str, verdicts: pd.DataFrame, note: str = "") -> Table:
    records = []
    for row in map(in_shown_unit, verdicts.to_dict("records")):
        unit, reference = _unit_beside(row), row["verdict"] == REFERENCE_VALUE
        verdict = f"{row['verdict']} ({row['reading']} reading)" if row["reading"] else row["verdict"]
        verdict = row["aside"] if row["verdict"] == "another setting" else "" if reference else verdict
        record = {"method": row["cell"], "published": row["published"], "verdict": verdict}
        record |= {"published method": row["reading"], "notes": row["aside"]} if reference else {}
        record["metric"] = metric_with_unit(row["metric"], DIAGNOSTIC_METRICS, unit_named(row["unit"]))
        record |= {"ours": unit.text(row["value"]), INTERVAL: unit.interval(row["low"], row["high"])}
        record |= {
            "difference": difference_text(row),
            "over groups": unit.interval(row["between_low"], row["between_high"]),
        }
        record["difference in documents"] = number_text(row["documents"], 0, "+")
        record["tolerance"] = None if is_missing(row["widest"]) or reference else f"±{unit.text(row['widest'])}"
        records.append(record)
    columns = (
        *("published method", "method", Column("metric", detail=2), Column("ours", PLAIN)),
        Column(INTERVAL, PLAIN, detail=1),
        *(Column("published", PLAIN), Column("difference", PLAIN, detail=3), _verdict_column(verdicts["verdict"])),
        Column("over groups", PLAIN, detail=ON_DEMAND, note=NOTES["over groups"]),
        Column("difference in documents", PLAIN, detail=ON_DEMAND),
        Column("tolerance", PLAIN, detail=ON_DEMAND, note=NOTES["tolerance"]),
        Column("notes", detail=4),
    )
    return Table.of(title, columns, records, note)


def _verdict_column(verdicts: Iterable[str]) -> Column:
    """Return the column of verdicts on published values, with what these verdicts mean."""
    found = set(verdicts)
    meanings = [f"{word}: {meaning}" for word, meaning in VERDICT_MEANINGS.items() if word in found]
    return Column("verdict", verdict=True, note=capitalized(f"{'; '.join(meanings)}.") if meanings else "")


def claim_table(claims: pd.DataFrame) -> Table:
    """Return a table of the paper's claims, by the paper's rule and strictly, with the variant if there are several."""
    records = []
    for row in claims.to_dict("records"):
        record = {
            "claim": row["claim"],
            "variant": row["variant"],
            "text": row["text"],
            "why not counted": row["counted"],
        }
        record |= {"the paper's criterion": row["rule"], BY_PAPER.name: _claim_text(row, "verdict", "holds")}
        records.append(record | {BY_OURS.name: _claim_text(row, "strict_verdict", "strict_holds")})
    header = ("claim", "variant", "text", "the paper's criterion", BY_PAPER, BY_OURS, "why not counted")
    return Table.of("Claims", header, records, NOTES["claims"])


def _claim_text(row: dict[Any, Any], verdict: str, holds: str) -> str:
    """Write a verdict on a claim, or only counts if the run has part of its comparisons."""
    if row[verdict] == "no test":
        return str(row[verdict])
    count = f"{row[holds]:,} of {row['of']:,}"
    if row["whole"] > row["of"]:
        return f"{count} here; verdict over all {row['whole']:,} on the paper's page"
    return row[verdict] if "(" in row[verdict] else f"{row[verdict]} ({count})"


def range_table(ranges: pd.DataFrame) -> Table:
    """Return a table of axis ranges of published figures and our ranges, in the unit of the metric."""
    rows = []
    for row in ranges.to_dict("records"):
        factor = display_factor(row["unit"], row["metric"], DIAGNOSTIC_METRICS)
        unit = replace(PLAIN, scale=factor, decimals=display_unit(row["metric"], DIAGNOSTIC_METRICS).decimals)
        axis, ours = ((row[f"{whose}low"], row[f"{whose}high"]) for whose in ("published_", ""))
        shared = min(ours[1], axis[1]) - max(ours[0], axis[0])
        share = MISSING_TEXT if is_missing(shared) else f"{max(shared, 0) / (axis[1] - axis[0]):.0%}"
        metric, inside = metric_with_unit(row["metric"], DIAGNOSTIC_METRICS), f"{row['inside']:,} of {row['of']:,}"
        spans = unit.interval(*axis), unit.interval(*ours)
        rows.append((int(row["figure"]), row["what"], metric, *spans, inside, share, row["verdict"]))
    details = (Column("methods", detail=1), Column("metric", detail=1), Column("published axis", PLAIN, detail=1))
    numbers = (Column(name, PLAIN) for name in ("ours", "inside", "of the axis"))
    header = ("figure", *details, *numbers, Column("verdict", verdict=True))
    return Table.of("Axis ranges of the published figures", header, rows)


def comparison_table(summary: Summary) -> Table:
    """Return a table of the planned comparisons, the largest lead of the first cell on top, with the leading test."""
    pairs, rows = sorted(planned_comparisons(summary), key=lambda pair: -summary.sign * pair.value), []
    for pair in pairs:
        p = MISSING_TEXT if pair.p_holm is None else f"{p_text(pair.p_holm)} (of {pair.family:,})"
        rows.append((pair.a.id, pair.b.id, pair.value, (pair.low, pair.high), p, _outcome_text(pair)))
    numbers = Column("first − second", summary.unit, "+"), Column(INTERVAL, summary.unit, "+", detail=2)
    tests = list(dict.fromkeys(pair.test for pair in pairs if pair.test))
    named = " and ".join(TEST_TITLES.get(test, test) for test in tests)
    note = f"p is that of the {named} test." if tests else ""
    if any("smallest p" in pair.note for pair in pairs):
        note += " Not testable: too few documents or splits differ for p (Holm) to be below 0.05, whatever the outcome."
    header = ("first", "second", *numbers, _P_HOLM, Column("result", verdict=True))
    return Table.of("Comparisons", header, rows, note)


def _outcome_text(pair: PlannedComparison) -> str:
    """Write the outcome of a comparison."""
    if pair.better is not None:
        return f"{'first' if pair.outcome == 'a' else 'second'} is better"
    return NOT_SHOWN if pair.outcome == UNDECIDED else pair.note.partition(" (")[0] or pair.outcome


def claim_comparison_table(comparisons: pd.DataFrame, title: str = "") -> Table:
    """Return a table of comparisons of one claim, named as in its picture, or under a title those of several."""
    compared, records = comparisons.to_dict("records"), []
    for key, row in zip(_comparison_keys(compared), compared, strict=True):
        ratio = row["relation"] == "ratio"
        unit, sign = (PLAIN, "") if ratio else (display_unit(row["metric"], DIAGNOSTIC_METRICS), "+")
        suffix = "" if unit.name == "percent" else unit.suffix
        ours, published = (
            None if is_missing(row[name]) else f"{'ratio ' * ratio}{unit.text(row[name], sign)}{suffix}"
            for name in ("value", "published")
        )
        p_value, p_holm = (None if is_missing(row[name]) else p_text(row[name]) for name in ("p_value", "p_holm"))
        record = {"comparison": key, "ours": ours, "published": published, "p": p_value, "p (Holm)": p_holm}
        record |= {"claim": row["claim"] if title else None, INTERVAL: unit.interval(row["low"], row["high"], sign)}
        record["detectable"] = None if is_missing(row["detectable"]) else f"±{unit.text(row['detectable'])}"
        records.append(record | {BY_PAPER.name: row["paper_verdict"], BY_OURS.name: row["strict_verdict"]})
    numbers = [Column(name, PLAIN) for name in ("ours", INTERVAL, "published")]
    return Table.of(
        title or "Comparisons of a claim", ("claim", "comparison", *numbers, *_TESTED), records, NOTES["gap"]
    )


def _comparison_keys(rows: Sequence[dict[Any, Any]]) -> list[str]:
    """Return the names of a claim's comparisons, with configuration, reading and metric where there are several."""
    several = [name for name in ("config", "variant", "metric") if len({row[name] for row in rows}) > 1]
    prefixes = [", ".join(row[name] for name in several if row[name]) for row in rows]
    pairs = [f"{row['a']} {'/' if row['relation'] == 'ratio' else '−'} {row['b']}" for row in rows]
    return [f"{prefix}: {pair}" if prefix else pair for prefix, pair in zip(prefixes, pairs, strict=True)]
