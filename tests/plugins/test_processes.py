"""Users' code in processes of their own: what it changes ends with them, and what is stored of it is what it says."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

import benchmark
from benchmark.cli import app
from benchmark.experiment import code_digest
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.system.errors import BenchError, ConfigError
from benchmark.system.observer import Observer
from benchmark.system.user_classes import running_user_code_here
from tests.builders import Notebook

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.analysis.scoring import RunPredictions

pytestmark = pytest.mark.usefixtures("sketched")
#: The command line.
BENCH = (sys.executable, "-c", "from benchmark.cli import main; main()", "--trust")

CLASSIFIER = """\
import os, random, signal, sys, threading, time, warnings
from pathlib import Path
import numpy as np
from sklearn.base import BaseEstimator
{head}

class Mine(BaseEstimator):
    normalization = "l2"
    {attributes}

    def __init__(self, roll: int = 0):
        self.roll = roll

    def fit(self, X, y):
        {fit}
        self.classes_ = np.unique(y)
        self.means_ = np.vstack([X[y == c].mean(axis=0) for c in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[np.roll(X @ self.means_.T, self.roll + {shift}, axis=1).argmax(axis=1)]

CLASSIFIERS = {{"mine": Mine}}
"""


def classifier(head: str = "", attributes: str = "", fit: str = "pass", shift: str = "0") -> str:
    return CLASSIFIER.format(head=head, attributes=attributes, fit=fit, shift=shift)


def run_with(config: Path, store: Path, notes: Notebook | None = None) -> RunPredictions:
    return run_experiment(load_checked(config), RunContext(Store(store, limit=10**9), notes or Observer()))


def labels(found: RunPredictions, method: str = "mine") -> list[int]:
    return [
        label
        for key, each in found.predictions.settings.items()
        if key.method == method
        for label in each.predicted.tolist()
    ]


#: What ends a process in `fit`, and the reason that is given.
ENDS = {
    "os._exit(3)": "mine.py:7: ended its process, with exit code 3",
    "os.kill(os.getpid(), signal.SIGSEGV)": "mine.py:7: ended its process, by the signal SIGSEGV",
    "raise KeyboardInterrupt": "mine.py:15: KeyboardInterrupt",
}
#: What only fails.
FAILS = {
    "raise SystemExit(3)": "mine.py:15: SystemExit: 3",
    "self.nothing": "mine.py:15: AttributeError: 'Mine' object has no attribute 'nothing'",
}
#: Values that can't be used, each with the reason.
VALUES = """\
import numpy as np
from chi2 import ChiSquared
from benchmark.representation import Weighting
from benchmark.representation.features import FeatureMap

class Negative(Weighting):
    def local(self, counts):
        return -counts.data
    def factors(self, presence, members):
        return None

class Same(ChiSquared):
    def transform(self, X):
        return 0 * super().transform(X) + 0.5

class Nan(FeatureMap):
    def map(self, points):
        return points * np.nan

KERNELS = {"same": Same}
FEATURES = {"nan": Nan}
WEIGHTINGS = {"negative": Negative}
"""
UNUSABLE_METHODS = "same", "{weighting: negative, kernel: linear}", "{features: nan, classifier: linear-svm}"
UNUSABLE = {
    "same": "the kernel Same() gives 0.5 for every pair of documents: all values equal",
    "negative-linear": "`local` of Negative must return",
    "nan-linear-svm": "`map` of Nan must return a row of finite numbers for each of",
}


def check_reasons(done: RunPredictions, notes: Notebook, reasons: dict[str, str]) -> None:
    """Check that these methods failed alone, each with its reason in a line."""
    assert done.failures.keys() == reasons.keys()
    for name, reason in reasons.items():
        assert reason in done.failures[name]
        assert done.failures[name].count(".py:") <= 1
        assert "\n" not in done.failures[name]
    told = {f"{name} failed: {reason}" for name, reason in done.failures.items()}
    assert {each for each in notes.notes if "failed" in each} == told


def failing(plugin: Callable[..., Path], folder: Path, statements: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Write a classifier for each statement in `fit`; return their files, and the reasons by the names."""
    for number, statement in enumerate(statements):
        (folder / f"end{number}").mkdir()
        plugin(classifier(fit=statement).replace('"mine"', f'"end{number}"'), f"end{number}/mine.py")
    reasons = {f"end{number}": reason for number, reason in enumerate(statements.values())}
    return ", ".join(f"{name}/mine.py" for name in reasons), reasons


def test_what_ends_its_process_is_a_line_and_the_other_methods_go_on(
    config: Callable[..., Path], plugin: Callable[..., Path], folder: Path
) -> None:
    files, reasons = failing(plugin, folder, ENDS)
    notes = Notebook()
    done = run_with(config(files, ", ".join(["mnb", *reasons])), folder / "store", notes)
    check_reasons(done, notes, reasons)
    assert {key.method for key in done.predictions.settings} == {"mnb"}


@pytest.mark.usefixtures("users_code_here")
@pytest.mark.parametrize("corpus", ["synthetic", "synthetic, subset: several"])
def test_what_goes_wrong_is_a_line_and_the_other_methods_go_on(
    config: Callable[..., Path], plugin: Callable[..., Path], folder: Path, corpus: str
) -> None:
    files, reasons = failing(plugin, folder, FAILS)
    plugin(VALUES, "values.py")
    methods, notes = ", ".join(["chi2", "mnb", *UNUSABLE_METHODS, *reasons]), Notebook()
    path = config(f"chi2.py, values.py, {files}", methods, corpus=f"{{name: {corpus}}}")
    done = run_with(path, folder / "store", notes)
    check_reasons(done, notes, UNUSABLE | reasons)
    assert not [name for name in UNUSABLE if str(folder) in done.failures[name]]
    assert {key.method for key in done.predictions.settings} == {"chi2", "mnb"}


def test_a_file_that_only_its_process_cannot_import_is_named_with_its_line(
    config: Callable[..., Path], plugin: Callable[..., Path], folder: Path
) -> None:
    plugin(f"import os\nassert os.getpid() == {os.getpid()}, 'no licence'\n{classifier()}")
    with pytest.raises(BenchError, match=r"mine\.py:2: AssertionError: no licence"):
        run_with(config("mine.py", "mine"), folder / "store")


#: Changes that would reach other methods, or the output, if they stayed.
CHANGES = """\
assert X.has_sorted_indices and X.data.flags.writeable and y.flags.writeable
        before = X.copy()
        print('noise'); os.write(1, b'noise'); np.seterr(all='raise'); warnings.simplefilter('error')
        __import__('sklearn').set_config(transform_output='pandas'); os.chdir('/'); os.environ.clear()
        random.seed(7); np.random.seed(7); sys.path.clear(); sys.stdout.close();
        np.argsort = None
        X.data *= 0; X.resize((1, 1)); X = before
        threading.Thread(target=time.sleep, args=(10**6,)).start()"""


def test_what_it_changes_and_prints_ends_with_it(
    config: Callable[..., Path], plugin: Callable[..., Path], capfd: pytest.CaptureFixture[str]
) -> None:
    """Its arrays are its own, sorted copies: scikit-learn's SVC dies of unsorted ones."""
    path, found = config("mine.py", "mine, svc, mnb, ngd"), []
    for fit, here in (("pass", running_user_code_here()), (CHANGES, nullcontext())):
        plugin(classifier(fit=fit) + "\nfrom sklearn.svm import SVC\nCLASSIFIERS['svc'] = SVC\n")
        with here:
            done = run_with(path, path.parent / "store")
        assert not done.failures
        found.append({key: each.predicted.tolist() for key, each in done.predictions.settings.items()})
    assert found[0] == found[1]
    printed = capfd.readouterr()
    assert ("noise" in printed.err, printed.out) == (True, "")


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    command = [*BENCH, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def interruptible() -> None:
    """Let Ctrl-C end a process, also where the tests run in the background of a shell and ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_it_within_a_second(config: Callable[..., Path], plugin: Callable[..., Path]) -> None:
    """Also the processes that it started: a pipe that all of them hold open is closed by the end of the last one."""
    plugin(
        classifier(
            "import subprocess",
            fit="held = os.open(Path(__file__).with_name('held'), os.O_WRONLY); os.set_inheritable(held, True); "
            "subprocess.Popen(['sleep', '600'], close_fds=False); os.write(held, b'begun'); time.sleep(600)",
        )
    )
    path = config("mine.py", "mine, mnb")
    os.mkfifo(path.parent / "held")
    held = os.open(path.parent / "held", os.O_RDONLY | os.O_NONBLOCK)
    command = [*BENCH, "run", str(path), "--out", str(path.parent / "out")]
    kept: dict[str, Any] = {"stderr": subprocess.PIPE, "text": True, "preexec_fn": interruptible}
    process = subprocess.Popen(command, start_new_session=True, **kept)
    while not (select.select([held], [], [], 0.05)[0] and os.read(held, 5)):
        assert process.poll() is None
    assert not select.select([held], [], [], 0)[0], "nothing to read, and no end, while they run"
    os.killpg(process.pid, signal.SIGINT)
    assert select.select([held], [], [], 1)[0]
    assert os.read(held, 1) == b""
    os.close(held)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in error


def test_a_crash_of_fit_says_where_it_was(config: Callable[..., Path], plugin: Callable[..., Path]) -> None:
    plugin(classifier(fit="os.kill(os.getpid(), signal.SIGSEGV)"))
    path = config("mine.py", "mine")
    done = bench("fit", str(path), "--cell", "mine", "--out", str(path.parent / "model"))
    assert done.returncode == -signal.SIGSEGV
    assert 'mine.py", line 15 in fit' in done.stderr


def test_debug_stays_in_this_process_and_its_own_traceback_is_for_who_asks(
    config: Callable[..., Path], plugin: Callable[..., Path]
) -> None:
    plugin(classifier(fit="Path(__file__).with_name('pid').write_text(str(os.getpid())); self.nothing"))
    path = config("mine.py", "mine")
    for more in ("--debug", "--verbose"):
        done = CliRunner().invoke(app, ["run", str(path), "--out", str(path.parent / "out"), more])
        assert done.exit_code == 1
        assert "mine.py:15: AttributeError" in done.stderr
        assert ("Traceback" in done.stderr) == (more == "--verbose")
        assert ((path.parent / "pid").read_text() == str(os.getpid())) == (more == "--debug")


# --- What is stored ---


@pytest.mark.usefixtures("users_code_here")
def test_a_stored_result_is_one_of_all_that_decides_it(
    config: Callable[..., Path], plugin: Callable[..., Path], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "helper.py").write_text("SHIFT = 0\n")
    (folder / "data.txt").write_text("0")
    (folder / "pack").mkdir()
    (folder / "pack" / "__init__.py").touch()
    (folder / "pack" / "two.py").write_text("SHIFT = 0\n")
    shift = "0 + helper.SHIFT + two.SHIFT + int(Path(__file__).with_name('data.txt').read_text())"
    imports = "import helper, lightgbm; from pack import two"
    plugin(classifier(imports, "stored = True; reads = ('data.txt',)", shift=shift))
    path = config("mine.py", "mine")
    first, again = run_with(path, folder / "store"), run_with(path, folder / "store")
    assert again.stored == set(first.predictions.settings)
    found = [labels(first)]
    assert labels(again) == found[0]
    for file, old, new in (
        ("mine.py", "self.roll + 0", "self.roll + 1"),
        ("helper.py", "0", "1"),
        ("pack/two.py", "0", "1"),
        ("data.txt", "0", "1"),
        ("own.yaml", "[mine]", "[{classifier: {name: mine, roll: 1}, name: mine}]"),
    ):
        edit(folder / file, old, new)
        after = run_with(path, folder / "store")
        assert not after.stored, file
        found.append(labels(after))
        assert found[-1] != found[-2], file
    version = code_digest.distribution_version
    monkeypatch.setattr(code_digest, "distribution_version", lambda name: version(name) + "0" * (name == "lightgbm"))
    code_digest._digest.cache_clear()
    assert not run_with(path, folder / "store").stored, "of another release of a package that it imports"
    code_digest._digest.cache_clear()


def edit(file: Path, old: str, new: str) -> None:
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


#: Values for sums, and a kernel.
SCORED = """
    def decision_function(self, X):
        return np.roll(X @ self.means_.T, self.roll + data(), axis=1)

class Power(BaseEstimator):
    stored = Mine.stored
    def fit(self, X, y=None):
        self.points_ = X
        return self
    def transform(self, X):
        return (X @ self.points_.T).toarray() ** data()

KERNELS = {"power": Power}
CLASSIFIERS"""


@pytest.mark.usefixtures("users_code_here")
@pytest.mark.parametrize("stored", [False, True])
def test_a_file_that_nobody_declared_makes_a_new_number_unless_results_are_stored(
    stored: bool, config: Callable[..., Path], plugin: Callable[..., Path], folder: Path
) -> None:
    """Also of a choice and its inner folds, a sum with such a member, and a kernel."""
    data = folder / "data.txt"
    data.write_text("1")
    head = "def data(): return int(Path(__file__).with_name('data.txt').read_text())"
    plugin(classifier(head, f"stored = {stored}", shift="data()").replace("\nCLASSIFIERS", SCORED))
    methods = "{classifier: {name: mine, roll: [0, 1]}, name: mine}, mnb, {fuse: [mine, mnb], name: both}, power"
    path, notes = config("mine.py", methods, choose="{by: cross-validation, folds: 2}"), Notebook()
    first = run_with(path, folder / "store", notes)
    data.write_text("6")
    after = run_with(path, folder / "store")
    users = {"mine", "both", "power"}
    assert not first.failures
    assert {each for each in users if labels(after, each) != labels(first, each)} == (set() if stored else users)
    assert {key.method for key in after.stored} == ({"mnb"} | users if stored else {"mnb"})
    said = [note.partition(": ")[2] for note in notes.notes if "computed in each run" in note]
    assert [set(each.split(", ")) for each in said] == ([] if stored else [users])


def test_an_object_of_python_is_refused() -> None:
    class Mine:
        def fit(self, X: Any, y: Any) -> Any:
            return self

    for given in (Mine, Mine()):
        with pytest.raises(
            ConfigError, match=r"Mine is an object: .*write it to a file \(in a notebook: %%writefile\)"
        ):
            benchmark.run(corpus="synthetic", methods=[{"classifier": given}])
    with pytest.raises(
        ConfigError, match=r"name it \{'classifier': \{'name': 'sklearn.linear_model.LogisticRegression'\}\}"
    ):
        benchmark.run(corpus="synthetic", methods=["mnb", LogisticRegression(C=10)])
    with pytest.raises(ConfigError, match=r"object: write it to a file .*pipeline='mine.py:make'"):
        benchmark.run(corpus="synthetic", methods=[{"pipeline": make_pipeline(LogisticRegression())}])
    with pytest.raises(ConfigError, match=r"a frame can be the corpus only; .*frame.to_csv"):
        benchmark.run(corpus="synthetic", methods=[{"predictions": pd.DataFrame({"id": ["a"]})}])
