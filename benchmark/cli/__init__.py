"""Command line: one short function per command, a module per group of commands.

Heavy imports stay inside the functions, so that ``--help`` is quick.
"""

import sys

from benchmark.cli import maintenance_commands, own_commands, run_commands, run_folder_commands  # noqa: F401 - commands
from benchmark.cli.program import app
from benchmark.system.threads import let_openmp_threads_sleep


def main() -> None:
    """Run ``bench``, whose streams take any text."""
    let_openmp_threads_sleep()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app()
