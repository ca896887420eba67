"""Survey pages over several runs: comparison of methods, and ablation of the steps of the geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.config.model import Experiment
from benchmark.environment import write_whole
from benchmark.errors import ConfigError, unknown
from benchmark.evaluation.metrics import more_is_better, unit_of
from benchmark.evaluation.ranks import ranked
from benchmark.evaluation.sample import sample_of
from benchmark.experiment.folder import read_manifest
from benchmark.findings.in_words import described, points_of
from benchmark.findings.pairs import main_metric as tested_metric
from benchmark.library.advice import advice, steps_told
from benchmark.report.charts import Line, Panel
from benchmark.report.contents import frame
from benchmark.report.drawing import render
from benchmark.report.drawing.curves import curve_chart
from benchmark.report.drawing.dots import rank_chart
from benchmark.report.drawing.trade_off import trade_off_chart
from benchmark.report.files import missing_line
from benchmark.report.grids import main_metric
from benchmark.report.page import rendered
from benchmark.report.surveys import GAPS, SCORED, Problem, Survey, problem_grid, ranking_grid, step_grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmark.config.model import Experiment, MethodSpec
    from benchmark.evaluation.ranks import Ranking
    from benchmark.experiment.session import Finished
    from benchmark.report.contents import CellInfo
    from benchmark.report.grids import Grid

#: Pages, and patterns of their configurations.
PAGES = {"choosing": ("all-methods-*.yaml", "learning-*.yaml"), "geometry": ("geometry-*.yaml",)}
#: Methods for comparison: the usual first choice, and the papers' best kernel.
BASELINE, PAPERS = "tfidf-linear-svm", "ngd"


def configurations(page: str, folder: Path) -> list[Path]:
    """Return the configurations of a page, found by their names.

    Raises
    ------
    ConfigError
        If there is no such page, or the folder has no such configuration.
    """
    if page not in PAGES:
        raise ConfigError(unknown("page", page, list(PAGES)))
    paths = [path for pattern in PAGES[page] for path in sorted(folder.glob(pattern))]
    if not paths:
        raise ConfigError(f"{folder}: has no configuration {' or '.join(PAGES[page])}; pass configuration files")
    return paths


def write_survey(done: Sequence[Finished], page: str, path: Path) -> str:
    """Write a page with its pictures, and return a line that describes them.

    Raises
    ------
    ConfigError
        If a run isn't a table or curve of methods without grid search, or the runs have no method in common.
    """
    survey = surveyed(done)
    ranking = ranking_of(survey)
    pictures = {"seconds": trade_off_chart(survey, (BASELINE, PAPERS)), "ranks": rank_chart(ranking)}
    pictures |= {"learning": curve_chart(chart)} if (chart := survey.chart()) else {}
    images = {name: f"img/{path.stem}-{name}.svg" for name in pictures}
    text = rendered(
        page,
        survey=survey,
        ranking=ranking,
        ranks=ranking_grid(survey, ranking),
        tables=[problem_grid(survey, problem, BASELINE) for problem in survey.problems],
        advice=list(advice(survey, ranking)),
        steps=lambda pairs: _steps(survey, {(a, b): words for a, b, words in pairs}),
        told=steps_told(survey),
        runs=[each.summary.name for each in done],
        images=images,
        machines=list(dict.fromkeys(_machine(each) for each in done)),
    )
    used = {name: spec for name, spec in pictures.items() if images[name] in text}
    drawn = render.rendered(used)
    for name, files in drawn.items():
        write_whole(path.parent / images[name], files["svg"])
    write_whole(path, text.encode())
    line = f"{path}: {len(survey.methods)} methods on {len(survey.problems)} problem{'s' * (len(survey.problems) > 1)}"
    missing = [name for name in used if name not in drawn]
    return f"{line}; {missing_line(missing)}" if missing else line


def surveyed(done: Sequence[Finished]) -> Survey:
    """Return the scores and comparisons of several runs; methods of the same name are one method.

    Raises
    ------
    ConfigError
        If a run isn't a table or curve of methods without grid search.
    """
    problems, scores, gaps, panels = list[Problem](), list[list[Any]](), list[list[Any]](), dict[Panel, str]()
    methods: dict[str, str] = {}
    summed: set[str] = set()
    bars = ""
    ensure_comparable([each.results.study for each in done])
    for each in done:
        (variant,) = each.results.study.variants.values()
        for entry in variant.entries:
            methods.setdefault(entry.label, _words(entry.candidates[0]))
            summed |= {entry.label} if _sums_words(entry.candidates[0]) else set()
        curves = _curves(each)
        alike = [other.summary.name for other in done if _curves(other) == curves]
        for task in variant.tasks:
            task_title = task.title if len(variant.tasks) > 1 else ""
            name = " ".join(filter(None, (_short(each.summary.name, alike), task_title)))
            title = ": ".join(filter(None, (each.summary.title, task_title)))
            problem = Problem(name, title, main_metric(each.summary), variant.collection.several)
            cells = [cell for cell in each.summary.cells if cell.task == task.name]
            rows = list(_score_rows(each, problem, cells))
            scores += rows
            if curves:
                panels[Panel(name, _lines(rows))] = problem.metric
                bars = sample_of(variant.protocol.tags, each.results.study.seed).bars
            else:
                problems.append(problem)
                gaps += _gap_rows(each, problem, cells)
    return Survey(tuple(problems), methods, frozenset(summed), frame(SCORED, scores), frame(GAPS, gaps), panels, bars)


def ranking_of(survey: Survey) -> Ranking:
    """Return the mean ranks of the methods that have a score on every problem; ConfigError if there is none."""
    table = survey.table(survey.whole())
    if table.empty:
        raise ConfigError("a survey needs tables of methods, and at least one method that all tables have")
    return ranked(list(table.columns), table.to_numpy())


def _steps(survey: Survey, known: dict[tuple[str, str], str]) -> Grid:
    """Return the table of the steps that the runs compare; ConfigError if there is none."""
    compared = set(zip(survey.gaps["a"], survey.gaps["b"], strict=True))
    if not compared & set(known):
        steps = ", ".join(f"[{a}, {b}]" for a, b in known)
        raise ConfigError(f"no run compares a step of this page ({steps})")
    return step_grid(survey, {pair: words for pair, words in known.items() if pair in compared})


def ensure_comparable(studies: Sequence[Experiment]) -> None:
    """Check before the runs that the experiments are tables or curves of methods without grid search.

    Raises
    ------
    ConfigError
        If one isn't, or its main metric isn't a share where more is better.
    """
    for study in studies:
        if len(study.variants) > 1 or any(cell.choice for cell in study.cells):
            raise ConfigError(f"{study.name}: a survey needs experiments without variants and without `choose`")
        if any(cell.terms is not None or cell.of_class for cell in study.cells):
            raise ConfigError(f"{study.name}: a survey can't have curves over terms, or scores of single classes")
        metric = tested_metric(study)
        if unit_of(metric, study.quantities) != "percent" or not more_is_better(metric, study.scorers):
            problem = f"a survey ranks by a share where more is better, not by {metric}; put one first in `metrics`"
            raise ConfigError(f"{study.name}: {problem}")


def _curves(done: Finished) -> bool:
    """Return whether a run has learning curves."""
    return any(cell.size is not None for cell in done.summary.cells)


def _score_rows(done: Finished, problem: Problem, cells: Sequence[CellInfo]) -> Iterator[list[Any]]:
    """Yield the rows of `SCORED` for the cells of a problem."""
    scores = done.summary.headlines
    costs = {row["cell"]: row for row in done.summary.costs.to_dict("records")}
    for cell in cells:
        row, cost = scores.get((cell.id, problem.metric)), costs.get(cell.id, {})
        if row is None:
            continue
        seconds = cost.get("training_seconds"), 1000 * cost.get("testing_seconds", float("nan")) / row["n"]
        place = problem.name, cell.method, float("nan") if cell.size is None else cell.size
        yield [*place, row["value"], row["low"], row["high"], row["n"], *seconds, cost.get("peak_bytes")]


def _gap_rows(done: Finished, problem: Problem, cells: Sequence[CellInfo]) -> Iterator[list[Any]]:
    """Yield the rows of `GAPS` for the comparisons of a problem."""
    method = {cell.id: cell.method for cell in cells}
    signs = [row for row in done.summary.significance.to_dict("records") if row["test"] == "sign"]
    tests = {(row["a"], row["b"]): row for row in signs}
    for row in done.summary.differences.to_dict("records"):
        if row["a"] in method and row["b"] in method:
            test = tests.get((row["a"], row["b"]), {})
            pair = method[row["a"]], method[row["b"]]
            yield [problem.name, *pair, row["value"], row["low"], row["high"], test.get("p_holm"), test.get("family")]


def _lines(rows: Sequence[list[Any]]) -> tuple[Line, ...]:
    """Return a line for each method, from rows with the columns `SCORED`."""
    by_method: dict[str, list[tuple[float, ...]]] = {}
    for _, method, size, value, low, high, *_ in rows:
        by_method.setdefault(method, []).append((size, value, low, high))
    return tuple(Line(method, *map(tuple, zip(*sorted(points), strict=True))) for method, points in by_method.items())


def _words(spec: MethodSpec) -> str:
    """Return a description of a method."""
    return f"{points_of(spec)}; {described(spec.classifier)}"


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


def _machine(done: Finished) -> str:
    """Return the threads and processors of a run as text."""
    machine = read_manifest(done.folder)["machine"]
    return f"{machine['threads']} of {machine['processors']} processors"
