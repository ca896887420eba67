"""What a plug-in answers wrongly, raises or changes: a line that blames it, other methods as ever, never a number."""

from __future__ import annotations

import csv
import decimal
import os
import random
import sys
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.model.fitting import fit_model
from benchmark.model.persistence import read_model, write_model
from benchmark.system.errors import ConfigError
from tests.trials.limits import mostly_slow

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CLASSIFIER = """\
import asyncio, os, random, signal, sys, warnings
import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

class Mine(BaseEstimator):
    normalization = "l2"

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.vstack([X[y == c].mean(axis=0) for c in self.classes_])
        {fit}
        return self

    def decision_function(self, X):
        scores = X @ self.means_.T
        {scores}
        return scores

    def predict(self, X):
        return np.asarray(self.classes_)[(X @ self.means_.T).argmax(axis=1)]

CLASSIFIERS = {{"mine": Mine}}
"""


@pytest.fixture
def failure(config: Callable[..., Path], plugin: Callable[..., Path], tmp_path: Path) -> Callable[..., str]:
    """Run a plug-in beside naive Bayes; what is said of its cell, "" where it has a number. Bayes is as ever."""

    def reason(fit: str = "pass", scores: str = "pass", corpus: str = "") -> str:
        plugin(CLASSIFIER.format(fit=fit, scores=scores))
        lines = {"corpus": corpus or "{name: synthetic, classes: [course, faculty, student]}"}
        store = Store(tmp_path / "store", limit=10**9)
        (tmp_path / "alone").mkdir(exist_ok=True)
        alone = run_experiment(load_checked(config(files="", methods="mnb", **lines)), RunContext(store))
        done = run_experiment(load_checked(config(files="mine.py", methods="mine, mnb", **lines)), RunContext(store))
        for key, given in alone.predictions.settings.items():
            np.testing.assert_array_equal(done.predictions.settings[key].by_split[0], given.by_split[0])
        assert len(done.failures) + len(done.predictions.settings) == 2
        found = "".join(done.failures.values())
        assert "\n" not in found
        return found

    return reason


@pytest.mark.parametrize(
    "classes",
    mostly_slow(
        [
            "np.array([0, 1, np.nan])",
            "np.unique(y) * np.nan",
            "np.array([0, 1, np.inf])",
            "np.unique(y).astype(bool)",
            "np.unique(y) - 1",
            "np.unique(y) + 1",
            "np.unique(y) + 100",
            "np.unique(y) + 0.9",
            "np.unique(y).astype(float)",
            "np.unique(y).astype(str)",
            "np.unique(y).astype(complex)",
            "np.array([0, 0, 0])",
            "np.array([0, 1, 1])",
            "np.arange(5)",
            "np.unique(y)[:, None]",
            "np.unique(y).astype(object)",
            "np.ma.array(np.unique(y), mask=[1, 0, 0])",
            "['course', 'faculty', 'student']",
            "None",
        ],
        6,
    ),
)
def test_classes_that_are_not_the_training_classes_are_refused(failure: Callable[..., str], classes: str) -> None:
    assert "mine.py:6: its classes_ are" in failure(fit=f"self.classes_ = {classes}")


@pytest.mark.parametrize(
    "scores",
    mostly_slow(
        [
            "scores = scores[:, :-1]",
            "scores = scores[:, :1]",
            "scores = np.hstack([scores, scores])",
            "scores = scores[:1]",
            "scores = scores[:-1]",
            "scores = np.vstack([scores, scores[:1]])",
            "scores = scores[:0]",
            "scores = scores[:, :0]",
            "scores = scores[:, 0]",
            "scores = scores[:, :, None]",
            "scores = scores + 0j",
            "scores = scores.astype(object)",
            "scores = scores.astype(str)",
            "scores = (scores * 1e9).astype('datetime64[s]')",
            "scores = np.ma.array(scores, mask=scores > 0)",
            "scores = scores * np.nan",
            "scores[0, 0] = np.inf",
            "scores = sp.csr_array(scores)",
            "scores = None",
            "scores = [1, [2, 3]]",
        ],
        6,
    ),
)
@pytest.mark.parametrize("subset", ["", "{name: synthetic, subset: several}"], ids=["single", "several"])
def test_scores_of_another_shape_or_type_are_refused(failure: Callable[..., str], scores: str, subset: str) -> None:
    found = failure(scores=scores, corpus=subset)
    if subset and scores == "scores = scores[:, 0]":  # right for two classes, as scikit-learn has it
        assert not found
    else:
        assert "mine.py:6: its decision_function of " in found


