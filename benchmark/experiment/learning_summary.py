"""Learning curves to their summary: one row a point, one panel a task and selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.learning_curves import INNER, ORACLE
from benchmark.config.schema import BASE
from benchmark.experiment.draw_summary import compare_draw_runs, compare_draws, draw_evidence, summarize_draws
from benchmark.experiment.learning_scores import select
from benchmark.experiment.published_values import published_for
from benchmark.report.charts import Chart, Line, Panel
from benchmark.report.summary import CellInfo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.config.learning_curves import CurvePoint, LearningCurves, Setting, Task
    from benchmark.evaluation.published import Claim, Comparison, Evidence, Published
    from benchmark.experiment.learning_curves import CurveResults
    from benchmark.experiment.learning_scores import Selected
    from benchmark.report.parts import Part
    from benchmark.report.summary import Summary

METRIC = "error"
SELECTED_BY = {
    ORACLE: "best parameter on the test error (optimistic)",
    INNER: "parameter by inner cross-validation",
}


def summarize_learning_curves(results: CurveResults) -> Summary:
    """Select the parameters, and compute everything a run shows from its predictions."""
    study = results.experiment
    selected, published = select(results), published_for(study)
    families = {cell.id: f"{cell.setting} {cell.selection}" for cell in study.cells}
    return summarize_draws(
        study,
        {name: each.scored for name, each in selected.items()},
        published,
        cells=tuple(CellInfo(cell.id, _columns(cell, study, selected)) for cell in study.cells),
        metrics=(METRIC,),
        family_of=families.__getitem__,
        settings=["" if setting.name == BASE else setting.name for setting in study.settings],
        charts=tuple(_chart(study, setting, selected, published) for setting in study.settings),
        notes=_notes(results),
        failures=_failures(results, selected),
    )


def learning_evidence(claim: Claim, results: CurveResults) -> dict[Comparison, Evidence]:
    """What a run says of a claim's comparisons."""
    return draw_evidence(claim, results.experiment, {name: each.scored for name, each in select(results).items()})


def compare_curve_cells(results: CurveResults, a: str, b: str) -> list[Part]:
    """Two points of a run, tested against each other over the draws."""
    return compare_draws({name: each.scored for name, each in select(results).items()}, (METRIC,), a, b)


def compare_curve_runs(one: CurveResults, two: CurveResults, names: tuple[str, str]) -> Part:
    """The points that two runs have in common."""
    scored = [{name: each.scored for name, each in select(results).items()} for results in (one, two)]
    return compare_draw_runs(scored[0], scored[1], METRIC, names)


def _columns(cell: CurvePoint, study: LearningCurves, selected: Mapping[str, Selected]) -> dict[str, str]:
    columns = {"setting": cell.setting} if len(study.settings) > 1 else {}
    columns |= {"task": cell.task, "kernel": cell.curve, "selection": cell.selection, "size": str(cell.size)}
    return columns | {"parameter": _parameter(cell, study, selected)}


