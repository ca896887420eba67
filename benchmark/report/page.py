"""From the summaries of papers' experiments to pages: all papers on one, and each one's numbers beside ours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from benchmark.evaluation import published
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.judging import ValueVerdict
from benchmark.evaluation.published import PublishedValue
from benchmark.measures import QUANTITIES
from benchmark.report.contents import frame
from benchmark.report.escapes import markdown_text
from benchmark.report.grids import (
    Grid,
    claim_grid,
    difference_text,
    landmark_grid,
    main_metric,
    range_grid,
    verdict_grid,
)
from benchmark.report.numbers import NONE, interval, is_missing, number, p_text, printed_decimals
from benchmark.report.quantities import Unit, metric_name, named_in, unit_named, unit_shown
from benchmark.report.tables import brief_grids, markdown_grid
from benchmark.report.tally import counted, held

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from benchmark.report.contents import CellInfo, Summary

AS_CONFIGURED = "as configured"
EXCEPTION_WORDS = (
    "a − b is in points where no unit is named; p is that of the strict test, two-sided; detectable: the smallest "
    "difference that the test would find four times out of five, or the smallest margin that is shown."
)
EXCEPTIONS = (
    *("claim", "config", "a", "b", "metric", "relation", "value", "low", "high", "p_value", "p_holm", "detectable"),
    *("paper", "strict"),
)


@dataclass(frozen=True)
class Trial:
    """What one deviating cell gives under a variant of its experiment, beside what the paper prints.

    Value, low and high are in the unit of the print; the verdict is as of any number.
    """

    cell: str
    metric: str
    published: str
    unit: str
    variant: str
    value: float
    low: float
    high: float
    verdict: str


@dataclass(frozen=True)
class ExperimentPart:
    """One experiment beside the paper, what `trials` tell where it deviates, and the sweeps that look into it.

    `caveats` are what a reader has to know before believing its numbers.
    """

    summary: Summary
    tried: tuple[Trial, ...] = ()
    remarks: tuple[str, ...] = ()
    sweeps: tuple[Summary, ...] = ()
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PaperSection:
    """One paper and what became of it.

    Parameters
    ----------
    claims : DataFrame
        Columns `CLAIMS`, judged over all the experiments together.
    printed : mapping of str to int
        How many numbers of each kind the paper prints, measured or not: a failed cell must not improve the count.
    exceptions : DataFrame
        Columns `EXCEPTIONS`: the comparisons of its claims that do not hold; differences are as in the score frame.
    remarks : tuple of str
        On its claims: margins, ranges, what is told twice.
    finding : str
        What became of it, in a sentence.
    """

    key: str
    title: str
    reference: str
    experiments: tuple[ExperimentPart, ...]
    claims: pd.DataFrame
    printed: Mapping[str, int]
    exceptions: pd.DataFrame = field(default_factory=partial(frame, EXCEPTIONS))
    remarks: tuple[str, ...] = ()
    finding: str = ""


def reproduction_page(sections: Sequence[PaperSection]) -> str:
    """Write the one page of all papers as Markdown: a row a paper."""
    numbers, claims = in_all(sections)
    return rendered("reproduction", sections=sections, numbers=numbers, claims=claims)


def paper_page(section: PaperSection) -> str:
    """Write all that became of one paper as Markdown."""
    return rendered("paper", section=section)


def deviations_page(sections: Sequence[PaperSection]) -> str:
    """Write what is not as printed as Markdown: of every paper the numbers that deviate, and the claims that fail."""
    return rendered("deviations", sections=sections)


def rendered(template: str, **values: Any) -> str:
    """Fill a page's template with what it shows."""
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
        "counted": counted,
        "deviating": _deviating,
        "exceptions": exception_grid,
        "explained": explained,
        "grid": markdown_grid,
        "held": held,
        "landmarks": landmark_grid,
        "md": markdown_text,
        "numbers": _numbers,
        "p_text": p_text,
        "ranges": range_grid,
        "swept": swept_grid,
        "tried": tried_grid,
        "verdicts": verdict_grid,
    }
    return environment.get_template(f"{template}.md.j2").render(**values).rstrip("\n") + "\n"


def _numbers(section: PaperSection) -> str:
    return counted([experiment.summary.verdicts for experiment in section.experiments], section.printed)


def _deviating(verdicts: pd.DataFrame) -> pd.DataFrame:
    return verdicts[(verdicts["verdict"] == "deviates") & (verdicts["reading"] == "")]


