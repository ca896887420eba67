"""What a configuration may say, and the cells it stands for."""

from benchmark.config.check import PUBLISHED, check_config, expected_documents
from benchmark.config.kinds import config_from_mapping, load_config
from benchmark.config.learning_curves import LearningCurves
from benchmark.config.model import Cell, Experiment, Study, Variant
from benchmark.config.schema import BASE

__all__ = [
    "BASE",
    "PUBLISHED",
    "Cell",
    "Experiment",
    "LearningCurves",
    "Study",
    "Variant",
    "check_config",
    "config_from_mapping",
    "expected_documents",
    "load_config",
]
