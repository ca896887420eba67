"""HTML of templates: the style, the script, and as many rows of tables as a page has room for."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from benchmark.analysis.formatting.table import ON_DEMAND
from benchmark.report.drawing.spec import drawable_text
from benchmark.report.escapes import escape_controls
from benchmark.report.verdict_signs import verdict_tone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.report.html.section import PageSection

#: Most rows of a table of a page. The files beside the page have all.
MAX_PAGE_ROWS = 500
JSON_FORMAT: dict[str, Any] = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False}


def render_html(template: str, sentences: Sequence[str], sections: Sequence[PageSection], **more: Any) -> str:
    """Return the HTML of a template. The script that draws pictures is included only if there are pictures."""
    shown = [*sections, *more.get("pictured", ())]
    given = {"headline": "", "sentences": sentences, "sections": sections, "most": MAX_PAGE_ROWS} | more
    given |= {"drawn": any(each.pictures for each in shown), "movable": any(each.simplex for each in shown)}
    return _environment().get_template(template).render(**given)


@cache
def _drawing_script() -> str:
    return (files("benchmark.report") / "templates" / "vega.js").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("benchmark.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: (
            escape_controls(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
        ),
    )
    environment.policies["json.dumps_kwargs"] = JSON_FORMAT
    environment.filters["drawable"] = drawable_text
    templates = files("benchmark.report") / "templates"
    environment.globals |= {
        "style": (templates / "report.css").read_text(encoding="utf-8"),
        "script": (templates / "report.js").read_text(encoding="utf-8"),
        "simplex_script": (templates / "simplex.js").read_text(encoding="utf-8"),
        # Vega with its licences, which docs/pictures.py makes; a page without pictures reads none.
        "vega": _drawing_script,
        "tone_of": verdict_tone,
        "on_demand": ON_DEMAND,
    }
    return environment
