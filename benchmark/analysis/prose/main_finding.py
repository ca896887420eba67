"""Main finding of a run, in words: what the planned comparisons show, and no more than that.

A cell is better than another where the leading test is significant after Holm's correction and the interval of the
difference excludes zero. The order of the configuration decides nothing: the headline is on the method that all others
are compared with, or else on the one that is better most often, and of several on the one with the best score.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import (
    NEVER_DIFFER,
    SPOKEN_TESTS,
    UNDECIDED,
    UNTESTABLE,
    UNTESTED,
    planned_comparisons,
    ranked_cells,
)
from benchmark.analysis.formatting.units import is_missing, p_text
from benchmark.analysis.prose.sentences import sentence, sentences
from benchmark.analysis.prose.verdict_sentences import value_counts
from benchmark.config.model import ALL_CLASSES, CHOOSE_ORACLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.formatting.labels import CellInfo
    from benchmark.analysis.summary import Summary

    Pairs = Sequence[PlannedComparison]

#: Settings that comparisons may differ in, by field of a cell, in words for several.
SETTING_NAMES = {"variant": "variants", "task": "tasks", "of_class": "classes", "size": "training sizes"}
SETTING_NAMES |= {"terms": "numbers of terms"}


@dataclass(frozen=True)
class MainFinding:
    """What a run shows: a headline without a full stop, and sentences on its numbers."""

    headline: str
    details: tuple[str, ...] = ()


def main_finding(summary: Summary) -> MainFinding:
    """Return the main finding of a summary."""
    metric, pairs = summary.main_metric, _leading_pairs(planned_comparisons(summary))
    counts = value_counts([summary.verdicts])
    advice = advice_on_own_documents(summary)
    facts: dict[str, Any] = {
        "unit": summary.unit,
        "metric": summary.metric_name,
        "less": summary.sign < 0,
        "scores": {cell: row for (cell, of), row in summary.headlines.items() if of == metric},
        "on": f" on {summary.corpus}" if summary.corpus else "",
        "choices": list(dict.fromkeys(pair.a.choice for pair in pairs)),
        "advice": advice,
        "printed": sentence("verdicts.j2", "printed", values=[kind for kind in counts if kind["kind"] != "count"]),
    }
    if advice:
        template = "advice"
    elif pairs:
        template, facts = "compared", facts | _compared_facts(pairs, summary)
    else:
        template, facts = "scores", facts | _score_facts(summary)
    headline, *details = sentences(f"finding/{template}.j2", **facts)
    return MainFinding(headline, tuple(details))


def _leading_pairs(pairs: Pairs) -> Pairs:
    """Return the comparisons of scores, not of gains: of all classes together, and of parameters chosen honestly."""
    scores = [pair for pair in pairs if pair.a.what == "point"]
    whole = [pair for pair in scores if pair.a.of_class in ("", ALL_CLASSES)]
    honest = [pair for pair in whole or scores if pair.a.choice != CHOOSE_ORACLE]
    return honest or whole or scores


def _names(a: CellInfo, b: CellInfo) -> tuple[str, str]:
    """Return names of two cells: of their kernels where only these differ, else of their methods, else their ids."""
    kernels = a.columns.get("kernel", ""), b.columns.get("kernel", "")
    if all(kernels) and kernels[0] != kernels[1] and a.columns.get("classifier") == b.columns.get("classifier"):
        return f"the {kernels[0]} kernel", f"the {kernels[1]} kernel"
    return (a.method, b.method) if a.method != b.method else (a.id, b.id)


def _compared_facts(pairs: Pairs, summary: Summary) -> dict[str, Any]:
    """Return the method that the headline is on, its comparisons in a fixed order, and their outcomes."""
    of_method: dict[str, list[tuple[str, PlannedComparison]]] = {}
    for pair in pairs:
        a, b = _names(pair.a, pair.b)
        of_method.setdefault(a, []).append((b, pair))
        of_method.setdefault(b, []).append((a, pair.turned))

    def key(name: str) -> tuple[Any, ...]:
        counted = Counter(pair.outcome for _, pair in of_method[name])
        best = max(summary.merit(pair.a.id) for _, pair in of_method[name])
        return len(of_method[name]) == len(pairs), counted["a"] - counted["b"], best

    lead = max(sorted(of_method), key=key)
    compared = sorted(of_method[lead], key=lambda each: (each[1].a.id, each[1].b.id))
    comparisons, cells = [pair for _, pair in compared], {cell.id for _, pair in compared for cell in (pair.a, pair.b)}
    where, p = _varying_settings([pair.a for pair in comparisons]), p_text(comparisons[0].p_holm)
    return {
        "lead": lead,
        "others": sorted({other for other, _ in compared}),
        "pairs": comparisons,
        "counted": Counter(pair.outcome for pair in comparisons),
        "where": where,
        "cells": [cell for cell in ranked_cells(summary) if cell in cells],
        "test": next((SPOKEN_TESTS.get(p.test, p.test) for p in comparisons if p.outcome in ("a", "b", UNDECIDED)), ""),
        "p": p.replace("<", "< ") if "<" in p else f"= {p}",
        "notes": list(dict.fromkeys(pair.note for pair in comparisons if pair.note and pair.outcome != NEVER_DIFFER)),
    }


def _score_facts(summary: Summary) -> dict[str, Any]:
    """Return how far scores range, and in how many settings."""
    cells = [cell for cell in summary.cells if not is_missing(summary.merit(cell.id))]
    return {
        "cells": [cell.id for cell in cells],
        "values": [summary.sign * summary.merit(cell.id) for cell in cells],
        "methods": len({cell.method or cell.id for cell in cells}),
        "settings": len({tuple(getattr(cell, name) for name in (*SETTING_NAMES, "choice")) for cell in cells}),
        "summary": summary,
    }


def _varying_settings(cells: Iterable[CellInfo]) -> str:
    """Write the settings that cells differ in: "2 tasks × 5 training sizes"."""
    numbers = {words: len({getattr(cell, name) for cell in cells}) for name, words in SETTING_NAMES.items()}
    return " × ".join(f"{n} {words}" for words, n in numbers.items() if n > 1)


def advice_on_own_documents(summary: Summary) -> dict[str, Any] | None:
    """Return the facts of an advice on a person's own documents: which method to use, and what they can't decide.

    The method to use is the `baseline`, with which all others are compared, or of those that are better than it by the
    leading test, the one with the best score: `cell`. Cells are `better` or `worse` than the baseline, `open` without a
    clear difference, or never differ (`same`). `possible` is how much better than the baseline an open cell may be: the
    largest end of the 95% intervals of their differences; None if none may be better, or if `cell` is not the baseline.
    `documents` is the number of tested documents.

    The advice is None for documents that aren't a person's own, for curves and several tasks, where not every
    comparison is with the same cell, where none has a test, and of two cells of which neither is better.
    """
    pairs = planned_comparisons(summary)
    settings = {(cell.variant, cell.task, cell.of_class, cell.size, cell.terms, cell.choice) for cell in summary.cells}
    tested = any(pair.outcome not in (UNTESTABLE, UNTESTED) for pair in pairs)
    even = len(pairs) == 1 and pairs[0].better is None
    if not summary.own_documents or len(settings) > 1 or even or not tested:
        return None
    ends = pairs[0].b.id, pairs[0].a.id
    baseline = next((cell for cell in ends if all(cell in (pair.a.id, pair.b.id) for pair in pairs)), None)
    if baseline is None:
        return None
    turned = [pair if pair.b.id == baseline else pair.turned for pair in pairs]
    better, worse, same = ([pair.a.id for pair in turned if pair.outcome == word] for word in ("a", "b", NEVER_DIFFER))
    undecided = [pair for pair in turned if pair.a.id not in (*better, *worse, *same)]
    ends_of = [summary.sign * end for pair in undecided for end in (pair.low, pair.high) if not is_missing(end)]
    cell = max(better, key=summary.merit, default=baseline)
    return {
        "cell": cell,
        "baseline": baseline,
        "better": better,
        "worse": worse,
        "open": [pair.a.id for pair in undecided],
        "same": same,
        "possible": possible if (possible := max(ends_of, default=0.0)) > 0 and not better else None,
        "documents": int(summary.headlines[cell, summary.main_metric]["n"]),
    }
