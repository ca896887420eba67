"""Libraries that others import and a light command never asks anything of: each is loaded when it is first asked.

scikit-learn imports pandas and scipy.stats, a third of what it takes to load, whatever of it is used.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import LazyLoader
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

POSTPONED = ("pandas", "scipy.stats")


def postpone() -> None:
    """Let what is imported from here on of `POSTPONED` be loaded when it is first asked for something."""
    sys.meta_path.insert(0, _Finder())


def load() -> None:
    """Load what was postponed: before there are threads, which would wait for each other."""
    for name in POSTPONED:
        if name in sys.modules:
            vars(sys.modules[name])


class _Finder:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path, target) if fullname in POSTPONED else None
        if found is not None and found.loader is not None:
            found.loader = LazyLoader(found.loader)
        return found
