"""Survey pages over several runs of the same methods: all scores, mean ranks, and the steps of the geometry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmark.analysis.comparisons import main_metric
from benchmark.analysis.formatting.labels import component_label, grid_label, points_label
from benchmark.analysis.formatting.table import PLAIN, Column, Table
from benchmark.analysis.formatting.units import (
    DISPLAY_UNITS,
    MISSING_TEXT,
    is_missing,
    metric_name,
    p_text,
    two_digits_text,
)
from benchmark.analysis.summary import HEADLINE_FOLD
from benchmark.config.model import CHOOSE_ORACLE
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.evaluation.metrics import more_is_better, unit_of
from benchmark.evaluation.significance import rank_methods
from benchmark.experiment.run_folder import read_manifest
from benchmark.report.page import render_markdown
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.shipped_files import shipped_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmark.config.model import Experiment
    from benchmark.evaluation.significance import MeanRanks
    from benchmark.experiment.run import RunResult

#: Pages, and patterns of their configurations.
SURVEY_PAGES = {"methods": ("all-methods-*.yaml", "tuned-*.yaml", "learning-*.yaml"), "ablation": ("geometry-*.yaml",)}
#: Method that the others are compared with: the usual first choice.
BASELINE_METHOD = "tfidf-linear-svm"
#: Difference to the best score, as a share, up to which a method is near it.
NEAR_BEST = 0.01
_PERCENT = DISPLAY_UNITS["percent"]


@dataclass(frozen=True)
class SurveyProblem:
    """One set of tested documents and classes; `key` is a digest of it, or the name of a learning curve."""

    key: Any
    name: str
    title: str
    metric: str
    corpus: str
    multilabel: bool
    curve: bool

    @property
    def heading(self) -> str:
        """The metric as the head of a column."""
        return f"{metric_name(self.metric, DIAGNOSTIC_METRICS)} %"


@dataclass(frozen=True, eq=False)
class Survey:
    """Scores, costs and paired differences of several methods on several problems.

    Parameters
    ----------
    problems : tuple of SurveyProblem
    methods, grids : dict of str to str
        Description of each method, and the candidates of the tuned ones.
    scores : DataFrame
        A row for each problem, method and size, with the problem's metric, its 95% interval, and costs. `tuned` says
        whether the parameters were chosen on training documents, and `chosen` which.
    gaps : dict of (key, str, str) to dict
        Differences of the first method minus the second by the problem's key and both methods, with p of the sign test:
        of the tuned scores where both are tuned.
    """

    problems: tuple[SurveyProblem, ...]
    methods: dict[str, str]
    grids: dict[str, str]
    scores: pd.DataFrame
    gaps: dict[tuple[Any, str, str], dict[Any, Any]]

    def tables(self) -> list[SurveyProblem]:
        """Return the problems that are no learning curves."""
        return [problem for problem in self.problems if not problem.curve]

    def of(self, problem: SurveyProblem, *, default: bool = False) -> pd.DataFrame:
        """Return the rows of a problem by method: the tuned or the default ones, the others where there are none."""
        rows = self.scores[self.scores["problem"] == problem.key]
        wanted = rows[rows["tuned"] != default]
        by_method: pd.DataFrame = (wanted if len(wanted) else rows).set_index("method")
        return by_method


def survey_configurations(page: str, folder: Path) -> list[Path]:
    """Return the configurations of a page, found by their names; ConfigError if there is no page or none of them."""
    if page not in SURVEY_PAGES:
        raise ConfigError(unknown_name("page", page, list(SURVEY_PAGES)))
    paths = [path for pattern in SURVEY_PAGES[page] for path in shipped_files(folder, pattern)]
    if not paths:
        raise ConfigError(f"{folder}: has no configuration {' or '.join(SURVEY_PAGES[page])}; pass configuration files")
    return paths


def check_comparable(experiments: Sequence[Experiment]) -> None:
    """Raise ConfigError before the runs unless all are tables or curves of methods, each at most once."""
    for experiment in experiments:
        choices, metric = {cell.choice for cell in experiment.cells} - {""}, main_metric(experiment)
        several = len(experiment.variants) > 1 or len(choices) > 1 or CHOOSE_ORACLE in choices
        if several or any(cell.terms is not None or (choices and cell.size) for cell in experiment.cells):
            problem = "a survey needs a table or learning curves, without variants, and at most one choice, on training"
            raise ConfigError(f"{experiment.name}: {problem} documents")
        if unit_of(metric, experiment.quantities) != "percent" or not more_is_better(metric, experiment.scorers):
            problem = f"a survey ranks by a share where more is better, not by {metric}; put one first in `metrics`"
            raise ConfigError(f"{experiment.name}: {problem}")


def write_survey(done: Sequence[RunResult], page: str, path: Path) -> str:
    """Write a page, and return a line that describes it.

    Raises
    ------
    ConfigError
        If the runs have no method in common.
    """
    survey = build_survey(done)
    ranking, common = survey_mean_ranks(survey)
    machines = [read_manifest(each.folder)["machine"] for each in done]
    text = render_markdown(
        page,
        survey=survey,
        ranking=ranking,
        start=_start(survey, common),
        best={problem.key: survey.of(problem)["value"].idxmax() for problem in survey.tables()},
        ranks=ranking_table(survey, ranking),
        tables=[problem_table(survey, problem) for problem in survey.tables()],
        curves=[survey_curve(survey, problem) for problem in survey.problems if problem.curve],
        steps=lambda pairs: _steps(survey, pairs),
        runs=[each.summary.name for each in done],
        choices=[(each.summary.name, inner.given) for each in done if (inner := each.results.experiment.inner)],
        machines=list(dict.fromkeys((each["threads"], each["processors"]) for each in machines)),
    )
    write_atomically(path, text.encode())
    n = len(survey.tables())
    return f"{path}: {len(survey.methods)} methods on {n} problem{'s' * (n > 1)}"


def build_survey(done: Sequence[RunResult]) -> Survey:
    """Return the scores and comparisons of several runs; methods of the same name are one method.

    Runs that choose parameters have the tuned scores of the same problems as runs with default parameters: tasks are
    the same problem if they have the same test documents and classes.
    """
    problems, methods, grids = dict[Any, SurveyProblem](), dict[str, str](), dict[str, str]()
    scores, gaps = list[pd.DataFrame](), dict[tuple[Any, str, str], dict[Any, Any]]()
    for run in sorted(done, key=_is_tuned):
        (variant,) = run.results.experiment.variants.values()
        summary, tuned = run.summary, _is_tuned(run)
        for entry in variant.entries:
            spec = entry.candidates[0]
            methods.setdefault(entry.label, f"{points_label(spec)}; {component_label(spec.classifier)}")
            grids |= {entry.label: grid_label(entry)} if tuned else {}
        main = (summary.scores["metric"] == summary.main_metric) & (summary.scores["fold"] == HEADLINE_FOLD)
        whole = summary.scores[main].merge(summary.costs, "left", on="cell")
        signs = summary.significance[summary.significance["test"] == "sign"][["a", "b", "p_holm"]]
        pairs = summary.differences.merge(signs, "left", on=["a", "b"])
        for task in variant.tasks:
            cells = {cell.id: cell for cell in summary.cells if cell.task == task.name}
            named = _problem(run, task.title if len(variant.tasks) > 1 else "", list(cells))
            problem = problems.setdefault(named.key, named)
            rows = whole[whole["cell"].isin(cells)].assign(problem=problem.key, tuned=tuned)
            infos = [cells[cell] for cell in rows["cell"]]
            chosen = [info.columns.get("parameter", "") for info in infos]
            sizes: Any = [info.size for info in infos]
            scores.append(rows.assign(method=[info.method for info in infos], size=sizes, chosen=chosen))
            for gap in () if problem.curve else pairs.to_dict("records"):
                if gap["a"] in cells and gap["b"] in cells:
                    gaps[problem.key, cells[gap["a"]].method, cells[gap["b"]].method] = gap
    return Survey(tuple(problems.values()), methods, grids, pd.concat(scores), gaps)


def _problem(run: RunResult, words: str, cells: Sequence[str]) -> SurveyProblem:
    """Return the problem of a task of a run, with a name that leaves out the beginnings of a page's configurations."""
    summary, curve = run.summary, any(cell.size is not None for cell in run.summary.cells)
    name = summary.name
    for pattern in (pattern for patterns in SURVEY_PAGES.values() for pattern in patterns):
        name = name.removeprefix(pattern.removesuffix("*.yaml"))
    short, title = " ".join(filter(None, (name, words))), ": ".join(filter(None, (summary.title, words)))
    predictions, key = run.results.predictions, short
    if not curve:
        cell = next(cell for cell in run.results.experiment.cells if cell.id in cells)
        documents = predictions.tasks[cell.of_task]
        tested = [[documents.ids[i] for i in split.test] for split in predictions.splits[cell.of_splits]]
        key = sha256(repr((tested, documents.classes)).encode()).hexdigest()
    (variant,) = run.results.experiment.variants.values()
    facts = summary.main_metric, variant.collection.corpus, variant.collection.multilabel, curve
    return SurveyProblem(key, short, title, *facts)


