"""Survey pages over several runs of the same methods: all scores, mean ranks, and the steps of the geometry."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmark.analysis.comparisons import main_metric
from benchmark.analysis.formatting.labels import grid_label
from benchmark.analysis.formatting.table import PLAIN, Column, Table
from benchmark.analysis.formatting.units import DISPLAY_UNITS, is_missing, p_text, two_digits_text
from benchmark.analysis.summary import HEADLINE_FOLD
from benchmark.config.model import CHOOSE_ORACLE, method_of
from benchmark.evaluation.metrics import more_is_better, unit_of
from benchmark.evaluation.significance import rank_methods
from benchmark.experiment.run_folder import read_manifest
from benchmark.report.page import render_markdown
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.shipped_files import CONFIGS_FOLDER, shipped_files

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
COSTS = ["training_seconds", "testing_seconds", "peak_bytes"]
_PERCENT = DISPLAY_UNITS["percent"]


def survey_configurations(page: str) -> list[Path]:
    """Return the shipped configurations of a page, found by their names; ConfigError if there is no such page."""
    if page not in SURVEY_PAGES:
        raise ConfigError(unknown_name("page", page, list(SURVEY_PAGES)))
    return [path for pattern in SURVEY_PAGES[page] for path in shipped_files(CONFIGS_FOLDER, pattern)]


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
    scores, gaps = survey_frames(done)
    whole, curves = scores[scores["size"].isna()], scores[scores["size"].notna()]
    by_problem = whole.pivot_table("value", "problem", "method", sort=False).dropna(axis="columns")
    if by_problem.empty:
        raise ConfigError("a survey needs tables of methods, and at least one method that all tables have")
    problems = whole.loc[whole.groupby("problem", sort=False)["value"].idxmax()].to_dict("records")
    corpora = [problem["corpus"] for problem in problems]
    ranking = rank_methods(by_problem.columns.tolist(), by_problem.to_numpy(), corpora)
    near = by_problem.ge(by_problem.max(axis="columns") - NEAR_BEST, axis="index").sum()
    start = max(ranking.methods, key=lambda name: int(near[name]))
    methods = scores.drop_duplicates("method").to_dict("records")
    machines = [read_manifest(each.folder)["machine"] for each in done]
    text = render_markdown(
        page,
        problems=problems,
        methods=methods,
        ranking=ranking,
        start=(start, near[start]),
        ranks=ranking_table(whole, ranking),
        tables=[problem_table(rows) for _, rows in whole.groupby("problem", sort=False)],
        curves=[learning_curve_table(rows) for _, rows in curves.groupby("problem", sort=False)],
        steps=partial(steps_table, gaps, [problem["problem"] for problem in problems]),
        runs=[each.summary.name for each in done],
        choices=[(each.summary.name, inner.given) for each in done if (inner := each.results.experiment.inner)],
        machines=list(dict.fromkeys((each["threads"], each["processors"]) for each in machines)),
    )
    write_atomically(path, text.encode())
    n = len(problems)
    return f"{path}: {len(methods)} methods on {n} problem{'s' * (n > 1)}"


def survey_frames(done: Sequence[RunResult]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the main scores and the comparisons of several runs; methods of the same name are one method.

    A problem is named by its configuration, without the beginning that a page's pattern has, and by its task:
    all-methods-webkb and tuned-webkb are of the problem webkb, with default and with chosen parameters.

    Returns
    -------
    scores : DataFrame
        A row for each problem, method and size, with the 95% interval and facts of the problem: of the parameters in
        `chosen`, where they were chosen on training documents. Costs are those of default parameters, and `default` is
        their score. `gap` is the difference to the baseline.
    gaps : DataFrame
        Differences of the first method minus the second by problem and both methods, with p of the sign test: of the
        tuned scores where both are tuned.
    """
    scores, gaps = list[pd.DataFrame](), list[pd.DataFrame]()
    beginnings = [pattern.removesuffix("*.yaml") for patterns in SURVEY_PAGES.values() for pattern in patterns]
    for run in sorted(done, key=lambda run: run.results.experiment.inner is not None):
        summary, experiment = run.summary, run.results.experiment
        (variant,), name = experiment.variants.values(), summary.name
        name = name.removeprefix(next((each for each in beginnings if name.startswith(each)), ""))
        titles = {task.name: task.title if len(variant.tasks) > 1 else "" for task in variant.tasks}
        cells = pd.DataFrame(
            {
                "cell": cell.id,
                "method": cell.method,
                "size": cell.size,
                "problem": f"{name} {titles[cell.task]}".strip() + " curve" * (cell.size is not None),
                "title": f"{summary.title}: {titles[cell.task]}".removesuffix(": "),
                "heading": f"{summary.metric_name} %",
                "corpus": variant.collection.corpus,
                "multilabel": variant.collection.multilabel,
                "tuned": experiment.inner is not None,
                "chosen": cell.columns.get("parameter", ""),
                "about": f"{cell.points}; {cell.classifier}",
                "grid": grid_label(method_of(experiment, cell)) if cell.choice else "",
            }
            for cell in summary.cells
        )
        main = (summary.scores["metric"] == summary.main_metric) & (summary.scores["fold"] == HEADLINE_FOLD)
        scores.append(cells.merge(summary.scores[main], on="cell").merge(summary.costs, "left", on="cell"))
        signs = summary.significance[summary.significance["test"] == "sign"][["a", "b", "p_holm"]]
        pairs = summary.differences.merge(signs, "left", on=["a", "b"])
        for end in ("a", "b"):
            pairs = pairs.join(cells.set_index("cell")[["problem", "method"]].add_suffix(f"_{end}"), on=end)
        gaps.append(pairs[pairs["problem_a"] == pairs["problem_b"]].rename(columns={"problem_a": "problem"}))
    keys, names = ["problem", "method_a", "method_b"], ["problem", "method", "size"]
    compared = pd.concat(gaps).drop_duplicates(keys, keep="last").set_index(keys)
    found = pd.concat(scores, ignore_index=True)
    # Runs with default parameters come first; the candidates are those of the others.
    found[["default", *COSTS]] = found.groupby(names, dropna=False)[["value", *COSTS]].transform("first")
    found["about"] = found.groupby("method")["about"].transform("first")
    found["grid"] = found.groupby("method")["grid"].transform("max")
    baseline = compared[compared.index.get_level_values("method_b") == BASELINE_METHOD].droplevel("method_b")
    gap = baseline[["value", "low", "high", "p_holm"]].add_prefix("gap_").rename_axis(names[:2])
    return found.drop_duplicates(names, keep="last").join(gap, on=names[:2]), compared


