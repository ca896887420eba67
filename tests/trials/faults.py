"""A command in which a system call fails: `python -m tests.trials.faults WORDS`, with a `Fault` as JSON in $FAULT."""

from __future__ import annotations

import atexit
import builtins
import errno
import io
import json
import os
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Calls that can fail, by what they need to fail plausibly.
READING = ("open", "read", "stat", "scandir")
WRITING = ("create", "write", "close", "replace", "mkdir", "unlink", "utime")
CALLS = (*READING, *WRITING)
ERRORS = ("EIO", "ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "ESTALE", "EMFILE", "ENOTDIR", "ELOOP", "ENAMETOOLONG")


@dataclass(frozen=True)
class Fault:
    """The `number`th of some calls on files below a folder fails, and all later ones if it `lasts`; none at 0."""

    below: str
    calls: tuple[str, ...] = CALLS
    number: int = 0
    error: str = "EIO"
    lasts: bool = False
    counts: str = ""

    def variables(self) -> dict[str, str]:
        """Return the variable of the environment that hands it on."""
        return {"FAULT": json.dumps(asdict(self))}


class Injected:
    """Counts calls, and lets some fail."""

    def __init__(self, fault: Fault) -> None:
        self.fault, self.seen, self.by_call = fault, 0, Counter[str]()
        self.below = os.path.join(os.path.abspath(fault.below), "")  # noqa: PTH100, PTH118
        self.real: dict[str, Callable[..., Any]] = {}

    def ask(self, call: str, path: Any) -> None:
        """Raise OSError if the call is one that fails."""
        if call not in self.fault.calls or isinstance(path, int):
            return
        if not os.path.join(os.path.abspath(os.fspath(path)), "").startswith(self.below):  # noqa: PTH100, PTH118
            return
        self.seen += 1
        self.by_call[call] += 1
        number = self.fault.number
        if number and (self.seen >= number if self.fault.lasts else self.seen == number):
            code = getattr(errno, self.fault.error)
            raise OSError(code, os.strerror(code), os.fspath(path) if call not in ("read", "write", "close") else None)

    def install(self) -> None:
        """Replace the calls."""
        for name in ("stat", "scandir", "replace", "mkdir", "unlink", "utime"):
            self._wrap(name)
        opened = io.open

        def open_(path: Any, mode: str = "r", *args: Any, **how: Any) -> Any:
            reads = set("wxa+").isdisjoint(mode)
            self.ask("open" if reads else "create", path)
            file = opened(path, mode, *args, **how)
            return file if isinstance(path, int) else _File(file, path, self)

        io.open = builtins.open = open_  # type: ignore[assignment]
        if self.fault.counts:
            atexit.register(self._write_counts)

    def _wrap(self, name: str) -> None:
        real = getattr(os, name)

        def call(path: Any = ".", *args: Any, **how: Any) -> Any:
            self.ask(name, path)
            return real(path, *args, **how)

        for supported in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
            if real in supported:
                supported.add(call)
        setattr(os, name, call)

    def _write_counts(self) -> None:
        with os.fdopen(os.open(self.fault.counts, os.O_CREAT | os.O_WRONLY), "w") as file:
            json.dump({**self.by_call, "all": self.seen}, file)


class _File:
    """An open file whose reads, writes and closing can fail."""

    def __init__(self, file: Any, path: Any, injected: Injected) -> None:
        self._file, self._path, self._injected = file, path, injected

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._file, name)
        call = {"write": "write", "writelines": "write", "close": "close"}.get(name, "read" if "read" in name else "")
        if name == "readable" or not call:
            return found

        def asked(*args: Any) -> Any:
            if call == "close":
                found()  # closed all the same, as by the system
            self._injected.ask(call, self._path)
            return found(*args)

        return asked

    def __enter__(self) -> Any:
        self._file.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Any:
        self._injected.ask("read", self._path)
        return iter(self._file)


def main() -> None:
    """Run the command line with the fault."""
    from benchmark.cli import main as bench  # noqa: PLC0415 - imports are no part of it

    given = json.loads(os.environ["FAULT"])
    Injected(Fault(**{**given, "calls": tuple(given["calls"])})).install()
    bench()


def counts_of(path: Path) -> dict[str, int]:
    """Return how often each call was made."""
    found: dict[str, int] = json.loads(path.read_text())
    return found


if __name__ == "__main__":
    main()
