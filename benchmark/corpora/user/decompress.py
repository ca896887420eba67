"""Open a user's files, decompressed as they are read."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from benchmark.corpora.file_digest import CheckedFile, changed_file_error, check_regular
from benchmark.corpora.user.text_lines import READ_BYTES
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmark.corpora.file_digest import FileDigest

COMPRESSED = (".gz", ".zst", ".xz")
#: Number of compressed bytes decompressed at once: they may expand 32,768 times.
ZSTD_PIECE = 2**12


@contextmanager
def open_decompressed(path: Path, digest: FileDigest | None = None) -> Iterator[IO[bytes]]:
    """Open a file that is decompressed as it is read; raise DataError if opening or reading fails.

    With a digest of the file, only the digested content can be read.
    """
    try:
        with open_as_digested(path, digest) as plain, _unpacked(path, plain) as file:
            yield file
    except EOFError:
        raise DataError(f"{path}: is truncated: its compressed stream ends too early") from None
    except (OSError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: can't be read: {reason}") from None


@contextmanager
def open_as_digested(path: Path, digest: FileDigest | None) -> Iterator[IO[bytes]]:
    """Open a file without decompressing it; check its content if there is a digest."""
    try:
        check_regular(path, path.stat())
        plain = path.open("rb", READ_BYTES)
    except FileNotFoundError:
        if digest is None:
            raise
        raise changed_file_error(path) from None
    with plain:
        yield plain if digest is None else io.BufferedReader(CheckedFile(path, plain, digest), READ_BYTES)


def _unpacked(path: Path, plain: IO[bytes]) -> IO[bytes]:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        raw: Any = gzip.GzipFile(fileobj=plain)
    elif suffix == ".xz":
        raw = lzma.LZMAFile(plain)  # noqa: SIM115 - the caller closes `plain`
    elif suffix == ".zst":
        raw = _zstandard(path, plain)
    else:
        return plain
    return io.BufferedReader(raw, READ_BYTES)


def _zstandard(path: Path, plain: IO[bytes]) -> io.RawIOBase:
    try:
        import zstandard  # noqa: PLC0415 - an optional dependency: few files are compressed by it
    except ImportError:
        raise DataError(f"{path}: reading .zst needs the package zstandard (the extra zstd of simplexbench)") from None

    class Unpacked(io.RawIOBase):
        """Decompressed bytes of all frames; zstandard's reader accepts a frame without its end."""

        def __init__(self) -> None:
            self._frame: Any = None
            self._rest, self._ready, self._whole = b"", b"", True

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            while not self._ready:
                packed = self._rest or plain.read(ZSTD_PIECE)
                if not packed and not self._whole:
                    raise EOFError
                if not packed:
                    return 0
                if self._whole:
                    self._frame = zstandard.ZstdDecompressor().decompressobj()
                try:
                    self._ready = self._frame.decompress(packed)
                except zstandard.ZstdError as error:
                    raise DataError(f"{path}: can't be read: {error}") from None
                self._whole = self._frame.eof
                self._rest = self._frame.unused_data if self._whole else b""
            n = min(len(buffer), len(self._ready))
            buffer[:n], self._ready = self._ready[:n], self._ready[n:]
            return n

    return Unpacked()
