"""Components that a configuration can name, by kind: those of this package, and those of its plug-ins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.system.errors import ConfigError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PACKAGE = __name__.partition(".")[0]


class Registry(dict[str, Any]):
    """Components of one kind by name.

    Parameters
    ----------
    named : mapping of str to component
    find : callable, optional
        Returns the component of an import path, which is a name with dots; raises ConfigError if there is none.

    Attributes
    ----------
    origins : dict of str to Plugin
        Files of plug-ins' components, by name.
    broken : dict of str to str
        Problems of import paths.
    """

    def __init__(self, named: Mapping[str, Any], find: Callable[[str], Any] | None = None) -> None:
        super().__init__(named)
        self.find = find
        self.origins: dict[str, Any] = {}
        self.broken: dict[str, str] = {}

    def __contains__(self, name: object) -> bool:
        """Return whether a name, or an import path, is that of a component; `broken` has the problem of a path."""
        if super().__contains__(name):
            return True
        if self.find is None or not isinstance(name, str) or "." not in name:
            return False
        try:
            self.find(name)
        except ConfigError as error:
            self.broken[name] = str(error)
            return False
        return True

    def __missing__(self, name: str) -> Any:
        """Return the component of an import path."""
        if self.find is None or "." not in name:
            raise KeyError(name)
        return self.find(name)


def unknown_component_message(what: str, name: object, registry: Mapping[str, Any]) -> str:
    """Explain why a name is not a component: the problem of an import path, or that it is unknown."""
    broken = registry.broken if isinstance(registry, Registry) else {}
    if isinstance(name, str) and name in broken:
        return broken[name]
    return unknown_name(what, name, list(registry))


def is_builtin(component: Any) -> bool:
    """Test whether a class or function belongs to this package."""
    return str(component.__module__).partition(".")[0] == PACKAGE