def _is_tuned(run: RunResult) -> bool:
    """Return whether a run chooses parameters."""
    return any(cell.choice for cell in run.results.experiment.cells)


def survey_mean_ranks(survey: Survey) -> tuple[MeanRanks, pd.DataFrame]:
    """Return the mean ranks over corpora of the methods that every problem has, and their scores by problem."""
    scores = pd.DataFrame([survey.of(problem)["value"] for problem in survey.tables()]).dropna(axis="columns")
    if scores.empty:
        raise ConfigError("a survey needs tables of methods, and at least one method that all tables have")
    groups = [problem.corpus for problem in survey.tables()]
    return rank_methods(list(scores.columns), scores.to_numpy(), groups), scores


def _start(survey: Survey, scores: pd.DataFrame) -> tuple[str, int]:
    """Return the method within a point of the best score on the most problems, of several the fastest; and how many."""
    near = scores.ge(scores.max(axis="columns") - NEAR_BEST, axis="index").sum()
    costs = pd.concat([survey.of(problem, default=True) for problem in survey.tables()])
    seconds = costs.groupby(level="method")["training_seconds"].sum(min_count=1).fillna(math.inf)
    first = min(near.index, key=lambda name: (-near[name], seconds[name]))
    return first, int(near[first])


def ranking_table(survey: Survey, ranking: MeanRanks) -> Table:
    """Return a table of the score of each method on each problem, methods in the order of their mean ranks."""
    names = list(ranking.methods)
    columns: list[Any] = [("method", names), (Column("mean rank", PLAIN), [f"{rank:.1f}" for rank in ranking.ranks])]
    for problem in survey.tables():
        scores = survey.of(problem).reindex(names)["value"]
        columns.append((Column(f"{problem.name}, {problem.heading}", _PERCENT), scores))
    header, values = zip(*columns, strict=True)
    return Table.of("Methods by mean rank", header, zip(*values, strict=True))


