"""Command line: one short function per command, a module per group of commands.

Heavy imports stay inside the functions, so that ``--help`` is quick.
"""

from benchmark.cli import (  # noqa: F401 - they add their commands to the program
    data_commands,
    maintenance_commands,
    own_commands,
    run_commands,
    run_folder_commands,
)
from benchmark.cli.errors import prepare_streams
from benchmark.cli.program import app
from benchmark.system.threads import let_openmp_threads_sleep


def main() -> None:
    """Run ``bench``."""
    let_openmp_threads_sleep()
    prepare_streams()
    app()
