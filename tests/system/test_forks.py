"""What a plug-in forks ends with its code, its threads end with the process, and Ctrl-C is watched once."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.plugins.loader import load_plugin
from benchmark.system import numba_jit
from benchmark.system.plugin_code import run_plugin_code
from benchmark.system.user_code import interrupts
from benchmark.system.user_code.interrupts import end_at_second_interrupt, interruptible
from benchmark.system.user_code.isolation import restore_process_state

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.mark.parametrize(("how", "code"), [("goes on", 0), ("leaves", 3), ("fails", 0)])
def test_a_forked_process_ends_where_the_code_ends_or_as_it_says(how: str, code: int) -> None:
    child = -1
    try:
        with contextlib.suppress(ZeroDivisionError), restore_process_state():
            child = os.fork()
            if not child and how == "leaves":
                os._exit(3)
            if not child and how == "fails":
                raise ZeroDivisionError
    finally:
        if not child:
            os._exit(9)  # pragma: no cover - it never comes as far
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code


class Recorded:
    """Stands for the thread of machine code."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def enter(self, place: str) -> int:
        self.told.append(("enter", place))
        return 70 + len(self.told)

    def leave(self, before: int) -> None:
        self.told.append(("leave", before))


@pytest.fixture
def watcher(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    """What is told to the watcher, where Ctrl-C isn't ignored."""
    found = Recorded()
    monkeypatch.setattr(interrupts, "_watcher", lambda: found)
    before = signal.signal(signal.SIGINT, lambda *_: None)
    yield found
    signal.signal(signal.SIGINT, before)


def test_the_outermost_code_is_watched_where_the_process_may_be_ended(watcher: Recorded) -> None:
    with interruptible("before"):
        pass
    with end_at_second_interrupt():
        with interruptible("one"), end_at_second_interrupt(), interruptible("inner"):
            assert watcher.told == [("enter", "one")]
        assert watcher.told == [("enter", "one"), ("leave", 71)]
        with contextlib.suppress(KeyError), interruptible("two"):
            raise KeyError
        thread = threading.Thread(target=lambda: interruptible("elsewhere").__enter__())
        thread.start()
        thread.join()
    with interruptible("after"):
        pass
    assert watcher.told == [("enter", "one"), ("leave", 71), ("enter", "two"), ("leave", 73)]
    assert interrupts._ALLOWED == interrupts._INSIDE == []


def test_without_a_watcher_ctrl_c_is_counted_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> None:
        raise OSError("no room")

    monkeypatch.setattr(interrupts, "_Watcher", none)
    interrupts._watcher.cache_clear()
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with end_at_second_interrupt(), interruptible("one") as pressed:
            signal.raise_signal(signal.SIGINT)
        assert pressed == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)
        interrupts._watcher.cache_clear()


@pytest.fixture
def piped() -> Iterator[tuple[Any, int]]:
    """A watcher without its thread, and where its pipe is read."""
    made: Any = object.__new__(interrupts._Watcher)
    reads, made._pipe = os.pipe()
    for each in (reads, made._pipe):
        os.set_blocking(each, False)
    made._bytes = {True: b"E", False: b"L"}
    made._lines, made._sizes = np.zeros((2, 1000), np.uint8), np.zeros(2, np.int64)
    before = signal.set_wakeup_fd(-1)
    yield made, reads
    signal.set_wakeup_fd(before)
    for each in (reads, made._pipe):
        with contextlib.suppress(OSError):
            os.close(each)


