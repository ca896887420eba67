"""Verdicts on a paper's claims from the scores of its experiments, by the paper's rule and by a strict rule.

The strict rule is a two-sided test with Holm's correction over the claim, or a 95% interval that lies in the claimed
range; the claim as a whole needs no correction. Its verdict on a comparison is "holds", "not shown" or "contradicted".
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal

from scipy import special

from benchmark.config.model import BASE_VARIANT
from benchmark.evaluation.intervals import Z_LEVEL
from benchmark.evaluation.significance import holm_correction
from benchmark.papers.published import SHORT_TEST_NAMES
from benchmark.papers.published_verdicts import first_exclusion

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from benchmark.config.model import Experiment
    from benchmark.evaluation.outcomes import Estimate
    from benchmark.evaluation.score_table import ScoreTable
    from benchmark.evaluation.significance import TestResult
    from benchmark.papers.published import Claim, Comparison, Published
    from benchmark.papers.published_verdicts import Exclusion, Exclusions

#: Power at which the detectable difference of a comparison that is "not shown" is computed.
DETECTION_POWER = 0.8
#: Verdict on a claim of which a comparison is missing (its first words), and of which no test can be significant.
NOT_TESTED: Final = "not tested"
NOT_TESTABLE: Final = "not testable"
VerdictWord = Literal["holds", "not shown", "contradicted", "fails", "not testable", "missing"]


@dataclass(frozen=True)
class Evidence:
    """Estimate and tests of one comparison.

    Parameters
    ----------
    estimate : Estimate
        Difference of the scores, or their ratio.
    test : TestResult or None
        Strict test, if the claim names one.
    rule_test : TestResult or None
        Test of the paper's rule.
    """

    estimate: Estimate
    test: TestResult | None = None
    rule_test: TestResult | None = None


@dataclass(frozen=True)
class ComparisonVerdict:
    """Comparison with its evidence (p_holm is over the claim) and its verdicts by the paper's rule and strictly.

    `strict` is "holds", "contradicted" (a significant difference in the other direction) or "not shown". `paper` has
    the same values if the rule is a test, and is "holds" or "fails" if the scores decide. Either may be "missing", or
    "not testable" where no outcome of the test could be significant. `detectable` is the smallest difference that could
    be detected; NaN unless `strict` is "not shown". `alone` is the strict verdict without a correction.
    """

    comparison: Comparison
    evidence: Evidence | None = None
    paper: VerdictWord = "missing"
    strict: VerdictWord = "missing"
    detectable: float = math.nan
    alone: VerdictWord = "missing"


@dataclass(frozen=True)
class ClaimVerdict:
    """Claim with the verdict of each of its comparisons.

    `variant` is the variant of the experiment, "" for the configuration itself. `whole` is the number of comparisons
    of the claim over all configurations. `aside` is the reason why the claim gets no verdict, if any.
    """

    claim: Claim
    comparisons: tuple[ComparisonVerdict, ...]
    variant: str = ""
    whole: int = 0
    aside: Exclusion | None = None

    @property
    def paper(self) -> str:
        """Verdict by the paper's rule, as text."""
        return claim_verdict_text([comparison.paper for comparison in self.comparisons])

    @property
    def strict(self) -> str:
        """Strict verdict, as text.

        A claim needs all of its comparisons: it is an intersection–union test, which is of level alpha if each of them
        is (Berger, Technometrics 24, 1982). So it holds if each holds without a correction. Whether a single one of
        them holds is decided after Holm's correction.
        """
        if all(comparison.alone == "holds" for comparison in self.comparisons):
            return "holds"
        return claim_verdict_text([comparison.strict for comparison in self.comparisons])

    @property
    def counted(self) -> str:
        """Reason why the claim isn't counted among the paper's claims; "" if it is counted."""
        if self.aside:
            return self.aside.kind
        return f"same as {self.claim.same_as}" if self.claim.same_as else self.claim.aside


def claim_verdict_text(words: list[VerdictWord]) -> str:
    """Return the verdict on a claim from those on its comparisons, all of which have to hold.

    Examples
    --------
    >>> claim_verdict_text(["holds", "not shown", "contradicted"])
    'holds in part (1 of 3, 1 contradicted)'
    >>> claim_verdict_text(["holds", "not testable"])
    'holds in part (1 of 2, 1 not testable)'
    """
    n, counts = len(words), Counter(words)
    if counts["missing"]:
        return f"{NOT_TESTED} ({counts['missing']} of {n} missing)"
    if n in (counts["holds"], counts[NOT_TESTABLE]):
        return words[0]
    other, idle = counts["contradicted"], f", {counts[NOT_TESTABLE]} {NOT_TESTABLE}" * bool(counts[NOT_TESTABLE])
    if counts["holds"]:
        return f"holds in part ({counts['holds']} of {n}{f', {other} contradicted' if other else ''}{idle})"
    if other:
        return "contradicted" if other == n else f"contradicted in part ({other} of {n}{idle})"
    word = "fails" if counts["fails"] else "not shown"
    return f"{word} ({counts[NOT_TESTABLE]} of {n} {NOT_TESTABLE})" if idle and word == "not shown" else word


