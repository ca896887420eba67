"""What the Python interface makes of its arguments: columns of frames, sections, folders, threads and lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import benchmark as sb
from benchmark import api
from benchmark.evaluation.protocols import KFold
from benchmark.system.errors import ConfigError, DataError
from benchmark.system.threads import n_processors

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIG = """\
name: mine
corpus: {name: synthetic, classes: [student, course]}
text: {stoplist: none, min_occurrences: 50}
protocol: {name: leave-one-group-out, held_out: [texas]}
methods: [METHODS]
"""


@pytest.fixture(scope="module", autouse=True)
def _own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("BENCH_CACHE", str(tmp_path_factory.mktemp("store")))
        yield


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(CONFIG.replace("METHODS", "mnb"))
    return path


def texts(n: int = 60) -> pd.DataFrame:
    """Texts of two classes in columns whose names say nothing."""
    words = [("alpha beta", "a"), ("gamma delta", "b")]
    rows = [(f"{words[i % 2][0]} word{i % 7}", words[i % 2][1], f"d{i}", f"g{i % 6}") for i in range(n)]
    return pd.DataFrame(rows, columns=["body", "kind", "key", "owner"])


NAMED = {"text": "body", "label": "kind", "id": "key", "methods": ["mnb"]}


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.array([1, 2]), [1, 2]),
        (np.array([[0.5], [1.5]]), [[0.5], [1.5]]),
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        (pd.Series([3, 4]), [3, 4]),
        (pd.Index(["a", "b"]), ["a", "b"]),
        ((1, (2, np.int64(3))), [1, [2, 3]]),
        (range(3), [0, 1, 2]),
        (Path("a") / "b", "a/b"),
        ({np.str_("a"): {"b": (np.int32(1),)}}, {"a": {"b": [1]}}),
        ("text", "text"),
        (None, None),
    ],
)
def test_sections_are_made_plain(value: Any, plain: Any) -> None:
    found = api._plain(value)
    assert found == plain
    assert repr(found) == repr(plain), "of the same types"


def test_a_corpus_without_more_has_five_folds() -> None:
    experiment = sb.run(corpus="synthetic", methods=["mnb"]).findings.experiment
    protocol = experiment.variants["base"].protocol.build()
    assert experiment.name == "notebook"
    assert isinstance(protocol, KFold)
    assert protocol.k == 5
    subset = sb.run(corpus={"name": "synthetic", "classes": ["student", "course"]}, methods=["mnb"], name="mine")
    assert subset.findings.experiment.name == "mine"
    assert subset.findings.experiment.variants["base"].collection.classes == ("student", "course")


def test_columns_are_named_one_by_one_or_in_the_section() -> None:
    frame = texts()
    result = sb.run(corpus=frame, **NAMED)
    decisions = result.predictions("mnb")
    assert list(decisions) == ["document", "split", "truth", "given", "tied"]
    assert sorted(decisions["document"]) == sorted(frame["key"])
    assert dict(zip(decisions["document"], decisions["truth"], strict=True)) == dict(
        zip(frame["key"], frame["kind"], strict=True)
    )
    section = {"frame": frame, "text": "body", "label": "kind", "id": "key", "classes": ["b", "a"]}
    again = sb.run(corpus=section, methods=["mnb"])
    pd.testing.assert_frame_equal(
        again.predictions("mnb").sort_values("document", ignore_index=True),
        decisions.sort_values("document", ignore_index=True),
    )
    assert again.findings.experiment.raw["corpus"]["path"] == "frame.jsonl", "the file is gone, its folder says nothing"
    assert list(section) == ["frame", "text", "label", "id", "classes"], "what was given is left as it was"


def test_several_columns_are_one_text() -> None:
    frame = texts().assign(head=lambda each: each["body"].str.replace("word", "head"))
    for columns in (["head", "body"], ("head", "body")):
        experiment = sb.run(corpus=frame, **NAMED | {"text": columns}).findings.experiment
        assert experiment.raw["corpus"]["text"] == ["head", "body"]


def test_a_group_is_a_column_and_decides_the_protocol() -> None:
    by_group = sb.run(corpus=texts(), group="owner", **NAMED).findings
    assert by_group.experiment.raw["corpus"]["group"] == "owner"
    other = sb.run(corpus=texts(), protocol={"name": "k-fold", "k": 3}, **NAMED).findings
    assert other.experiment.variants["base"].protocol.build().k == 3
    assert len(next(iter(other.predictions.splits.values()))) == 3


def test_what_is_given_goes_over_what_is_proposed() -> None:
    """Keys of `text` and `defaults` one by one; other sections as a whole, and no comparison of methods left out."""
    proposed = sb.run(corpus=texts(), **{key: NAMED[key] for key in ("label", "id")}, text="body").findings.experiment
    assert proposed.raw["compare"]
    own = sb.run(corpus=texts(), **NAMED).findings.experiment
    assert "compare" not in own.raw
    assert own.raw["text"] == proposed.raw["text"]
    section = {"frame": texts(), "text": "body", "label": "kind", "id": "key"}
    changed = sb.run(corpus=section, methods=["mnb"], text={"min_documents": 3}).findings.experiment
    assert changed.raw["text"] == proposed.raw["text"] | {"min_documents": 3}


def test_the_vocabulary_of_a_part_is_left_out_under_another_protocol() -> None:
    frame = texts().assign(split=lambda each: np.where(np.arange(len(each)) % 3, "train", "test"))
    proposed = sb.run(corpus=frame, **NAMED).findings.experiment
    assert proposed.raw["text"]["vocabulary_from"] == "train"
    same = sb.run(corpus=frame, protocol="fixed-split", **NAMED).findings.experiment
    assert same.raw["text"]["vocabulary_from"] == "train"
    other = sb.run(corpus=frame, protocol={"name": "k-fold", "k": 2}, **NAMED).findings.experiment
    assert "vocabulary_from" not in other.raw["text"]


def test_an_error_in_a_frame_names_its_row() -> None:
    frame = texts().assign(kind=lambda each: each["kind"].where(each.index != 4))
    with pytest.raises(DataError, match=r"^the frame: 1 document without a class; .* \(the first: the frame, row 5\)"):
        sb.run(corpus=frame, **NAMED)


def test_warnings_are_of_the_line_that_called() -> None:
    same = pd.DataFrame({"text": ["the same words"] * 60, "label": ["u", "v", "u"] * 20})
    with pytest.warns(UserWarning, match="failed") as caught:
        sb.run(corpus=same, methods=["ngd", "linear", "diffusion", "linear-svm"])
    assert {Path(each.filename).name for each in caught} == {Path(__file__).name}


def test_failures_are_told_up_to_three() -> None:
    same = pd.DataFrame({"text": ["the same <b> words"] * 60, "label": ["u", "v", "u"] * 20})
    kernels = ["ngd", "linear", {"kernel": {"name": "diffusion", "t": 0.5}}, {"kernel": {"name": "rbf", "sigma": 1}}]
    with pytest.warns(UserWarning, match="failed"):
        result = sb.run(corpus=same, methods=kernels)
    assert len(result.failures) == 4
    told = [line for line in repr(result).splitlines() if " failed: " in line]
    assert told == [f"{cell} failed: {reason}" for cell, reason in list(result.failures.items())[:3]]
    first = result.findings.experiment.ids[0]
    with pytest.raises(ConfigError, match=f"the cell '{first}' has no predictions: {result.failures[first][:20]}"):
        result.predictions(first)


def test_two_cells_that_are_not_paired_are_refused() -> None:
    result = sb.run(
        corpus="synthetic",
        methods=["mnb"],
        tasks=[["student", "course"], ["student", "faculty"]],
    )
    one, other = result.findings.experiment.ids
    with pytest.raises(ConfigError, match=f"^'{one}' and '{other}' can't be paired: "):
        result.tests(one, other)


def test_figures_have_names(monkeypatch: pytest.MonkeyPatch) -> None:
    named = [{"name": "first", "y": "accuracy"}, {"name": "second", "y": "macro-f1"}]
    draws = {"name": "random-subsets", "train_size": [40, 80], "replicates": 2, "test": "texas"}
    how: dict[str, Any] = {"metrics": ["accuracy", "macro-f1"], "protocol": draws, "figures": named}
    result = sb.run(corpus="synthetic", methods=["mnb", "ngd"], **how)
    monkeypatch.setattr("benchmark.report.drawing.spec.altair_chart", str)  # seconds each; drawn in `test_api`
    figures = result.figures
    assert list(figures) == ["first", "second"]
    assert figures["first"] != figures["second"]
    for name, chart in figures.items():
        assert result.figure(name) == chart
    assert result.figure() == figures["first"]
    with pytest.raises(ConfigError, match="first, second"):
        result.figure("figure-99")


def test_a_model_is_fitted_as_is_asked(config: Path, tmp_path: Path) -> None:
    out, documents = tmp_path / "model", sb.load("synthetic")["text"][:5]
    lines: list[str] = []
    model = sb.fit(config, out=out, split="texas", probability=True, jobs=3, progress=lines.append)
    assert model.jobs == 3
    assert model.model.about["trained_on"] == "texas"
    assert model.predict_proba(documents).shape == (5, 2)
    assert lines
    with pytest.raises(ConfigError, match="holds a model already"):
        sb.fit(config, out=str(out))
    whole = sb.fit(config, out=str(out), overwrite=True)
    assert whole.jobs == n_processors()
    again = sb.load_model(out, jobs=2)
    assert again.jobs == 2
    assert again.model.about == whole.model.about
    assert whole.model.about["trained_on"] == "all documents"
    with pytest.raises(ConfigError, match="--split: unknown split 'texsa'"):
        sb.fit(config, split="texsa")


def test_the_cell_is_named_where_there_are_several(config: Path) -> None:
    config.write_text(CONFIG.replace("METHODS", "mnb, linear-svm"))
    with pytest.raises(ConfigError, match=r"such as cell='mnb' \(mnb, linear-svm\)"):
        sb.fit(config)
    assert sb.fit(config, cell="linear-svm").model.about["cell"] == "linear-svm"


def test_a_run_here_goes_before_one_of_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results" / "runs" / "mine").mkdir(parents=True)
    with pytest.raises(sb.BenchError, match=r"results/runs/mine"):
        sb.read("mine")
    (tmp_path / "mine").mkdir()
    with pytest.raises(sb.BenchError) as caught:
        sb.read("mine")
    assert "results" not in str(caught.value)
    with pytest.raises(sb.BenchError) as caught:
        sb.read("other")
    assert "results" not in str(caught.value)


def test_a_corpus_is_a_frame_of_its_documents() -> None:
    frame = sb.load("synthetic")
    assert list(frame) == ["id", "text", "label", "group"]
    assert all(name.startswith(f"{label}/") for name, label in zip(frame["id"], frame["label"], strict=True))
    assert all(f"/{group}/" in name for name, group in zip(frame["id"], frame["group"], strict=True))
    several = sb.load("synthetic", subset="several")
    assert list(several) == ["id", "text", "labels", "group"]
    assert several["labels"].map(len).max() > 1
    with pytest.raises(ConfigError, match="sevral"):
        sb.load("synthetic", "sevral")


def test_without_a_download_a_corpus_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("benchmark.corpora.registry.search_folders", lambda: [tmp_path])

    def fetched(*_: Any, **__: Any) -> None:
        raise DataError("a download was tried")

    monkeypatch.setattr("benchmark.corpora.download.download_archive", fetched)
    for call in (sb.run, sb.fit):
        for download, tried in ((False, False), (True, True)):
            with pytest.raises(DataError) as caught:
                call(corpus="webkb", methods=["mnb"], download=download)
            assert ("a download was tried" in str(caught.value)) == tried


def test_other_processes_are_asked_for_by_the_section() -> None:
    """None at all; and a scheduler that isn't there."""
    alone = sb.run(corpus="synthetic", methods=["mnb"], seed=3, parallel={"n_jobs": 0})
    assert not alone.failures
    with pytest.raises(sb.BenchError, match="no Dask scheduler answers at"):
        sb.run(corpus="synthetic", methods=["mnb"], seed=4, parallel={"dask_address": "nonsense://x"})


@pytest.mark.parametrize("role", ["id", "group", "date", "split", "drop", "separator", "format"])
def test_columns_and_options_of_a_frame_may_stand_beside_its_sections(
    monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    """They mean the same as in the section `corpus`."""
    frame = texts().assign(
        when=[f"2024-01-{1 + i % 28:02}" for i in range(60)], side=["train" if i % 3 else "test" for i in range(60)]
    )
    value = {
        "id": "key",
        "group": "owner",
        "date": "when",
        "split": "side",
        "drop": ["rare"],
        "separator": ";",
        "format": "html",
    }[role]
    label = {"labels": "kind"} if role == "separator" else {"label": "kind"}
    monkeypatch.setattr(api.runner, "run_experiment", lambda experiment, _: experiment)
    monkeypatch.setattr(api, "summarize", lambda _: None)
    beside: Any = sb.run(corpus=frame, text="body", methods=["mnb"], **label, **{role: value}).findings
    section = {"frame": frame, "text": "body", **label, role: value}
    within: Any = sb.run(corpus=section, methods=["mnb"]).findings
    assert beside.raw == within.raw
    assert beside.raw["corpus"][role] == value
