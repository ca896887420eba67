"""Summary of a run, the source of tables and figures: scores, tests, differences, verdicts and charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.config.model import BASE
from benchmark.evaluation.judging import judge_ranges
from benchmark.evaluation.sample import sample_of
from benchmark.evaluation.scored import SCORES
from benchmark.findings.caveats import caveats_of
from benchmark.findings.costs import cost_rows
from benchmark.findings.in_words import cell_infos
from benchmark.findings.mistakes import mistake_rows
from benchmark.findings.notes import brief_on, notes_on
from benchmark.findings.pairs import difference_rows, pairable, significance_rows
from benchmark.findings.papers import explaining, published_for
from benchmark.findings.ranks import rank_rows
from benchmark.findings.regions import region_figures
from benchmark.findings.settings import asides_of, settings_in_words
from benchmark.findings.verdicts import (
    claim_frame,
    judged_claims,
    range_frame,
    sweep_notes,
    tests_in_words,
    verdict_frame,
    words_on,
)
from benchmark.report.contents import CONFUSIONS, COSTS, DIFFERENCES, MISTAKES, RANKS, SIGNIFICANCE, Summary, frame
from benchmark.report.facets import Labels, PrintedRange, chart_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.config.model import Cell, Experiment, Figure
    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.predictions import Predictions
    from benchmark.evaluation.published import Published, PublishedValue
    from benchmark.evaluation.scored import Scored
    from benchmark.findings.scoring import Run
    from benchmark.report.charts import Chart


def summarized(run: Run) -> Summary:
    """Compute everything a run shows from its predictions."""
    study, scored, published = run.study, run.scored, published_for(run.study)
    pairs, unpaired = pairable(study, scored, run.jobs)
    claims = judged_claims(published, study, scored)
    notes = notes_on(run, printed_numbers(published, study))
    setting_notes = tuple(settings_in_words(study, asides_of(study)))
    caveat_texts = [each.text for each in caveats_of(study)]
    caveats = [f"Caveat: {text}." for text in caveat_texts]
    claim_notes = () if study.explains else words_on(each.claim for each in claims)
    sweep = tuple(sweep_notes(claims)) if study.explains else ()
    return Summary(
        name=study.name,
        title=study.title,
        paper=study.paper,
        cells=cell_infos(study, scored),
        scores=scored.frame[list(SCORES)],
        significance=frame(SIGNIFICANCE, significance_rows(pairs, study, scored)),
        differences=frame(DIFFERENCES, difference_rows(pairs, study, scored)),
        verdicts=verdict_frame(published, study, scored),
        claims=claim_frame(claims, study.chosen_on_test),
        ranges=range_frame(published, study, scored),
        confusions=frame(CONFUSIONS, _confusions(study, run.predictions, scored)),
        mistakes=frame(MISTAKES, mistake_rows(study, run.predictions, scored)),
        ranks=frame(RANKS, rank_rows(study, scored)),
        costs=frame(COSTS, cost_rows(study, run.predictions, scored)),
        charts=_charts(study, scored, published),
        regions=region_figures(run),
        failures=_failures(study, scored, run.failures),
        notes=(
            *study.notes,
            *setting_notes,
            *caveats,
            *notes,
            *tests_in_words(claims, scored),
            *claim_notes,
            *sweep,
            *unpaired,
        ),
        brief=(
            *setting_notes,
            *brief_on(run),
            *([f"Caveats: {'; '.join(caveat_texts)}."] if caveat_texts else []),
            *sweep,
            *unpaired,
        ),
        explained_by=explaining(study),
        quantities=study.declared,
    )


def _charts(study: Experiment, scored: Scored, published: Published | None) -> tuple[Chart, ...]:
    """Return the charts of the configured figures that have data."""
    lines = [figure for figure in study.figures if not figure.regions]
    frames = [each for each in (scored.frame, scored.drawn) if len(each)]
    if not lines or not frames:
        return ()
    scores = pd.concat(frames, ignore_index=True)
    for axis in {figure.x for figure in lines} - set(scores.columns):
        scores[axis] = np.nan

    def relate(kind: str, a: str, b: str, metric: str) -> Estimate | None:
        try:
            return scored.ratio(a, b, metric) if kind == "ratio" else scored.difference(a, b, metric)
        except (ValueError, KeyError):  # the ratio is not defined, or a cell has no score
            return None

    charts = (chart_of(figure, scores, _labels(figure, study, published, scored), relate) for figure in lines)
    return tuple(chart for chart in charts if chart is not None)


def printed_numbers(published: Published | None, study: Experiment) -> dict[str, float]:
    """Return the published values of this configuration, or of the one it explains, by cell; shares as fractions."""
    return {
        value.cell: float(value.value) / (100 if value.unit == "percent" else 1)
        for value in _printed(published, study)
        if value.cell
    }


def _printed(published: Published | None, study: Experiment) -> list[PublishedValue]:
    values = published.values if published else ()  # noqa: PD011 - not a frame's
    return [value for value in values if value.config == (study.explains or study.name)]


def _labels(figure: Figure, study: Experiment, published: Published | None, scored: Scored) -> Labels:
    """Return the labels of a chart that are not in the scores."""
    first = next(iter(study.variants.values()))
    sample = sample_of(first.protocol.tags, study.seed)
    cells = {cell.id: cell for cell in study.cells if cell.what == "measure"}
    own = [value for value in _printed(published, study) if value.cell in cells]
    printed = {(v.metric, cells[v.cell or ""].of_class): float(v.value) for v in own}
    ranges = [each.published for each in judge_ranges(published, study.name, scored)] if published else []
    return Labels(
        study.title,
        bars=sample.bars,
        related=sample.bars_of_ratio if figure.relation[:1] == ("ratio",) else sample.bars_of_difference,
        tasks={task.name: task.title for task in first.tasks},
        ranges=[PrintedRange(r.metric, frozenset(r.expanded), float(r.low), float(r.high)) for r in ranges],
        printed=printed,
        quantities=study.declared,
        methods=_method_labels(study),
    )


def _method_labels(study: Experiment) -> dict[str, str]:
    """Return the labels of methods in figures, by name: those of classifiers and diagnostics."""
    specs = (spec for variant in study.variants.values() for entry in variant.entries for spec in entry.candidates)
    components = (*(spec.classifier for spec in specs), *study.measures)
    return {name: label for component in components for name, label in component.tags.labels.items()}


def _confusions(study: Experiment, predictions: Predictions, scored: Scored) -> list[list[Any]]:
    """Count documents by cell, true and predicted class, pooled over the splits, for tables with single labels.

    Curves have too many cells for a confusion matrix, and documents with several classes have none.
    """
    rows: list[list[Any]] = []
    for cell in study.cells:
        outcome = scored.cells[cell.id].outcome if cell.id in scored.cells else None
        if outcome is None or outcome.several or cell.size is not None or cell.terms is not None or cell.of_class:
            continue
        classes = next(
            task.classes
            for (_, name), task in predictions.tasks.items()
            if name == cell.task and set(task.classes) == set(predictions.tasks[cell.of_task].classes)
        )
        codes = outcome.truth.astype(np.intp) * len(classes) + outcome.predicted
        counted = np.bincount(codes, minlength=len(classes) ** 2).reshape(len(classes), len(classes))
        rows += [[cell.id, classes[t], classes[p], int(counted[t, p])] for t, p in zip(*counted.nonzero(), strict=True)]
    return rows


def _failures(study: Experiment, scored: Scored, failures: Mapping[str, str]) -> dict[str, str]:
    """Return the reason of failure for each cell without a score."""
    return {
        cell.id: next((why for name, why in failures.items() if _fits(name, cell, study)), "no predictions")
        for cell in study.cells
        if cell.id not in scored.cells
    }


def _fits(name: str, cell: Cell, study: Experiment) -> bool:
    """Return whether a failure under this name leaves a cell without a score."""
    words = [] if cell.variant == BASE else [cell.variant]
    if cell.what == "measure":
        return name == "-".join([*words, cell.measure])
    words += [word for word in (cell.task, cell.method) if word]
    sizes = study.variants[cell.variant].sizes
    ends = (sizes[0], sizes[-1]) if cell.what == "growth" else (cell.size,)
    numbers = ([str(n) for n in (size, cell.terms) if n is not None] for size in ends)
    return name in ("-".join([*words, *each]) for each in numbers)