def problem_table(survey: Survey, problem: SurveyProblem) -> Table:
    """Return a table of one problem: each method's score with its interval, gain over the baseline, and costs.

    Costs are for default parameters; their score is shown next to the tuned one.
    """
    plains = survey.of(problem, default=True).to_dict("index")
    records, above = list[dict[str, Any]](), f"above {BASELINE_METHOD}"
    for method, row in survey.of(problem).sort_values("value", ascending=False, kind="stable").iterrows():
        gap = survey.gaps.get((problem.key, str(method), BASELINE_METHOD), {})
        plain: dict[Any, Any] = plains.get(method, {})
        p_holm, peak = gap.get("p_holm", math.nan), plain.get("peak_bytes", math.nan)
        record = {"method": method, problem.heading: row["value"], "95% interval": (row["low"], row["high"])}
        record |= {above: gap.get("value"), "its interval": (gap.get("low"), gap.get("high"))}
        record |= {"p (Holm)": None if is_missing(p_holm) else p_text(p_holm)}
        record |= {"chosen": row["chosen"], "default": plain.get("value")} if row["tuned"] else {}
        record["training s"] = two_digits_text(plain.get("training_seconds"))
        record["s per thousand"] = two_digits_text(1000 * plain.get("testing_seconds", math.nan) / row["n"])
        records.append(record | {"peak MB": None if is_missing(peak) else f"{peak / 1e6:,.0f}"})
    scores = Column(problem.heading, _PERCENT, more_is_better=True), Column("95% interval", _PERCENT)
    gain = Column(above, _PERCENT, "+"), Column("its interval", _PERCENT, "+"), Column("p (Holm)", PLAIN)
    costs = (Column(name, PLAIN, measured=True) for name in ("training s", "s per thousand", "peak MB"))
    return Table.of(problem.title, ("method", *scores, *gain, "chosen", Column("default", _PERCENT), *costs), records)


def survey_curve(survey: Survey, problem: SurveyProblem) -> Table:
    """Return the table of a learning curve: the score of each method at each number of training documents."""
    rows = survey.of(problem).reset_index()
    texts = [f"{_PERCENT.text(row.value)} {_PERCENT.interval(row.low, row.high)}" for row in rows.itertuples()]
    wide = rows.assign(text=texts).pivot_table("text", "method", "size", "first", sort=False)
    header = ("method", *(Column(f"{size:,.0f}", PLAIN) for size in wide.columns))
    return Table.of(f"{problem.title}: {problem.heading} by training documents", header, wide.reset_index().to_numpy())


def _steps(survey: Survey, steps: Sequence[tuple[str, str, str]]) -> Table:
    """Return the gain of each step on each problem, with its interval and Holm-corrected p; ConfigError without any."""
    rows = []
    for a, b, words in steps:
        gaps = [survey.gaps.get((problem.key, a, b), {}) for problem in survey.tables()]
        rows += [(words, f"{a} − {b}", *map(_gain_text, gaps))] if any(gaps) else []
    if not rows:
        raise ConfigError(f"no run compares a step of this page, such as {list(steps[0][:2])}")
    return Table.of("Gain of each step", ("step", "compared", *(each.name for each in survey.tables())), rows)


def _gain_text(gap: dict[Any, Any]) -> str:
    """Write a difference with its interval and p, or a dash."""
    if not gap:
        return MISSING_TEXT
    p_value = "" if is_missing(gap["p_holm"]) else f", p {p_text(gap['p_holm'])}"
    return f"{_PERCENT.text(gap['value'], '+')} {_PERCENT.interval(gap['low'], gap['high'], '+')}{p_value}"
