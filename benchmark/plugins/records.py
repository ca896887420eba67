"""A manifest's records of the plug-ins' components that a run used: their locations, and digests of their code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.config.model import Experiment
    from benchmark.config.registries import Registries


def plugin_records(experiment: Experiment) -> list[dict[str, Any]]:
    """Return the plug-ins' components that an experiment names, as plain data."""
    named = {*experiment.scorers, *(each.name for each in experiment.diagnostics)}
    for variant in experiment.variants.values():
        parts = (part for entry in variant.entries for spec in entry.candidates for part in spec.components)
        named |= {variant.protocol.name, variant.collection.corpus, *(part.name for part in parts)}
    return [
        {"kind": kind, "name": name, "file": plugin.name, "digest": plugin.digest}
        for kind, registry in (*experiment.registries.each(), ("pipelines", experiment.registries.pipelines))
        for name, plugin in registry.origins.items()
        if name in named
    ]


def with_plugin_paths(raw: dict[str, Any], records: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the configuration of a finished run with absolute plug-in paths in place of relative ones."""
    files = dict.fromkeys(each["file"] for each in records if each["kind"] != "pipelines")
    return {key: value for key, value in raw.items() if key != "plugins"} | ({"plugins": [*files]} if files else {})


def pipeline_files(records: Iterable[dict[str, Any]]) -> dict[str, Path]:
    """Return the files of a finished run's pipelines by their names."""
    return {each["name"]: Path(each["file"]) for each in records if each["kind"] == "pipelines"}


def changed_plugin(records: Iterable[dict[str, Any]], known: Registries) -> str:
    """Return the location of the first component that has changed since a run, or "" if none has."""
    for each in records:
        origin = getattr(known, each["kind"]).origins.get(each["name"])
        if origin is None or origin.digest != each["digest"]:
            return str(each["file"])
    return ""
