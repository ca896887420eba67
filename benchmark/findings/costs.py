"""What each cell took: seconds on the clock and the most memory, as they were measured when it was first computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.model import ALL
from benchmark.evaluation.predictions import PARTS
from benchmark.findings.choosing import decided

if TYPE_CHECKING:
    from benchmark.config.model import Experiment
    from benchmark.evaluation.predictions import Predictions
    from benchmark.evaluation.scored import Scored

_TESTING = PARTS.index("testing")


def cost_rows(study: Experiment, predictions: Predictions, scored: Scored) -> list[list[Any]]:
    """Rows of the frame of costs: seconds of training and testing over all splits, and bytes at the peak."""
    rows = []
    for cell in study.cells:
        if cell.what == "point" and cell.of_class in ("", ALL) and cell.id in scored.chosen:
            own = decided(predictions, cell, scored.chosen[cell.id])
            seconds = own.seconds.sum(axis=0)
            testing = float(seconds[_TESTING])
            rows.append([cell.id, float(seconds.sum()) - testing, testing, float(np.max(own.memory))])
    return rows
