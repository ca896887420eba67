"""Markdown pages: of reproduced papers and of surveys."""

from __future__ import annotations

from typing import Any

from benchmark.analysis.formatting.units import p_text
from benchmark.analysis.prose import verdict_sentences
from benchmark.report import files, paper_results, sensitivity, tables, verdict_signs
from benchmark.report.environment import template_environment


def render_markdown(template: str, **values: Any) -> str:
    """Return the Markdown of a template filled with these values; the functions of tables and sentences are at hand."""
    environment = template_environment(p_text=p_text, sign=verdict_signs.verdict_sign)
    environment.globals |= {
        "papers": paper_results,
        "files": files,
        "sensitivity": sensitivity,
        "tables": tables,
        "counts": verdict_sentences,
        "legend": verdict_signs.CLAIM_SIGNS_LEGEND,
    }
    return environment.get_template(f"{template}.md.j2").render(**values).rstrip("\n") + "\n"
