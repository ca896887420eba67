"""Texts of reports, and files with the texts that they are expected to have.

Where a report changes on purpose, `BENCH_WRITE_EXPECTED=1 pytest` of its test writes the file again, and the difference
is what is to be read.
"""

from __future__ import annotations

import os
import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


EXPECTED = Path(__file__).parent / "expected"


def page_words(html: str) -> str:
    """Return what a page says, all that a click opens included: a line for each row, paragraph and heading."""
    html = re.sub(r"<script.*?</script>|<style.*?</style>|<svg.*?</svg>", "", html, flags=re.DOTALL)
    parts = re.split(r"<(?:tr|p|h\d|li|section|details)\b[^>]*>", html)
    lines = (" ".join(unescape(re.sub(r"<[^>]+>", " ", part)).split()) for part in parts)
    return "\n".join(filter(None, lines))


def assert_expected(name: str, parts: Iterable[tuple[str, str]]) -> None:
    """Fail unless a file has all of these parts, word for word."""
    text = "\n\n".join(f"===== {title}\n{part.strip()}" for title, part in parts) + "\n"
    path = EXPECTED / f"{name}.txt"
    if os.environ.get("BENCH_WRITE_EXPECTED"):
        path.write_text(text, encoding="utf-8")
    wanted = path.read_text(encoding="utf-8").splitlines()
    assert text.splitlines() == wanted, f"BENCH_WRITE_EXPECTED=1 writes {path.name} again: read the difference"
