"""Reproduction pages: one for all papers and one for each, with every published value beside ours."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmark.analysis.caveats import find_caveats
from benchmark.analysis.prose.verdict_sentences import claim_notes
from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summary import CLAIMS, summary_table
from benchmark.config.model import BASE_VARIANT, Experiment
from benchmark.experiment.configuration import load_checked
from benchmark.papers.claims import claim_row, evidence_for, judge_claim
from benchmark.papers.load import published_of_experiment
from benchmark.papers.settings import excluded_cells
from benchmark.report.page import (
    deviations_page,
    paper_page,
    reproduction_page,
    sensitivity_scores,
    sweep_effect_text,
)
from benchmark.report.paper_results import COMPARISONS, PaperExperiment, PaperResult
from benchmark.report.scoreboard import record_frames, scoreboard_headline
from benchmark.report.writers import frame_csv
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import ConfigError
from benchmark.system.shipped_files import shipped_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmark.config.model import Experiment
    from benchmark.experiment.run import RunResult
    from benchmark.papers.claims import ClaimVerdict, ComparisonVerdict, Evidence
    from benchmark.papers.published import Claim, Comparison, Published
    from benchmark.papers.published_verdicts import Exclusions


def paper_configs(folder: Path) -> list[Experiment]:
    """Return the configurations of papers, and their sensitivity analyses.

    A configuration with reference values only doesn't belong to a paper.

    Raises
    ------
    ConfigError
        If there is none, or a sensitivity analysis is of a configuration that belongs to no paper.
    """
    experiments = [load_checked(path) for path in shipped_files(folder, "*.yaml")]
    of_papers = {
        experiment.name for experiment in experiments if experiment.paper and not _reference_values_alone(experiment)
    }
    for experiment in experiments:
        if experiment.sensitivity_of and experiment.sensitivity_of not in of_papers:
            problem = f"sensitivity_of is {experiment.sensitivity_of!r}, which isn't a configuration of a paper"
            raise ConfigError(f"{experiment.name}: {problem}")
    selected = [experiment for experiment in experiments if experiment.name in of_papers or experiment.sensitivity_of]
    if not selected:
        raise ConfigError(f"{folder}: no configuration here belongs to a paper")
    return selected


def _reference_values_alone(experiment: Experiment) -> bool:
    """Return whether a configuration has reference values but no values, ranges or claims of a paper."""
    published = published_of_experiment(experiment)
    return published is not None and bool(published.reference_values) and not published.of_paper


def write_reproduction(done: list[RunResult], path: Path) -> str:
    """Write the page, and the pages and records of papers/; return a line with the page's headline."""
    papers = dict.fromkeys(each.results.experiment.paper for each in done if each.results.experiment.paper)
    sections = [_section([each for each in done if each.results.experiment.paper == key], done) for key in papers]
    pages = {section.key: paper_page(section) for section in sections} | {"deviations": deviations_page(sections)}
    for name, text in pages.items():
        write_atomically(path.parent / "papers" / f"{name}.md", text.encode())
    for name, table in record_frames(sections).items():
        write_atomically(path.parent / "papers" / f"{name}.csv", frame_csv(table, table.columns).encode())
    write_atomically(path, reproduction_page(sections).encode())
    return f"{path}: {scoreboard_headline(sections)}."


def _section(of_paper: list[RunResult], done: list[RunResult]) -> PaperResult:
    """Return the section of one paper; `done` has all runs, with the sensitivity analyses."""
    published = published_of_experiment(of_paper[0].results.experiment)
    if published is None:
        raise ConfigError(f"{of_paper[0].results.experiment.name}: has no published numbers")
    tables = [value.config for value in published.values]
    of_paper = sorted(
        of_paper, key=lambda run: tables.index(run.summary.name) if run.summary.name in tables else len(tables)
    )
    experiments = []
    for each in of_paper:
        of_sweeps = [other for other in done if other.results.experiment.sensitivity_of == each.summary.name]
        scored = {o.summary.name: o.results.scored for o in of_sweeps if isinstance(o.results, RunPredictions)}
        sweeps = tuple(other.summary for other in of_sweeps)
        tried = sensitivity_scores(each.summary, sweeps, scored)
        remarks = published.remarks.get(each.summary.name, ())
        experiments.append(PaperExperiment(each.summary, tried, remarks, sweeps, _caveats(each, done)))
    claims, comparisons = [], []
    runs = [each.results for each in of_paper if isinstance(each.results, RunPredictions)]
    asides = {cell: aside for run in runs for cell, aside in excluded_cells(run.experiment).items()}
    printed = Counter(
        value.kind for value in published.values if not value.alternative and (value.config, value.cell) not in asides
    )
    readings = {name: words for run in runs for name, words in run.experiment.readings.items()}
    chosen = {cell for run in runs for cell in run.experiment.chosen_on_test}
    for claim in published.claims:
        for judged in _judged(claim, runs, asides):
            claims.append(judged)
            variant = readings.get(judged.variant or BASE_VARIANT, judged.variant)
            for compared in judged.comparisons:
                if compared.evidence is not None:
                    gap = _published_gap(claim, compared.comparison, published, asides)
                    comparisons.append(_comparison(claim, variant, compared, compared.evidence, gap))
    return PaperResult(
        published.paper,
        published.title,
        published.reference,
        tuple(experiments),
        summary_table(CLAIMS, [claim_row(judged, chosen, readings) for judged in claims]),
        printed,
        summary_table(COMPARISONS, comparisons),
        (*claim_notes(published.claims), *_not_measured(published, of_paper)),
        published.finding,
    )


