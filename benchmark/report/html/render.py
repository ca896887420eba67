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

#: Most bytes of a page, of which the script takes 0.9 million, and limits on the rows of its tables, tried in turn. The
#: files beside the page have all rows.
MAX_PAGE_BYTES, MAX_PAGE_ROWS = 2_400_000, (3000, 2000, 1000, 500, 300, 100)
JSON_FORMAT: dict[str, Any] = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False}


def render_html(template: str, sentences: Sequence[str], sections: Sequence[PageSection], **more: Any) -> str:
    """Return the HTML of a template, with as many rows of its tables as fit into `MAX_PAGE_BYTES` bytes.

    The script that draws pictures is included only if there are pictures.
    """
    more = {"headline": ""} | more
    more |= {
        "sentences": sentences,
        "sections": sections,
        "drawn": any(section.pictures for section in [*sections, *more.get("pictured", ())]),
    }
    more |= {"movable": any(section.simplex for section in more.get("pictured", ()) or sections)}
    for most in MAX_PAGE_ROWS:
        html = _environment().get_template(template).render(most=most, **more)
        if len(html.encode()) <= MAX_PAGE_BYTES:
            break
    return html


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
