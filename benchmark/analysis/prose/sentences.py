"""Sentences from templates: facts of a run go in, and each paragraph of the rendered template is a sentence or note."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.units import capitalized

if TYPE_CHECKING:
    from jinja2 import Environment


def sentences(template: str, **facts: Any) -> list[str]:
    """Return the paragraphs of a rendered template, each on one line."""
    text = _environment().get_template(template).render(facts)
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def sentence(template: str, name: str, **facts: Any) -> str:
    """Return the sentence that a template's macro of this name makes, on one line."""
    macro = getattr(_environment().get_template(template).module, re.sub(r"\W", "_", name))
    return " ".join(str(macro(**facts)).split())


def template_value(template: str, name: str) -> Any:
    """Return the value that a template gives to a name."""
    return getattr(_environment().get_template(template).module, name)


def environment_of(package: str, **options: Any) -> Environment:
    """Return an environment of the templates of a package, in which a missing name is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - slow to import

    options |= {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    return Environment(loader=PackageLoader(package), **options)  # noqa: S701 - pages and tables escape what they write


@cache
def _environment() -> Environment:
    environment = environment_of(
        "benchmark.analysis", finalize=lambda value: value.replace("\n", " ") if isinstance(value, str) else value
    )
    environment.filters |= {"number": "{:,}".format, "percent": "{:.0%}".format, "sentence": capitalized}
    return environment
