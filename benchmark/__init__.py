"""Text classification with information-geometric kernels and generative classifiers, benchmarked reproducibly."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

__all__ = [
    "BenchError",
    "ConfigError",
    "DataError",
    "Result",
    "TextClassifier",
    "fit",
    "load",
    "load_model",
    "place",
    "read",
    "run",
]

if TYPE_CHECKING:
    from benchmark.api import Result, fit, load, place, read, run
    from benchmark.model.persistence import load_model
    from benchmark.model.text_model import TextClassifier
    from benchmark.system.errors import BenchError, ConfigError, DataError
else:
    #: Modules that are imported when a name of theirs is asked for, so that ``import benchmark`` is quick.
    _AT_HAND = {
        **dict.fromkeys(("Result", "fit", "load", "place", "read", "run"), "benchmark.api"),
        "TextClassifier": "benchmark.model.text_model",
        "load_model": "benchmark.model.persistence",
        **dict.fromkeys(("BenchError", "ConfigError", "DataError"), "benchmark.system.errors"),
    }

    def __getattr__(name: str) -> Any:
        """Import a name that is at hand from the module that defines it."""
        if name not in _AT_HAND:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_AT_HAND[name]), name)

    def __dir__() -> list[str]:
        """List what users need, which completion shows."""
        return sorted([*__all__, "__version__"])
