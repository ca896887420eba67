"""Command line: one short function per command, a module per group of commands.

Heavy imports stay inside the functions, so that ``--help`` is quick.
"""

import os
import sys

from benchmark.cli import maintenance_commands, own_commands, run_commands, run_folder_commands  # noqa: F401 - commands
from benchmark.cli.program import app


def main() -> None:
    """Run ``bench``, whose streams take any text."""
    # Waiting OpenMP threads would spin, which on a busy machine takes a third of PLSI's processor time. It must be set
    # before the OpenMP library is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app()
