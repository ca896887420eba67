"""Parts of kept models: what they say of their training, probabilities, telling terms, texts, and files beside them."""

from __future__ import annotations

import json
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from benchmark.config.collection import outline_documents
from benchmark.corpora.corpus import FieldedText
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.store import Store
from benchmark.methods.wrappers.out_of_fold import INNER_FOLDS
from benchmark.model.estimator import TextClassifier, _bytes
from benchmark.model.fitting import fit_model
from benchmark.model.kept_plugins import named_modules, write_plugins
from benchmark.model.persistence import DESCRIPTION_FILE, check_model_folder_free, read_model, write_model
from benchmark.model.probabilities import class_probabilities, fit_sigmoids
from benchmark.model.telling_terms import telling_terms, without_each_term
from benchmark.model.text_model import TextPredictions, TextView, _batches
from benchmark.plugins.loader import load_plugin
from benchmark.system.checks import digest_without_itself
from benchmark.system.errors import ConfigError, DataError
from benchmark.text.lexer import Lexing
from tests.builders import Notebook
from tests.model.studies import study_of, words_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Fit = Callable[..., Any]

LINEAR = {"name": "linear", "weighting": "tfidf", "normalization": "l2", "classifier": "linear-svm"}
ROOTS = {"name": "roots", "features": "hellinger", "normalization": "l1", "classifier": "linear-svm"}
BOTH = {"fuse": ["linear", "roots"], "name": "both"}


def test_a_model_says_what_it_was_trained_on(store: Store) -> None:
    experiment = study_of(LINEAR, "mnb")
    model = fit_model(experiment, "linear", RunContext(store), split="texas")
    n = model.about["documents"]
    assert model.about == {
        "name": "small",
        "config": experiment.raw,
        "cell": "linear",
        "trained_on": "texas",
        "documents": n,
        "content_digest": model.about["content_digest"],
        "chosen": None,
        "text": ["text"],
        "reading": None,
    }
    assert len(model.about["content_digest"]) == 64
    assert repr(model) == f"<TextModel of linear: {n} documents, 3 classes>"
    one, other = [word for word in words_of(model) if word.isalpha()][:2]
    ((_, answers),) = model.answers([("a", f"Subject: x\n\n{one} {one} {other} zzzz".encode()), ("b", b"\n\nzzzz")])
    assert answers.known is not None
    assert answers.known.tolist() == [2, 0], "terms, however often they occur"
    assert (model.n_terms, model.term_separator) == (len(words_of(model)), " ")


def mine(folder: Path, corpus: str, text: str = "") -> Any:
    rows = [
        {"head": "mast" if n % 3 else "sail", "body": f"{'alpha beta' if n % 2 else 'gamma'} ship", "kind": "ab"[n % 2]}
        for n in range(30)
    ]
    (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "mine.yaml").write_text(
        f"name: mine\ncorpus: {{name: files, path: mine.jsonl, label: kind, {corpus}}}\n"
        f"text: {{stoplist: none, {text}}}\nprotocol: {{name: k-fold, k: 3}}\nmethods: [mnb]\n"
    )
    return load_checked(folder / "mine.yaml")


@pytest.mark.parametrize(
    ("corpus", "text", "columns"),
    [
        ("text: body", "", ["body"]),
        ("text: [head, body]", "", ["head", "body"]),
        ("text: [head, body]", "fields: [all, head]", ["head", "body"]),
    ],
)
def test_the_columns_of_the_text_are_those_of_the_file(
    corpus: str, text: str, columns: list[str], store: Store, tmp_path: Path
) -> None:
    model = fit_model(mine(tmp_path, corpus, text), "mnb", RunContext(store))
    assert model.about["text"] == columns
    expected = {"encoding": "utf-8", "delimiter": None, "quoting": "double", "escape": None, "header": True, "id": None}
    assert model.about["reading"] == expected


@pytest.mark.parametrize(
    ("cell", "probability", "steps"), [("linear", False, 1), ("linear", True, 1 + INNER_FOLDS), ("both", True, 1)]
)
def test_as_many_steps_are_done_as_were_planned(cell: str, probability: bool, steps: int, store: Store) -> None:
    seen = Notebook()
    fit_model(study_of(LINEAR, ROOTS, BOTH), cell, RunContext(store, seen), probability=probability)
    assert (seen.planned, len(seen.steps), len(seen.notes)) == (steps, steps, 0)


