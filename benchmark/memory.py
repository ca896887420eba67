"""The most memory that this process holds at once, over a stretch of its work, as Linux counts it."""

from __future__ import annotations

import math
import re
from pathlib import Path

_PROCESS = Path("/proc/self")


def forget_peak() -> None:
    """Let the peak be what is held now; without effect where the system doesn't keep one."""
    try:
        (_PROCESS / "clear_refs").write_text("5")
    except OSError:
        return


def peak_bytes() -> float:
    """The most resident bytes since `forget_peak`, interpreter, libraries and corpus included; NaN where unknown."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", (_PROCESS / "status").read_text())
    except OSError:
        return math.nan
    return math.nan if found is None else 1024.0 * int(found[1])
