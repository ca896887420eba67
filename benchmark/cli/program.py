"""The program ``bench``: its groups of commands, its help by panels, and its errors as messages and exit codes."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from benchmark.cli.output import echo
from benchmark.plugins.trust import asking_before_code
from benchmark.system.errors import BenchError, ConfigError
from benchmark.system.user_classes import locate_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Panels of the help, in their order.
RUN, YOUR_DATA, COMPARE, SHARE, MAINTAIN = PANELS = ("Run", "Your data", "Compare", "Share", "Maintain")


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Turn user errors and machine errors into one message and an exit code; bugs keep their traceback."""
    try:
        yield
    except BenchError as error:
        message, code = str(error), error.exit_code
    except KeyboardInterrupt as error:
        echo("", err=True)  # after the terminal's ^C
        message, code = "; ".join(["interrupted", *map(str, error.args)]), 130
    except MemoryError as error:
        message, code = f"not enough memory: {error}".rstrip(": "), 1
    except Exception as error:
        message, code = locate_error(error), ConfigError.exit_code
        if isinstance(error, OSError) and not message and error.errno != errno.EPIPE:  # click ends where nobody reads
            message, code = ": ".join(str(part) for part in (error.filename, error.strerror or error) if part), 1
        if not message:
            raise
    else:
        return
    echo(f"bench: {message}", err=True)
    raise SystemExit(code)


class _Program(TyperGroup):
    """The program: help with the whole first sentence of each command, by panels, and `--trust` at any place."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - typer hands it over
        """Write the commands and their first sentences."""
        commands: dict[str, Any] = dict(self.commands)
        for panel in PANELS:
            of_panel = {name: command for name, command in commands.items() if command.rich_help_panel == panel}
            with formatter.section(panel):
                formatter.write_dl([(name, each.get_short_help_str(limit=200)) for name, each in of_panel.items()])

    def main(self, args: Sequence[str] | None = None, *more: Any, **kwargs: Any) -> Any:
        """Parse the arguments, sys.argv[1:] by default, and run the command."""
        words = sys.argv[1:] if args is None else list(args)
        end = words.index("--") if "--" in words else len(words)
        trusts = "--trust" in words[:end]
        words = [each for each in words[:end] if each != "--trust"] + words[end:]
        agrees = shlex.join(["bench", "--trust", *words])
        with exit_on_error(), asking_before_code(lambda question: trusts or _confirms(question), agrees):
            return super().main(words, *more, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors are handled here too, since click has its own message for an interrupt."""
        with exit_on_error():
            return super().invoke(ctx)


def _confirms(question: str) -> bool:
    """Ask at a terminal whether code may run; elsewhere return False."""
    at_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    return at_terminal and typer.confirm(question, err=True)


app = typer.Typer(
    cls=_Program,
    name="bench",
    help="""Compare text classifiers on equal terms: same documents, same splits,
    an interval for every score, a test for every difference.

    Start with: bench run quickstart · bench init tickets.csv""",
    epilog="""Exit codes: 0 success; 1 a cell failed, a pinned number or a prediction
    of a run changed, or memory, disk or workers failed; 2 a command or
    configuration is wrong; 3 data are missing or damaged; 130 interrupted.""",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich alone takes as long to import as all else that the help needs
    context_settings={"help_option_names": ["-h", "--help"]},
)


def command_group(name: str, panel: str, text: str, example: str) -> typer.Typer:
    """Add a group of commands to the program, with an example, and return it."""
    group = typer.Typer(no_args_is_help=True, help=text)
    app.add_typer(group, name=name, epilog=f"Example: {example}", rich_help_panel=panel)
    return group


def _version(is_set: bool) -> None:
    if is_set:
        import platform
        from importlib.metadata import version

        libraries = ("numpy", "scipy", "pandas", "pyarrow", "numba", "scikit-learn", "libsvm-official")
        echo(f"bench {version('simplexbench')}")
        echo(f"Python {platform.python_version()}, {platform.platform()}, {os.cpu_count()} processors")
        echo(", ".join(f"{name} {version(name)}" for name in libraries))
        raise typer.Exit


@app.callback()
def bench(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print versions.")
    ] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Run a configuration's code, and remember that.")] = False,
) -> None:
    """Accept the options that precede a command."""