def test_what_is_refused_is_named_with_its_cell(store: Store, tmp_path: Path) -> None:
    experiment = mine(tmp_path, "text: body")
    with pytest.raises(ConfigError, match="--cell: unknown cell 'mnbb'; did you mean 'mnb'"):
        fit_model(experiment, "mnbb", RunContext(store))
    with pytest.raises(ConfigError, match=r"--split: unknown split 'fold-9'.*\(allowed: fold-1, fold-2, fold-3\)"):
        fit_model(experiment, "mnb", RunContext(store), split="fold-9")


def test_a_model_of_selected_terms_has_as_many(fitted: Fit) -> None:
    experiment = study_of("mnb", terms={"number": [30, 60]})
    for cell, n in zip(experiment.ids, (30, 60), strict=True):
        model = fitted(experiment, cell)
        assert (len(words_of(model)), model.about["chosen"]) == (n, None)


def test_a_split_is_found_by_its_whole_name(fitted: Fit) -> None:
    experiment = study_of("mnb", protocol={"name": "k-fold", "k": 11})
    documents = outline_documents(experiment.variants["base"].collection)
    names = [split.name for split in experiment.variants["base"].protocol.build().splits(documents)]
    (longer,) = [name for name in names if name.endswith("11")]
    for name in (names[0], longer):
        assert fitted(experiment, split=name).about["trained_on"] == name


