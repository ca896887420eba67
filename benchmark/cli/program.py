"""The program ``bench``: its groups of commands, and its help by panels."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from benchmark.cli.errors import echo, exit_on_error
from benchmark.plugins.trust import asking_before_code

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Panels of the help, in their order.
RUN, YOUR_DATA, COMPARE, SHARE, MAINTAIN = PANELS = ("Run", "Your data", "Compare", "Share", "Maintain")


class CommandGroup(TyperGroup):
    """Command group whose help has the whole first sentence of each command, by the panels that commands name."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - typer hands it over
        """Write the commands and their first sentences."""
        panels: dict[str, list[tuple[str, str]]] = {panel: [] for panel in PANELS}
        for name, command in self.commands.items():
            panel = getattr(command, "rich_help_panel", None)
            rows = panels.setdefault(panel if isinstance(panel, str) else "Commands", [])
            rows.append((name, command.get_short_help_str(limit=200)))
        for panel, rows in filter(lambda each: each[1], panels.items()):
            with formatter.section(panel):
                formatter.write_dl(rows)


class _Program(CommandGroup):
    """The whole program: errors become one message and an exit code, and `--trust` may stand anywhere."""

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


def is_terminal() -> bool:
    """Return whether a person is at standard input and output."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _confirms(question: str) -> bool:
    """Ask at a terminal whether code may run; elsewhere return False."""
    return is_terminal() and typer.confirm(question, err=True)


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
    group = typer.Typer(cls=CommandGroup, no_args_is_help=True, help=text)
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
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Print versions and system, for a report.",
        ),
    ] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the code that comes with a configuration, and remember that.")
    ] = False,
) -> None:
    """Accept the options that precede a command."""
