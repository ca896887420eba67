"""Summary of a run, the source of tables and figures: scores, tests, differences, verdicts and charts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.comparisons import leading_pair, paired_differences, significance_rows
from benchmark.analysis.document_predictions import disagreement
from benchmark.analysis.figures import charts_of, decision_region_figures
from benchmark.analysis.formatting.labels import label_cells
from benchmark.analysis.model_selection import selected_predictions
from benchmark.analysis.notes import caveats_of_choices, caveats_of_leaks, corpus_in_words, leak_rows, note_facts
from benchmark.analysis.prose.sentences import sentence, sentences
from benchmark.analysis.prose.verdict_sentences import claim_notes, sensitivity_notes, setting_notes
from benchmark.analysis.summary import Summary, summary_table
from benchmark.config.cells import settings_of_cell
from benchmark.config.model import ALL_CLASSES, BASE_VARIANT, method_of
from benchmark.corpora.registry import corpus_names
from benchmark.evaluation.metrics import more_is_better
from benchmark.evaluation.outcomes import SCORE_COLUMNS
from benchmark.evaluation.predictions import METHOD_TIMERS
from benchmark.papers.claims import claim_row, judge_claims
from benchmark.papers.load import published_of_experiment
from benchmark.papers.published_verdicts import range_rows, value_rows
from benchmark.papers.settings import excluded_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Experiment
    from benchmark.evaluation.predictions import Predictions
    from benchmark.evaluation.score_table import ScoreTable


def summarize(run: RunPredictions) -> Summary:
    """Compute everything a run shows from its predictions."""
    experiment, scored, published = run.experiment, run.scored, published_of_experiment(run.experiment)
    gaps = paired_differences(experiment, scored, run.jobs)
    unpaired = [sentence("macros.j2", "not compared", pair=pair) for pair, gap in gaps.items() if gap is None]
    differences = [[pair.a, pair.b, gap.value, gap.low, gap.high, gap.n] for pair, gap in gaps.items() if gap]
    tests = significance_rows((pair for pair, gap in gaps.items() if gap), experiment, scored)
    asides = excluded_cells(experiment)
    claims = judge_claims(published, experiment, scored, asides) if published else []
    claimed = [claim_row(each, experiment.chosen_on_test, experiment.readings) for each in claims]
    printed = value_rows(published, experiment.name, scored, asides) if published else ()
    ranges = range_rows(published, experiment.name, scored) if published else ()
    facts, variants = note_facts(run), experiment.variants.values()
    leaks = summary_table("leaks", leak_rows(run))
    doubts = (*setting_notes(experiment, asides), *unpaired, *sentences("doubts.j2", **facts))
    of_configuration = (each.claim for each in claims if not each.variant)
    on_claims = sensitivity_notes(claims) if experiment.sensitivity_of else claim_notes(of_configuration)
    summary = Summary(
        name=experiment.name,
        title=experiment.title,
        paper=experiment.paper,
        paper_title=published.title if published else "",
        paper_url=published.url if published else "",
        cells=label_cells(experiment, scored),
        scores=scored.frame[list(SCORE_COLUMNS)],
        significance=summary_table("significance", tests),
        differences=summary_table("differences", differences),
        verdicts=summary_table("verdicts", printed),
        claims=summary_table("claims", claimed),
        ranges=summary_table("ranges", ranges),
        confusions=summary_table("confusions", _confusions(experiment, run.predictions, scored)),
        costs=summary_table("costs", _cost_rows(run)),
        charts=charts_of(experiment, scored),
        regions=decision_region_figures(run),
        failures=_failures(experiment, scored, run.failures),
        leaks=leaks,
        corpus=corpus_in_words(experiment),
        documents=tuple(sentences("documents.j2", **facts)),
        caveats=(*caveats_of_leaks(run, leaks), *doubts, *caveats_of_choices(experiment)),
        notes=(*experiment.notes, *sentences("notes.j2", **facts), *on_claims),
        own_documents=not experiment.paper and all(v.collection.corpus not in corpus_names() for v in variants),
        minimized=frozenset(each for each in experiment.metrics if not more_is_better(each, experiment.scorers)),
        quantities=experiment.quantities,
    )
    pair = leading_pair(summary)
    between = disagreement(run, pair) if pair else None
    return replace(summary, disagreement=between)


def _cost_rows(run: RunPredictions) -> Iterator[list[Any]]:
    """Yield the rows of the cost frame: seconds of training and testing over all splits, peak bytes, if stored."""
    for cell in (cell for cell in run.experiment.cells if cell.what == "point" and cell.id in run.scored.chosen):
        elsewhere = method_of(run.experiment, cell).candidates[0].predictions is not None
        if cell.of_class in ("", ALL_CLASSES) and not elsewhere:
            setting = selected_predictions(run.predictions, cell, run.scored.chosen[cell.id])
            seconds = setting.seconds[:, : len(METHOD_TIMERS)].sum(axis=0)
            testing, stored = float(seconds[METHOD_TIMERS.index("testing")]), cell.id in run.stored_cells
            yield [cell.id, float(seconds.sum()) - testing, testing, float(np.max(setting.memory)), stored]


def _confusions(experiment: Experiment, predictions: Predictions, scored: ScoreTable) -> list[list[Any]]:
    """Count documents by cell, true and predicted class, pooled over the splits, for tables with single labels.

    Curves have too many cells for a confusion matrix, and documents with several classes have none.
    """
    rows: list[list[Any]] = []
    for cell in experiment.cells:
        outcome = scored.cells[cell.id].outcome if cell.id in scored.cells else None
        if outcome is None or outcome.multilabel or cell.size is not None or cell.terms is not None or cell.of_class:
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


def _failures(experiment: Experiment, scored: ScoreTable, failures: Mapping[str, str]) -> dict[str, str]:
    """Return the reason of failure for each cell without a score: that of its diagnostic, or of its settings."""
    found = dict[str, str]()
    for cell in (cell for cell in experiment.cells if cell.id not in scored.cells):
        diagnostic = cell.diagnostic if cell.variant == BASE_VARIANT else f"{cell.variant}-{cell.diagnostic}"
        names = [key.name for key in settings_of_cell(experiment, cell)] or [diagnostic]
        found[cell.id] = next((failures[name] for name in names if name in failures), "no predictions")
    return found
