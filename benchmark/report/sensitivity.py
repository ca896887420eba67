"""Sensitivity analysis: our numbers beside published values, as configured and under the choices of the sweeps."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from scipy.stats import spearmanr

from benchmark.analysis.formatting.table import PLAIN, Column, Table
from benchmark.analysis.formatting.units import (
    MISSING_TEXT,
    is_missing,
    metric_with_unit,
    number_text,
    printed_decimals,
    unit_named,
)
from benchmark.analysis.prose.sentences import sentence
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.papers.published_verdicts import REFERENCE_VALUE, decimals_of, estimate_of, verdict_on
from benchmark.report.tables import NOTES, in_shown_unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmark.analysis.formatting.labels import CellInfo
    from benchmark.analysis.summary import Summary
    from benchmark.evaluation.score_table import ScoreTable

#: Columns of a sensitivity analysis: a row for each published value and choice. Numbers are in the unit in which the
#: metric is shown. `table` names the values that belong together, `agrees` says whether ours is equal or consistent.
TRIED = ("cell", "metric", "table", "reading", "published", "variant", "value", "low", "high", "agrees")
BASE_VARIANT_LABEL = "as configured"
LEAST_RANKED = 3  # different values of which a rank correlation is written
_ENDS = ("value", "low", "high")
_write = partial(sentence, "sensitivity.j2")


def sensitivity_frame(
    summary: Summary, sweeps: Sequence[Summary] = (), scored: Mapping[str, ScoreTable] | None = None
) -> pd.DataFrame:
    """Return our numbers beside all published results, and the same under the variants of the sweeps.

    A cell of a sweep is a trial of a cell if both are the same setting of the same method (see `_same_cell`) and differ
    in variant or classifier; a pair is tried where both of its cells are. The first trial of each value is the
    experiment itself.

    Parameters
    ----------
    summary : Summary
    sweeps : sequence of Summary
    scored : mapping of str to ScoreTable, optional
        Scores of the sweeps by name, from which the numbers of pairs are computed.

    Returns
    -------
    DataFrame
        Columns `TRIED`.
    """
    cells, found = {cell.id: cell for cell in summary.cells}, []
    for row in summary.verdicts.to_dict("records"):
        bases = [cells[name] for name in row["cell"].split(" vs ") if name in cells]
        if row["kind"] == "count" or row["verdict"] == REFERENCE_VALUE or len(bases) < 1 + (" vs " in row["cell"]):
            continue
        trials = [(BASE_VARIANT_LABEL, [float(row[end]) for end in _ENDS])]
        for sweep in sweeps:
            trials += _trials(row, bases, sweep, (scored or {}).get(sweep.name))
        for variant, ends in trials:
            shown = in_shown_unit(row | dict(zip(_ENDS, ends, strict=True)))
            name = metric_with_unit(row["metric"], DIAGNOSTIC_METRICS, unit_named(str(shown["unit"])))
            table = ", ".join(filter(None, (name, bases[0].method if bases[0].of_class else "")))
            # In the unit of the published value, of which `ends` are.
            agrees = verdict_on(row["published"], *decimals_of(*ends)).startswith(("equal", "consistent"))
            named = shown | {"table": table, "variant": variant, "agrees": agrees}
            found.append([named[column] for column in TRIED])
    return tried_frame(found)


def tried_frame(rows: Iterable[Sequence[Any]] = ()) -> pd.DataFrame:
    """Return rows as a frame of `TRIED`."""
    return pd.DataFrame(list(rows), columns=list(TRIED)).astype({"agrees": bool})


def _trials(
    row: Mapping[Any, Any], bases: Sequence[CellInfo], sweep: Summary, scored: ScoreTable | None
) -> Iterator[tuple[str, list[float]]]:
    """Yield the choices of a sweep, with our number and its interval, in the unit of the published value."""
    changes: list[dict[str, str]] = [
        {changed: cell.id for cell in sweep.cells if _same_cell(cell, base) and (changed := _changed(cell, base))}
        for base in bases
    ]
    for changed in changes[0]:
        ids = [ids[changed] for ids in changes if changed in ids]
        score: dict[str, Any] = sweep.headlines.get((ids[0], row["metric"]), {}) if len(bases) == 1 else {}
        if len(bases) == len(ids) > 1 and scored is not None:
            estimate = estimate_of(row["metric"], ids, scored)
            score = vars(estimate) if estimate else {}
        if not is_missing(score.get("value")):
            ends = (score["value"] if is_missing(score[end]) else score[end] for end in _ENDS)
            yield changed, [unit_named(row["unit"]).scale * float(end) for end in ends]


def _same_cell(cell: CellInfo, base: CellInfo) -> bool:
    """Return whether two cells are the same setting of the same method, up to variant and classifier parameters."""
    if any(getattr(cell, name) != getattr(base, name) for name in ("task", "of_class", "choice", "size", "terms")):
        return False
    return cell.method == base.method or (bool(cell.points) and cell.points == base.points)


def _changed(cell: CellInfo, base: CellInfo) -> str:
    """Return the variant and classifier of a sweep's cell where they differ from the experiment's."""
    pairs = ((cell.variant, base.variant), (cell.classifier, base.classifier))
    return ", ".join(ours for ours, theirs in pairs if ours and ours != theirs)


def sweep_effect_text(summary: Summary, sweep: Summary, variant: str) -> str:
    """Write how far the scores of a sweep's variant differ from those of the experiment, as a clause."""
    metric = summary.main_metric
    pairs = [
        [scores.get((each.id, metric)) for scores, each in ((summary.headlines, base), (sweep.headlines, cell))]
        for cell in sweep.cells
        if cell.variant == variant
        for base in summary.cells
        if _same_cell(cell, base) and cell.classifier == base.classifier
    ]
    gaps = [other["value"] - base["value"] for base, other in pairs if base and other]
    if not gaps:
        return ""
    name, spread = summary.metric_name, summary.unit.ends(gaps)
    return _write("effect", variant=variant, sweep=sweep.name, metric=name, spread=spread)


