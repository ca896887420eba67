"""Markdown pages of reproduced papers: one page of all papers, and one page for each with its published values."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from scipy.special import ndtri
from scipy.stats import spearmanr

from benchmark.analysis.formatting.number_text import (
    MISSING_TEXT,
    is_missing,
    number_text,
    p_text,
    printed_decimals,
)
from benchmark.analysis.formatting.published_rows import in_shown_unit
from benchmark.analysis.formatting.table import PLAIN, Column, Table
from benchmark.analysis.formatting.units import Unit, display_unit, metric_name, metric_with_unit, unit_named
from benchmark.analysis.prose.verdict_sentences import verdict_counts_text
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.evaluation.intervals import CONFIDENCE_LEVEL, Z_LEVEL, Estimate
from benchmark.evaluation.metrics import PAIR_METRICS
from benchmark.papers.published import PublishedValue
from benchmark.papers.published_verdicts import REFERENCE_VALUE, estimate_of, value_row
from benchmark.papers.verdict_counts import NO_VALUES
from benchmark.report.comparison_tables import claim_comparison_table
from benchmark.report.paper_results import SensitivityScore
from benchmark.report.run_tables import main_tables, markdown_environment
from benchmark.report.scoreboard import counts_table, paper_cards, scoreboard_headline
from benchmark.report.tables import claim_table, range_table, reference_value_table, verdict_table
from benchmark.report.verdict_signs import CLAIM_SIGNS_LEGEND, verdict_sign

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from benchmark.analysis.summary import CellInfo, Summary
    from benchmark.evaluation.score_table import ScoreTable
    from benchmark.report.paper_results import PaperExperiment, PaperResult

BASE_VARIANT_LABEL = "as configured"
MAX_NAMED = 3  # variants of a sentence; the table below it has all
_ENDS = ("value", "low", "high")
LEAST_RANKED = 3  # different values of which a rank correlation is written
SENSITIVITY_NOTE = (
    "In brackets: the published value; ✓: it lies in our 95% interval, which another choice would be tuned to. "
    "rms: root mean square of our differences; order: Spearman's rank correlation of ours with the published values."
)


def reproduction_page(sections: Sequence[PaperResult]) -> str:
    """Write the page of all papers as Markdown, one row for each paper."""
    counts, cards = counts_table(sections), paper_cards(sections)
    headline, legend = scoreboard_headline(sections), CLAIM_SIGNS_LEGEND
    return render_markdown(
        "reproduction",
        headline=headline,
        counts=counts,
        cards=cards,
        sections=sections,
        legend=legend,
    )


def paper_page(section: PaperResult) -> str:
    """Write the page of one paper as Markdown."""
    (card,) = paper_cards([section])
    return render_markdown("paper", section=section, card=card, legend=CLAIM_SIGNS_LEGEND)


def deviations_page(sections: Sequence[PaperResult]) -> str:
    """Write the page of deviations as Markdown: for each paper, the values that deviate and the claims that fail."""
    return render_markdown("deviations", sections=sections)


def render_markdown(template: str, **values: Any) -> str:
    """Return the Markdown of a template filled with these values."""
    environment = markdown_environment()
    environment.filters |= {
        "main_tables": main_tables,
        "broken": _broken,
        "claims": claim_table,
        "counted": verdict_counts_text,
        "deviating": _deviating,
        "exceptions": lambda frame: claim_comparison_table(frame, "Comparisons that do not hold"),
        "agreement": agreement_text,
        "explained": sensitivity_sentence,
        "ordered": order_text,
        "left": lambda ranges: ranges[ranges["verdict"] == "outside"],
        "reference_values": reference_value_table,
        "sign": verdict_sign,
        "p_text": p_text,
        "ranges": range_table,
        "swept": swept_claims_table,
        "tried": sensitivity_table,
        "verdicts": verdict_table,
    }
    environment.globals["no_values"] = NO_VALUES
    return environment.get_template(f"{template}.md.j2").render(**values).rstrip("\n") + "\n"


def _deviating(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the values that deviate, of which some do so although a setting was tuned to them."""
    theirs = verdicts["published"].astype(float)
    tuned = (verdicts["verdict"] == "tuned") & ((theirs < verdicts["low"]) | (theirs > verdicts["high"]))
    return verdicts[((verdicts["verdict"] == "deviates") | tuned) & (verdicts["reading"] == "")]


def _broken(claims: pd.DataFrame) -> pd.DataFrame:
    """Return the counted claims that fail, by the paper's rule or by a strict test."""
    whole = (claims["verdict"] == "holds") & claims["strict_verdict"].isin(["holds", "no test"])
    return claims[(claims["counted"] == "") & ~whole]


