"""Runs with components of one's own: their numbers, their keys, what goes wrong in them, and reports without them."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.analysis.agreement import compare_two_cells
from benchmark.commands.explain import explain_cell
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import report_again, run_and_write
from benchmark.experiment.run_folder import read_run
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from tests.processes import files_of
from tests.shapes import bench

if TYPE_CHECKING:
    from collections.abc import Callable


pytestmark = pytest.mark.usefixtures("sketched")
SEVERAL = "{name: synthetic, subset: several}"
EXTENDING = Path(__file__).parents[2] / "docs" / "extending.md"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", limit=10**9)


@pytest.mark.usefixtures("users_code_here")
@pytest.mark.parametrize(("name", "n_cells"), [("mykernels", 4), ("myclassifiers", 4), ("mypoints", 3), ("myrules", 2)])
def test_the_example_of_the_documents_runs(name: str, n_cells: int, tmp_path: Path, store: Store) -> None:
    found = re.search(
        rf"`{name}\.py`.*?```python\n(.*?)```\n\n```yaml\n(.*?)```", EXTENDING.read_text("utf-8"), re.DOTALL
    )
    assert found is not None
    assert found[1].count("\n") <= 25
    corpus, metric = ("{name: synthetic}", "accuracy") if name != "myrules" else (SEVERAL, "micro-f1")
    (tmp_path / f"{name}.py").write_text(found[1], encoding="utf-8")
    rest = (
        f"name: own\ncorpus: {corpus}\ntext: {{min_occurrences: 100}}\n"
        "protocol: {name: leave-one-group-out, held_out: [texas]}\n"
    )
    (tmp_path / "own.yaml").write_text(rest + found[2], encoding="utf-8")
    done = run_and_write(load_checked(tmp_path / "own.yaml"), RunContext(store), folder=tmp_path / "run")
    assert not done.summary.failures
    assert len(done.results.experiment.ids) == n_cells
    assert min(done.results.scored.estimate(cell, metric).value for cell in done.results.experiment.ids) > 0.5
    assert read_run(done.folder).experiment.ids == done.results.experiment.ids


@pytest.mark.usefixtures("users_code_here")
def test_a_run_is_explained_wherever_one_stands_until_its_plug_in_changes(
    config: Callable[..., Path], folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{word} {word} {n % 3},{word}" for n in range(12) for word in ("alpha", "beta")]
    (folder / "mine.csv").write_text("\n".join(["text,label", *rows, "beta,alpha", ""]), encoding="utf-8")
    lines = {"text": "{stoplist: none}", "protocol": "{name: k-fold, k: 2}"}
    corpus = "{name: files, path: mine.csv}"
    done = run_and_write(load_checked(config(**lines, corpus=corpus)), RunContext(store), folder=folder / "run")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    told = list(explain_cell(done.folder, "chi2", RunContext(store), shown=1))
    assert [what for what, _ in told[-1].rows].count("decision values") == 1
    (folder / "beside.py").write_text((folder / "beside.py").read_text() + "\nMORE = 1\n")
    *_, last = explain_cell(done.folder, "chi2", RunContext(store), shown=1)
    assert re.search(r"aren't in the folder: .*chi2\.py: was changed since the run", last.empty)


EVERYTHING = """\
from dataclasses import dataclass
from pathlib import Path
import numpy as np
from benchmark.corpora import registry
from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.reader import CorpusReader
from benchmark.corpora.synthetic import generate_synthetic
from benchmark.evaluation.metrics import DiagnosticMetric, Metric
from benchmark.evaluation.splits import Split
from benchmark.diagnostics.base import Diagnostic, DiagnosticRow, DiagnosticNumbers
from benchmark.evaluation.outcomes import Estimate
from benchmark.system.tags import Tags
from sklearn.neighbors import NearestCentroid

class Centroids(NearestCentroid):
    tags = Tags(normalization="l1", takes_features=False)
    def decision_function(self, X):
        return X @ self.centroids_.T - (self.centroids_ ** 2).sum(axis=1) / 2

def halved(tallies):
    return tallies.right.sum(axis=-1) / tallies.documents / 2

class Bags:
    tags = Tags(replicated=True)
    def __init__(self, n: int = 2):
        self.n = n
    def splits(self, documents):
        tested = [np.random.default_rng(i).random(len(documents)) < 0.3 for i in range(self.n)]
        return [Split(f"bag-{i}", np.flatnonzero(~t), np.flatnonzero(t), i + 1) for i, t in enumerate(tested)]

class Length(Diagnostic):
    metrics = (DiagnosticMetric("size", "documents"),)
    def compute(self, context):
        n = len(context.counts.documents)
        row = DiagnosticRow("mnb", "size", Estimate(n, n, n, n, "count"))
        return DiagnosticNumbers((row,), notes=("A diagnostic of one's own.",))

