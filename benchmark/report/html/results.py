"""Facts of a page's table of results, and of where its two best methods disagree; the template lays them out."""

from __future__ import annotations

import math
import shlex
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.comparisons import planned_comparisons
from benchmark.analysis.formatting.number_text import MISSING_TEXT, is_missing, number_text, p_text
from benchmark.analysis.formatting.published_rows import in_shown_unit
from benchmark.analysis.formatting.units import display_factor, display_unit
from benchmark.analysis.ranking import first_comparisons, ranked_cells, shown_outcomes
from benchmark.analysis.summary import HEADLINE_FOLD
from benchmark.report.comparison_tables import TEST_TITLES
from benchmark.report.tables import WITHOUT, difference_text, main_verdicts, metric_header, varying_columns
from benchmark.report.verdict_signs import verdict_tone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.formatting.units import Unit
    from benchmark.analysis.summary import Summary

#: Metrics that are columns beside the main one; others are in the tables beside the page.
FURTHER_METRICS = ("accuracy", "macro-f1", "micro-f1")
#: Columns that tell tables apart: rows of different values have a heading each.
GROUPING = ("variant", "task", "choice")
#: Most classes of a matrix; of more, the most frequent confusions are listed.
MOST_MATRIX_CLASSES, MOST_CONFUSIONS = 8, 10


