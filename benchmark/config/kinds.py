"""Every kind of configuration, and what checks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.config.boundaries import KIND as BOUNDARIES
from benchmark.config.boundaries import check_boundaries
from benchmark.config.category_curves import KIND as CATEGORY_CURVES
from benchmark.config.category_curves import check_category_curves
from benchmark.config.centroid_curves import KIND as CENTROID_CURVES
from benchmark.config.centroid_curves import check_centroid_curves
from benchmark.config.check import check_config
from benchmark.config.feature_curves import KIND as FEATURE_CURVES
from benchmark.config.feature_curves import check_feature_curves
from benchmark.config.learning_curves import KIND as LEARNING_CURVES
from benchmark.config.learning_curves import check_learning_curves
from benchmark.config.source import YamlSource, read_yaml, unknown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Study

TABLE = "table"
CHECKS: dict[str, Callable[[YamlSource], Study]] = {
    TABLE: check_config,
    LEARNING_CURVES: check_learning_curves,
    BOUNDARIES: check_boundaries,
    CATEGORY_CURVES: check_category_curves,
    CENTROID_CURVES: check_centroid_curves,
    FEATURE_CURVES: check_feature_curves,
}


def load_config(path: Path) -> Study:
    """Read and check a configuration.

    Raises
    ------
    ConfigError
        With file, line, what is wrong, the nearest right name and what is allowed.
    """
    return check_study(read_yaml(path))


def config_from_mapping(raw: dict[str, Any], name: str) -> Study:
    """Check a configuration that is already plain data, e.g. out of a manifest."""
    return check_study(YamlSource(name, raw))


def check_study(source: YamlSource) -> Study:
    """Check plain data by the rules of its kind, "table" unless it says otherwise."""
    kind = source.data.get("kind", TABLE) if isinstance(source.data, dict) else TABLE
    if not isinstance(kind, str) or kind not in CHECKS:
        raise source.error(("kind",), unknown("kind", kind, list(CHECKS)))
    return CHECKS[kind](source)
