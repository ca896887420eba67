"""A paper's claims against the scores of its experiments: by its own rule, and strictly.

Strictly is by a two-sided test after Holm's correction over the claim, or by a whole interval; either way a comparison
holds, is not shown, or is contradicted.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from scipy import special

from benchmark.evaluation.intervals import Z_LEVEL
from benchmark.evaluation.judging import aside_of
from benchmark.evaluation.published import Template
from benchmark.evaluation.significance import holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.judging import Aside, Asides
    from benchmark.evaluation.published import Claim, Comparison, Published
    from benchmark.evaluation.scored import Scored
    from benchmark.evaluation.significance import TestResult

#: What a "not shown" is told with: the difference that the test would have found so often.
POWER = 0.8
Word = Literal["holds", "not shown", "contradicted", "fails", "not testable", "missing"]


@dataclass(frozen=True)
class Evidence:
    """What our outcomes say of one comparison.

    Parameters
    ----------
    estimate : Estimate
        The difference of the scores, or their ratio.
    test : TestResult or None
        The strict test, if the claim names one.
    rule_test : TestResult or None
        The test of the paper's rule.
    """

    estimate: Estimate
    test: TestResult | None = None
    rule_test: TestResult | None = None


@dataclass(frozen=True)
class ComparisonVerdict:
    """A comparison, its evidence (p_holm is over the claim), and what becomes of it by the paper's rule and strictly.

    `strict` is "holds", "contradicted" (the other way, significantly), or else "not shown"; `paper` is the same by a
    test, and "holds" or "fails" by the scores. Either may be "not testable" or "missing".
    """

    comparison: Comparison
    evidence: Evidence | None
    paper: Word
    strict: Word
    detectable: float = math.nan


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim and what became of each comparison.

    `variant` of the experiment; "" is the configuration itself. `whole` is how many comparisons the claim has over all
    configurations. `aside` is why it shows nothing of the paper.
    """

    claim: Claim
    comparisons: tuple[ComparisonVerdict, ...]
    variant: str = ""
    whole: int = 0
    aside: Aside | None = None

    @property
    def paper(self) -> str:
        """The verdict by the paper's rule, in words."""
        return in_words([each.paper for each in self.comparisons])

    @property
    def strict(self) -> str:
        """The strict verdict, in words."""
        return in_words([each.strict for each in self.comparisons])

    @property
    def counted(self) -> str:
        """Empty, or why the claim isn't counted among the paper's."""
        if self.aside:
            return self.aside.kind
        return f"same as {self.claim.same_as}" if self.claim.same_as else self.claim.aside


def in_words(words: list[Word]) -> str:
    """What becomes of a claim whose comparisons all have to hold.

    Examples
    --------
    >>> in_words(["holds", "not shown", "contradicted"])
    'holds in part (1 of 3, 1 contradicted)'
    """
    n, counts = len(words), Counter(words)
    undecided = [f"{counts[kind]} of {n} {kind}" for kind in ("missing", "not testable") if counts[kind]]
    if undecided:
        return f"not tested ({', '.join(undecided)})"
    if counts["holds"] == n:
        return "holds"
    other = counts["contradicted"]
    if counts["holds"]:
        return f"holds in part ({counts['holds']} of {n}{f', {other} contradicted' if other else ''})"
    if other:
        return "contradicted" if other == n else f"contradicted in part ({other} of {n})"
    return "fails" if counts["fails"] else "not shown"


def judge_claim(
    claim: Claim,
    evidence: Mapping[Comparison, Evidence],
    variant: str = "",
    whole: int = 0,
    asides: Asides | None = None,
) -> ClaimVerdict:
    """Decide each comparison of the claim by the paper's rule and strictly.

    Parameters
    ----------
    claim : Claim
    evidence : mapping of Comparison to Evidence
        For as many of the claim's comparisons as have been run; the tests need no correction, it is made here.
    variant : str
        Under which it is judged.
    whole : int
        How many comparisons the claim has over all configurations.
    asides : mapping of (configuration, cell id) to Aside, optional
    """
    found = {c: evidence[c] for c in claim.comparisons if c in evidence}
    if claim.test is not None:
        corrected = holm(_test_of(claim, each.test, claim.test) for each in found.values())
        found = {c: replace(e, test=t) for (c, e), t in zip(found.items(), corrected, strict=True)}
    if claim.rule.test is not None:
        ruled = [_by_rule(claim, _test_of(claim, each.rule_test, claim.rule.test)) for each in found.values()]
        ruled = holm(ruled) if claim.rule.correction == "holm" else [replace(t, p_holm=t.p_value) for t in ruled]
        found = {c: replace(e, rule_test=t) for (c, e), t in zip(found.items(), ruled, strict=True)}
    strict = {c: _strictly(claim, e) for c, e in found.items()}
    left = max(1, len(found) - sum(word in ("holds", "contradicted") for word in strict.values()))
    judged = []
    for comparison in claim.comparisons:
        own = found.get(comparison)
        if own is None:
            judged.append(ComparisonVerdict(comparison, None, "missing", "missing"))
            continue
        seen = _detectable(claim, own.estimate, left) if strict[comparison] == "not shown" else math.nan
        judged.append(ComparisonVerdict(comparison, own, _by_the_paper(claim, own), strict[comparison], seen))
    aside = aside_of(asides, [(c.config, cell) for c in claim.comparisons for cell in (c.a, c.b)])
    return ClaimVerdict(claim, tuple(judged), variant, whole or len(judged), aside)