@pytest.mark.parametrize("answer", ["scores = scores.astype(np.float32)", "scores = scores.tolist()"])
def test_other_real_numbers_will_do(failure: Callable[..., str], answer: str) -> None:
    assert not failure(scores=answer)


def test_classes_may_stand_in_any_order_that_goes_with_the_columns(
    config: Callable[..., Path], plugin: Callable[..., Path], tmp_path: Path
) -> None:
    turned = "self.classes_ = self.classes_[::-1].tolist(); self.means_ = self.means_[::-1]"
    found = []
    for number, fit in enumerate(("pass", turned)):
        plugin(CLASSIFIER.format(fit=fit, scores="pass"))
        done = run_experiment(
            load_checked(config(files="mine.py", methods="mine")),
            RunContext(Store(tmp_path / str(number), limit=10**9)),
        )
        found += [given.by_split[0] for given in done.predictions.settings.values()]
    np.testing.assert_array_equal(*found)


RAISED = {
    "raise BaseException('no')": "BaseException: no",
    "raise GeneratorExit": "GeneratorExit",
    "raise asyncio.CancelledError": "CancelledError",
    "raise SystemExit(0)": "SystemExit: 0",
    "raise SystemExit('x')": "SystemExit: x",
    "sys.exit()": "SystemExit",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "raise type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})": "Mute: its message can't be read",
    "raise StopIteration": "StopIteration",
    "deeper = lambda: deeper(); deeper()": "RecursionError",
}


@pytest.mark.parametrize("place", ["fit", "scores"])
@pytest.mark.parametrize("statement", mostly_slow(RAISED, 4))
def test_whatever_is_raised_is_blamed_on_the_plug_in(failure: Callable[..., str], place: str, statement: str) -> None:
    found = failure(**{place: statement})
    assert "mine.py:" in found
    assert RAISED[statement] in found


@pytest.mark.parametrize("statement", RAISED)
def test_whatever_is_raised_on_import_is_blamed_on_the_file(
    config: Callable[..., Path], plugin: Callable[..., Path], statement: str
) -> None:
    plugin(f"import asyncio, sys\n{statement}\n")
    with pytest.raises(ConfigError, match=r"mine\.py:2: "):
        load_checked(config(files="mine.py", methods="ngd"))


PATCHES = {
    "np.unique = lambda y: np.array([2, 1, 0])": "numpy.unique",
    "np.linalg.norm = abs": "numpy.linalg.norm",
    "sys.modules['builtins'].sorted = list": "builtins.sorted",
    "for name in list(sys.modules):\n            if name.startswith('numpy'): del sys.modules[name]": "numpy",
    "for name in list(sys.modules):\n            if name.startswith('benchmark.'): del sys.modules[name]": "benchmark",
    "sp.csr_array.sum = None": "scipy.sparse._csr.csr_array.sum",
    "BaseEstimator.get_params = None": "sklearn.base.BaseEstimator.get_params",
    "import benchmark.classifiers.libsvm as own; own.DenseRows.square = classmethod(lambda *_: 0)": "DenseRows.square",
    "import benchmark.kernels.multinomial as own; own.NegativeGeodesicDistance = None": "NegativeGeodesicDistance",
}


@pytest.mark.parametrize("statement", PATCHES)
def test_replacing_what_others_use_is_refused_and_undone(failure: Callable[..., str], statement: str) -> None:
    before = np.unique, np.linalg.norm, sorted, dict(sys.modules)
    found = failure(fit=statement)
    assert "mine.py:6: it replaces " in found
    assert PATCHES[statement] in found
    assert before[:3] == (np.unique, np.linalg.norm, sorted)
    assert all(sys.modules[name] is module for name, module in before[3].items() if not name.startswith("_plugin"))


