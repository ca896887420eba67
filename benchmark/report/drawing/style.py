"""The house's look: colours, letters and widths of every picture, and pictures to bytes that are the same each time."""

from __future__ import annotations

import io
import textwrap
import warnings
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.textpath import TextPath

from benchmark.report.escapes import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

# From Okabe and Ito's palette (2008), told apart by the colour-blind.
OURS, PUBLISHED, FAINT = "#0072B2", "#D55E00", "#666666"
WIDTH = 7.0  # inches
SETTINGS: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "xtick.color": "#333333",
    "text.parse_math": False,  # a title may hold a dollar sign
    "svg.hashsalt": "simplexbench",
    "svg.fonttype": "path",
}
TEXT, AXIS_LABEL, PANEL_TITLE, TITLE = 8.0, 9.0, 9.0, 11.0  # points
LEADING = 1.3  # from one line of text to the next, by the size of its letters


@contextmanager
def house_style() -> Iterator[None]:
    """Draw alike on every machine, whatever the reader's matplotlibrc says; a sign that the letters lack is a box."""
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        yield


def settle(figure: Figure) -> None:
    """Compute the layout once and keep it, in round numbers.

    It would be computed again at the resolution of each rendering; and its solver gives other last digits each time,
    which SVG's names of clipping paths are made from.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine(None)  # with "none", an engine that does nothing, each file would be drawn twice
    for part in figure.subfigs:
        part.bbox_relative.p0 = np.round(part.bbox_relative.p0, 4)
        part.bbox_relative.p1 = np.round(part.bbox_relative.p1, 4)
    for axes in figure.get_axes():
        axes.set_position(np.round(axes.get_position(original=True).bounds, 4).tolist(), which="both")


def png_bytes(figure: Figure, dpi: int = 200) -> bytes:
    """Render as PNG, without the metadata that name the software."""
    return _rendered(figure, "png", dpi=dpi, metadata={"Software": None})


def svg_bytes(figure: Figure) -> bytes:
    """Render as SVG: letters as outlines, no date, ids that are the same each time."""
    return _rendered(figure, "svg", metadata={"Date": None, "Creator": None})


def _rendered(figure: Figure, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    with house_style():
        for text in figure.findobj(Text):
            text.set_text(printable(text.get_text()))  # which SVG repeats in a comment
        figure.savefig(file, format=kind, **options)
    return file.getvalue()


def wrapped(text: str, points: float, size: float) -> str:
    """Break a text into lines at most so many points wide in letters of this size; measured inside `house_style`."""
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
    """Points that the widest line of a text takes; measured inside `house_style`, which chooses the letters."""
    lines = [line for line in text.split("\n") if line.strip()]
    return max((_width(TextPath((0, 0), line, size=size)) for line in lines), default=0.0)


def _width(path: Path) -> float:
    """The path's width by `get_extents`, which bends curve after curve, of the outermost outlines alone: bit for bit.

    An outline that lies, with the points that bend it, between where others start, has neither end.
    """
    points, codes = np.asarray(path.vertices), np.asarray(path.codes)
    x, starts = points[:, 0], np.flatnonzero(codes == Path.MOVETO)
    if starts.size:
        firsts, (least, most) = x[starts], (ends.reduceat(x, starts) for ends in (np.minimum, np.maximum))
        outer = (least <= firsts.min() + 1e-6) | (most >= firsts.max() - 1e-6)
        kept = np.repeat(outer, np.diff(starts, append=x.size))
        path = Path(points[kept], codes[kept])
    return float(path.get_extents().width)
