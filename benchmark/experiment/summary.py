"""Results to the summary that tables and figures are made of: scores, tests, differences, verdicts."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from benchmark.evaluation import intervals
from benchmark.evaluation.intervals import ACCURACY_LIKE, Estimate, sign_z_estimate
from benchmark.evaluation.metrics import Outcome
from benchmark.evaluation.published import (
    Evidence,
    Template,
    judge_claim,
    judge_value,
)
from benchmark.evaluation.significance import (
    check_same_documents,
    compare_all,
    mcnemar_test,
    sign_test,
    wilcoxon_test,
)
from benchmark.experiment.published_values import published_for
from benchmark.report import summary as layout
from benchmark.report.summary import CellInfo, Summary, frame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmark.config import Cell, Experiment, Study, Variant
    from benchmark.evaluation.published import Claim, Comparison, Published, PublishedValue
    from benchmark.evaluation.significance import TestResult
    from benchmark.experiment.results import Results

_TESTS: dict[str, Callable[[Outcome, Outcome], TestResult]] = {
    "sign": sign_test,
    "mcnemar": mcnemar_test,
    "wilcoxon": wilcoxon_test,
}


def summarize(results: Results) -> Summary:
    """Compute everything a run shows from its predictions."""
    experiment, outcomes = results.experiment, results.outcomes()
    pairs, notes = _comparable(experiment.compare, outcomes)
    verdicts, claims = _against_paper(published_for(experiment), experiment, outcomes)
    return Summary(
        name=experiment.name,
        title=experiment.title,
        paper=experiment.paper,
        cells=tuple(CellInfo(cell.id, _columns(cell, experiment)) for cell in experiment.cells),
        scores=frame(layout.SCORES, _scores(results, outcomes)),
        significance=frame(layout.SIGNIFICANCE, [significance_row(each) for each in compare_all(pairs, outcomes)]),
        differences=frame(layout.DIFFERENCES, [difference_row(outcomes[a], outcomes[b], experiment) for a, b in pairs]),
        verdicts=frame(layout.VERDICTS, verdicts),
        claims=frame(layout.CLAIMS, claims),
        confusions=frame(layout.CONFUSIONS, _confusions(results)),
        failures=results.failures,
        notes=(*experiment.notes, *_notes(results), *notes),
    )


def table_evidence(claim: Claim, results: Results) -> dict[Comparison, Evidence]:
    """What a run says of a claim's comparisons."""
    return evidence_for(claim, results.experiment, results.outcomes())


def evidence_for(claim: Claim, experiment: Study, outcomes: Mapping[str, Outcome]) -> dict[Comparison, Evidence]:
    """What the outcomes of one experiment say of a claim's comparisons."""
    found = {}
    for comparison in claim.comparisons:
        if comparison.config == experiment.name and {comparison.a, comparison.b} <= set(outcomes):
            a, b = outcomes[comparison.a], outcomes[comparison.b]
            test = _TESTS[claim.test](a, b) if claim.test else None
            found[comparison] = Evidence(_difference(a, b, claim.metric, experiment.seed), test)
    return found


def estimate_of(value: PublishedValue, experiment: Experiment, outcomes: Mapping[str, Outcome]) -> Estimate | None:
    """Our estimate of a published number; None where its cells haven't been run."""
    if value.pair is not None:
        a, b = (outcomes.get(cell) for cell in value.pair)
        return None if a is None or b is None else sign_z_estimate(a, b, seed=experiment.seed)
    outcome = outcomes.get(value.cell or "")
    return None if outcome is None else _estimate(outcome, value.metric, experiment.seed)


def _scores(results: Results, outcomes: Mapping[str, Outcome]) -> list[list[Any]]:
    experiment, names, ties = results.experiment, results.fold_names(), results.ties()
    rows = []
    for cell, outcome in outcomes.items():
        own = [name for name in names if (cell, name) in ties]
        parts = {name: _fold(outcome, names.index(name)) for name in own}
        for metric in experiment.metrics:
            whole = _estimate(outcome, metric, experiment.seed)
            for name in own:
                part = whole if len(own) == 1 else _estimate(parts[name], metric, experiment.seed)
                rows.append([cell, name, metric, part.value, part.low, part.high, part.n, ties[cell, name]])
            tied = sum(ties[cell, name] for name in own)
            rows.append([cell, layout.HEADLINE, metric, whole.value, whole.low, whole.high, whole.n, tied])
    return rows


@lru_cache(maxsize=4096)
def _distinct_estimate(outcome: Outcome, metric: str, seed: int) -> Estimate:
    return intervals.estimate(outcome, metric, seed=seed)


def _estimate(outcome: Outcome, metric: str, seed: int) -> Estimate:
    """An estimate, bootstrapped once however often it is shown; micro-F1 is the accuracy where labels are single."""
    return _distinct_estimate(outcome, "accuracy" if metric in ACCURACY_LIKE else metric, seed)


@lru_cache(maxsize=4096)
def _difference(a: Outcome, b: Outcome, metric: str, seed: int) -> Estimate:
    return intervals.difference(a, b, metric, seed=seed)


