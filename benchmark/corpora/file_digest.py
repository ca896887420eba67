"""Digests of a user's files, computed once. Later reads of a file are checked against its digest, block by block.

A corpus is read more than once: for its digest, for its documents, and for its text. A reader that uses `CheckedFile`
gets bytes of the digested content, or a `DataError`. Counts therefore can't be stored under the digest of another text,
whenever the file is edited, and even if its size and times are restored.
"""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from benchmark.system.checks import may_block
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Size of a block in bytes; each block has its own digest.
DIGEST_BLOCK_BYTES = 2**20
_SIZE = hashlib.sha256().digest_size


def changed_file_error(path: Path) -> DataError:
    """Return the error for a file that was edited while it was read."""
    return DataError(f"{path}: was changed while it was read; run it again")


@dataclass(frozen=True, slots=True)
class FileDigest:
    """Digest of a file, and digests of its blocks.

    Parameters
    ----------
    size : int
        In bytes.
    sha256 : bytes
    blocks : bytes
        The sha256 of each block of `DIGEST_BLOCK_BYTES` bytes, one after the other.
    """

    size: int
    sha256: bytes
    blocks: bytes

    @classmethod
    def of(cls, pieces: Iterable[bytes]) -> FileDigest:
        """Return the digest of a content from its blocks of `DIGEST_BLOCK_BYTES` bytes (the last may be shorter)."""
        size, whole, blocks = 0, hashlib.sha256(), list[bytes]()
        for piece in pieces:
            size += len(piece)
            whole.update(piece)
            blocks.append(_sha256(piece))
        return cls(size, whole.digest(), b"".join(blocks))

    def matches(self, number: int, block: bytes) -> bool:
        """Test whether a block, numbered from 0, has the digested content."""
        return _sha256(block) == self.blocks[number * _SIZE : (number + 1) * _SIZE]


def _sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def file_digest(path: Path) -> FileDigest:
    """Return the digest of a file; raise DataError if it can't be read."""
    try:
        check_regular(path, path.stat())
        with path.open("rb") as file:
            return FileDigest.of(iter(lambda: file.read(DIGEST_BLOCK_BYTES), b""))
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from None


def check_regular(path: Path, status: os.stat_result) -> os.stat_result:
    """Return a file's status; raise DataError for a pipe or device, unopened, since opening or reading may not end.

    So may files of /proc, which are regular by their status.
    """
    if may_block(status.st_mode) or path.resolve().parts[1:2] == ("proc",):
        raise DataError(f"{path}: is a pipe or device, not a regular file; write its content to a file")
    return status


class CheckedFile(io.RawIOBase):
    """Bytes of an open file; DataError is raised at the first block that differs from the digested content.

    Parameters
    ----------
    path : Path
        Path in messages.
    file : binary file
    digest : FileDigest
    """

    def __init__(self, path: Path, file: IO[bytes], digest: FileDigest) -> None:
        self._path, self._file, self._digest = path, file, digest
        self._position, self._number, self._block = 0, -1, b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position, in bytes."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a position, as `io.IOBase.seek` does."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._digest.size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read up to the end of a block."""
        number, start = divmod(self._position, DIGEST_BLOCK_BYTES)
        length = min(DIGEST_BLOCK_BYTES, self._digest.size - number * DIGEST_BLOCK_BYTES)
        if length <= 0:
            return 0
        if number != self._number:
            self._file.seek(number * DIGEST_BLOCK_BYTES)
            block = self._file.read(length)
            if not self._digest.matches(number, block):
                raise changed_file_error(self._path)
            self._number, self._block = number, block
        piece = self._block[start : start + len(buffer)]
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)


@dataclass(frozen=True)
class DigestedPath:
    """File or folder of a corpus.

    Parameters
    ----------
    split : str
        Part (train, test) of the corpus; "" where the path names none.
    path : Path
    is_folder : bool
    files : mapping of str to FileDigest
        Digests by path below the folder, sorted by path; a single file has the path "".
    links : int
        Number of links below the folder, which are left out.
    """

    split: str
    path: Path
    is_folder: bool
    files: Mapping[str, FileDigest]
    links: int = 0


@dataclass(frozen=True)
class CorpusDigest:
    """Digests of all files of a corpus.

    Parameters
    ----------
    digest : str
        The sha256 over the files' names (of a folder, below it; of a split, its part) and contents.
    places : tuple of DigestedPath
    stamps : tuple
        `file_stamp` of each place, from before it was digested.
    """

    digest: str
    places: tuple[DigestedPath, ...]
    stamps: tuple[tuple[int, ...], ...]

    def check_unchanged(self) -> None:
        """Raise DataError if a file's size or time of modification has changed since it was digested."""
        for place, before in zip(self.places, self.stamps, strict=True):
            check_file_stamp(place.path, before)


