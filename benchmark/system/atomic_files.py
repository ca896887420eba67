"""Atomic writes."""

from __future__ import annotations

import secrets
import tempfile
from typing import TYPE_CHECKING

from benchmark.system.errors import BenchError

if TYPE_CHECKING:
    from pathlib import Path


def check_folder_writable(folder: Path) -> None:
    """Create a folder, and refuse one that can't be written, before the work rather than after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise BenchError(f"can't write results to {folder}: {error.strerror or error}. Name another folder.") from None


def write_atomically(path: Path, *content: bytes | memoryview) -> None:
    """Replace a file's content in one step, so that a reader never sees part of it.

    Missing folders above it are created.

    Raises
    ------
    BenchError
        If the file can't be written; the old content, if any, remains.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                file.writelines(content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise BenchError(f"can't write {path}: {error.strerror or error}") from None
