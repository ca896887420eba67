"""The published numbers that a configuration is compared with, and what is judged of them, as rows of frames."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from benchmark.config.model import BASE
from benchmark.evaluation import published as papers
from benchmark.evaluation.judging import judge_claims, judge_ranges, judge_values
from benchmark.report.contents import CLAIMS, RANGES, VERDICTS, frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from benchmark.config.model import Experiment, Study
    from benchmark.evaluation.published import ClaimVerdict, Published, ValueVerdict
    from benchmark.evaluation.scored import Scored


_TESTS = {"sign": "the sign test", "mcnemar": "McNemar's test"}
_BY_DOCUMENT = "each document counts once, for the cell that was right on it in more of the draws"
_BY_DRAW = (
    "over all decisions, document × class, of each draw; Z is the draws' median, and p twice the median p (Rüger 1978)"
)


def published_for(study: Study) -> Published | None:
    """The numbers and claims of the study's paper; of one that explains another, those of that one's paper."""
    if study.paper:
        return papers.load_published(papers.FOLDER / f"{study.paper}.yaml")
    for path in sorted(papers.FOLDER.glob("*.yaml")) if study.explains else ():
        found = papers.load_published(path)
        configs = {each.config for each in found.values}  # noqa: PD011 - no frame's
        if study.explains in configs.union(c.config for claim in found.claims for c in claim.comparisons):
            return found
    return None


def verdict_frame(published: Published | None, study: Experiment, scored: Scored) -> pd.DataFrame:
    """Every printed number beside ours, in the unit of the print."""
    judged = judge_values(published, study.name, scored) if published else []
    return frame(VERDICTS, [_verdict(each) for each in judged])


def claim_frame(claims: Sequence[ClaimVerdict]) -> pd.DataFrame:
    """Every claim under each variant; its text stands with the configuration itself."""
    rows = []
    for each in claims:
        text = "" if each.variant else each.claim.text
        rows.append([each.claim.id, each.variant, text, each.holds, len(each.comparisons), each.verdict])
    return frame(CLAIMS, rows)


def judged_claims(published: Published | None, study: Experiment, scored: Scored) -> list[ClaimVerdict]:
    """The claims on this experiment, under each of its variants where it explains another."""
    if published is None:
        return []
    variants = ["" if name == BASE else name for name in study.variants] if study.explains else [""]
    return judge_claims(published, study.name, study.explains, variants, scored)


def range_frame(published: Published | None, study: Experiment, scored: Scored) -> pd.DataFrame:
    """Every printed range beside the least and greatest of ours, as fractions."""
    rows = []
    for each in judge_ranges(published, study.name, scored) if published else []:
        printed = each.published
        ours = (float(printed.low), float(printed.high), each.low, each.high)
        what = (printed.figure, printed.cells, printed.metric, printed.printed_in)
        rows.append([*what, *ours, each.inside, each.of, each.verdict])
    return frame(RANGES, rows)


def sweep_notes(claims: Sequence[ClaimVerdict]) -> Iterator[str]:
    """For each claim the variants under which all of it holds, and where there are none, those that come nearest."""
    by_claim: dict[str, list[ClaimVerdict]] = defaultdict(list)
    for each in claims:
        by_claim[each.claim.id].append(each)
    for claim, own in by_claim.items():
        most, of = max(each.holds for each in own), len(own[0].comparisons)
        names = ", ".join(each.variant or BASE for each in own if each.holds == most)
        where = f"under {names}" if most == of else f"nowhere; most, {most} of {of}, under {names}"
        yield f"The claim {claim} holds {where if most else 'nowhere, not even in part'}."


def tests_in_words(claims: Sequence[ClaimVerdict], scored: Scored) -> list[str]:
    """What the tests of right and wrong decisions counted that claims name, where draws test documents repeatedly."""
    found = []
    for each in claims:
        for comparison in each.comparisons:
            test = comparison.evidence.test if comparison.evidence else None
            outcome = scored.cells[test.a].outcome if test is not None and test.test in _TESTS else None
            if test is not None and outcome is not None and outcome.repeats_documents:
                how = test.note or (_BY_DRAW if outcome.several else _BY_DOCUMENT)
                found.append(f"The claim {each.claim.id} by {_TESTS[test.test]}: {how}.")
    return list(dict.fromkeys(found))


def _verdict(judged: ValueVerdict) -> list[Any]:
    printed, ours = judged.published, judged.ours
    what = " vs ".join(printed.pair) if printed.pair else printed.cell
    scale = 100 if printed.unit == "percent" else 1
    low, high = (math.nan, math.nan) if ours.method == "count" else (scale * ours.low, scale * ours.high)
    numbers = (scale * ours.value, low, high)
    return [what, printed.metric, printed.reading, printed.value, printed.printed_in, *numbers, judged.verdict]
