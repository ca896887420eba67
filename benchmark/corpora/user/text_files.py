"""Open a user's files: digested as their bytes are read, decompressed and decoded."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import lzma
import zipfile
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from benchmark.system.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMPRESSED = (".gz", ".xz", ".zst", ".zip")
#: Number of bytes read at once.
READ_BYTES = 2**17
#: Encodings by their byte order marks; that of UTF-32 begins with that of UTF-16.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class _DigestedFile(io.RawIOBase):
    """Bytes of a file, which update a digest as they are read."""

    def __init__(self, file: io.FileIO, digest: Any) -> None:
        self._file, self._digest = file, digest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self._file.readinto(buffer) or 0
        self._digest.update(memoryview(buffer)[:n])
        return n


@contextmanager
def open_decompressed(path: Path, digest: Any = None) -> Iterator[io.BufferedReader[Any]]:
    """Open a file that is decompressed as it is read.

    Parameters
    ----------
    path : Path
    digest : hash of hashlib, optional
        Is updated with the bytes of the file, and has all of them when the file is closed.

    Raises
    ------
    DataError
        The file can't be read, is a pipe or device, or is truncated.
    """
    try:
        check_regular(path)
        with path.open("rb", 0) as file:
            raw: io.RawIOBase = file if digest is None else _DigestedFile(file, digest)
            plain: io.BufferedReader[Any] = io.BufferedReader(raw, READ_BYTES)
            yield _unpacked(path, plain)
            while digest is not None and plain.read(READ_BYTES):
                pass
    except EOFError:
        raise DataError(f"{path}: is truncated: its compressed stream ends too early") from None
    except (OSError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:  # as of an encrypted zip
        raise DataError(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from None


def check_regular(path: Path) -> None:
    """Raise DataError for a pipe or device, unopened, since opening or reading may not end."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise DataError(f"{path}: is a pipe or device, not a regular file; write its content to a file")


def _unpacked(path: Path, plain: io.BufferedReader[Any]) -> io.BufferedReader[Any]:
    """Return the decompressed bytes of a file, by the last extension of its name."""
    raw: Any = plain
    match path.suffix.lower():
        case ".gz":
            raw = gzip.GzipFile(fileobj=plain)
        case ".xz":
            raw = lzma.LZMAFile(plain)  # noqa: SIM115 - the caller closes `plain`
        case ".zst":
            import pyarrow as pa  # noqa: PLC0415 - slow to import, and for few files

            raw = pa.CompressedInputStream(pa.BufferReader(plain.read()), "zstd")
        case ".zip":
            archive = zipfile.ZipFile(io.BytesIO(plain.read()))
            names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
            if len(names) != 1:
                raise DataError(f"{path}: holds {len(names):,} files, and must hold one; unpack it")
            raw = io.BytesIO(archive.read(names[0]))
    return raw if raw is plain else io.BufferedReader(raw, READ_BYTES)


@contextmanager
def open_text(path: Path, encoding: str, digest: Any = None) -> Iterator[TextIO]:
    """Open a file of text, whose lines end in line feeds or carriage returns; a byte order mark decides the encoding.

    Parameters
    ----------
    path : Path
    encoding : str
        Encoding of a file without a byte order mark.
    digest : hash of hashlib, optional
        As of `open_decompressed`.
    """
    with open_decompressed(path, digest) as file:
        text = io.TextIOWrapper(file, encoding_of(file.peek(4), encoding, path), newline="")
        yield text
        text.detach()  # otherwise it would close the file, whose rest is digested


def check_encoding(name: str) -> None:
    """Raise ConfigError for an unknown encoding."""
    try:
        "\n".encode(name)
    except (LookupError, ValueError):
        raise ConfigError(
            f"encoding: unknown encoding {name!r}; use one such as utf-8, utf-16, latin-1 or cp1252"
        ) from None


def encoding_of(beginning: bytes, encoding: str, path: Path) -> str:
    """Return the encoding that the first bytes of a file state, or else the one that is named."""
    for mark, stated in BYTE_ORDER_MARKS:
        if beginning.startswith(mark):
            return stated
    if 0 in beginning[:4] and codecs.lookup(encoding).name == "utf-8":
        likely = "utf-16-be" if beginning[0] == 0 else "utf-16-le"
        raise DataError(f"{path}:1: holds zero bytes, which are no text in utf-8; state encoding: {likely}")
    return encoding


def decode_error(path: Path, encoding: str, error: UnicodeDecodeError, lines: int = 0) -> DataError:
    """Return the error for the first byte that doesn't fit the encoding, in bytes after so many lines."""
    encoding = encoding.removesuffix("-sig")
    line = lines + 1 + error.object[: error.start].decode(encoding, "ignore").count("\n")
    return DataError(
        f"{path}:{line}: the byte 0x{error.object[error.start]:02x} is not {encoding}; "
        "name the file's encoding, such as encoding: cp1252 (bench init --encoding cp1252), or save the file as utf-8"
    )


def file_digest(path: Path) -> str:
    """Return the sha256 of a file as 64 hexadecimal digits; raise DataError if it can't be read."""
    try:
        check_regular(path)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from None
