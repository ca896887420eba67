"""The store of results, with keys made from the content that a result was computed from.

An entry is one file: the digest and the length of a header, the header (names, types and shapes of its arrays, their
digest, and some small facts), and the arrays. It is written to a temporary file and renamed, so that a reader, another
run or a killed run never sees half an entry. An entry is verified whenever it is read; if that fails, it is removed and
computed again. Arrays are raw numbers: nothing from the disk is ever executed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import numpy as np
import platformdirs

from benchmark.experiment.code_digest import code_digest, is_stored
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import BenchError, ConfigError
from benchmark.system.memory import read_gigabytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]

_T = TypeVar("_T")
#: The format of an entry. It is part of every key, so that a version never reads an entry in another format.
STORE_FORMAT = 4
DEFAULT_LIMIT_GB = 20.0
_STALE_SECONDS, _MOST_HEADER_BYTES = 24 * 3600.0, 1 << 26
#: Errors that an entry raises which isn't what was written.
_DAMAGE = (ValueError, KeyError, TypeError, IsADirectoryError)
#: The stage in the facts of an entry.
KERNEL_STAGE = "kernels"
#: Results that took fewer seconds are not stored: nobody waits for them.
MIN_KERNEL_SECONDS = 0.5
#: The least ratio of the seconds to compute a result to the seconds to read it, at so many bytes a second.
MIN_SPEEDUP, READ_SPEED = 2.0, 2e8
INSTALL_CLUSTER = "pip install 'simplexbench[cluster]'"


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


class Store:
    """A folder of entries, or an address of fsspec such as s3://bucket/prefix, shared by any number of runs at once.

    At an address each entry is written as a whole, and its last use is the time of writing.

    Parameters
    ----------
    folder : Path or str, optional
        A folder, or an address; by default ``$BENCH_CACHE``, or else the user's cache folder.
    limit : int, optional
        Largest size in bytes, beyond which the least recently used entries are removed; by default
        ``$BENCH_CACHE_LIMIT_GB``, or else 20 GB.
    warn : callable
        Called once with the reason why nothing more is stored (the folder is full or read-only) or read (an address
        doesn't answer); the run goes on without the store.

    Attributes
    ----------
    address : str
        Folder or address, independent of the current folder.
    local : bool
        Whether it is a folder of this machine.
    writable : bool
        Whether all entries so far could be written.
    reachable : bool
        Whether an address has answered so far.

    Raises
    ------
    ConfigError
        If fsspec doesn't know the address, or a package for it isn't installed.
    """

    def __init__(
        self,
        folder: Path | str | None = None,
        limit: int | None = None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        import fsspec  # noqa: PLC0415 - slow to load

        default = os.environ.get("BENCH_CACHE") or platformdirs.user_cache_path("simplexbench") / "store"
        named = str(default if folder is None else folder)
        self.limit = read_gigabytes("BENCH_CACHE_LIMIT_GB", DEFAULT_LIMIT_GB) if limit is None else limit
        self._warn = warn
        self.writable, self.reachable, self._room = True, True, 0
        try:
            # Files of other processes must be visible at once: no listings are cached.
            self._files, root = fsspec.core.url_to_fs(named, use_listings_cache=False)
        except (ImportError, ValueError) as error:
            wanted = f"name a folder, or an address that fsspec supports, such as s3:// with {INSTALL_CLUSTER}"
            raise ConfigError(f"BENCH_CACHE is {named!r}: {error}; {wanted}") from None
        self._root, self.local = Path(root), "file" in self._files.protocol
        self.address = root if self.local else named.rstrip("/")

    def __reduce__(self) -> tuple[type[Store], tuple[str, int]]:
        """Pickle its address: a process of users' code has the same entries, and tells nobody of them."""
        return Store, (self.address, self.limit)

    def path(self, key: str) -> Path:
        """Return the path of a key's entry: below a folder of the first two letters of its name."""
        return self._root / key[:2] / key

    def has(self, key: str) -> bool:
        """Return whether there is an entry (not whether it is intact)."""
        return self._ask(lambda: self._files.info(str(self.path(key)))["type"] == "file", otherwise=False)

    def get(self, key: str) -> StoreEntry | None:
        """Read and verify an entry; return None if there is none, or if it was damaged (it is then removed)."""
        return self._ask(partial(self._read, key), otherwise=None)

    def _read(self, key: str) -> StoreEntry | None:
        path = self.path(key)
        try:
            with self._files.open(str(path), "rb") as file:
                entry = _decode(file, key)
        except _DAMAGE as error:
            self._warn(f"the stored result {key[:12]} is damaged ({error}); it is computed again")
            self._remove(path)
            return None
        if self.local:
            with contextlib.suppress(OSError):
                os.utime(path)  # the last use
        return entry

    def put(self, key: str, entry: StoreEntry) -> bool:
        """Write an entry; return False if the store can't take it."""
        size = sum(array.nbytes for array in entry.arrays.values())
        if not (self.writable and self.reachable) or size > self.limit:
            return False
        try:
            if self.local:
                write_atomically(self.path(key), *_encode(key, entry))
            else:
                self._files.pipe_file(str(self.path(key)), b"".join(_encode(key, entry)))
        except Exception as error:  # noqa: BLE001 - of any library behind an address
            self.writable, self.reachable = False, self.local
            reason = error if isinstance(error, BenchError) else f"{type(error).__name__}: {error}"
            self._warn(f"results are no longer kept: {self.address}: {reason}")
            return False
        # Listing the folder takes longer than a small entry: list again after a hundredth of the limit is written.
        self._room -= size
        if self._room <= 0:
            self._room = min(self.limit - self._evict(keep=key), self.limit // 100)
        return True

    def cached_arrays(
        self, about: str, components: Sequence[type], content: Mapping[str, Any], make: Callable[[], Arrays]
    ) -> Arrays:
        """Return the arrays that the store has for this content and code, or else those that `make` computes.

        They are of a kernel and its training documents, or of a diagnostic. They are stored if computing them took at
        least `MIN_SPEEDUP` times as long as reading them would, unless they are a user's class's that isn't stored. At
        an address nothing is stored, since reading would take longer than computing.

        Parameters
        ----------
        about : str
            Their name in `bench cache list`.
        components : sequence of type
            Classes whose code decides the arrays.
        content : mapping
            All else that decides them, as JSON values.
        make : callable
        """
        if not self.local or not all(map(is_stored, components)):
            return make()
        key = store_key(stage=KERNEL_STAGE, code=code_digest(*components), **content)
        if (entry := self.get(key)) is not None:
            return entry.arrays
        started = time.perf_counter()
        arrays = make()
        seconds = time.perf_counter() - started
        n_bytes = sum(array.nbytes for array in arrays.values())
        if MIN_KERNEL_SECONDS <= seconds >= MIN_SPEEDUP * n_bytes / READ_SPEED:
            facts = {"stage": KERNEL_STAGE, "about": about, "seconds": round(seconds, 3)}
            self.put(key, StoreEntry(arrays, facts))
        return arrays

    def entries(self) -> list[tuple[Path, int, float]]:
        """Return path, bytes and time of last use of entries, and of what killed processes left, oldest use first."""
        files: dict[str, Any] = self._ask(lambda: self._files.find(str(self._root), detail=True), otherwise={})
        found = [(Path(name), int(file["size"] or 0), _last_use(file)) for name, file in files.items()]
        old = time.time() - _STALE_SECONDS  # files of killed processes, which no process writes any more
        whole = (each for each in found if len(each[0].parent.name) == 2 and (each[0].name[0] != "." or each[2] < old))
        return sorted(whole, key=lambda item: (item[2], item[0]))

    def described(self) -> list[tuple[dict[str, Any], int]]:
        """Return the facts and bytes of every entry that can be read, as `entries` orders them."""
        found = []
        for path, size, _ in self.entries():
            with contextlib.suppress(OSError, *_DAMAGE), self._files.open(str(path), "rb") as file:
                found.append((_decode_header(file)["facts"], size))
        return found

    def clear(self) -> None:
        """Remove all entries, and what killed processes left of some."""
        for path, _, _ in self.entries():
            self._remove(path)

    def _ask(self, ask: Callable[[], _T], otherwise: _T) -> _T:
        """Return an answer of the file system; if there is none, warn once that the run goes on without the store."""
        if self.reachable:
            try:
                return ask()
            except (FileNotFoundError, NotADirectoryError):
                pass
            except Exception as error:  # noqa: BLE001 - of any library behind an address
                self.reachable = False
                why = f"the store {self.address} can't be read: {type(error).__name__}: {error}"
                self._warn(f"{why}; the rest is done without it")
        return otherwise

    def _remove(self, path: Path) -> None:
        """Remove a file, or a folder of this machine; ignore errors, since then files can't be written either."""
        with contextlib.suppress(Exception):
            self._files.rm(str(path), recursive=self.local)

    def _evict(self, keep: str) -> int:
        """Remove the least recently used entries beyond the limit; return the bytes that are left."""
        entries = self.entries()
        total = sum(size for _, size, _ in entries)
        for path, size, _ in entries:
            if total > self.limit and path.name != keep:
                self._remove(path)
                total -= size
        return total


def _last_use(file: dict[str, Any]) -> float:
    """Return when a file was last used or an object written, in seconds since 1970; 0 if that isn't known."""
    time = file.get("LastModified") or file.get("mtime") or 0
    return float(time.timestamp() if hasattr(time, "timestamp") else time)


def _hex_digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(bytearray())


def _encode(key: str, entry: StoreEntry) -> list[bytes | memoryview]:
    """Return an entry's header and the bytes of its arrays."""
    arrays = [np.asarray(array, order="C") for array in entry.arrays.values()]
    named = [(name, array.dtype.str, array.shape) for name, array in zip(entry.arrays, arrays, strict=True)]
    facts = {"key": key, "facts": entry.facts, "arrays": named, "digest": array_digest(*arrays)}
    header = json.dumps(facts, sort_keys=True).encode()
    return [b"%s%016x%s" % (_hex_digest(header), len(header), header), *map(_bytes_of, arrays)]


def _decode(file: BinaryIO, key: str) -> StoreEntry:
    header = _decode_header(file)
    if header["key"] != key:
        raise ValueError("the entry belongs to another key")
    arrays = {name: np.empty(shape, dtype) for name, dtype, shape in header["arrays"]}
    whole = all(file.readinto(each) == len(each) for each in map(_bytes_of, arrays.values()))  # type: ignore[attr-defined]
    if not whole or file.read(1) or array_digest(*arrays.values()) != header["digest"]:
        raise ValueError("its arrays aren't what was written")
    return StoreEntry(arrays, header["facts"])


def _decode_header(file: BinaryIO) -> Any:
    digest, size = file.read(64), int(file.read(16), 16)
    header = file.read(min(size, _MOST_HEADER_BYTES))
    if _hex_digest(header) != digest:
        raise ValueError("not an entry of this store, or its header is damaged")
    return json.loads(header)
