"""Whatever a plug-in's code sets in its process is as before when it ends, also when it ends by an error."""

from __future__ import annotations

import contextlib
import csv
import decimal
import gc
import locale
import os
import random
import resource
import signal
import sys
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pytest
import sklearn

from benchmark.system.user_code.isolation import restore_process_state
from benchmark.system.user_code.replacements import PatchedError
from tests.system import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Other:
    """Something else in place of what was there."""


LISTS = ("path", "meta_path", "path_hooks", "argv")
STREAMS = ("stdin", "stdout", "stderr", "__stdout__", "__stderr__")


def items_of(name: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
    return lambda: getattr(sys, name).append(Other), lambda: [*getattr(sys, name)]


def attribute_of(name: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
    return lambda: setattr(sys, name, [] if name in LISTS else None), lambda: id(getattr(sys, name))


def umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def switch_collector() -> None:
    (gc.disable if gc.isenabled() else gc.enable)()


def time_zone() -> None:
    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()


def soft_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))


def other_locale() -> None:
    found = locale.setlocale(locale.LC_ALL)
    locale.setlocale(locale.LC_ALL, "C.UTF-8" if found == "C" else "C")


def identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


#: How a setting is changed, and read.
SETTINGS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    **{f"items of sys.{name}": items_of(name) for name in LISTS},
    **{f"sys.{name}": attribute_of(name) for name in ("path", "argv", *STREAMS, "excepthook", "unraisablehook")},
    "bytecode": (lambda: setattr(sys, "dont_write_bytecode", 2), lambda: sys.dont_write_bytecode),
    "the exit": (lambda: setattr(os, "_exit", Other), lambda: os._exit),
    "a module that is gone": (lambda: sys.modules.pop("colorsys"), lambda: sys.modules.get("colorsys")),
    "another module": (lambda: sys.modules.update(colorsys=os), lambda: sys.modules.get("colorsys")),
    "a variable": (lambda: os.environ.update(BENCH_X="1"), lambda: dict(os.environ)),
    "no variable": (os.environ.clear, lambda: dict(os.environ)),
    "the environment": (lambda: setattr(os, "environ", {}), lambda: id(os.environ)),
    "the time zone": (time_zone, lambda: time.tzname),
    "the folder": (lambda: os.chdir("/"), os.getcwd),
    "the mask": (lambda: os.umask(0o111), umask),
    "the locale": (other_locale, lambda: locale.setlocale(locale.LC_ALL)),
    "the collector's thresholds": (lambda: gc.set_threshold(7, 8, 9), gc.get_threshold),
    "the collector": (switch_collector, gc.isenabled),
    "the longest field": (lambda: csv.field_size_limit(5), csv.field_size_limit),
    "recursion": (lambda: sys.setrecursionlimit(3000), sys.getrecursionlimit),
    "switches": (lambda: sys.setswitchinterval(0.1), lambda: round(sys.getswitchinterval(), 6)),
    "digits": (lambda: sys.set_int_max_str_digits(1000), sys.get_int_max_str_digits),
    "a profile": (lambda: sys.setprofile(lambda *_: None), sys.getprofile),
    "a limit of the system": (soft_limit, lambda: resource.getrlimit(resource.RLIMIT_NOFILE)),
    "a handler": (lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN), lambda: signal.getsignal(signal.SIGUSR1)),
    "random numbers": (random.random, random.getstate),
    "numpy's random numbers": (np.random.rand, lambda: np.random.get_state()[2]),  # noqa: NPY002
    "what numpy prints": (lambda: np.set_printoptions(precision=2), lambda: np.get_printoptions()["precision"]),
    "numpy's errors": (lambda: np.seterr(all="raise"), np.geterr),
    "options of scikit-learn": (lambda: sklearn.set_config(assume_finite=True), sklearn.get_config),
    "options of numba": (lambda: setattr(numba.config, "OPT", 0), lambda: numba.config.OPT),
    "warnings": (lambda: warnings.simplefilter("error"), lambda: warnings.filters[:]),
    "decimals": (lambda: setattr(decimal.getcontext(), "prec", 2), lambda: decimal.getcontext().prec),
    **{
        f"descriptor {number}": (lambda number=number: os.close(number), lambda number=number: identity(number))
        for number in (0, 1, 2)
    },
}


