"""Markdown pages of reproduced papers: one page of all papers, and one page for each with its published values."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from scipy.special import ndtri

from benchmark.analysis.formatting.number_text import (
    MISSING_TEXT,
    interval_text,
    is_missing,
    number_text,
    p_text,
    printed_decimals,
)
from benchmark.analysis.formatting.published_rows import in_shown_unit
from benchmark.analysis.formatting.units import Unit, display_unit, metric_name, metric_with_unit, unit_named
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.evaluation.intervals import CONFIDENCE_LEVEL, Z_LEVEL, Estimate
from benchmark.papers import published
from benchmark.papers.published import PublishedValue
from benchmark.papers.published_verdicts import ValueVerdict
from benchmark.papers.verdict_counts import NO_VALUES, verdict_counts_text
from benchmark.report.comparison_grids import exception_grid
from benchmark.report.escapes import markdown_text
from benchmark.report.grids import (
    TextTable,
    claim_grid,
    difference_text,
    range_grid,
    reference_value_grid,
    verdict_grid,
)
from benchmark.report.paper_results import SensitivityScore
from benchmark.report.scoreboard import counts_grid, paper_cards, scoreboard_headline
from benchmark.report.tables import brief_grids, markdown_grid
from benchmark.report.verdict_signs import CLAIM_SIGNS_LEGEND, verdict_sign

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from benchmark.analysis.summary import CellInfo, Summary
    from benchmark.report.paper_results import PaperExperiment, PaperResult

BASE_VARIANT_LABEL = "as configured"
MAX_NAMED = 3  # variants of a sentence; the table below it has all


def reproduction_page(sections: Sequence[PaperResult], images: str = "") -> str:
    """Write the page of all papers as Markdown, one row for each paper.

    `images` is the address of the folder with the committed pictures, if the page shows them.
    """
    counts, cards = counts_grid(sections), paper_cards(sections)
    headline, legend = scoreboard_headline(sections), CLAIM_SIGNS_LEGEND
    return render_markdown("reproduction", headline=headline, counts=counts, cards=cards, legend=legend, images=images)


def paper_page(section: PaperResult) -> str:
    """Write the page of one paper as Markdown."""
    (card,) = paper_cards([section])
    return render_markdown("paper", section=section, card=card, legend=CLAIM_SIGNS_LEGEND)


def deviations_page(sections: Sequence[PaperResult]) -> str:
    """Write the page of deviations as Markdown: for each paper, the values that deviate and the claims that fail."""
    return render_markdown("deviations", sections=sections)


def render_markdown(template: str, **values: Any) -> str:
    """Return the Markdown of a template filled with these values."""
    environment = Environment(
        loader=PackageLoader("benchmark.report"),
        autoescape=select_autoescape(),  # HTML only: Markdown is escaped by the filter
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "brief_grids": brief_grids,
        "broken": _broken,
        "claims": claim_grid,
        "counted": verdict_counts_text,
        "deviating": _deviating,
        "exceptions": exception_grid,
        "explained": sensitivity_sentence,
        "grid": markdown_grid,
        "reference_values": reference_value_grid,
        "md": markdown_text,
        "sign": verdict_sign,
        "p_text": p_text,
        "ranges": range_grid,
        "swept": swept_claims_grid,
        "tried": sensitivity_grid,
        "verdicts": verdict_grid,
    }
    environment.globals["no_values"] = NO_VALUES
    return environment.get_template(f"{template}.md.j2").render(**values).rstrip("\n") + "\n"


def _deviating(verdicts: pd.DataFrame) -> pd.DataFrame:
    return verdicts[(verdicts["verdict"] == "deviates") & (verdicts["reading"] == "")]


def _broken(claims: pd.DataFrame) -> pd.DataFrame:
    """Return the counted claims that fail, by the paper's rule or by a strict test."""
    whole = (claims["verdict"] == "holds") & claims["strict_verdict"].isin(["holds", "no test"])
    return claims[(claims["counted"] == "") & ~whole]


