"""Let Ctrl-C stop a plug-in's code: the first interrupts it, the second ends the process, even in a loop in C.

Python runs its handler of a signal between two steps of the interpreter. In code that never takes such a step, or that
catches the interruption, only what needs no interpreter can end the process: a thread of machine code, which reads from
a pipe the signals that arrive (`signal.set_wakeup_fd`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Milliseconds after the first Ctrl-C until a line says that a plug-in's code goes on.
PATIENCE_MS = 500
_LONGEST_LINE = 1000
#: Whether the process may be ended, once for each context that allows it.
_ALLOWED: list[bool] = []
_INSIDE: list[str] = []


@contextlib.contextmanager
def end_at_second_interrupt() -> Iterator[None]:
    """Allow that the second Ctrl-C ends this process while a plug-in's code runs."""
    _ALLOWED.append(True)
    try:
        yield
    finally:
        _ALLOWED.pop()


@contextlib.contextmanager
def interruptible(place: str) -> Iterator[list[int]]:
    """Run a plug-in's code, named by its place; yield a list that gets a number for each Ctrl-C.

    In other threads than the main one, and where Ctrl-C is ignored, the list stays empty.
    """
    pressed: list[int] = []
    before = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(before):
        yield pressed
        return
    handle = before

    def interrupt(number: int, frame: Any) -> None:
        pressed.append(number)
        handle(number, frame)

    watcher = _watcher() if _ALLOWED and not _INSIDE else None
    signal.signal(signal.SIGINT, interrupt)
    _INSIDE.append(place)
    written = -1 if watcher is None else watcher.enter(place)
    try:
        yield pressed
    finally:
        if watcher is not None:
            watcher.leave(written)
        _INSIDE.pop()
        signal.signal(signal.SIGINT, before)


class _Watcher:
    """Pipe from signals to the thread of machine code."""

    def __init__(self) -> None:
        import numpy as np  # noqa: PLC0415 - as the next

        from benchmark.system.user_code import watcher  # noqa: PLC0415 - it loads numba, and `bench --help` needs neither

        self._bytes = {True: bytes([watcher.ENTERED]), False: bytes([watcher.LEFT])}
        self._lines = np.zeros((2, _LONGEST_LINE), np.uint8)
        self._sizes = np.zeros(2, np.int64)
        reads, self._pipe = os.pipe()
        os.set_blocking(self._pipe, False)

        def work() -> None:
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            watcher.watch(reads, PATIENCE_MS, self._lines, self._sizes)

        threading.Thread(target=work, name="interrupts", daemon=True).start()
        os.register_at_fork(after_in_child=self._forget)

    def enter(self, place: str) -> int:
        """Watch from here on; return the descriptor that signals were written to before."""
        lines = (
            f"\nbench: waiting for {place}; Ctrl-C again ends the process\n",
            f"\nbench: interrupted; {place} didn't stop, and the process was ended; what is stored stays so\n",
        )
        for row, line in enumerate(lines):
            content = line.encode("utf-8", "backslashreplace")[:_LONGEST_LINE]
            self._lines[row, : len(content)] = bytearray(content)
            self._sizes[row] = len(content)
        self._tell(inside=True)
        return signal.set_wakeup_fd(self._pipe, warn_on_full_buffer=False)

    def leave(self, before: int) -> None:
        """Stop watching."""
        signal.set_wakeup_fd(before)
        self._tell(inside=False)

    def _tell(self, *, inside: bool) -> None:
        with contextlib.suppress(OSError):  # closed by the plug-in
            os.write(self._pipe, self._bytes[inside])

    def _forget(self) -> None:
        """Leave the signals of a forked process out."""
        with contextlib.suppress(ValueError):
            if _INSIDE:
                signal.set_wakeup_fd(-1)


@cache
def _watcher() -> Any:
    """Start the thread; return None where the system has no such signals, or no room for it."""
    try:
        return _Watcher()
    except (AttributeError, OSError, RuntimeError):
        return None
