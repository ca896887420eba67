"""Stop lists: the list of the SMART retrieval system, as distributed with Rainbow.

The list is public data (G. Salton & C. Buckley, Cornell University). Words with an apostrophe are omitted here: a word
is a run of letters, so these entries would never match. "smart-split" has their parts, as a lexer of letters reads the
list: "don" and "t" of "don't".
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

STOPLISTS = {"smart": "smart-stoplist.txt", "smart-split": "smart-stoplist.txt", "none": None}
#: Parts of the words with an apostrophe that are no words of the list themselves.
PARTS = "ain aren couldn didn doesn don hadn hasn haven isn ll mon shouldn ve wasn weren won wouldn"


@cache
def stop_words(name: str) -> frozenset[str]:
    """Return the words of the stop list called `name`.

    Examples
    --------
    >>> len(stop_words("smart")), len(stop_words("smart-split")), len(stop_words("none"))
    (523, 541, 0)
    """
    file = STOPLISTS[name]
    if file is None:
        return frozenset()
    words = frozenset(Path(__file__).with_name(file).read_text(encoding="ascii").split())
    return words.union(PARTS.split()) if name == "smart-split" else words
