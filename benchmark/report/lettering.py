"""Text to the lines that it fills and the points that they take in print, in the house's letters.

All is measured inside `benchmark.report.style.house_style`, which chooses the letters; widths are remembered.
"""

from __future__ import annotations

import textwrap
from functools import lru_cache

from matplotlib.textpath import TextPath

TEXT, AXIS_LABEL, PANEL_TITLE, TITLE = 8.0, 9.0, 9.0, 11.0  # points
LEADING = 1.3  # from one line of text to the next, by the size of its letters


def wrapped(text: str, points: float, size: float) -> str:
    """Break a text into lines at most so many points wide in letters of this size."""
    lines = []
    for part in text.split("\n"):
        # As many characters as would fit on average, and some more; then fewer, until the widest line fits.
        most = min(len(part), int(1.15 * len(part) * points / max(text_width(part, size), 1)))
        while most > 1 and any(text_width(line, size) > points for line in textwrap.wrap(part, most)):
            most -= 1
        lines += textwrap.wrap(part, max(most, 1))
    return "\n".join(lines)


@lru_cache(maxsize=4096)
def text_width(text: str, size: float) -> float:
    """Points that the widest line of a text takes, in the house's letters."""
    lines = [line for line in text.split("\n") if line.strip()]
    return max((TextPath((0, 0), line, size=size).get_extents().width for line in lines), default=0.0)
