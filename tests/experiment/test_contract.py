"""Whatever has a name works with whatever else has one: predictions, or one refusal, with its line, that says why."""

from __future__ import annotations

import contextlib
import functools
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.classifiers import CLASSIFIERS
from benchmark.config.experiment import check_experiment
from benchmark.evaluation.predictions import tallies_from_rows
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.kernels import KERNELS, Kernel
from benchmark.methods import wrappers as held_out
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.representation import WEIGHTINGS
from benchmark.system.errors import ConfigError
from benchmark.system.tags import NORMALIZATIONS, tags_of
from benchmark.system.yaml_source import Node

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.config.model import Experiment
    from benchmark.experiment.runner import RunPredictions

#: What has no default, or would take long otherwise.
PARAMETERS: dict[str, dict[str, Any]] = {
    "plsi-fisher": {"n_classes": [2], "tolerance": 0.1},
    "polynomial": {"c": 1.0},
}
#: Of documents: the half plane's kernel takes points of two coordinates, see `test_points.py`.
OF_TEXT = [name for name in KERNELS if name != "hyperbolic"]
NAMES = [*OF_TEXT, *(name for name, cls in CLASSIFIERS.items() if not tags_of(cls).needs_kernel)]
SUBSETS = [None, "several"]
HELD_OUT: dict[str, dict[str, Any]] = {
    "leave-one-group-out": {"held_out": ["texas"]},
    "fixed-split": {"train": "misc", "test": "texas"},
    "k-fold": {"k": 2},
    "random-subsets": {"train_size": [100], "replicates": 1, "test": "texas"},
    "hold-out": {"test_share": 0.3, "replicates": 1},
}
#: Needs dates, which the generated corpus has none of; tests/experiment/test_own_corpora.py has some.
DATED = "by-date"
TESTED = [name for name in PROTOCOLS if name != DATED]


def method(name: str, **representation: str) -> dict[str, Any]:
    """An entry of `methods`."""
    key = "kernel" if name in KERNELS else "classifier"
    return {**representation, key: {"name": name, **PARAMETERS.get(name, {})}}


def checked(
    methods: Iterable[Any], protocol: str, subset: str | None, *, two_sizes: bool = False, **more: Any
) -> Experiment:
    given = {"name": protocol, **HELD_OUT.get(protocol, {})}
    if two_sizes and protocol == "random-subsets":
        given |= {"train_size": [100, 140]}
    if subset and "stratified" in PROTOCOLS[protocol].__dataclass_fields__:  # type: ignore[attr-defined]
        given["stratified"] = False
    text = {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 100}
    corpus = {"name": "synthetic", "subset": subset, "classes": ["course", "faculty", "student"]}
    sections = {"name": "contract", "corpus": corpus, "text": text, "protocol": given, "methods": list(methods), **more}
    return check_experiment(Node.of_data(sections, "contract.yaml"), BUILTIN_REGISTRIES)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"), limit=10**9)


REPRESENTATIONS = [
    {"weighting": weighting, "normalization": normalization}
    for weighting, normalization in itertools.product(WEIGHTINGS, NORMALIZATIONS)
    if normalization == "l1" or weighting in ("tf", "tfidf")
]


@functools.cache
def allowed_of(name: str) -> list[dict[str, str]]:
    """The representations that are not refused before any work."""
    found = []
    for representation in REPRESENTATIONS:
        with contextlib.suppress(ConfigError):
            checked([method(name, **representation)], "k-fold", None)
            found.append(representation)
    return found


def share(protocol: str) -> list[dict[str, Any]]:
    """Every method, under that share of the weightings and normalizations it takes that falls to a protocol."""
    found, own = [], TESTED.index(protocol)
    for number, name in enumerate(NAMES):
        allowed = allowed_of(name) or [{}]
        turn = (own + number) % len(TESTED)
        found += [method(name, **each) for each in allowed[turn :: len(TESTED)] or allowed[:1]]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_representation_is_refused_where_the_kernel_is_not_defined_on_it(name: str) -> None:
    cls = KERNELS.get(name) or CLASSIFIERS[name]
    kernel = cls(**PARAMETERS.get(name, {})) if name in KERNELS else None
    fits = NORMALIZATIONS if kernel is None else tags_of(kernel).normalizations
    expected = [each for each in REPRESENTATIONS if each["normalization"] in fits and not tags_of(cls).sees_counts]
    assert allowed_of(name) == expected


