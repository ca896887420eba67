"""Stop lists: the list of the SMART retrieval system, as distributed with Rainbow.

The list is public data (G. Salton & C. Buckley, Cornell University). Words with an apostrophe are omitted here: a word
is a run of letters, so these entries would never match.
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
