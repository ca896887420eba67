"""Tables of planned comparisons: one row each, and one row for every test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import UNDECIDED, planned_comparisons, quantity_tests
from benchmark.analysis.formatting.number_text import (
    MISSING_TEXT,
    count_text,
    interval_text,
    is_missing,
    number_text,
    p_text,
)
from benchmark.analysis.formatting.units import display_unit, metric_name
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.report.grids import TextTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.summary import Summary

TEST_TITLES = {"sign": "sign", "mcnemar": "McNemar", "wilcoxon": "Wilcoxon"}
HOLM_NOTE = (
    "p is two-sided. p (Holm) corrects for the number of tests in parentheses: those of the same kind and family."
)
EXCEPTION_NOTE = (
    "a − b is in points where no unit is named. p is from the strict test, two-sided. detectable: the smallest "
    "difference that the test would detect with 80% power or, for claims of equivalence, the smallest margin that the "
    "data show."
)
_CLAIM_VERDICTS = ("by the paper's criterion", "by ours, strictly")


def comparison_grid(summary: Summary) -> TextTable:
    """Return a grid with one row for each planned comparison: its difference, and what the leading test says."""
    unit, rows = display_unit(summary.main_metric, summary.quantities), []
    pairs = planned_comparisons(summary)
    for pair in pairs:
        gap = unit.text(pair.value, "+"), unit.interval(pair.low, pair.high, "+")
        p = MISSING_TEXT if pair.p_holm is None else f"{p_text(pair.p_holm)} (of {pair.family})"
        rows.append((pair.a.id, pair.b.id, *gap, p, outcome_text(pair)))
    header = ("first", "second", "first − second", "95% interval", "p (Holm)", "result")
    tests = list(dict.fromkeys(pair.test for pair in pairs if pair.test))
    named = " and ".join(TEST_TITLES.get(test, test) for test in tests)
    note = f"p is that of the {named} test. {HOLM_NOTE}" if tests else ""
    note = " ".join(filter(None, (note, *untestable_lines(summary))))
    return TextTable("Comparisons", header, tuple(rows), frozenset({"first", "second", "result"}), note)


def pair_key(a: str, b: str) -> str:
    """Return the name of a comparison, the same in the table and the picture."""
    return f"{a} − {b}"


def outcome_text(pair: PlannedComparison) -> str:
    """Write the outcome of a comparison."""
    if pair.better is not None:
        return f"{'first' if pair.outcome == 'a' else 'second'} is better"
    return "not shown to differ" if pair.outcome == UNDECIDED else pair.note or pair.outcome


def untestable_lines(summary: Summary) -> list[str]:
    """Write for each kind of test why it can't be significant: for all comparisons, or for how many."""
    notes: dict[str, list[str]] = {}
    for row in summary.significance.to_dict("records"):
        notes.setdefault(TEST_TITLES.get(row["test"], row["test"]), []).append(row["note"])
    lines = []
    for test, own in notes.items():
        untestable = list(filter(None, own))
        some = f"not testable for {len(untestable)} of {len(own)} pairs"
        lines += [f"{test}: {untestable[0] if len(set(own)) == 1 else some}."] if untestable else []
    return lines


def significance_grid(summary: Summary) -> TextTable:
    """Return a grid with one row for each test.

    A pair's first row shows the difference, beside a test of that quantity if there is one; a test of another quantity
    has a dash there.
    """
    same = set(quantity_tests(summary.significance, summary.main_metric)["test"])
    difference = {(row["a"], row["b"]): row for row in summary.differences.to_dict("records")}
    tests: dict[tuple[str, str], list[dict[Any, Any]]] = {pair: [] for pair in difference}
    for row in summary.significance.to_dict("records"):
        tests.setdefault((row["a"], row["b"]), []).append(row)
    rows, unit = [], display_unit(summary.main_metric, summary.quantities)
    for (a, b), results in tests.items():
        gap = difference.get((a, b), {})
        gap_text = (unit.text(gap.get("value"), "+"), unit.interval(gap.get("low"), gap.get("high"), "+"))
        results.sort(key=lambda test: test["test"] not in same)
        if not results or results[0]["test"] not in same:
            rows.append((a, b, *gap_text, *[MISSING_TEXT] * 5))
        for i, test in enumerate(results):
            beside = (gap_text if i == 0 else ("", "")) if test["test"] in same else (MISSING_TEXT, MISSING_TEXT)
            rows.append((a, b, *beside, *_test_text(test)))
    header = ("a", "b", "a − b", "95% interval", "test", "n", "statistic", "p", "p (Holm)")
    return TextTable("Significance", header, tuple(rows), frozenset({"a", "b", "test"}), HOLM_NOTE)


