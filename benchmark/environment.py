"""What surrounds this process: limits of memory and disk, what it has held at most, and what killed ones left."""

from __future__ import annotations

import contextlib
import math
import os
import platform
import re
import tempfile
import time
from pathlib import Path

from benchmark.errors import BenchError

_PROCESS = Path("/proc/self")
_STALE_SECONDS = 24 * 3600.0
#: One number: the highest of the peaks that were forgotten.
_FORGOTTEN = [0.0]


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


def share_machine() -> None:
    """Let OpenMP's threads sleep while they wait; it must be said before its library is loaded.

    They would else turn around: on a busy machine that takes a third of PLSI's time of the processors.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def probe(folder: Path) -> None:
    """Make a folder, and a file in it that doesn't stay; OSError where that can't be done."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".probe.", suffix=f".{os.getpid()}.tmp"):
        pass


def memory_limit() -> float:
    """The bytes of address space that this process may have (``ulimit -v``); infinite where there is no limit."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return math.inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return math.inf if limit == resource.RLIM_INFINITY else float(limit)


def free_memory() -> float:
    """Bytes that may yet be resident: what the system has, within a container's limit (cgroup v2) and a process's."""
    found = [memory_limit()]
    with contextlib.suppress(OSError, TypeError):
        known = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
        found.append(1024.0 * int(known[1]))  # type: ignore[index]
    with contextlib.suppress(OSError, ValueError):  # "max" is no number
        found.append(float(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(found)


def forget_peak() -> None:
    """Let the peak be what is held now; without effect where the system doesn't keep one."""
    _FORGOTTEN.append(max(_FORGOTTEN.pop(), peak_bytes()))
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


def highest_bytes() -> float:
    """The most resident bytes since this process began, whatever was forgotten; NaN where unknown."""
    return max(peak_bytes(), *_FORGOTTEN)


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file by its new content in one step, so that a reader never sees half of it.

    Folders above it that are missing are made.

    Raises
    ------
    BenchError
        Where the file system refuses; the old content, if any, stays.
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


def remove_leftovers(folder: Path, pattern: str) -> None:
    """Remove what killed processes left half written; a file of one that may still be alive is left to it.

    The last but one part of a file's name, between dots, is the number of the process, or its `name_of_process`: of
    those of other machines, which may share the folder, nobody knows here whether they are alive.
    """
    here = name_of_process().partition("@")[2]
    for part in folder.glob(pattern):
        with contextlib.suppress(OSError, ValueError, OverflowError, IndexError):
            old = time.time() - part.stat().st_mtime > _STALE_SECONDS
            number, _, machine = part.name.split(".")[-2].partition("@")
            if old or (machine in ("", here) and not _alive(int(number))):
                part.unlink()


def name_of_process() -> str:
    """The number of this process and the name of its machine, without dots."""
    return f"{os.getpid()}@{platform.node().replace('.', '-')}"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