@dataclass(frozen=True)
class Bar:
    """Places of a method's score in percent of the width of the scale, or None.

    `beyond` is the end of the scale that the score lies beyond, "low" or "high", or "".
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    published: float | None = None
    base_low: float | None = None
    base_high: float | None = None
    beyond: str = ""


@dataclass(frozen=True)
class ResultRow:
    """One method of the table of results, as texts.

    Parameters
    ----------
    number : int
        Place in the configuration, from 1.
    cell : str
    group : str
        Task, variant and choice in words; "" if all rows have the same.
    settings : str
        Weighting, normalization, kernel and classifier in words.
    outcome : str
        Outcome of its first planned comparison, "better", "worse" or why it is neither; `BASELINE` where others are
        compared with it, and else "".
    against : str
        The method of that comparison.
    score, interval : str
    others : tuple of str
        Further scores, as the header of the table names them.
    difference, difference_interval : str
        Difference in that comparison.
    published, less, verdict : str
        The published value, ours minus it, and the verdict.
    seconds : str
    bar : Bar
    again : str
        Command that computes this method alone.
    folds : tuple of (str, str)
        Score of each split.
    recalls : tuple of (str, str)
        Share of each class's documents that is found.
    tests : tuple of tuple of str
        A planned comparison a row: the other method, the difference, its interval, and p after Holm's correction of
        each test.
    """

    number: int
    cell: str
    group: str
    settings: str
    outcome: str
    against: str
    score: str
    interval: str
    others: tuple[str, ...]
    difference: str
    difference_interval: str
    published: str
    less: str
    verdict: str
    seconds: str
    bar: Bar
    again: str
    folds: tuple[tuple[str, str], ...]
    recalls: tuple[tuple[str, str], ...]
    tests: tuple[tuple[str, ...], ...]

    @property
    def tone(self) -> str:
        """Tone of the verdict."""
        return verdict_tone(self.verdict)


@dataclass(frozen=True)
class ResultTable:
    """All methods of a run, the best of each group first, on one scale.

    Parameters
    ----------
    rows : tuple of ResultRow
    head : str
        Name and unit of the main score.
    others : tuple of str
        Names of further scores.
    ticks : tuple of (float, str)
        Ticks of the scale: place in percent, and number.
    baselines : tuple of str
        Methods that others are compared with first.
    tests : tuple of str
        Names of the tests of the comparisons.
    published, compared, timed : bool
        Whether any row has a published value, a comparison with the baseline, or seconds.
    looked_into : tuple of str
        Names of the experiments that look into values that deviate.
    """

    rows: tuple[ResultRow, ...]
    head: str
    others: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]
    baselines: tuple[str, ...]
    tests: tuple[str, ...]
    published: bool
    compared: bool
    timed: bool
    looked_into: tuple[str, ...] = ()

    @property
    def groups(self) -> list[tuple[str, list[ResultRow]]]:
        """Rows by group, in their order."""
        found: dict[str, list[ResultRow]] = defaultdict(list)
        for row in self.rows:
            found[row.group].append(row)
        return list(found.items())


@dataclass(frozen=True)
class ClaimLine:
    """A claim of the paper as a sentence.

    Parameters
    ----------
    sign, word, tone : str
        Whether its comparisons hold by the paper's rule, as a sign, a word and a tone.
    text : str
    counts : str
        Verdicts by the paper's rule and by our stricter test.
    """

    sign: str
    word: str
    tone: str
    text: str
    counts: str


def claim_lines_of(summary: Summary) -> list[ClaimLine]:
    """Return the claims that this run decides, or decides in part."""
    found = []
    for row in summary.claims.to_dict("records"):
        sign, word, tone = ("✓", "holds", "good") if row["holds"] == row["of"] else ("✗", "fails", "bad")
        sign, word, tone = ("◐", "holds in part", "half") if 0 < row["holds"] < row["of"] else (sign, word, tone)
        here = f"{row['holds']} of {row['of']} hold here"
        more = row["whole"] - row["of"]
        counts = f"{here} ({more} more on other corpora)" if more > 0 else here
        if row["strict_verdict"] != "no test":
            counts += f"; {row['strict_holds']} by our stricter test"
        which = f" under {row['variant']}" if row["variant"] else ""
        counted = f"; not counted: {row['counted']}" if row["counted"] else ""
        found.append(ClaimLine(sign, word, tone, row["text"], f"{counts}{which}{counted}."))
    return found


def result_table(summary: Summary) -> ResultTable:
    """Return the table of results of a summary; cells of curves that have no score to rank are left out."""
    metric, declared, scores = summary.main_metric, summary.quantities, summary.headlines
    unit, verdicts, order = display_unit(metric, declared), main_verdicts(summary), ranked_cells(summary)
    pairs = planned_comparisons(summary)
    first, outcomes = first_comparisons(summary), shown_outcomes(summary)
    against = {name: pair.b.id for name, pair in first.items()}
    cells = {cell.id: (number, cell) for number, cell in enumerate(summary.cells, start=1)}
    numbers = {name: _numbers(summary, name, against.get(name, ""), verdicts.get(name)) for name in order}
    ends, at = _scale(list(numbers.values()))
    further = _further_metrics(summary)
    tests = [name for name in TEST_TITLES if name in set(summary.significance["test"])]
    costs = {row["cell"]: row for row in summary.costs.to_dict("records")}
    folds, recalls = _folds(summary, unit), _recalls(summary)
    leaks = {(row["leak"], row["cell"]): row["without"] for row in summary.leaks.to_dict("records")}
    rows = []
    for name in order:
        if name not in summary.failures and not any((name, each) in scores for each in (metric, *further)):
            continue
        number, cell = cells[name]
        score, verdict = scores.get((name, metric), {}), verdicts.get(name)
        pair = first.get(name)
        cost = costs.get(name, {})
        seconds = cost.get("training_seconds"), cost.get("testing_seconds")
        others = [unit.text(leaks.get((leak, name))) for leak in WITHOUT if any(leak == each for each, _ in leaks)]
        others += [display_unit(m, declared).text(scores.get((name, m), {}).get("value")) for m in further]
        rows.append(
            ResultRow(
                number,
                name,
                ", ".join(text for column in _grouping(summary) if (text := cell.columns.get(column, ""))),
                "; ".join(text for text in (cell.points, cell.classifier) if text),
                outcomes[name],
                against.get(name, ""),
                unit.text(score.get("value")),
                unit.interval(score.get("low"), score.get("high")),
                tuple(others),
                *(_difference(pair, name, unit) if pair else ("", "")),
                *_published(verdict),
                "failed" if name in summary.failures else verdict["verdict"] if verdict else "",
                "" if is_missing(seconds[0]) else number_text(sum(each for each in seconds if not is_missing(each))),
                _bar(numbers[name], ends),
                f"bench run {shlex.quote(summary.name)} --only {shlex.quote(name)}",
                tuple(folds.get(name, ())),
                tuple(recalls.get(name, ())),
                tuple(_tests(summary, pairs, name, tests, unit)),
            )
        )
    heads = [WITHOUT[leak] for leak in WITHOUT if any(leak == each for each, _ in leaks)]
    heads += [metric_header(each, declared) for each in further]
    return ResultTable(
        tuple(rows),
        metric_header(metric, declared),
        tuple(heads),
        tuple((_place(tick, ends) or 0.0, f"{tick:g}") for tick in at),
        tuple(dict.fromkeys(against[name] for name in order if name in against)),
        tuple(TEST_TITLES[name] for name in tests),
        bool(verdicts),
        any(row.difference for row in rows),
        any(row.seconds for row in rows),
        summary.explained_by,
    )


def _numbers(summary: Summary, cell: str, baseline: str, verdict: Mapping[str, Any] | None) -> dict[str, float | None]:
    """Return the numbers of a bar in the displayed unit."""
    metric, unit = summary.main_metric, display_unit(summary.main_metric, summary.quantities)
    score, base = (summary.headlines.get((name, metric), {}) for name in (cell, baseline))
    found: dict[str, Any] = {end: score.get(end) for end in ("value", "low", "high")}
    found |= {f"base_{end}": base.get(end) for end in ("low", "high")}
    scaled = {key: None if is_missing(value) else unit.scale * float(value) for key, value in found.items()}
    if verdict:
        scale = display_factor(verdict["unit"], metric, summary.quantities)
        scaled["published"] = scale * float(verdict["published"])
    return scaled


def _scale(numbers: Sequence[Mapping[str, float | None]]) -> tuple[list[float], list[float]]:
    """Return the ends and ticks of a scale on which outliers don't press the other rows together.

    A score is an outlier that is farther from the quartiles of all scores than three times their distance.
    """
    rows = [(value, each) for each in numbers if (value := each["value"]) is not None]
    if not rows:
        return [0.0, 1.0], []
    low, high = np.quantile([value for value, _ in rows], [0.25, 0.75])
    reach = 3 * (high - low)
    shown = [each for value, each in rows if low - reach <= value <= high + reach]
    ends = ("value", "low", "high", "published")
    drawn = [number for each in shown for end in ends if (number := each.get(end)) is not None]
    return ends_and_ticks(min(drawn), max(drawn))


def ends_and_ticks(low: float, high: float, least: int = 3) -> tuple[list[float], list[float]]:
    """Return the ends of a scale that shows these numbers, and at least so many round ticks.

    Examples
    --------
    >>> ends_and_ticks(29.0, 98.0)
    ([26.93, 100.07], [40.0, 60.0, 80.0, 100.0])
    """
    margin = 0.03 * (high - low) or abs(high) / 10 or 1.0
    low, high = low - margin, high + margin
    exponent, ticks = math.floor(math.log10(high - low)), list[float]()
    for step in (float(f"{factor}e{power}") for power in (exponent, exponent - 1) for factor in (5, 2, 1)):
        ticks = [float(f"{i * step:.12g}") for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
        if len(ticks) >= least:
            break
    return [low, high], ticks


def _bar(numbers: Mapping[str, float | None], ends: Sequence[float]) -> Bar:
    value = numbers["value"]
    beyond = "" if value is None else "low" if value < ends[0] else "high" if value > ends[1] else ""
    return Bar(**{key: _place(number, ends) for key, number in numbers.items()}, beyond=beyond)


def _place(value: float | None, ends: Sequence[float]) -> float | None:
    """Return a number's place on the scale, in percent; one beyond the scale is at its end."""
    if value is None:
        return None
    return round(100 * (min(max(value, ends[0]), ends[1]) - ends[0]) / (ends[1] - ends[0]), 2)


