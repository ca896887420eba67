"""Feature curves to their summary: one row a point, one panel a data set."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from benchmark.config.feature_curves import CLASS_SPECIFIC, COMPLEMENT, EEF, MNB, PPT, SVM
from benchmark.config.schema import BASE
from benchmark.errors import ConfigError
from benchmark.evaluation.intervals import difference, estimate
from benchmark.evaluation.significance import compare_all
from benchmark.experiment.feature_scores import outcomes_of, ties_of
from benchmark.report.parts import Part
from benchmark.experiment.published_values import claim_rows, published_for
from benchmark.experiment.summary import difference_row, evidence_for, significance_row
from benchmark.report import summary as layout
from benchmark.report.charts import Chart, Line, Panel
from benchmark.report.summary import CellInfo, Summary, frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.config.feature_curves import FeatureCurves, FeaturePoint, Setting
    from benchmark.evaluation.metrics import Outcome
    from benchmark.evaluation.published import Claim, Comparison, Evidence
    from benchmark.experiment.feature_curves import FeatureResults

METRIC = "accuracy"
LABELS = {MNB: "MNB", COMPLEMENT: "Complement NB", PPT: "PPT", EEF: "EEF", SVM: "SVM"}


def summarize_feature_curves(results: FeatureResults) -> Summary:
    """Compute everything a run shows from its predictions."""
    study, outcomes = results.experiment, outcomes_of(results)
    pairs = [(a, b) for a, b in study.compare if a in outcomes and b in outcomes]
    names = ["" if setting.name == BASE else setting.name for setting in study.settings]
    claims = claim_rows(published_for(study), study, names, lambda claim: evidence_for(claim, study, outcomes))
    return Summary(
        name=study.name,
        title=study.title,
        paper=study.paper,
        cells=tuple(CellInfo(cell.id, _columns(cell, study)) for cell in study.cells),
        scores=frame(layout.SCORES, _scores(results, outcomes)),
        significance=frame(layout.SIGNIFICANCE, _tests(pairs, study, outcomes)),
        differences=frame(layout.DIFFERENCES, [difference_row(outcomes[a], outcomes[b], study) for a, b in pairs]),
        claims=frame(layout.CLAIMS, claims),
        charts=tuple(
            _chart(study, setting, outcomes) for setting in study.settings if _drawn(study, setting, outcomes)
        ),
        failures=results.failures,
        notes=(*study.notes, *_notes(results), *(_sweep_notes(claims) if study.explains else ())),
    )


def feature_evidence(claim: Claim, results: FeatureResults) -> dict[Comparison, Evidence]:
    """What a run says of a claim's comparisons."""
    return evidence_for(claim, results.experiment, outcomes_of(results))


def compare_feature_cells(results: FeatureResults, a: str, b: str) -> list[Part]:
    """Two points of a run, tested against each other over the test documents they share."""
    panels = {cell.id: cell.panel for cell in results.experiment.cells}
    if panels[a] != panels[b]:
        raise ConfigError(f"{a} and {b} were tested on documents of different panels: there is nothing to pair")
    outcomes = outcomes_of(results)
    for name in (a, b):
        if name not in outcomes:
            raise ConfigError(f"the cell {name!r} failed: {results.failures.get(name, 'it has no predictions')}")
    gap, values = difference(outcomes[a], outcomes[b]), [estimate(outcomes[name]).value for name in (a, b)]
    ends = f"{100 * gap.low:+.2f} to {100 * gap.high:+.2f}"
    scores: list[tuple[Any, ...]] = [(METRIC, *(f"{100 * v:.2f}" for v in values), f"{100 * gap.value:+.2f}", ends)]
    tests: list[tuple[Any, ...]] = [
        (each.test, each.n, f"{each.statistic:.4f}", f"{each.p_value:.3g}", each.favours or "neither")
        for each in compare_all([(a, b)], outcomes)
        if each.p_value is not None
    ]
    return [
        Part("Scores, %", ("metric", a, b, "difference", "95% interval"), scores),
        Part("Tests", ("test", "n", "statistic", "p", "favours"), tests),
    ]


def compare_feature_runs(one: FeatureResults, two: FeatureResults, names: tuple[str, str]) -> Part:
    """The accuracies of the points that both runs have, and how many documents they predict otherwise."""
    mine, theirs = outcomes_of(one), outcomes_of(two)
    rows: list[tuple[Any, ...]] = []
    for cell, outcome in mine.items():
        if cell in theirs:
            own, other = (_by_document(results, cell, each[cell]) for results, each in ((one, mine), (two, theirs)))
            shared = own.keys() & other.keys()
            changed = sum(own[name] != other[name] for name in shared)
            values = [100 * estimate(each).value for each in (outcome, theirs[cell])]
            row = (*(f"{v:.2f}" for v in values), f"{values[1] - values[0]:+.2f}", len(shared), changed)
            rows.append((cell, *row))
    header = ("cell", f"{names[0]} %", f"{names[1]} %", "difference", "documents in both", "predicted otherwise")
    return Part("Accuracy", header, rows, "the runs have no cell in common")


def _by_document(results: FeatureResults, cell_id: str, outcome: Outcome) -> dict[str, str]:
    """The predicted class of each test document, both by name."""
    cell = next(cell for cell in results.experiment.cells if cell.id == cell_id)
    classes = next(panel.classes for panel in results.experiment.panels if panel.name == cell.panel)
    ids = results.panels[cell.setting, cell.panel].ids
    return {name: classes[code] for name, code in zip(ids, outcome.predicted, strict=True)}