@contextlib.contextmanager
def put_back(name: str) -> Iterator[None]:
    """Undo a change by hand, so that a test that fails doesn't fail the next ones."""
    import colorsys  # noqa: PLC0415 - a module that nothing else needs

    kept = {each: getattr(sys, each) for each in ("path", "argv", "stdin", "stdout", "stderr")}
    environ, folder, fields = os.environ, os.getcwd(), csv.field_size_limit()  # noqa: PTH109
    variables, digits, mask = dict(environ), sys.get_int_max_str_digits(), umask()
    copies = {number: os.dup(number) for number in (0, 1, 2)} if "descriptor" in name else {}
    try:
        yield
    finally:
        for number, copy in copies.items():
            os.dup2(copy, number)
            os.close(copy)
        for each, value in kept.items():
            setattr(sys, each, value)
        os.environ = environ  # noqa: B003
        environ.clear()
        environ.update(variables)
        time.tzset()
        os.chdir(folder)
        csv.field_size_limit(fields)
        sys.set_int_max_str_digits(digits)
        os.umask(mask)
        sys.modules["colorsys"] = colorsys


@pytest.mark.parametrize("fails", [False, True], ids=["ends", "fails"])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_put_back(name: str, fails: bool) -> None:
    change, read = SETTINGS[name]
    with put_back(name):
        before = read()
        with contextlib.suppress(ZeroDivisionError), restore_process_state():
            change()
            assert "descriptor" in name or read() != before, "the change is one"
            if fails:
                raise ZeroDivisionError
        assert read() == before


def test_random_numbers_begin_from_the_same_seed_and_go_on_where_they_were() -> None:
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    expected = [(random.getrandbits(9), np.random.rand()) for _ in range(2)]  # noqa: NPY002
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    drawn, outside = [], []
    for _ in range(2):
        with restore_process_state():
            drawn.append((random.getrandbits(9), np.random.rand()))  # noqa: NPY002
        outside.append((random.getrandbits(9), np.random.rand()))  # noqa: NPY002
    assert outside == expected
    assert drawn[0] == drawn[1]


def test_modules_that_are_imported_stay_and_what_was_there_is_the_same() -> None:
    sys.modules.pop("antigravity_of_tests", None)
    with restore_process_state():
        sys.modules["antigravity_of_tests"] = os
    assert sys.modules.pop("antigravity_of_tests") is os


def test_a_folder_that_is_gone_is_not_returned_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with restore_process_state():
        os.chdir(tmp_path)
    assert os.getcwd() == str(tmp_path)  # noqa: PTH109


@pytest.mark.parametrize("before", [0, 1000])
def test_an_alarm_is_stopped_and_one_that_was_set_before_rings_still(before: int) -> None:
    handler = signal.signal(signal.SIGALRM, lambda *_: None)
    of_pytest = signal.setitimer(signal.ITIMER_REAL, before)
    try:
        with restore_process_state():
            if not before:
                signal.setitimer(signal.ITIMER_REAL, 2000)
        assert before - 100 < signal.getitimer(signal.ITIMER_REAL)[0] <= before
    finally:
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *of_pytest)


def test_what_is_printed_goes_to_standard_error_and_no_stream_can_be_closed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    os.write(1, b"before\n")
    with restore_process_state():
        sys.stdout.write("one\n")
        sys.__stdout__.write("two\n")
        sys.stdout.close()
        sys.stderr.close()
        sys.stdout.write("three\n")
        sys.stdout.flush()
        os.write(1, b"four\n")
    os.write(1, b"after\n")
    shown = capfd.readouterr()
    assert shown.out == "before\nafter\n"
    assert sorted(shown.err.split()) == ["four", "one", "three", "two"]


def test_the_process_is_not_ended() -> None:
    with pytest.raises(SystemExit) as raised, restore_process_state():
        os._exit(3)
    assert raised.value.code == 3


def test_in_another_thread_no_handler_is_touched() -> None:
    found = list[object]()

    def work() -> None:
        with restore_process_state():
            os.environ["BENCH_X"] = "1"
        found.append(os.environ.get("BENCH_X"))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [None]


# --- Code that others use ---


def hide_a_method() -> None:
    replaced.Derived.told = lambda _: "another"  # type: ignore[method-assign]


def hide_a_method_by_a_value() -> None:
    replaced.Derived.told = 3  # type: ignore[method-assign,assignment]


