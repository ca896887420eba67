"""Text classification with information-geometric kernels and generative classifiers, benchmarked reproducibly."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.2.0.dev0"

#: What is at hand as ``benchmark.run``, by the module that has it: imported when it is asked for.
_AT_HAND = {
    **dict.fromkeys(("run", "read", "load", "place", "Result"), "benchmark.api"),
    "Placement": "benchmark.report.placement",
    "load_model": "benchmark.model.estimator",
}


def __getattr__(name: str) -> Any:
    if name not in _AT_HAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_AT_HAND[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_AT_HAND})
