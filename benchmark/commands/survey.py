"""Survey pages over several runs: comparison of methods, and ablation of the steps of the geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.analysis.charts.chart import ChartPanel, Line
from benchmark.analysis.comparisons import main_metric as tested_metric
from benchmark.analysis.formatting.labels import component_label, points_label
from benchmark.analysis.summary import summary_table
from benchmark.commands.recommend import comparison_sentences, recommendations
from benchmark.config.model import Experiment
from benchmark.evaluation.metrics import more_is_better, unit_of
from benchmark.evaluation.sampling_model import sampling_of
from benchmark.experiment.run_folder import read_manifest
from benchmark.report.drawing import render
from benchmark.report.drawing.curves import curve_chart
from benchmark.report.drawing.dots import rank_chart
from benchmark.report.drawing.trade_off import trade_off_chart
from benchmark.report.files import missing_figures_message
from benchmark.report.grids import main_metric_of_summary
from benchmark.report.page import render_markdown
from benchmark.report.surveys import (
    SURVEY_DIFFERENCE_COLUMNS,
    SURVEY_SCORE_COLUMNS,
    Survey,
    SurveyProblem,
    gain_grid,
    problem_grid,
    ranking_grid,
)
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import ConfigError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmark.analysis.summary import CellInfo
    from benchmark.config.model import Experiment, MethodSpec
    from benchmark.evaluation.mean_ranks import MeanRanks
    from benchmark.experiment.run import RunResult
    from benchmark.report.grids import TextTable

#: Pages, and patterns of their configurations.
SURVEY_PAGES = {"methods": ("all-methods-*.yaml", "learning-*.yaml"), "ablation": ("geometry-*.yaml",)}
#: Methods for comparison: the usual first choice, and the papers' best kernel.
BASELINE_METHOD, PAPER_METHOD = "tfidf-linear-svm", "ngd"


def survey_configurations(page: str, folder: Path) -> list[Path]:
    """Return the configurations of a page, found by their names.

    Raises
    ------
    ConfigError
        If there is no such page, or the folder has no such configuration.
    """
    if page not in SURVEY_PAGES:
        raise ConfigError(unknown_name("page", page, list(SURVEY_PAGES)))
    paths = [path for pattern in SURVEY_PAGES[page] for path in sorted(folder.glob(pattern))]
    if not paths:
        raise ConfigError(f"{folder}: has no configuration {' or '.join(SURVEY_PAGES[page])}; pass configuration files")
    return paths


def write_survey(done: Sequence[RunResult], page: str, path: Path) -> str:
    """Write a page with its pictures, and return a line that describes them.

    Raises
    ------
    ConfigError
        If a run isn't a table or curve of methods without grid search, or the runs have no method in common.
    """
    survey = build_survey(done)
    ranking = survey_mean_ranks(survey)
    pictures = {"seconds": trade_off_chart(survey, (BASELINE_METHOD, PAPER_METHOD)), "ranks": rank_chart(ranking)}
    pictures |= {"learning": curve_chart(chart)} if (chart := survey.chart()) else {}
    images = {name: f"img/{path.stem}-{name}.svg" for name in pictures}
    text = render_markdown(
        page,
        survey=survey,
        ranking=ranking,
        ranks=ranking_grid(survey, ranking),
        tables=[problem_grid(survey, problem, BASELINE_METHOD) for problem in survey.problems],
        advice=list(recommendations(survey, ranking)),
        steps=lambda pairs: _steps(survey, {(a, b): words for a, b, words in pairs}),
        comparisons=comparison_sentences(survey),
        runs=[each.summary.name for each in done],
        images=images,
        machines=list(dict.fromkeys(_machine(each) for each in done)),
    )
    used = {name: spec for name, spec in pictures.items() if images[name] in text}
    drawn = render.render_pictures(used)
    for name, files in drawn.items():
        write_atomically(path.parent / images[name], files["svg"])
    write_atomically(path, text.encode())
    line = f"{path}: {len(survey.methods)} methods on {len(survey.problems)} problem{'s' * (len(survey.problems) > 1)}"
    missing = [name for name in used if name not in drawn]
    return f"{line}; {missing_figures_message(missing)}" if missing else line


def build_survey(done: Sequence[RunResult]) -> Survey:
    """Return the scores and comparisons of several runs; methods of the same name are one method.

    Raises
    ------
    ConfigError
        If a run isn't a table or curve of methods without grid search.
    """
    problems, scores, gaps, panels = (
        list[SurveyProblem](),
        list[list[Any]](),
        list[list[Any]](),
        dict[ChartPanel, str](),
    )
    methods: dict[str, str] = {}
    corpora: dict[str, str] = {}
    summed: set[str] = set()
    bars = ""
    check_comparable([each.results.experiment for each in done])
    for each in done:
        (variant,) = each.results.experiment.variants.values()
        collection = variant.collection
        for entry in variant.entries:
            methods.setdefault(entry.label, _words(entry.candidates[0]))
            summed |= {entry.label} if _sums_words(entry.candidates[0]) else set()
        curves = _curves(each)
        alike = [other.summary.name for other in done if _curves(other) == curves]
        for task in variant.tasks:
            task_title = task.title if len(variant.tasks) > 1 else ""
            name = " ".join(filter(None, (_short(each.summary.name, alike), task_title)))
            title = ": ".join(filter(None, (each.summary.title, task_title)))
            problem = SurveyProblem(name, title, main_metric_of_summary(each.summary), collection.multilabel)
            corpora[name] = collection.corpus
            cells = [cell for cell in each.summary.cells if cell.task == task.name]
            rows = list(_score_rows(each, problem, cells))
            scores += rows
            if curves:
                panels[ChartPanel(name, _lines(rows))] = problem.metric
                bars = sampling_of(variant.protocol.tags, each.results.experiment.seed).bars
            else:
                problems.append(problem)
                gaps += _gap_rows(each, problem, cells)
    return Survey(
        tuple(problems),
        methods,
        frozenset(summed),
        summary_table(SURVEY_SCORE_COLUMNS, scores),
        summary_table(SURVEY_DIFFERENCE_COLUMNS, gaps),
        panels,
        bars,
        corpora,
    )


def survey_mean_ranks(survey: Survey) -> MeanRanks:
    """Return the mean ranks of the methods that have a score on every problem; ConfigError if there is none."""
    if survey.table(survey.whole()).empty:
        raise ConfigError("a survey needs tables of methods, and at least one method that all tables have")
    return survey.ranks(survey.whole())


def _steps(survey: Survey, known: dict[tuple[str, str], str]) -> TextTable:
    """Return the table of the steps that the runs compare; ConfigError if there is none."""
    compared = set(zip(survey.gaps["a"], survey.gaps["b"], strict=True))
    if not compared & set(known):
        steps = ", ".join(f"[{a}, {b}]" for a, b in known)
        raise ConfigError(f"no run compares a step of this page ({steps})")
    return gain_grid(survey, {pair: words for pair, words in known.items() if pair in compared})


def check_comparable(experiments: Sequence[Experiment]) -> None:
    """Check before the runs that the experiments are tables or curves of methods without grid search.

    Raises
    ------
    ConfigError
        If one isn't, or its main metric isn't a share where more is better.
    """
    for experiment in experiments:
        if len(experiment.variants) > 1 or any(cell.choice for cell in experiment.cells):
            raise ConfigError(f"{experiment.name}: a survey needs experiments without variants and without `choose`")
        if any(cell.terms is not None or cell.of_class for cell in experiment.cells):
            raise ConfigError(f"{experiment.name}: a survey can't have curves over terms, or scores of single classes")
        metric = tested_metric(experiment)
        if unit_of(metric, experiment.quantities) != "percent" or not more_is_better(metric, experiment.scorers):
            problem = f"a survey ranks by a share where more is better, not by {metric}; put one first in `metrics`"
            raise ConfigError(f"{experiment.name}: {problem}")


def _curves(done: RunResult) -> bool:
    """Return whether a run has learning curves."""
    return any(cell.size is not None for cell in done.summary.cells)


def _score_rows(done: RunResult, problem: SurveyProblem, cells: Sequence[CellInfo]) -> Iterator[list[Any]]:
    """Yield the rows of `SURVEY_SCORE_COLUMNS` for the cells of a problem."""
    scores = done.summary.headlines
    costs = {row["cell"]: row for row in done.summary.costs.to_dict("records")}
    for cell in cells:
        row, cost = scores.get((cell.id, problem.metric)), costs.get(cell.id, {})
        if row is None:
            continue
        seconds = cost.get("training_seconds"), 1000 * cost.get("testing_seconds", float("nan")) / row["n"]
        place = problem.name, cell.method, float("nan") if cell.size is None else cell.size
        yield [*place, row["value"], row["low"], row["high"], row["n"], *seconds, cost.get("peak_bytes")]


def _gap_rows(done: RunResult, problem: SurveyProblem, cells: Sequence[CellInfo]) -> Iterator[list[Any]]:
    """Yield the rows of `SURVEY_DIFFERENCE_COLUMNS` for the comparisons of a problem."""
    method = {cell.id: cell.method for cell in cells}
    signs = [row for row in done.summary.significance.to_dict("records") if row["test"] == "sign"]
    tests = {(row["a"], row["b"]): row for row in signs}
    for row in done.summary.differences.to_dict("records"):
        if row["a"] in method and row["b"] in method:
            test = tests.get((row["a"], row["b"]), {})
            pair = method[row["a"]], method[row["b"]]
            yield [problem.name, *pair, row["value"], row["low"], row["high"], test.get("p_holm"), test.get("family")]


def _lines(rows: Sequence[list[Any]]) -> tuple[Line, ...]:
    """Return a line for each method, from rows with the columns `SURVEY_SCORE_COLUMNS`."""
    by_method: dict[str, list[tuple[float, ...]]] = {}
    for _, method, size, value, low, high, *_ in rows:
        by_method.setdefault(method, []).append((size, value, low, high))
    return tuple(Line(method, *map(tuple, zip(*sorted(points), strict=True))) for method, points in by_method.items())


def _words(spec: MethodSpec) -> str:
    """Return a description of a method."""
    return f"{points_label(spec)}; {component_label(spec.classifier)}"


def _sums_words(spec: MethodSpec) -> bool:
    """Return whether a method's decision value is a sum over the terms of a document."""
    parts = (spec.kernel or spec.classifier, spec.representation.features)
    return all(part.tags.sums_words for part in parts if part is not None)


def _short(name: str, others: Sequence[str]) -> str:
    """Return a run's name without the words that all names begin with."""
    words = [other.split("-") for other in others]
    n = 0
    while len(set(others)) > 1 and len({tuple(each[: n + 1]) for each in words}) == 1:
        n += 1
    return "-".join(name.split("-")[n:]) or name


def _machine(done: RunResult) -> str:
    """Return the threads and processors of a run as text."""
    machine = read_manifest(done.folder)["machine"]
    return f"{machine['threads']} of {machine['processors']} processors"
