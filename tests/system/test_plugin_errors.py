"""An error of a plug-in is one line with its file and its last line there; errors of this package pass as they are."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.kernels import KERNELS
from benchmark.system import plugin_errors
from benchmark.system.errors import ConfigError, DataError
from benchmark.system.plugin_code import Plugin, plugin_name_of, plugin_parts, register_plugin_class, run_guarded
from benchmark.system.plugin_errors import convert_plugin_errors, locate_error, report_lines_of, source_location

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CODE = """
def fail(error):
    raise error

def again(error):
    fail(error)

def by(call):
    call()
"""


@pytest.fixture
def functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The functions of a plug-in's file whose lines are reported."""
    monkeypatch.setattr(plugin_errors, "_REPORTED", set())
    path = tmp_path / "mine.py"
    path.write_text(CODE)
    report_lines_of([path])
    return {**runpy.run_path(str(path)), "path": path}


def caught(call: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - any
        call()
    return raised.value


class UnreadableError(Exception):
    """Has no text."""

    def __str__(self) -> str:
        raise RuntimeError


def ours() -> None:
    raise ValueError("of this file")


def test_the_last_line_of_the_file_is_named(functions: dict[str, Any]) -> None:
    path = functions["path"]
    for error, said in (
        (ValueError("no"), "ValueError: no"),
        (KeyError("k"), "KeyError: 'k'"),
        (RuntimeError("two\nlines\x1b"), "RuntimeError: two\\nlines\\x1b"),
        (UnreadableError(), "UnreadableError: its message can't be read"),
        (ValueError(), "ValueError"),
    ):
        found = caught(lambda error=error: functions["again"](error))
        assert locate_error(found) == f"{path}:3: {said}"
        assert locate_error(found, "elsewhere", short=True) == f"mine.py:3: {said}"
    assert locate_error(caught(lambda: functions["by"](ours))) == f"{path}:9: ValueError: of this file"
    assert locate_error(caught(ours)) == ""
    assert locate_error(caught(ours), "mine of a package") == "mine of a package: ValueError: of this file"


def test_lines_of_files_in_a_folder_are_named_too(functions: dict[str, Any]) -> None:
    plugin_errors._REPORTED.clear()
    assert locate_error(caught(lambda: functions["fail"](ValueError("no")))) == ""
    report_lines_of([functions["path"].parent])
    assert locate_error(caught(lambda: functions["fail"](ValueError("no")))) == f"{functions['path']}:3: ValueError: no"


def test_what_is_no_python_is_named_at_its_line(functions: dict[str, Any]) -> None:
    found = caught(lambda: compile("a = 1\nb = (\n", str(functions["path"]), "exec"))
    assert locate_error(found).startswith(f"{functions['path']}:2: SyntaxError: '(' was never closed")


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("k"), SystemExit(3), KeyboardInterrupt()])
def test_errors_of_a_plugin_become_one_of_a_kind(functions: dict[str, Any], error: BaseException) -> None:
    with (
        pytest.raises(ConfigError, match=r"^mine\.py:3: ") as raised,
        convert_plugin_errors(ConfigError, "x", short=True),
    ):
        functions["fail"](error)
    assert raised.value.__cause__ is error
    with (
        pytest.raises(ConfigError, match=r"^somewhere: ValueError: of this file$"),
        convert_plugin_errors(ConfigError, "somewhere"),
    ):
        ours()


@pytest.mark.parametrize("error", [ConfigError("a"), DataError("b"), FloatingPointError("c"), MemoryError()])
def test_errors_of_this_package_and_of_memory_pass(functions: dict[str, Any], error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as raised, convert_plugin_errors(ConfigError, "somewhere"):
        fail()
    assert raised.value is error
    if not isinstance(error, MemoryError):  # raised by the plug-in's own code
        with pytest.raises(ValueError, match=r"mine\.py:3: ") as raised, convert_plugin_errors(ValueError, "somewhere"):
            functions["fail"](error)
        assert raised.value.__cause__ is error


def test_a_class_is_where_its_source_is(functions: dict[str, Any]) -> None:
    assert source_location(ours, short=True) == f"test_plugin_errors.py:{ours.__code__.co_firstlineno}"
    assert source_location(ours) == f"{__file__}:{ours.__code__.co_firstlineno}"
    assert source_location(len) == "builtins"
    assert source_location(functions["fail"], short=True) == "mine.py:2"


def test_the_first_class_of_each_plugin_stands_for_it(tmp_path: Path) -> None:
    one, two = Plugin(str(tmp_path / "a.py"), tmp_path), Plugin("mine 1.0", tmp_path)
    classes = [type(name, (), {"__module__": "mine"}) for name in "abcd"]
    for plugin, name, cls in zip((two, one, two, one), "abcd", classes, strict=True):
        register_plugin_class(plugin, "kernels", name, cls)
    assert plugin_parts([KERNELS["ngd"], *classes]) == (classes[0], classes[1])
    assert plugin_parts([KERNELS["ngd"], dict]) == ()
    assert plugin_name_of(classes[3]) == (one.name, "kernels", "d")
    assert plugin_name_of(KERNELS["ngd"]) is plugin_name_of(3) is None
    assert one.digest == Plugin(str(tmp_path / "other.py"), tmp_path).digest, "a file is known by what it reads"
    assert two.digest not in (one.digest, Plugin("mine 1.1", tmp_path).digest)


def test_a_library_is_named_where_its_class_fails() -> None:
    with pytest.raises(ValueError, match=r"^builtins\.dict: TypeError: no$"), run_guarded(dict):
        raise TypeError("no")
    with pytest.raises(TypeError, match=r"^no$"), run_guarded(KERNELS["ngd"]):
        raise TypeError("no")
