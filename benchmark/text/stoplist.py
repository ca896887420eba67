"""The words a lexer leaves out: the SMART retrieval system's stop list, as Rainbow carries it.

The list is public data (G. Salton & C. Buckley, Cornell University). Of its words, those with an
apostrophe are left out here: a word is a run of letters, so they could never match.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

STOPLISTS = {"smart": "smart-stoplist.txt", "none": None}


@cache
def stop_words(name: str) -> frozenset[str]:
    """Return the words of the stop list called `name`.

    Examples
    --------
    >>> len(stop_words("smart")), "the" in stop_words("smart"), len(stop_words("none"))
    (523, True, 0)
    """
    file = STOPLISTS[name]
    if file is None:
        return frozenset()
    return frozenset(Path(__file__).with_name(file).read_text(encoding="ascii").split())
