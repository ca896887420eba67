"""What forked processes (see `Forked` in conftest.py) find done, beside libraries that are loaded.

This package is imported, and numba knows its types and functions, in half a second.
"""

import gc

from numba.core.registry import cpu_target

import benchmark.cli
import benchmark.experiment.kinds
import benchmark.parallel.cluster
import benchmark.parallel.worker
import benchmark.report.html.page  # noqa: F401

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
gc.freeze()  # no process looks for garbage in what all of them share
