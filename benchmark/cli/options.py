"""Help, arguments and options that several commands share: one name, one meaning, one line of help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

CONFIGS_HELP = "YAML files, such as configs/webkb.yaml, or webkb for short."
_RUN = "The folder of a run, such as results/runs/webkb, or webkb for short."
Configs = Annotated[list[Path], typer.Argument(metavar="CONFIG", help=CONFIGS_HELP)]
Config = Annotated[Path, typer.Argument(metavar="CONFIG", help=CONFIGS_HELP.replace("files", "file"))]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help=_RUN)]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="Folder for the results; several configs get a subfolder each.",
        show_default="results/runs/<name>",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Write to a folder that holds other files.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=0, help="Number of threads; 0 uses all processors.")]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Dask workers: local:4 starts four here; or a scheduler's address tcp://host:8786, or its file.",
        show_default="this process alone",
    ),
]
MaxWorkers = Annotated[
    int | None, typer.Option("--max-workers", min=0, help="Maximum number of workers.", show_default="all")
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print each step as it is done.")]
Download = Annotated[bool, typer.Option(help="Download a corpus that isn't here.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the final sentence, and errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, and nothing else, on standard output.")]


#: Panels of the help, in their order: groups of commands.
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
