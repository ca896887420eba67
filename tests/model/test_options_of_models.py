"""Options that go together, parts that are told of, and what a model's code does at its edges."""

from __future__ import annotations

import hashlib
import io
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV

import benchmark
from benchmark.classifiers import LinearSvm
from benchmark.evaluation.protocols import KFold
from benchmark.evaluation.splits import Split
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.methods.out_of_fold import INNER_FOLDS
from benchmark.model import fitting, prediction_io
from benchmark.model.fusion_model import FusionModel
from benchmark.model.persistence import (
    DESCRIPTION_FILE,
    _same_classes,
    check_model_folder_free,
    read_model,
    write_model,
)
from benchmark.model.pipeline_model import PipelineModel
from benchmark.model.prediction_io import STANDARD_INPUT, PredictionCount, RecordColumns, read_texts
from benchmark.model.probabilities import fit_sigmoids
from benchmark.model.schema import check_classifier_kind
from benchmark.representation import TermWeighting
from benchmark.system.errors import ConfigError, DataError
from benchmark.text.lexer import Lexing
from tests.model.studies import study_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.experiment.store import Store

    Fit = Callable[..., Any]

WORDS = {"name": "words", "weighting": "tf", "normalization": "l2", "classifier": "linear-svm"}
ROOTS = {"name": "roots", "features": "hellinger", "normalization": "l1", "classifier": "linear-svm"}
BOTH = {"fuse": ["words", "roots"], "name": "both"}
LISTS = {"fuse": [["words", "roots"], ["roots", "words"]], "name": "both"}


@pytest.mark.parametrize("split", [None, "cornell", "texas"])
def test_probabilities_are_of_the_training_documents_of_the_split(split: str | None, fitted: Fit, store: Store) -> None:
    protocol = {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]}
    experiment = study_of(WORDS, protocol=protocol)
    counts, _, _ = read_counts(experiment.variants["base"].collection, RunContext(store))
    documents = counts.documents
    rows = np.arange(len(documents))
    if split is not None:
        rows = np.flatnonzero(np.array(documents.part_names)[documents.parts] != split)
        assert 0 < len(rows) < len(documents)
    own = documents.take(rows)
    points = TermWeighting(normalization="l2").fit_transform(counts.matrix)[rows]
    folds = [(fold.train, fold.test) for fold in KFold(INNER_FOLDS, experiment.seed).splits(own)]
    theirs = CalibratedClassifierCV(LinearSvm(), cv=folds, ensemble=False).fit(points, own.labels)
    model = fitted(experiment, split=split, probability=True)
    texts = texts_of(None)
    ((_, answers),) = model.answers([(name, texts[name]) for name in own.ids])
    np.testing.assert_allclose(answers.probabilities, theirs.predict_proba(points), atol=1e-9)


@pytest.mark.parametrize("cell", ["words", "both"])
def test_probabilities_and_single_precision_go_together(cell: str, fitted: Fit, tmp_path: Path) -> None:
    experiment = study_of(WORDS, ROOTS, BOTH)
    whole = fitted(experiment, cell, split="texas", probability=True)
    single = fitted(experiment, cell, split="texas", probability=True, single_precision=True)
    assert single.about == whole.about | {"precision": "single"}
    assert whole.has_probabilities
    np.testing.assert_array_equal(single.sigmoids, whole.sigmoids)
    write_model(single, tmp_path / "model")
    again = read_model(tmp_path / "model")
    assert (again.about, again.has_probabilities) == (single.about, True)
    if isinstance(single, FusionModel):
        for name, member in zip(single.names, single.members, strict=True):
            assert member.about == single.about | {"cell": name}
            assert not member.has_probabilities


def test_methods_of_a_chosen_fusion_were_not_chosen_themselves(fitted: Fit) -> None:
    experiment = study_of(WORDS, ROOTS, LISTS, choose={"by": "cross-validation", "folds": 2})
    model = fitted(experiment, "both-cv")
    assert model.about["chosen"]["of"] == 2
    for name, member in zip(model.names, model.members, strict=True):
        assert member.about == model.about | {"cell": name, "chosen": None}


def test_a_split_is_found_by_its_whole_name(fitted: Fit) -> None:
    experiment = study_of("mnb", protocol={"name": "k-fold", "k": 11})
    names = [split.name for split in experiment.variants["base"].protocol.build().splits(_documents(experiment))]
    (longer,) = [name for name in names if name.endswith("11")]
    for name in (names[0], longer):
        assert fitted(experiment, split=name).about["trained_on"] == name


def _documents(experiment: Any) -> Any:
    from benchmark.config.collection import outline_documents  # noqa: PLC0415

    return outline_documents(experiment.variants["base"].collection)


