"""Category curves to their summary: F-measures by size, tests of every kind, seconds, and the collection's counts."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmark.config.schema import BASE
from benchmark.evaluation.draws import wilcoxon_over_draws
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.multilabel import f1, micro_sign_test, wilcoxon_over_categories
from benchmark.evaluation.published import COUNT_METRICS, judge_value
from benchmark.evaluation.significance import holm
from benchmark.experiment.category_notes import notes_on
from benchmark.experiment.category_pictures import charts_of
from benchmark.experiment.category_scores import METRICS, SECONDS, counts_by_draw, score
from benchmark.experiment.draw_summary import compare_draw_runs, compare_draws, draw_evidence, summarize_draws
from benchmark.experiment.published_values import published_for
from benchmark.report import summary as layout
from benchmark.report.summary import CellInfo, frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmark.config.category_curves import CategoryCurves, CategoryPoint
    from benchmark.evaluation.draws import DrawScores
    from benchmark.evaluation.multilabel import CategoryCounts
    from benchmark.evaluation.published import Claim, Comparison, Evidence, Published
    from benchmark.evaluation.significance import TestResult
    from benchmark.experiment.category_curves import CategoryResults
    from benchmark.report.parts import Part
    from benchmark.report.summary import Summary


def summarize_category_curves(results: CategoryResults) -> Summary:
    """Compute everything a run shows from its decisions."""
    study = results.experiment
    scored, counts, published = score(results), counts_by_draw(results), published_for(study)
    if published and study.explains:  # its times were measured when the machine did other things
        untimed = tuple(claim for claim in published.claims if claim.metric != SECONDS)
        published = published.model_copy(update={"claims": untimed})
    summary = summarize_draws(
        study,
        scored,
        published,
        cells=tuple(CellInfo(cell.id, _columns(cell, study)) for cell in study.cells),
        metrics=METRICS,
        family_of=lambda cell: cell,
        settings=["" if setting.name == BASE else setting.name for setting in study.settings],
        charts=charts_of(results, scored, counts),
        notes=notes_on(results),
        failures=results.failures,
    )
    return replace(
        summary,
        significance=frame(layout.SIGNIFICANCE, _tests(results, scored, counts)),
        verdicts=frame(layout.VERDICTS, [*_document_counts(results, published)]),
    )


def category_evidence(claim: Claim, results: CategoryResults) -> dict[Comparison, Evidence]:
    """What a run says of a claim's comparisons."""
    return draw_evidence(claim, results.experiment, score(results))


def compare_category_cells(results: CategoryResults, a: str, b: str) -> list[Part]:
    """Two points of a run, tested against each other over the draws."""
    return compare_draws(score(results), METRICS, a, b)


def compare_category_runs(one: CategoryResults, two: CategoryResults, names: tuple[str, str]) -> Part:
    """The points that two runs have in common."""
    return compare_draw_runs(score(one), score(two), METRICS[0], names)


def _columns(cell: CategoryPoint, study: CategoryCurves) -> dict[str, str]:
    columns = {"setting": cell.setting} if len(study.settings) > 1 else {}
    return columns | {"method": cell.method, "size": str(cell.size)}


def _tests(
    results: CategoryResults, scored: Mapping[str, DrawScores], counts: Mapping[str, CategoryCounts]
) -> list[list[Any]]:
    """Four tests of every pair of cells; Holm's correction is over the sizes of one pair of methods, test by test."""
    cells = {cell.id: cell for cell in results.experiment.cells}
    pairs = [(a, b) for a, b in results.experiment.compare if a in scored and b in scored]
    raw = [result for a, b in pairs for result in _tests_of(results, scored, counts, a, b)]
    families: dict[tuple[str, str, str, str], list[int]] = defaultdict(list)
    for position, result in enumerate(raw):
        one, other = cells[result.a], cells[result.b]
        families[one.setting, one.method, other.method, result.test].append(position)
    found = list(raw)
    for positions in families.values():
        for position, result in zip(positions, holm(raw[i] for i in positions), strict=True):
            found[position] = result
    missing = math.nan
    return [
        [r.a, r.b, r.test, r.n, r.statistic, *(missing if p is None else p for p in (r.p_value, r.p_holm)), r.note]
        for r in found
    ]


def _tests_of(
    results: CategoryResults,
    scored: Mapping[str, DrawScores],
    counts: Mapping[str, CategoryCounts],
    a: str,
    b: str,
) -> Iterator[TestResult]:
    yield wilcoxon_over_draws(scored[a], scored[b], "macro-f1")
    yield replace(wilcoxon_over_draws(scored[a], scored[b], "micro-f1"), test="Wilcoxon, micro-F1")
    by_category = wilcoxon_over_categories((a, b), f1(counts[a]), f1(counts[b]))
    yield replace(by_category, test="Wilcoxon, category × draw")
    found = results.found
    yield micro_sign_test((a, b), results.tested.truth, found[a].assigned, found[b].assigned)


def _document_counts(results: CategoryResults, published: Published | None) -> Iterator[list[Any]]:
    """Printed numbers of documents by class and group, ``earn-train``, beside those of the collection as read."""
    facts = results.facts[results.experiment.settings[0].name]
    ours = {
        f"{name}-{group}": n
        for name, row in zip(facts["classes"], facts["documents_by_class_and_group"], strict=True)
        for group, n in zip(facts["groups"], row, strict=True)
    }
    for value in published.values if published else ():
        if value.config == results.experiment.name and value.metric in COUNT_METRICS and value.cell in ours:
            n = ours[value.cell]
            judged = judge_value(value, Estimate(n, n, n, n, "count"))
            yield [value.cell, value.metric, value.value, float(n), math.nan, math.nan, judged.verdict]