def _test_of(claim: Claim, test: TestResult | None, name: str) -> TestResult:
    if test is None or test.test != name:
        raise ValueError(f"the claim {claim.id!r} is decided by the test {name!r}, which its evidence lacks")
    return test


def _by_rule(claim: Claim, test: TestResult) -> TestResult:
    """The test with the p-value of the rule's sides; the exact tests are symmetric, so that one side is half of two."""
    if claim.rule.sides == 2 or test.p_value is None:
        return test
    return replace(test, p_value=test.p_value / 2 if test.favours == test.a else 1 - test.p_value / 2)


def _by_the_paper(claim: Claim, evidence: Evidence) -> Word:
    test, value = evidence.rule_test, evidence.estimate.value
    if test is None:
        if claim.relation in ("greater", "lower"):
            return "holds" if (value < 0 if claim.relation == "lower" else value > 0) else "fails"
        low, high = claim.span
        return "holds" if low <= value <= high else "fails"
    if test.p_value is None or test.p_holm is None:
        return "not testable"
    significant = test.p_holm < claim.rule.alpha
    if claim.relation == "equivalent":
        return "contradicted" if significant else "holds"
    if claim.rule.sides == 1 and 1 - test.p_value < claim.rule.alpha:
        return "contradicted"
    return _sided(claim, evidence, test) if significant else "not shown"


def _strictly(claim: Claim, evidence: Evidence) -> Word:
    estimate, test = evidence.estimate, evidence.test
    if claim.relation in ("equivalent", "ratio"):
        if math.isnan(estimate.low):
            return "not testable"
        low, high = claim.span
        if low <= estimate.low and estimate.high <= high:
            return "holds"
        return "contradicted" if estimate.high < low or high < estimate.low else "not shown"
    if test is None or test.p_value is None or test.p_holm is None:
        return "not testable"
    return _sided(claim, evidence, test) if test.p_holm < claim.alpha else "not shown"


def _sided(claim: Claim, evidence: Evidence, test: TestResult) -> Word:
    """The side of a significant test; where it favours the one and the score the other, nothing is shown."""
    value = evidence.estimate.value
    above = value < 0 if claim.relation == "lower" else value > 0
    if above and test.favours == test.a:
        return "holds"
    return "contradicted" if not above and value != 0 and test.favours == test.b else "not shown"


def _detectable(claim: Claim, estimate: Estimate, left: int) -> float:
    """What the data could have shown: of a difference, the smallest that is found four times out of five.

    That is (z_{1-α'/2} + z_0.8) standard errors, which the 95% interval gives, at the level α' = alpha / `left` that
    Holm's correction asks of the first of those that are left. Of an equivalence, the smallest margin that is shown.
    """
    if claim.relation == "equivalent":
        return max(abs(estimate.low), abs(estimate.high))
    if claim.relation == "ratio":
        return math.nan
    error = (estimate.high - estimate.low) / (2 * Z_LEVEL)
    return float((special.ndtri(POWER) - special.ndtri(claim.alpha / left / 2)) * error)


def evidence_for(claim: Claim, config: str, scored: Scored) -> dict[Comparison, Evidence]:
    """What the scores of one configuration say of a claim's comparisons."""
    found = {}
    for comparison in claim.comparisons:
        a, b = comparison.a, comparison.b
        if comparison.config == config and scored.has(claim.metric, a, b):
            try:
                estimate = (scored.ratio if claim.relation == "ratio" else scored.difference)(a, b, claim.metric)
                tests = (
                    scored.test(name, a, b, claim.metric) if name else None for name in (claim.test, claim.rule.test)
                )
                found[comparison] = Evidence(estimate, *tests)
            except ValueError:  # of other documents, or a ratio to nothing: nothing is said
                continue
    return found


def judge_claims(
    published: Published,
    config: str,
    explains: str | None,
    variants: Iterable[str],
    scored: Scored,
    asides: Asides | None = None,
) -> list[ClaimVerdict]:
    """Each claim on this configuration alone.

    Where the configuration explains another, each claim on that one's cells under each variant; claims on times are
    left out there, as those were measured when the machine did other things.

    Parameters
    ----------
    published : Published
    config : str
    explains : str or None
    variants : iterable of str
        What stands before cell ids; "" for the configuration itself.
    scored : Scored
    asides : mapping of (configuration, cell id) to Aside, optional
    """
    variants = tuple(variants)
    judged = (
        _judged(claim, config, explains, name, scored, asides)
        for claim in published.claims
        if not (explains and claim.on_clock)
        for name in variants
    )
    return [each for each in judged if each is not None]


def _judged(
    claim: Claim, config: str, explains: str | None, variant: str, scored: Scored, asides: Asides | None
) -> ClaimVerdict | None:
    prefix = f"{variant}-" if variant else ""
    own = [c for c in claim.comparisons if c.config == (explains or config)]
    if explains:  # it need not have every cell of what it explains
        own = [c for c in own if prefix + c.a in scored.cells and prefix + c.b in scored.cells]
    templates = tuple(Template(config=config, a=prefix + c.a, b=prefix + c.b) for c in own)
    part = claim.model_copy(update={"templates": templates})
    found = evidence_for(part, config, scored) if templates else {}
    if not found and (not templates or explains):
        return None
    return judge_claim(part, found, variant, len(claim.comparisons), asides)
