"""Survey pages over several runs of the same methods: all scores, mean ranks, and the steps of the geometry."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmark.analysis.comparisons import main_metric as tested_metric
from benchmark.analysis.formatting.labels import component_label, grid_label, points_label
from benchmark.analysis.formatting.number_text import MISSING_TEXT, is_missing, p_text
from benchmark.analysis.formatting.table import PLAIN, Column, Table
from benchmark.analysis.formatting.units import DISPLAY_UNITS, metric_name
from benchmark.config.model import CHOOSE_ORACLE
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.evaluation.mean_ranks import rank_methods
from benchmark.evaluation.metrics import more_is_better, unit_of
from benchmark.experiment.run_folder import read_manifest
from benchmark.report.page import render_markdown
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.shipped_files import shipped_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchmark.config.model import Experiment
    from benchmark.evaluation.mean_ranks import MeanRanks
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
    """One set of documents and classes: its name, title, metric and corpus."""

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


@dataclass(eq=False)
class Survey:
    """Scores, costs and paired differences of several methods on several problems.

    Parameters
    ----------
    problems : dict of bytes to SurveyProblem
        By a digest of the tested documents; learning curves by their name.
    methods, grids : dict of str to str
        Description of each method, and the candidates of the tuned ones.
    scores : list of dict
        A row for each problem, method and size, with the problem's metric, its 95% interval, and costs. `tuned` says
        whether the parameters were chosen on training documents, and `chosen` which.
    gaps : dict
        Difference of two methods, by problem, whether they are tuned, and their names.
    """

    problems: dict[Any, SurveyProblem] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)
    grids: dict[str, str] = field(default_factory=dict)
    scores: list[dict[str, Any]] = field(default_factory=list)
    gaps: dict[tuple[str, bool, str, str], dict[Any, Any]] = field(default_factory=dict)

    def tables(self) -> list[SurveyProblem]:
        """Return the problems that are no learning curves."""
        return [problem for problem in self.problems.values() if not problem.curve]

    def is_tuned(self, problem: str) -> bool:
        """Return whether a problem has tuned scores."""
        return any(row["tuned"] for row in self.scores if row["problem"] == problem)

    def of(self, problem: str, *, tuned: bool | None = None) -> dict[str, dict[str, Any]]:
        """Return the rows of a problem by method: the tuned ones where there are any, or as asked."""
        wanted = self.is_tuned(problem) if tuned is None else tuned
        rows = [row for row in self.scores if row["size"] is None and row["problem"] == problem]
        return {row["method"]: row for row in rows if row["tuned"] == wanted}


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


def check_comparable(experiments: Sequence[Experiment]) -> None:
    """Check before the runs that the experiments are tables or curves of methods, each at most once.

    Raises
    ------
    ConfigError
        If one isn't, or its main metric isn't a share where more is better.
    """
    for experiment in experiments:
        choices = {cell.choice for cell in experiment.cells} - {""}
        problem = ""
        if len(experiment.variants) > 1 or len(choices) > 1 or CHOOSE_ORACLE in choices:
            problem = "a survey needs experiments without variants, and at most one choice, on training documents"
        elif choices and any(cell.size is not None for cell in experiment.cells):
            problem = "the learning curves of a survey can't have `choose`"
        elif any(cell.terms is not None or cell.of_class for cell in experiment.cells):
            problem = "a survey can't have curves over terms, or scores of single classes"
        metric = tested_metric(experiment)
        if not problem and not (
            unit_of(metric, experiment.quantities) == "percent" and more_is_better(metric, experiment.scorers)
        ):
            problem = f"a survey ranks by a share where more is better, not by {metric}; put one first in `metrics`"
        if problem:
            raise ConfigError(f"{experiment.name}: {problem}")


def write_survey(done: Sequence[RunResult], page: str, path: Path) -> str:
    """Write a page, and return a line that describes it.

    Raises
    ------
    ConfigError
        If a run isn't a table or curve of methods, each at most once, or the runs have no method in common.
    """
    survey = build_survey(done)
    ranking = survey_mean_ranks(survey)
    text = render_markdown(
        page,
        survey=survey,
        ranking=ranking,
        ranks=ranking_table(survey, ranking),
        tables=[problem_table(survey, problem, BASELINE_METHOD) for problem in survey.tables()],
        curves=[survey_curve(survey, problem) for problem in survey.problems.values() if problem.curve],
        start=start_sentence(survey),
        steps=lambda pairs: _steps(survey, {(a, b): words for a, b, words in pairs}),
        runs=[each.summary.name for each in done],
        choices=list(_choices(done)),
        machines=list(dict.fromkeys(_machine(each) for each in done)),
    )
    write_atomically(path, text.encode())
    n = len(survey.tables())
    return f"{path}: {len(survey.methods)} methods on {n} problem{'s' * (n > 1)}"


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
    survey = Survey()
    for each in sorted(done, key=_is_tuned):
        alike = [other.summary.name for other in done if _kind(other) == _kind(each)]
        _add_run(survey, each, _short(each.summary.name, alike))
    return survey


def _add_run(survey: Survey, done: RunResult, name: str) -> None:
    """Add a run, of which `name` is the short name."""
    (variant,) = done.results.experiment.variants.values()
    (curve, tuned), metric = _kind(done), done.summary.main_metric
    for entry in variant.entries:
        spec = entry.candidates[0]
        survey.methods.setdefault(entry.label, f"{points_label(spec)}; {component_label(spec.classifier)}")
        survey.grids |= {entry.label: grid_label(entry)} if tuned else {}
    costs: dict[str, Any] = {row["cell"]: row for row in done.summary.costs.to_dict("records")}
    signs = [row for row in done.summary.significance.to_dict("records") if row["test"] == "sign"]
    tests = {(row["a"], row["b"]): row for row in signs}
    for task in variant.tasks:
        words = task.title if len(variant.tasks) > 1 else ""
        cells = [cell for cell in done.summary.cells if cell.task == task.name]
        title, short = (": ".join(filter(None, (done.summary.title, words))), " ".join(filter(None, (name, words))))
        facts = metric, variant.collection.corpus, variant.collection.multilabel, curve
        key = short if curve else _tested_documents(done, [cell.id for cell in cells])
        problem = survey.problems.setdefault(key, SurveyProblem(short, title, *facts))
        if problem.metric != metric:
            raise ConfigError(f"{done.summary.name}: the same documents have the metric {problem.metric} elsewhere")
        for cell in cells:
            if (score := done.summary.headlines.get((cell.id, metric))) is not None:
                own: dict[str, Any] = {name: score[name] for name in ("value", "low", "high", "n")}
                own |= {"problem": problem.name, "tuned": tuned, "method": cell.method, "size": cell.size}
                own["chosen"] = cell.columns.get("parameter", "")
                survey.scores.append(own | costs.get(cell.id, {}))
        method = {cell.id: cell.method for cell in cells}
        for gap in done.summary.differences.to_dict("records"):
            if not curve and gap["a"] in method and gap["b"] in method:
                p_holm = tests.get((gap["a"], gap["b"]), {}).get("p_holm")
                survey.gaps[problem.name, tuned, method[gap["a"]], method[gap["b"]]] = gap | {"p_holm": p_holm}


def _tested_documents(done: RunResult, cells: Sequence[str]) -> bytes:
    """Return a digest of the documents that a task tests, in order, and of its classes."""
    predictions = done.results.predictions
    cell = next(cell for cell in done.results.experiment.cells if cell.id in cells)
    documents = predictions.tasks[cell.setting(0, cell.size).of_task]
    tested = [[documents.ids[i] for i in split.test] for split in predictions.splits[cell.of_splits]]
    return sha256(repr((tested, documents.classes)).encode()).digest()


def _choices(done: Sequence[RunResult]) -> Iterator[str]:
    """Yield the tuned runs, and how each chooses parameters."""
    for each in done:
        inner = each.results.experiment.inner
        if inner is not None and _is_tuned(each):
            given = inner.given
            words = f"{given['k']}-fold cross-validation" if "k" in given else f"the newest {given['test_share']:.0%}"
            yield f"{each.summary.name}: {words}"


def _is_tuned(done: RunResult) -> bool:
    """Return whether a run chooses parameters."""
    return any(cell.choice for cell in done.results.experiment.cells)


def _kind(done: RunResult) -> tuple[bool, bool]:
    """Return whether a run has learning curves, and whether it chooses parameters."""
    return any(cell.size is not None for cell in done.summary.cells), _is_tuned(done)


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


def survey_mean_ranks(survey: Survey) -> MeanRanks:
    """Return the mean ranks over corpora of the methods that have a score on every problem; ConfigError if none has."""
    scores = _common_scores(survey)
    if scores.empty:
        raise ConfigError("a survey needs tables of methods, and at least one method that all tables have")
    groups = [problem.corpus for problem in survey.tables()]
    return rank_methods(list(scores.columns), scores.to_numpy(), groups)


def _common_scores(survey: Survey) -> pd.DataFrame:
    """Return the scores, problems by methods, of the methods that every problem has."""
    rows = [{name: row["value"] for name, row in survey.of(each.name).items()} for each in survey.tables()]
    return pd.DataFrame(rows).dropna(axis="columns")


def start_sentence(survey: Survey) -> str:
    """Return which method is within a point of the best score on the most problems; of several, the fastest."""
    scores = _common_scores(survey)
    near = scores.ge(scores.max(axis="columns") - NEAR_BEST, axis="index").sum()
    seconds = {name: _training_seconds(survey, name) for name in near.index}
    first = min(near.index, key=lambda name: (-near[name], seconds[name]))
    problems = f"{len(scores)} problem{'s' * (len(scores) > 1)}"
    return f"**Start with `{first}`.** Its score is within one point of the best on {near[first]} of {problems}."


def _training_seconds(survey: Survey, method: str) -> float:
    """Return the training seconds of a method over all problems; infinity if they aren't known."""
    rows = [_costed(survey, problem.name).get(method, {}) for problem in survey.tables()]
    known = [row["training_seconds"] for row in rows if not is_missing(row.get("training_seconds"))]
    return sum(known) if known else math.inf


