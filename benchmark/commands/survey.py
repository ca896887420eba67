"""Survey pages over several runs: comparison of methods, and ablation of the steps of the geometry."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from benchmark.analysis.charts.chart import ChartPanel, Line
from benchmark.analysis.comparisons import best_cells
from benchmark.analysis.comparisons import main_metric as tested_metric
from benchmark.analysis.formatting.labels import component_label, grid_label, points_label
from benchmark.analysis.summary import summary_table
from benchmark.commands.recommend import comparison_sentences, recommendations, start_sentence, tests_sentence
from benchmark.config.model import CHOOSE_ORACLE
from benchmark.evaluation.metrics import more_is_better, unit_of
from benchmark.evaluation.sampling_model import sampling_of
from benchmark.experiment.run_folder import read_manifest
from benchmark.report.drawing import render
from benchmark.report.drawing.curves import curve_chart
from benchmark.report.drawing.dots import rank_chart
from benchmark.report.drawing.trade_off import trade_off_chart
from benchmark.report.files import missing_figures_message
from benchmark.report.page import render_markdown
from benchmark.report.surveys import (
    SURVEY_DIFFERENCE_COLUMNS,
    SURVEY_SCORE_COLUMNS,
    BestMethods,
    Survey,
    SurveyProblem,
    gain_grid,
    problem_grid,
    ranking_grid,
)
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.shipped_files import shipped_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmark.analysis.summary import CellInfo
    from benchmark.config.model import Experiment, MethodSpec
    from benchmark.evaluation.mean_ranks import MeanRanks
    from benchmark.experiment.run import RunResult
    from benchmark.report.grids import TextTable

#: Pages, and patterns of their configurations.
SURVEY_PAGES = {"methods": ("all-methods-*.yaml", "tuned-*.yaml", "learning-*.yaml"), "ablation": ("geometry-*.yaml",)}
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
    paths = [path for pattern in SURVEY_PAGES[page] for path in shipped_files(folder, pattern)]
    if not paths:
        raise ConfigError(f"{folder}: has no configuration {' or '.join(SURVEY_PAGES[page])}; pass configuration files")
    return paths


def write_survey(done: Sequence[RunResult], page: str, path: Path) -> str:
    """Write a page with its pictures, and return a line that describes them.

    Raises
    ------
    ConfigError
        If a run isn't a table or curve of methods, each at most once, or the runs have no method in common.
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
        start=start_sentence(survey),
        steps=lambda pairs: _steps(survey, {(a, b): words for a, b, words in pairs}),
        comparisons=comparison_sentences(survey),
        tests=tests_sentence(survey),
        runs=[each.summary.name for each in done],
        choices=[f"{', '.join(names)}: {words}" for words, names in _choices(done).items()],
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

    Runs that choose parameters have the tuned scores of the same problems as runs with default parameters: tasks are
    the same problem if they have the same test documents and classes.

    Raises
    ------
    ConfigError
        If a run isn't a table or curve of methods, each at most once.
    """
    check_comparable([each.results.experiment for each in done])
    found = _Found()
    for each in sorted(done, key=_is_tuned):
        alike = [other.summary.name for other in done if _kind(other) == _kind(each)]
        found.add(each, _short(each.summary.name, alike))
    return Survey(
        tuple(found.problems.values()),
        found.methods,
        frozenset(found.summed),
        summary_table(SURVEY_SCORE_COLUMNS, found.scores),
        summary_table(SURVEY_DIFFERENCE_COLUMNS, found.gaps),
        found.panels,
        found.bars,
        found.corpora,
        found.grids,
        tuple(found.best.values()),
    )


@dataclass(eq=False)
class _Found:
    """What the runs that were read so far add to a survey; see `Survey`."""

    problems: dict[bytes, SurveyProblem] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)
    summed: set[str] = field(default_factory=set)
    scores: list[list[Any]] = field(default_factory=list)
    gaps: list[list[Any]] = field(default_factory=list)
    panels: dict[ChartPanel, str] = field(default_factory=dict)
    bars: str = ""
    corpora: dict[str, str] = field(default_factory=dict)
    grids: dict[str, str] = field(default_factory=dict)
    best: dict[str, BestMethods] = field(default_factory=dict)

    def add(self, done: RunResult, name: str) -> None:
        """Add a run, of which `name` is the short name."""
        (variant,) = done.results.experiment.variants.values()
        curves, tuned = _curves(done), _is_tuned(done)
        for entry in variant.entries:
            self.methods.setdefault(entry.label, _words(entry.candidates[0]))
            self.summed |= {entry.label} if _sums_words(entry.candidates[0]) else set()
            self.grids |= {entry.label: grid_label(entry)} if tuned else {}
        for task in variant.tasks:
            words = task.title if len(variant.tasks) > 1 else ""
            cells = [cell for cell in done.summary.cells if cell.task == task.name]
            title = ": ".join(filter(None, (done.summary.title, words)))
            metric = done.summary.main_metric
            problem = SurveyProblem(" ".join(filter(None, (name, words))), title, metric, variant.collection.multilabel)
            if not curves:
                problem = self.problems.setdefault(_tested_documents(done, cells), problem)
                if problem.metric != metric:
                    raise ConfigError(
                        f"{done.summary.name}: the same documents have the metric {problem.metric} elsewhere"
                    )
                self.gaps += _gap_rows(done, problem, cells)
            self.corpora[problem.name] = variant.collection.corpus
            rows = list(_score_rows(done, problem, cells))
            self.scores += rows
            if curves:
                self.panels[ChartPanel(problem.name, _lines(rows))] = metric
                self.bars = sampling_of(variant.protocol.tags, done.results.experiment.seed).bars
            best = _best_methods(done, problem, cells)
            self.best |= {f"{problem.name} {best.size}": best} if best else {}


def _best_methods(done: RunResult, problem: SurveyProblem, cells: Sequence[CellInfo]) -> BestMethods | None:
    """Return the best methods of a problem, of a learning curve at its smallest size; None if all failed."""
    sizes = [cell.size for cell in cells if cell.size is not None]
    size, scored = min(sizes, default=None), done.results.scored
    methods = {cell.id: cell.method for cell in cells if cell.size == size and scored.has(problem.metric, cell.id)}
    if not methods:
        return None
    best, test = best_cells(scored, list(methods), problem.metric)
    return BestMethods(problem.name, size, tuple(methods[cell] for cell in best), test, math.comb(len(methods), 2))


def _tested_documents(done: RunResult, cells: Sequence[CellInfo]) -> bytes:
    """Return a digest of the documents that a task tests, in order, and of its classes."""
    predictions, ids = done.results.predictions, {cell.id for cell in cells}
    cell = next(cell for cell in done.results.experiment.cells if cell.id in ids)
    documents = predictions.tasks[cell.setting(0, cell.size).of_task]
    tested = [[documents.ids[i] for i in split.test] for split in predictions.splits[cell.of_splits]]
    return sha256(repr((tested, documents.classes)).encode()).digest()


def _choices(done: Sequence[RunResult]) -> dict[str, list[str]]:
    """Return how the tuned runs choose parameters, and which of them do so."""
    found: dict[str, list[str]] = {}
    for each in done:
        inner = each.results.experiment.inner
        if inner is not None and _is_tuned(each):
            given = inner.given
            words = f"{given['k']}-fold cross-validation" if "k" in given else f"the newest {given['test_share']:.0%}"
            found.setdefault(words, []).append(each.summary.name)
    return found


def _is_tuned(done: RunResult) -> bool:
    """Return whether a run chooses parameters."""
    return any(cell.choice for cell in done.results.experiment.cells)


def _kind(done: RunResult) -> tuple[bool, bool]:
    return _curves(done), _is_tuned(done)


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
    """Check before the runs that the experiments are tables or curves of methods, each at most once.

    Raises
    ------
    ConfigError
        If one isn't, or its main metric isn't a share where more is better.
    """
    for experiment in experiments:
        choices = {cell.choice for cell in experiment.cells} - {""}
        if len(experiment.variants) > 1 or len(choices) > 1 or CHOOSE_ORACLE in choices:
            problem = "a survey needs experiments without variants, and at most one choice, on training documents"
            raise ConfigError(f"{experiment.name}: {problem}")
        if choices and any(cell.size is not None for cell in experiment.cells):
            raise ConfigError(f"{experiment.name}: the learning curves of a survey can't have `choose`")
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
        place = problem.name, _is_tuned(done), cell.method, float("nan") if cell.size is None else cell.size
        score = row["value"], row["low"], row["high"], row["n"]
        yield [*place, *score, *seconds, cost.get("peak_bytes"), cell.columns.get("parameter", "")]


def _gap_rows(done: RunResult, problem: SurveyProblem, cells: Sequence[CellInfo]) -> Iterator[list[Any]]:
    """Yield the rows of `SURVEY_DIFFERENCE_COLUMNS` for the comparisons of a problem."""
    method = {cell.id: cell.method for cell in cells}
    signs = [row for row in done.summary.significance.to_dict("records") if row["test"] == "sign"]
    tests = {(row["a"], row["b"]): row for row in signs}
    for row in done.summary.differences.to_dict("records"):
        if row["a"] in method and row["b"] in method:
            test = tests.get((row["a"], row["b"]), {})
            pair = method[row["a"]], method[row["b"]]
            yield [
                problem.name,
                _is_tuned(done),
                *pair,
                row["value"],
                row["low"],
                row["high"],
                test.get("p_holm"),
                test.get("family"),
            ]


def _lines(rows: Sequence[list[Any]]) -> tuple[Line, ...]:
    """Return a line for each method, from rows with the columns `SURVEY_SCORE_COLUMNS`."""
    by_method: dict[str, list[tuple[float, ...]]] = {}
    for _, _, method, size, value, low, high, *_ in rows:
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