@pytest.mark.parametrize(
    ("names", "overwrite", "said"),
    [
        ([], False, ""),
        (["model.json", "model.skops"], False, "holds a model already"),
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


# Texts


def test_texts_are_bytes_strings_or_fields() -> None:
    assert _bytes("é") == "é".encode()
    assert _bytes("\ud800") == b"?"
    assert _bytes(b"\xff") == b"\xff"
    found = _bytes({"head": "é", "body": b"b"})
    assert isinstance(found, FieldedText)
    assert found == "é\nb".encode()
    assert found.fields == {"head": "é".encode(), "body": b"b"}


def test_batches_are_cut_by_number_and_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    def sizes(*lengths: int) -> list[int]:
        return [len(batch) for batch in _batches((str(n), b"x" * n) for n in lengths)]

    monkeypatch.setattr("benchmark.model.text_model.PREDICTION_BATCH", 3)
    monkeypatch.setattr("benchmark.model.text_model.TEXT_CHUNK_BYTES", 10)
    assert sizes() == []
    assert sizes(1, 1, 1, 1) == [3, 1]
    assert sizes(1, 1, 1) == [3]
    assert sizes(10, 1, 9, 4, 5, 1) == [1, 2, 3]
    assert sizes(4, 4, 50) == [3]


@pytest.mark.parametrize(
    ("lexing", "separator"),
    [({}, " "), ({"ngrams": (1, 2)}, ", "), ({"characters": (3, 4)}, ", "), ({"ngrams": (2,)}, ", ")],
)
def test_terms_that_may_have_spaces_are_told_apart(lexing: dict[str, Any], separator: str) -> None:
    assert TextView(Lexing(**lexing), ("x", "y z")).term_separator == separator


@pytest.mark.parametrize(
    ("header", "html", "expected"),
    [
        (False, False, "Subject: x\n\nan <b>old</b> ship"),
        (True, False, "an <b>old</b> ship"),
        (False, True, "Subject: x\n\nan  old  ship"),
        (True, True, "an  old  ship"),
    ],
)
def test_a_pipeline_reads_texts_without_what_is_skipped(header: bool, html: bool, expected: str) -> None:
    view = TextView(Lexing(skip_header=header, skip_html=html), None)
    (found,) = view.inputs([b"Subject: x\n\nan <b>old</b> ship"])
    assert found.split() == expected.split()


# The estimator


@pytest.mark.parametrize("text", ["a text", b"a text"])
@pytest.mark.parametrize("ask", ["predict", "decision_function", "predict_proba"])
def test_a_text_alone_is_no_sequence_of_texts(text: Any, ask: str) -> None:
    model: Any = SimpleNamespace(multilabel=False, has_probabilities=True, classes=("a", "b"))
    with pytest.raises(TypeError, match=r"^X must be a sequence of texts, not a text$"):
        getattr(TextClassifier(model), ask)(text)


class Fixed:
    """Model that answers with fixed values, in two batches."""

    classes = ("b", "c", "a")

    def __init__(self, k: int, *, multilabel: bool) -> None:
        self.classes = self.classes[:k]
        self.multilabel, self.has_probabilities = multilabel, True
        rng = np.random.default_rng(k)
        self.values, self.probabilities = rng.normal(size=(5, k)), rng.random((5, k))
        self.predicted = self.values > 0 if multilabel else self.values.argmax(axis=1).astype(np.int32)
        self.jobs: list[int] = []

    def answers(self, documents: Any, *, jobs: int) -> Any:
        assert len(list(documents)) == 5
        self.jobs.append(jobs)
        for part in (slice(0, 2), slice(2, 5)):
            yield (), TextPredictions(self.predicted[part], self.values[part], self.probabilities[part], None, ())


@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_columns_are_in_the_order_of_the_sorted_classes(k: int, multilabel: bool) -> None:
    fixed: Any = Fixed(k, multilabel=multilabel)
    model, texts = TextClassifier(fixed, jobs=3), list("vwxyz")
    order = sorted(range(k), key=lambda place: fixed.classes[place])
    assert model.classes_.tolist() == sorted(fixed.classes)
    np.testing.assert_array_equal(model.predict_proba(texts), fixed.probabilities[:, order])
    values = fixed.values[:, order]
    one = k == 2 and not multilabel
    np.testing.assert_array_equal(model.decision_function(texts), values[:, 1] - values[:, 0] if one else values)
    expected = fixed.predicted[:, order] if multilabel else np.array(fixed.classes)[fixed.predicted]
    np.testing.assert_array_equal(model.predict(texts), expected)
    assert fixed.jobs == [3, 3, 3]


# Probabilities and telling terms


def learned(k: int, columns: Any = None, everywhere: Any = None) -> Any:
    """Classes as a trained method has them; several for a document where the learned ones are given."""
    return SimpleNamespace(
        multilabel=columns is not None,
        columns=np.arange(k) if columns is None else np.array(columns),
        everywhere=np.zeros(k, dtype=bool) if everywhere is None else np.array(everywhere),
    )


def test_probabilities_are_normalized_sigmoids() -> None:
    values, sigmoids = np.array([[1.0, 0.0, -2.0]]), np.array([[-1.0, 0.5], [-2.0, 0.0], [-0.5, 1.0]])
    raw = expit([1.0 - 0.5, 0.0, -1.0 - 1.0])
    np.testing.assert_allclose(class_probabilities(values, sigmoids, learned(3)), [raw / raw.sum()])
    beyond = np.array([[-1.0, 1000.0]] * 3)
    np.testing.assert_allclose(class_probabilities(values, beyond, learned(3)), [[1 / 3] * 3])
    two = class_probabilities(np.array([[1.0, 3.0]]), np.array([[-1.5, 0.5]]), learned(2))
    np.testing.assert_allclose(two, [[1 - expit(2.5), expit(2.5)]])
    several = class_probabilities(values, sigmoids[:1], learned(3, [1], [False, False, True]))
    np.testing.assert_allclose(several, [[0.0, expit(-0.5), 1.0]])


def test_sigmoids_rise_with_the_values_of_their_class() -> None:
    rng = np.random.default_rng(1)
    members = rng.random((80, 3)) < 0.5
    values = np.where(members, 1.0, -1.0) + rng.normal(size=(80, 3))
    values[:5, 0] = np.nan
    sigmoids = fit_sigmoids(values, members, learned(3, [0, 2]), ("a", "b", "c"))
    assert sigmoids.shape == (2, 2)
    assert (sigmoids[:, 0] < 0).all()
    alone = fit_sigmoids(values[5:], members[5:], learned(3, [0]), ("a", "b", "c"))
    np.testing.assert_array_equal(sigmoids[:1], alone)
    assert fit_sigmoids(values, members, learned(3, []), ("a", "b", "c")).shape == (0, 2)
    for same in (True, False):
        members[:, 2] = same
        with pytest.raises(ValueError, match=r"^the class 'c' has too few training documents for a probability$"):
            fit_sigmoids(values, members, learned(3, [0, 2]), ("a", "b", "c"))


@pytest.mark.parametrize(
    ("whole", "drop", "told"), [(0.0, 0.9e-12, False), (0.0, 1.1e-12, True), (9.0, 9e-12, False), (9.0, 2e-11, True)]
)
def test_a_drop_of_rounding_does_not_speak(whole: float, drop: float, told: bool) -> None:
    found = telling_terms("a", np.array([[whole, 0.0]]), np.array([[whole - drop, 0.0]]), [0], 3, multilabel=True)
    assert found == {0: ["a"] if told else []}


def test_terms_speak_in_the_order_of_their_drops_up_to_a_number() -> None:
    values, without = np.array([[3.0, 1.0]]), np.array([[2.0, 1.0], [0.5, 1.0], [2.0, 1.0], [1.5, 1.0]])
    assert telling_terms("abcd", values, without, [0], 3, multilabel=False) == {0: ["b", "d", "a"]}
    assert telling_terms("abcd", values, without, [1, 0], 1, multilabel=True) == {1: [], 0: ["b"]}


@pytest.mark.parametrize("n", [0, 1, 4, 5, 6, 13])
def test_each_term_is_left_out_once_in_batches(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmark.model.telling_terms.LEAVE_ONE_OUT_ROWS", 5)
    dense = np.zeros((1, 20))
    dense[0, np.arange(n) + 3] = np.arange(n) + 1
    found = [part.toarray() for part in without_each_term(sp.csr_array(dense))]
    assert [len(part) for part in found] == [min(5, n - start) for start in range(0, n, 5)]
    expected = np.repeat(dense, n, axis=0)
    expected[np.arange(n), np.arange(n) + 3] = 0
    np.testing.assert_array_equal(np.concatenate([np.empty((0, 20)), *found]), expected)


@pytest.mark.parametrize("k", [2, 3])
def test_documents_without_a_value_of_every_class_fit_no_sigmoid(k: int) -> None:
    rng, classes = np.random.default_rng(0), ("a", "b", "c")[:k]
    truth = np.arange(30) % k
    values = rng.normal(size=(30, k)) + np.eye(k)[truth]
    expected = fit_sigmoids(values, truth, learned(k), classes)
    for missing in (np.array([np.nan, *[0.5] * (k - 1)]), np.full(k, np.nan)):
        more = np.vstack([missing, values, missing])
        found = fit_sigmoids(more, np.array([0, *truth, 1]), learned(k), classes)
        np.testing.assert_allclose(found, expected)


# Plug-ins in a model's folder

PLUGIN = """\
from pathlib import Path
from sklearn.naive_bayes import MultinomialNB

SCALE = float((Path(__file__).parent / "scale.txt").read_text())


class Mine(MultinomialNB):
    reads = ("scale.txt",)


CLASSIFIERS = {"mine": Mine}
"""
CONFIG = """\
name: kept
plugins: [mine.py]
corpus: {name: synthetic}
text: {stoplist: none, min_occurrences: 100}
protocol: {name: leave-one-group-out, held_out: [cornell]}
methods: [mnb, mine]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(PLUGIN)
    (tmp_path / "scale.txt").write_text("2")
    (tmp_path / "kept.yaml").write_text(CONFIG)
    return tmp_path


def test_files_of_a_model_are_its_own_and_no_others(folder: Path) -> None:
    experiment, context = load_checked(folder / "kept.yaml"), RunContext(Store(folder / "store"))
    model, plain = (fit_model(experiment, name, context) for name in ("mine", "mnb"))
    out = folder / "model"
    (out / "plugin-7").mkdir(parents=True)
    (out / "plugin-7" / "old.py").touch()
    (out / "plugin-mine").mkdir()
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    (out / f".model.skops.{child.pid}.tmp").write_bytes(b"half")
    n_bytes = write_model(model, out)
    names = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert names == {"model.json", "model.skops", "plugin-1/mine.py", "plugin-1/scale.txt"}
    assert n_bytes == sum((out / name).stat().st_size for name in names)
    assert (out / "plugin-mine").is_dir(), "no folder of ours"
    about = json.loads((out / DESCRIPTION_FILE).read_text())
    (described,) = about["plugins"]
    assert (described["file"], sorted(described["files"])) == ("mine.py", ["mine.py", "scale.txt"])
    about["plugins"][0]["file"] = "other.py"
    about["digest"] = digest_without_itself(about)
    (out / DESCRIPTION_FILE).write_text(json.dumps(about))
    with pytest.raises(DataError, match=r"plugin-1/other\.py: is missing; fit it again"):
        read_model(out)
    write_model(plain, out)
    assert not (out / "plugin-1").exists()
    assert read_model(out).plugins == ()
    assert write_plugins([], [], out) == ([], 0)


def test_modules_have_their_old_names_while_a_model_is_read(folder: Path) -> None:
    plugin = load_plugin(folder / "mine.py")
    before = ModuleType("taken")
    sys.modules["taken"] = before
    try:
        with named_modules([plugin], ["taken"]):
            assert sys.modules["taken"] is plugin.module
        assert sys.modules["taken"] is before
    finally:
        del sys.modules["taken"]
    with named_modules([plugin], ["free"]):
        assert sys.modules["free"] is plugin.module
    assert "free" not in sys.modules
    with named_modules([plugin], [""]):
        assert "" not in sys.modules
