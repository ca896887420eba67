"""The program itself: its help, its streams, what a machine may do to it, and what it prints on a terminal."""

from __future__ import annotations

import errno
import json
import os
import platform
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer

from benchmark.analysis.formatting.table import Table
from benchmark.cli import app
from benchmark.cli.program import PANELS, exit_on_error
from benchmark.cli.terminal import stdout_console
from benchmark.report.writers import TerminalTable
from benchmark.system import user_classes
from benchmark.system.errors import DataError
from tests.shapes import bench, commands

DOCS = Path(__file__).parents[2] / "docs"
CODES = (
    "Exit codes: 0 success; 1 a cell failed, a pinned number or a prediction of a run changed, or memory, disk or "
    "workers failed; 2 a command or configuration is wrong; 3 data are missing or damaged; 130 interrupted."
)
#: What neither a list of components nor a check of a configuration needs.
HEAVY = (
    "numba statsmodels altair jinja2 skops rich libsvm pyarrow.parquet sklearn.naive_bayes "
    "benchmark.analysis.summarize benchmark.experiment.run"
)


EVERY = [pytest.param(path, command, id=" ".join(("bench", *path))) for path, command in commands()]


class TestHelp:
    @pytest.mark.parametrize(("path", "command"), EVERY)
    def test_shows_what_a_command_does_and_examples_that_can_be_typed(
        self, path: tuple[str, ...], command: Any
    ) -> None:
        shown = " ".join(bench(*path, "--help").stdout.split())
        assert " ".join(command.help.split()) in shown
        assert "[[" not in shown
        (examples,) = re.findall(r"(?:Examples?|Start with): (.+)", f"{command.help}\n{command.epilog}")
        for example in examples.split(" · "):
            words = shlex.split(example)[1:]
            each: Any = typer.main.get_command(app)
            while hasattr(each, "commands"):
                each = each.commands[words.pop(0)]
            with pytest.MonkeyPatch.context() as patch:
                for parameter in each.params:
                    patch.setattr(parameter, "callback", None)  # which looks for the files
                each.make_context("bench", words)
            assert not path or example.startswith(" ".join(("bench", *path)))

    def test_has_all_commands_in_panels_and_the_exit_codes_as_the_guide_has_both(self) -> None:
        shown, guide = bench("--help").stdout, (DOCS / "guide.md").read_text(encoding="utf-8")
        assert [panel for panel in PANELS if f"\n{panel}:\n" in shown] == list(PANELS)
        assert all(CODES in " ".join(text.split()) for text in (shown, guide))
        assert "Usage: bench" in bench(code=2).output
        for path, command in commands():
            assert len(path) != 1 or f"\n  {path[0]} " in shown
            if path and not hasattr(command, "commands"):
                words = "".join(rf"{word} (?:[\w-]+\\\|)*" for word in path[:-1])
                assert re.search(rf"`bench {words}{path[-1]}\b", guide), path

    def test_versions_are_those_of_a_report(self) -> None:
        first, system, libraries = bench("--version").stdout.splitlines()
        assert first == f"bench {version('simplexbench')}"
        assert system.startswith(f"Python {platform.python_version()}, {platform.system()}")
        assert f"libsvm-official {version('libsvm-official')}" in libraries

    @pytest.mark.parametrize(
        ("words", "heavy"),
        [
            ("--help", "numpy sklearn pydantic yaml rich"),
            ("validate webkb", HEAVY),
            ("cache info", "altair numba jinja2 libsvm sklearn pandas scipy.stats"),
        ],
    )
    def test_what_computes_nothing_imports_nothing_heavy(self, words: str, heavy: str) -> None:
        """Help within 0.4 s of processor, the others within 0.5 s more than `import sklearn.base` takes."""
        code = (
            f"import sys; sys.argv = ['bench', *'{words}'.split()]\n"
            "from benchmark.cli import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            f"sys.exit(','.join(name for name in '{heavy}'.split() if name in sys.modules) or 0)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")

    def test_lists_and_schemas_are_printed(self) -> None:
        shown = bench("list").stdout
        kinds = ["datasets", "kernels", "classifiers", "protocols", "diagnostics", "metrics", "weightings", "papers"]
        for kind in [*kinds, "normalizations", "digits", "stoplists"]:
            assert re.search(rf"^{kind}: ", shown, re.MULTILINE)
        assert max(map(len, shown.splitlines())) <= 80
        rows = dict(line.split(maxsplit=1) for line in bench("list", "metrics").stdout.splitlines()[2:])
        assert {"accuracy", "macro-f1"} <= rows.keys()
        assert json.loads(bench("schema").stdout)["$schema"].startswith("https://json-schema.org/")
        assert bench("schema", "--markdown").stdout == (DOCS / "reference.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("script", "encoding"), [('"$@" | true', "utf-8"), ('"$@"', "ascii")])
def test_streams_may_lack_letters_or_readers(script: str, encoding: str) -> None:
    start = ["sh", "-c", script, "sh", sys.executable, "-c", "from benchmark.cli import main; main()"]
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run([*start, "--help"], capture_output=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (MemoryError("Unable to allocate 7 TiB"), 1, "not enough memory: Unable to allocate 7 TiB"),
        (MemoryError(), 1, "not enough memory"),
        (OSError(errno.EROFS, "Read-only", "/a/b"), 1, "/a/b: Read-only"),
        (OSError(errno.ENOSPC, "No space left"), 1, "No space left"),
        (DataError("damaged"), 3, "damaged"),
        (KeyboardInterrupt("results are stored"), 130, "interrupted; results are stored"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_are_one_line(
    error: BaseException,
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(user_classes, "is_user_file", lambda _: False)  # as this file would be
    with pytest.raises(SystemExit) as caught, exit_on_error():
        raise error
    assert (caught.value.code, capsys.readouterr().err.lstrip()) == (code, f"bench: {said}\n")


def test_an_error_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_classes, "is_user_file", lambda _: False)  # as this file would be
    with pytest.raises(RuntimeError, match="ours"), exit_on_error():
        raise RuntimeError("ours")


def test_tables_fit_a_terminal_and_have_whole_rows_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    text = "[bold]l1[/bold] :smile: Sequence[str]"
    table = Table.of("[title]", ("one", "two", "number"), [("a" * 100, text, 7), ("c", "d", 1_234_567)])
    stdout_console().print(TerminalTable(table))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "[title]"
    assert lines[2].split() == ["a" * 100, *text.split(), "7"], "words are no markup"
    assert lines[3].endswith("1,234,567")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    stdout_console().print(TerminalTable(table))
    assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines())) <= 60
