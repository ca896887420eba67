"""Libraries that others import and a light command never asks anything of: each is loaded when it is first asked.

scikit-learn imports pandas and scipy.stats, a third of what it takes to load, whatever of it is used. What importlib
has for this, `LazyLoader`, loads a module as soon as it is imported a second time: that asks for its `__spec__`.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader  # whose import costs more than a light command's own
    from importlib.machinery import ModuleSpec

POSTPONED = ("pandas", "scipy.stats")
_LOCK = RLock()


def postpone() -> None:
    """Let what is imported from here on of `POSTPONED` be loaded when it is first asked for something."""
    sys.meta_path.insert(0, _Finder())


def load() -> None:
    """Load what was postponed: before there are threads, which would wait for each other."""
    for name in POSTPONED:
        if isinstance(module := sys.modules.get(name), _Postponed):
            module.load()


class _Postponed(ModuleType):
    """A module without its contents; the first name that is asked of it brings them."""

    def load(self) -> None:
        with _LOCK:
            loader = self.__dict__.pop("_later", None)
            if loader is None:
                return
            try:
                loader.exec_module(self)
            except BaseException:
                sys.modules.pop(self.__name__, None)
                raise
            self.__class__ = ModuleType  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        self.load()
        if name in self.__dict__:
            return self.__dict__[name]
        own = self.__dict__.get("__getattr__")  # of the module itself, PEP 562
        if own is not None:
            return own(name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


class _Loader:
    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Postponed(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self._loader
        module.__dict__["_later"] = self._loader


class _Finder:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path, target) if fullname in POSTPONED else None
        if found is not None and found.loader is not None:
            found.loader = _Loader(found.loader)  # type: ignore[assignment]
        return found