def sensitivity_scores(
    summary: Summary, sweeps: Iterable[Summary], tables: Mapping[str, ScoreTable] | None = None
) -> tuple[SensitivityScore, ...]:
    """Return our numbers beside all published results, and the same under the variants of the sweeps.

    A cell of a sweep is a trial of a cell if both are the same setting of the same method (see `_same_cell`) and differ
    in variant or classifier; a pair is tried where both of its cells are. The first trial of each value is the
    experiment itself.

    Parameters
    ----------
    summary : Summary
    sweeps : iterable of Summary
    tables : mapping of str to ScoreTable, optional
        Scores of the sweeps by name, from which the numbers of pairs are computed.
    """
    sweeps, cells, results = tuple(sweeps), {cell.id: cell for cell in summary.cells}, list[SensitivityScore]()
    for row in summary.verdicts.to_dict("records"):
        names = row["cell"].split(" vs ")
        if row["kind"] == "count" or row["verdict"] == REFERENCE_VALUE or not cells.keys() >= set(names):
            continue
        bases, scale = [cells[name] for name in names], unit_named(row["unit"]).scale
        table_row = bases[0].method if bases[0].of_class else ""
        results.append(_trial(row, table_row, BASE_VARIANT_LABEL, [float(row[end]) for end in _ENDS]))
        for sweep in sweeps:
            table, scores = (tables or {}).get(sweep.name), sweep.headlines
            for changed, ids in _tried_cells(bases, sweep.cells).items():
                if len(ids) > 1:
                    fields = {"config": "", "pair": ids, "metric": row["metric"], "value": row["published"]}
                    pair = estimate_of(PublishedValue.model_validate(fields), table) if table else None
                    score = vars(pair) if pair else {}
                else:
                    score = scores.get((ids[0], row["metric"])) or {}
                if not is_missing(score.get("value")):
                    ends = (score["value"] if is_missing(score[end]) else score[end] for end in _ENDS)
                    results.append(_trial(row, table_row, changed, [scale * float(end) for end in ends]))
    return tuple(results)


def _tried_cells(bases: Sequence[CellInfo], cells: Iterable[CellInfo]) -> dict[str, tuple[str, ...]]:
    """Return ids of the cells that are the bases' under a change, by the words of the change."""
    cells = tuple(cells)
    found = [
        {changed: cell.id for cell in cells if _same_cell(cell, base) and (changed := _changed(cell, base))}
        for base in bases
    ]
    shared = (changed for changed in found[0] if all(changed in ids for ids in found))
    return {changed: tuple(ids[changed] for ids in found) for changed in shared}


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
    """Write how many values agree under other choices: those that deviate, one by one, and all of them together."""
    trials = [trial for trial in tried if not trial.reading]
    deviating = [trial.cell for trial in trials if trial.variant == BASE_VARIANT_LABEL and not _agrees(trial)]
    under = {cell: [each.variant for each in trials if each.cell == cell and _agrees(each)] for cell in deviating}
    consistent = [f"{cell} under {_first_of(variants)}" for cell, variants in under.items() if variants]
    never = [cell for cell, variants in under.items() if not variants]
    n = f"{len(consistent)} of the {len(under)} that deviate"
    tuned = "which would be tuned to the published values"
    parts = [f"{n} are consistent under some other choice, {tuned} ({'; '.join(consistent)})"] if consistent else []
    parts += [f"{', '.join(never)} under none that was tried{_at_any_width(trials, never)}"] if never else []
    agreeing = Counter(each.variant for each in trials if _agrees(each))
    others = Counter({variant: count for variant, count in agreeing.items() if variant != BASE_VARIANT_LABEL})
    values = len({trial.cell for trial in trials})
    if others and values > 1:
        (best, most), own = others.most_common(1)[0], agreeing[BASE_VARIANT_LABEL]
        parts.append(f"of all {values}, {own} are consistent as configured, and at most {most} under another ({best})")
    most = max(Counter(trial.cell for trial in trials).values(), default=1) - 1
    return f"{'; '.join(parts)}. Other choices that were tried: at most {most} for a cell." if parts and most else ""


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


def sensitivity_table(tried: Iterable[SensitivityScore]) -> Table:
    """Return a table with a row for each variant: how it agrees with the published values together, and each value.

    It has no rows if nothing but the experiment itself was tried.
    """
    by_variant: dict[str, list[SensitivityScore]] = {}
    for trial in tried:
        by_variant.setdefault(trial.variant, []).append(trial)
    base = by_variant.get(BASE_VARIANT_LABEL, [])
    wholes = {name: len(values) for name, values in _together(base).items()}
    own = [trial for trial in base if not trial.reading]
    heads = [f"{name}: {what}" for name in wholes for what in ("consistent", "rms", "order")]
    heads += [f"{trial.cell} ({in_shown_unit(vars(trial))['published']})" for trial in own]
    header = ["variant", *(Column(name, PLAIN) for name in heads)]
    rows = []
    for variant, trials in by_variant.items():
        together, row = _together(trials), [variant]
        for name, of in wholes.items():
            values = together.get(name, [])
            agreement = _agreement(values) if len(values) == of else (None, None)
            row += [f"{sum(map(_agrees, values))} of {len(values)}" if values else MISSING_TEXT]
            row += map(number_text, agreement)
        found = {(trial.cell, trial.metric): trial for trial in trials if not trial.reading}
        row += [_value_and_sign(found.get((trial.cell, trial.metric))) for trial in own]
        rows.append(tuple(row))
    shown = tuple(rows) if len(rows) > 1 else ()
    return Table.of("Sensitivity analysis", header, shown, SENSITIVITY_NOTE)


