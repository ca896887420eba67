"""A manifest's records of the plug-ins' components that a run used: their locations, and digests of their code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.plugins.pipelines import with_files_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmark.config.model import Experiment
    from benchmark.config.registries import Registries


def plugin_records(experiment: Experiment) -> list[dict[str, Any]]:
    """Return the plug-ins' components that an experiment names, as plain data."""
    found = []
    for kind, name in dict.fromkeys(_named(experiment)):
        plugin = getattr(experiment.registries, kind).origins.get(name)
        if plugin is not None:
            file = str(plugin.file or "")
            found.append({"kind": kind, "name": name, "file": file, "digest": plugin.digest})
    return found


def _named(experiment: Experiment) -> Iterator[tuple[str, str]]:
    yield from (("metrics", name) for name in experiment.scorers)
    yield from (("diagnostics", each.name) for each in experiment.diagnostics)
    for variant in experiment.variants.values():
        yield "protocols", variant.protocol.name
        yield "corpora", variant.collection.corpus
        for spec in (spec for entry in variant.entries for spec in entry.candidates):
            yield "pipelines" if spec.classifier.tags.reads_texts else "classifiers", spec.classifier.name
            yield "weightings", spec.representation.weighting.name
            optional = {"features": spec.representation.features, "thresholds": spec.threshold, "kernels": spec.kernel}
            for kind, part in optional.items():
                if part is not None:
                    yield kind, part.name


def with_plugin_paths(raw: dict[str, Any], records: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the configuration of a finished run with absolute plug-in paths in place of relative ones."""
    records = list(records)
    files = list(dict.fromkeys(each["file"] for each in records if each["file"] and each["kind"] != "pipelines"))
    moved = {each["name"]: _name_at_file(each) for each in records if each["kind"] == "pipelines"}
    found: dict[str, Any] = with_files_at({key: value for key, value in raw.items() if key != "plugins"}, moved)
    return found | ({"plugins": files} if files else {})


def _name_at_file(record: dict[str, Any]) -> str:
    """Return the name of a pipeline whose file has an absolute path, see `with_plugin_paths`."""
    return f"{record['file']}:{record['name'].rpartition(':')[2]}"


def changed_plugin(records: Iterable[dict[str, Any]], known: Registries) -> str:
    """Return the location of the first component that has changed since a run, or "" if none has."""
    for each in records:
        name = _name_at_file(each) if each["kind"] == "pipelines" else each["name"]
        origin = getattr(known, each["kind"]).origins.get(name)
        if origin is None or origin.digest != each["digest"]:
            return each["file"] or f"the plug-in of {each['name']!r}"
    return ""