def _grouping(summary: Summary) -> list[str]:
    return [name for name in GROUPING if name in varying_columns(summary.cells)]


def _further_metrics(summary: Summary) -> list[str]:
    """Return the metrics of further columns: micro-F1 only where it differs from the main score."""
    scores, main = summary.headlines, summary.main_metric

    def differs(metric: str) -> bool:
        pairs: list[list[Any]] = [
            [scores.get((cell.id, each), {}).get("value") for each in (main, metric)] for cell in summary.cells
        ]
        return any(not is_missing(a) and not is_missing(b) and not math.isclose(a, b, abs_tol=1e-12) for a, b in pairs)

    return [each for each in summary.headline_metrics if each != main and each in FURTHER_METRICS and differs(each)]


def _difference(pair: PlannedComparison, cell: str, unit: Unit) -> tuple[str, str]:
    """Return the difference of a method to the other one of a pair, and the interval."""
    sign, ends = (1, (pair.low, pair.high)) if pair.a.id == cell else (-1, (-pair.high, -pair.low))
    return unit.text(sign * pair.value, "+"), unit.interval(*ends, "+")


def _published(verdict: Mapping[Any, Any] | None) -> tuple[str, str]:
    if verdict is None:
        return "", ""
    shown = in_shown_unit(dict(verdict))
    return shown["published"], difference_text(shown)


