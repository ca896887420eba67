"""Runs against an independent computation with scikit-learn, and what the store, the gate and failures make of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import yaml
from scipy.spatial.distance import cdist
from scipy.special import eval_gegenbauer
from sklearn.svm import SVC

from benchmark.config.model import BASE_VARIANT
from benchmark.config.tasks import protocol_at_size
from benchmark.corpora import card as cards
from benchmark.corpora import registry, synthetic
from benchmark.corpora.archive import content_digest
from benchmark.corpora.card import DatasetCard
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.methods import svm_method
from benchmark.system.errors import BenchError, DataError
from tests.builders import small_experiment
from tests.corpora.small import pack_files

# The oracle: plain formulas on dense arrays


def term_weights(counts, weighting, idf_rows):
    """Zhang et al. (2005), section 4: tf, or tf log(m / df)."""
    if weighting == "tf":
        return counts.astype(float)
    frequency = (counts[idf_rows] > 0).sum(axis=0)
    return counts * np.log(len(idf_rows) / np.maximum(frequency, 1), where=frequency > 0, out=np.zeros(len(frequency)))


def on_scale(weights, normalization):
    norms = {"none": np.ones(len(weights)), "l1": np.abs(weights).sum(1), "l2": np.sqrt((weights**2).sum(1))}
    return weights / np.where(norms[normalization] > 0, norms[normalization], 1)[:, None]


def angle(x, y):
    return np.arccos(np.clip(np.sqrt(x) @ np.sqrt(y).T, 0, 1))


#: Each kernel as a configuration writes it, and its formula.
KERNELS = {
    "linear": ("linear", lambda x, y: x @ y.T),
    "polynomial": ({"name": "polynomial", "degree": 3, "c": 0.5}, lambda x, y: (x @ y.T + 0.5) ** 3),
    "rbf": ({"name": "rbf", "sigma": 0.25}, lambda x, y: np.exp(-cdist(x, y, "sqeuclidean") / (2 * 0.25**2))),
    "sigmoid": ({"name": "sigmoid", "kappa": 0.5, "theta": 0.0}, lambda x, y: np.tanh(0.5 * x @ y.T)),
    "ned": ("ned", lambda x, y: -cdist(x, y)),
}
ON_SIMPLEX = {
    "ngd": ("ngd", lambda x, y: -2 * angle(x, y)),
    "ngd pi": ({"name": "ngd", "shift": np.pi}, lambda x, y: np.pi - 2 * angle(x, y)),
    "ngd-e": ({"name": "ngd-e", "t": 0.5}, lambda x, y: np.exp(-angle(x, y) / 0.5)),
    "diffusion": ({"name": "diffusion", "t": 0.25}, lambda x, y: np.exp(-(angle(x, y) ** 2) / 0.25)),
    "bhattacharyya": ("bhattacharyya", lambda x, y: np.sqrt(x) @ np.sqrt(y).T),
    "probability-product": ({"name": "probability-product", "rho": 0.25}, lambda x, y: x**0.25 @ (y**0.25).T),
}


def heat(x, y):
    """The heat kernel of the sphere of radius 2 at `HEAT_TIME`, term by term, divided by its value at s = 1."""
    s, n, total, diagonal = np.clip(np.sqrt(x) @ np.sqrt(y).T, 0, 1), x.shape[1] - 1, 0.0, 0.0
    assert 3 < HEAT_TIME * n / math.log(n) < 5, "the corpus has another vocabulary: choose the time anew"
    for d in range(20):
        harmonics = math.comb(n + d, n) - (math.comb(n + d - 2, n) if d > 1 else 0)
        weight, order = harmonics * math.exp(-d * (d + n - 1) * HEAT_TIME / 4), (n - 1) / 2
        total = total + weight * eval_gegenbauer(d, order, s) / eval_gegenbauer(d, order, 1.0)
        diagonal += weight
    return total / diagonal


#: Near 4 log(n)/n of the whole vocabulary, so that 20 terms of the series are enough and none cancels.
HEAT_TIME = 0.025
FORMULAS = KERNELS | ON_SIMPLEX | {"heat": ({"name": "heat", "t": HEAT_TIME}, heat)}
#: Solved so far that two solvers agree; decisions nearer to zero than this may differ in sign.
EPSILON, DOUBTFUL = 1e-8, 1e-5


def assert_equal_to_scikit_learn(experiment, found, store, names, least_clear=0.8):
    """Every prediction of every cell and fold; returns how many documents were compared."""
    assert not found.failures
    compared = 0
    for cell, name in zip(experiment.cells, names, strict=True):
        variant = experiment.variants[cell.variant]
        (spec,) = next(entry for entry in variant.entries if entry.label == cell.method).candidates
        counts, _, _ = read_counts(variant.collection, RunContext(store))
        dense, labels = counts.matrix.toarray(), counts.documents.labels
        point = found.predictions.settings[cell.variant, "", cell.method, 0, cell.size, None]
        splits = protocol_at_size(variant.protocol, cell.size).splits(counts.documents)
        for split, predicted, tied in zip(
            splits, point.by_split, np.split(point.tied, point.bounds[1:-1]), strict=True
        ):
            idf_rows = split.train if spec.representation.idf == "training" else np.arange(len(dense))
            weights = term_weights(dense, spec.representation.weighting.name, idf_rows)
            points = on_scale(weights, spec.representation.normalization)
            formula = FORMULAS[name][1]
            oracle = SVC(kernel="precomputed", C=1.0, tol=EPSILON, decision_function_shape="ovo")
            oracle.fit(formula(points[split.train], points[split.train]), labels[split.train])
            rows = formula(points[split.test], points[split.train])
            clear = (np.abs(oracle.decision_function(rows)) > DOUBTFUL).all(axis=1)
            assert predicted.shape == tied.shape == split.test.shape
            np.testing.assert_array_equal(predicted[clear], oracle.predict(rows)[clear], err_msg=cell.id)
            assert clear.mean() >= least_clear, f"{cell.id} on {split.name}: too few documents to compare"
            assert (predicted == labels[split.test]).mean() > 0.25
            compared += int(clear.sum())
    return compared


WORDS = {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 60}
SVM = {"classifier": {"name": "svm", "C": 1, "epsilon": EPSILON}}
GROUP = {"name": "leave-one-group-out", "held_out": ["washington"]}
FOLDS = {"name": "k-fold", "k": 2, "seed": 5}
SUBSETS = {"name": "random-subsets", "train_size": 200, "replicates": 2, "seed": 3}


def methods(names, normalization="l1", weightings=("tf", "tfidf")):
    """One method, and the names of the formulas of its cells in the same order."""
    kernels = [FORMULAS[name][0] for name in names]
    return {"weighting": [*weightings], "normalization": normalization, "kernel": kernels}, [*names] * len(weightings)


@pytest.mark.parametrize("weighting", ["tf", "tfidf"])
@pytest.mark.parametrize("normalization", ["l1", "l2"])
def test_every_kernel(store, normalization, weighting):
    own = KERNELS if normalization == "l2" else [name for name in KERNELS | ON_SIMPLEX if name != "ngd pi"]
    method, names = methods(own, normalization, [weighting])
    experiment = small_experiment(methods=[method], defaults=SVM, protocol=GROUP, text=WORDS)
    assert assert_equal_to_scikit_learn(
        experiment, run_experiment(experiment, RunContext(store)), store, names
    ) > 60 * len(own)


@pytest.mark.parametrize("idf", ["collection", "training"])
@pytest.mark.parametrize("protocol", [FOLDS, SUBSETS], ids=["k-fold", "random subsets"])
def test_folds_and_sources_of_the_idf(store, protocol, idf):
    method, names = methods(["linear", "ngd", "heat"])
    experiment = small_experiment(methods=[method], defaults=SVM | {"idf": idf}, protocol=protocol)
    assert assert_equal_to_scikit_learn(experiment, run_experiment(experiment, RunContext(store)), store, names) > 1000


def test_variants_and_the_order_of_classes(store):
    turned = {"corpus": {"classes": ["student", "project", "faculty", "course"]}, "defaults": {"idf": "training"}}
    method, names = methods(["ned"], "l2", ["tfidf"])
    experiment = small_experiment(methods=[method], defaults=SVM, variants={"turned": turned})
    found = run_experiment(experiment, RunContext(store))
    assert assert_equal_to_scikit_learn(experiment, found, store, names * 2)
    assert found.facts["turned"]["classes"] == turned["corpus"]["classes"]


# The store


def predictions(found):
    """All that was predicted, as plain data."""
    points = found.predictions.settings.items()
    return {
        place: ([*map(list, each.by_split)], [*map(list, np.split(each.tied, each.bounds[1:-1]))], each.inner.tolist())
        for place, each in points
    }


def test_a_second_run_takes_everything_from_the_store(store, notebook, monkeypatch):
    experiment = small_experiment()
    first = run_experiment(experiment, RunContext(store, observer=notebook))
    assert notebook.planned == len(notebook.steps) == 8
    monkeypatch.setattr(svm_method, "train_multiclass_together", lambda *_, **__: pytest.fail("something was trained"))
    steps, notebook.steps = notebook.steps, []
    second = run_experiment(experiment, RunContext(store, observer=notebook))
    assert predictions(second) == predictions(first)
    assert second.facts == first.facts
    assert sorted(notebook.steps) == sorted(steps)
    assert not notebook.notes


def test_methods_together_decide_as_each_does_alone(tmp_path):
    linear = [
        {"weighting": weighting, "normalization": normalization, "kernel": "linear"}
        for weighting in ("tf", "tfidf")
        for normalization in ("l1", "l2")
    ]
    others = [{"kernel": "ngd"}, {"kernel": "bhattacharyya"}, {"classifier": {"name": "svm", "scheme": "one-vs-rest"}}]
    entries = [*linear, *(linear[0] | each for each in others), {"classifier": "mnb"}]
    named = [{"name": f"m{number}", **entry} for number, entry in enumerate(entries)]
    runs = [
        predictions(run_experiment(small_experiment(methods=each), RunContext(Store(tmp_path / str(number)))))
        for number, each in enumerate([named, *([entry] for entry in named)])
    ]
    assert {place: each for run in runs[1:] for place, each in run.items()} == runs[0]


@pytest.mark.usefixtures("every_numba_thread")
def test_any_number_of_threads_gives_the_same_predictions(tmp_path):
    method, _ = methods(["linear", "ned", "ngd"], weightings=["tfidf"])
    experiment = small_experiment(methods=[method, "mnb", "eef"], protocol=FOLDS)
    found = [
        predictions(run_experiment(experiment, RunContext(Store(tmp_path / str(jobs)), jobs=jobs)))
        for jobs in (1, 2, 3)
    ]
    assert found[0] == found[1] == found[2]


def test_matrices_too_large_to_hold_change_nothing(store, tmp_path, monkeypatch):
    experiment = small_experiment()
    expected = predictions(run_experiment(experiment, RunContext(store)))
    monkeypatch.setenv("BENCH_MEMORY_GB", "0")
    other = Store(tmp_path / "other")
    assert predictions(run_experiment(experiment, RunContext(other, jobs=2))) == expected
    monkeypatch.setenv("BENCH_MEMORY_GB", "plenty")
    with pytest.raises(BenchError, match="BENCH_MEMORY_GB is 'plenty'"):
        run_experiment(experiment, RunContext(Store(tmp_path / "third")))


# The data gate


def test_documents_left_without_words_are_kept_and_counted(store):
    text = {"skip_header": True, "skip_html": True, "stoplist": "smart", "min_documents": 100}
    method, names = methods(["ngd", "rbf"])
    more, more_names = methods(["rbf"], "l2")
    experiment = small_experiment(text=text, methods=[method, more], defaults=SVM)
    counts, _, _ = read_counts(experiment.variants[BASE_VARIANT].collection, RunContext(store))
    wordless = np.flatnonzero(counts.matrix.toarray().sum(axis=1) == 0)
    found = run_experiment(experiment, RunContext(store))
    facts, splits = found.facts[BASE_VARIANT], found.predictions.splits[BASE_VARIANT, "", None]
    assert facts["documents_without_words"] == len(wordless) > 0
    assert facts["documents"] == len(found.predictions.tasks[BASE_VARIANT, ""].ids) == 600
    assert np.isin(wordless, np.concatenate([split.test for split in splits])).any()
    assert assert_equal_to_scikit_learn(experiment, found, store, names + more_names, least_clear=0.5)


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """Files and archive of a small corpus in WebKB's format, with a card of its own, where the registry finds it."""
    files = synthetic.generate_synthetic(seed=3, size=60)
    groups = list(synthetic.SHAPE["student"])
    counts = {name: dict.fromkeys(groups, 0) for name in sorted(synthetic.SHAPE)}
    for relpath in files:
        label, group = relpath.decode().split("/")[:2]
        counts[label][group] += 1
    facts = {"title": "Small", "licence": "-", "citation": "-", "tops": sorted(counts), "archives": ["webkb.tar"]}
    card = DatasetCard(name="webkb", digest=content_digest(files), counts=counts, **facts)
    folder = tmp_path / "cards"
    folder.mkdir()
    (folder / "webkb.yaml").write_text(yaml.safe_dump(card.model_dump(mode="json"), sort_keys=False))
    monkeypatch.setattr(cards, "CARDS", folder)
    monkeypatch.setattr(registry, "CHECKOUT", tmp_path / "nowhere" / "repository")
    monkeypatch.setenv(registry.DATASETS_VARIABLE, str(tmp_path / "corpora"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return files, pack_files(files, tmp_path / "corpora" / "webkb.tar", mode="w")


class TestChangedCorpus:
    @pytest.mark.parametrize("change", ["one byte", "one more", "renamed"])
    def test_nothing_is_scored_even_with_a_full_store(self, corpus, store, monkeypatch, change):
        method = {"weighting": "tf", "normalization": "l1", "kernel": ["linear", "ngd"]}
        experiment = small_experiment(corpus={"name": "webkb"}, text={"min_occurrences": 2}, methods=[method])
        run_experiment(experiment, RunContext(store, download=False))
        files, archive = corpus
        name = sorted(files)[7]
        content = files[name]
        changed = {
            "one byte": {name: content[:-3] + bytes([content[-3] ^ 1]) + content[-2:]},
            "one more": {name + b"more": b"\n\nmore words\n"},
            "renamed": {name + b"other": content},
        }[change]
        left = {each: files[each] for each in files if each != name or change == "one more"}
        pack_files(left | changed, archive, mode="w")
        monkeypatch.setattr(
            svm_method, "train_multiclass_together", lambda *_, **__: pytest.fail("something was trained")
        )
        with pytest.raises(DataError, match="content digest"):
            run_experiment(experiment, RunContext(store, download=False))