def digest_paths(places: Iterable[tuple[str, Path]]) -> CorpusDigest:
    """Compute the digests of a corpus's files; cached as long as their stamps stay the same.

    Parameters
    ----------
    places : iterable of (str, Path)
        Part of the split (or "") and path of each file or folder.

    Raises
    ------
    DataError
        A file or folder can't be read.
    """
    paths = tuple(places)
    return _digest_of(paths, tuple(file_stamp(path) for _, path in paths))


@lru_cache(maxsize=8)
def _digest_of(places: tuple[tuple[str, Path], ...], stamps: tuple[tuple[int, ...], ...]) -> CorpusDigest:
    whole, found = hashlib.sha256(), list[DigestedPath]()
    for split, path in places:
        is_folder, files = path.is_dir(), dict[str, FileDigest]()
        below, links = files_below(path) if is_folder else ([("", path)], 0)
        if is_folder and links and not below:
            raise DataError(
                f"{path}: holds only links ({links:,}), which aren't followed; copy the files that they name"
            )
        for relpath, file in below:
            files[relpath] = file_digest(file)
            whole.update(f"{split}\0{relpath}\0".encode("utf-8", "surrogateescape"))
            whole.update(files[relpath].sha256)
        found.append(DigestedPath(split, path, is_folder, files, links))
    return CorpusDigest(whole.hexdigest(), tuple(found), stamps)


def files_below(folder: Path) -> tuple[list[tuple[str, Path]], int]:
    """Return the files below a folder that are neither hidden nor links, by relative path, and the number of links."""
    found, links = list[tuple[str, Path]](), 0
    for top, folders, names in os.walk(folder, onerror=_refuse):
        for path in (Path(top) / name for name in [*folders, *names] if not name.startswith(".")):
            if path.is_symlink():
                links += 1
            elif path.name in names:
                found.append((path.relative_to(folder).as_posix(), path))
        folders[:] = [name for name in folders if not name.startswith(".")]
    return sorted(found), links


def _refuse(error: OSError) -> None:
    raise DataError(f"{error.filename}: can't be read: {error.strerror}")


def file_stamp(path: Path) -> tuple[int, ...]:
    """Return numbers that change when a file, or any file below a folder, is edited: size, times and inode.

    The last number is the inode's change time, which can't be set back; it also changes without an edit, by another
    hard link or other permissions.
    """
    try:
        if not path.is_dir():
            stat = check_regular(path, path.stat())
            return stat.st_size, stat.st_mtime_ns, stat.st_ino, stat.st_ctime_ns
        stats = [check_regular(file, file.stat()) for _, file in files_below(path)[0]]
    except OSError as error:
        raise DataError(f"{error.filename or path}: can't be read: {error.strerror or error}") from None
    times = hash(tuple((s.st_mtime_ns, s.st_ino) for s in stats))
    return sum(s.st_size for s in stats), times, len(stats), hash(tuple(s.st_ctime_ns for s in stats))


def check_file_stamp(path: Path, before: tuple[int, ...]) -> None:
    """Raise DataError if a file, or one below a folder, was edited, removed or added since its stamp was taken."""
    try:
        now = file_stamp(path)
    except DataError:
        raise changed_file_error(path) from None
    if now[:-1] != before[:-1]:
        raise changed_file_error(path)
