"""Atomic writes."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from benchmark.system.errors import BenchError

if TYPE_CHECKING:
    from pathlib import Path


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
