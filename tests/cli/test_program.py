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
from typing import TYPE_CHECKING, Any

import pytest
import typer

from benchmark.analysis.formatting.table import Table
from benchmark.cli import app
from benchmark.cli.errors import echo, exit_on_error
from benchmark.cli.program import PANELS
from benchmark.cli.terminal import ProgressObserver, stdout_console
from benchmark.report.writers import TerminalTable
from benchmark.system.errors import BenchError, ConfigError, DataError
from tests.shapes import bench

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

QUICKSTART = Path(__file__).parents[2] / "configs" / "quickstart.yaml"
CODES = (
    "Exit codes: 0 success; 1 a cell failed, a pinned number or a prediction of a run changed, or memory, disk or "
    "workers failed; 2 a command or configuration is wrong; 3 data are missing or damaged; 130 interrupted."
)
#: What neither a list of components nor a check of a configuration needs.
HEAVY = (
    "numba statsmodels altair jinja2 skops rich libsvm pyarrow.parquet sklearn.naive_bayes "
    "benchmark.analysis.summarize benchmark.experiment.run"
)
EVIL = "\x1b]0;x\x07\x9b2J\r"


def commands(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group with the words that call it."""
    command = command or typer.main.get_command(app)
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*path, name))


EVERY = [pytest.param(path, command, id=" ".join(("bench", *path))) for path, command in commands()]


def program(*words: object, script: str = '"$@"', **variables: str) -> Any:
    """Run the command by way of a shell, in a changed environment."""
    command = ["sh", "-c", script, "sh", sys.executable, "-m", "benchmark.cli", *map(str, words)]
    environment = os.environ | variables
    return subprocess.run(command, capture_output=True, timeout=120, check=False, env=environment)


def stopped(error: BaseException) -> Any:
    """Return the exit code of an error."""
    with pytest.raises(SystemExit) as caught, exit_on_error():
        raise error
    return caught.value.code


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
            names = {parameter.name for parameter in each.params}
            with pytest.MonkeyPatch.context() as patch:
                for parameter in each.params:
                    patch.setattr(parameter, "callback", None)  # which looks for the files
                assert each.make_context("bench", words).params.keys() <= names
            assert not path or example.startswith(" ".join(("bench", *path)))

    def test_has_all_commands_in_panels_and_the_exit_codes(self) -> None:
        shown = bench("--help").stdout
        assert [panel for panel in PANELS if f"\n{panel}:\n" in shown] == list(PANELS)
        assert "\nCommands:\n" not in shown
        guide = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
        assert all(CODES in " ".join(text.split()) for text in (shown, guide))
        assert [each.exit_code for each in (BenchError, ConfigError, DataError)] == [1, 2, 3]
        assert "Usage: bench" in bench(code=2).output
        first, system, libraries = bench("--version").stdout.splitlines()
        assert first == f"bench {version('simplexbench')}"
        assert system.startswith(f"Python {platform.python_version()}, {platform.system()}")
        assert f"libsvm-official {version('libsvm-official')}" in libraries

    def test_every_command_stands_in_the_guide(self) -> None:
        guide = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
        for path, command in commands():
            if path and not hasattr(command, "commands"):
                *group, name = path
                words = "".join(rf"{word} (?:[\w-]+\\\|)*" for word in group)
                assert re.search(rf"`bench {words}{name}\b", guide), path

    @pytest.mark.parametrize(
        ("words", "heavy"),
        [
            ("--help", "numpy sklearn pydantic yaml rich"),
            ("list", HEAVY),
            ("validate webkb", HEAVY),
            ("cache info", "altair numba jinja2 libsvm sklearn pandas scipy.stats"),
            ("data list", "sklearn pandas scipy.stats"),
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
        reference = Path(__file__).parents[2] / "docs" / "reference.md"
        assert bench("schema", "--markdown").stdout == reference.read_text(encoding="utf-8")


class TestStreams:
    @pytest.mark.parametrize(
        ("words", "shell", "code", "said"),
        [
            (["cache", "info"], '"$@" 2>/dev/full', 0, ""),
            (["cache", "info"], '"$@" | true', 0, ""),
            (["--help"], '"$@" >/dev/full', 1, "bench: can't write to standard output: no space left on device\n"),
        ],
    )
    def test_that_are_full_or_that_nobody_reads(self, words: list[str], shell: str, code: int, said: str) -> None:
        done = program(*words, script=shell)
        assert (done.returncode, done.stderr.decode()[: len(said) or 99]) == (code, said)

    def test_that_lack_letters_or_get_control_characters(self, capsys: pytest.CaptureFixture[str]) -> None:
        done = program("list", PYTHONIOENCODING="ascii")
        assert (done.returncode, done.stderr) == (0, b"")
        assert "kernels" in done.stdout.decode("ascii")
        stdout_console().print(TerminalTable(Table.of(EVIL, (EVIL,), [(EVIL,)])))
        ProgressObserver("a").note(EVIL)
        echo(EVIL)
        said = "".join(capsys.readouterr())
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", said)
        assert said.count(r"\x1b]0;x\x07") == 5


class TestMachines:
    @pytest.mark.parametrize(
        ("error", "said"),
        [
            (MemoryError("Unable to allocate 7 TiB"), "not enough memory: Unable to allocate 7 TiB"),
            (MemoryError(), "not enough memory"),
            (OSError(errno.EROFS, "Read-only", "/a/b"), "/a/b: Read-only"),
            (DataError("damaged"), "damaged"),
            (KeyboardInterrupt("results are stored"), "interrupted; results are stored"),
            (KeyboardInterrupt(), "interrupted"),
        ],
    )
    def test_errors_are_one_line(self, error: BaseException, said: str, capsys: pytest.CaptureFixture[str]) -> None:
        code = 130 if isinstance(error, KeyboardInterrupt) else getattr(error, "exit_code", 1)
        assert stopped(error) == code
        assert capsys.readouterr().err.lstrip() == f"bench: {said}\n"


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[], Any]:
    """What was written to standard output and error, neither a terminal."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return capsys.readouterr


class TestTerminal:
    def test_tables_fit_a_terminal_and_have_whole_rows_in_a_pipe(self, piped: Any, monkeypatch: Any) -> None:
        text = "[bold]l1[/bold] :smile: Sequence[str]"
        table = Table.of("[title]", ("one", "two", "number"), [("a" * 100, text, 7), ("c", "d", 1_234_567)])
        stdout_console().print(TerminalTable(table))
        lines = [line.rstrip() for line in piped().out.splitlines()]
        assert lines[0] == "[title]"
        assert lines[2].split() == ["a" * 100, *text.split(), "7"], "words are no markup"
        assert lines[3].endswith("1,234,567")
        monkeypatch.setenv("COLUMNS", "60")
        monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
        stdout_console().print(TerminalTable(table))
        assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", piped().out).splitlines())) <= 60
