"""Read a user's files: digested as they are stored, decompressed and decoded."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import lzma
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from benchmark.system.errors import ConfigError, DataError

if TYPE_CHECKING:
    from pathlib import Path

COMPRESSED = (".gz", ".xz", ".zst", ".zip")
#: Errors of files that can't be read: RuntimeError of an encrypted zip.
UNREADABLE = (OSError, EOFError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
#: Encodings by their byte order marks.
BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def read_file(path: Path, digest: Any = None) -> bytes:
    """Return the decompressed content of a file.

    Parameters
    ----------
    path : Path
    digest : hash of hashlib, optional
        Is updated with the bytes of the file.

    Raises
    ------
    DataError
        The file can't be read, or is truncated.
    """
    try:
        content = path.read_bytes()
        if digest is not None:
            digest.update(content)
        return _unpacked(path, content)
    except UNREADABLE as error:
        raise DataError(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from None


def _unpacked(path: Path, content: bytes) -> bytes:
    """Return the decompressed bytes of a file, by the last extension of its name."""
    match path.suffix.lower():
        case ".gz":
            return gzip.decompress(content)
        case ".xz":
            return lzma.decompress(content)
        case ".zst":
            import pyarrow as pa  # noqa: PLC0415 - slow to import, and for few files

            return bytes(pa.CompressedInputStream(pa.BufferReader(content), "zstd").read())
        case ".zip":
            archive = zipfile.ZipFile(io.BytesIO(content))
            names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
            if len(names) != 1:
                raise DataError(f"{path}: holds {len(names):,} files, and must hold one; unpack it")
            return archive.read(names[0])
    return content


def decode_text(path: Path, content: bytes, encoding: str) -> str:
    """Decode a file by its byte order mark, or else the encoding; DataError names the line that doesn't fit."""
    encoding = next((stated for mark, stated in BYTE_ORDER_MARKS.items() if content.startswith(mark)), encoding)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].decode(encoding, "ignore").count("\n") + 1
        problem = f"the byte 0x{error.object[error.start]:02x} is not {encoding.removesuffix('-sig')}"
        remedy = "name the file's encoding, such as encoding: cp1252 (bench init --encoding cp1252)"
        raise DataError(f"{path}:{line}: {problem}; {remedy}, or save the file as utf-8") from None


def check_encoding(name: str) -> None:
    """Raise ConfigError for an unknown encoding."""
    try:
        "\n".encode(name)
    except (LookupError, ValueError):
        usual = "use one such as utf-8, utf-16, latin-1 or cp1252"
        raise ConfigError(f"encoding: unknown encoding {name!r}; {usual}") from None


def file_digest(path: Path) -> str:
    """Return the sha256 of a file as 64 hexadecimal digits; raise DataError if it can't be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from None
