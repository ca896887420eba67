"""What the environment may set: limits of memory and of disk."""

from __future__ import annotations

import os

from benchmark.errors import BenchError


def gigabytes(variable: str, default: float) -> int:
    """An environment variable that holds gigabytes, in bytes; BenchError for anything else."""
    text = os.environ.get(variable, str(default))
    try:
        n_bytes = int(float(text) * 1e9)
    except (ValueError, OverflowError):
        n_bytes = -1
    if n_bytes < 0:
        raise BenchError(f"{variable} is {text!r}; it must be a number of gigabytes, such as {default:g}")
    return n_bytes
