"""Arguments and options that several commands share: one name, one meaning, one line of help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmark.system.shipped_files import find_configuration


def find_run(path: Path) -> Path:
    """Return the folder of a run from its path, or its name among the runs; ConfigError if there is none."""
    from benchmark.commands.run import resolve_run

    return resolve_run(path)


def find_all(paths: list[Path] | None) -> list[Path]:
    """Return the paths of configurations, and folders as they are."""
    return [find_configuration(path) for path in paths or ()]


CONFIG_HELP = "YAML file, such as configs/webkb.yaml, or webkb for short."
CONFIGS_HELP = CONFIG_HELP.replace("file", "files", 1)
RUN_HELP = "The folder of a run, such as results/runs/webkb, or webkb for short."
OUT_HELP = "Folder for the results, by default results/runs/<name>; several configurations get a subfolder each."
Config = Annotated[Path, typer.Argument(metavar="CONFIG", help=CONFIG_HELP, callback=find_configuration)]
Configs = Annotated[list[Path], typer.Argument(metavar="CONFIG", help=CONFIGS_HELP, callback=find_all)]
OptionalConfigs = Annotated[list[Path] | None, typer.Argument(metavar="CONFIG", help=CONFIGS_HELP, callback=find_all)]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help=RUN_HELP, callback=find_run)]
Out = Annotated[Path | None, typer.Option("--out", "-o", help=OUT_HELP)]
OutFolder = Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Write over files that are there.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=0, help="Number of threads; 0 uses all processors.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print each step as it is done.")]
Download = Annotated[bool, typer.Option(help="Download a corpus that isn't here.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the final sentence, and errors.")]
