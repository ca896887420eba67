"""From charts and summaries to pictures."""

import sys

from benchmark.errors import BenchError

if sys.flags.optimize > 1:
    raise BenchError("Altair, which draws figures, needs docstrings: run Python without -OO or PYTHONOPTIMIZE=2")