def _columns(cell: FeaturePoint, study: FeatureCurves) -> dict[str, str]:
    columns = {"setting": cell.setting} if len(study.settings) > 1 else {}
    title = next(panel.title for panel in study.panels if panel.name == cell.panel)
    of = "each class" if cell.method in CLASS_SPECIFIC else "all classes"
    return columns | {"panel": title, "method": LABELS[cell.method], "terms": str(cell.size), "selected for": of}


def _scores(results: FeatureResults, outcomes: Mapping[str, Outcome]) -> list[list[Any]]:
    """The one test set stands for the cell."""
    rows: list[list[Any]] = []
    test, ties = "+".join(results.experiment.test_groups), ties_of(results)
    for cell, outcome in outcomes.items():
        found = estimate(outcome, METRIC)
        numbers = [METRIC, found.value, found.low, found.high, found.n, ties[cell]]
        rows += [[cell, test, *numbers], [cell, layout.HEADLINE, *numbers]]
    return rows


def _tests(pairs: list[tuple[str, str]], study: FeatureCurves, outcomes: Mapping[str, Outcome]) -> list[list[Any]]:
    """Holm's correction is over a setting's picture; the signed rank test needs several test sets and is left out."""
    families: dict[str, list[tuple[str, str]]] = defaultdict(list)
    settings = {cell.id: cell.setting for cell in study.cells}
    for pair in pairs:
        families[settings[pair[0]]].append(pair)
    results = [each for family in families.values() for each in compare_all(family, outcomes)]
    return [significance_row(each) for each in results if each.test != "wilcoxon"]


def _lines(study: FeatureCurves, setting: Setting, panel: str, outcomes: Mapping[str, Outcome]) -> tuple[Line, ...]:
    lines = []
    for method in study.methods:
        points = [
            (cell.size, estimate(outcomes[cell.id], METRIC))
            for cell in study.cells
            if (cell.setting, cell.panel, cell.method) == (setting.name, panel, method) and cell.id in outcomes
        ]
        if points:
            sizes, found = zip(*points, strict=True)
            ends = [tuple(getattr(each, end) for each in found) for end in ("value", "low", "high")]
            lines.append(Line(LABELS[method], tuple(map(float, sizes)), *ends))
    return tuple(lines)


def _drawn(study: FeatureCurves, setting: Setting, outcomes: Mapping[str, Outcome]) -> bool:
    return any(cell.setting == setting.name and cell.id in outcomes for cell in study.cells)


def _chart(study: FeatureCurves, setting: Setting, outcomes: Mapping[str, Outcome]) -> Chart:
    """The data sets side by side."""
    base = setting.name == BASE
    panels = tuple(Panel(panel.title, _lines(study, setting, panel.name, outcomes)) for panel in study.panels)
    return Chart(
        name="figure" if base else f"figure-{setting.name}",
        title=study.title if base else f"{study.title}: {setting.name}",
        x_label="Terms selected (PPT and EEF: for each class)",
        y_label="Accuracy (%)",
        panels=panels,
        columns=min(2, len(panels)),
        bars="95% interval (Wilson)",
        scale=100,
        log_x=True,
    )


def _notes(results: FeatureResults) -> list[str]:
    study, notes = results.experiment, []
    for setting in study.settings:
        facts, text = results.facts[setting.name], setting.documents
        label = f"{setting.name}: " if len(study.settings) > 1 else ""
        notes.append(
            f"{label}{facts['documents']:,} documents of {len(text.classes)} classes, {facts['vocabulary']:,} words; "
            f"digits: {text.lexing.digits}; stoplist: {text.lexing.stoplist}; a word counts "
            f"{'as often as it occurs' if setting.counts == 'counts' else 'once a document'}; smoothing: "
            f"{setting.smoothing:g}; class-independent selection: {setting.selection} of the classes' gains; SVM: "
            f"linear, C = {setting.C:g}, {setting.scheme}, {setting.weighting}, normalization {setting.normalization}."
        )
    for panel in study.panels:
        own = results.panels[study.settings[0].name, panel.name]
        notes.append(
            f"{panel.title}: {len(own.ids):,} test documents; classes, first in ties: {', '.join(panel.classes)}."
        )
    notes.append(
        "Terms are ranked by information gain over the training documents of the panel. PPT and EEF select so many "
        "for each class, and see all others as one more cell; the other methods select so many for all classes, and "
        "see no others."
    )
    notes.append(
        "One training and one test set: intervals are Wilson's, of the test documents; the sign test and McNemar's, "
        "exact and so equal in p, are over the test documents on which exactly one of two methods is right."
    )
    return notes


def _sweep_notes(claims: list[list[Any]]) -> list[str]:
    """For each claim the settings under which all of it holds, and where there are none, those that come nearest."""
    rows: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for name, _, holds, of, _ in claims:
        claim, _, setting = name.partition(layout.VARIANT_MARK)
        rows[claim].append((setting or BASE, holds, of))
    notes = []
    for claim, judged in rows.items():
        most = max(holds for _, holds, _ in judged)
        names = ", ".join(setting for setting, holds, _ in judged if holds == most)
        of = judged[0][2]
        where = f"under {names}" if most == of else f"nowhere; most, {most} of {of}, under {names}"
        notes.append(f"The claim {claim} holds {where if most else 'nowhere, not even in part'}.")
    return notes