def sensitivity_sentence(tried: pd.DataFrame) -> str:
    """Write how many values agree under other choices: those that deviate, one by one, and all of them together."""
    counted = tried[tried["reading"] == ""]
    base, agreeing = counted[counted["variant"] == BASE_VARIANT_LABEL], counted[counted["agrees"]]
    under = {cell: list(agreeing["variant"][agreeing["cell"] == cell]) for cell in base["cell"][~base["agrees"]]}
    counts = Counter(agreeing["variant"])
    as_configured = counts.pop(BASE_VARIANT_LABEL, 0)
    best, most = next(iter(counts.most_common(1)), ("", 0))
    return _write(
        "explained",
        under=under,
        values=counted["cell"].nunique(),
        as_configured=as_configured,
        best=best,
        most=most,
        others=max(Counter(counted["cell"]).values(), default=1) - 1,
    )


def sensitivity_table(tried: pd.DataFrame) -> Table:
    """Return a table with a row for each variant: how it agrees with the published values together, and each value.

    It has no rows if nothing but the experiment itself was tried.
    """
    base = tried[tried["variant"] == BASE_VARIANT_LABEL]
    wholes, counted = Counter(base["table"]), base[base["reading"] == ""]
    heads = [f"{name}: {what}" for name in wholes for what in ("consistent", "rms", "order")]
    heads += [f"{cell} ({published})" for cell, published in zip(counted["cell"], counted["published"], strict=True)]
    rows = []
    for variant, trials in tried.groupby("variant", sort=False):
        row = [variant]
        for name, of in wholes.items():
            values = trials[trials["table"] == name]
            together = _agreement(values) if len(values) == of else (None, None)
            row += [f"{values['agrees'].sum()} of {len(values)}" if len(values) else MISSING_TEXT]
            row += map(number_text, together)
        found = {(each["cell"], each["metric"]): each for each in trials.to_dict("records") if not each["reading"]}
        row += [_value_and_sign(found.get(key)) for key in zip(counted["cell"], counted["metric"], strict=True)]
        rows.append(row)
    header = ["variant", *(Column(name, PLAIN) for name in heads)]
    return Table.of("Sensitivity analysis", header, rows if len(rows) > 1 else (), NOTES["sensitivity"])


def agreement_text(tried: pd.DataFrame) -> str:
    """Write for the values of each metric how near ours are to the published ones together, and in which order."""
    tables = []
    for name, values in tried[tried["variant"] == BASE_VARIANT_LABEL].groupby("table", sort=False):
        rms, order = _agreement(values)
        if not math.isnan(order):
            tables.append((name, values["agrees"].sum(), len(values), number_text(rms), number_text(order)))
    return _write("agreement", tables=tables)


def _agreement(trials: pd.DataFrame) -> tuple[float, float]:
    """Return the root mean square difference of ours from the published values, and Spearman's correlation of both.

    The correlation is NaN where either has fewer than three different values.
    """
    ours, published = list(trials["value"]), list(trials["published"].astype(float))
    rms = math.dist(ours, published) / math.sqrt(len(ours))
    several = min(len(set(ours)), len(set(published))) >= LEAST_RANKED
    return rms, float(spearmanr(ours, published).statistic) if several else math.nan


def _value_and_sign(trial: Mapping[Any, Any] | None) -> str:
    """Write our number, with a sign if the published value lies in its interval."""
    if trial is None:
        return MISSING_TEXT
    return f"{number_text(trial['value'], printed_decimals(trial['published']))}{' ✓' if trial['agrees'] else ''}"


def swept_claims_table(experiment: Summary, sweeps: Iterable[Summary]) -> Table:
    """Return a table of how many comparisons of each claim hold under each variant of the sweeps.

    It has no rows if no sweep has a verdict on a claim.
    """
    by_variant: dict[str, dict[str, str]] = {}
    for summary in (experiment, *sweeps):
        for row in summary.claims.to_dict("records"):
            if row["variant"] or summary is experiment:  # the base of a sweep repeats the experiment
                cells = by_variant.setdefault(row["variant"] or BASE_VARIANT_LABEL, {})
                cells[row["claim"]] = f"{row['holds']} of {row['of']}"
    claims = list(dict.fromkeys(claim for cells in by_variant.values() for claim in cells))
    rows = [(variant, *map(cells.get, claims)) for variant, cells in by_variant.items()]
    header = ("variant", *(Column(claim, PLAIN) for claim in claims))
    return Table.of("Claims under other choices", header, rows if len(rows) > 1 else ())
