"""Category curves to their pictures: the paper's Figures 1 to 3, and each category by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.config.schema import BASE
from benchmark.evaluation.draws import mean_estimate
from benchmark.evaluation.multilabel import f1, precision, recall
from benchmark.experiment.category_methods import PARTS
from benchmark.experiment.category_scores import SECONDS, training_seconds
from benchmark.report.charts import Chart, Line, Panel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from benchmark.config.category_curves import CategoryCurves, Setting
    from benchmark.evaluation.draws import DrawScores
    from benchmark.evaluation.multilabel import CategoryCounts
    from benchmark.experiment.category_curves import CategoryResults

    Floats = NDArray[np.float64]

X_LABEL = "Training documents"
BARS = "95% interval of the mean (t over the draws)"
DEFINITIONS = {
    "macro-f1": "mean of the categories' F1",
    "macro-f1-of-means": "F1 of the mean precision and recall",
    "micro-f1": "all decisions pooled",
}


PARTICULARS = (("f1", "F1", f1), ("precision", "Precision", precision), ("recall", "Recall", recall))


def charts_of(
    results: CategoryResults, scored: Mapping[str, DrawScores], counts: Mapping[str, CategoryCounts]
) -> tuple[Chart, ...]:
    """Every picture of a run."""
    study = results.experiment
    charts = []
    if scored:
        charts = [
            _averages("figure-1", "macro-averaged F-measure", ("macro-f1", "macro-f1-of-means"), study, scored),
            _averages("figure-2", "micro-averaged F-measure", ("micro-f1",), study, scored),
            _times(results, scored),
        ]
    if any(cell in counts for cell in _cells(study, study.settings[0]).values()):
        charts += [_by_category(name, label, of, results, counts) for name, label, of in PARTICULARS]
    return tuple(charts)


def _averages(
    name: str, title: str, metrics: tuple[str, ...], study: CategoryCurves, scored: Mapping[str, DrawScores]
) -> Chart:
    panels = []
    for setting in study.settings:
        for metric in metrics:
            estimates = {cell: mean_estimate(each, metric) for cell, each in scored.items()}
            points = {cell: (each.value, each.low, each.high) for cell, each in estimates.items()}
            panels.append(_panel(_title(setting, DEFINITIONS[metric]), study, setting, points))
    return Chart(name, f"{study.title}: {title}", X_LABEL, "F-measure (%)", tuple(panels), 2, BARS, 100)


def _times(results: CategoryResults, scored: Mapping[str, DrawScores]) -> Chart:
    study, extraction = results.experiment, PARTS.index("extraction")
    given = {cell: each.scores[SECONDS] for cell, each in scored.items()}
    extracted = {cell: given[cell] + results.found[cell].seconds[:, extraction] for cell in scored}
    together = {cell: training_seconds(results.found[cell].seconds) for cell in scored}
    panels = []
    for setting in study.settings:
        for title, seconds in (
            ("one category, features given", given),
            ("one category, features extracted", extracted),
            ("all categories, features extracted", together),
        ):
            points = {cell: _spread(values) for cell, values in seconds.items()}
            panels.append(_panel(_title(setting, title), study, setting, points))
    return Chart(
        name="figure-3",
        title=f"{study.title}: time to train, kernel matrix included",
        x_label=X_LABEL,
        y_label="Seconds",
        panels=tuple(panels),
        columns=3,
        bars=f"least and most of the {study.replicates} draws",
        log_y=True,
        share_y=True,
        measured=True,
    )


def _by_category(
    name: str,
    label: str,
    of: Callable[[CategoryCounts], Floats],
    results: CategoryResults,
    counts: Mapping[str, CategoryCounts],
) -> Chart:
    """A panel for each category, of the configuration itself."""
    study, setting = results.experiment, results.experiment.settings[0]
    values = {cell: of(each) for cell, each in counts.items()}
    panels = [
        _panel(category, study, setting, {cell: (float(each[:, x].mean()),) for cell, each in values.items()})
        for x, category in enumerate(results.tested.categories)
    ]
    title = f"{study.title}: {label} of each category"
    return Chart(f"categories-{name}", title, X_LABEL, f"{label} (%)", tuple(panels), 4, "", 100)


def _panel(title: str, study: CategoryCurves, setting: Setting, points: Mapping[str, tuple[float, ...]]) -> Panel:
    """A line for each method, through the mean of each size; with three numbers a point, bars from low to high."""
    cells, lines = _cells(study, setting), []
    for method in study.methods:
        own = [(size, points[cells[method.name, size]]) for size in study.sizes if cells[method.name, size] in points]
        if own:
            x = tuple(float(size) for size, _ in own)
            y, *ends = zip(*(numbers for _, numbers in own), strict=True)
            lines.append(Line(method.name, x, y, *ends))
    return Panel(title, tuple(lines))


def _cells(study: CategoryCurves, setting: Setting) -> dict[tuple[str, int], str]:
    return {(cell.method, cell.size): cell.id for cell in study.cells if cell.setting == setting.name}


def _title(setting: Setting, title: str) -> str:
    return title if setting.name == BASE else f"{setting.name}\n{title}"


def _spread(values: Floats) -> tuple[float, float, float]:
    return float(values.mean()), float(values.min()), float(values.max())