def _costed(survey: Survey, problem: str) -> dict[str, dict[str, Any]]:
    """Return the rows whose costs are shown: those of the default parameters, where there are any."""
    return survey.of(problem, tuned=False) or survey.of(problem)


def ranking_table(survey: Survey, ranking: MeanRanks) -> Table:
    """Return a table of the score of each method on each problem, methods in the order of their mean ranks.

    Tuned scores are followed by those of the default parameters, in parentheses.
    """
    columns, heads = [], ["mean rank"]
    for problem in survey.tables():
        own, default = survey.of(problem.name), survey.of(problem.name, tuned=False)
        beside = default if survey.is_tuned(problem.name) else {}
        texts = ((_PERCENT.text(own[name]["value"]), beside.get(name, {}).get("value")) for name in ranking.methods)
        columns.append([text if is_missing(plain) else f"{text} ({_PERCENT.text(plain)})" for text, plain in texts])
        heads.append(f"{problem.name}, {problem.heading}")
    ranks = (f"{rank:.1f}" for rank in ranking.ranks)
    rows = zip(ranking.methods, ranks, *columns, strict=True)
    return Table.of("Methods by mean rank", ("method", *(Column(head, PLAIN) for head in heads)), rows)


def problem_table(survey: Survey, problem: SurveyProblem, baseline: str) -> Table:
    """Return a table of one problem: each method's score with its interval, gain over the baseline, and costs.

    Costs are for default parameters; their score is shown next to the tuned one.
    """
    tuned, defaults = survey.is_tuned(problem.name), _costed(survey, problem.name)
    records = list[dict[str, Any]]()
    above = f"above {baseline}"
    for row in sorted(survey.of(problem.name).values(), key=lambda row: -row["value"]):
        gap = survey.gaps.get((problem.name, tuned, row["method"], baseline), {})
        plain = defaults.get(row["method"], {})
        record: dict[str, Any] = {
            "method": row["method"],
            problem.heading: row["value"],
            "95% interval": (row["low"], row["high"]),
        }
        record |= {above: gap.get("value"), "its interval": (gap.get("low"), gap.get("high"))}
        record["p (Holm)"] = None if is_missing(gap.get("p_holm")) else p_text(gap["p_holm"])
        record |= {"chosen": row["chosen"], "default": plain.get("value")} if tuned else {}
        deciding = 1000 * plain.get("testing_seconds", math.nan) / row["n"]
        record |= {"training s": seconds_text(plain.get("training_seconds")), "s per thousand": seconds_text(deciding)}
        peak: Any = plain.get("peak_bytes")
        records.append(record | {"peak MB": None if is_missing(peak) else f"{peak / 1e6:,.0f}"})
    scores = Column(problem.heading, _PERCENT, more_is_better=True), Column("95% interval", _PERCENT)
    gain = Column(above, _PERCENT, "+"), Column("its interval", _PERCENT, "+"), Column("p (Holm)", PLAIN)
    costs = (Column(name, PLAIN, measured=True) for name in ("training s", "s per thousand", "peak MB"))
    header = ("method", *scores, *gain, "chosen", Column("default", _PERCENT), *costs)
    return Table.of(problem.title, header, records)


