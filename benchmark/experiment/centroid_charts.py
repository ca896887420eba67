"""Centroid curves to pictures: Figures 2 and 3, the ratio of the accuracies, Table I, and what variants change."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from benchmark.config.centroid_curves import ALL, cell_id
from benchmark.config.schema import BASE
from benchmark.evaluation.draws import mean_difference, mean_estimate, mean_ratio
from benchmark.experiment.centroid_scores import ACCURACY
from benchmark.report.charts import Chart, Line, Panel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmark.config.centroid_curves import CentroidCurves, Setting
    from benchmark.evaluation.draws import DrawScores
    from benchmark.evaluation.intervals import Estimate
    from benchmark.experiment.centroid_curves import CentroidResults

LABELS = {"mean": "mean (naive Bayes)", "skl": "symmetric KL", "pooled": "pooled counts (multinomial)"}
PRINTED = "printed"
BARS = "95 % interval of the mean of {} draws"
DOCUMENTS, SMOOTHING = "Training documents", "Smoothing (added to every count)"


def centroid_charts(
    results: CentroidResults, scored: Mapping[str, DrawScores], printed: Mapping[str, float]
) -> tuple[Chart, ...]:
    """Of a configuration without variants the paper's figures and table; of one with variants what they change.

    Parameters
    ----------
    results : CentroidResults
    scored : mapping of cell id to DrawScores
    printed : mapping of str to float
        Numbers of Table I by topic; empty where there is no print.
    """
    study = results.experiment
    if len(study.settings) > 1:
        charts = [_smoothing_chart(study, scored), _gain_chart(study, scored)]
    else:
        charts = [
            _accuracy_chart(study, scored, "figure-2", (ALL,)),
            _accuracy_chart(study, scored, "figure-3", study.classes),
            _ratio_chart(study, scored),
        ]
    return tuple(chart for chart in (*charts, _table_chart(results, printed)) if chart is not None)


def _accuracy_chart(
    study: CentroidCurves, scored: Mapping[str, DrawScores], name: str, topics: tuple[str, ...]
) -> Chart | None:
    panels = []
    for topic in topics:
        lines = []
        for centroid in study.centroids:
            ids = [cell_id(BASE, topic, centroid, size) for size in study.sizes]
            points = [
                (size, mean_estimate(scored[i], ACCURACY))
                for size, i in zip(study.sizes, ids, strict=True)
                if i in scored
            ]
            lines += [_line(LABELS[centroid], points)] if points else []
        panels.append(Panel(_title(topic, study), tuple(lines)))
    if not any(panel.lines for panel in panels):
        return None
    what = "accuracy, averaged over the topics" if topics == (ALL,) else "accuracy of each topic"
    return Chart(
        name=name,
        title=f"{study.title}: {what}",
        x_label=DOCUMENTS,
        y_label="Accuracy (%)",
        panels=tuple(panels),
        columns=min(3, len(panels)),
        bars=BARS.format(study.replicates),
        scale=100,
    )


def _ratio_chart(study: CentroidCurves, scored: Mapping[str, DrawScores]) -> Chart | None:
    """The "accuracy ratio" of the captions of Figures 2 and 3, taken to be that of the first pair compared."""
    pair = _first_pair(study)
    if pair is None:
        return None
    panels = []
    for topic in study.topics:
        points = []
        for size in study.sizes:
            a, b = (cell_id(BASE, topic, centroid, size) for centroid in pair)
            ratio = _ratio(scored[a], scored[b], study.seed) if a in scored and b in scored else None
            points += [(size, ratio)] if ratio else []
        panels.append(Panel(_title(topic, study), (_line(" / ".join(pair), points),) if points else ()))
    if not any(panel.lines for panel in panels):
        return None
    return Chart(
        name="ratio",
        title=f"{study.title}: ratio of the accuracies",
        x_label=DOCUMENTS,
        y_label="Ratio of the accuracies",
        panels=tuple(panels),
        columns=min(4, len(panels)),
        bars=f"95 % bootstrap interval over {study.replicates} draws",
    )


def _first_pair(study: CentroidCurves) -> tuple[str, str] | None:
    cells = {cell.id: cell.centroid for cell in study.cells}
    return next(((cells[a], cells[b]) for a, b in study.compare), None)


def _ratio(a: DrawScores, b: DrawScores, seed: int) -> Estimate | None:
    try:
        return mean_ratio(a, b, ACCURACY, seed)
    except ValueError:  # no document of the topic was found in any draw, or in a resample of the draws
        return None


def _table_chart(results: CentroidResults, printed: Mapping[str, float]) -> Chart | None:
    """Table I against the smoothing, a panel a topic, with the print."""
    study, table = results.experiment, results.settings[BASE].table
    xs = study.table_smoothing
    if not xs or not table:
        return None
    panels = []
    for c, topic in enumerate(study.classes):
        lines = [
            Line(LABELS[name], xs, tuple(map(float, row.by_smoothing[:, c])))
            for name, row in table.items()
            if len(row.by_smoothing)
        ]
        lines += [Line(PRINTED, xs, (printed[topic],) * len(xs))] if topic in printed else []
        panels.append(Panel(topic, tuple(lines)))
    return Chart(
        name="table-1",
        title=f"{study.title}: average SKL of a class's centroid to the others, by smoothing",
        x_label=SMOOTHING,
        y_label="Average SKL (nats)",
        panels=tuple(panels),
        columns=min(3, len(panels)),
        log_x=True,
    )


def _smoothing_chart(study: CentroidCurves, scored: Mapping[str, DrawScores]) -> Chart | None:
    """Accuracy against the smoothing, a panel a size, over the settings that differ from the first in nothing else."""
    alike = sorted((s for s in study.settings if _only_smoothed(s, study.settings[0])), key=lambda s: s.smoothing)
    if len(alike) < 2 or any(a.smoothing == b.smoothing for a, b in pairwise(alike)):
        return None
    panels = []
    for size in study.sizes:
        lines = []
        for centroid in study.centroids:
            ids = [(s.smoothing, cell_id(s.name, ALL, centroid, size)) for s in alike]
            points = [(x, mean_estimate(scored[i], ACCURACY)) for x, i in ids if i in scored]
            lines += [_line(LABELS[centroid], points)] if points else []
        panels.append(Panel(f"{size:,} training documents", tuple(lines)))
    return Chart(
        name="smoothing",
        title=f"{study.title}: accuracy by smoothing",
        x_label=SMOOTHING,
        y_label="Accuracy, averaged over the topics (%)",
        panels=tuple(panels),
        columns=min(2, len(panels)),
        bars=BARS.format(study.replicates),
        scale=100,
        log_x=True,
    )


def _only_smoothed(setting: Setting, first: Setting) -> bool:
    documents = replace(setting.documents, name=first.documents.name)
    return replace(setting, name=first.name, documents=documents, smoothing=first.smoothing) == first


def _gain_chart(study: CentroidCurves, scored: Mapping[str, DrawScores]) -> Chart | None:
    """What the first pair compared differs by, a line a setting: a panel for smoothing, one for all other choices."""
    pair = _first_pair(study)
    if pair is None:
        return None
    base = study.settings[0]
    smoothed = [s for s in study.settings if _only_smoothed(s, base)]
    others = [base, *(s for s in study.settings if s not in smoothed)]
    panels = []
    for title, settings in (("Smoothing", smoothed), ("Other choices", others)):
        lines = []
        for setting in settings:
            points = []
            for size in study.sizes:
                a, b = (cell_id(setting.name, ALL, centroid, size) for centroid in pair)
                if a in scored and b in scored:
                    points.append((size, mean_difference(scored[a], scored[b], ACCURACY)))
            lines += [_line(setting.name, points)] if points else []
        if len(settings) > 1 and lines:
            panels.append(Panel(title, tuple(lines)))
    if not panels:
        return None
    return Chart(
        name="gain",
        title=f"{study.title}: accuracy, {pair[0]} less {pair[1]}",
        x_label=DOCUMENTS,
        y_label="Difference of the accuracies (points)",
        panels=tuple(panels),
        columns=min(2, len(panels)),
        bars=BARS.format(study.replicates).replace("mean", "mean difference"),
        scale=100,
        share_y=True,
    )


def _line(label: str, points: Sequence[tuple[float, Estimate]]) -> Line:
    x, estimates = zip(*points, strict=True)
    y, low, high = (tuple(getattr(each, end) for each in estimates) for end in ("value", "low", "high"))
    return Line(label, tuple(map(float, x)), y, low, high)


def _title(topic: str, study: CentroidCurves) -> str:
    return f"average of the {len(study.classes)} topics" if topic == ALL else topic
