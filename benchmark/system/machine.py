"""Memory limits and peaks of this process, atomic writes, and files that killed processes left behind."""

from __future__ import annotations

import contextlib
import math
import os
import platform
import re
import tempfile
import time
from pathlib import Path

from benchmark.system.errors import BenchError

_PROCESS = Path("/proc/self")
_STALE_SECONDS = 24 * 3600.0
#: One number: the highest peak before the last `reset_peak_memory`.
_FORGOTTEN = [0.0]


def read_gigabytes(variable: str, default: float) -> int:
    """Read an environment variable in gigabytes, and return bytes; raise BenchError for anything but a number."""
    text = os.environ.get(variable, str(default))
    try:
        n_bytes = int(float(text) * 1e9)
    except (ValueError, OverflowError):
        n_bytes = -1
    if n_bytes < 0:
        raise BenchError(f"{variable} is {text!r}; it must be a number of gigabytes, such as {default:g}")
    return n_bytes


def let_openmp_threads_sleep() -> None:
    """Let waiting OpenMP threads sleep; must be called before the OpenMP library is loaded.

    By default waiting threads spin: on a busy machine this takes a third of PLSI's processor time.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def check_writable(folder: Path) -> None:
    """Create a folder and a temporary file in it; raise OSError if that is impossible."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".probe.", suffix=f".{os.getpid()}.tmp"):
        pass


def memory_limit() -> float:
    """Return the limit of this process's address space in bytes (``ulimit -v``); infinite without a limit."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return math.inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return math.inf if limit == resource.RLIM_INFINITY else float(limit)


def free_memory() -> float:
    """Return the available memory in bytes: the least of system, container (cgroup v2) and process."""
    limits = [memory_limit()]
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


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file's content in one step, so that a reader never sees part of it.

    Missing folders above it are created.

    Raises
    ------
    BenchError
        If the file can't be written; the old content, if any, remains.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise BenchError(f"can't write {path}: {error.strerror or error}") from None


def remove_unfinished_files(folder: Path, pattern: str) -> None:
    """Remove unfinished files of killed processes; files of processes that may be alive stay.

    The last but one part of a file's name, between dots, is the number of its process, or its `process_name`.
    Whether processes of other machines, which may share the folder, are alive is unknown here: their files are removed
    after a day.
    """
    here = process_name().partition("@")[2]
    for part in folder.glob(pattern):
        with contextlib.suppress(OSError, ValueError, OverflowError, IndexError):
            old = time.time() - part.stat().st_mtime > _STALE_SECONDS
            number, _, machine = part.name.split(".")[-2].partition("@")
            if old or (machine in ("", here) and not _alive(int(number))):
                part.unlink()


def process_name() -> str:
    """Return the number of this process and the name of its machine, without dots."""
    return f"{os.getpid()}@{platform.node().replace('.', '-')}"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
