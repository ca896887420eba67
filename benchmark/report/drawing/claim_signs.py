"""Scoreboard as a picture: two signs for each claim of each paper, by the paper's criterion and by ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.papers.verdict_counts import claim_outcomes
from benchmark.report.drawing.spec import figure_spec, rows_data, spec_of
from benchmark.report.drawing.theme import BAD, INK, LEADING, MUTED, OURS, PAPER, TEXT_COLOUR, wrap_text
from benchmark.report.verdict_signs import CLAIM_SIGNS, verdict_tone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from benchmark.report.drawing.theme import VegaSpec

SCOREBOARD_WIDTH, LEGEND_HEIGHT = 680.0, 14.0
SIGN_COLUMNS, TEXT_COLUMN = (22.0, 66.0), 96.0  # places of the two signs and of the texts, in points
LINE_HEIGHT, ROW_GAP, PAPER_GAP = TEXT_COLOUR * LEADING, 5.0, 10.0
#: Left half of a circle.
HALF_DISC = "M0,-1A1,1,0,0,0,0,1Z"
#: Marks of a sign by its tone: stroke, fill and shape of each.
SIGN_MARKS = {
    "good": ((OURS, OURS, "circle"),),
    "half": ((OURS, PAPER, "circle"), (OURS, OURS, HALF_DISC)),
    "bad": ((BAD, BAD, "triangle-up"),),
    "open": ((MUTED, PAPER, "circle"),),
}
SIGN_SIZE = 56.0


def scoreboard_chart(claims: pd.DataFrame, titles: Mapping[str, str]) -> VegaSpec:
    """Draw the counted claims of each paper, with the sign of each verdict.

    Parameters
    ----------
    claims : DataFrame
        The record `claims` of `report.scoreboard`: rows of verdicts with `paper`.
    titles : mapping of str to str
        Titles of the papers by their keys.
    """
    marks, texts = list[dict[str, Any]](), list[dict[str, Any]]()
    place = LINE_HEIGHT / 2
    for x, words in zip(SIGN_COLUMNS, ("by the paper", "by ours"), strict=True):
        texts.append(_text(x, place, [words], MUTED, align="center"))
    said = []
    for paper, rows in claims.groupby("paper", sort=False):
        place += LINE_HEIGHT + PAPER_GAP
        texts.append(_text(TEXT_COLUMN, place, [f"{titles.get(str(paper), paper)} ({paper})"], INK, bold=True))
        place += ROW_GAP
        for claim in (each for each in claim_outcomes(rows) if not each.counted):
            place += LINE_HEIGHT
            lines = wrap_text(claim.text, SCOREBOARD_WIDTH - TEXT_COLUMN, TEXT_COLOUR)
            texts.append(_text(TEXT_COLUMN, place, lines, INK))
            for x, verdict in zip(SIGN_COLUMNS, (claim.paper, claim.strict), strict=True):
                marks += _sign(x, place, verdict_tone(verdict))
            said.append(f"{paper} {claim.claim}: {claim.paper} by the paper's criterion, {claim.strict} by ours.")
            place += LINE_HEIGHT * (len(lines) - 1) + ROW_GAP
    place += PAPER_GAP
    for tone, means in CLAIM_SIGNS.items():
        place += LEGEND_HEIGHT
        marks += _sign(SIGN_COLUMNS[1], place, tone)
        texts.append(_text(TEXT_COLUMN, place, [means], MUTED))
    drawn = alt.layer(*_layers(marks, texts, place + LINE_HEIGHT)).properties(
        width=SCOREBOARD_WIDTH, height=place + LINE_HEIGHT
    )
    title = "Claims of the papers: by each paper's own criterion, and by ours (two-sided, Holm-corrected)"
    return figure_spec(title, [spec_of(drawn)], f"{title}. {' '.join(said)}", SCOREBOARD_WIDTH)


def _text(x: float, y: float, lines: list[str], colour: str, *, align: str = "left", bold: bool = False) -> VegaSpec:
    weight = "bold" if bold else "normal"
    return {"x": x, "y": y, "label": lines, "colour": colour, "align": align, "weight": weight}


def _sign(x: float, y: float, tone: str) -> Iterator[VegaSpec]:
    """Yield the marks of a sign."""
    for stroke, fill, shape in SIGN_MARKS[tone]:
        yield {"x": x, "y": y, "stroke": stroke, "fill": fill, "shape": shape}


def _layers(marks: list[VegaSpec], texts: list[VegaSpec], height: float) -> list[alt.Chart]:
    """Return the layers of signs and texts, placed in typographic points."""
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, SCOREBOARD_WIDTH], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))
    looks = (channel(f"{name}:N", scale=None) for name, channel in _CHANNELS.items())
    signs = alt.Chart(rows_data(marks)).mark_point(opacity=1, size=SIGN_SIZE, strokeWidth=1.2).encode(x, y, *looks)
    written = []
    for align in ("left", "center"):
        for weight in ("normal", "bold"):
            own = [text for text in texts if (text["align"], text["weight"]) == (align, weight)]
            style: dict[str, Any] = {
                "align": align,
                "baseline": "middle",
                "fontSize": TEXT_COLOUR,
                "fontWeight": weight,
            }
            mark = alt.Chart(rows_data(own)).mark_text(**style, lineHeight=LINE_HEIGHT)
            written += [mark.encode(x, y, alt.Text("label:N"), alt.Color("colour:N", scale=None))] if own else []
    return [signs, *written]


_CHANNELS = {"stroke": alt.Stroke, "fill": alt.Fill, "shape": alt.Shape}
