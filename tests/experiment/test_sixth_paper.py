"""A new paper is one configuration and one file of published numbers; a new method is one class and one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import yaml

from benchmark.classifiers import CLASSIFIERS, ComplementBayes
from benchmark.commands.reproduce import paper_configs, write_reproduction
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.kernels import KERNELS, Linear
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.schema.registries import list_components
from tests.builders import small_experiment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

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


class SquaredLinear(Linear):
    """k(x, x') = <x, x'>².

    Parameters
    ----------
    factor : float
    """

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def from_products(self, products: NDArray[np.float64], *_: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.factor * products**2)


class Contrary(ComplementBayes):
    """Complement naive Bayes that prefers what is least likely."""

    def scores(self, points: Any) -> NDArray[np.float64]:
        return np.asarray(-super().scores(points))


@pytest.fixture
def registered_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for registry in (KERNELS, BUILTIN_REGISTRIES.kernels):
        monkeypatch.setitem(registry, "squared-linear", SquaredLinear)
    for registry in (CLASSIFIERS, BUILTIN_REGISTRIES.classifiers):
        monkeypatch.setitem(registry, "contrary", Contrary)


@pytest.mark.usefixtures("registered_here")
def test_a_method_is_listed_run_scored_drawn_and_compared(performed: Callable[..., RunResult]) -> None:
    rows = [row for part in list_components("") for row in part.rows]
    assert any("squared-linear" in row[0] and "factor" in str(row) for row in rows)
    assert any("contrary" in row[0] and "smoothing" in str(row) for row in rows)
    rbf = yaml.safe_load(CONFIG)["methods"][-1]
    methods = ["ngd", "mnb", rbf, {"kernel": {"name": "squared-linear", "factor": [1, 2]}}, "contrary", "complement-nb"]
    done = performed(methods=methods, compare=[["contrary", "complement-nb"]])
    assert not done.summary.failures
    new = {"squared-linear-factor1", "squared-linear-factor2", "contrary"}
    scores = done.summary.scores
    whole = scores[(scores["fold"] == "all") & (scores["metric"] == "accuracy")].set_index("cell")["value"]
    assert {f"{name}-{size}" for name in new for size in (30, 90)} <= set(whole.index)
    assert whole["contrary-90"] < 0.4 < whole["complement-nb-90"]
    assert set(done.summary.significance["a"]) == {"contrary-30", "contrary-90"}
    curves = (done.folder / "curves.csv").read_text()
    table = (done.folder / "table.md").read_text()
    assert all(name in curves and name in table for name in new)


@pytest.mark.usefixtures("registered_here")
@pytest.mark.parametrize("subset", [None, pytest.param("several", marks=pytest.mark.slow)])
def test_a_method_takes_part_in_everything_else(store: Store, subset: str | None) -> None:
    """Several classes, selected terms and a choice of parameters, which its class doesn't know of."""
    experiment = small_experiment(
        corpus={"name": "synthetic", "subset": subset},
        terms={"number": 100},
        methods=[
            {"kernel": {"name": "squared-linear", "factor": [1, 10]}},
            {"classifier": {"name": "contrary", "smoothing": [0.1, 1]}},
        ],
        choose={"by": ["oracle", "cross-validation"], "folds": 2},
    )
    found = run_experiment(experiment, RunContext(store))
    assert not found.failures
    assert {place[2:4] for place in found.predictions.settings} == {
        (name, candidate) for name in ("squared-linear", "contrary") for candidate in (0, 1)
    }