def test_another_plug_in_is_not_changed_by_what_one_replaces(
    config: Callable[..., Path], plugin: Callable[..., Path], tmp_path: Path
) -> None:
    plugin("import numpy as np\nnp.roll = lambda *_, **__: 0\n" + CLASSIFIER.format(fit="pass", scores="pass"))
    with pytest.raises(ConfigError, match=r"mine\.py: it replaces numpy\.roll, which other code uses"):
        load_checked(config(files="mine.py", methods="mine"))
    assert np.roll([1, 2], 1).tolist() == [2, 1]


SETTINGS = [
    "np.random.seed(7); random.seed(7); np.random.rand(3)",
    "warnings.simplefilter('error')",
    "np.seterr(all='raise')",
    "os.environ['BENCH_X'] = '1'; os.environ.pop('HOME', None)",
    "os.chdir('/')",
    "sys.path.insert(0, '/nowhere')",
    "sys.setrecursionlimit(5000)",
    "sys.excepthook = None",
    "__import__('csv').field_size_limit(5); __import__('decimal').getcontext().prec = 1",
    "os.environ = {}",
    "sys.stdout.close(); sys.stderr.close()",
    "sys.stdout = None",
]


@pytest.mark.parametrize("place", ["fit", "scores"])
@pytest.mark.parametrize("statement", mostly_slow(SETTINGS, 4))
def test_settings_are_put_back(failure: Callable[..., str], place: str, statement: str) -> None:
    def settings() -> list[object]:
        numbers = np.random.get_state()[1].tolist(), random.getstate()  # noqa: NPY002
        places = sys.path[:], sys.excepthook, sys.stdout, sys.stderr, dict(os.environ), os.getcwd()  # noqa: PTH109
        limits = sys.getrecursionlimit(), csv.field_size_limit(), decimal.getcontext().prec
        return [numbers, *places, *limits, warnings.filters[:], np.geterr()]

    before = settings()
    assert not failure(**{place: statement})
    assert settings() == before
    assert not sys.stdout.closed


def test_no_number_depends_on_global_random_numbers_of_before(
    config: Callable[..., Path], plugin: Callable[..., Path], tmp_path: Path
) -> None:
    plugin(CLASSIFIER.format(fit="self.means_ = np.random.rand(*self.means_.shape)", scores="pass"))
    found = []
    for number in range(2):
        np.random.rand(number + 1)  # noqa: NPY002
        done = run_experiment(
            load_checked(config(files="mine.py", methods="mine")),
            RunContext(Store(tmp_path / str(number), limit=10**9)),
        )
        found += [given.by_split[0] for given in done.predictions.settings.values()]
    np.testing.assert_array_equal(*found)


def test_arguments_are_copies_and_a_plug_in_that_learns_nothing_is_named(failure: Callable[..., str]) -> None:
    assert "mine.py:6: cornell: every prediction is a tie" in failure(fit="X.data[:] = 0; self.means_ *= 0")
    assert not failure(scores="X.data[:] = 0; X.indices[:] = 0")
    assert not failure(fit="y[:] = 0; X.data[:] = 7")