def _test_text(test: dict[Any, Any]) -> tuple[str, str, str, str, str]:
    statistic = number_text(test["statistic"])
    if test["test"] == "sign" and statistic != MISSING_TEXT:
        statistic = f"Z {statistic}"
    holm = MISSING_TEXT if is_missing(test["p_holm"]) else f"{p_text(test['p_holm'])} (of {count_text(test['family'])})"
    holm = test["note"] if holm != MISSING_TEXT and test["note"] else holm
    name = TEST_TITLES.get(test["test"], test["test"])
    return name, count_text(test["n"]), statistic, p_text(test["p_value"], test["note"]), holm


def exception_grid(exceptions: pd.DataFrame) -> TextTable:
    """Return a grid with one row for each comparison that does not hold; only the first row of a claim names it."""
    rows, above = [], ""
    for row in exceptions.to_dict("records"):
        p_values = (MISSING_TEXT if is_missing(row[name]) else p_text(row[name]) for name in ("p_value", "p_holm"))
        claim, above = row["claim"] if row["claim"] != above else "", row["claim"]
        verdicts = row["paper_verdict"], row["strict_verdict"]
        pair = row["a"], row["b"], metric_name(row["metric"], DIAGNOSTIC_METRICS)
        rows.append((claim, row["config"], *pair, *_gap(row), *p_values, _detectable(row), *verdicts))
    header = (
        "claim",
        "config",
        "a",
        "b",
        "metric",
        "a − b",
        "95% interval",
        "p",
        "p (Holm)",
        "detectable",
        "by the paper's criterion",
    )
    words = frozenset({"claim", "config", "a", "b", "metric", "by the paper's criterion", "by ours, strictly"})
    return TextTable("Comparisons that do not hold", (*header, "by ours, strictly"), tuple(rows), words, EXCEPTION_NOTE)


def _gap(row: dict[Any, Any]) -> tuple[str, str]:
    """Write a difference or ratio and its interval; a difference has its unit, unless it is in points."""
    if row["relation"] == "ratio":
        return f"ratio {number_text(row['value'])}", interval_text(row["low"], row["high"])
    unit = display_unit(row["metric"], DIAGNOSTIC_METRICS)
    gap = unit.text(row["value"], "+")
    symbol = "" if unit.name == "percent" or gap == MISSING_TEXT else f" {unit.symbol}".rstrip()
    return gap + symbol, unit.interval(row["low"], row["high"], "+")


def _detectable(row: dict[Any, Any]) -> str:
    return (
        MISSING_TEXT
        if is_missing(row["detectable"])
        else f"±{display_unit(row['metric'], DIAGNOSTIC_METRICS).text(row['detectable'])}"
    )


def claim_comparison_grid(comparisons: pd.DataFrame) -> TextTable:
    """Return a grid with one row for each comparison of one claim, named as in the picture of the claim."""
    records, rows = comparisons.to_dict("records"), []
    for key, row in zip(comparison_keys(records), records, strict=True):
        p_holm = MISSING_TEXT if is_missing(row["p_holm"]) else p_text(row["p_holm"])
        published = MISSING_TEXT if is_missing(row["published"]) else _gap(row | {"value": row["published"]})[0]
        verdicts = row["paper_verdict"], row["strict_verdict"]
        rows.append((key, *_gap(row), published, p_holm, _detectable(row), *verdicts))
    header = ("comparison", "ours", "95% interval", "published", "p (Holm)", "detectable", *_CLAIM_VERDICTS)
    words = frozenset({"comparison", *_CLAIM_VERDICTS})
    note = EXCEPTION_NOTE if any(row[5] != MISSING_TEXT for row in rows) else ""
    grid = TextTable("Comparisons of a claim", header, tuple(rows), words, note)
    return grid.without(*(head for i, head in enumerate(header) if all(row[i] == MISSING_TEXT for row in rows)))


def comparison_keys(rows: Sequence[dict[Any, Any]]) -> list[str]:
    """Return the names of a claim's comparisons, with configuration, reading and metric where there are several."""
    several = [name for name in ("config", "variant", "metric") if len({row[name] for row in rows}) > 1]
    where = [", ".join(row[name] for name in several if row[name]) for row in rows]
    pairs = [f"{row['a']} {'/' if row['relation'] == 'ratio' else '−'} {row['b']}" for row in rows]
    return [f"{place}: {pair}" if place else pair for place, pair in zip(where, pairs, strict=True)]
