"""Texts of reports, and files with the texts that they are expected to have.

Where a report changes on purpose, `BENCH_WRITE_EXPECTED=1 pytest` of its test writes the file again, and the difference
is what is to be read.
"""

from __future__ import annotations

import json
import os
import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.report.writers import markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.analysis.formatting.table import Table

EXPECTED = Path(__file__).parent / "expected"


def page_words(html: str) -> str:
    """The markup of a page, tag by tag, without its scripts, its style, and what only places it."""
    html = re.sub(r"<script.*?</script>|<style.*?</style>|<svg.*?</svg>", "", html, flags=re.DOTALL)
    lines = (" ".join(unescape(part).split()) for part in re.split(r"(?=<(?:tr|p|h\d|li|section|details|nav)\b)", html))
    return "\n".join(filter(None, lines))


def numbers_rounded(part: Any) -> Any:
    """A specification with numbers of seven digits, and of long lists of rows every twentieth."""
    if isinstance(part, dict):
        return {key: numbers_rounded(value) for key, value in part.items() if key not in ("$schema", "config")}
    if isinstance(part, list):
        return [numbers_rounded(value) for value in (part[::20] if len(part) > 100 else part)]
    return float(f"{part:.7g}") if isinstance(part, float) else part


def figure_text(name: str, spec: dict[str, Any]) -> str:
    """A specification, a line for each of its parts."""
    lines = [f"{name}:"]

    def walk(part: Any, path: str) -> None:
        leaves = {k: v for k, v in part.items() if not isinstance(v, (dict, list)) or _flat(v)}
        if leaves:
            lines.append(f"{path} {json.dumps(leaves, sort_keys=True, ensure_ascii=False)}")
        for key in sorted(part.keys() - leaves.keys()):
            children = part[key] if isinstance(part[key], list) else [part[key]]
            for child in children:
                if isinstance(child, dict):
                    walk(child, f"{path}.{key}")
                else:
                    lines.append(f"{path}.{key} {json.dumps(child, ensure_ascii=False)}")

    walk(numbers_rounded(spec), " ")
    return "\n".join(re.sub(r"data-[0-9a-f]{32}|image/png;base64,[^\"]*", "data", line) for line in lines)


def _flat(value: Any) -> bool:
    parts = value.values() if isinstance(value, dict) else value
    return not any(isinstance(part, (dict, list)) for part in parts)


def assert_expected(name: str, parts: Iterable[tuple[str, str]]) -> None:
    """Fail unless a file has all of these parts, word for word."""
    text = "\n\n".join(f"===== {title}\n{part.strip()}" for title, part in parts) + "\n"
    path = EXPECTED / f"{name}.txt"
    if os.environ.get("BENCH_WRITE_EXPECTED"):
        path.write_text(text, encoding="utf-8")
    assert text.splitlines() == path.read_text(encoding="utf-8").splitlines()


def grid_text(grid: Table) -> str:
    """A table as Markdown, with its title."""
    return f"{grid.title}\n{markdown_table(grid)}"
