"""Advice on a person's own documents: which of the compared methods to use, and what the documents can't decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import NEVER_DIFFER, UNTESTABLE, UNTESTED, planned_comparisons
from benchmark.analysis.formatting.number_text import is_missing

if TYPE_CHECKING:
    from benchmark.analysis.summary import Summary


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
    sign = 1 if summary.more_is_better(summary.main_metric) else -1
    turned = [pair if pair.b.id == baseline else pair.turned for pair in pairs]
    better, worse, same = ([pair.a.id for pair in turned if pair.outcome == word] for word in ("a", "b", NEVER_DIFFER))
    undecided = [pair for pair in turned if pair.a.id not in (*better, *worse, *same)]
    ends_of = [sign * end for pair in undecided for end in (pair.low, pair.high) if not is_missing(end)]
    scores = {cell: row for (cell, metric), row in summary.headlines.items() if metric == summary.main_metric}
    cell = max(better, key=lambda name: sign * scores[name]["value"], default=baseline)
    return {
        "cell": cell,
        "baseline": baseline,
        "better": better,
        "worse": worse,
        "open": [pair.a.id for pair in undecided],
        "same": same,
        "possible": possible if (possible := max(ends_of, default=0.0)) > 0 and not better else None,
        "documents": int(scores[cell]["n"]),
    }
