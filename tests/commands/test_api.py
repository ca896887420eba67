"""The package's own door gives what the command line gives, as frames and figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd
import pytest

import benchmark as sb
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import load_checked, run_and_write
from benchmark.experiment.store import Store
from benchmark.system.errors import BenchError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[2]
HOW = {"methods": ["ngd", "mnb"], "text": {"stoplist": "none"}}


@pytest.fixture(scope="module", autouse=True)
def _own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("BENCH_CACHE", str(tmp_path_factory.mktemp("store")))
        yield


@pytest.fixture(scope="module")
def found() -> sb.Result:
    return sb.run(corpus="synthetic", **HOW)


@pytest.mark.usefixtures("sketched")
def test_a_run_has_the_numbers_of_the_command_line(tmp_path: Path) -> None:
    done = run_and_write(
        load_checked(REPOSITORY / "configs" / "quickstart.yaml"), RunContext(Store()), folder=tmp_path / "run"
    )
    found, again = sb.run(REPOSITORY / "configs" / "quickstart.yaml"), sb.read(done.folder)
    for name in ("scores", "significance", "differences", "confusions"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(done.summary, name))
        pd.testing.assert_frame_equal(getattr(again, name), getattr(done.summary, name))
    assert found.notes == done.summary.notes


def test_a_frame_is_a_corpus(found: sb.Result) -> None:
    own = sb.run(corpus=sb.load("synthetic").drop(columns="group"), **HOW)
    pd.testing.assert_frame_equal(own.scores, found.scores)


def test_the_columns_of_a_frame_say_how_it_is_split() -> None:
    pages = sb.load("synthetic").assign(split=lambda frame: np.where(frame["group"] == "misc", "train", "test"))
    own = sb.run(corpus=pages, protocol="fixed-split", **HOW)
    assert set(own.scores["fold"]) == {"test", "all"}
    assert own.scores["n"].iloc[0] == (pages["split"] == "test").sum()
    dates = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(pages)) % 300, unit="D")
    dated = sb.run(corpus=pages.assign(date=dates), protocol="by-date", **HOW)
    assert set(dated.scores["fold"]) == {"newest", "all"}


def test_documents_of_several_classes_go_through_a_frame() -> None:
    stories = sb.load("synthetic", "several")
    own = sb.run(corpus=stories, protocol={"name": "k-fold", "k": 3, "stratified": False}, **HOW)
    decisions = own.predictions("mnb").set_index("document")
    truth = {row.id: tuple(sorted(row.labels)) for row in stories.itertuples()}
    assert {name: tuple(sorted(row)) for name, row in decisions["truth"].items()} == truth


def test_predictions_agree_with_scores(found: sb.Result) -> None:
    for cell in ("ngd", "mnb"):
        decisions = found.predictions(cell)
        whole = found.scores.query("cell == @cell and metric == 'accuracy' and fold == 'all'")
        right = (decisions["truth"] == decisions["given"]).groupby(decisions["split"]).mean().mean()
        assert right == pytest.approx(whole["value"].iloc[0])
        assert decisions["tied"].sum() == whole["ties"].iloc[0]


def test_tests_are_numbers(found: sb.Result) -> None:
    tests = found.tests("ngd", "mnb").set_index("test")
    one, other = (found.predictions(name).set_index("document") for name in ("ngd", "mnb"))
    right = [each["truth"] == each["given"] for each in (one, other.loc[one.index])]
    assert tests.loc["sign", "n"] == (right[0] != right[1]).sum()
    assert 0 <= tests.loc["sign", "p_value"] <= 1
    pd.testing.assert_series_equal(found.tests("mnb", "ngd")["p_value"], found.tests("ngd", "mnb")["p_value"])


def test_figures_are_altairs_and_show_the_scores(found: sb.Result) -> None:
    chart = found.figure()
    assert isinstance(chart, alt.TopLevelMixin)
    datasets = chart.to_dict()["datasets"].values()
    shown = {row["cell"]: row["value"] for rows in datasets for row in rows if "what" in row}
    whole = found.scores.query("fold == 'all' and metric == 'accuracy'")
    assert shown == pytest.approx(dict(zip(whole["cell"], 100 * whole["value"], strict=True)))
    with pytest.raises(ConfigError, match="unknown figure"):
        found.figure("figure-9")


def test_a_notebook_shows_the_scores(found: sb.Result) -> None:
    html = found._repr_html_()
    assert {"ngd", "mnb", "accuracy"} <= set(re.findall(r"[\w-]+", html))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({}, "takes either a configuration file"),
        ({"corpus": "webkb ", "methods": ["mnb"]}, "unknown corpus"),
        ({"corpus": pd.DataFrame({"body": ["x"]}), "methods": ["mnb"]}, "no column 'text'"),
        ({"corpus": "synthetic", "methods": ["mmb"]}, "did you mean 'mnb'"),
    ],
)
def test_what_can_not_be_run_is_said(how: dict[str, object], said: str) -> None:
    with pytest.raises(BenchError, match=said):
        sb.run(**how)


def test_cells_that_are_not_there_are_refused(found: sb.Result) -> None:
    for call in (found.predictions, lambda cell: found.tests(cell, "mnb")):
        with pytest.raises(ConfigError, match="unknown cell 'nbm'"):
            call("nbm")


def test_what_is_at_hand_is_listed_and_nothing_else() -> None:
    assert {"run", "read", "load", "Result"} <= set(dir(sb))
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        _ = sb.runn