def _parameter(cell: CurvePoint, study: LearningCurves, selected: Mapping[str, Selected]) -> str:
    """What was chosen: the one value, or the median of the draws' own."""
    grid = next(curve.grid for curve in study.curves if curve.name == cell.curve)
    if len(grid) == 1 or cell.id not in selected:
        return ""
    chosen = np.sort(selected[cell.id].chosen)
    middle = grid[int(chosen[(len(chosen) - 1) // 2])].given
    text = ", ".join(f"{key} {value}" for key, value in middle.items())
    return text if chosen[0] == chosen[-1] else f"{text} (median)"


def _failures(results: CurveResults, selected: Mapping[str, Selected]) -> dict[str, str]:
    """The reason of a curve's failure, for each of its points."""
    found = {}
    for cell in results.experiment.cells:
        if cell.id not in selected:
            curve = "-".join([*([] if cell.setting == BASE else [cell.setting]), cell.task, cell.curve])
            found[cell.id] = results.failures.get(curve, "no predictions")
    return found


def _chart(
    study: LearningCurves, setting: Setting, selected: Mapping[str, Selected], published: Published | None
) -> Chart:
    """The tasks side by side; one row of panels a selection."""
    panels = []
    for selection in study.selections:
        for task in study.tasks:
            lines = []
            for curve in study.curves:
                points = [
                    (cell.size, selected[cell.id].scored.scores[METRIC])
                    for cell in study.cells
                    if (cell.setting, cell.task, cell.curve, cell.selection)
                    == (setting.name, task.name, curve.name, selection)
                    and cell.id in selected
                ]
                if points:
                    lines.append(_line(curve.name, points))
            words = [] if setting.name == BASE else [setting.name]
            title = "\n".join([", ".join([*words, f"{task.first} vs {task.second}"]), SELECTED_BY[selection]])
            panels.append(Panel(title, tuple(lines), _printed(published, study, setting, task)))
    base = setting.name == BASE
    return Chart(
        name="figure" if base else f"figure-{setting.name}",
        title=study.title if base else f"{study.title}: {setting.name}",
        x_label="Training documents",
        y_label="Test error (%)",
        panels=tuple(panels),
        columns=min(3, len(study.tasks)),
        bars=f"2 standard deviations of the {study.replicates} draws",
        scale=100,
        share_y=False,
    )


def _line(label: str, points: list[tuple[int, Any]]) -> Line:
    """Means with two standard deviations either way, as the paper's figure has them."""
    x, draws = zip(*points, strict=True)
    means = [float(values.mean()) for values in draws]
    reach = [2 * float(values.std(ddof=1)) for values in draws]
    low = tuple(mean - r for mean, r in zip(means, reach, strict=True))
    high = tuple(mean + r for mean, r in zip(means, reach, strict=True))
    return Line(label, tuple(map(float, x)), tuple(means), low, high)


def _printed(
    published: Published | None, study: LearningCurves, setting: Setting, task: Task
) -> tuple[float, float] | None:
    """The range of the paper's axis, where one of its cells is a point of this panel."""
    for each in published.ranges if published and setting.name == BASE else ():
        names = set(each.expanded)
        if each.config == study.name and any(cell.id in names and cell.task == task.name for cell in study.cells):
            return float(each.low), float(each.high)
    return None


def _notes(results: CurveResults) -> list[str]:
    study = results.experiment
    notes = []
    for setting in study.settings:
        facts, lexing = results.facts[setting.name], setting.documents.lexing
        label = f"{setting.name}: " if len(study.settings) > 1 else ""
        unit = "the inverse mean of k(x, x)" if setting.scale == "mean-self-product" else "1"
        smoothing = f"Dirichlet({setting.smoothing:g})" if setting.smoothing else "none (maximum likelihood)"
        notes.append(
            f"{label}{facts['documents']:,} documents, {facts['vocabulary']:,} words; digits: {lexing.digits}; "
            f"stoplist: {lexing.stoplist}; smoothing: {smoothing}; C = {setting.C:g} in units of {unit}."
        )
    notes.append(
        f"Each size: {study.replicates} stratified draws, tested on all other documents of the task; a score is the "
        "mean over the draws, its interval Student's over the draws. Draws share the collection: the interval and "
        "Wilcoxon's test (paired by draw) speak of this collection only."
    )
    if ORACLE in study.selections:
        notes.append(
            f"{ORACLE}: the one parameter of each kernel and task whose test error, averaged over the sizes, is "
            "lowest, as the paper chose; it has seen the test documents and is optimistic. A kernel without a free "
            "parameter has nothing to choose."
        )
    if INNER in study.selections:
        notes.append(
            f"{INNER}: for each draw the parameter with the lowest error in {study.inner_folds}-fold cross-validation "
            "on its training documents; among equals the middle one of the grid."
        )
    grids = [curve for curve in study.curves if len(curve.grid) > 1]
    for curve in grids:
        values = ", ".join(" ".join(map(str, kernel.given.values())) for kernel in curve.grid)
        notes.append(f"Grid of {curve.name}: {values}.")
    notes.append(
        "Heat kernels are used without their factor (4πt)^(-n/2), which overflows for n in the ten thousands: a "
        "constant factor of a kernel is the same as a factor of C."
    )
    return notes
