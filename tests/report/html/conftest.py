"""A paper of one experiment, of which one number deviates and was looked into."""

import pytest

from benchmark.analysis.summary import CLAIMS, summary_table
from benchmark.report.paper_results import PaperExperiment, PaperResult, SensitivityScore


@pytest.fixture
def papers(webkb):
    tried = (
        SensitivityScore("tf-l1-linear", "accuracy", "72.57", "percent", "as configured", 70.3, 69.0, 71.6, "deviates"),
        SensitivityScore("tf-l1-linear", "accuracy", "72.57", "percent", "smart", 72.5, 71.2, 73.8, "consistent"),
    )
    part = PaperExperiment(webkb, tried, ("A remark.",), (), ("A caveat <of> it.",))
    claims = summary_table(CLAIMS, webkb.claims.to_numpy().tolist())
    return [PaperResult("zhang2005", "Kernels on the manifold", "Zhang, 2005.", (part,), claims, {"result": 11})]
