"""What a configuration may say, and the cells it stands for."""

from benchmark.config.check import PUBLISHED, check_experiment
from benchmark.config.documents import expected_documents
from benchmark.config.load import read_config
from benchmark.config.model import BASE, Cell, Experiment, Study, Variant

__all__ = [
    "BASE",
    "PUBLISHED",
    "Cell",
    "Experiment",
    "Study",
    "Variant",
    "check_experiment",
    "expected_documents",
    "read_config",
]