def _broken(claims: pd.DataFrame) -> pd.DataFrame:
    """The claims that are counted and don't hold, by the paper's rule or by a strict test."""
    whole = (claims["verdict"] == "holds") & claims["strict_verdict"].isin(["holds", "no test"])
    return claims[(claims["counted"] == "") & ~whole]


def in_all(sections: Sequence[PaperSection]) -> tuple[str, str]:
    """What became of all printed numbers and of all claims of some papers, in words."""
    tables = [experiment.summary.verdicts for section in sections for experiment in section.experiments]
    printed: Counter[str] = Counter()
    for section in sections:
        printed.update(section.printed)
    return counted(tables, printed), held([section.claims for section in sections])


def trials(summary: Summary, sweeps: Iterable[Summary]) -> tuple[Trial, ...]:
    """Find what was tried for the cells that deviate.

    A cell of a sweep is a trial of a deviating cell if it is the same point of the same method, see `_same_cell`, under
    other settings. The first trial of each cell is the experiment itself.
    """
    scored = [(sweep.cells, sweep.headlines) for sweep in sweeps]
    headline, cells = summary.headlines, {cell.id: cell for cell in summary.cells}
    found = []
    for row in summary.verdicts.to_dict("records"):
        score = headline.get((row["cell"], row["metric"]))
        if row["verdict"] != "deviates" or row["reading"] or score is None:
            continue
        base = cells[row["cell"]]
        found.append(_trial(row, AS_CONFIGURED, score))
        for others, scores in scored:
            for cell in others:
                tried, changed = scores.get((cell.id, row["metric"])), _changed(cell, base)
                if changed and tried and not is_missing(tried["value"]) and _same_cell(cell, base):
                    found.append(_trial(row, changed, tried))
    return tuple(found)


def effect(summary: Summary, sweep: Summary, variant: str) -> str:
    """What the scores of a sweep's variant differ by from those of the experiment, in words."""
    metric = main_metric(summary)
    ours, theirs, unit = summary.headlines, sweep.headlines, unit_shown(metric, summary.quantities)
    pairs = (
        (ours.get((base.id, metric)), theirs.get((cell.id, metric)))
        for cell in sweep.cells
        if cell.variant == variant
        for base in summary.cells
        if _same_cell(cell, base) and cell.classifier == base.classifier
    )
    gaps = [other["value"] - own["value"] for own, other in pairs if own and other]
    if not gaps:
        return ""
    spread = " to ".join(dict.fromkeys(unit.text(end, "+") for end in (min(gaps), max(gaps))))
    name = metric_name(metric, summary.quantities)
    return f"otherwise ({variant} of {sweep.name}) {name} differs by {spread} {points_of(unit)}".rstrip()


def points_of(unit: Unit) -> str:
    """What a difference is in."""
    return "points" if unit.name == "percent" else unit.symbol


def explained(tried: Iterable[Trial]) -> str:
    """What explains the numbers that deviate, in a sentence: the variants under which each is equal or consistent."""
    under: dict[str, list[str]] = {}
    for trial in tried:
        found = under.setdefault(trial.cell, [])
        if trial.verdict.startswith(("equal", "consistent")):
            found.append(trial.variant)
    if not under:
        return ""
    told = [f"{cell} under {', '.join(variants)}" for cell, variants in under.items() if variants]
    never = [cell for cell, variants in under.items() if not variants]
    parts = (
        [f"{len(told)} of the {len(under)} are consistent under some other choice ({'; '.join(told)})"] if told else []
    )
    parts += [f"{', '.join(never)} under none that was tried"] if never else []
    return f"{'; '.join(parts)}."


def tried_grid(tried: Iterable[Trial]) -> Grid:
    """One row a trial; the cell and its print stand on the first of its rows."""
    rows, above = [], ("", "", "")
    for trial in tried:
        key = trial.cell, named_in(trial.metric, unit_named(trial.unit), QUANTITIES), trial.published
        decimals = printed_decimals(trial.published)
        ours = number(trial.value, decimals), interval(trial.low, trial.high, decimals)
        difference = difference_text({"value": trial.value, "published": trial.published, "unit": trial.unit})
        rows.append((*(key if key != above else ("", "", "")), trial.variant, *ours, difference, trial.verdict))
        above = key
    header = ("cell", "metric", "published", "variant", "ours", "95% interval", "difference", "verdict")
    return Grid("What was tried", header, tuple(rows), frozenset({"cell", "metric", "variant", "verdict"}))


