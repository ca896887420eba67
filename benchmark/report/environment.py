"""Environment of the templates: Markdown, HTML and configurations."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import select_autoescape

from benchmark.analysis.prose.sentences import environment_of
from benchmark.report.escapes import escape_controls, markdown_text
from benchmark.report.writers import markdown_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment


def template_environment(**filters: Callable[..., Any]) -> Environment:
    """Return the environment of the templates; HTML is escaped, and Markdown by a filter."""
    environment = environment_of(
        "benchmark.report",
        autoescape=select_autoescape(["html.j2"]),
        finalize=lambda value: (
            escape_controls(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
        ),
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False}
    environment.filters |= {"md": markdown_text, "table": markdown_table, **filters}
    environment.globals["template_file"] = template_file
    return environment


def template_file(name: str) -> str:
    """Return the text of a style or script beside the templates."""
    return (files("benchmark.report") / "templates" / name).read_text(encoding="utf-8")
