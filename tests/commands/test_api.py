"""The package's own door gives what the command line gives, as frames and figures."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd
import pytest

import benchmark as sb
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from benchmark.report.drawing import spec
from benchmark.system.errors import BenchError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.experiment.run import RunResult

REPOSITORY = Path(__file__).parents[2]
HOW = {"methods": ["ngd", "mnb"], "text": {"stoplist": "none", "digits": "drop", "min_documents": 1}}


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


def test_a_figure_is_a_picture_that_needs_no_network(found: sb.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = found.figure().properties(title="mine")._repr_mimebundle_()
    assert ">mine</text>" in shown["image/svg+xml"]
    assert base64.b64decode(shown["image/png"]).startswith(b"\x89PNG")
    with alt.renderers.enable("json"):
        assert "application/json" in found.figure()._repr_mimebundle_()[0], "the user's renderer draws"
    monkeypatch.setattr(spec, "render_pictures", lambda _: {})
    assert "text/html" in found.figure()._repr_mimebundle_(), "Altair's own, where no picture can be drawn"


def test_a_notebook_shows_the_scores_and_a_picture(found: sb.Result) -> None:
    html = found._repr_html_()
    assert {"ngd", "mnb", "accuracy"} <= set(re.findall(r"[\w-]+", html))
    (address,) = re.findall(r'<img alt="[^"]+" src="data:image/svg\+xml;base64,([^"]+)">', html)
    assert base64.b64decode(address).strip().endswith(b"</svg>")


def test_a_result_is_a_short_text_however_many_cells_it_has(found: sb.Result) -> None:
    best = found.scores.query("fold == 'all' and metric == 'accuracy' and cell == 'ngd'")["value"].iloc[0]
    assert f"{100 * best:.2f}" in repr(found)
    many = [{"name": f"m{i}", "classifier": {"name": "mnb", "smoothing": float(i + 1)}} for i in range(25)]
    result = sb.run(corpus="synthetic", methods=many)
    assert "m19" in repr(result)
    assert "m20" not in repr(result)
    assert "… and 5 more cells" in repr(result)
    assert len(repr(result)) < 4000


def test_a_failed_cell_says_why() -> None:
    texts = pd.DataFrame({"text": ["the same words"] * 60, "label": ["u", "v", "u"] * 20})
    with pytest.warns(UserWarning, match="failed"):
        result = sb.run(corpus=texts, methods=["ngd"])
    assert set(result.failures) == {"ngd"}
    for cell, reason in result.failures.items():
        assert f"\n{cell} failed: {reason}" in repr(result)
        assert f"{cell} failed: " in result._repr_html_()


def test_numbers_and_lists_are_numpys(found: sb.Result) -> None:
    def scores(c: object, of: object = list) -> pd.DataFrame:
        methods = of([{"weighting": "tfidf", "classifier": {"name": "linear-svm", "C": c}}])
        protocol = {"name": "k-fold", "k": np.int64(3), "stratified": np.bool_(True)}
        return sb.run(corpus="synthetic", methods=methods, protocol=protocol).scores

    expected = scores([0.1, 1.0, 10.0])
    for c in (np.logspace(-1, 1, 3), (0.1, np.float64(1), 10.0), pd.Series([0.1, 1, 10])):
        pd.testing.assert_frame_equal(scores(c, tuple), expected)


def test_progress_is_told_in_lines() -> None:
    lines: list[str] = []
    sb.run(corpus="synthetic", methods=["mnb"], progress=lines.append, seed=7)
    assert re.fullmatch(r"5 of 5 steps, \d+ s: .*mnb.*", lines[-1])


def test_a_model_is_fitted_and_kept(tmp_path: Path) -> None:
    texts = sb.load("synthetic")
    model = sb.fit(corpus=texts, methods=["mnb"], out=tmp_path / "model")
    again = sb.load_model(tmp_path / "model")
    assert list(model.predict(texts["text"])) == list(again.predict(texts["text"]))
    assert (model.predict(texts["text"]) == texts["label"]).mean() > 0.8
    assert len(repr(model)) < 200
    with pytest.raises(ConfigError, match=r"exists|holds"):
        sb.fit(corpus=texts, methods=["mnb"], out=tmp_path / "model")
    with pytest.raises(ConfigError, match=r"fit trains one cell.*ngd, mnb"):
        sb.fit(corpus="synthetic", methods=["ngd", "mnb"])


def test_a_run_is_read_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finished: RunResult) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "runs").symlink_to(finished.folder.parent)
    pd.testing.assert_frame_equal(sb.read(finished.folder.name).scores, finished.summary.scores)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({}, "name either a configuration file or its sections"),
        ({"corpus": "webkb ", "methods": ["mnb"]}, "unknown corpus"),
        ({"corpus": pd.DataFrame({"body": ["x"]}), "methods": ["mnb"]}, "no column 'text'"),
        ({"corpus": "synthetic", "methods": ["mmb"]}, "did you mean 'mnb'"),
        ({"corpus": "synthetic", "methods": ["mnb"], "progress": True}, "progress=print"),
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
    assert dir(sb) == sorted([*sb.__all__, "__version__"])
    for name in dir(sb):
        assert getattr(sb, name) is not None
    assert sb.ConfigError is ConfigError
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        _ = sb.runn


@pytest.mark.slow
def test_type_checkers_know_the_names(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text("import benchmark as sb\nreveal_type(sb.run('a.yaml').scores)\nreveal_type(sb.fit)\nsb.runn\n")
    # With the options and the cache of `make types`: the package isn't checked again from nothing.
    command = [sys.executable, "-m", "mypy", str(script)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert "DataFrame" in done.stdout
    assert 'TextClassifier"' in done.stdout
    assert 'Module has no attribute "runn"' in done.stdout
    assert "1 error" in done.stdout
