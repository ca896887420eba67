"""Memory limits and peaks of this process."""

from __future__ import annotations

import contextlib
import math
import os
import re
from pathlib import Path

from benchmark.system.errors import BenchError

#: One number: the highest peak before the last `reset_peak_memory`.
_FORGOTTEN = [0.0]


def read_gigabytes(variable: str, default: float) -> int:
    """Read an environment variable in gigabytes, and return bytes; raise BenchError for anything but a number."""
    text = os.environ.get(variable, str(default))
    try:
        size = int(float(text) * 1e9)
    except (ValueError, OverflowError):
        size = -1
    if size < 0:
        raise BenchError(f"{variable} is {text!r}; it must be a number of gigabytes, such as {default:g}")
    return size


def free_memory() -> float:
    """Return the available memory in bytes: the least of system and container (cgroup v2); infinite where unknown."""
    container = math.inf
    with contextlib.suppress(OSError, ValueError):  # "max" is not a number
        container = float(Path("/sys/fs/cgroup/memory.max").read_text())
    return min(container, _read_bytes("/proc/meminfo", "MemAvailable", math.inf))


def reset_peak_memory() -> None:
    """Reset the peak to the current memory use; does nothing where the system doesn't record a peak."""
    _FORGOTTEN.append(max(_FORGOTTEN.pop(), peak_memory()))
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> float:
    """Return the most resident bytes since `reset_peak_memory`, with interpreter and libraries; NaN where unknown."""
    return _read_bytes("/proc/self/status", "VmHWM", math.nan)


def _read_bytes(file: str, name: str, unknown: float) -> float:
    """Return a number in bytes of a file of Linux, such as ``VmHWM:  200 kB``."""
    with contextlib.suppress(OSError):
        if found := re.search(rf"{name}:\s+(\d+) kB", Path(file).read_text()):
            return 1024.0 * int(found[1])
    return unknown


def lifetime_peak_memory() -> float:
    """Return the most resident bytes since this process began, despite `reset_peak_memory`; NaN where unknown."""
    return max(peak_memory(), *_FORGOTTEN)