def test_each_candidate_is_tried_on_its_own_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Any, ...]] = []

    def point(name: str, loss: float) -> Any:
        method = SimpleNamespace(solve=lambda *given: seen.append(given) or [loss])
        return SimpleNamespace(problem=SimpleNamespace(name=name, multilabel=False), method=method, terms=f"of {name}")

    folds: Any = [Split("fold-1", np.arange(2), np.arange(2, 3))]
    monkeypatch.setattr(fitting, "fold_counts", lambda found, own, _: np.array([*found, len(own), 1.0]))
    monkeypatch.setattr(fitting, "tallies_from_rows", lambda rows: rows)
    monkeypatch.setattr(fitting, "losses_of_counts", lambda _, counts, **__: counts[0, :1])
    points, bench = [point("a", 0.5), point("b", 0.25), point("c", 0.75)], object()
    assert fitting._by_folds(None, points, folds, bench) == 1  # type: ignore[arg-type]
    assert [(given[0].name, given[1], given[2], given[3]) for given in seen] == [
        (name, folds, f"of {name}", bench) for name in "abc"
    ]


@pytest.mark.parametrize(
    ("columns", "everywhere", "same"),
    [
        ([0, 2], [False, True, False], True),
        ([0, 2], [False, False, False], False),
        ([0, 1], [False, True, False], False),
        ([0], [False, True, False], False),
    ],
)
def test_methods_of_a_sum_have_learned_the_same_classes(columns: Any, everywhere: Any, same: bool) -> None:
    def learned(columns: Any, everywhere: Any) -> Any:
        return SimpleNamespace(columns=np.array(columns), everywhere=np.array(everywhere))

    member: Any = SimpleNamespace(fitted=SimpleNamespace(learned=learned(columns, everywhere)))
    assert _same_classes(member, learned([0, 2], [False, True, False])) is same


@pytest.mark.parametrize("n_words", [1, 2])
def test_a_pipeline_has_no_terms_to_show(n_words: int) -> None:
    pipeline: Any = PipelineModel(("a", "b"), Lexing(), ("",), None, None, {})  # type: ignore[arg-type]
    with pytest.raises(
        ConfigError, match=r"^a pipeline reads texts by itself: it has no terms to show; leave out --top"
    ):
        pipeline.answer_batch([b"text"], n_words)


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_loaded_model_has_as_many_threads_as_are_asked_for(jobs: int, fitted: Fit, tmp_path: Path) -> None:
    write_model(fitted(study_of("mnb")), tmp_path / "model")
    assert benchmark.load_model(tmp_path / "model", jobs=jobs).jobs == jobs
    assert benchmark.load_model(str(tmp_path / "model")).jobs == 1


def test_lines_of_standard_input_are_texts_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"one \t\r\n\n  two\r\n\xff \nlast "
    monkeypatch.setattr(prediction_io.sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    found = list(read_texts([STANDARD_INPUT], RecordColumns(["text"])))
    assert found == [("1", b"one \t"), ("2", b""), ("3", b"  two"), ("4", b"\xff "), ("5", b"last ")]
    monkeypatch.setattr(prediction_io.sys, "stdin", None)
    with pytest.raises(DataError, match=r"^standard input is closed: name files of texts"):
        list(read_texts([STANDARD_INPUT], RecordColumns(["text"])))


def test_documents_with_no_known_term_are_counted_over_batches() -> None:
    count = PredictionCount()
    batches: Any = [
        (("a", "b", "c"), SimpleNamespace(known=np.array([0, 1, 2]))),
        (("d",), SimpleNamespace(known=np.array([0]))),
        (("e", "f"), SimpleNamespace(known=None)),
    ]
    assert list(count.counted(batches)) == batches
    assert (count.documents, count.unknown) == (6, 2)


@pytest.mark.parametrize(
    ("names", "overwrite", "said"),
    [
        ([], False, ""),
        (["model.json", "model.npz"], False, "holds a model already"),
        (["notes.txt"], False, "holds other files already"),
        (["notes.txt"], True, ""),
        (["model.json"], True, ""),
    ],
)
def test_a_folder_with_anything_is_not_written_to(names: list[str], overwrite: bool, said: str, tmp_path: Path) -> None:
    check_model_folder_free(tmp_path / "new", overwrite=overwrite)
    for name in names:
        (tmp_path / name).touch()
    if not said:
        check_model_folder_free(tmp_path, overwrite=overwrite)
        return
    with pytest.raises(ConfigError) as raised:
        check_model_folder_free(tmp_path, overwrite=overwrite)
    assert str(raised.value) == f"{tmp_path}: {said}; --overwrite writes over it, --out names another folder"


def test_the_description_names_all_that_a_model_is_read_by(fitted: Fit, tmp_path: Path) -> None:
    n_bytes = write_model(fitted(study_of("ngd"), probability=True), tmp_path / "model")
    about = json.loads((tmp_path / "model" / DESCRIPTION_FILE).read_text())
    keys = "format version about classes several lexing representation selects_terms kernel classifier threshold kind"
    assert [*about] == [*keys.split(), "files", "digest"]
    (file,) = about["files"]
    assert about["files"][file] == hashlib.sha256((tmp_path / "model" / file).read_bytes()).hexdigest()
    assert n_bytes == sum(path.stat().st_size for path in (tmp_path / "model").iterdir())
    assert (about["version"], about["kind"]) == (benchmark.__version__, "machines")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.23456789, 1.23456789], [1.23457, 1.23457]),
        ([1.23456789, 1.23456788], [1.23456789, 1.23456788]),
        ([1.23456789, 1.23456789, 1.23456788], [1.23456789, 1.23456789, 1.23456788]),
        ([1.23456789, None, None], [1.23457, None, None]),
        ([None, 2.0], [None, 2.0]),
        ([123456.78, 0.000123456789], [123457.0, 0.000123457]),
        ([], []),
    ],
)
def test_digits_are_left_out_unless_they_tell_values_apart(values: Any, expected: Any) -> None:
    assert prediction_io._shortened(values) == expected


