"""The finding of summaries made by hand, case by case: headline and details, as they were read.

`BENCH_WRITE_EXPECTED=1 pytest` of this file writes the expected text again; the difference is what is to be read.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from benchmark.analysis.prose.main_finding import main_finding, question_sentence
from benchmark.analysis.summary import CellInfo, Summary, summary_table
from tests.report.expected_texts import assert_expected
from tests.report.summaries import all_failed_summary, many_cells_summary, webkb_summary

NAN = float("nan")
TOO_FEW = "not testable (smallest p 0.125 after Holm's correction)"
NEVER = "not testable (the two never differ)"
OWN = {"choice": "cross-validation"}


def made(
    pairs: Any = (),
    cells: dict[str, dict[str, Any]] | None = None,
    *,
    metric: str = "accuracy",
    values: dict[str, float] | None = None,
    test: str = "sign",
    **changes: Any,
) -> Summary:
    """Make a summary of pairs (a, b, gap, p), where p may be None, and of cells with their settings.

    A fifth value of a pair is the note of its test, a sixth its interval, and a seventh the tests of its family.
    """
    given = cells or {}
    names = list(dict.fromkeys([*given, *(name for pair in pairs for name in pair[:2])]))
    infos, rows = [], []
    for i, name in enumerate(names):
        more = {"method": name} | given.get(name, {})
        infos.append(CellInfo(name, more.pop("columns", {}), **more))
        value = (values or {}).get(name, 0.9 - i / 20)
        rows.append((name, "all", metric, value, value - 0.1, value + 0.05, 120, 0))
    gaps, tests = [], []
    for a, b, gap, *rest in pairs:
        p, note, ends, family = (*rest, *(None, "", None, len(pairs))[len(rest) :])
        gaps.append((a, b, gap, *(ends or (gap - 0.01, gap + 0.01)), 120))
        if rest:
            unequal = 0 if note == NEVER else 4 if note == TOO_FEW else 20
            tests.append((a, b, test, unequal, 1.5, p, p, family, note))
    return Summary(
        "made",
        "Made",
        None,
        tuple(infos),
        summary_table("scores", rows),
        differences=summary_table("differences", gaps),
        significance=summary_table("significance", tests),
        **changes,
    )


def several(settings: list[dict[str, Any]], p_values: Any = (0.01, 0.01, 0.01), **more: Any) -> Summary:
    """Make a summary of two methods in several settings, in which the first leads by 10, 20 and 30 points."""
    cells, pairs = {}, []
    for i, (own, p) in enumerate(zip(settings, p_values, strict=False)):
        cells |= {f"one{i}": {"method": "one", **own}, f"two{i}": {"method": "two", **own}}
        pairs.append((f"one{i}", f"two{i}", 0.1 * (i + 1), p, TOO_FEW if p is None else ""))
    return made(pairs, cells, **more)


def against(base: str, *leads: tuple[float, float], **more: Any) -> Summary:
    """Make a summary of methods that are compared with one, by their leads and p-values."""
    return made([(name, base, lead, p) for name, (lead, p) in zip("abc", leads, strict=False)], **more)


def printed(gap: float, verdicts: Any, p: float = 0.01) -> Summary:
    """Make a summary of two cells of which a paper prints values."""
    pair = ("tf-l1-ngd", "tf-l2-linear")
    tests = summary_table("significance", [(*pair, "sign", 90, 3.0, p / 2, p, 2, "")])
    gaps = summary_table("differences", [(*pair, gap, gap - 0.01, gap + 0.01, 4199)])
    return replace(webkb_summary(), differences=gaps, significance=tests, verdicts=verdicts, corpus="WebKB")


SIZES = [{"size": n} for n in (10, 20, 30)]
VERDICTS = webkb_summary().verdicts
FRACTIONS = VERDICTS.assign(published=[str(Decimal(text) / 100) for text in VERDICTS["published"]], unit="one")
for _name in ("value", "low", "high", "between_low", "between_high", "widest"):
    FRACTIONS[_name] = FRACTIONS[_name] / 100
PAPER_CELLS = {"columns": {"weighting": "TF", "classifier": "svm"}}

CASES: dict[str, Summary] = {
    # One pair.
    "beats": made([("a", "b", 0.1, 0.01)]),
    "not significant": made([("a", "b", 0.1, 0.06)]),
    "interval with zero": made([("a", "b", -0.1, 0.01, "", (-0.2, 0.05))]),
    "interval that ends at zero": made([("a", "b", 0.1, 0.01, "", (0.0, 0.2))]),
    "less error": made([("a", "b", -0.1, 0.01)], metric="error"),
    "corrected over two tests": made([("a", "b", 0.1, 0.01, "", None, 2)]),
    "no interval": made([("a", "b", 0.1, 0.01, "", (NAN, NAN))]),
    "no test": made([("a", "b", 0.1)]),
    "too few documents decide": made([("a", "b", 0.1, 0.125, TOO_FEW)]),
    "too few splits": made([("a", "b", 0.1, None, "not testable (smallest p 0.125)")], test="wilcoxon"),
    "few splits differ": made([("a", "b", 0.1, 0.125, TOO_FEW)], test="wilcoxon"),
    "test of another quantity": made([("a", "b", 0.1, 0.01)], metric="macro-f1"),
    "never differ": made([("a", "b", 0.0, 1.0, NEVER)]),
    "end of an interval near zero": made([("a", "b", 0.0104, 0.01, "", (0.0004, 0.0204))], corpus="WebKB"),
    "kernels": made(
        [("a", "b", 0.1, 0.01)],
        {"a": {"columns": {"kernel": "rbf (sigma 0.2)"}}, "b": {"columns": {"kernel": "linear"}}},
    ),
    "both share": made([("a", "b", 0.1, 0.01)], dict.fromkeys("ab", PAPER_CELLS)),
    "both share but the chosen": made([("a", "b", 0.1, 0.01)], dict.fromkeys("ab", PAPER_CELLS | OWN)),
    # Which comparisons lead.
    "all classes lead": made(
        [("a", "b", 0.1, 0.01), ("c", "d", 0.3, 0.01), ("e", "f", 0.2, 0.01)],
        {name: {"of_class": "x"} for name in "ab"}
        | {name: {"of_class": "all"} for name in "cd"}
        | {name: {"of_class": "all", "choice": "oracle"} for name in "ef"},
    ),
    "chosen on the test": made([("a", "b", 0.1, 0.01)], {name: {"choice": "oracle"} for name in "ab"}),
    "gains don't lead": made(
        [("a", "b", 0.1, 0.01), ("c", "d", 0.3, 0.01)], {name: {"columns": {"what": "gain"}} for name in "ab"}
    ),
    # One pair of methods in several settings.
    "at all sizes": several(SIZES),
    "at most sizes": several(SIZES, (0.01, 0.01, 0.5)),
    "at no size": several(SIZES, (0.5, 0.5, None)),
    "not testable at one size": several(SIZES, (0.01, 0.01, None)),
    "at numbers of terms": several([{"terms": n} for n in (1, 2, 3)]),
    "chosen by several": several([{"choice": "cross-validation"}, {"choice": "temporal-holdout"}], (0.01, 0.01)),
    "won and lost": made(
        [("a1", "b1", 0.1, 0.01), ("a2", "b2", 0.1, 0.01), ("a3", "b3", -0.1, 0.01)],
        {f"{m}{n}": {"method": m, "size": n} for m in "ab" for n in (1, 2, 3)},
    ),
    "never differ at two sizes": made(
        [("a1", "b1", 0.0, 1.0, NEVER), ("a2", "b2", 0.0, 1.0, NEVER)],
        {f"{m}{n}": {"method": m, "size": n} for m in "ab" for n in (1, 2)},
    ),
    # Many methods against one.
    "three beat one": against("d", (0.1, 0.01), (0.3, 0.01), (0.2, 0.01)),
    "one beats, one is worse": against("d", (0.0, 0.01), (0.3, 0.01), (-0.2, 0.01)),
    "none beats": against("d", (0.1, 0.5), (0.3, 0.5), (0.2, 0.5)),
    "one can't be tested": made(
        [("a", "d", 0.1, 0.01), ("b", "d", 0.1, None, TOO_FEW), ("c", "d", 0.0, 1.0, NEVER)]
    ),
    "the baseline stands first": made([("d", "a", -0.1, 0.01), ("d", "b", -0.1, 0.01), ("d", "c", -0.1, 0.5)]),
    "at the largest size": made(
        [(f"{m}1", "d1", -0.1, 0.01) for m in "abc"] + [(f"{m}2", "d2", 0.1, 0.01) for m in "abc"],
        {f"{m}{n}": {"method": m, "size": 1000 * n} for m in "abcd" for n in (1, 2)},
    ),
    "in two tasks": made(
        [(f"{m}1", "d1", 0.1, 0.01) for m in "abc"]
        + [("a2", "d2", -0.1, 0.01), ("b2", "d2", -0.1, 0.01), ("c2", "d2", 0.1, 0.5)],
        {f"{m}{n}": {"method": m, "task": str(n)} for m in "abcd" for n in (1, 2)},
    ),
    # Groups.
    "one is beaten, another isn't": made([("x", "wide", 0.148, 0.001), ("x", "narrow", -0.014, 0.3)]),
    "beats one, loses to another": made(
        [
            ("x", "a", 0.05, 0.001),
            ("x", "e", 0.05, 0.001),
            ("x", "b", -0.05, 0.001),
            ("x", "c", 0.0, 1.0, NEVER),
            ("a", "b", -0.1, 0.5),
        ]
    ),
    "never differ, and open": made([("one", "two", 0.0, 1.0, NEVER), ("one", "three", -0.02, 0.4)]),
    "beats, never differs and loses": made(
        [
            ("one", "two", 0.0, 1.0, NEVER),
            ("one", "three", 0.05, 0.001),
            ("four", "one", 0.05, 0.001),
            ("two", "three", 0.05, 0.001),
        ]
    ),
    "two beat a third": made([("a", "c", 0.03, 0.001), ("b", "c", 0.05, 0.001)]),
    "two groups": made([("a", "b", 0.03, 0.001), ("c", "d", 0.05, 0.001)], values={"c": 0.95}),
    # A paper.
    "the paper holds in part": printed(0.03, VERDICTS),
    "the paper's lead isn't clear": printed(0.008, VERDICTS),
    "the paper in fractions": printed(0.008, FRACTIONS),
    "all values of the paper": printed(0.03, VERDICTS[VERDICTS["verdict"] != "deviates"]),
    "values of other cells": printed(0.03, VERDICTS[VERDICTS["cell"] == "tf-l1-ned"]),
    # No comparison.
    "one score": made([], {"a": {}}, corpus="WebKB"),
    "many scores": many_cells_summary(),
    "all failed": all_failed_summary(),
    "a curve": made([], {f"a{n}": {"method": "a", "size": n} for n in (10, 100, 1000)}),
    "parts of methods": made(
        [], {name: {"columns": {"kernel": name, "weighting": "tf" if name == "a" else "idf"}} for name in "abc"}
    ),
}  # fmt: skip


def test_the_finding_of_each_summary_is_as_expected() -> None:
    findings = []
    for name, summary in CASES.items():
        found = main_finding(summary)
        findings.append(f"{name}: {found.headline}\n    {' '.join([*found.details, question_sentence(summary)])}")
    assert_expected("findings", [("findings", "\n".join(findings))])
