"""The store of results, with keys made from the content that a result was computed from.

An entry is one file: a header (names, types and shapes of its arrays, some small facts, and digests of the payload
by chunks), the header's own digest, and the payload. It is written to a temporary file and renamed, so that a
reader, another run or a killed run never sees half an entry. An entry is verified whenever it is read; if that
fails, it is removed and computed again. Arrays are raw numbers: nothing from the disk is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import platformdirs

from benchmark.experiment.code_digest import code_version
from benchmark.experiment.storage import UnreachableError, open_store_files
from benchmark.system.errors import ConfigError
from benchmark.system.memory import read_gigabytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

#: The format of an entry. It is part of every key, so that a version never reads an entry in another format.
STORE_FORMAT = 1
ENTRY_MAGIC = b"simplexbench-%d\n" % STORE_FORMAT
STORE_CHUNK_BYTES = 1 << 24
DEFAULT_LIMIT_GB = 20.0
_DIGEST_BYTES = 32
_SHARING = "users share a store in a folder that their group may write to: chgrp GROUP FOLDER; chmod 2770 FOLDER"
_LONGEST_HEADER = 1 << 30


@dataclass(frozen=True)
class StoreEntry:
    """Named arrays and small facts."""

    arrays: dict[str, NDArray[Any]]
    facts: dict[str, Any] = field(default_factory=dict)


def store_key(**content: Any) -> str:
    """Return the sha256 of what a result is computed from, as canonical JSON.

    Examples
    --------
    >>> store_key(stage="counts", corpus="webkb") == store_key(corpus="webkb", stage="counts")
    True
    """
    text = json.dumps(content | {"format": STORE_FORMAT}, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def array_digest(*arrays: NDArray[Any]) -> str:
    """Return the sha256 of types, shapes and contents of arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def default_store_folder() -> Path | str:
    """Return ``$BENCH_CACHE``, a folder or an address such as s3://bucket/prefix, or else the user's cache folder."""
    named = os.environ.get("BENCH_CACHE")
    if named and "://" in named:
        return named
    return Path(named) if named else platformdirs.user_cache_path("simplexbench") / "store"


def default_store_limit() -> int:
    """Return ``$BENCH_CACHE_LIMIT_GB`` in bytes; by default 20 GB."""
    return read_gigabytes("BENCH_CACHE_LIMIT_GB", DEFAULT_LIMIT_GB)