def agreement_text(tried: Iterable[SensitivityScore]) -> str:
    """Write for the values of each metric how near ours are to the published ones together, and in which order."""
    parts = []
    for name, values in _together([each for each in tried if each.variant == BASE_VARIANT_LABEL]).items():
        rms, order = _agreement(values)
        if not math.isnan(order):
            inside = f"{sum(map(_agrees, values))} of {len(values)} published values in our intervals"
            parts.append(f"{name}: {inside}, rms difference {number_text(rms)}, rank correlation {number_text(order)}")
    return "; ".join(parts)


def order_text(tried: Iterable[SensitivityScore]) -> str:
    """Write under how many of the choices ours are in exactly the published order, for each table."""
    orders: dict[str, list[float]] = {}
    trials = list(tried)
    variants = dict.fromkeys(each.variant for each in trials)
    for variant in variants:
        for name, values in _together([each for each in trials if each.variant == variant]).items():
            orders.setdefault(name, []).append(_agreement(values)[1])
    exact = {name: sum(math.isclose(order, 1) for order in each) for name, each in orders.items()}
    found = [f"{name} under {n} of {len(orders[name])} choices" for name, n in exact.items() if n]
    return f"In exactly the published order: {'; '.join(found)}." if found and len(variants) > 1 else ""


def _together(trials: Iterable[SensitivityScore]) -> dict[str, list[SensitivityScore]]:
    """Return the trials of each metric and row of a published table, by name."""
    found: dict[str, list[SensitivityScore]] = {}
    for trial in trials:
        unit = unit_named(str(in_shown_unit(vars(trial))["unit"]))
        name = metric_with_unit(trial.metric, unit, DIAGNOSTIC_METRICS)
        found.setdefault(", ".join(filter(None, (name, trial.row))), []).append(trial)
    return found


def _agreement(values: Sequence[SensitivityScore]) -> tuple[float, float]:
    """Return the root mean square difference of ours from the published values, and Spearman's correlation of both.

    The correlation is NaN where either has fewer than three different values.
    """
    rows = [in_shown_unit(vars(trial)) for trial in values]
    published = [float(row["published"]) for row in rows]
    ours = [row["value"] for row in rows]
    rms = math.dist(ours, published) / math.sqrt(len(rows))
    several = min(len(set(ours)), len(set(published))) >= LEAST_RANKED
    return rms, float(spearmanr(ours, published).statistic) if several else math.nan


def _value_and_sign(trial: SensitivityScore | None) -> str:
    """Write our number, with a sign if the published value lies in its interval."""
    if trial is None:
        return MISSING_TEXT
    row = in_shown_unit(vars(trial))
    return f"{number_text(row['value'], printed_decimals(row['published']))}{' ✓' if _agrees(trial) else ''}"


def _agrees(trial: SensitivityScore) -> bool:
    return trial.verdict.startswith(("equal", "consistent"))


def swept_claims_table(experiment: PaperExperiment) -> Table:
    """Return a table of how many comparisons of each claim hold under each variant of the sweeps.

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
    return Table.of("Claims under other choices", ("variant", *(Column(claim, PLAIN) for claim in claims)), rows)


def _same_cell(cell: CellInfo, base: CellInfo) -> bool:
    """Test whether two cells are the same setting of the same method, up to variant and classifier parameters."""
    if any(getattr(cell, name) != getattr(base, name) for name in ("task", "of_class", "choice", "size", "terms")):
        return False
    return cell.method == base.method or (bool(cell.points) and cell.points == base.points)


def _changed(cell: CellInfo, base: CellInfo) -> str:
    """Return the variant and classifier of a sweep's cell where they differ from the experiment's."""
    variant = cell.variant if cell.variant != base.variant else ""
    return ", ".join(filter(None, (variant, cell.classifier if cell.classifier != base.classifier else "")))


def _trial(row: dict[Any, Any], table_row: str, variant: str, numbers: Sequence[float]) -> SensitivityScore:
    """Return the trial of a value and its interval in the unit of a published value, with the verdict on it."""
    cell, metric, printed, unit = (row[name] for name in ("cell", "metric", "published", "unit"))
    what = {"pair": ("", " ")} if metric in PAIR_METRICS else {"cell": cell}
    published_value = PublishedValue.model_validate(
        {"config": "", "metric": metric, "value": printed, "unit": "one"} | what
    )
    value, low, high = numbers
    # All numbers are already in the unit of the published value: "one" converts nothing.
    verdict = value_row(published_value, Estimate(value, low, high, 0, ""))["verdict"]
    return SensitivityScore(cell, metric, printed, unit, variant, value, low, high, verdict, table_row, row["reading"])