@pytest.mark.parametrize("place", ["mine.py:3", "ä" * 900, "\udcff.py:1"], ids=["short", "long", "no text"])
def test_signals_are_written_to_the_pipe_while_the_code_runs(place: str, piped: tuple[Any, int]) -> None:
    watcher, reads = piped
    written = watcher.enter(place)
    assert (written, signal.set_wakeup_fd(watcher._pipe, warn_on_full_buffer=False)) == (-1, watcher._pipe)
    before = signal.signal(signal.SIGINT, lambda *_: None)
    signal.raise_signal(signal.SIGINT)
    signal.signal(signal.SIGINT, before)
    watcher.leave(written)
    assert os.read(reads, 9) == b"E\x02L"
    assert signal.set_wakeup_fd(-1) == -1
    lines = [bytes(row[:n]).decode(errors="ignore") for row, n in zip(watcher._lines, watcher._sizes, strict=True)]
    shown = place.replace("\udcff", "\\udcff")
    for line, said in zip(
        lines,
        (
            f"\nbench: waiting for {shown}; Ctrl-C again ends the process\n",
            f"\nbench: interrupted; {shown} didn't stop, and the process was ended; what is stored stays so\n",
        ),
        strict=True,
    ):
        assert said.startswith(line)
        assert len(line.encode()) >= min(999, len(said.encode()))
    os.close(watcher._pipe)
    watcher._tell(inside=True)  # the plug-in closed it


@pytest.mark.parametrize("inside", [[], ["mine.py"]], ids=["outside", "inside"])
def test_signals_of_a_forked_process_are_left_out(
    inside: list[str], piped: tuple[Any, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher, _ = piped
    monkeypatch.setattr(interrupts, "_INSIDE", inside)
    signal.set_wakeup_fd(watcher._pipe, warn_on_full_buffer=False)
    watcher._forget()
    assert signal.set_wakeup_fd(-1) == (-1 if inside else watcher._pipe)


def test_a_thread_of_a_plug_in_is_not_waited_for_and_functions_keep_their_abilities(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import threading\ndef work():\n"
        "    one = threading.Thread(target=len, args=('',))\n    one.start()\n    return one\n"
    )
    plugin = load_plugin(tmp_path / "mine.py")
    module: Any = plugin.module
    able = [
        (os.stat in os.supports_fd, os.stat in os.supports_dir_fd, os.stat in os.supports_follow_symlinks),
        (os.access in os.supports_dir_fd, os.access in os.supports_effective_ids),
    ]
    with run_plugin_code(plugin):
        thread, ours = module.work(), threading.Thread(target=len, args=("",))
        within = [
            (os.stat in os.supports_fd, os.stat in os.supports_dir_fd, os.stat in os.supports_follow_symlinks),
            (os.access in os.supports_dir_fd, os.access in os.supports_effective_ids),
        ]
    ours.start()
    for each in (thread, ours):
        each.join()
    assert (thread.daemon, ours.daemon) == (True, False)
    assert within == able
    assert able[0] == (True, True, True)


def test_a_module_that_a_package_lacks_may_appear_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "__init__.py").write_text("")
    (tmp_path / "bare" / "inner.py").write_text("from .deeper_of_tests import X\n")
    (tmp_path / "bare" / "deeper_of_tests.py").write_text("X = 1\n")
    (tmp_path / "mine.py").write_text(
        "def work():\n    try:\n        import bare.none\n    except ImportError:\n        from bare import inner\n"
    )
    plugin = load_plugin(tmp_path / "mine.py")
    module: Any = plugin.module
    with run_plugin_code(plugin):
        module.work()
    assert ("folder", "bare") in plugin.worked.reads
    assert "bare" in plugin.worked.imports
    assert "deeper_of_tests" not in plugin.worked.imports, "a relative name is no package's"
    assert plugin.is_current(plugin.worked.listed)
    (tmp_path / "bare" / "none.py").touch()
    assert not plugin.is_current(plugin.worked.listed)


def test_functions_of_some_modules_or_of_all_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    functions: dict[Any, Any] = {}
    for name in ("one", "two", "three"):
        function = type("F", (), {"__module__": f"benchmark.{name}"})
        functions[function] = lambda name=name: loaded.append(name)
    monkeypatch.setattr(numba_jit, "_LOADERS", functions)
    for modules, expected in (
        ({"benchmark.two", "benchmark.four"}, ["two"]),
        (set(), []),
        ({"benchmark.one", "benchmark.three"}, ["one", "three"]),
        (None, ["one", "two", "three"]),
    ):
        loaded.clear()
        numba_jit.compile_all(modules)
        assert loaded == expected