@pytest.mark.parametrize("k", [2, 3])
def test_documents_without_a_value_of_every_class_fit_no_sigmoid(k: int) -> None:
    rng, classes = np.random.default_rng(0), ("a", "b", "c")[:k]
    truth = np.arange(30) % k
    values = rng.normal(size=(30, k)) + np.eye(k)[truth]
    learned: Any = SimpleNamespace(multilabel=False, columns=np.arange(k), everywhere=np.zeros(k, dtype=bool))
    expected = fit_sigmoids(values, truth, learned, classes)
    for missing in (np.array([np.nan, *[0.5] * (k - 1)]), np.full(k, np.nan)):
        more = np.vstack([missing, values, missing])
        found = fit_sigmoids(more, np.array([0, *truth, 1]), learned, classes)
        np.testing.assert_allclose(found, expected)


def test_labels_of_the_training_documents_alone_must_stay(fitted: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(fitting, "in_single_precision", lambda model, inputs: seen.append(inputs) or model)
    notes: list[str] = []
    experiment = study_of(WORDS, ROOTS, BOTH)
    for cell, n in (("words", 1), ("both", 2)):
        seen.clear()
        model = fitted(experiment, cell, split="texas", single_precision=True)
        assert [each.shape[0] for each in seen[0]] == [model.about["documents"]] * n
    assert not notes


def test_a_model_of_selected_terms_has_as_many(fitted: Fit) -> None:
    experiment = study_of("mnb", terms={"number": [30, 60]})
    for cell, n in zip(experiment.ids, (30, 60), strict=True):
        model = fitted(experiment, cell)
        assert (len(model.vocabulary), model.about["chosen"]) == (n, None)


@pytest.mark.parametrize("only", [["probability"], ["decision", "probability"], ["label", "probability"]])
def test_a_probability_is_refused_wherever_it_is_asked_for(only: list[str]) -> None:
    model: Any = SimpleNamespace(has_probabilities=False)
    with pytest.raises(ConfigError, match="--only: the model has no probability; fit it with --probability"):
        prediction_io.form_of_predictions(model, only, as_json=False, with_words=False)
    model.has_probabilities = True
    form = prediction_io.form_of_predictions(model, only, as_json=True, with_words=True)
    assert (form.parts, form.as_json, form.with_words) == (tuple(only), True, True)
    assert prediction_io.form_of_predictions(model, (), as_json=False, with_words=False).parts == (
        "decision",
        "probability",
    )
    assert prediction_io.PredictionForm() == prediction_io.PredictionForm(False, ("decision", "probability"), False)
    with pytest.raises(ConfigError, match="--only: unknown part 'labels'; did you mean 'label'"):
        prediction_io.form_of_predictions(model, ["labels"], as_json=False, with_words=False)
    assert RecordColumns.of_model({"text": ["a"]}).keep == ()


@pytest.mark.parametrize(
    ("kind", "kernel", "multilabel", "said"),
    [
        ("machines", True, False, ""),
        ("machines", False, False, "kind is 'machines', and kernel None"),
        ("points", False, False, ""),
        ("points", True, False, "kind is 'points', and kernel 'ngd'"),
        ("estimators", True, True, "kind is 'estimators', and kernel 'ngd'"),
        ("pipeline", False, True, ""),
        ("hyperplanes", True, True, ""),
        ("hyperplanes", True, False, "kind is 'hyperplanes', but several is false"),
    ],
)
def test_a_kind_goes_with_its_kernel_and_classes(kind: str, kernel: bool, multilabel: bool, said: str) -> None:
    spec: Any = SimpleNamespace(kernel=SimpleNamespace(name="ngd") if kernel else None)
    if not said:
        check_classifier_kind(kind, spec, multilabel=multilabel)
        return
    with pytest.raises(ValueError, match=f"^{said}$"):
        check_classifier_kind(kind, spec, multilabel=multilabel)
