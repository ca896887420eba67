"""What the environment sets, limits of memory and of disk; and what Linux says that this process has held at most."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

from benchmark.errors import BenchError

_PROCESS = Path("/proc/self")


def gigabytes(variable: str, default: float) -> int:
    """An environment variable that holds gigabytes, in bytes; BenchError for anything else."""
    text = os.environ.get(variable, str(default))
    try:
        n_bytes = int(float(text) * 1e9)
    except (ValueError, OverflowError):
        n_bytes = -1
    if n_bytes < 0:
        raise BenchError(f"{variable} is {text!r}; it must be a number of gigabytes, such as {default:g}")
    return n_bytes


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
