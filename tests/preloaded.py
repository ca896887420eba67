"""What forked processes find done (see `Forked` in conftest.py): numba knows all types and functions, which takes 0.3 s."""

from numba.core.registry import cpu_target

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
