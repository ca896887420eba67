"""Verdicts on a paper's published values and claims, as rows of frames."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from benchmark.analysis.summary import CLAIMS, RANGES, VERDICT_TABLE_COLUMNS, summary_table
from benchmark.config.model import BASE_VARIANT
from benchmark.papers.claims import judge_claims
from benchmark.papers.published import TEST_NAMES
from benchmark.papers.published_verdicts import judge_ranges, judge_values
from benchmark.papers.settings import excluded_cells

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pandas as pd

    from benchmark.config.model import Experiment
    from benchmark.evaluation.score_table import ScoreTable
    from benchmark.papers.claims import ClaimVerdict
    from benchmark.papers.published import Claim, Published
    from benchmark.papers.published_verdicts import ValueVerdict


def value_verdict_frame(published: Published | None, experiment: Experiment, scored: ScoreTable) -> pd.DataFrame:
    """Return the frame of published values beside ours, in the paper's unit."""
    judged = judge_values(published, experiment.name, scored, excluded_cells(experiment)) if published else []
    return summary_table(VERDICT_TABLE_COLUMNS, [_verdict(each) for each in judged])


def claim_verdict_frame(
    claims: Sequence[ClaimVerdict],
    chosen: Collection[tuple[str, str]] = (),
    readings: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return the frame of claims under each variant.

    `chosen` has the cells, by (configuration, cell), whose parameters were selected on their test documents. `readings`
    has the words for variants that are equal readings of the paper.
    """
    return summary_table(CLAIMS, [_claim(each, chosen, readings or {}) for each in claims])


def judge_experiment_claims(
    published: Published | None, experiment: Experiment, scored: ScoreTable
) -> list[ClaimVerdict]:
    """Judge the claims on this experiment, under each variant of a sensitivity analysis, or each reading of the paper.

    In a part of an experiment, claims that need a missing cell are dropped.
    """
    if published is None:
        return []
    named = experiment.variants if experiment.sensitivity_of else experiment.readings or [BASE_VARIANT]
    variants = ["" if name == BASE_VARIANT else name for name in named]
    judged = judge_claims(
        published, experiment.name, experiment.sensitivity_of, variants, scored, excluded_cells(experiment)
    )
    claims, config = {claim.id: claim for claim in published.claims}, experiment.sensitivity_of or experiment.name

    def whole(each: ClaimVerdict) -> bool:
        own = [c for c in claims[each.claim.id].comparisons if c.config == config]
        prefix = f"{each.variant}-" if each.variant else ""
        return experiment.left_out.isdisjoint(prefix + cell for c in own for cell in (c.a, c.b))

    return [each for each in judged if whole(each)]


def range_verdict_frame(published: Published | None, experiment: Experiment, scored: ScoreTable) -> pd.DataFrame:
    """Return the frame of published ranges beside the least and greatest of our values, as fractions."""
    rows = []
    for each in judge_ranges(published, experiment.name, scored) if published else []:
        printed = each.published
        ours = (float(printed.low), float(printed.high), each.low, each.high)
        what = (printed.figure, printed.cells, printed.metric, printed.printed_in)
        rows.append([*what, *ours, each.inside, each.of, each.verdict])
    return summary_table(RANGES, rows)


def strict_rule_label(claim: Claim) -> str:
    """Describe the strict rule of a claim, as tables show it."""
    if claim.relation in ("equivalent", "ratio"):
        return "95% interval"
    return f"{TEST_NAMES[claim.test]}, two-sided, {claim.alpha:g}, Holm" if claim.test else "no test"


def _claim(judged: ClaimVerdict, chosen: Collection[tuple[str, str]], readings: Mapping[str, str]) -> list[Any]:
    claim, of = judged.claim, len(judged.comparisons)
    compared = (each.comparison for each in judged.comparisons)
    optimistic = any((own.config, cell) in chosen for own in compared for cell in (own.a, own.b))
    rule = f"{claim.rule.in_words}{'; chosen on the test' if optimistic else ''}"
    variant = readings.get(judged.variant or BASE_VARIANT, judged.variant)
    paper, strict = ([getattr(each, name) for each in judged.comparisons] for name in ("paper", "strict"))
    untested = claim.test is None and claim.relation in ("greater", "lower")
    strictly = [strict_rule_label(claim), _held(strict), "no test" if untested else judged.strict]
    what = [claim.id, variant, claim.text]
    return [*what, rule, _held(paper), of, judged.paper, *strictly, judged.whole, judged.counted]


def _held(words: Sequence[str]) -> int:
    return sum(word == "holds" for word in words)


def _verdict(judged: ValueVerdict) -> list[Any]:
    printed, ours, scale = judged.published, judged.ours, judged.scale
    what = " vs ".join(printed.pair) if printed.pair else printed.cell
    low, high = (math.nan, math.nan) if printed.kind == "count" else (scale * ours.low, scale * ours.high)
    between = judged.between
    over = (math.nan, math.nan) if between is None else (scale * between.low, scale * between.high)
    names = [what, printed.metric, printed.kind, judged.reading, printed.value, printed.printed_in]
    numbers = [scale * ours.value, low, high, judged.sample, *over, judged.documents, judged.widest]
    return [*names, *numbers, judged.verdict, judged.grade, judged.aside.why if judged.aside else ""]
