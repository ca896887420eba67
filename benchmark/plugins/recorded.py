"""What a manifest keeps of plug-ins, and their registries again: a finished run is read without their code.

Of kernels, classifiers and protocols, which a finished run asks for no number, stand-ins have the same parameters.
Metrics and measures are computed again, where their file is as it was; else they are left out.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from benchmark.config.components import REQUIRED, parameters
from benchmark.config.entries import whole_lists
from benchmark.errors import ConfigError
from benchmark.kernels import Kernel, elementwise
from benchmark.plugins.gathering import SHIPPED, with_plugins
from benchmark.tags import DEFAULT, tags_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmark.config.model import Experiment
    from benchmark.registries import Registries

_GONE = "is of a plug-in that has gone, or is not as it was; its numbers are left out"


class Record(BaseModel):
    """What a manifest keeps of a component; what only some kinds have may be missing."""

    model_config = ConfigDict(strict=True)
    kind: Literal["kernels", "classifiers", "protocols", "measures", "metrics", "corpora"]
    name: str
    file: str
    digest: str
    needed: list[str] = []
    defaults: dict[str, Any] = {}
    lists: list[str] = []
    attributes: dict[str, Any] = {}
    elementwise: bool = False
    metrics: list[str] = []


def record_of(study: Experiment) -> list[dict[str, Any]]:
    """The plug-ins' components that a configuration names, as plain data."""
    found = []
    for kind, name, component in dict.fromkeys(_named(study)):
        origin = getattr(study.known, kind).origins.get(name)
        if origin is not None:
            found.append({"kind": kind, "name": name, **vars(origin), **_facts(kind, component)})
    return found


def _named(study: Experiment) -> Iterator[tuple[str, str, Any]]:
    yield from (("metrics", name, None) for name in study.scorers)
    yield from (("measures", each.name, each.cls) for each in study.measures)
    for variant in study.variants.values():
        yield "protocols", variant.protocol.name, variant.protocol.cls
        yield "corpora", variant.collection.corpus, None
        for spec in (spec for entry in variant.entries for spec in entry.candidates):
            yield "classifiers", spec.classifier.name, spec.classifier.cls
            if spec.kernel is not None:
                yield "kernels", spec.kernel.name, spec.kernel.cls


def _facts(kind: str, component: Any) -> dict[str, Any]:
    """What a stand-in is made of; nothing of a component for which none can stand."""
    if kind == "measures":
        return {"metrics": [each.name for each in component.metrics]}
    if component is None:
        return {}
    known = parameters(component)
    return {
        "needed": [name for name, (_, default) in known.items() if default is REQUIRED],
        "defaults": {name: default for name, (_, default) in known.items() if default is not REQUIRED},
        "lists": sorted(whole_lists(component)),
        "attributes": {name: tag for name, tag in vars(tags_of(component)).items() if tag != getattr(DEFAULT, name)},
        "elementwise": kind == "kernels" and elementwise(component),
    }


def without_gone(raw: dict[str, Any], known: Registries) -> dict[str, Any]:
    """A configuration without the metrics and measures whose plug-ins have gone, and a note that says so."""
    gone = known.metrics.broken | known.measures.broken
    if not gone:
        return raw
    kept = {
        "metrics": [name for name in raw.get("metrics") or () if name not in gone],
        "measures": [each for each in raw.get("measures", ()) if _called(each) not in gone],
        "figures": [
            each for each in raw.get("figures", ()) if not gone.keys() & {*_listed(each.get("y")), each.get("x")}
        ],
    }
    rest = {key: value for key, value in raw.items() if key not in kept}
    notes = [*raw.get("notes", ()), *dict.fromkeys(f"{problem}." for problem in gone.values())]
    return rest | {key: value for key, value in kept.items() if value} | {"notes": notes}


def _called(given: Any) -> Any:
    return given.get("name") if isinstance(given, dict) else given


def _listed(y: Any) -> list[Any]:
    return y if isinstance(y, list) else [y] if isinstance(y, str) else []


def registries_again(records: Iterable[dict[str, Any]]) -> Registries:
    """What a finished run's configuration can name."""
    found = SHIPPED.copied()
    for each in records:
        kind, name = each["kind"], each["name"]
        registry = getattr(found, kind)
        component = _stand_in(name, each) if "needed" in each else _as_it_was(kind, each)
        if component is None:
            registry.broken[name] = f"{name!r} {_GONE}"
            found.metrics.broken |= dict.fromkeys(each.get("metrics", ()), registry.broken[name])
        else:
            registry[name] = component
    return found


def with_files(raw: dict[str, Any], records: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A finished run's configuration with its plug-ins by their whole paths: those of a file are relative to it."""
    files = list(dict.fromkeys(each["file"] for each in records if each["file"]))
    return {key: value for key, value in raw.items() if key != "plugins"} | ({"plugins": files} if files else {})


def changed_since(records: Iterable[dict[str, Any]], known: Registries) -> str:
    """Where the first component stands that isn't as a finished run had it; "" where all are."""
    for each in records:
        origin = getattr(known, each["kind"]).origins.get(each["name"])
        if origin is None or origin.digest != each["digest"]:
            return each["file"] or f"the plug-in of {each['name']!r}"
    return ""


def _as_it_was(kind: str, record: dict[str, Any]) -> Any:
    """The component itself, where its file, or the version of its package, is that of the run."""
    try:
        registry = getattr(with_plugins([Path(record["file"])] if record["file"] else []), kind)
    except ConfigError:
        return None
    origin = registry.origins.get(record["name"])
    return registry.get(record["name"]) if origin is not None and origin.digest == record["digest"] else None


def _stand_in(name: str, record: dict[str, Any]) -> type[Any]:
    """A class with the same parameters that computes nothing."""
    keys = dict.fromkeys(record["needed"], REQUIRED) | record["defaults"]
    known = {key: each for key, each in record["attributes"].items() if key in vars(DEFAULT)}
    stated: dict[str, Any] = {key: tuple(each) if isinstance(each, list) else each for key, each in known.items()}
    tags = replace(DEFAULT, **stated)
    kind = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature(
        [
            inspect.Parameter(key, kind, default=default, annotation=list[Any] if key in record["lists"] else Any)
            for key, default in keys.items()
            if key not in tags.set_by_run
        ]
    )

    def build(self: Any, **given: Any) -> None:
        vars(self).update(given)

    base = Kernel if record["elementwise"] else object
    return type(name, (base,), {"__init__": build, "__signature__": signature, "__module__": "gone", "tags": tags})
