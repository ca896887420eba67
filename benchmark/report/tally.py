"""From verdicts to sentences: how many printed numbers agree with ours, and how many claims hold."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

_ORDER = ("equal", "equal, outside the interval", "consistent", "deviates", "no interval")
_TOLD = {"deviates": "deviating"}
_ASIDE = {"fitted": "fitted", "another setting": "of another setting"}


def counted(tables: Sequence[pd.DataFrame], printed: Mapping[str, int] | None = None) -> str:
    """Count the verdicts on printed numbers, results of models and counts of data apart, fitted ones with neither.

    Of more numbers printed than judged, the rest was not measured.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"verdict": ["equal", "deviates", "equal"], "reading": "", "kind": ["result", "result", "count"]}
    >>> counted([pd.DataFrame(rows)])
    '1 of 2 results of models equal or consistent (1 equal, 1 deviating); 1 of 1 counts of data equal'
    """
    found = Counter(
        (row["kind"], row["verdict"])
        for table in tables
        for row in table.to_dict("records")
        if not row["reading"] or row["verdict"] in _ASIDE
    )
    parts = []
    for kind, name, good in (
        ("result", "results of models", "equal or consistent"),
        ("count", "counts of data", "equal"),
    ):
        own = {verdict: n for (of, verdict), n in found.items() if of == kind and verdict not in _ASIDE}
        total = max((printed or {}).get(kind, 0), sum(own.values()))
        told = own | {"not measured": total - sum(own.values())}
        told = {_TOLD.get(word, word): told[word] for word in (*_ORDER, "not measured") if told.get(word)}
        agree = sum(n for word, n in own.items() if word.startswith(("equal", "consistent")))
        detail = (
            f" ({', '.join(f'{n} {word}' for word, n in told.items())})" if kind == "result" or agree < total else ""
        )
        parts += [f"{agree} of {total} {name} {good}{detail}"] if total else []
    for aside, told_as in _ASIDE.items():
        n = sum(n for (_, verdict), n in found.items() if verdict == aside)
        parts += [f"{n} {told_as}, counted with neither"] if n else []
    return "; ".join(parts) or "no published numbers"


def held(tables: Sequence[pd.DataFrame]) -> str:
    """Count the claims that hold by their papers' rules, and strictly; those told otherwise elsewhere are left out."""
    rows = [row for table in tables for row in table.to_dict("records") if not row["counted"]]
    if not rows:
        return "no claims"
    paper = [row["verdict"] for row in rows]
    strict = [row["strict_verdict"] for row in rows if row["strict_verdict"] != "no test"]
    by_rule = f"{paper.count('holds')} of {len(paper)} claims hold by their papers' rules{_in_part(paper)}"
    if not strict:
        return by_rule
    against = sum(verdict.startswith("contradicted") for verdict in strict)
    told = f"{strict.count('holds')} of the {len(strict)} that can be tested hold strictly{_in_part(strict)}"
    return f"{by_rule}; {told}{f', {against} contradicted' if against else ''}"


def _in_part(verdicts: Sequence[str]) -> str:
    n = sum(verdict.startswith("holds in part") for verdict in verdicts)
    return f", {n} in part" if n else ""
