"""A class belongs to the plug-in that defines it, and to no plug-in that only names it."""

from __future__ import annotations

from pathlib import Path

from benchmark.kernels.multinomial import NegativeGeodesicDistance
from benchmark.system.plugin_code import Plugin, plugin_of, register_plugin_class


def test_a_class_of_this_package_belongs_to_no_plugin() -> None:
    plugin = Plugin("/x/mine.py", Path("/x"))
    register_plugin_class(plugin, "kernels", "mine", NegativeGeodesicDistance)
    assert plugin_of(NegativeGeodesicDistance) is None


def test_a_class_of_a_plugin_belongs_to_it() -> None:
    class Own:
        pass

    plugin = Plugin("/x/mine.py", Path("/x"))
    register_plugin_class(plugin, "kernels", "own", Own)
    assert plugin_of(Own) is plugin
