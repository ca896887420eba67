"""What all pictures of a page share: how they look, and what a page knows of one.

A specification is plain data in the grammar of Vega-Lite (Satyanarayan et al. 2017), drawn by Vega in the reader's
browser, and tests hold it against the schema. To make it through Vega-Altair would take two thirds of a second of every
run. Colours are the page's own variables, so that a picture changes with the theme and on paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from benchmark.report.numbers import is_missing

Spec = dict[str, Any]

OURS, PUBLISHED, INK, MUTED = (f"var(--{name})" for name in ("ours", "published", "ink", "muted"))
LINE, WASH = "var(--line)", "var(--wash)"
SERIES = 10  # colours of lines, --s0 to --s9
FONT = "system-ui, sans-serif"
FIT: Spec = {"type": "fit-x", "contains": "padding"}  # to the width that the page has
#: Of every picture.
LOOK: Spec = {
    "background": None,
    "font": FONT,
    "view": {"stroke": None},
    "axis": dict.fromkeys(("gridColor", "domainColor", "tickColor"), LINE)
    | {"labelColor": INK, "titleColor": MUTED, "titleFontWeight": "normal", "titlePadding": 10}
    | {"labelFontSize": 12, "titleFontSize": 12},
    "legend": {"labelColor": INK, "titleColor": MUTED, "labelFontSize": 12, "orient": "bottom", "title": None},
}


@dataclass(frozen=True)
class Picture:
    """One picture of a page.

    Parameters
    ----------
    name : str
        Unlike every other's of the page.
    title, alt : str
        What stands above it; what a screen reader says of it.
    spec : mapping
    series : tuple of str
        Of a picture of curves, its labels: one of them can be chosen.
    measured : bool
        Whether it shows what the clock said, which differs from run to run.
    """

    name: str
    title: str
    alt: str
    spec: Spec
    series: tuple[str, ...] = ()
    measured: bool = False


def plain(scale: float, value: Any) -> float | None:
    """A number with 12 digits, as files hold it: machines differ below; None for what is missing."""
    return None if is_missing(value) or not math.isfinite(value) else float(f"{scale * value:.12g}")


def tooltip(titles: dict[str, str]) -> list[Spec]:
    """What hovering tells: by field, its title."""
    return [{"field": name, "type": "nominal", "title": title} for name, title in titles.items()]