def _folds(summary: Summary, unit: Unit) -> Mapping[str, list[tuple[str, str]]]:
    """Return the main score of each split by method, where there are several splits."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    frame = summary.scores[summary.scores["metric"] == summary.main_metric]
    apart = frame[frame["fold"] != HEADLINE_FOLD]
    for cell, fold, value in zip(apart["cell"], apart["fold"], apart["value"], strict=True):
        found[cell].append((str(fold), unit.text(value)))
    return {cell: folds for cell, folds in found.items() if len(folds) > 1}


def _recalls(summary: Summary) -> Mapping[str, list[tuple[str, str]]]:
    """Return the share of each class's documents that a method finds, in percent."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for (cell, truth), rows in summary.confusions.groupby(["cell", "truth"], sort=False):
        right = rows.loc[rows["predicted"] == truth, "n"].sum()
        found[str(cell)].append((str(truth), f"{100 * right / rows['n'].sum():.1f}"))
    return found


def _tests(
    summary: Summary, pairs: Iterable[PlannedComparison], cell: str, tests: Sequence[str], unit: Unit
) -> Iterable[tuple[str, ...]]:
    """Yield a row for each planned comparison of a method."""
    p = {
        (row["a"], row["b"], row["test"]): p_text(row["p_holm"] if not is_missing(row["p_holm"]) else None, row["note"])
        for row in summary.significance.to_dict("records")
    }
    for pair in pairs:
        if cell in (pair.a.id, pair.b.id):
            other = pair.b if pair.a.id == cell else pair.a
            values = (p.get((pair.a.id, pair.b.id, test), MISSING_TEXT) for test in tests)
            yield other.id, *_difference(pair, cell, unit), *values


@dataclass(frozen=True)
class Confusions:
    """What two methods confuse.

    Parameters
    ----------
    cells : (str, str)
    classes : tuple of str
        Classes of the matrices; () where there are too many.
    matrices : tuple of tuple of tuple of (int, float)
        For each method a row for each true class: documents by predicted class, and their share of the row.
    most : tuple of (str, str, int, int)
        Of many classes the most frequent confusions: true class, predicted class, and documents of each method.
    """

    cells: tuple[str, str]
    classes: tuple[str, ...] = ()
    matrices: tuple[tuple[tuple[tuple[int, float], ...], ...], ...] = ()
    most: tuple[tuple[str, str, int, int], ...] = ()


def confusions_of_pair(summary: Summary) -> Confusions | None:
    """Return what the two methods of the summary's disagreement confuse."""
    if summary.disagreement is None:
        return None
    pair, frame = summary.disagreement.cells, summary.confusions
    if not frame["cell"].isin(pair).any():
        return None
    counts: dict[str, dict[Any, int]] = {
        cell: frame[frame["cell"] == cell].set_index(["truth", "predicted"])["n"].to_dict() for cell in pair
    }
    classes = tuple(dict.fromkeys(str(name) for name in frame.loc[frame["cell"].isin(pair), "truth"]))
    if len(classes) <= MOST_MATRIX_CLASSES:
        return Confusions(pair, classes, tuple(_matrix(counts[cell], classes) for cell in pair))
    first, second = (counts[cell] for cell in pair)
    kinds = [(*kind, first.get(kind, 0), second.get(kind, 0)) for kind in first | second if kind[0] != kind[1]]
    wrong = sorted(kinds, key=lambda kind: -max(kind[2:]))
    return Confusions(pair, most=tuple(wrong[:MOST_CONFUSIONS]))


def _matrix(counts: Mapping[tuple[str, str], int], classes: Sequence[str]) -> tuple[tuple[tuple[int, float], ...], ...]:
    rows = [[int(counts.get((truth, predicted), 0)) for predicted in classes] for truth in classes]
    return tuple(tuple((n, n / max(sum(row), 1)) for n in row) for row in rows)
