"""Components that a configuration can name, by kind: those of this package, and those of its plug-ins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.system.errors import unknown_name

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True)
class PluginOrigin:
    """Origin of a plug-in's component.

    Parameters
    ----------
    place : str
        File and line, or distribution and version.
    file : str
        The plug-in's file; "" for an installed package.
    digest : str
        Digest of the file, and of files beside it that it imports; the version of an installed package.
    """

    place: str
    file: str
    digest: str


class Registry(dict[str, Any]):
    """Components of one kind by name.

    Attributes
    ----------
    origins : dict of str to Origin
        Origins of plug-ins' components, by name.
    broken : dict of str to str
        Problems of plug-ins' components that can't be used, by name.
    """

    def __init__(self, named: Mapping[str, Any]) -> None:
        super().__init__(named)
        self.origins: dict[str, PluginOrigin] = {}
        self.broken: dict[str, str] = {}


def unknown_component_message(what: str, name: object, registry: Mapping[str, Any]) -> str:
    """Explain why a name is not a component: the problem of its plug-in, or that it is unknown."""
    broken = registry.broken if isinstance(registry, Registry) else {}
    return broken[name] if isinstance(name, str) and name in broken else unknown_name(what, name, list(registry))


def is_builtin(component: Any) -> bool:
    """Test whether a class or function belongs to this package."""
    return str(component.__module__).partition(".")[0] == PACKAGE
