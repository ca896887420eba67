"""Comparison of several experiments: every method on every problem, as tables, figures and a page."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.charts.chart import Chart
from benchmark.analysis.formatting.number_text import MISSING_TEXT, is_missing, p_text
from benchmark.analysis.formatting.units import axis_label, display_unit, metric_name
from benchmark.analysis.summary import summary_table
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.evaluation.mean_ranks import rank_methods
from benchmark.report.grids import TextTable, metric_header

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from benchmark.analysis.charts.chart import ChartPanel
    from benchmark.evaluation.mean_ranks import MeanRanks

SURVEY_SCORE_COLUMNS = (
    "problem",
    "tuned",
    "method",
    "size",
    "value",
    "low",
    "high",
    "n",
    "training",
    "deciding",
    "peak_bytes",
    "chosen",
)
SURVEY_DIFFERENCE_COLUMNS = ("problem", "tuned", "a", "b", "value", "low", "high", "p_holm", "family")


@dataclass(frozen=True)
class SurveyProblem:
    """One set of documents and classes, with the metric that scores methods on it.

    Parameters
    ----------
    name, title : str
        Short name for the head of a column, and full title.
    metric : str
    multilabel : bool
        Whether a document may have several classes.
    """

    name: str
    title: str
    metric: str
    multilabel: bool


@dataclass(frozen=True)
class BestMethods:
    """The method with the best score on a problem, and those that a paired test doesn't tell from it.

    Parameters
    ----------
    problem : str
    size : int or None
        Number of training documents, on a learning curve.
    methods : tuple of str
        By descending score.
    test : str
        The paired test; Holm's correction is over all `pairs` of methods.
    pairs : int
    """

    problem: str
    size: int | None
    methods: tuple[str, ...]
    test: str
    pairs: int


@dataclass(frozen=True, eq=False)
class Survey:
    """Scores, costs and paired differences of several methods on several problems.

    Parameters
    ----------
    problems : tuple of SurveyProblem
    methods : mapping of str to str
        Description of each method, by name.
    words_summed : frozenset of str
        Methods whose decision value is a sum over the terms of a document.
    scores : DataFrame
        Columns `SURVEY_SCORE_COLUMNS`: the problem's metric with its 95% interval over `n` documents or replicates,
        seconds of training, seconds of prediction per thousand documents, peak memory in bytes. `size` is missing
        except on learning curves. `tuned` says whether the parameters were chosen on training documents, and `chosen`
        which.
    gaps : DataFrame
        Columns `SURVEY_DIFFERENCE_COLUMNS`: score of a minus score of b for each compared pair, with p of the sign test
        after Holm's correction over the family.
    curves : mapping of ChartPanel to str
        Metric of each learning curve panel, one panel for each problem.
    bars : str
        Meaning of the error bars of the curves.
    corpora : mapping of str to str
        Corpus of each problem, by name; problems of one corpus share documents.
    grids : mapping of str to str
        The candidates of each tuned method, by name.
    best : tuple of BestMethods
        For each problem, tuned where it is, and for the smallest size of each learning curve.
    """

    problems: tuple[SurveyProblem, ...]
    methods: Mapping[str, str]
    words_summed: frozenset[str]
    scores: pd.DataFrame
    gaps: pd.DataFrame = field(default_factory=partial(summary_table, SURVEY_DIFFERENCE_COLUMNS))
    curves: Mapping[ChartPanel, str] = field(default_factory=dict)
    bars: str = ""
    corpora: Mapping[str, str] = field(default_factory=dict)
    grids: Mapping[str, str] = field(default_factory=dict)
    best: tuple[BestMethods, ...] = ()

    def whole(self, *, tuned: bool | None = None) -> pd.DataFrame:
        """Return the scores that are not points of a learning curve: tuned ones where there are any, or as asked."""
        rows = self.scores[self.scores["size"].isna()]
        return rows[rows["tuned"] == (rows["problem"].map(self.is_tuned) if tuned is None else tuned)]

    def is_tuned(self, problem: str) -> bool:
        """Return whether a problem has tuned scores."""
        return bool(self.scores.loc[self.scores["problem"] == problem, "tuned"].any())

    def costed(self) -> pd.DataFrame:
        """Return the scores beside which costs are shown: those of the default parameters, where there are any."""
        default = self.whole(tuned=False)
        return self.whole() if default.empty else default

    @staticmethod
    def table(rows: pd.DataFrame) -> pd.DataFrame:
        """Return the scores as a table, problems by methods, for the methods that every problem has."""
        scores = rows.pivot_table(index="problem", columns="method", values="value", sort=False)
        return scores.dropna(axis="columns")

    def ranks(self, rows: pd.DataFrame) -> MeanRanks:
        """Return the mean ranks over corpora of the methods that every problem of the rows has."""
        table = self.table(rows)
        groups = [self.corpora.get(str(name), str(name)) for name in table.index]
        return rank_methods(list(table.columns), table.to_numpy(), groups)

    def chart(self) -> Chart | None:
        """Return the learning curves as one chart, or None if there are none."""
        if not self.curves:
            return None
        labels = "Training documents", axis_label(tuple(dict.fromkeys(self.curves.values())), DIAGNOSTIC_METRICS)
        bars: dict[str, Any] = {"columns": 2, "bars": self.bars, "scale": 100.0, "log_x": True}
        return Chart("learning", "Learning curves", *labels, tuple(self.curves), **bars)


def ranking_grid(survey: Survey, ranking: MeanRanks) -> TextTable:
    """Return a grid of the score of each method on each problem, methods in the order of their mean ranks.

    Tuned scores are followed by those of the default parameters, in parentheses.
    """
    first, default = (
        {(row["problem"], row["method"]): row["value"] for row in rows.to_dict("records")}
        for rows in (survey.whole(), survey.whole(tuned=False))
    )

    def cell(problem: SurveyProblem, method: str) -> str:
        unit, key = display_unit(problem.metric, DIAGNOSTIC_METRICS), (problem.name, method)
        text = unit.text(first.get(key))
        return f"{text} ({unit.text(default[key])})" if key in default and survey.is_tuned(problem.name) else text

    rows = [
        (method, f"{rank:.1f}", *(cell(problem, method) for problem in survey.problems))
        for method, rank in zip(ranking.methods, ranking.ranks, strict=True)
    ]
    header = (
        "method",
        "mean rank",
        *(f"{problem.name}, {metric_name(problem.metric, DIAGNOSTIC_METRICS)} %" for problem in survey.problems),
    )
    return TextTable("Methods by mean rank", header, tuple(rows), frozenset({"method"}))


def problem_grid(survey: Survey, problem: SurveyProblem, baseline: str) -> TextTable:
    """Return a grid of one problem: each method's score with its interval, gain over the baseline, and costs.

    Costs are those of the default parameters, of which the score stands beside the tuned one.
    """
    scores, default = (rows[rows["problem"] == problem.name] for rows in (survey.whole(), survey.costed()))
    defaults, tuned = {row["method"]: row for row in default.to_dict("records")}, survey.is_tuned(problem.name)
    gaps = {
        row["a"]: row
        for row in survey.gaps.to_dict("records")
        if (row["problem"], row["tuned"], row["b"]) == (problem.name, tuned, baseline)
    }
    unit, rows = display_unit(problem.metric, DIAGNOSTIC_METRICS), []
    for row in scores.sort_values("value", ascending=False, kind="stable").to_dict("records"):
        gap, plain = gaps.get(row["method"], {}), defaults.get(row["method"], {})
        p_value = MISSING_TEXT if is_missing(gap.get("p_holm")) else p_text(gap["p_holm"])
        gain = unit.text(gap.get("value"), "+"), unit.interval(gap.get("low"), gap.get("high"), "+"), p_value
        costs = (
            seconds_text(plain.get("training")),
            seconds_text(plain.get("deciding")),
            megabytes_text(plain.get("peak_bytes")),
        )
        score = unit.text(row["value"]), unit.interval(row["low"], row["high"])
        beside = (row["chosen"], unit.text(plain.get("value"))) if tuned else ()
        rows.append((row["method"], *score, *gain, *beside, *costs))
    head = metric_header(problem.metric, DIAGNOSTIC_METRICS)
    gain_heads = f"above {baseline}", "its interval", "p (Holm)"
    beside_heads = ("chosen", "default") if tuned else ()
    cost_heads = "training s", "s per thousand", "peak MB"
    header = ("method", head, "95% interval", *gain_heads, *beside_heads, *cost_heads)
    grid = TextTable(problem.title, header, tuple(rows), frozenset({"method", "chosen"}))
    return grid.without(*(name for i, name in enumerate(header) if all(row[i] == MISSING_TEXT for row in rows)))


def gain_grid(survey: Survey, steps: Mapping[tuple[str, str], str]) -> TextTable:
    """Return a grid of the gain of each step on each problem: a minus b with its interval, and Holm-corrected p."""
    gaps = {(row["problem"], row["a"], row["b"]): row for row in survey.gaps.to_dict("records")}
    rows = []
    for (a, b), words in steps.items():
        cells = []
        for problem in survey.problems:
            gap, unit = gaps.get((problem.name, a, b), {}), display_unit(problem.metric, DIAGNOSTIC_METRICS)
            if not gap:
                cells.append(MISSING_TEXT)
                continue
            p_value = "" if is_missing(gap["p_holm"]) else f", p {p_text(gap['p_holm'])}"
            ends = unit.interval(gap["low"], gap["high"], "+")
            cells.append(f"{unit.text(gap['value'], '+')} {ends}{p_value}")
        rows.append((words, f"{a} − {b}", *cells))
    header = ("step", "compared", *(problem.name for problem in survey.problems))
    return TextTable("Gain of each step", header, tuple(rows), frozenset(header))


def score_text(survey: Survey, problem: str, method: str, size: float | None = None) -> str:
    """Write a score with its interval, "92.27 [90.60, 93.83]", or a dash if it is missing."""
    rows = survey.whole() if size is None else survey.scores[survey.scores["size"] == size]
    rows = rows[(rows["problem"] == problem) & (rows["method"] == method)]
    shown = [
        f"{100 * row['value']:.2f} [{100 * row['low']:.2f}, {100 * row['high']:.2f}]" for row in rows.to_dict("records")
    ]
    return shown[0] if shown else MISSING_TEXT


def pareto_front(costs: Sequence[float], scores: Sequence[float]) -> list[int]:
    """Return the indices of the Pareto front, by ascending cost: no other point scores better at as low a cost.

    Examples
    --------
    >>> pareto_front([3.0, 1.0, 2.0, 2.5], [0.9, 0.5, 0.8, 0.7])
    [1, 2, 0]
    """
    best, front = -math.inf, []
    for i in np.lexsort((-np.asarray(scores), np.asarray(costs))):
        if scores[i] > best:
            best = scores[i]
            front.append(int(i))
    return front


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


def megabytes_text(value: Any) -> str:
    """Write a number of bytes as whole megabytes."""
    return MISSING_TEXT if is_missing(value) else f"{value / 1e6:,.0f}"
