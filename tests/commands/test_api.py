"""The package's own door gives what the command line gives, as frames and figures."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import benchmark as sb
from benchmark.system.errors import BenchError, ConfigError, DataError
from benchmark.system.row_blocks import n_processors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.shapes import ShapedRun

REPOSITORY = Path(__file__).parents[2]
HOW: dict[str, Any] = {"methods": ["ngd", "mnb"], "text": {"stoplist": "none", "digits": "drop", "min_documents": 1}}
SAME = pd.DataFrame({"text": ["the same <b> words"] * 60, "label": ["u", "v", "u"] * 20})


@pytest.fixture(scope="module", autouse=True)
def _own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("BENCH_CACHE", str(tmp_path_factory.mktemp("store")))
        yield


@pytest.fixture(scope="module")
def found() -> sb.Result:
    return sb.run(corpus="synthetic", **HOW)


def texts(n: int = 60) -> pd.DataFrame:
    """Texts of two classes in columns whose names say nothing."""
    rows = [(f"{('alpha', 'gamma')[i % 2]} word{i % 7}", "ab"[i % 2], f"d{i}", f"g{i % 6}") for i in range(n)]
    return pd.DataFrame(rows, columns=["body", "kind", "key", "owner"])


NAMED: dict[str, Any] = {"text": "body", "label": "kind", "id": "key", "methods": ["mnb"]}


def test_a_run_has_the_numbers_of_the_command_line(
    shaped: Callable[[str], ShapedRun], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, lines = shaped("table"), list[str]()
    ran = sb.run(done.config, progress=lines.append)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "runs").symlink_to(done.folder.parent)
    for read in (sb.read(done.folder), sb.read("run")):
        for name in ("scores", "significance", "differences", "confusions"):
            pd.testing.assert_frame_equal(getattr(ran, name), getattr(read, name))
        assert ran.notes == read.notes
    assert re.fullmatch(r"\d+ of \d+ steps: .*", lines[-1])
    with pytest.raises(BenchError, match="no run of this name in results/runs; did you mean 'run'"):
        sb.read("runn")


class TestFrames:
    def test_are_corpora_whose_columns_say_how_they_are_split(self, found: sb.Result) -> None:
        pages = sb.load("synthetic")
        pd.testing.assert_frame_equal(sb.run(corpus=pages.drop(columns="group"), **HOW).scores, found.scores)
        parts = pages.assign(split=np.where(pages["group"] == "misc", "train", "test"))
        own = sb.run(corpus=parts, protocol="fixed-split", **HOW)
        assert (set(own.scores["fold"]), own.scores["n"].iloc[0]) == ({"test", "all"}, (parts["split"] == "test").sum())
        stories = sb.load("synthetic", "several")
        several = sb.run(corpus=stories, protocol={"name": "k-fold", "k": 3, "stratified": False}, **HOW)
        truth = several.predictions("mnb").set_index("document")["truth"]
        expected = {row.id: tuple(sorted(row.labels)) for row in stories.itertuples()}
        assert {name: tuple(sorted(row)) for name, row in truth.items()} == expected

    def test_have_columns_that_are_named_or_called_as_their_role(self) -> None:
        frame = texts()
        decisions = sb.run(corpus=frame, **NAMED).predictions("mnb")
        assert list(decisions) == ["document", "split", "truth", "predicted", "tied"]
        assert decisions.set_index("document")["truth"].to_dict() == frame.set_index("key")["kind"].to_dict()
        raw = sb.run(
            corpus=frame.rename(columns={"body": "text", "kind": "label"}), methods=["mnb"]
        ).findings.experiment.raw
        assert raw["corpus"] == {"name": "files", "path": "frame.jsonl", "text": "text", "label": "label"}

    def test_get_what_bench_init_proposes_unless_something_is_passed(self) -> None:
        """Keys of `text` and `defaults` one by one; other sections as a whole."""

        def raw(**how: Any) -> Any:
            return sb.run(
                **{"corpus": texts(), "text": "body", "label": "kind", "id": "key"} | how
            ).findings.experiment.raw

        proposed, own = raw(), raw(methods=["mnb"])
        assert proposed["compare"]
        assert "compare" not in own
        assert own["text"] == proposed["text"]
        changed = raw(corpus=texts().rename(columns={"body": "text"}), text={"min_documents": 3})
        assert changed["text"] == proposed["text"] | {"min_documents": 3}
        parts = texts().assign(split=lambda each: np.where(np.arange(len(each)) % 3, "train", "test"))
        assert raw(corpus=parts, methods=["mnb"])["text"]["vocabulary_from"] == "train"
        folds = raw(corpus=parts, methods=["mnb"], protocol={"name": "k-fold", "k": 2})
        assert "vocabulary_from" not in folds["text"]
        assert raw(text=("body", "owner"), methods=["mnb"])["corpus"]["text"] == ["body", "owner"]

    def test_with_an_error_name_their_row(self) -> None:
        frame = texts().assign(kind=lambda each: each["kind"].where(each.index != 4))
        said = r"^the frame: 1 document without a class; .* \(the first: the frame, row 5\)"
        with pytest.raises(DataError, match=said):
            sb.run(corpus=frame, **NAMED)


class TestResult:
    def test_has_predictions_and_tests_that_agree_with_the_scores(self, found: sb.Result) -> None:
        right = {}
        for cell in ("ngd", "mnb"):
            decisions = found.predictions(cell).set_index("document")
            whole = found.scores.query("cell == @cell and metric == 'accuracy' and fold == 'all'")
            right[cell] = decisions["truth"] == decisions["predicted"]
            assert right[cell].groupby(decisions["split"]).mean().mean() == pytest.approx(whole["value"].iloc[0])
            assert decisions["tied"].sum() == whole["ties"].iloc[0]
        tests = found.tests("ngd", "mnb").set_index("test")
        assert tests.loc["sign", "n"] == (right["ngd"] != right["mnb"].loc[right["ngd"].index]).sum()
        assert 0 <= tests.loc["sign", "p_value"] <= 1
        for call in (found.predictions, lambda cell: found.tests(cell, "mnb")):
            with pytest.raises(ConfigError, match="unknown cell 'nbm'"):
                call("nbm")
        apart = sb.run(corpus="synthetic", methods=["mnb"], tasks=[["student", "course"], ["student", "faculty"]])
        with pytest.raises(ConfigError, match="there is nothing to pair"):
            apart.tests(*apart.findings.experiment.ids)

    def test_has_figures_that_show_the_scores_and_need_no_network(self, found: sb.Result) -> None:
        chart = found.figure()
        datasets = chart.to_dict()["datasets"].values()
        shown = {row["cell"]: row["value"] for rows in datasets for row in rows if "what" in row}
        whole = found.scores.query("fold == 'all' and metric == 'accuracy'")
        assert shown == pytest.approx(dict(zip(whole["cell"], 100 * whole["value"], strict=True)))
        assert ">mine</text>" in chart.properties(title="mine")._repr_mimebundle_()["image/svg+xml"]
        html = found._repr_html_()
        (address,) = re.findall(r'<img alt="[^"]+" src="data:image/svg\+xml;base64,([^"]+)">', html)
        assert base64.b64decode(address).strip().endswith(b"</svg>")
        with pytest.raises(ConfigError, match=r"unknown figure 'figure-9'.*figure"):
            found.figure("figure-9")

    def test_is_a_short_text(self, found: sb.Result) -> None:
        best = found.scores.query("fold == 'all' and metric == 'accuracy' and cell == 'ngd'")["value"].iloc[0]
        assert f"{100 * best:.2f}" in repr(found)
        many = [{"name": f"m{i}", "classifier": {"name": "mnb", "smoothing": float(i + 1)}} for i in range(25)]
        shown = repr(sb.run(corpus="synthetic", methods=many))
        assert ("m9" in shown, "m12" in shown) == (True, False)

    def test_names_the_cells_that_failed(self) -> None:
        many = {"name": "sklearn.neighbors.KNeighborsClassifier", "n_neighbors": 1000}
        with pytest.warns(UserWarning, match="nearest failed: "):
            failed = sb.run(corpus=SAME, methods=[{"name": "nearest", "weighting": "tf", "classifier": many}])
        assert list(failed.failures) == ["nearest"]
        with pytest.raises(ConfigError, match="the cell 'nearest' has no predictions: "):
            failed.predictions("nearest")


def test_numbers_and_lists_may_be_numpys() -> None:
    C = np.logspace(-1, 1, 3)
    methods = ({"weighting": "tfidf", "classifier": {"name": "linear-svm", "C": C}},)
    done = sb.run(corpus=SAME, methods=methods, seed=np.int64(3), tasks=pd.Series([["u", "v"]]))
    assert done.findings.experiment.raw["methods"][0]["classifier"]["C"] == C.tolist()


def test_a_model_is_fitted_as_is_asked(tmp_path: Path) -> None:
    config = tmp_path / "mine.yaml"
    config.write_text(
        "name: mine\ncorpus: {name: synthetic, classes: [student, course]}\ntext: {min_occurrences: 50}\n"
        "protocol: {name: leave-one-group-out, held_out: [texas]}\nmethods: [mnb]\n"
    )
    out, documents, lines = tmp_path / "model", sb.load("synthetic")["text"][:5], list[str]()
    model = sb.fit(config, out=out, split="texas", probability=True, jobs=3, progress=lines.append)
    assert (model.jobs, model.about["trained_on"], bool(lines)) == (3, "texas", True)
    assert model.predict_proba(documents).shape == (5, 2)
    assert list(sb.load_model(out, jobs=2).predict(documents)) == list(model.predict(documents))
    with pytest.raises(ConfigError, match="is not empty"):
        sb.fit(config, out=str(out))
    whole = sb.fit(config, out=str(out), overwrite=True)
    assert (whole.jobs, whole.about["trained_on"]) == (n_processors(), "all documents")
    with pytest.raises(ConfigError, match="--split: unknown split 'texsa'"):
        sb.fit(config, split="texsa")
    with pytest.raises(ConfigError, match=r"such as cell='ngd' \(ngd, mnb\)"):
        sb.fit(corpus="synthetic", methods=["ngd", "mnb"])
    assert sb.fit(corpus="synthetic", methods=["ngd", "mnb"], cell="mnb").about["cell"] == "mnb"


def test_what_can_not_be_run_is_refused() -> None:
    with pytest.raises(BenchError, match="name either a configuration file or its sections"):
        sb.run()
    with pytest.raises(BenchError, match="did you mean 'mnb'"):
        sb.run(corpus="synthetic", methods=["mmb"])


def test_a_corpus_is_loaded_as_a_frame_and_downloaded_if_that_is_allowed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    frame, several = sb.load("synthetic"), sb.load("synthetic", subset="several")
    assert list(frame) == ["id", "text", "label", "group"]
    assert all(name.startswith(f"{label}/") for name, label in zip(frame["id"], frame["label"], strict=True))
    assert all(f"/{group}/" in name for name, group in zip(frame["id"], frame["group"], strict=True))
    assert (list(several)[2], several["labels"].map(len).max() > 1) == ("labels", True)
    with pytest.raises(ConfigError, match="sevral"):
        sb.load("synthetic", "sevral")
    monkeypatch.setattr("benchmark.corpora.registry.search_folders", lambda: [tmp_path])

    def fetched(*_: Any, **__: Any) -> None:
        raise DataError("a download was tried")

    monkeypatch.setattr("benchmark.corpora.download.download_archive", fetched)
    for call in (sb.run, sb.fit):
        for download in (False, True):
            with pytest.raises(DataError) as caught:
                call(corpus="webkb", methods=["mnb"], download=download)
            assert ("a download was tried" in str(caught.value)) == download


def test_names_are_listed() -> None:
    assert dir(sb) == sorted([*sb.__all__, "__version__"])
    assert all(getattr(sb, name) is not None for name in dir(sb))
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        _ = sb.runn