def _judged(claim: Claim, runs: list[RunPredictions], asides: Exclusions) -> Iterator[ClaimVerdict]:
    """Yield the verdict on a claim over all configurations, under each equal reading of the paper."""
    of_claim = {comparison.config for comparison in claim.comparisons}
    named = {name: run.experiment.readings for run in runs if (name := run.experiment.name) in of_claim}
    variants = dict.fromkeys(variant for readings in named.values() for variant in readings) or {BASE_VARIANT: None}
    for variant in variants:
        if claim.on_clock and variant != BASE_VARIANT:
            continue
        prefixes = {name: f"{variant}-" for name, of in named.items() if variant in of and variant != BASE_VARIANT}
        prefixed = claim.of_comparisons(c.prefixed(prefixes.get(c.config, ""), c.config) for c in claim.comparisons)
        evidence: dict[Comparison, Evidence] = {}
        for run in runs:
            evidence |= evidence_for(prefixed, run.experiment.name, run.scored)
        yield judge_claim(prefixed, evidence, "" if variant == BASE_VARIANT else variant, asides=asides)


def _not_measured(published: Published, done: list[RunResult]) -> Iterator[str]:
    """Yield a sentence that lists the published values that we didn't measure, if any."""
    judged = {
        (each.summary.name, row["cell"], row["metric"])
        for each in done
        for row in each.summary.verdicts.to_dict("records")
    }
    missing = [
        f"{value.config} {what} {value.metric}"
        for value in published.values
        for what in [" vs ".join(value.pair) if value.pair else value.cell]
        if not value.alternative and (value.config, what, value.metric) not in judged
    ]
    if missing:
        yield f"Not measured: {', '.join(missing)}."


def _caveats(run: RunResult, done: list[RunResult]) -> tuple[str, ...]:
    """Return notes and caveats, with the effect of the caveat's honest setting if a sensitivity analysis has it."""
    experiment = run.results.experiment
    caveats = list(experiment.notes)
    for caveat in find_caveats(experiment, run.summary.leaks, run.summary.duplicates):
        effects = [
            sweep_effect_text(run.summary, each.summary, variant)
            for each in done
            if each.results.experiment.sensitivity_of == experiment.name and caveat.honest
            for variant, over in each.results.experiment.raw.get("variants", {}).items()
            if over == caveat.honest
        ]
        text = "; ".join(filter(None, [caveat.text, *effects]))
        caveats.append(f"{text[0].upper()}{text[1:]}.")
    return tuple(caveats)


def _comparison(
    claim: Claim, variant: str, judged: ComparisonVerdict, evidence: Evidence, published: float
) -> list[Any]:
    """Return a comparison of a claim as a row of `COMPARISONS`."""
    compared = judged.comparison
    pair = [claim.id, variant, compared.config, compared.a, compared.b, claim.metric_of(compared), claim.relation]
    ranged = claim.relation in ("equivalent", "ratio")
    tested, claimed = claim.test is not None or ranged, claim.span if ranged else (math.nan, math.nan)
    verdicts = [judged.detectable, judged.paper, judged.strict, judged.strict if tested else judged.paper]
    gap, test = evidence.estimate, evidence.test
    p_values = (None, None) if test is None else (test.p_value, test.p_holm)
    numbers = [math.nan if p_value is None else p_value for p_value in p_values]
    return [*pair, gap.value, gap.low, gap.high, published, *claimed, *numbers, *verdicts]


def _published_gap(claim: Claim, comparison: Comparison, published: Published, asides: Exclusions) -> float:
    """Return the difference or ratio of the published values of a comparison's cells, as in the score frame."""
    found = {
        value.cell: float(value.value) / (100 if value.unit == "percent" else 1)
        for value in published.values
        if (value.config, value.metric, value.alternative) == (comparison.config, claim.metric_of(comparison), False)
        and (value.config, value.cell) not in asides
    }
    a, b = (found.get(cell, math.nan) for cell in (comparison.a, comparison.b))
    if claim.relation == "ratio":
        return a / b if b else math.nan
    return a - b