def judge_claim(
    claim: Claim,
    evidence: Mapping[Comparison, Evidence],
    variant: str = "",
    whole: int = 0,
    asides: Exclusions | None = None,
) -> ClaimVerdict:
    """Decide each comparison of the claim by the paper's rule and strictly.

    Parameters
    ----------
    claim : Claim
    evidence : mapping of Comparison to Evidence
        Evidence of the claim's comparisons that have been run, with uncorrected tests; the correction is made here.
    variant : str
        Variant of the experiment, "" for the configuration itself.
    whole : int
        Number of comparisons of the claim over all configurations.
    asides : mapping of (configuration, cell id) to Exclusion, optional
        Reasons why cells give no verdict.

    Returns
    -------
    ClaimVerdict
    """
    known, holm = {c: evidence[c] for c in claim.comparisons if c in evidence}, claim.rule.correction == "holm"
    tests, of_rule = [e.test for e in known.values()], [_by_rule(claim, e.rule_test) for e in known.values()]
    by_rule = _corrected(of_rule, claim.rule.alpha, holm=holm)
    strict, alone = (_corrected(tests, claim.alpha, holm=corrected) for corrected in (True, False))
    words = [
        (_by_the_paper(claim, e.estimate, r), _strictly(claim, e.estimate, s), _strictly(claim, e.estimate, a))
        for e, r, s, a in zip(known.values(), by_rule, strict, alone, strict=True)
    ]
    left = max(1, len(known) - sum(word in ("holds", "contradicted") for _, word, _ in words))
    judged = {
        c: ComparisonVerdict(c, replace(e, test=test), paper, word, _detectable(claim, e.estimate, word, left), single)
        for (c, e), test, (paper, word, single) in zip(known.items(), strict, words, strict=True)
    }
    verdicts = tuple(judged.get(c, ComparisonVerdict(c)) for c in claim.comparisons)
    aside = first_exclusion(asides, [(c.config, cell) for c in claim.comparisons for cell in c.cells])
    return ClaimVerdict(claim, verdicts, variant, whole or len(verdicts), aside)


def _corrected(tests: Sequence[TestResult | None], alpha: float, *, holm: bool) -> Sequence[TestResult | None]:
    """Return tests with Holm's correction over all of them, or with none."""
    found = [test for test in tests if test is not None]
    if holm and found:
        return holm_correction(found, alpha)
    return [test and replace(test, p_holm=test.p_value) for test in tests]


def _by_rule(claim: Claim, test: TestResult | None) -> TestResult | None:
    """Return the test with the rule's one- or two-sided p-value; the exact tests are symmetric: one side is half."""
    if test is None or claim.rule.sides == 2 or test.p_value is None:
        return test
    p_value = test.p_value / 2 if test.favours == test.a else 1 - test.p_value / 2
    return replace(test, p_value=p_value, least_p=test.least_p / 2)


def _by_the_paper(claim: Claim, estimate: Estimate, test: TestResult | None) -> VerdictWord:
    """Return the verdict on a comparison by the paper's rule."""
    value = estimate.value
    if test is None:
        low, high = claim.span
        beside = {"greater": value > 0, "lower": value < 0}.get(claim.relation, low <= value <= high)
        return "holds" if beside else "fails"
    never_differ = claim.relation == "equivalent" and test.n == 0
    if test.p_value is None or test.p_holm is None or not (never_differ or test.is_testable(claim.rule.alpha)):
        return "not testable"
    significant = test.p_holm < claim.rule.alpha
    if claim.relation == "equivalent":
        return "contradicted" if significant else "holds"
    if claim.rule.sides == 1 and 1 - test.p_value < claim.rule.alpha:
        return "contradicted"
    return _sided(claim, value, test) if significant else "not shown"


def _strictly(claim: Claim, estimate: Estimate, test: TestResult | None) -> VerdictWord:
    """Return the strict verdict on a comparison."""
    if claim.is_ranged:
        if math.isnan(estimate.low):
            return "not testable"
        low, high = claim.span
        if low <= estimate.low and estimate.high <= high:
            return "holds"
        return "contradicted" if estimate.high < low or high < estimate.low else "not shown"
    if test is None or test.p_value is None or test.p_holm is None or not test.is_testable(claim.alpha):
        return "not testable"
    return _sided(claim, estimate.value, test) if test.p_holm < claim.alpha else "not shown"


def _sided(claim: Claim, value: float, test: TestResult) -> VerdictWord:
    """Return the verdict of a significant test: "not shown" if test and scores favour different cells."""
    above = value < 0 if claim.relation == "lower" else value > 0
    if above and test.favours == test.a:
        return "holds"
    return "contradicted" if not above and value != 0 and test.favours == test.b else "not shown"


