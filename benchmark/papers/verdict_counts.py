"""Sentences on verdicts: how many published values agree with ours, and how many claims hold."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

_ORDER = ("equal", "equal, outside the interval", "consistent", "deviates", "no interval")
_LABELS = {"deviates": "deviating"}
_NOT_COUNTED = {"tuned": "tuned", "another setting": "of another setting"}


def verdict_counts_text(tables: Sequence[pd.DataFrame], printed: Mapping[str, int] | None = None) -> str:
    """Write the counts of verdicts on published values, separately for results of models and counts of data.

    Tuned values and values of another setting are only mentioned. If `printed` has more values than the tables have
    verdicts, the rest is reported as not measured.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"verdict": ["equal", "deviates", "equal"], "reading": "", "kind": ["result", "result", "count"]}
    >>> verdict_counts_text([pd.DataFrame(rows)])
    '1 of 2 results of models equal or consistent (1 equal, 1 deviating); 1 of 1 counts of data equal'
    """
    counts = Counter(
        (row["kind"], row["verdict"])
        for table in tables
        for row in table.to_dict("records")
        if not row["reading"] or row["verdict"] in _NOT_COUNTED
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
        parts += [f"{agree} of {total} {name} {good}{detail}"] if total else []
    for excluded, label in _NOT_COUNTED.items():
        n = sum(n for (_, verdict), n in counts.items() if verdict == excluded)
        parts += [f"{n} {label}, not counted"] if n else []
    return "; ".join(parts) or "no published numbers"


def claim_counts_text(tables: Sequence[pd.DataFrame]) -> str:
    """Write how many claims hold by their papers' rules, and strictly; claims that are not counted are left out."""
    rows = [row for table in tables for row in table.to_dict("records") if not row["counted"]]
    if not rows:
        return "no claims"
    paper = [row["verdict"] for row in rows]
    strict = [row["strict_verdict"] for row in rows if row["strict_verdict"] != "no test"]
    by_rule = f"{paper.count('holds')} of {len(paper)} claims hold by their papers' rules{_in_part(paper)}"
    if not strict:
        return by_rule
    against = sum(verdict.startswith("contradicted") for verdict in strict)
    strictly = f"{strict.count('holds')} of the {len(strict)} that can be tested hold strictly{_in_part(strict)}"
    return f"{by_rule}; {strictly}{f', {against} contradicted' if against else ''}"


def _in_part(verdicts: Sequence[str]) -> str:
    n = sum(verdict.startswith("holds in part") for verdict in verdicts)
    return f", {n} in part" if n else ""
