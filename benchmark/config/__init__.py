"""What a configuration may say, and the cells it stands for."""

from benchmark.config.check import PUBLISHED, check_config, config_from_mapping, expected_documents, load_config
from benchmark.config.model import Cell, Experiment, Variant
from benchmark.config.schema import BASE

__all__ = [
    "BASE",
    "PUBLISHED",
    "Cell",
    "Experiment",
    "Variant",
    "check_config",
    "config_from_mapping",
    "expected_documents",
    "load_config",
]
