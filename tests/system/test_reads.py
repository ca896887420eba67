"""Whose code a file is, and which packages' compiled code may read what can't be seen."""

from __future__ import annotations

import importlib.machinery
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.plugins.loader import load_plugin
from benchmark.system.plugin_code import run_plugin_code
from benchmark.system.user_code.reads import READS_BY_PYTHON, ReadRecord, code_origin, is_installed

if TYPE_CHECKING:
    from pathlib import Path

#: Compiled code of a package, by its file.
SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]
KNOWN = ("numpy", "scipy", "sklearn", "pandas", "numba", "llvmlite", "libsvm", "yaml", "statsmodels")


@pytest.mark.parametrize(
    ("file", "origin"),
    [
        ("<frozen importlib._bootstrap>", "standard"),
        (sys.modules["json"].__file__, "standard"),
        (pytest.__file__, "installed"),
        (sys.modules["benchmark.system.errors"].__file__, "package"),
        (__file__, "plug-in"),
        ("<string>", "plug-in"),
        ("/nowhere/mine.py", "plug-in"),
    ],
)
def test_code_is_of_whom_its_file_lies_with(file: str, origin: str) -> None:
    assert code_origin(file) == origin
    assert file[0] == "<" or is_installed(file) is (origin != "plug-in")


@pytest.mark.parametrize("name", [*KNOWN, "of_tests", "standard_of_tests", "mine_of_tests", "plain_of_tests"])
def test_a_package_with_compiled_code_is_a_reason_unless_it_reads_by_python(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of a package that isn't known, compiled code that is loaded counts wherever in it, and no other code."""
    installed, standard = (str(sys.modules[each].__file__).rpartition("/")[0] for each in ("numpy", "json"))
    places = {"standard_of_tests": standard, "mine_of_tests": str(tmp_path)}
    inner = ModuleType(f"{name}.inner")
    inner.__file__ = f"{places.get(name, installed)}/inner{'.py' if name == 'plain_of_tests' else SUFFIX}"
    monkeypatch.setitem(sys.modules, inner.__name__, inner)
    record = ReadRecord(tmp_path)
    assert record.why_not() == ""
    record.imports = {name, "json", "math"}
    expected = f"uses {name}, whose compiled code may read files unseen" if name == "of_tests" else ""
    assert record.why_not() == expected
    record.reasons["first"] = None
    assert record.why_not() == "first"
    assert {*KNOWN} == READS_BY_PYTHON


def test_what_a_plug_in_imports_while_a_library_is_imported_counts_too(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import numpy, importlib\n"
        "def own():\n    import colorsys\n    importlib.import_module('quopri')\n    __import__('this_of_tests.x')\n"
        "def work():\n    exec(compile('try: call()\\nexcept ImportError: import stringprep', numpy.__file__, 'exec'), "
        "{'call': own})\n"
    )
    plugin = load_plugin(tmp_path / "mine.py")
    module: Any = plugin.module
    with run_plugin_code(plugin):
        module.work()
    assert {"numpy", "importlib"} <= plugin.imported.imports
    assert {"colorsys", "quopri", "this_of_tests"} <= plugin.worked.imports
    assert "stringprep" not in plugin.worked.imports, "what a library imports while it is imported isn't the plug-in's"
