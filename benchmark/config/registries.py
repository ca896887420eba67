"""The registries of all kinds of components that a configuration can name."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from benchmark.system.registries import Registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmark.evaluation.metrics import DiagnosticMetric


@dataclass(frozen=True)
class Registries:
    """All registries, by kind of component; `pipelines` has those of import paths and of functions in files alone.

    `calls` calls the users' components among them that run in a process of their own.
    """

    kernels: Registry
    classifiers: Registry
    protocols: Registry
    diagnostics: Registry
    metrics: Registry
    corpora: Registry
    weightings: Registry
    features: Registry
    thresholds: Registry
    pipelines: Registry = field(default_factory=lambda: Registry({}))
    calls: Any = None

    def each(self) -> Iterator[tuple[str, Registry]]:
        """Iterate over the kinds of which a plug-in can name components, and their registries."""
        return (
            (kind.name, getattr(self, kind.name)) for kind in fields(self) if kind.name not in ("pipelines", "calls")
        )

    @property
    def methods(self) -> Registry:
        """Kernels and classifiers, whose names don't overlap."""
        methods = Registry({**self.kernels, **self.classifiers})
        methods.broken = self.kernels.broken | self.classifiers.broken
        return methods

    @property
    def quantities(self) -> dict[str, DiagnosticMetric]:
        """Metrics that the diagnostics declare, by name."""
        return declared_metrics(self.diagnostics.values())

    def close(self) -> None:
        """End the process of `calls`; its next call starts another."""
        if self.calls is not None:
            self.calls.close()

    def copied(self) -> Registries:
        """Return copies of the registries, to which components can be added."""
        registries = [*self.each(), ("pipelines", self.pipelines)]
        return replace(self, **{kind: Registry(registry, registry.find) for kind, registry in registries})


def declared_metrics(diagnostics: Iterable[Any]) -> dict[str, DiagnosticMetric]:
    """Return the metrics that diagnostics declare, by name; the first of two with the same name."""
    by_name: dict[str, DiagnosticMetric] = {}
    for diagnostic in diagnostics:
        for quantity in diagnostic.metrics:
            by_name.setdefault(quantity.name, quantity)
    return by_name