def sensitivity_scores(summary: Summary, sweeps: Iterable[Summary]) -> tuple[SensitivityScore, ...]:
    """Return the scores of the deviating cells under the variants of the sweeps.

    A cell of a sweep is a trial of a deviating cell if both are the same setting of the same method (see `_same_cell`)
    and differ in variant or classifier. The first trial of each cell is the experiment itself.
    """
    scored = [(sweep.cells, sweep.headlines) for sweep in sweeps]
    headline, cells = summary.headlines, {cell.id: cell for cell in summary.cells}
    results = []
    for row in summary.verdicts.to_dict("records"):
        score = headline.get((row["cell"], row["metric"]))
        if row["verdict"] != "deviates" or row["reading"] or score is None:
            continue
        base = cells[row["cell"]]
        results.append(_trial(row, BASE_VARIANT_LABEL, score))
        for others, scores in scored:
            for cell in others:
                tried, changed = scores.get((cell.id, row["metric"])), _changed(cell, base)
                if changed and tried and not is_missing(tried["value"]) and _same_cell(cell, base):
                    results.append(_trial(row, changed, tried))
    return tuple(results)


def sweep_effect_text(summary: Summary, sweep: Summary, variant: str) -> str:
    """Write how far the scores of a sweep's variant differ from those of the experiment, as a clause."""
    metric = summary.main_metric
    ours, theirs, unit = summary.headlines, sweep.headlines, display_unit(metric, summary.quantities)
    pairs = (
        (ours.get((base.id, metric)), theirs.get((cell.id, metric)))
        for cell in sweep.cells
        if cell.variant == variant
        for base in summary.cells
        if _same_cell(cell, base) and cell.classifier == base.classifier
    )
    gaps = [other["value"] - base["value"] for base, other in pairs if base and other]
    if not gaps:
        return ""
    spread = " to ".join(dict.fromkeys(unit.text(end, "+") for end in (min(gaps), max(gaps))))
    name = metric_name(metric, summary.quantities)
    return f"otherwise ({variant} of {sweep.name}) {name} differs by {spread} {difference_unit(unit)}".rstrip()


def difference_unit(unit: Unit) -> str:
    """Return the unit of a difference: "points" for percentages, else the unit's symbol."""
    return "points" if unit.name == "percent" else unit.symbol


def sensitivity_sentence(tried: Iterable[SensitivityScore]) -> str:
    """Write a sentence that lists, for each deviating cell, the variants under which it is equal or consistent."""
    under: dict[str, list[str]] = {}
    trials = list(tried)
    for trial in trials:
        variants = under.setdefault(trial.cell, [])
        if trial.verdict.startswith(("equal", "consistent")):
            variants.append(trial.variant)
    if not under:
        return ""
    consistent = [f"{cell} under {_first_of(variants)}" for cell, variants in under.items() if variants]
    never = [cell for cell, variants in under.items() if not variants]
    n = f"{len(consistent)} of the {len(under)}"
    tuned = "which would be tuned to the published values"
    parts = [f"{n} are consistent under some other choice, {tuned} ({'; '.join(consistent)})"] if consistent else []
    parts += [f"{', '.join(never)} under none that was tried{_at_any_width(trials, never)}"] if never else []
    joint = Counter(variant for variants in under.values() for variant in variants)
    best = joint.most_common(1)
    parts += [f"at most {best[0][1]} of them at once (under {best[0][0]})"] if best and len(under) > 1 else []
    most = max(Counter(trial.cell for trial in trials).values()) - 1
    return f"{'; '.join(parts)}. Other choices that were tried: at most {most} for a cell."


def _first_of(names: Sequence[str]) -> str:
    """Return the first names of a list, and how many more there are."""
    more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _at_any_width(tried: Sequence[SensitivityScore], cells: Sequence[str]) -> str:
    """Say whether cells also deviate under every choice if the intervals are widened for the number of choices.

    The half-widths are those of Bonferroni's level, by the normal distribution.
    """
    close = []
    for cell in cells:
        own = [trial for trial in tried if trial.cell == cell]
        wider = float(ndtri(1 - (1 - CONFIDENCE_LEVEL) / 2 / len(own))) / Z_LEVEL
        for trial in own:
            low, high = (trial.value + wider * (end - trial.value) for end in (trial.low, trial.high))
            close += [f"{cell} under {trial.variant}"] * (low <= float(trial.published) <= high)
    if not close:
        return ", nor by intervals that are widened for the number of choices (Bonferroni)"
    return f" (by intervals that are widened for the number of choices, Bonferroni, {', '.join(close)})"


