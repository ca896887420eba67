"""Registries have components by name or by import path, and explain those that can't be used."""

from __future__ import annotations

from typing import Any

import pytest

from benchmark.config.registries import declared_metrics
from benchmark.kernels import KERNELS
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.errors import ConfigError
from benchmark.system.registries import Registry, is_builtin, unknown_component_message


def find(name: str) -> Any:
    """Find what lies in the module `good`."""
    if not name.startswith("good."):
        raise ConfigError(f"{name}: no such module")
    return name.upper()


def test_a_name_with_dots_is_looked_for_where_paths_are_components() -> None:
    with_paths, plain = Registry({"a": 1}, find), Registry({"a": 1})
    assert [name in with_paths for name in ("a", "good.x", "bad.x", "x")] == [True, True, False, False]
    assert (3 in with_paths, "good.x" in plain) == (False, False)
    assert (with_paths["a"], with_paths["good.x"]) == (1, "GOOD.X")
    assert with_paths.broken == {"bad.x": "bad.x: no such module"}
    for registry, name in ((plain, "good.x"), (with_paths, "x")):
        with pytest.raises(KeyError):
            registry[name]


@pytest.mark.parametrize(
    ("what", "name", "said"),
    [
        ("kernel", "bad.x", "bad.x: no such module"),
        ("kernel", "ngb", "unknown kernel 'ngb'; did you mean 'ngd'? (allowed: ngd, linear)"),
        (
            "kernel",
            "zzz",
            "unknown kernel 'zzz' (allowed: ngd, linear); if it is your own, list its file under `plugins`",
        ),
        (
            "classifier",
            "zzz",
            "unknown classifier 'zzz' (allowed: ngd, linear); if it is your own, list its file under `plugins`",
        ),
        ("protocol", "zzz", "unknown protocol 'zzz' (allowed: ngd, linear)"),
        ("weighting", "zzz", "unknown weighting 'zzz' (allowed: ngd, linear)"),
        ("method", 7, "unknown method 7 (allowed: ngd, linear); if it is your own, list its file under `plugins`"),
    ],
)
def test_what_is_no_component_is_explained(what: str, name: object, said: str) -> None:
    registry = Registry({"ngd": 1, "linear": 2}, find)
    assert name not in registry
    assert unknown_component_message(what, name, registry) == said


def test_what_belongs_to_this_package_is_known_by_its_module() -> None:
    assert is_builtin(KERNELS["ngd"])
    assert not is_builtin(pytest.Item)
    assert not is_builtin(type("Mine", (), {"__module__": "benchmarks.mine"}))


def test_of_two_metrics_of_one_name_the_first_is_declared() -> None:
    every = list(BUILTIN_REGISTRIES.diagnostics.values())
    declared = declared_metrics(every)
    names = [metric.name for each in every for metric in each.metrics]
    assert list(declared) == list(dict.fromkeys(names))
    assert declared == BUILTIN_REGISTRIES.quantities
    first = every[0].metrics[0]
    other = type("Other", (), {"metrics": [type("Metric", (), {"name": first.name})]})
    assert declared_metrics([every[0], other])[first.name] is first
