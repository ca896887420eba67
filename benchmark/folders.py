"""Where the store keeps its files: a folder of this machine, or an address such as s3://bucket/prefix."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeVar

from benchmark.environment import name_of_process, remove_leftovers
from benchmark.errors import BenchError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

CLUSTER = "pip install 'simplexbench[cluster]'"
T = TypeVar("T")


class UnreachableError(BenchError):
    """An address doesn't answer, or answers with an error."""


def answer_seconds() -> float:
    """Read ``$BENCH_CACHE_SECONDS``: how long a file behind an address may take, retries included; 30 unless given.

    Raises
    ------
    BenchError
        If it is no positive number.
    """
    text = os.environ.get("BENCH_CACHE_SECONDS", "30")
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < threading.TIMEOUT_MAX:
        raise BenchError(f"BENCH_CACHE_SECONDS is {text!r}; it must be a number of seconds, such as 30")
    return seconds


def within(seconds: float, call: Callable[[], T]) -> T:
    """Return what a call returns or raises; TimeoutError after so many seconds, when its thread is left to itself."""
    done: Future[T] = Future()

    def work() -> None:
        try:
            done.set_result(call())
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is asked for
            done.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        return done.result(seconds)
    except FutureTimeout:
        if done.done():  # the call's own
            raise
        raise TimeoutError(f"no whole answer in {seconds:g} s") from None


class Files(Protocol):
    """Files by their names, shared by any number of processes at once."""

    #: As a person names it, wherever a process works.
    address: str

    def path(self, name: str) -> Any:
        """Where a file stands: below the first two letters of its name."""

    def has(self, name: str) -> bool:
        """Whether there is such a file."""

    def open(self, name: str) -> BinaryIO:
        """Open it to be read; FileNotFoundError or NotADirectoryError where there is none."""

    def write(self, name: str, fill: Callable[[BinaryIO], None]) -> None:
        """Let `fill` write it; no reader ever meets half of it, and OSError leaves what was there."""

    def remove(self, path: Any) -> None:
        """Remove what stands there, if that can be done."""

    def used(self, name: str) -> None:
        """Note that a file was read, where that can be noted."""

    def begin(self, version: str) -> None:
        """Note that a version uses the files from now on, unless it has before; where that can be noted."""

    def began(self, version: str) -> float | None:
        """Return when a version began to use the files, in seconds since 1970; None if it never has."""

    def listed(self) -> list[tuple[Any, int, float]]:
        """Path, bytes and time of last use of every file."""

    def clear(self) -> None:
        """Remove what was left half written."""


class LocalFiles:
    """Files below a folder: written beside their place and renamed into it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.address = folder, str(folder.absolute())
        self._versions = folder / "versions"
        remove_leftovers(folder / "parts", "*")

    def path(self, name: str) -> Path:
        """Where a file stands."""
        return self.folder / name[:2] / name

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return self.path(name).is_file()

    def open(self, name: str) -> BinaryIO:
        """Open it to be read."""
        return self.path(name).open("rb")

    def write(self, name: str, fill: Callable[[BinaryIO], None]) -> None:
        """Write it beside its place, and rename it."""
        part = self.folder / "parts" / f"{name}.{name_of_process()}.{secrets.token_hex(4)}"
        path = self.path(name)
        try:
            part.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                fill(file)
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                self.remove(path)
            part.replace(path)
        except BaseException:
            self.remove(part)
            raise

    def remove(self, path: Path) -> None:
        """Remove a file, or a folder in its place; where that can't be done, no files can be written either."""
        with contextlib.suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def used(self, name: str) -> None:
        """Note that a file was read."""
        with contextlib.suppress(OSError):
            os.utime(self.path(name))

    def begin(self, version: str) -> None:
        """Leave an empty file of the version's name."""
        with contextlib.suppress(OSError):
            self._versions.mkdir(parents=True, exist_ok=True)
            (self._versions / version).touch(exist_ok=False)

    def began(self, version: str) -> float | None:
        """Return the time of the version's file."""
        with contextlib.suppress(OSError):
            return (self._versions / version).stat().st_mtime
        return None

    def listed(self) -> list[tuple[Path, int, float]]:
        """Path, bytes and time of last use."""
        found = []
        for path in self.folder.glob("??/*"):
            with contextlib.suppress(OSError):
                stat = path.stat()
                found.append((path, stat.st_size, stat.st_mtime))
        return found

    def clear(self) -> None:
        """Remove what was left half written."""
        shutil.rmtree(self.folder / "parts", ignore_errors=True)


