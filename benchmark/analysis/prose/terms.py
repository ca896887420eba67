"""Parts of methods' names and their meanings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.analysis.prose.sentences import template_value

if TYPE_CHECKING:
    from collections.abc import Iterable


def name_parts(methods: Iterable[str]) -> dict[str, str]:
    """Return the parts of some methods' names with their meanings; longer parts are found first, "linear-svm"."""
    names, known, found = " ".join(f"-{method}-" for method in methods), template_value("terms.j2", "parts"), set[str]()
    for part in sorted(known, key=len, reverse=True):
        if f"-{part}-" in names:
            found.add(part)
            names = names.replace(f"-{part}-", "--")
    return {part: text for part, text in known.items() if part in found}
