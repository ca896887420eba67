"""Parts of kept models: what they say of their training, probabilities, telling terms, texts, and files beside them."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.special import expit

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.store import Store
from benchmark.model.estimator import TextClassifier
from benchmark.model.fitting import fit_model
from benchmark.model.kept_plugins import write_plugins
from benchmark.model.persistence import DESCRIPTION_FILE, read_model, write_model
from benchmark.model.probabilities import class_probabilities
from benchmark.model.telling_terms import telling_terms
from benchmark.model.text_model import TextPredictions, TextView
from benchmark.system.checks import digest_without_itself
from benchmark.system.errors import DataError
from benchmark.text.lexer import Lexing
from tests.model.studies import study_of, words_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Fit = Callable[..., Any]

LINEAR = {"name": "linear", "weighting": "tfidf", "normalization": "l2", "classifier": "linear-svm"}


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


# Texts


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


def test_terms_speak_in_the_order_of_their_drops_up_to_a_number() -> None:
    values, without = np.array([[3.0, 1.0]]), np.array([[2.0, 1.0], [0.5, 1.0], [2.0, 1.0], [1.5, 1.0]])
    assert telling_terms("abcd", values, without, [0], 3, multilabel=False) == {0: ["b", "d", "a"]}
    assert telling_terms("abcd", values, without, [1, 0], 1, multilabel=True) == {1: [], 0: ["b"]}


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