def swept_grid(experiment: ExperimentPart) -> Grid:
    """How many comparisons of each claim hold under each variant of the sweeps; no rows where none was judged."""
    found: dict[str, dict[str, str]] = {}
    sweeps = ((sweep.name, sweep) for sweep in experiment.sweeps)
    for name, summary in ((AS_CONFIGURED, experiment.summary), *sweeps):
        for row in summary.claims.to_dict("records"):
            if row["variant"] or name == AS_CONFIGURED:  # a sweep's own base is what it explains
                cells = found.setdefault(row["variant"] or name, {})
                cells[row["claim"]] = f"{row['holds']} of {row['of']}"
    claims = list(dict.fromkeys(claim for cells in found.values() for claim in cells))
    rows = tuple((variant, *(cells.get(claim, NONE) for claim in claims)) for variant, cells in found.items())
    rows = rows if len(rows) > 1 else ()
    return Grid("Claims under other choices", ("variant", *claims), rows, frozenset({"variant"}))


def exception_grid(exceptions: pd.DataFrame) -> Grid:
    """The comparisons that do not hold, one a row; the claim stands on the first of its rows."""
    rows, above = [], ""
    for row in exceptions.to_dict("records"):
        p_values = (NONE if is_missing(row[name]) else p_text(row[name]) for name in ("p_value", "p_holm"))
        claim, above = row["claim"] if row["claim"] != above else "", row["claim"]
        verdicts = row["paper"], row["strict"]
        rows.append((claim, row["config"], row["a"], row["b"], *_gap(row), *p_values, _detectable(row), *verdicts))
    header = (
        "claim",
        "config",
        "a",
        "b",
        "a − b",
        "95% interval",
        "p",
        "p (Holm)",
        "detectable",
        "by the paper's rule",
    )
    words = frozenset({"claim", "config", "a", "b", "by the paper's rule", "strictly"})
    return Grid("Comparisons that do not hold", (*header, "strictly"), tuple(rows), words, EXCEPTION_WORDS)


def _gap(row: dict[Any, Any]) -> tuple[str, str]:
    """A difference and its interval, the unit behind it but for the points of a percentage; or a ratio."""
    if row["relation"] == "ratio":
        return f"ratio {number(row['value'])}", interval(row["low"], row["high"])
    unit = unit_shown(row["metric"], QUANTITIES)
    gap = unit.text(row["value"], "+")
    symbol = "" if unit.name == "percent" or gap == NONE else f" {unit.symbol}".rstrip()
    return gap + symbol, unit.interval(row["low"], row["high"], "+")


def _detectable(row: dict[Any, Any]) -> str:
    return (
        NONE if is_missing(row["detectable"]) else f"±{unit_shown(row['metric'], QUANTITIES).text(row['detectable'])}"
    )


def _same_cell(cell: CellInfo, base: CellInfo) -> bool:
    """Whether two cells are one point of one method, whatever the variant and the classifier's parameters."""
    if any(getattr(cell, name) != getattr(base, name) for name in ("task", "of_class", "choice", "size", "terms")):
        return False
    return cell.method == base.method or (bool(cell.points) and cell.points == base.points)


def _changed(cell: CellInfo, base: CellInfo) -> str:
    """What a sweep does otherwise than the experiment: its variant, its classifier."""
    variant = cell.variant if cell.variant != base.variant else ""
    return ", ".join(filter(None, (variant, cell.classifier if cell.classifier != base.classifier else "")))


def _trial(row: dict[Any, Any], variant: str, score: dict[Any, Any]) -> Trial:
    """Judge a score by the print of a verdict's row."""
    ends = (float(score["value"] if is_missing(score[end]) else score[end]) for end in ("value", "low", "high"))
    value, low, high = (unit_named(row["unit"]).scale * end for end in ends)
    cell, metric, printed, unit = (row[name] for name in ("cell", "metric", "published", "unit"))
    what = {"table": 0, "config": "", "cell": cell, "metric": metric, "value": printed, "unit": "one"}
    print_of = PublishedValue.model_validate(what, context={published.QUANTITIES: QUANTITIES})
    # Already in the unit of the print, so that no unit is left to convert.
    verdict = ValueVerdict(print_of, Estimate(value, low, high, int(score["n"]), "")).verdict
    return Trial(cell, metric, printed, unit, variant, value, low, high, verdict)
