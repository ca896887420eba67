"""Scores over repeated draws to the summary that tables and figures are made of; shared by every kind that draws."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from benchmark.errors import ConfigError
from benchmark.evaluation.draws import DrawScores, mean_difference, mean_estimate, mean_ratio, wilcoxon_over_draws
from benchmark.evaluation.published import Claim, Comparison, Evidence, judge_value
from benchmark.evaluation.significance import holm
from benchmark.report.parts import Part
from benchmark.experiment.published_values import claim_rows
from benchmark.report import summary as layout
from benchmark.report.summary import Summary, frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from benchmark.config import Study
    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.published import Published, PublishedRange, PublishedValue
    from benchmark.report.charts import Chart
    from benchmark.report.summary import CellInfo


def summarize_draws(
    study: Study,
    scored: Mapping[str, DrawScores],
    published: Published | None,
    *,
    cells: tuple[CellInfo, ...],
    metrics: tuple[str, ...],
    family_of: Callable[[str], str],
    settings: Iterable[str],
    charts: tuple[Chart, ...],
    notes: Iterable[str],
    failures: Mapping[str, str],
) -> Summary:
    """Put means, tests and verdicts into frames.

    Parameters
    ----------
    study : Study
    scored : mapping of cell id to DrawScores
    published : Published or None
    cells : tuple of CellInfo
    metrics : tuple of str
        The first is the main one, which comparisons are tested on.
    family_of : callable
        From a cell's id to the name of the family that Holm's correction is taken over.
    settings : iterable of str
        What a configuration that explains another puts before that one's cell ids: its variants, "" for the base.
    charts, notes, failures
        As `Summary` has them.
    """
    main = metrics[0]
    verdicts = [row for value in (published.values if published else ()) for row in _verdict(value, study, scored)]
    claims = claim_rows(published, study, settings, lambda claim: draw_evidence(claim, study, scored))
    pairs = [(scored[a], scored[b]) for a, b in study.compare if a in scored and b in scored]
    return Summary(
        name=study.name,
        title=study.title,
        paper=study.paper,
        cells=cells,
        scores=frame(layout.SCORES, [row for each in scored.values() for row in _scores(each, metrics)]),
        significance=frame(layout.SIGNIFICANCE, _tests(pairs, main, family_of)),
        differences=frame(layout.DIFFERENCES, [_difference(a, b, main) for a, b in pairs]),
        verdicts=frame(layout.VERDICTS, verdicts),
        claims=frame(layout.CLAIMS, claims),
        ranges=frame(layout.RANGES, _ranges(published, study, scored)),
        charts=charts,
        failures=failures,
        notes=(*study.notes, *notes),
    )


def draw_evidence(claim: Claim, study: Study, scored: Mapping[str, DrawScores]) -> dict[Comparison, Evidence]:
    """What the scores of one study say of a claim's comparisons."""
    found = {}
    for comparison in claim.comparisons:
        if comparison.config == study.name and comparison.a in scored and comparison.b in scored:
            a, b = scored[comparison.a], scored[comparison.b]
            test = wilcoxon_over_draws(a, b, claim.metric) if claim.test == "wilcoxon" else None
            found[comparison] = Evidence(mean_difference(a, b, claim.metric), test)
    return found


def _scores(scored: DrawScores, metrics: tuple[str, ...]) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for metric in metrics:
        if metric not in scored.scores:  # not every metric is of every cell
            continue
        draws = scored.scores[metric]
        for number, value in enumerate(draws if metric not in scored.known else (), start=1):
            name = f"replicate-{number:02d}"
            rows.append(
                [scored.cell, name, metric, float(value), math.nan, math.nan, scored.n, int(scored.ties[number - 1])]
            )
        mean = mean_estimate(scored, metric)
        ties = int(scored.ties.sum())
        rows.append([scored.cell, layout.HEADLINE, metric, mean.value, mean.low, mean.high, mean.n, ties])
    return rows


def _tests(pairs: list[tuple[DrawScores, DrawScores]], metric: str, family_of: Callable[[str], str]) -> list[list[Any]]:
    families = defaultdict(list)
    for a, b in pairs:
        families[family_of(a.cell)].append(wilcoxon_over_draws(a, b, metric))
    corrected = [result for family in families.values() for result in holm(family)]
    missing = math.nan
    return [
        [r.a, r.b, r.test, r.n, r.statistic, *(missing if p is None else p for p in (r.p_value, r.p_holm)), r.note]
        for r in corrected
    ]


