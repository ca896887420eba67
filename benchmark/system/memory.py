"""Memory limits and peaks of this process."""

from __future__ import annotations

import contextlib
import math
import os
import re
import resource
from pathlib import Path

from benchmark.system.errors import BenchError

_PROCESS = Path("/proc/self")
#: One number: the highest peak before the last `reset_peak_memory`.
_FORGOTTEN = [0.0]


def read_gigabytes(variable: str, default: float) -> int:
    """Read an environment variable in gigabytes, and return bytes; raise BenchError for anything but a number."""
    text = os.environ.get(variable, str(default))
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1e300:
        raise BenchError(f"{variable} is {text!r}; it must be a number of gigabytes, such as {default:g}")
    return int(number * 1e9)


def free_memory() -> float:
    """Return the available memory in bytes: the least of system, container (cgroup v2) and process (``ulimit -v``)."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    limits = [math.inf if limit == resource.RLIM_INFINITY else float(limit)]
    with contextlib.suppress(OSError, TypeError):
        available = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
        limits.append(1024.0 * int(available[1]))  # type: ignore[index]
    with contextlib.suppress(OSError, ValueError):  # "max" is not a number
        limits.append(float(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(limits)


def reset_peak_memory() -> None:
    """Reset the peak to the current memory use; does nothing where the system doesn't record a peak."""
    _FORGOTTEN.append(max(_FORGOTTEN.pop(), peak_memory()))
    try:
        (_PROCESS / "clear_refs").write_text("5")
    except OSError:
        return


def peak_memory() -> float:
    """Return the most resident bytes since `reset_peak_memory`, with interpreter and libraries; NaN where unknown."""
    try:
        peak = re.search(r"VmHWM:\s+(\d+) kB", (_PROCESS / "status").read_text())
    except OSError:
        return math.nan
    return math.nan if peak is None else 1024.0 * int(peak[1])


def lifetime_peak_memory() -> float:
    """Return the most resident bytes since this process began, despite `reset_peak_memory`; NaN where unknown."""
    return max(peak_memory(), *_FORGOTTEN)
