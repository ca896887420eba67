"""Sentences on verdicts: how many published values agree with ours, and how many claims hold."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmark.papers.claims import NOT_TESTABLE, NOT_TESTED
from benchmark.papers.published_verdicts import GRADES, NO_INFORMATION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

#: Verdict on a claim that holds under some equal readings of its paper and not under others.
DEPENDS = "depends on the reading"
_ORDER = ("equal", "equal, outside the interval", "consistent", "deviates", "no interval")
_LABELS = {"deviates": "deviating"}
_NOT_COUNTED = {"tuned": "tuned", "another setting": "of another setting"}


def verdict_counts_text(
    tables: Sequence[pd.DataFrame], printed: Mapping[str, int] | None = None, *, by_grade: bool = False
) -> str:
    """Write the counts of verdicts on published values, separately for results of models and counts of data.

    Tuned values and values of another setting are only mentioned. If `printed` has more values than the tables have
    verdicts, the rest is reported as not measured. With `by_grade`, results of models are counted by their grade, and
    those that give no information are only mentioned.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"verdict": ["equal", "deviates", "equal"], "reading": "", "kind": ["result", "result", "count"]}
    >>> verdict_counts_text([pd.DataFrame(rows)])
    '1 of 2 results of models equal or consistent (1 equal, 1 deviating); 1 of 1 counts of data equal'
    >>> verdict_counts_text([pd.DataFrame(rows | {"grade": ["same", "outside", ""]})], by_grade=True)
    '2 results of models: 1 same, 1 outside; 1 of 1 counts of data equal'
    """
    rows = [row for table in tables for row in table.to_dict("records")]
    own = {row["verdict"] for row in rows if not row["reading"]}
    counts = Counter(
        (row["kind"], row["verdict"])
        for row in rows
        if not row["reading"] or (row["verdict"] in _NOT_COUNTED and row["verdict"] not in own)
    )
    parts = []
    for kind, name, good in (
        ("result", "results of models", "equal or consistent"),
        ("count", "counts of data", "equal"),
    ):
        of_kind = {verdict: n for (k, verdict), n in counts.items() if k == kind and verdict not in _NOT_COUNTED}
        total = max((printed or {}).get(kind, 0), sum(of_kind.values()))
        every = of_kind | {"not measured": total - sum(of_kind.values())}
        shown = {_LABELS.get(word, word): every[word] for word in (*_ORDER, "not measured") if every.get(word)}
        agree = sum(n for word, n in of_kind.items() if word.startswith(("equal", "consistent")))
        detail = (
            f" ({', '.join(f'{n} {word}' for word, n in shown.items())})" if kind == "result" or agree < total else ""
        )
        if by_grade and kind == "result":
            parts += _grades(tables, total)
        elif total:
            parts += [f"{agree} of {total} {name} {good}{detail}"]
    for excluded, label in _NOT_COUNTED.items():
        n = sum(n for (_, verdict), n in counts.items() if verdict == excluded)
        parts += [f"{n} {label}, not counted"] if n else []
    return "; ".join(parts) or "no published numbers"


def _grades(tables: Sequence[pd.DataFrame], total: int) -> list[str]:
    """Return the counts of results of models by grade, of `total` published ones, and of those without information."""
    rows = (row for table in tables for row in table.to_dict("records") if not row["reading"] and row["grade"])
    grades = Counter(row["grade"] for row in rows)
    missing = total - sum(grades.values())
    empty = grades.pop(NO_INFORMATION, 0)
    counts = [f"{grades[grade]} {grade}" for grade in GRADES if grades[grade]]
    counts += [f"{missing} not measured"] if missing else []
    return [
        *([f"{total - empty} results of models: {', '.join(counts)}"] if total > empty else []),
        *([f"{empty} Z inside the interval, no information, not counted"] if empty else []),
    ]


def claim_counts_text(tables: Sequence[pd.DataFrame]) -> str:
    """Write how many claims hold by their papers' rules, and strictly; claims that are not counted are left out.

    Claims that lack a comparison are only mentioned, as not tested.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"claim": ["a", "b"], "counted": "", "verdict": ["holds", "not tested (1 of 2 missing)"]}
    >>> claim_counts_text([pd.DataFrame(rows | {"strict_verdict": "not testable"})])
    "1 of 1 claims hold by their papers' rules; 1 not tested"
    """
    claims: dict[tuple[int, str], list[dict[Any, Any]]] = {}
    for i, table in enumerate(tables):
        for row in table.to_dict("records"):
            if not row["counted"]:
                claims.setdefault((i, row["claim"]), []).append(row)
    if not claims:
        return "no claims"
    paper = [_over_readings([row["verdict"] for row in rows]) for rows in claims.values()]
    strict = [_over_readings([row["strict_verdict"] for row in rows]) for rows in claims.values()]
    tested = [verdict for verdict in paper if not verdict.startswith(NOT_TESTED)]
    if not tested:
        return f"{len(claims)} {'claim' if len(claims) == 1 else 'claims'} not tested"
    parts = [f"{tested.count('holds')} of {len(tested)} claims hold by their papers' rules{_in_part(tested)}"]
    strict = [verdict for verdict in strict if verdict not in ("no test", NOT_TESTABLE)]
    strict = [verdict for verdict in strict if not verdict.startswith(NOT_TESTED)]
    if strict:
        against = sum(verdict.startswith("contradicted") for verdict in strict)
        strictly = f"{strict.count('holds')} of the {len(strict)} that can be tested hold strictly{_in_part(strict)}"
        parts.append(f"{strictly}{f', {against} contradicted' if against else ''}")
    parts += [f"{len(paper) - len(tested)} not tested"] if len(tested) < len(paper) else []
    return "; ".join(parts)


def _over_readings(verdicts: Sequence[str]) -> str:
    """Return the verdict on a claim under all equal readings of its paper."""
    if len({verdict == "holds" for verdict in verdicts}) > 1:
        return DEPENDS
    return next((verdict for verdict in verdicts if "(" in verdict), verdicts[0])


def _in_part(verdicts: Sequence[str]) -> str:
    n, depend = sum(verdict.startswith("holds in part") for verdict in verdicts), verdicts.count(DEPENDS)
    depends = f", {depend} under some but not all readings of the paper" if depend else ""
    return depends + (f", {n} in part" if n else "")