def _difference(a: DrawScores, b: DrawScores, metric: str) -> list[Any]:
    gap = mean_difference(a, b, metric)
    return [a.cell, b.cell, gap.value, gap.low, gap.high, gap.n]


def _verdict(value: PublishedValue, study: Study, scored: Mapping[str, DrawScores]) -> list[list[Any]]:
    ours = _estimate(value, study, scored)
    if ours is None:
        return []
    scale = 100 if value.unit == "percent" else 1
    what = " vs ".join(value.pair) if value.pair else value.cell
    numbers = [scale * ours.value, scale * ours.low, scale * ours.high]
    verdict = judge_value(value, ours).verdict + (layout.ALTERNATIVE if value.alternative else "")
    return [[what, value.metric, value.value, *numbers, verdict]]


def _estimate(value: PublishedValue, study: Study, scored: Mapping[str, DrawScores]) -> Estimate | None:
    names = value.pair or (value.cell or "",)
    if value.config != study.name or not all(name in scored for name in names):
        return None
    if value.pair:
        return mean_ratio(scored[value.pair[0]], scored[value.pair[1]], "error", study.seed)
    return mean_estimate(scored[names[0]], value.metric)


def _ranges(published: Published | None, study: Study, scored: Mapping[str, DrawScores]) -> list[list[Any]]:
    return [_range(each, scored) for each in (published.ranges if published else ()) if each.config == study.name]


def _range(printed: PublishedRange, scored: Mapping[str, DrawScores]) -> list[Any]:
    low, high = float(printed.low), float(printed.high)
    means = [mean_estimate(scored[cell], printed.metric).value for cell in printed.expanded if cell in scored]
    inside = sum(low <= mean <= high for mean in means)
    verdict = "not tested" if len(means) < len(printed.expanded) else "inside" if inside == len(means) else "outside"
    found = (min(means), max(means)) if means else (math.nan, math.nan)
    return [printed.figure, printed.cells, printed.metric, low, high, *found, inside, len(printed.expanded), verdict]


def compare_draws(scored: Mapping[str, DrawScores], metrics: tuple[str, ...], a: str, b: str) -> list[Part]:
    """Two cells of a run: their mean scores, and Wilcoxon's test of one against the other."""
    for name in (a, b):
        if name not in scored:
            raise ConfigError(f"the cell {name!r} failed: it has no predictions")
    one, other = scored[a], scored[b]
    scores: list[tuple[Any, ...]] = []
    tests: list[tuple[Any, ...]] = []
    for metric in metrics:
        gap, test = mean_difference(one, other, metric), wilcoxon_over_draws(one, other, metric)
        means = (f"{100 * mean_estimate(each, metric).value:.2f}" for each in (one, other))
        ends = f"{100 * gap.low:+.2f} to {100 * gap.high:+.2f}"
        scores.append((metric, *means, f"{100 * gap.value:+.2f}", ends))
        p_value = test.note if test.p_value is None else f"{test.p_value:.3g}"
        tests.append((metric, test.n, f"{test.statistic:.1f}", p_value, test.favours or "neither"))
    return [
        Part("Mean scores, %", ("metric", a, b, "difference", "95% interval"), scores),
        Part("Wilcoxon's test over the draws", ("metric", "n", "statistic", "p", "favours"), tests),
    ]


def compare_draw_runs(
    one: Mapping[str, DrawScores], two: Mapping[str, DrawScores], metric: str, names: tuple[str, str]
) -> Part:
    """The main score of the cells that both runs have, and on how many draws it differs."""
    rows: list[tuple[Any, ...]] = []
    for cell in one:
        if cell in two:
            mine, theirs = one[cell].scores[metric], two[cell].scores[metric]
            shared = min(mine.size, theirs.size)
            changed = sum(bool(a != b) for a, b in zip(mine[:shared], theirs[:shared], strict=True))
            gap = 100 * float(theirs.mean() - mine.mean())
            rows.append(
                (cell, f"{100 * mine.mean():.2f}", f"{100 * theirs.mean():.2f}", f"{gap:+.2f}", shared, changed)
            )
    header = ("cell", f"{names[0]} %", f"{names[1]} %", "difference", "draws in both", "draws that differ")
    return Part(f"Mean {metric}", header, rows, "the runs have no cell in common")
