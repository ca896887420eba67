"""Vega-Lite specifications and image files of charts and summaries."""

import sys

from benchmark.system.errors import BenchError

if sys.flags.optimize > 1:
    raise BenchError("Altair, which draws figures, needs docstrings: run Python without -OO or PYTHONOPTIMIZE=2")
