"""A new paper is one configuration and one file of published numbers; a new method is one class and one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from benchmark.commands.reproduce import paper_configs, write_reproduction
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.experiment.run import RunResult

CONFIG = """
name: sixth
title: A sixth paper
paper: sixth2026
corpus: {name: synthetic, classes: [course, faculty, student]}
text: {skip_header: true, skip_html: true, stoplist: none, min_occurrences: 20}
protocol: {name: random-subsets, train_size: [30, 90], replicates: 6}
defaults: {weighting: tf}
methods: [ngd, mnb, {kernel: {name: rbf, sigma: 0.1}}]
metrics: [accuracy]
compare: [[ngd, rbf-sigma0.1]]
"""
PUBLISHED: dict[str, Any] = {
    "paper": "sixth2026",
    "title": "On nothing in particular",
    "reference": "A. Nobody. 2026.",
    "values": [
        {"table": 1, "config": "sixth", "cell": "ngd-90", "metric": "accuracy", "value": "91.2", "unit": "percent"},
        {"table": 1, "config": "sixth", "cell": "mnb-90", "metric": "accuracy", "value": "11.1", "unit": "percent"},
    ],
    "claims": [
        {
            "id": "geometry-helps",
            "text": "NGD is the better one.",
            "relation": "greater",
            "alpha": 0.05,
            "comparisons": [{"config": "sixth", "a": "ngd-90", "b": "rbf-sigma0.1-90"}],
        },
        {
            "id": "geometry-harms",
            "text": "NGD is the worse one.",
            "relation": "lower",
            "alpha": 0.05,
            "comparisons": [{"config": "sixth", "a": "ngd-90", "b": "rbf-sigma0.1-90"}],
        },
    ],
}


@pytest.fixture
def performed(publish: Callable[[dict[str, Any]], str], tmp_path: Path) -> Callable[..., RunResult]:
    """Run the configuration of the paper, with other keys where they are given."""
    publish(PUBLISHED)
    folder = tmp_path / "configs"
    folder.mkdir()

    def perform_with(**changes: Any) -> RunResult:
        (folder / "sixth.yaml").write_text(yaml.safe_dump(yaml.safe_load(CONFIG) | changes))
        (experiment,) = paper_configs(folder)
        return run_and_write(experiment, RunContext(Store(tmp_path / "store")), folder=tmp_path / "run")

    return perform_with


@pytest.mark.usefixtures("sketched")
def test_a_paper_has_its_table_curves_verdicts_claims_and_place_on_the_page(
    performed: Callable[..., RunResult], tmp_path: Path
) -> None:
    done = performed()
    scores = done.summary.scores
    whole = scores[(scores["fold"] == "all") & (scores["metric"] == "accuracy")].set_index("cell")["value"]
    assert set(whole.index) == {f"{name}-{size}" for name in ("ngd", "mnb", "rbf-sigma0.1") for size in (30, 90)}
    verdicts = done.summary.verdicts.set_index("cell")["verdict"]
    assert set(verdicts.index) == {"ngd-90", "mnb-90"}
    assert verdicts["mnb-90"] == "deviates", "it is better than that on any corpus"
    assert whole["ngd-90"] > whole["rbf-sigma0.1-90"]
    claims = done.summary.claims.set_index("claim")["verdict"]
    assert claims.to_dict() == {"geometry-helps": "holds", "geometry-harms": "fails"}
    written = {path.name for path in done.folder.iterdir()}
    assert written >= {"table.md", "table.tex", "scores.csv", "curves.csv", "figures", "verdicts.csv"}
    table = (done.folder / "table.md").read_text()
    assert all(name in table for name in ("ngd", "mnb", "rbf"))
    line = write_reproduction([done], tmp_path / "PAGE.md")
    page = (tmp_path / "papers" / f"{PUBLISHED['paper']}.md").read_text()
    assert f"(papers/{PUBLISHED['paper']}.md)" in (tmp_path / "PAGE.md").read_text()
    assert "0 of 2 published results" in line
    assert "1 of 2 claims" in line
    for word in (PUBLISHED["title"], PUBLISHED["reference"], "ngd-90", "91.2", "geometry-helps"):
        assert word in page