def test_what_it_prints_is_not_on_standard_output(
    failure: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert not failure(fit="print('noise')", scores="sys.stdout.write('noise')")
    shown = capsys.readouterr()
    assert "noise" not in shown.out
    assert "noise" in shown.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("# -*- coding: latin-1 -*-\n# é\nSHIFT = 0\n".encode("latin-1"), "names no component"),
        ('x = "é"\n'.encode("latin-1"), "SyntaxError"),
        ("\ufeffSHIFT = 0\n".encode(), "names no component"),
        (b"a = 1\x00\n", "SyntaxError"),
    ],
    ids=["latin-1", "no coding", "byte order mark", "null"],
)
def test_a_file_of_any_encoding_is_read_as_python_reads_it(
    config: Callable[..., Path], folder: Path, content: bytes, words: str
) -> None:
    (folder / "mine.py").write_bytes(content)
    with pytest.raises(ConfigError, match=words):
        load_checked(config(files="mine.py", methods="ngd"))


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        ("self.classes_ = np.unique(y) + 1", r"mine\.py:6: its classes_ are "),
        ("raise SystemExit(0)", r"mine\.py:\d+: SystemExit: 0"),
        ("np.unique = lambda y: np.array([2, 1, 0])", r"mine\.py:6: it replaces numpy\.unique"),
    ],
)
def test_no_model_is_made_of_it(
    config: Callable[..., Path], plugin: Callable[..., Path], tmp_path: Path, fit: str, words: str
) -> None:
    plugin(CLASSIFIER.format(fit=fit, scores="pass"))
    experiment = load_checked(config(files="mine.py", methods="mine"))
    with pytest.raises(ConfigError, match=rf"^mine: {words}"):
        fit_model(experiment, "mine", RunContext(Store(tmp_path / "store", limit=10**9), jobs=1))


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ("scores = scores[:, :-1]", r"mine\.py:6: its decision_function of 1 documents and 4 classes"),
        ("scores = scores * np.nan", r"mine\.py:6: its decision_function .* that are not finite numbers"),
        ("raise SystemExit(0)", r"mine\.py:\d+: SystemExit: 0"),
        ("np.linalg.norm = abs", r"mine\.py: it replaces numpy\.linalg\.norm"),
    ],
)
def test_a_model_answers_no_number_of_it(
    config: Callable[..., Path], plugin: Callable[..., Path], tmp_path: Path, scores: str, words: str
) -> None:
    """Nor once it is kept: what it answers is seen only when the model is asked."""
    plugin(CLASSIFIER.format(fit="pass", scores=scores))
    experiment = load_checked(config(files="mine.py", methods="mine"))
    write_model(fit_model(experiment, "mine", RunContext(Store(tmp_path / "store", limit=10**9))), tmp_path / "model")
    with pytest.raises(ConfigError, match=words) as caught:
        list(read_model(tmp_path / "model").answers([("a", b"a text")]))
    assert "\n" not in str(caught.value)


def test_a_kernel_that_has_its_own_training_documents_is_not_kept(config: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^chi2: a model with the kernel 'chi2' can't be saved"):
        fit_model(load_checked(config()), "chi2", RunContext(Store(tmp_path / "store", limit=10**9)))


KERNEL = """\
import numpy as np
from sklearn.base import BaseEstimator
from benchmark.kernels import Kernel

class Mine(BaseEstimator):
    normalization = "l2"
    def fit(self, X, y=None):
        self.points_ = X.copy()
        return self
    def transform(self, X):
        values = (X @ self.points_.T).toarray()
        return {values}

class Linked(Kernel):
    def from_products(self, products, left, right):
        {link}

KERNELS = {{"mine": Mine, "linked": Linked}}
"""


@pytest.mark.parametrize(
    ("name", "values", "link", "words"),
    [
        ("mine", "values + 1j", "pass", "not real numbers"),
        ("mine", "values.astype(object)", "pass", "not real numbers"),
        ("mine", "values[:, :1]", "pass", "gives values of the shape"),
        ("mine", "np.ma.array(values, mask=values > 0)", "pass", "not real numbers"),
        ("linked", "values", "return products + 1j", "not real numbers"),
        ("linked", "values", "return products[:1]", "values of the shape"),
        ("linked", "values", "return products.sum()", "gives values of the shape ()"),
        ("linked", "values", "left[:] = 0; return products", "read-only"),
        ("linked", "values", "return None", "NoneType"),
    ],
)
def test_values_of_a_kernel_are_checked(
    config: Callable[..., Path],
    plugin: Callable[..., Path],
    tmp_path: Path,
    name: str,
    values: str,
    link: str,
    words: str,
) -> None:
    plugin(KERNEL.format(values=values, link=link))
    done = run_experiment(
        load_checked(config(files="mine.py", methods=f"{name}, ngd")),
        RunContext(Store(tmp_path / "store", limit=10**9)),
    )
    assert len(done.predictions.settings) == 1
    assert words in "".join(done.failures.values())
