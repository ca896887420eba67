"""Markdown pages: of reproduced papers and of surveys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.number_text import p_text
from benchmark.analysis.prose.verdict_sentences import NO_VALUES, verdict_counts_text
from benchmark.report.comparison_tables import claim_comparison_table
from benchmark.report.environment import template_environment
from benchmark.report.paper_results import counts_table, coverage_table, scoreboard_headline
from benchmark.report.run_tables import main_tables
from benchmark.report.sensitivity import (
    agreement_text,
    sensitivity_sentence,
    sensitivity_table,
    swept_claims_table,
)
from benchmark.report.tables import claim_table, range_table, reference_value_table, verdict_table
from benchmark.report.verdict_signs import CLAIM_SIGNS_LEGEND, verdict_sign

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from benchmark.report.paper_results import PaperResult


def reproduction_page(sections: Sequence[PaperResult]) -> str:
    """Write the page of all papers as Markdown, one row for each paper."""
    headline, counts = scoreboard_headline(sections), counts_table(sections)
    return render_markdown("reproduction", sections=sections, headline=headline, counts=counts)


def render_markdown(template: str, **values: Any) -> str:
    """Return the Markdown of a template filled with these values."""
    environment = template_environment(
        main_tables=main_tables,
        broken=_broken,
        claims=claim_table,
        counted=verdict_counts_text,
        covered=coverage_table,
        deviating=_deviating,
        exceptions=lambda frame: claim_comparison_table(frame, "Comparisons that do not hold"),
        agreement=agreement_text,
        explained=sensitivity_sentence,
        left=lambda ranges: ranges[ranges["verdict"] == "outside"],
        reference_values=reference_value_table,
        sign=verdict_sign,
        p_text=p_text,
        ranges=range_table,
        swept=lambda experiment: swept_claims_table(experiment.summary, experiment.sweeps),
        tried=sensitivity_table,
        verdicts=verdict_table,
    )
    environment.globals |= {"no_values": NO_VALUES, "legend": CLAIM_SIGNS_LEGEND}
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