@pytest.mark.parametrize("subset", SUBSETS, ids=["single", "several"])
@pytest.mark.parametrize("protocol", TESTED)
def test_every_method_decides_every_tested_document_of_every_protocol(
    store: Store, subset: str | None, protocol: str
) -> None:
    # Threads take longer than such small machines do: every method meets two of them under one protocol.
    found = run_experiment(
        checked(share(protocol), protocol, subset), RunContext(store, jobs=2 if protocol == "fixed-split" else 1)
    )
    check(found)
    assert median_accuracy(found) > 0.55, "decisions are about these documents"


@pytest.mark.parametrize(
    ("subset", "protocol"), [(None, "leave-one-group-out"), ("several", "random-subsets")], ids=["single", "several"]
)
def test_every_method_takes_selected_terms(store: Store, subset: str | None, protocol: str) -> None:
    experiment = checked(map(method, NAMES), protocol, subset, two_sizes=True, terms={"number": [30, 60]})
    found = run_experiment(experiment, RunContext(store))
    check(found)
    assert {cell.terms for cell in experiment.cells} == {30, 60}
    fewer, more = list[Any](), list[Any]()
    for place, point in found.predictions.settings.items():
        (fewer if place[5] == 30 else more).append([given.tolist() for given in point.by_split])
    assert np.mean([a != b for a, b in zip(fewer, more, strict=True)]) > 0.9


@pytest.mark.parametrize(
    ("subset", "protocol"), [(None, "random-subsets"), ("several", "leave-one-group-out")], ids=["single", "several"]
)
def test_parameters_of_every_method_are_chosen(store: Store, subset: str | None, protocol: str) -> None:
    choose = {"by": ["oracle", "cross-validation"], "folds": 2}
    experiment = checked(map(with_candidates, NAMES), protocol, subset, two_sizes=True, choose=choose)
    found = run_experiment(experiment, RunContext(store))
    check(found)
    assert all(len(entry.candidates) == 2 for entry in experiment.variants["base"].entries)
    for place, point in found.predictions.settings.items():
        task, counts = found.predictions.tasks[place.of_task], tallies_from_rows(point.inner)
        trained = [split.trained for split in found.predictions.splits[place.of_splits]]
        np.testing.assert_array_equal(counts.true, trained, err_msg="each training document is in one fold")
        assert (counts.right <= np.minimum(counts.assigned, counts.true)).all()
        if not task.multilabel:
            np.testing.assert_array_equal(counts.assigned.sum(axis=1), counts.documents)


def test_thresholds_of_every_method_are_chosen(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_out, "INNER_FOLDS", 2)  # in which thresholds are learned: their number isn't asked here
    names = [name for name in NAMES if name not in KERNELS or issubclass(KERNELS[name], Kernel)]
    methods = [{**method(name), "threshold": ["zero", "cross-validated"]} for name in names]
    choose = {"by": "cross-validation", "folds": 2, "grid_keys": ["threshold"]}
    found = run_experiment(checked(methods, "leave-one-group-out", "several", choose=choose), RunContext(store))
    check(found)
    assert len({tuple(indices) for indices in found.scored.chosen.values()}) > 1


def with_candidates(name: str) -> dict[str, Any]:
    """A method with two values of a parameter, of its own or of its machine."""
    if name in KERNELS:
        return {**method(name), "classifier": {"C": [0.1, 1]}}
    own = {"born": "amplitude", **dict.fromkeys(("linear-svm", "streamed-svm", "logistic"), "C")}
    parameter = own.get(name, "smoothing")
    return {"classifier": {"name": name, parameter: [0.1, 1]}}


def check(found: RunPredictions) -> None:
    """Nothing failed, and every point has a decision for each document that a split tests."""
    assert not found.failures
    predictions = found.predictions
    cells = {(cell.variant, cell.task, cell.method, cell.size, cell.terms) for cell in found.experiment.cells}
    assert cells == {(*place[:3], *place[4:]) for place in predictions.settings}
    documents = predictions.tasks["base", ""]
    for (variant, task, _, _, size, _), point in predictions.settings.items():
        splits = predictions.splits[variant, task, size]
        for split, given, tied in zip(splits, point.by_split, np.split(point.tied, point.bounds[1:-1]), strict=True):
            assert given.shape == tied.shape == documents.truth[split.test].shape
            assert given.dtype == (np.bool_ if documents.multilabel else np.int16)
            assert documents.multilabel or ((given >= 0) & (given < len(documents.classes))).all()


def median_accuracy(found: RunPredictions) -> float:
    documents, right = found.predictions.tasks["base", ""], []
    for place, point in found.predictions.settings.items():
        splits = zip(found.predictions.splits[place.of_splits], point.by_split, strict=True)
        right += [(given == documents.truth[split.test]).mean() for split, given in splits]
    return float(np.median(right))