def survey_curve(survey: Survey, problem: SurveyProblem) -> Table:
    """Return the table of a learning curve: the score of each method at each number of training documents."""
    rows = [row for row in survey.scores if row["problem"] == problem.name and row["size"] is not None]
    found = {(row["method"], row["size"]): f"{_PERCENT.text(row['value'])} {_bounds(row)}" for row in rows}
    sizes, methods = (list(dict.fromkeys(row[key] for row in rows)) for key in ("size", "method"))
    lines = [(name, *(found.get((name, size)) for size in sizes)) for name in methods]
    header = ("method", *(Column(f"{size:,}", PLAIN) for size in sizes))
    return Table.of(f"{problem.title}: {problem.heading} by training documents", header, lines)


def _bounds(row: Mapping[str, Any], sign: str = "") -> str:
    return _PERCENT.interval(row["low"], row["high"], sign)


def _steps(survey: Survey, known: Mapping[tuple[str, str], str]) -> Table:
    """Return the gain of each step on each problem, with its interval and Holm-corrected p; ConfigError without any."""
    compared = {(a, b) for _, _, a, b in survey.gaps}
    if not compared & set(known):
        steps = ", ".join(f"[{a}, {b}]" for a, b in known)
        raise ConfigError(f"no run compares a step of this page ({steps})")
    rows = []
    for (a, b), words in known.items():
        gaps = [survey.gaps.get((each.name, survey.is_tuned(each.name), a, b)) for each in survey.tables()]
        rows += [(words, f"{a} − {b}", *map(_gain_text, gaps))] if (a, b) in compared else []
    header = ("step", "compared", *(problem.name for problem in survey.tables()))
    return Table.of("Gain of each step", header, rows)


def _gain_text(gap: Mapping[str, Any] | None) -> str:
    """Write a difference with its interval and p, or a dash."""
    if gap is None:
        return MISSING_TEXT
    p_value = "" if is_missing(gap["p_holm"]) else f", p {p_text(gap['p_holm'])}"
    return f"{_PERCENT.text(gap['value'], '+')} {_bounds(gap, '+')}{p_value}"


def seconds_text(value: Any) -> str:
    """Write seconds with two significant digits.

    Examples
    --------
    >>> seconds_text(0.0123), seconds_text(3.456), seconds_text(71.2)
    ('0.012', '3.5', '71')
    """
    if is_missing(value):
        return MISSING_TEXT
    if value < 0.0005:
        return "<0.001"
    decimals = max(0, 1 - math.floor(math.log10(value)))
    return f"{value:.{decimals}f}"