class RemoteFiles:
    """Files below an address that fsspec knows: each is put whole, as object stores do; its last use is its writing.

    Raises
    ------
    ConfigError
        If nothing speaks to such an address, or what does isn't installed.
    UnreachableError
        If it doesn't answer whenever a file is asked for, within `answer_seconds`; OSError where one is written.
    """

    def __init__(self, address: str) -> None:
        self.address, self._seconds = address.rstrip("/"), answer_seconds()
        try:
            import fsspec  # noqa: PLC0415 - only of those who ask for it

            # What others write must be seen at once: nothing that was listed is remembered.
            self._system, self._root = fsspec.core.url_to_fs(self.address, use_listings_cache=False)
        except ImportError as error:
            raise ConfigError(f"BENCH_CACHE is {address!r}: {error} (fsspec and s3fs come with {CLUSTER})") from None
        except ValueError as error:
            wanted = "a folder, or an address that fsspec knows, such as s3://bucket/prefix"
            raise ConfigError(f"BENCH_CACHE is {address!r}: {error}; name {wanted}") from None

    def path(self, name: str) -> PurePosixPath:
        """Where a file stands."""
        return PurePosixPath(self._root, name[:2], name)

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        try:
            within(self._seconds, lambda: self._system.info(str(self.path(name))))
        except FileNotFoundError:
            return False
        except Exception as error:
            raise self._silent(error) from error
        return True

    def open(self, name: str) -> BinaryIO:
        """All of it, to be read."""
        try:
            return BytesIO(within(self._seconds, lambda: self._system.cat_file(str(self.path(name)))))
        except FileNotFoundError:
            raise
        except Exception as error:
            raise self._silent(error) from error

    def write(self, name: str, fill: Callable[[BinaryIO], None]) -> None:
        """Put it, whole."""
        whole = BytesIO()
        fill(whole)
        try:
            within(self._seconds, lambda: self._system.pipe_file(str(self.path(name)), whole.getvalue()))
        except Exception as error:
            raise OSError(f"{type(error).__name__}: {error}") from error

    def remove(self, path: PurePosixPath) -> None:
        """Remove a file."""
        with contextlib.suppress(Exception):
            within(self._seconds, lambda: self._system.rm_file(str(path)))

    def used(self, name: str) -> None:
        """Nothing: an object's time is that of its writing."""

    def begin(self, version: str) -> None:
        """Nothing: an object's time is that of its writing."""

    def began(self, version: str) -> float | None:  # noqa: ARG002
        """None: nothing was noted."""
        return None

    def listed(self) -> list[tuple[PurePosixPath, int, float]]:
        """Path, bytes and time of writing."""
        try:
            found = within(self._seconds, lambda: self._system.find(self._root, detail=True))
        except FileNotFoundError:
            return []
        except Exception as error:
            raise self._silent(error) from error
        return [(PurePosixPath(path), int(each["size"] or 0), _time_of(each)) for path, each in found.items()]

    def clear(self) -> None:
        """Nothing: what isn't put whole isn't there."""

    def _silent(self, error: Exception) -> UnreachableError:
        return UnreachableError(f"the store {self.address} can't be read: {type(error).__name__}: {error}")


def _time_of(described: dict[str, Any]) -> float:
    """Seconds since 1970 at which an object was written; 0 where its store doesn't tell."""
    for key in ("LastModified", "mtime", "created", "last_modified"):
        if (found := described.get(key)) is not None:
            return float(found.timestamp() if hasattr(found, "timestamp") else found)
    return 0.0


def files_at(place: Path | str) -> Files:
    """The files of a folder, or behind an address, which has ``://`` in it."""
    return RemoteFiles(str(place)) if "://" in str(place) else LocalFiles(Path(place))