def sensitivity_grid(tried: Iterable[SensitivityScore]) -> TextTable:
    """Return a grid with one row for each trial; only the first row of a cell shows its id and published value."""
    rows, above = [], ("", "", "")
    for trial in tried:
        row = in_shown_unit(vars(trial))
        metric = metric_with_unit(trial.metric, unit_named(row["unit"]), DIAGNOSTIC_METRICS)
        key, decimals = (trial.cell, metric, row["published"]), printed_decimals(row["published"])
        ours = number_text(row["value"], decimals), interval_text(row["low"], row["high"], decimals)
        difference = difference_text(row)
        rows.append((*(key if key != above else ("", "", "")), trial.variant, *ours, difference, _tuned(trial)))
        above = key
    header = ("cell", "metric", "published", "variant", "ours", "95% interval", "difference", "verdict")
    return TextTable("Sensitivity analysis", header, tuple(rows), frozenset({"cell", "metric", "variant", "verdict"}))


def swept_claims_grid(experiment: PaperExperiment) -> TextTable:
    """Return a grid of how many comparisons of each claim hold under each variant of the sweeps.

    It has no rows if no sweep has a verdict on a claim.
    """
    by_variant: dict[str, dict[str, str]] = {}
    sweeps = ((sweep.name, sweep) for sweep in experiment.sweeps)
    for name, summary in ((BASE_VARIANT_LABEL, experiment.summary), *sweeps):
        for row in summary.claims.to_dict("records"):
            if row["variant"] or name == BASE_VARIANT_LABEL:  # the base of a sweep repeats the experiment
                cells = by_variant.setdefault(row["variant"] or name, {})
                cells[row["claim"]] = f"{row['holds']} of {row['of']}"
    claims = list(dict.fromkeys(claim for cells in by_variant.values() for claim in cells))
    rows = tuple(
        (variant, *(cells.get(claim, MISSING_TEXT) for claim in claims)) for variant, cells in by_variant.items()
    )
    rows = rows if len(rows) > 1 else ()
    return TextTable("Claims under other choices", ("variant", *claims), rows, frozenset({"variant"}))


def _same_cell(cell: CellInfo, base: CellInfo) -> bool:
    """Test whether two cells are the same setting of the same method, up to variant and classifier parameters."""
    if any(getattr(cell, name) != getattr(base, name) for name in ("task", "of_class", "choice", "size", "terms")):
        return False
    return cell.method == base.method or (bool(cell.points) and cell.points == base.points)


def _changed(cell: CellInfo, base: CellInfo) -> str:
    """Return the variant and classifier of a sweep's cell where they differ from the experiment's."""
    variant = cell.variant if cell.variant != base.variant else ""
    return ", ".join(filter(None, (variant, cell.classifier if cell.classifier != base.classifier else "")))


def _tuned(trial: SensitivityScore) -> str:
    """Return the verdict of a trial; one that comes near the published value under another choice is tuned to it."""
    near = trial.verdict.startswith(("equal", "consistent")) and trial.variant != BASE_VARIANT_LABEL
    return f"tuned ({trial.verdict})" if near else trial.verdict


def _trial(row: dict[Any, Any], variant: str, score: dict[Any, Any]) -> SensitivityScore:
    """Return the trial of a score, with the verdict on the published value of a row of verdicts."""
    ends = (float(score["value"] if is_missing(score[end]) else score[end]) for end in ("value", "low", "high"))
    value, low, high = (unit_named(row["unit"]).scale * end for end in ends)
    cell, metric, printed, unit = (row[name] for name in ("cell", "metric", "published", "unit"))
    fields = {"table": 0, "config": "", "cell": cell, "metric": metric, "value": printed, "unit": "one"}
    published_value = PublishedValue.model_validate(
        fields, context={published.DECLARED_METRICS_KEY: DIAGNOSTIC_METRICS}
    )
    # All numbers are already in the unit of the published value: "one" converts nothing.
    verdict = ValueVerdict(published_value, Estimate(value, low, high, int(score["n"]), "")).verdict
    return SensitivityScore(cell, metric, printed, unit, variant, value, low, high, verdict)
