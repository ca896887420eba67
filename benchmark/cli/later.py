"""Libraries that others import and a light command never asks anything of: each is loaded when it is first asked.

scikit-learn imports pandas and most of scipy, half of what it takes to load, whatever of it is used; typer, for a help
page, what shows Markdown and tracebacks. What importlib has for this, `LazyLoader`, loads a module as soon as it is
imported a second time: that asks for its `__spec__`.
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

#: Of each, what others import by name: these load it when they are called, or asked for something.
POSTPONED = {
    "attr": "ib",
    "markdown_it": "MarkdownIt",
    "narwhals": "",
    "narwhals.stable": "",
    "narwhals.stable.v2": "",
    "numpy.f2py": "",
    "numpy.testing": "",
    "pandas": "DataFrame Index Series",
    "rich.syntax": "Syntax",
    "rich.traceback": "Traceback",
    "scipy.fft": "dct fft ifft",
    "scipy.interpolate": "BSpline",
    "scipy.linalg": "",
    "scipy.optimize": "brentq minimize",
    "scipy.sparse.csgraph": "breadth_first_order connected_components laplacian minimum_spanning_tree",
    "scipy.sparse.linalg": "LinearOperator cg splu",
    "scipy.special": "boxcox comb expit inv_boxcox logsumexp polygamma rel_entr wrightomega xlogy",
    "scipy.stats": "",
}


def postpone() -> None:
    """Let what is imported from here on of `POSTPONED` be loaded when it is first asked for something."""
    sys.meta_path.insert(0, _Finder())


def load(name: str) -> None:
    """Load what was postponed, unless nothing has imported it."""
    if isinstance(module := sys.modules.get(name), _Postponed):
        _fill(module)


def _fill(module: ModuleType) -> None:
    # One lock for each, as each has one for imports: threads wait in a circle only where modules import so.
    with module.__dict__.setdefault("_lock", RLock()):
        loader = module.__dict__.pop("_later", None)
        if loader is None:
            return
        try:
            loader.exec_module(module)
        except BaseException:
            sys.modules.pop(module.__name__, None)
            raise
        module.__class__ = ModuleType


class _Postponed(ModuleType):
    """A module without its contents; the first name that is asked of it brings them."""

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":  # an import asks for it; a package has it from the start
            raise AttributeError(name)
        if name in POSTPONED[self.__name__].split() and "_later" in self.__dict__:
            return _Named(self, name)
        _fill(self)
        if name in self.__dict__:
            return self.__dict__[name]
        own = self.__dict__.get("__getattr__")  # of the module itself, PEP 562
        if own is not None:
            return own(name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


class _Named:
    """What was imported by its name from a module that wasn't loaded yet."""

    def __init__(self, module: ModuleType, name: str) -> None:
        self._module, self._name = module, name

    def _real(self) -> Any:
        _fill(self._module)
        return getattr(self._module, self._name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._real()(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)

    def __instancecheck__(self, instance: object) -> bool:
        package = self._module.__name__.partition(".")[0]
        known = any(each.__module__.partition(".")[0] == package for each in type(instance).__mro__)
        return known and isinstance(instance, self._real())

    def __mro_entries__(self, _: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self._real(),)


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
