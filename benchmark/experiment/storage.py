"""Storage of the store's files: a local folder, or an address such as s3://bucket/prefix."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeVar

from benchmark.system.atomic_files import process_name, remove_unfinished_files
from benchmark.system.errors import BenchError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

INSTALL_CLUSTER = "pip install 'simplexbench[cluster]'"
_T = TypeVar("_T")


class UnreachableError(BenchError):
    """Address that doesn't answer, or answers with an error."""


def read_store_timeout() -> float:
    """Read ``$BENCH_CACHE_SECONDS``: the time limit for a file at an address, retries included; by default 30 s.

    Raises
    ------
    BenchError
        If it isn't a positive number.
    """
    text = os.environ.get("BENCH_CACHE_SECONDS", "30")
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < threading.TIMEOUT_MAX:
        raise BenchError(f"BENCH_CACHE_SECONDS is {text!r}; it must be a number of seconds, such as 30")
    return seconds


def call_with_timeout(seconds: float, call: Callable[[], _T]) -> _T:
    """Return a call's result or raise its error; raise TimeoutError after `seconds`, while its thread runs on."""
    done: Future[_T] = Future()

    def work() -> None:
        try:
            done.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again by `done.result`
            done.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        return done.result(seconds)
    except FutureTimeout:
        if done.done():  # the call itself raised it
            raise
        raise TimeoutError(f"no complete answer in {seconds:g} s") from None


class StoreFiles(Protocol):
    """Files by name, shared by any number of processes at the same time."""

    #: Folder or address in messages, independent of the current folder.
    address: str

    def path(self, name: str) -> Any:
        """Return a file's path: below a folder of the first two letters of its name."""

    def has(self, name: str) -> bool:
        """Test whether a file exists."""

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading; raise FileNotFoundError or NotADirectoryError if it doesn't exist."""

    def write(self, name: str, fill: Callable[[BinaryIO], None]) -> None:
        """Write a file by calling `fill`; no reader sees part of it, and on OSError the old file stays."""

    def remove(self, path: Any) -> None:
        """Remove the file at a path, if possible."""

    def used(self, name: str) -> None:
        """Record that a file was read, if the storage can record it."""

    def begin(self, version: str) -> None:
        """Record the time of a version's first use of the files, if the storage can record it."""

    def began(self, version: str) -> float | None:
        """Return when a version began to use the files, in seconds since 1970; None if it never has."""

    def listed(self) -> list[tuple[Any, int, float]]:
        """List path, size in bytes and time of last use of every file."""

    def clear(self) -> None:
        """Remove unfinished files."""


class LocalStoreFiles:
    """Files below a local folder; written to a temporary file, then renamed.

    A folder that its group or everybody may write to is shared by several users: what is created in it gets its
    permissions, whatever the umask of who creates it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.address = folder, str(folder.absolute())
        self._versions = folder / "versions"
        remove_unfinished_files(folder / "parts", "*")

    def path(self, name: str) -> Path:
        """Return a file's path."""
        return self.folder / name[:2] / name

    def has(self, name: str) -> bool:
        """Test whether a file exists."""
        return self.path(name).is_file()

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading."""
        return self.path(name).open("rb")

    def write(self, name: str, fill: Callable[[BinaryIO], None]) -> None:
        """Write a temporary file, and rename it."""
        part = self.folder / "parts" / f"{name}.{process_name()}.{secrets.token_hex(4)}"
        path = self.path(name)
        try:
            self._make_folder(part.parent)
            with part.open("wb") as file:
                fill(file)
            self._share(part)
            self._make_folder(path.parent)
            if path.is_dir():
                self.remove(path)
            part.replace(path)
        except BaseException as error:
            self.remove(part)
            # Another user may have written the same at the same time: in a sticky folder it can't be replaced.
            if not (isinstance(error, PermissionError) and os.access(path, os.R_OK)):
                raise

    def remove(self, path: Path) -> None:
        """Remove a file, or a folder in its place; ignore errors, since then files can't be written either."""
        with contextlib.suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def used(self, name: str) -> None:
        """Record that a file was read, in its time of modification."""
        with contextlib.suppress(OSError):
            os.utime(self.path(name))

    def begin(self, version: str) -> None:
        """Create an empty file named after the version."""
        with contextlib.suppress(OSError):
            self._make_folder(self._versions)
            (self._versions / version).touch(exist_ok=False)
            self._share(self._versions / version)

    def began(self, version: str) -> float | None:
        """Return the time of the version's file; None if there is none."""
        with contextlib.suppress(OSError):
            return (self._versions / version).stat().st_mtime
        return None

    def listed(self) -> list[tuple[Path, int, float]]:
        """List path, size in bytes and time of last use of every file."""
        files = []
        for path in self.folder.glob("??/*"):
            with contextlib.suppress(OSError):
                found = path.stat()
                files.append((path, found.st_size, found.st_mtime))
        return files

    def clear(self) -> None:
        """Remove unfinished files, and folders that are empty; other users' folders stay where they must."""
        shutil.rmtree(self.folder / "parts", ignore_errors=True)
        for path in self.folder.glob("??"):
            with contextlib.suppress(OSError):
                path.rmdir()

    def _make_folder(self, path: Path) -> None:
        """Create a folder, unless it is there, with the permissions of a shared store."""
        if not path.is_dir():
            path.mkdir(parents=True, exist_ok=True)
            self._share(path)

    def _share(self, path: Path) -> None:
        """Give a new file or folder the permissions of the store's folder, if others than its owner may write there."""
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(self.folder.stat().st_mode)
            if mode & (stat.S_IWGRP | stat.S_IWOTH):
                path.chmod(mode if path.is_dir() else mode & 0o666)