def ranking_table(scores: pd.DataFrame, ranking: MeanRanks) -> Table:
    """Return a table of the score of each method on each problem, methods in the order of their mean ranks."""
    names = list(ranking.methods)
    columns: dict[Any, Any] = {"method": names, Column("mean rank", PLAIN): [f"{rank:.1f}" for rank in ranking.ranks]}
    for (problem, heading), rows in scores.groupby(["problem", "heading"], sort=False):
        columns[Column(f"{problem}, {heading}", _PERCENT)] = rows.set_index("method")["value"].reindex(names)
    return Table.of("Methods by mean rank", columns, zip(*columns.values(), strict=True))


def problem_table(scores: pd.DataFrame) -> Table:
    """Return a table of one problem: each method's score with its interval, gain over the baseline, and costs.

    Costs are for default parameters; their score is shown next to the tuned one.
    """
    rows, above = scores.sort_values("value", ascending=False, kind="stable"), f"above {BASELINE_METHOD}"
    peaks, testing = rows["peak_bytes"] / 1e6, 1000 * rows["testing_seconds"] / rows["n"]
    columns: dict[Any, Any] = {
        "method": rows["method"],
        Column(rows["heading"].iloc[0], _PERCENT, more_is_better=True): rows["value"],
        Column("95% interval", _PERCENT): zip(rows["low"], rows["high"], strict=True),
        Column(above, _PERCENT, "+"): rows["gap_value"],
        Column("its interval", _PERCENT, "+"): zip(rows["gap_low"], rows["gap_high"], strict=True),
        Column("p (Holm)", PLAIN): [None if is_missing(p) else p_text(p) for p in rows["gap_p_holm"]],
        "chosen": rows["chosen"],
        Column("default", _PERCENT): rows["default"].where(rows["tuned"]),
        Column("training s", PLAIN, measured=True): map(two_digits_text, rows["training_seconds"]),
        Column("s per thousand", PLAIN, measured=True): map(two_digits_text, testing),
        Column("peak MB", PLAIN, measured=True): [None if is_missing(peak) else f"{peak:,.0f}" for peak in peaks],
    }
    return Table.of(rows["title"].iloc[0], columns, zip(*columns.values(), strict=True)).filled()


def learning_curve_table(rows: pd.DataFrame) -> Table:
    """Return the table of a learning curve: the score of each method at each number of training documents."""
    texts = [f"{_PERCENT.text(row.value)} {_PERCENT.interval(row.low, row.high)}" for row in rows.itertuples()]
    wide = rows.assign(text=texts).pivot_table("text", "method", "size", "first", sort=False)
    header, first = ("method", *(Column(f"{size:,.0f}", PLAIN) for size in wide.columns)), rows.iloc[0]
    title = f"{first['title']}: {first['heading']} by training documents"
    return Table.of(title, header, wide.reset_index().to_numpy())


def steps_table(gaps: pd.DataFrame, problems: list[str], steps: Sequence[tuple[str, str, str]]) -> Table:
    """Return the gain of each step on each problem, with its interval and Holm-corrected p; ConfigError without any."""
    texts = [
        f"{_PERCENT.text(row.value, '+')} {_PERCENT.interval(row.low, row.high, '+')}"
        + ("" if is_missing(row.p_holm) else f", p {p_text(row.p_holm)}")
        for row in gaps.itertuples()
    ]
    wide = gaps.assign(text=texts).pivot_table("text", ["method_a", "method_b"], "problem", "first")
    found = wide.reindex(columns=problems).dropna(how="all").to_dict("index")
    rows = [(words, f"{a} − {b}", *found[a, b].values()) for a, b, words in steps if (a, b) in found]
    if not rows:
        raise ConfigError(f"no run compares a step of this page, such as {list(steps[0][:2])}")
    return Table.of("Gain of each step", ("step", "compared", *problems), rows)
