"""Reproduction pages: one for all papers and one for each, with every published value beside ours."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmark.analysis.notes import caveats_of_choices, caveats_of_leaks
from benchmark.analysis.summary import summary_table
from benchmark.config.model import BASE_VARIANT, Experiment
from benchmark.experiment.configuration import load_checked
from benchmark.papers.claims import claim_row, evidence_for, judge_claim
from benchmark.papers.load import published_of_experiment
from benchmark.papers.published import REFERENCE_PAPER
from benchmark.papers.settings import excluded_cells
from benchmark.report.page import render_markdown
from benchmark.report.paper_results import (
    PaperExperiment,
    PaperResult,
    comparison_frame,
    record_frames,
    scoreboard_headline,
)
from benchmark.report.sensitivity import sensitivity_frame, sweep_effect_text
from benchmark.report.writers import frame_csv
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import ConfigError
from benchmark.system.shipped_files import shipped_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.experiment.run import RunResult
    from benchmark.papers.claims import ClaimVerdict, ComparisonVerdict, Evidence
    from benchmark.papers.published import Claim, Comparison
    from benchmark.papers.published_verdicts import Exclusions


def paper_configs(folder: Path) -> list[Experiment]:
    """Return the configurations of papers, and their sensitivity analyses.

    A configuration beside reference values doesn't belong to a paper.

    Raises
    ------
    ConfigError
        If there is none.
    """
    experiments = [load_checked(path) for path in shipped_files(folder, "*.yaml")]
    of_papers = {each.name for each in experiments if each.paper not in (None, REFERENCE_PAPER)}
    selected = [each for each in experiments if of_papers & {each.name, each.sensitivity_of}]
    if not selected:
        raise ConfigError(f"{folder}: no configuration here belongs to a paper")
    return selected


def write_reproduction(done: list[RunResult], path: Path) -> str:
    """Write the page, and the pages and records of papers/; return a line with the page's headline."""
    papers = dict.fromkeys(each.results.experiment.paper for each in done if each.results.experiment.paper)
    sections = [_section([each for each in done if each.results.experiment.paper == key], done) for key in papers]
    files = {f"{each.published.paper}.md": render_markdown("paper", section=each) for each in sections}
    files |= {f"{name}.md": render_markdown(name, sections=sections) for name in ("deviations", "coverage")}
    files |= {f"{name}.csv": frame_csv(table, table.columns) for name, table in record_frames(sections).items()}
    for name, text in files.items():
        write_atomically(path.parent / "papers" / name, text.encode())
    write_atomically(path, render_markdown("reproduction", sections=sections).encode())
    return f"{path}: {scoreboard_headline(sections)}."


def _section(of_paper: list[RunResult], done: list[RunResult]) -> PaperResult:
    """Return the section of one paper; `done` has all runs, with the sensitivity analyses."""
    published = published_of_experiment(of_paper[0].results.experiment)
    if published is None:
        raise ConfigError(f"{of_paper[0].results.experiment.name}: has no published numbers")
    tables = [value.config for value in published.values]
    places = {name: tables.index(name) for name in tables}
    of_paper = sorted(of_paper, key=lambda run: places.get(run.summary.name, len(tables)))
    experiments = []
    for each in of_paper:
        sweeps = [other for other in done if other.results.experiment.sensitivity_of == each.summary.name]
        summaries = tuple(other.summary for other in sweeps)
        tried = sensitivity_frame(each.summary, summaries, {o.summary.name: o.results.scored for o in sweeps})
        remarks = published.remarks.get(each.summary.name, ())
        experiments.append(PaperExperiment(each.summary, tried, remarks, summaries, _caveats(each, sweeps)))
    runs = [each.results for each in of_paper]
    asides = {cell: aside for run in runs for cell, aside in excluded_cells(run.experiment).items()}
    readings = {name: words for run in runs for name, words in run.experiment.readings.items()}
    judged = [(claim, verdict) for claim in published.claims for verdict in _judged(claim, runs, asides)]
    counted = [v for v in published.values if not v.alternative and (v.config, v.cell) not in asides]
    printed = {(v.config, v.metric, v.cell): float(v.value) / (100 if v.unit == "percent" else 1) for v in counted}
    comparisons = [
        row | {"variant": readings.get(verdict.variant or BASE_VARIANT, verdict.variant)}
        for claim, verdict in judged
        for compared in verdict.comparisons
        if (row := _comparison(claim, compared, printed))
    ]
    chosen = {cell for run in runs for cell in run.experiment.chosen_on_test}
    return PaperResult(
        published,
        tuple(experiments),
        summary_table("claims", [claim_row(verdict, chosen, readings) for _, verdict in judged]),
        Counter(value.kind for value in counted),
        comparison_frame(comparisons),
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


def _caveats(run: RunResult, sweeps: list[RunResult]) -> tuple[str, ...]:
    """Return notes and caveats, with the effect of the caveat's honest setting if a sensitivity analysis has it."""
    experiment = run.results.experiment

    def effects(honest: dict[str, Any]) -> list[str]:
        return [
            sweep_effect_text(run.summary, each.summary, variant)
            for each in sweeps
            for variant, over in each.results.experiment.raw.get("variants", {}).items()
            if honest and over == honest
        ]

    leaks = caveats_of_leaks(run.results, run.summary.leaks)
    return (*experiment.notes, *leaks, *caveats_of_choices(experiment, lambda honest: filter(None, effects(honest))))


def _comparison(claim: Claim, judged: ComparisonVerdict, printed: Mapping[Any, float]) -> dict[str, Any]:
    """Return a comparison of a claim by the columns `COMPARISONS`, with that of the published values.

    `printed` are these values by configuration, metric and cell, shares as fractions.
    """
    compared, evidence, metric = judged.comparison, judged.evidence, claim.metric_of(judged.comparison)
    if evidence is None:
        return {}
    a, b = (printed.get((compared.config, metric, cell), math.nan) for cell in (compared.a, compared.b))
    row: dict[str, Any] = {"claim": claim.id, "config": compared.config, "a": compared.a, "b": compared.second}
    row |= {"metric": metric, "relation": claim.relation}
    row |= {name: getattr(evidence.estimate, name) for name in ("value", "low", "high")}
    row["published"] = a - b if claim.relation != "ratio" else a / b if b else math.nan
    row |= dict(zip(("claimed_low", "claimed_high"), claim.span, strict=True)) if claim.is_ranged else {}
    row |= {"p_value": evidence.test.p_value, "p_holm": evidence.test.p_holm} if evidence.test else {}
    row |= {"detectable": judged.detectable, "paper_verdict": judged.paper, "strict_verdict": judged.strict}
    return row | {"verdict": judged.strict if claim.test is not None or claim.is_ranged else judged.paper}
