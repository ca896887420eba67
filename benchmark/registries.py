"""What a configuration can name, by kind: components of this package, and those of its plug-ins."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from benchmark.errors import unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchmark.evaluation.metrics import MeasuredQuantity

PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True)
class Origin:
    """Where a plug-in's component comes from.

    Parameters
    ----------
    place : str
        File and line, or distribution and version.
    file : str
        The plug-in's file; "" of an installed package.
    digest : str
        Of the file, and of those beside it that it imports; the version of an installed package.
    """

    place: str
    file: str
    digest: str


class Registry(dict[str, Any]):
    """Components of one kind by name.

    Attributes
    ----------
    origins : dict of str to Origin
        Of those that plug-ins have.
    broken : dict of str to str
        Names that plug-ins give to what can't be used, and why not.
    """

    def __init__(self, named: Mapping[str, Any]) -> None:
        super().__init__(named)
        self.origins: dict[str, Origin] = {}
        self.broken: dict[str, str] = {}


@dataclass(frozen=True)
class Registries:
    """All that a configuration can name, by the kinds of components."""

    kernels: Registry
    classifiers: Registry
    protocols: Registry
    measures: Registry
    metrics: Registry
    corpora: Registry

    def each(self) -> Iterator[tuple[str, Registry]]:
        """The kinds, and the registry of each."""
        return ((each.name, getattr(self, each.name)) for each in fields(self))

    @property
    def methods(self) -> Registry:
        """Kernels and classifiers, whose names are different."""
        found = Registry({**self.kernels, **self.classifiers})
        found.broken = self.kernels.broken | self.classifiers.broken
        return found

    @property
    def quantities(self) -> dict[str, MeasuredQuantity]:
        """Return the metrics that its measures declare, by name."""
        return quantities_of(self.measures.values())

    def copied(self) -> Registries:
        """Registries of their own, to which more can be added."""
        return replace(self, **{kind: Registry(registry) for kind, registry in self.each()})


def quantities_of(measures: Iterable[Any]) -> dict[str, MeasuredQuantity]:
    """Return the metrics that measures declare, by name; of two with the same name the first."""
    found: dict[str, MeasuredQuantity] = {}
    for measure in measures:
        for quantity in measure.metrics:
            found.setdefault(quantity.name, quantity)
    return found


def refusal(what: str, name: object, registry: Mapping[str, Any]) -> str:
    """Why a name stands for nothing: what is wrong with the plug-in that has it, or that there is none."""
    broken = registry.broken if isinstance(registry, Registry) else {}
    return broken[name] if isinstance(name, str) and name in broken else unknown(what, name, list(registry))


def shipped(component: Any) -> bool:
    """Whether a class or function is this package's."""
    return str(component.__module__).partition(".")[0] == PACKAGE
