"""The made-up summaries, and a paper of one of them."""

from dataclasses import replace

import pandas as pd
import pytest

from benchmark.analysis.summary import summary_table
from benchmark.papers.published import Published
from benchmark.report.paper_results import PaperExperiment, PaperResult, comparison_frame
from benchmark.report.sensitivity import tried_frame
from tests.report.summaries import SUMMARIES, verdict_row, webkb_summary

#: Counts of data, which span a logarithmic axis and have no interval.
COUNTS = {"students": "1641", "staff": "36"}
NO_INTERVAL = (float("nan"), float("nan"), "equal", "", "count")


@pytest.fixture(params=SUMMARIES)
def make(request):
    """A function that makes the summary anew."""
    return SUMMARIES[request.param]


@pytest.fixture(scope="session")
def webkb():
    return webkb_summary()


@pytest.fixture
def papers(webkb):
    """A paper of one experiment, of which one number deviates and was looked into."""
    what = ("tf-l1-linear", "accuracy", "accuracy %", "", "72.57")
    tried = tried_frame([(*what, "as configured", 70.3, 69.0, 71.6, False), (*what, "smart", 72.5, 71.2, 73.8, True)])
    counts = [verdict_row(cell, "documents", n, "documents", int(n), *NO_INTERVAL) for cell, n in COUNTS.items()]
    counted = pd.concat([webkb.verdicts, summary_table("verdicts", counts)], ignore_index=True)
    part = PaperExperiment(replace(webkb, verdicts=counted), tried, ("A remark.",), (), ("A caveat <of> it.",))
    claims = summary_table("claims", webkb.claims.to_numpy().tolist())
    pairs = [("tf-l1-ngd", "tf-l2-linear", 0.0275), ("tf-l1-ngd", "tf-l2-ned", -0.002)]
    compared = [comparison_row(claims["claim"][0], a, b, gap) for a, b, gap in pairs]
    results = (claims, {"result": 10, "z": 1}, comparison_frame(compared))
    published = Published(paper="zhang2005", title="Kernels on the manifold", reference="Zhang, 2005.")
    return [PaperResult(published, (part,), *results)]


def comparison_row(claim, a, b, gap):
    """A comparison of accuracies that holds by the scores."""
    words = {"claim": claim, "variant": "", "config": "webkb", "a": a, "b": b, "metric": "accuracy"}
    words |= {"relation": "greater", "paper_verdict": "holds", "strict_verdict": "not shown", "verdict": "not shown"}
    words |= {"value": gap, "low": gap - 0.02, "high": gap + 0.02, "published": 0.0236, "p_value": 0.2, "p_holm": 0.4}
    return words
