"""A class belongs to the plug-in that defines it, and to no plug-in that only names it."""

from __future__ import annotations

import os
import signal
import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.kernels.multinomial import NegativeGeodesicDistance
from benchmark.system import plugin_errors
from benchmark.system.errors import ConfigError, DataError
from benchmark.system.plugin_code import (
    Plugin,
    guard_methods,
    plugin_name_of,
    plugin_of,
    plugin_parts,
    register_plugin_class,
    run_plugin_code,
)
from benchmark.system.user_code.interrupts import interruptible

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_a_class_of_this_package_belongs_to_no_plugin() -> None:
    plugin = Plugin("/x/mine.py", Path("/x"))
    register_plugin_class(plugin, "kernels", "mine", NegativeGeodesicDistance)
    assert plugin_of(NegativeGeodesicDistance) is None


def test_a_class_of_a_plugin_belongs_to_it() -> None:
    class Own:
        pass

    plugin = Plugin("/x/mine.py", Path("/x"))
    register_plugin_class(plugin, "kernels", "own", Own)
    assert plugin_of(Own) is plugin


class Owned:
    """Class whose methods are guarded."""

    def numbers(self, n: int) -> Iterator[str]:
        """Yield what the environment has while this runs."""
        for _ in range(n):
            os.environ["BENCH_GUARDED"] = "1"
            yield os.environ["BENCH_GUARDED"]

    @property
    def size(self) -> float:
        return 1 / 0

    @cached_property
    def made(self) -> list[int]:
        return [1]

    def refused(self) -> None:
        raise DataError("for the user")

    def failed(self, *, by: str) -> None:
        raise KeyError(by)


@pytest.fixture
def owned() -> type[Any]:
    """The class as one of a plug-in."""
    cls = type("Owned", (Owned,), {**vars(Owned), "__module__": "owned_of_tests"})
    register_plugin_class(Plugin("/x/mine.py", Path("/x")), "kernels", "own", cls)
    return cls


@pytest.mark.parametrize(("kind", "short"), [(ConfigError, False), (ValueError, True)])
def test_guarded_methods_answer_as_before_and_blame_the_plug_in(
    owned: type[Any], kind: type[Exception], short: bool
) -> None:
    names = ("numbers", "size", "made", "refused", "failed", "nothing")
    for _ in range(2):  # once more changes nothing
        guard_methods(owned, names, kind, short=short)
    built = owned()
    assert built.numbers(2) == ["1", "1"], "a generator's code runs while it is guarded, too"
    assert "BENCH_GUARDED" not in os.environ
    assert built.made is built.made
    assert built.made == [1]
    with pytest.raises(kind, match="ZeroDivisionError: division by zero"):
        _ = built.size
    with pytest.raises(kind, match="KeyError: 'me'"):
        built.failed(by="me")
    with pytest.raises(DataError, match=r"^for the user$"):
        built.refused()
    assert not hasattr(owned, "nothing")
    assert owned.numbers.__doc__ == Owned.numbers.__doc__


@pytest.mark.parametrize("kind", [ConfigError, ValueError])
def test_an_error_for_the_user_passes_from_the_plug_in_s_own_lines_too(
    owned: type[Any], kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin_errors, "_REPORTED", {Path(__file__)})
    guard_methods(owned, ("refused", "failed"), kind)
    with pytest.raises(DataError, match=r"^for the user$"):
        owned().refused()
    with pytest.raises(kind, match=rf"^{__file__}:\d+: KeyError: 'me'$"):
        owned().failed(by="me")


def test_a_thread_that_works_for_the_plug_in_that_runs_waits_for_nothing() -> None:
    one, other = (Plugin(f"/x/{name}.py", Path("/x")) for name in ("one", "other"))
    done: list[str] = []

    def work(plugin: Plugin) -> None:
        with run_plugin_code(plugin):
            done.append(plugin.name)

    threads = [threading.Thread(target=work, args=(plugin,)) for plugin in (one, other)]
    with run_plugin_code(one):
        for thread in threads:
            thread.start()
        threads[0].join(5)
        threads[1].join(0.05)
        assert done == [one.name], "only one plug-in runs at a time"
        work(one)
    threads[1].join(5)
    assert done == [one.name, one.name, other.name]


def test_each_plug_in_has_its_first_class_as_a_part() -> None:
    one, other = (Plugin(f"/x/{name}.py", Path("/x")) for name in ("one", "other"))
    classes = [type(name, (), {"__module__": "owned_of_tests"}) for name in "abcd"]
    for plugin, cls in zip((one, other, one, other), classes, strict=True):
        register_plugin_class(plugin, "kernels", cls.__name__, cls)
    ours = NegativeGeodesicDistance
    assert plugin_parts([ours, *classes]) == (classes[0], classes[1])
    assert plugin_parts([classes[3], ours, *classes]) == (classes[0], classes[3]), "in the order of their last"
    assert plugin_parts([ours]) == plugin_parts([]) == ()
    assert plugin_name_of(classes[2]) == ("/x/one.py", "kernels", "c")
    assert plugin_name_of(ours) is plugin_name_of("text") is None


def test_ctrl_c_in_a_plug_in_s_code_is_counted_and_handled_as_before() -> None:
    handled: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: handled.append(number))
    own = signal.getsignal(signal.SIGINT)
    try:
        with interruptible("mine.py") as pressed:
            signal.raise_signal(signal.SIGINT)
            with interruptible("inner.py") as inner:
                signal.raise_signal(signal.SIGINT)
            assert inner == [signal.SIGINT]
        assert pressed == handled == [signal.SIGINT] * 2
        assert signal.getsignal(signal.SIGINT) is own
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with interruptible("mine.py") as ignored:
            signal.raise_signal(signal.SIGINT)
        assert ignored == []
    finally:
        signal.signal(signal.SIGINT, before)
