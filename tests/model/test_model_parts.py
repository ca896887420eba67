"""Parts of kept models: probabilities, telling terms, sums of models, pipelines, and the plug-ins in their folders."""

from __future__ import annotations

import json
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.special import expit

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.store import Store
from benchmark.model.fitting import fit_model
from benchmark.model.fusion_model import FusionModel
from benchmark.model.kept_plugins import named_modules, write_plugins
from benchmark.model.persistence import DESCRIPTION_FILE, read_model, write_model
from benchmark.model.pipeline_model import PipelineModel
from benchmark.model.probabilities import class_probabilities, fit_sigmoids
from benchmark.model.telling_terms import telling_terms
from benchmark.model.text_model import TextModel
from benchmark.plugins.loader import load_plugin
from benchmark.system.checks import digest_without_itself
from benchmark.system.errors import ConfigError, DataError
from benchmark.text.lexer import Lexing

if TYPE_CHECKING:
    from pathlib import Path


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


def member(*terms: str, separator: str = " ", reads_texts: bool = False) -> Any:
    return SimpleNamespace(
        n_terms=None if reads_texts else len(terms), vocabulary=terms, term_separator=separator, plugins=(terms[:1])
    )


def fusion(*members: Any) -> FusionModel:
    rule: Any = SimpleNamespace(multilabel=False)
    return FusionModel(("a", "b"), ("x",) * len(members), members, rule, None, {"cell": "both", "documents": 1200})


def test_a_sum_knows_the_terms_of_all_its_methods() -> None:
    model = fusion(member("a", "b"), member("b", "c d", separator=", "))
    assert (model.n_terms, model.term_separator, model.has_probabilities, model.multilabel) == (3, ", ", False, False)
    assert model.plugins == ("a", "b")
    assert fusion(member("a"), member("a")).plugins == ("a",)
    assert fusion(member("a"), member("b")).term_separator == " "
    assert repr(model) == "<FusionModel of both: 1,200 documents, 2 classes>"
    mixed = fusion(member("a"), member("", reads_texts=True))
    assert mixed.n_terms is None
    with pytest.raises(ConfigError, match="it has no terms to show; leave out --top-terms"):
        mixed.answer_batch([b"a"], 1)


def model_of(kind: Any, **lexing: Any) -> Any:
    return kind(("a", "b"), Lexing(**lexing), ("x", "y z"), None, None, {})


@pytest.mark.parametrize(
    ("lexing", "separator"),
    [({}, " "), ({"ngrams": (1, 2)}, ", "), ({"characters": (3, 4)}, ", "), ({"ngrams": (2,)}, ", ")],
)
def test_terms_that_may_have_spaces_are_told_apart(lexing: dict[str, Any], separator: str) -> None:
    assert model_of(TextModel, **lexing).term_separator == separator
    assert model_of(TextModel).n_terms == 2


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
    model = model_of(PipelineModel, skip_header=header, skip_html=html)
    (found,) = model.inputs([b"Subject: x\n\nan <b>old</b> ship"])
    assert found.split() == expected.split()
    assert model.n_terms is None


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
    (out / f".model.npz.{child.pid}.tmp").write_bytes(b"half")
    n_bytes = write_model(model, out)
    names = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert names == {"model.json", "model.npz", "plugin-1/mine.py", "plugin-1/scale.txt"}
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
    assert write_plugins([], out) == ([], 0)


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
