"""Curves beside their paper: values of pairs, ranges of axes, claims, and what a sweep says of them."""

from __future__ import annotations

import pytest
import yaml

from benchmark.commands.reproduce import write_reproduction
from benchmark.experiment.configuration import experiment_from_mapping
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from benchmark.papers import published

SIZES = ["12", "40"]
PAIR = ["faculty-course-diffusion-oracle-40", "faculty-course-linear-oracle-40"]
LOOP = {"for": {"kernel": ["linear", "diffusion"], "size": SIZES}, "cells": "faculty-course-{kernel}-oracle-{size}"}
RANGE = {"figure": 2, "config": "curves", "metric": "error", **LOOP}
COMPARISON = {
    "for": {"size": SIZES},
    "config": "curves",
    "a": "faculty-course-diffusion-oracle-{size}",
    "b": "faculty-course-linear-oracle-{size}",
}
CLAIM = {"relation": "lower", "metric": "error", "alpha": 0.05, "comparisons": [COMPARISON]}
PAPER = {
    "paper": "nobody2002",
    "title": "Curves",
    "reference": "A. Nobody. 2002.",
    "values": [{"figure": 2, "config": "curves", "pair": PAIR, "metric": "error-ratio", "value": "0.5"}],
    "ranges": [RANGE | {"low": "0", "high": "1"}, RANGE | {"low": "0.998", "high": "0.999"}],
    "claims": [
        {"id": "lower", "text": "It is lower.", **CLAIM},
        {"id": "higher", "text": "It is higher.", **CLAIM, "relation": "greater"},
    ],
}
CURVES = {
    "name": "curves",
    "corpus": {"name": "synthetic", "classes": ["faculty", "course"]},
    "tasks": [["faculty", "course"]],
    "protocol": {"name": "random-subsets", "train_size": [12, 40], "replicates": 6},
    "defaults": {"weighting": "tf", "normalization": "l1", "classifier": {"C": 10, "scale_C": "mean-self-product"}},
    "methods": ["linear", {"kernel": {"name": "diffusion", "t": [1, 2]}}],
    "choose": {"by": ["oracle"]},
    "metrics": ["error"],
}


@pytest.fixture(scope="module", autouse=True)
def paper(tmp_path_factory):
    """The one paper that there is."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "nobody2002.yaml").write_text(yaml.safe_dump(PAPER))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(published, "PUBLISHED_FOLDER", folder)
        yield PAPER["paper"]


@pytest.fixture(scope="module")
def done(paper, tmp_path_factory):
    folder = tmp_path_factory.mktemp("curves")
    store = Store(folder / "store", limit=10**9)
    sweep = {
        "name": "sweep",
        "sensitivity_of": "curves",
        "variants": {"soft": {"defaults": {"classifier": {"C": 0.01}}}},
    }
    experiments = [CURVES | {"paper": paper}, CURVES | sweep]
    return [
        run_and_write(experiment_from_mapping(s, "t.yaml"), RunContext(store), folder=folder / s["name"])
        for s in experiments
    ]


def test_a_range_is_judged_by_the_least_and_the_greatest(done):
    ranges = done[0].summary.ranges
    assert ranges["verdict"].tolist() == ["inside", "outside"]
    assert ranges["inside"].tolist() == [4, 0]
    scores = done[0].summary.scores
    means = scores[scores["fold"] == "all"]["value"]
    assert ranges["low"].iloc[0] == pytest.approx(min(means))
    assert ranges["high"].iloc[0] == pytest.approx(max(means))
    assert done[1].summary.ranges.empty


def test_a_sweep_judges_the_claims_of_what_it_explains_under_each_variant(done):
    own, sweep = (each.summary.claims.set_index(["claim", "variant"]) for each in done)
    assert own.index.tolist() == [("lower", ""), ("higher", "")]
    assert sweep.index.tolist() == [("lower", ""), ("lower", "soft"), ("higher", ""), ("higher", "soft")]
    assert own.loc[("lower", ""), "holds"] == sweep.loc[("lower", ""), "holds"]
    assert (sweep["of"] == 2).all()


def test_the_page_shows_curves_ranges_and_claims_under_other_choices(done, tmp_path):
    line = write_reproduction(done, tmp_path / "PAGE.md")
    text = (tmp_path / "papers" / "nobody2002.md").read_text()
    assert "0 of 1 published results" in line
    rows = [row.replace(" ", "") for row in text.splitlines() if row.startswith("|")]
    assert any(row.startswith("|variant|lower|higher|") for row in rows)
    assert any(row.startswith("|soft|") for row in rows)
    assert any("faculty-course-{kernel}-oracle-{size}" in row.replace("\\", "") for row in rows)
    assert any(row.startswith("|linear|") and row.count("±") == 2 for row in rows)
    assert text.count("faculty-course-diffusion-oracle-40 vs faculty-course-linear-oracle-40 (") == 1
