"""Processors of this process, and how waiting threads behave."""

from __future__ import annotations

import os


def n_processors() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def let_openmp_threads_sleep() -> None:
    """Let waiting OpenMP threads sleep; must be called before the OpenMP library is loaded.

    By default waiting threads spin: on a busy machine this takes a third of PLSI's processor time.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
