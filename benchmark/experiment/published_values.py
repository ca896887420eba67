"""The published numbers that a configuration is compared with, and the verdicts on its claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.config import PUBLISHED
from benchmark.evaluation.published import Template, judge_claim, load_published
from benchmark.report import summary as layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmark.config import Study
    from benchmark.evaluation.published import Claim, Comparison, Evidence, Published


def published_for(study: Study) -> Published | None:
    """The numbers and claims of the study's paper; of one that explains another, those of that one's paper."""
    if study.paper:
        return load_published(PUBLISHED / f"{study.paper}.yaml")
    for path in sorted(PUBLISHED.glob("*.yaml")) if study.explains else ():
        published = load_published(path)
        configs = {v.config for v in published.values} | {
            c.config for claim in published.claims for c in claim.comparisons
        }
        if study.explains in configs:
            return published
    return None


def claim_rows(
    published: Published | None,
    study: Study,
    settings: Iterable[str],
    evidence: Callable[[Claim], dict[Comparison, Evidence]],
) -> list[list[Any]]:
    """Rows of `layout.CLAIMS`: each claim on this study alone.

    Where the study explains another, each claim on that one's cells under each variant.

    Parameters
    ----------
    published : Published or None
    study : Study
    settings : iterable of str
        What stands before the cell ids: the variants, "" for the base.
    evidence : callable
        What the study's cells say of a claim's comparisons.
    """
    names, rows = list(settings), list[list[Any]]()
    for claim in published.claims if published else ():
        rows += [row for name in names for row in _judged(claim, study, name, evidence)]
    return rows


def _judged(
    claim: Claim, study: Study, setting: str, evidence: Callable[[Claim], dict[Comparison, Evidence]]
) -> list[list[Any]]:
    prefix = f"{setting}-" if setting else ""
    target = study.explains or study.name
    own = [c for c in claim.comparisons if c.config == target]
    if study.explains:  # a sweep need not have every cell of what it explains
        there = {cell.id for cell in study.named_cells}
        own = [c for c in own if prefix + c.a in there and prefix + c.b in there]
    templates = tuple(Template(config=study.name, a=prefix + c.a, b=prefix + c.b) for c in own)
    part = claim.model_copy(update={"templates": templates})
    found = evidence(part) if templates else {}
    if not found and (not templates or study.explains):
        return []
    judged = judge_claim(part, found)
    holds = sum(each.verdict == "holds" for each in judged.comparisons)
    name, text = (f"{claim.id}{layout.VARIANT_MARK}{setting}", "") if setting else (claim.id, claim.text)
    return [[name, text, holds, len(own), judged.verdict]]
