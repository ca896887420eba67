"""Advice on a person's own documents: which of the compared methods to use, and what the documents can't decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import NEVER_DIFFER, UNDECIDED, planned_comparisons
from benchmark.analysis.formatting.number_text import is_missing
from benchmark.corpora.registry import corpus_names

if TYPE_CHECKING:
    from benchmark.analysis.summary import Summary
    from benchmark.config.model import Experiment


def advice_on_own_documents(experiment: Experiment, summary: Summary) -> dict[str, Any] | None:
    """Return the facts of an advice on a person's own documents: which method to use, and what they can't decide.

    The method to use is the `baseline`, with which all others are compared, or of those that are better than it by the
    leading test, the one with the best score: `cell`. Cells are `better` or `worse` than the baseline, `open` without a
    clear difference, or never differ (`same`); further ones aren't compared with it (`uncompared`). `possible` is how
    much better than the baseline an open cell may be: the largest end of the 95% intervals of their differences; None
    if none may be better, or if `cell` is not the baseline. `documents` is the number of tested documents.

    The advice is None for a published or generated corpus, for one with published values, for curves and several
    tasks, where not every comparison is with the same cell, where none has a test, and of two cells of which neither is
    better.
    """
    corpora = {variant.collection.corpus for variant in experiment.variants.values()}
    pairs = planned_comparisons(summary)
    settings = {(cell.variant, cell.task, cell.of_class, cell.size, cell.terms, cell.choice) for cell in summary.cells}
    shared = set.intersection(*({pair.a.id, pair.b.id} for pair in pairs)) if pairs else set()
    if experiment.paper or corpora & set(corpus_names()) or len(settings) > 1 or not shared:
        return None
    decided = [pair.better.id for pair in pairs if pair.better is not None]
    tested = decided or any(pair.outcome in (UNDECIDED, NEVER_DIFFER) for pair in pairs)
    if not tested or (len(shared) > 1 and not decided):
        return None
    baseline = next(iter(shared - set(decided) if len(shared) > 1 else shared))
    sign = 1 if summary.more_is_better(summary.main_metric) else -1
    turned = [pair if pair.b.id == baseline else pair.turned for pair in pairs]
    cells: dict[str, list[str]] = {"a": [], "b": [], NEVER_DIFFER: [], "open": []}
    for pair in turned:
        cells[pair.outcome if pair.outcome in cells else "open"].append(pair.a.id)
    scores = {cell: row for (cell, metric), row in summary.headlines.items() if metric == summary.main_metric}
    cell = max(cells["a"], key=lambda name: sign * scores[name]["value"], default=baseline)
    undecided = [pair for pair in turned if pair.a.id in cells["open"] and not is_missing(pair.low)]
    possible = max((max(sign * pair.low, sign * pair.high) for pair in undecided), default=0.0)
    return {
        "cell": cell,
        "baseline": baseline,
        "better": tuple(cells["a"]),
        "worse": tuple(cells["b"]),
        "open": tuple(cells["open"]),
        "same": tuple(cells[NEVER_DIFFER]),
        "uncompared": len(summary.cells) - 1 - len({pair.a.id for pair in turned}),
        "possible": possible if possible > 0 and not cells["a"] else None,
        "documents": int(scores[cell]["n"]),
    }