def hide_a_property_by_a_value() -> None:
    replaced.Derived.size = 3  # type: ignore[method-assign,assignment,misc]


def add_a_method() -> None:
    replaced.Base.more = lambda _: "another"  # type: ignore[attr-defined]


def replace_a_method() -> None:
    replaced.Base.told = lambda _: "another"  # type: ignore[method-assign]


def remove_a_method() -> None:
    del replaced.Base.told


def replace_a_property() -> None:
    replaced.Base.size = property(lambda _: 7)  # type: ignore[assignment,method-assign]


def replace_a_static_method() -> None:
    replaced.Base.made = staticmethod(lambda: "another")  # type: ignore[method-assign]


def replace_a_function() -> None:
    replaced.told = lambda: "another"


def replace_a_class() -> None:
    replaced.Base = Other  # type: ignore[misc,assignment]


MODULE = "benchmark.replaced_of_tests"
BASE, DERIVED, told, made, size = replaced.Base, replaced.Derived, replaced.told, replaced.Base.made, replaced.Base.size
#: How code is replaced, and the names that are told.
REPLACED: list[tuple[list[Callable[[], None]], str]] = [
    ([hide_a_method], f"{MODULE}.Derived.told"),
    ([hide_a_method_by_a_value], f"{MODULE}.Derived.told"),
    ([hide_a_property_by_a_value], f"{MODULE}.Derived.size"),
    ([add_a_method], f"{MODULE}.Base.more"),
    ([replace_a_method], f"{MODULE}.Base.told"),
    ([remove_a_method], f"{MODULE}.Base.told"),
    ([replace_a_property], f"{MODULE}.Base.size"),
    ([replace_a_static_method], f"{MODULE}.Base.made"),
    ([replace_a_function], f"{MODULE}.told"),
    ([replace_a_class], f"{MODULE}.Base"),
    ([replace_a_function, replace_a_method], f"{MODULE}.Base.told, {MODULE}.told"),
    (
        [replace_a_function, hide_a_method, replace_a_method],
        f"{MODULE}.Base.told, {MODULE}.Derived.told, {MODULE}.told",
    ),
    (
        [replace_a_function, hide_a_method, replace_a_method, replace_a_property],
        f"{MODULE}.Base.size, {MODULE}.Base.told, {MODULE}.Derived.told",
    ),
]


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module that stands for one of this package, as it was when the test ends."""
    monkeypatch.setitem(sys.modules, MODULE, replaced)
    before = [(each, dict(vars(each))) for each in (replaced, BASE, DERIVED)]
    for cls in (BASE, DERIVED):
        monkeypatch.setattr(cls, "__module__", MODULE)
    yield
    for each, attributes in before:
        for name in [name for name in vars(each) if name not in attributes]:
            delattr(each, name)
        for name, value in attributes.items():
            if name[:2] != "__" and vars(each).get(name) is not value:
                setattr(each, name, value)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(("changes", "names"), REPLACED)
def test_code_that_is_replaced_is_named_and_put_back(changes: list[Callable[[], None]], names: str) -> None:
    before = dict(vars(BASE)), dict(vars(DERIVED)), dict(vars(replaced))
    with pytest.raises(PatchedError) as raised, restore_process_state():  # noqa: PT012
        for change in changes:
            change()
    assert str(raised.value) == f"it replaces {names}, which other code uses; subclass or wrap it instead"
    assert (dict(vars(BASE)), dict(vars(DERIVED)), dict(vars(replaced))) == before
    assert (replaced.Derived().told(), replaced.Base().size, replaced.Base.made()) == ("told", 1, "made")


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", ["_hidden", "NUMBER", "new"])
def test_what_no_other_code_calls_may_be_set(name: str) -> None:
    with restore_process_state():
        setattr(replaced, name, 2)
    assert getattr(replaced, name) == 2


@pytest.mark.usefixtures("shared")
def test_an_attribute_that_is_no_method_may_be_set_and_a_module_may_not_be_removed() -> None:
    with restore_process_state():
        BASE.note = "new"  # type: ignore[attr-defined]
    assert BASE.note == "new"  # type: ignore[attr-defined]
    with pytest.raises(PatchedError, match=rf"^it replaces {MODULE}, which"), restore_process_state():
        del sys.modules[MODULE]
    assert sys.modules[MODULE] is replaced
