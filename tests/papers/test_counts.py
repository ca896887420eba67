"""Sentences on how many published values agree with ours and how many claims hold."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from benchmark.analysis.prose.verdict_sentences import DEPENDS, claim_counts_text, verdict_counts_text


def values(*rows: tuple[str, str, str, str]) -> pd.DataFrame:
    """A table of verdicts by kind, verdict, reading and grade."""
    return pd.DataFrame(rows, columns=["kind", "verdict", "reading", "grade"])


def result(verdict: str, grade: str = "", reading: str = "") -> tuple[str, str, str, str]:
    return "result", verdict, reading, grade


MANY = [
    result("equal", "same"),
    result("equal, outside the interval", "near"),
    result("consistent", "inside the interval"),
    ("z", "consistent", "", "no information"),
    ("z", "deviates", "", "no information"),
    result("deviates", "outside"),
    result("no interval", "no interval"),
    ("count", "equal", "", ""),
    ("count", "deviates", "", ""),
]


#: The Z of `MANY`, counted apart and by the same rule inside an interval and outside.
Z = "1 of 2 published Z of the sign test reproduced (1 consistent, 1 deviating)"


@pytest.mark.parametrize(
    ("rows", "printed", "by_grade", "said"),
    [
        ([], None, False, "no published values"),
        ([], {"result": 2}, False, "0 of 2 published results reproduced (2 not measured)"),
        (
            MANY, None, False,
            ("3 of 5 published results reproduced (1 equal, 1 equal, outside the interval, 1 consistent, 1 deviating, "
            f"1 no interval); {Z}; 1 of 2 published counts of data reproduced (1 equal, 1 deviating)"),
        ),
        (
            MANY, None, True,
            ("3 of 5 published results reproduced (1 same, 1 near, 1 inside the interval, 1 outside, 1 no interval); "
            f"{Z}; 1 of 2 published counts of data reproduced (1 equal, 1 deviating)"),
        ),
        (
            MANY, {"result": 7, "z": 4, "count": 1}, True,
            ("3 of 7 published results reproduced (1 same, 1 near, 1 inside the interval, 1 outside, 1 no interval, "
            "2 not measured); 1 of 4 published Z of the sign test reproduced (1 consistent, 1 deviating, "
            "2 not measured); 1 of 2 published counts of data reproduced (1 equal, 1 deviating)"),
        ),
        (
            [result("tuned"), result("tuned"), result("another setting"), result("equal")], {"result": 1}, False,
            "1 of 1 published results reproduced (1 equal); 2 tuned, not counted; 1 of another setting, not counted",
        ),
        # Other readings count nowhere, unless no value of the paper is set aside for the same reason.
        (
            [result("tuned"), result("tuned", reading="another"), result("another setting", reading="another"),
             result("deviates", reading="another")], None, False,
            "1 tuned, not counted; 1 of another setting, not counted",
        ),
    ],
)  # fmt: skip
def test_values_are_counted_by_kind_and_verdict_or_grade(
    rows: list[Any], printed: dict[str, int] | None, *, by_grade: bool, said: str
) -> None:
    assert verdict_counts_text([values(*rows)], printed, by_grade=by_grade) == said
    halves = [values(*rows[:3]), values(*rows[3:])]
    assert verdict_counts_text(halves, printed, by_grade=by_grade) == said


def claims(*rows: tuple[str, str, str, str]) -> pd.DataFrame:
    """A table of claims by id, verdicts by the paper and strictly, and why they aren't counted."""
    data = [dict(zip(("claim", "verdict", "strict_verdict", "counted"), row, strict=True)) for row in rows]
    return pd.DataFrame([each | {"text": each["claim"].upper()} for each in data])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("a", "holds", "holds", "tuned")], "no claims"),
        ([("a", "holds", "no test", "")], "its one claim holds by the paper's criterion"),
        ([("a", "fails", "not shown", "")],
         "its one claim fails by the paper's criterion, and is not shown by our stricter test"),
        ([("a", "holds", "holds", ""), ("a", "fails", "not shown", "")],
         f"its one claim {DEPENDS} by the paper's criterion, and {DEPENDS} by our stricter test"),
        (
            [("a", "holds", "holds", ""), ("b", "contradicted in part (1 of 2)", "contradicted", ""),
             ("c", "contradicted", "contradicted in part (1 of 3)", ""), ("d", "holds in part (1 of 2)", "holds", "")],
            ("1 of 4 claims hold by the papers' criteria (1 in part, 2 contradicted); "
            "2 of 4 by our stricter test (2 contradicted)"),
        ),
        # Readings that agree that it doesn't hold don't make it depend on the reading.
        ([("a", "fails", "not shown", ""), ("a", "holds in part (1 of 2)", "contradicted in part (1 of 2)", ""),
          ("b", "holds", "holds", "")],
         "1 of 2 claims hold by the papers' criteria (1 in part); 1 of 2 by our stricter test (1 contradicted)"),
    ],
)  # fmt: skip
def test_claims_are_counted_once_under_all_readings(rows: list[Any], said: str) -> None:
    assert claim_counts_text([claims(*rows)]) == said
