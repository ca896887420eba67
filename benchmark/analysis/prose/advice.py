"""Advice on a person's own documents: which of the compared methods to use, and what the documents can't decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.analysis.comparisons import NEVER_DIFFER, UNDECIDED, planned_comparisons
from benchmark.analysis.formatting.number_text import is_missing
from benchmark.analysis.summary import Advice
from benchmark.corpora.registry import corpus_names

if TYPE_CHECKING:
    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.summary import Summary
    from benchmark.config.model import Experiment


def advice_on_own_documents(experiment: Experiment, summary: Summary) -> Advice | None:
    """Return the advice of a run on a person's own documents.

    It is None for a published or generated corpus, for one with published values, for curves and several tasks, where
    not every comparison is with the same cell, where none has a test, and of two cells of which neither is better.
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
    baseline = next(iter(shared - set(decided))) if len(shared) > 1 else next(iter(shared))
    sign = 1 if summary.more_is_better(summary.main_metric) else -1
    gains = {_other(pair, baseline): _gain(pair, baseline, sign) for pair in pairs}
    better, worse, undecided, same = list[str](), list[str](), list[str](), list[str]()
    for pair in pairs:
        other = _other(pair, baseline)
        if pair.better is not None:
            (better if pair.better.id == other else worse).append(other)
        elif pair.outcome == NEVER_DIFFER:
            same.append(other)
        else:
            undecided.append(other)
    scores = summary.headlines

    def score(cell: str) -> float:
        return sign * float(scores[cell, summary.main_metric]["value"])

    cell = max(better, key=score) if better else baseline
    row = scores.get((cell, summary.main_metric))
    if row is None:
        return None
    possible = max((gains[other] for other in undecided if not is_missing(gains[other])), default=0.0)
    return Advice(
        cell=cell,
        baseline=baseline,
        score=float(row["value"]),
        low=float(row["low"]),
        high=float(row["high"]),
        better=tuple(better),
        worse=tuple(worse),
        open=tuple(undecided),
        same=tuple(same),
        uncompared=len(summary.cells) - 1 - len({_other(pair, baseline) for pair in pairs}),
        possible=possible if possible > 0 and not better else None,
        documents=int(row["n"]),
    )


def _other(pair: PlannedComparison, baseline: str) -> str:
    return pair.a.id if pair.b.id == baseline else pair.b.id


def _gain(pair: PlannedComparison, baseline: str, sign: int) -> float:
    """Return how much better than the baseline the other cell may be, by the interval of the difference."""
    ends = (pair.low, pair.high) if pair.b.id == baseline else (-pair.high, -pair.low)
    return max(sign * end for end in ends)