class RemoteStoreFiles:
    """Files below an address that fsspec supports. Each is written as a whole; its last use is the time of writing.

    Raises
    ------
    ConfigError
        If fsspec doesn't support the address, or a package for it isn't installed.
    UnreachableError
        If a read isn't answered within `read_store_timeout`; a write raises OSError.
    """

    def __init__(self, address: str) -> None:
        self.address, self._seconds = address.rstrip("/"), read_store_timeout()
        try:
            import fsspec  # noqa: PLC0415 - an optional dependency

            # Files of other processes must be visible at once: no listings are cached.
            self._system, self._root = fsspec.core.url_to_fs(self.address, use_listings_cache=False)
        except ImportError as error:
            raise ConfigError(
                f"BENCH_CACHE is {address!r}: {error} (fsspec and s3fs come with {INSTALL_CLUSTER})"
            ) from None
        except ValueError as error:
            wanted = "a folder, or an address that fsspec supports, such as s3://bucket/prefix"
            raise ConfigError(f"BENCH_CACHE is {address!r}: {error}; name {wanted}") from None

    def path(self, name: str) -> PurePosixPath:
        """Return a file's path."""
        return PurePosixPath(self._root, name[:2], name)

    def has(self, name: str) -> bool:
        """Test whether a file exists."""
        try:
            call_with_timeout(self._seconds, lambda: self._system.info(str(self.path(name))))
        except FileNotFoundError:
            return False
        except Exception as error:
            raise self._silent(error) from error
        return True

    def open(self, name: str) -> BinaryIO:
        """Download a whole file, and open it for reading."""
        try:
            return BytesIO(call_with_timeout(self._seconds, lambda: self._system.cat_file(str(self.path(name)))))
        except FileNotFoundError:
            raise
        except Exception as error:
            raise self._silent(error) from error

    def write(self, name: str, fill: Callable[[BinaryIO], None]) -> None:
        """Upload a whole file."""
        content = BytesIO()
        fill(content)
        try:
            call_with_timeout(self._seconds, lambda: self._system.pipe_file(str(self.path(name)), content.getvalue()))
        except Exception as error:
            raise OSError(f"{type(error).__name__}: {error}") from error

    def remove(self, path: PurePosixPath) -> None:
        """Remove a file."""
        with contextlib.suppress(Exception):
            call_with_timeout(self._seconds, lambda: self._system.rm_file(str(path)))

    def used(self, name: str) -> None:
        """Do nothing: an object's time is that of its writing."""

    def begin(self, version: str) -> None:
        """Do nothing: an object's time is that of its writing."""

    def began(self, version: str) -> float | None:  # noqa: ARG002
        """Return None: no first use is recorded."""
        return None

    def listed(self) -> list[tuple[PurePosixPath, int, float]]:
        """List path, size in bytes and time of writing of every file."""
        try:
            files = call_with_timeout(self._seconds, lambda: self._system.find(self._root, detail=True))
        except FileNotFoundError:
            return []
        except Exception as error:
            raise self._silent(error) from error
        return [(PurePosixPath(path), int(file["size"] or 0), _time_of(file)) for path, file in files.items()]

    def clear(self) -> None:
        """Do nothing: an interrupted upload leaves no file."""

    def _silent(self, error: Exception) -> UnreachableError:
        return UnreachableError(f"the store {self.address} can't be read: {type(error).__name__}: {error}")


def _time_of(facts: dict[str, Any]) -> float:
    """Return when an object was written, in seconds since 1970; 0 if its store doesn't report it."""
    for key in ("LastModified", "mtime", "created", "last_modified"):
        if (time := facts.get(key)) is not None:
            return float(time.timestamp() if hasattr(time, "timestamp") else time)
    return 0.0


def open_store_files(place: Path | str) -> StoreFiles:
    """Return the files of a folder, or of an address (with ``://`` in it)."""
    return RemoteStoreFiles(str(place)) if "://" in str(place) else LocalStoreFiles(Path(place))
