"""Hypothesis strategies for files with something broken in their bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Draw = Callable[[st.SearchStrategy[Any]], Any]

#: Bytes that one change is of, mostly.
LENGTHS = (1, 1, 2, 8, 40, 200, 1 << 20)
CHANGES = ("cut", "flip", "repeat", "token", "run", "splice")


def one(draw: Draw, items: Sequence[Any]) -> Any:
    """Draw one of the items; `sampled_from` would hash each, however large."""
    return items[draw(st.integers(0, len(items) - 1))]


@st.composite
def damaged(draw: Draw, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """Draw one of the seeds after one to four changes: bits, cuts, doublings, tokens, pieces of other seeds."""
    content = one(draw, seeds)
    for _ in range(one(draw, (1, 1, 1, 2, 3, 4))):
        start, length = draw(st.integers(0, len(content))), one(draw, LENGTHS)
        piece, instead = content[start : start + length], b""
        match one(draw, CHANGES):
            case "flip":
                instead = bytes(byte ^ 1 << draw(st.integers(0, 7)) for byte in piece[:1]) + piece[1:]
            case "repeat":
                instead = piece * one(draw, (2, 2, 3, 20))
            case "token":
                instead = one(draw, tokens) + piece
            case "run":
                instead = one(draw, tokens) * one(draw, (1, 2, 3, 50))
            case "splice":
                other = one(draw, seeds)
                there = draw(st.integers(0, len(other)))
                instead = other[there : there + length] + piece
        content = content[:start] + instead + content[start + length :]
    return content