class Store:
    """A folder of entries, shared by any number of runs at once.

    Parameters
    ----------
    folder : Path or str
        A folder, or an address such as s3://bucket/prefix.
    limit : int
        Largest size in bytes; the least recently used entries are removed beyond it.
    warn : callable
        Called once with the reason why nothing more is stored (the folder is full or read-only) or read (an address
        doesn't answer); the run goes on without the store.

    Attributes
    ----------
    local : bool
        Whether it is a folder of this machine.
    writable : bool
        Whether all entries so far could be written.
    reachable : bool
        Whether an address has answered so far.
    """

    def __init__(
        self,
        folder: Path | str | None = None,
        limit: int | None = None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.folder = default_store_folder() if folder is None else folder
        self.limit = default_store_limit() if limit is None else limit
        self._warn = warn
        self.writable, self.reachable, self._room = True, True, 0
        self._files = open_store_files(self.folder)
        self.address, self.local = self._files.address, "://" not in self._files.address
        self._begun, self._readable = False, True
        if not self.local:
            self.has("")

    def path(self, key: str) -> Any:
        """Return the path of a key's entry."""
        return self._files.path(key)

    def has(self, key: str) -> bool:
        """Return whether there is an entry (not whether it is intact)."""
        try:
            return self.reachable and self._files.has(key)
        except UnreachableError as error:
            return self._go_without(error)

    def get(self, key: str) -> StoreEntry | None:
        """Read and verify an entry; return None if there is none, or if it was damaged (it is then removed)."""
        if not self.reachable:
            return None
        try:
            with self._files.open(key) as file:
                entry = _read(file, key)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnreachableError as error:
            self._go_without(error)
            return None
        except PermissionError:
            if self._readable:
                self._warn(f"stored results of another user can't be read, and are computed again: {_SHARING}")
            self._readable = False
            return None
        except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
            self._warn(f"the stored result {key[:12]} is damaged ({error}); it is computed again")
            self._files.remove(self.path(key))
            return None
        self._use(key)
        return entry

    def put(self, key: str, entry: StoreEntry) -> bool:
        """Write an entry; return False if the folder can't take it."""
        if not (self.writable and self.reachable):
            return False
        size = sum(array.nbytes for array in entry.arrays.values())
        if size > self.limit:
            return False
        try:
            self._files.write(key, lambda file: _write(file, key, entry))
        except OSError as error:
            self.writable, self.reachable = False, self.local
            remedy = f"; {_SHARING}" if isinstance(error, PermissionError) else ""
            self._warn(f"results are no longer kept: {self.folder}: {error.strerror or error}{remedy}")
            return False
        self._use(key)
        # Listing the folder takes longer than a small entry: list again after a hundredth of the limit is written.
        self._room -= size
        if self._room <= 0:
            try:
                self._room = min(self.limit - self._evict(keep=key), self.limit // 100)
            except UnreachableError as error:
                self._go_without(error)
        return True

    def _go_without(self, error: UnreachableError) -> bool:
        """Warn once that the run goes on without the store; return False."""
        if self.reachable:
            self._warn(f"{error}; the rest is done without it")
        self.reachable = False
        return False

    def entries(self) -> list[tuple[Any, int, float]]:
        """Return path, bytes and time of last use of every entry, least recently used first."""
        return sorted(self._files.listed(), key=lambda item: (item[2], item[0]))

    def remove(self, key: str) -> None:
        """Remove an entry."""
        self._files.remove(self.path(key))

    def described(self) -> list[tuple[dict[str, Any], int, float]]:
        """Return the facts, bytes and time of last use of every entry that can be read, as `entries` orders them."""
        found = []
        for path, size, used in self.entries():
            try:
                with self._files.open(path.name) as file:
                    found.append((_read_header(file)["facts"], size, used))
            except (OSError, ValueError, KeyError, TypeError, struct.error):
                continue
        return found

    def unused(self) -> list[tuple[Any, int, float]]:
        """Return the entries that this version of the package has neither written nor read, as `entries` does.

        Raises
        ------
        ConfigError
            If the store has no times of use: at an address, or if this version hasn't used it yet.
        """
        if not self.local:
            raise ConfigError(f"{self.address}: a remote store doesn't record when an entry was last used")
        since = self._files.began(code_version())
        if since is None:
            raise ConfigError(f"{self.folder}: this version of the package hasn't used it yet; run something first")
        return [each for each in self.entries() if each[2] < since]

    def clear(self, entries: Sequence[tuple[Any, int, float]] | None = None) -> tuple[int, int]:
        """Remove some entries, or all; return their number and their bytes."""
        gone = self.entries() if entries is None else entries
        for path, _, _ in gone:
            self._files.remove(path)
        self._files.clear()
        return len(gone), sum(size for _, size, _ in gone)

    def _use(self, key: str) -> None:
        """Record that an entry is used, and when this version began to use the store."""
        if not self._begun:
            self._files.begin(code_version())
            self._begun = True
        self._files.used(key)

    def _evict(self, keep: str) -> int:
        """Remove the least recently used entries beyond the limit; return the bytes that are left."""
        entries = self.entries()
        total = sum(size for _, size, _ in entries)
        for path, size, _ in entries:
            if total <= self.limit:
                break
            if path.name != keep:
                self._files.remove(path)
                total -= size
        return total


def _chunks(array: NDArray[Any]) -> list[memoryview]:
    view = array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
    return [view[start : start + STORE_CHUNK_BYTES] for start in range(0, len(view), STORE_CHUNK_BYTES)]


def _digests(chunks: list[memoryview]) -> list[str]:
    if len(chunks) < 2:
        return [hashlib.sha256(chunk).hexdigest() for chunk in chunks]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:  # hashing releases the interpreter's lock
        return list(pool.map(lambda chunk: hashlib.sha256(chunk).hexdigest(), chunks))


def _write(file: BinaryIO, key: str, entry: StoreEntry) -> None:
    arrays = {name: np.asarray(array, order="C") for name, array in entry.arrays.items()}
    for name, array in arrays.items():
        if array.dtype.kind in "OV":
            raise TypeError(f"the array {name!r} of type {array.dtype} isn't made of plain numbers; it can't be stored")
    described = [
        {"name": name, "dtype": array.dtype.str, "shape": array.shape, "digests": _digests(_chunks(array))}
        for name, array in arrays.items()
    ]
    header = json.dumps({"key": key, "facts": entry.facts, "arrays": described}, sort_keys=True).encode()
    file.write(ENTRY_MAGIC + struct.pack("<Q", len(header)) + header + hashlib.sha256(header).digest())
    for array in arrays.values():
        file.writelines(_chunks(array))


def _read(file: BinaryIO, key: str) -> StoreEntry:
    header = _read_header(file)
    if header["key"] != key:
        raise ValueError("the entry belongs to another key")
    arrays = {each["name"]: _read_array(file, each) for each in header["arrays"]}
    if file.read(1):
        raise ValueError("the entry is too long")
    return StoreEntry(arrays, header["facts"])


def _read_header(file: BinaryIO) -> Any:
    if file.read(len(ENTRY_MAGIC)) != ENTRY_MAGIC:
        raise ValueError("not an entry of this store, or one of another format")
    (length,) = struct.unpack("<Q", file.read(8))
    if length > _LONGEST_HEADER:
        raise ValueError("the header is damaged")
    header = file.read(length)
    if hashlib.sha256(header).digest() != file.read(_DIGEST_BYTES):
        raise ValueError("the header is damaged")
    return json.loads(header)


def _read_array(file: BinaryIO, described: Any) -> NDArray[Any]:
    dtype, shape = np.dtype(described["dtype"]), tuple(described["shape"])
    if dtype.hasobject:
        raise ValueError("the entry holds objects, not numbers")
    array = np.empty(shape, dtype)
    chunks = _chunks(array)
    for chunk in chunks:
        if file.readinto(chunk) != len(chunk):  # type: ignore[attr-defined]
            raise ValueError("the entry is cut short")
    if _digests(chunks) != described["digests"]:
        raise ValueError(f"the array {described['name']!r} is not what was written")
    return array
