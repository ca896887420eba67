"""Outcomes of feature curves from predictions made up by hand."""

from __future__ import annotations

import numpy as np

from benchmark.config import config_from_mapping
from benchmark.experiment.feature_curves import FeatureResults, PanelResults, Predicted
from benchmark.experiment.feature_scores import outcomes_of


def test_documents_are_numbered_panel_after_panel_and_alike_in_all_settings() -> None:
    study = config_from_mapping(
        {
            "kind": "feature-curves",
            "name": "made-up",
            "corpus": {"name": "synthetic"},
            "text": {"skip_header": True, "skip_html": True, "stoplist": "none", "min_documents": 2},
            "split": {"train": ["misc", "texas"], "test": ["cornell", "washington"]},
            "panels": [
                {"title": "All four", "largest": 4},
                {"title": "Two", "classes": ["student", "course"]},
                {"title": "Two more", "classes": ["faculty", "course"]},
            ],
            "methods": ["mnb"],
            "sizes": [5],
            "smoothing": 0.5,
            "variants": {"smoother": {"smoothing": 1}},
        },
        "test.yaml",
    )
    numbers = {"all-four": range(5), "two": range(5, 7), "two-more": range(7, 10)}
    panels = {}
    for setting in study.settings:
        for name, rows in numbers.items():
            truth = np.arange(len(rows), dtype=np.int32) % 2
            predicted = Predicted(1 - truth, np.zeros(len(rows), dtype=bool))
            panels[setting.name, name] = PanelResults(tuple(map(str, rows)), truth, {("mnb", 5): predicted})
    outcomes = outcomes_of(FeatureResults(study, panels, {}, {}))
    assert len(outcomes) == 6
    for cell in study.cells:
        assert outcomes[cell.id].documents.tolist() == list(numbers[cell.panel]), cell.id