def _fold(outcome: Outcome, fold: int) -> Outcome:
    rows = outcome.folds == fold
    return Outcome(
        outcome.cell,
        outcome.documents[rows],
        outcome.folds[rows],
        outcome.truth[rows],
        outcome.predicted[rows],
        outcome.n_classes,
    )


def _confusions(results: Results) -> list[list[Any]]:
    """Documents by cell, true and predicted class; classes in the configuration's order."""
    order = {name: rank for rank, name in enumerate(next(iter(results.experiment.variants.values())).classes)}
    counted = results.predictions.groupby(["cell", "truth", "predicted"], sort=False, observed=True).size()
    rows = [[*map(str, key), int(n)] for key, n in zip(counted.index, counted, strict=True)]
    cells = {cell.id: rank for rank, cell in enumerate(results.experiment.cells)}
    last = len(order)
    return sorted(rows, key=lambda row: (cells[row[0]], order.get(row[1], last), order.get(row[2], last), row[1:3]))


def _comparable(
    pairs: tuple[tuple[str, str], ...], outcomes: Mapping[str, Outcome]
) -> tuple[list[tuple[str, str]], list[str]]:
    kept, notes = [], []
    for a, b in pairs:
        if a not in outcomes or b not in outcomes:
            continue
        try:
            check_same_documents(outcomes[a], outcomes[b])
        except ValueError:
            notes.append(f"{a} and {b} are not compared: they were tested on different documents")
        else:
            kept.append((a, b))
    return kept, notes


def significance_row(result: TestResult) -> list[Any]:
    """A row of `layout.SIGNIFICANCE`."""
    p_value = math.nan if result.p_value is None else result.p_value
    p_holm = math.nan if result.p_holm is None else result.p_holm
    return [result.a, result.b, result.test, result.n, result.statistic, p_value, p_holm, result.note]


def difference_row(a: Outcome, b: Outcome, experiment: Study) -> list[Any]:
    """A row of `layout.DIFFERENCES`."""
    gap = _difference(a, b, "accuracy", experiment.seed)
    return [a.cell, b.cell, gap.value, gap.low, gap.high, gap.n]


def _against_paper(
    published: Published | None, experiment: Experiment, outcomes: Mapping[str, Outcome]
) -> tuple[list[list[Any]], list[list[Any]]]:
    verdicts, claims = [], []
    for value in published.values if published else ():
        ours = estimate_of(value, experiment, outcomes) if value.config == experiment.name else None
        if ours is not None:
            judged = judge_value(value, ours)
            scale = 100 if value.unit == "percent" else 1
            what = " vs ".join(value.pair) if value.pair else value.cell
            numbers = [scale * ours.value, scale * ours.low, scale * ours.high]
            verdicts.append([what, value.metric, value.value, *numbers, judged.verdict])
    for claim in published.claims if published else ():
        own = [comparison for comparison in claim.comparisons if comparison.config == experiment.name]
        if own:
            part = claim.model_copy(update={"templates": tuple(_as_template(comparison) for comparison in own)})
            judged_claim = judge_claim(part, evidence_for(part, experiment, outcomes))
            holds = sum(each.verdict == "holds" for each in judged_claim.comparisons)
            claims.append([claim.id, claim.text, holds, len(own), judged_claim.verdict])
    return verdicts, claims


def _as_template(comparison: Comparison) -> Template:
    return Template(config=comparison.config, a=comparison.a, b=comparison.b)


def _columns(cell: Cell, experiment: Experiment) -> dict[str, str]:
    given = {key: value for key, value in cell.classifier.given.items() if key != "cache_mb"}
    columns = {
        "weighting": {"tf": "TF", "tfidf": "TF×IDF"}[cell.weighting],
        "normalization": cell.normalization,
        "kernel": _described(cell.kernel.name, cell.kernel.given),
        "classifier": _described(cell.classifier.name, given),
    }
    if len(experiment.variants) > 1:
        columns = {"variant": cell.variant, **columns}
    return columns


def _described(name: str, given: Mapping[str, Any]) -> str:
    return f"{name} ({', '.join(f'{key} {value}' for key, value in given.items())})" if given else name


def _notes(results: Results) -> list[str]:
    experiment = results.experiment
    notes = []
    for name, facts in results.facts.items():
        variant = experiment.variants[name]
        label = f"{name}: " if len(results.facts) > 1 else ""
        notes.append(label + _data_note(variant, facts))
    order = ", ".join(next(iter(experiment.variants.values())).classes)
    notes.append(f"One-vs-one votes that tie go to the class that comes first in: {order}.")
    notes.append(
        "Accuracy is the mean over the folds; intervals are 95%: Wilson's on one split, else a bootstrap that draws "
        f"documents within each fold (seed {experiment.seed})."
    )
    return notes


def _data_note(variant: Variant, facts: Mapping[str, Any]) -> str:
    text = (
        f"{facts['documents']:,} documents, {facts['vocabulary']:,} words; digits: {variant.lexing.digits}; "
        f"stoplist: {variant.lexing.stoplist}; idf over the "
        f"{'whole collection' if variant.idf == 'collection' else 'training documents'}"
    )
    empty = facts["documents_without_words"]
    if empty:
        text += f"; {empty} document{'s' if empty > 1 else ''} without words, kept as the zero vector"
    return text + "."
