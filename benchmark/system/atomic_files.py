"""Atomic writes, and files that killed processes left unfinished."""

from __future__ import annotations

import contextlib
import os
import platform
import tempfile
import time
from typing import TYPE_CHECKING

from benchmark.system.errors import BenchError

if TYPE_CHECKING:
    from pathlib import Path

_STALE_SECONDS = 24 * 3600.0


def check_writable(folder: Path) -> None:
    """Create a folder and a temporary file in it; raise OSError if that is impossible."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".probe.", suffix=f".{os.getpid()}.tmp"):
        pass


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
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True