def _detectable(claim: Claim, estimate: Estimate, word: VerdictWord, left: int) -> float:
    """Return the smallest difference that could be detected with a power of 80%; NaN unless the word is "not shown".

    That is (z_{1-α'/2} + z_0.8) standard errors, where the standard error is computed from the 95% interval, and α' =
    alpha / `left` is the level of Holm's correction for the first of the comparisons that are left. For a claim with
    a margin, return the smallest margin that the data would show; for a ratio, NaN.
    """
    if claim.relation == "ratio" or word != "not shown":
        return math.nan
    if claim.relation == "equivalent":
        return max(abs(estimate.low), abs(estimate.high))
    if claim.relation == "not-lower":
        return -estimate.low
    error = (estimate.high - estimate.low) / (2 * Z_LEVEL)
    return float((special.ndtri(DETECTION_POWER) - special.ndtri(claim.alpha / left / 2)) * error)


def evidence_for(claim: Claim, config: str, scored: ScoreTable) -> dict[Comparison, Evidence]:
    """Return the evidence that the scores of one configuration give for a claim's comparisons."""
    evidence = {}
    for comparison in claim.comparisons:
        a, b, metric = comparison.a, comparison.second, claim.metric_of(comparison)
        if comparison.config == config and scored.has(metric, *comparison.cells):
            try:
                table = scored
                if comparison.mean_with:
                    for other in comparison.cells[1:]:
                        scored.difference(a, other, metric)  # raises if the mean can't be paired
                    table = scored.with_mean(b, comparison.cells[1:])
                estimate = (table.ratio if claim.relation == "ratio" else table.difference)(a, b, metric)
                tests = (table.test(name, a, b, metric) if name else None for name in (claim.test, claim.rule.test))
                evidence[comparison] = Evidence(estimate, *tests)
            except ValueError:  # different test documents, or a ratio with the denominator 0: no evidence
                continue
    return evidence


def judge_claims(
    published: Published, experiment: Experiment, scored: ScoreTable, asides: Exclusions | None = None
) -> list[ClaimVerdict]:
    """Return the verdicts on all claims from the comparisons on this configuration only, under each variant.

    The variants are those of a sensitivity analysis, or else the equal readings of the paper. Claims about seconds are
    judged of the configuration itself alone, because the times of variants were measured under other loads. In a part
    of an experiment, claims that need a missing cell are dropped.

    Parameters
    ----------
    published : Published
    experiment : Experiment
    scored : ScoreTable
    asides : mapping of (configuration, cell id) to Exclusion, optional
        Reasons why cells give no verdict.
    """
    name, analysed = experiment.name, experiment.sensitivity_of
    variants = experiment.variants if analysed else experiment.readings or [BASE_VARIANT]
    verdicts = list[ClaimVerdict]()
    for claim, variant in product(published.claims, variants):
        prefix = "" if variant == BASE_VARIANT else f"{variant}-"
        comparisons = [c.prefixed(prefix, name) for c in claim.comparisons if c.config == (analysed or name)]
        if not experiment.left_out.isdisjoint(cell for c in comparisons for cell in c.cells):
            continue
        if analysed:  # a sensitivity analysis need not have every cell of the analysed configuration
            comparisons = [c for c in comparisons if scored.cells.keys() >= {*c.cells}]
        part = claim.of_comparisons(comparisons)
        evidence = evidence_for(part, name, scored)
        if comparisons and (evidence or not analysed) and not (claim.on_clock and (analysed or prefix)):
            verdicts.append(judge_claim(part, evidence, prefix[:-1], len(claim.comparisons), asides))
    return verdicts


def claim_row(
    judged: ClaimVerdict, chosen: Collection[tuple[str, str]] = (), readings: Mapping[str, str] | None = None
) -> tuple[Any, ...]:
    """Return the row of a claim in a table of claims.

    `chosen` has the cells, by (configuration, cell), whose parameters were selected on their test documents. `readings`
    has the words for variants that are equal readings of the paper.
    """
    claim, of = judged.claim, len(judged.comparisons)
    compared = (each.comparison for each in judged.comparisons)
    optimistic = any((comparison.config, cell) in chosen for comparison in compared for cell in comparison.cells)
    variant = (readings or {}).get(judged.variant or BASE_VARIANT, judged.variant)
    holds, strictly = (sum(getattr(each, by) == "holds" for each in judged.comparisons) for by in ("paper", "strict"))
    ranged = claim.is_ranged
    strict_rule = f"{SHORT_TEST_NAMES[claim.test]}, two-sided, {claim.alpha:g}, Holm" if claim.test else "no test"
    strict = judged.strict if ranged or claim.test else "no test"
    rules = f"{claim.rule.in_words}{'; chosen on the test' * optimistic}", "95% interval" if ranged else strict_rule
    by_paper, by_test = (rules[0], holds, of, judged.paper), (rules[1], strictly, strict)
    return (claim.id, variant, claim.text, *by_paper, *by_test, judged.whole, judged.counted)