@dataclass(frozen=True)
class Generated(CorpusReader):
    seed: int = 1
    name = "generated"
    @property
    def classes(self): return self.outline().classes
    @property
    def parts(self): return self.outline().part_names
    @property
    def multilabel(self): return False
    def outline(self): return self.load(CorpusSource(None)).documents
    def locate(self, *, download, notify): return CorpusSource(None)
    def content(self, source): return {"seed": self.seed}
    def load(self, source):
        card = registry.dataset_card("synthetic")
        return registry.READERS["synthetic"](generate_synthetic(self.seed), card, "0" * 64)
    def __reduce__(self): raise RuntimeError("the corpus is sent to another process")

CLASSIFIERS = {"centroids": Centroids}
METRICS = {"halved": Metric(halved, more_is_better=False)}
PROTOCOLS = {"bags": Bags}
DIAGNOSTICS = {"length": Length}
CORPORA = {"generated": Generated}
"""


def test_every_kind_passes_its_test(plugin: Callable[..., Path]) -> None:
    shown = bench("plugin", "test", plugin(EVERYTHING)).stdout
    for name in ("classifier centroids", "protocol bags", "metric halved", "diagnostic length", "corpus generated"):
        assert f"\n{name}: runs on " in f"\n{shown}"


def test_every_kind_runs_and_a_finished_run_is_read_again_without_its_files(
    config: Callable[..., Path], plugin: Callable[..., Path], folder: Path, store: Store
) -> None:
    plugin(EVERYTHING)
    path = config(
        files="chi2.py, mine.py",
        methods="chi2, centroids, mnb",
        corpus="{name: generated, seed: 3}",
        protocol="{name: bags, n: 6}",
        metrics="[accuracy, halved]",
        diagnostics="[length]",
        compare="[[chi2, mnb], [centroids, mnb]]",
    )
    done = run_and_write(load_checked(path), RunContext(store), folder=folder / "run")
    assert not done.results.failures
    assert ("length", "base") in done.results.predictions.diagnostics
    for cell in done.results.experiment.ids:
        accuracy, halved = (done.results.scored.estimate(cell, name).value for name in ("accuracy", "halved"))
        assert halved == pytest.approx(accuracy / 2)
    one, other = (done.results.scored.test("wilcoxon", "chi2", "mnb", name) for name in ("accuracy", "halved"))
    assert {one.favours, other.favours} == {"chi2", "mnb"}, "of the one more is better, of the other less"
    before = files_of(done.folder)
    report_again(done.folder)
    assert files_of(done.folder) == before
    for name in ("mine.py", "chi2.py", "beside.py"):
        (folder / name).unlink()
    gone = report_again(done.folder)
    assert files_of(done.folder) == before
    for cell, metric in product(done.results.experiment.ids, ("accuracy", "halved")):
        assert gone.results.scored.estimate(cell, metric) == done.results.scored.estimate(cell, metric)
    of_both = [compare_two_cells(each.results, "chi2", "mnb") for each in (gone, done)]
    assert of_both[0] == of_both[1]


WRITING = """\
import numpy as np
from chi2 import ChiSquared
from benchmark.representation import Weighting
from benchmark.representation.features import FeatureMap

class Same(Weighting):
    def local(self, counts):
        counts.data *= 3
        return counts.data / 3.0
    def factors(self, presence, members):
        presence.data *= 0
        return np.ones(presence.shape[1])

class Root(FeatureMap):
    def map(self, points):
        points.data **= 0.5
        return points

class Writing(ChiSquared):
    def transform(self, X):
        rows = super().transform(X)
        X.data *= 0
        return rows

KERNELS, WEIGHTINGS, FEATURES = {"writing": Writing}, {"same": Same}, {"root": Root}
"""
METHODS = (
    "{name: a, weighting: same, classifier: linear-svm}, {name: b, features: root, classifier: linear-svm}, writing, "
    "{name: c, weighting: tf, classifier: linear-svm}, {name: d, features: hellinger, classifier: linear-svm}, chi2"
)


@pytest.mark.usefixtures("users_code_here")
def test_what_a_weighting_kernel_or_feature_map_writes_over_is_a_copy(
    config: Callable[..., Path], plugin: Callable[..., Path], store: Store
) -> None:
    """In one process, where what one method writes another could read."""
    plugin(WRITING)
    run = run_experiment(load_checked(config("chi2.py, mine.py", METHODS)), RunContext(store))
    assert not run.failures
    found = {key.method: setting.predicted for key, setting in run.predictions.settings.items()}
    for written, plain in (("a", "c"), ("b", "d"), ("writing", "chi2")):
        np.testing.assert_array_equal(found[written], found[plain])
