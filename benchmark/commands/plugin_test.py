"""Test the components of a plug-in's file: run each on the generated corpus, and check what no run can see."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from benchmark.corpora.registry import CORPORA
from benchmark.evaluation.metrics import function_of
from benchmark.experiment.configuration import experiment_from_mapping
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.plugins.discovery import registries_for
from benchmark.representation.weighting import normalize_rows
from benchmark.system.errors import BenchError
from benchmark.system.tags import tags_of
from benchmark.system.user_classes import running_user_code_here, source_location, user_code
from benchmark.system.yaml_source import Node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from benchmark.config.components import Registry

#: The largest relative difference of sums in another order.
_ROUNDING = 1e-9
#: Corpora of the runs, by their documents.
_CORPORA: Mapping[str, Mapping[str, Any]] = {
    "documents of two classes": {"name": "synthetic", "classes": ["course", "faculty"]},
    "documents of four classes": {"name": "synthetic"},
    "documents of several classes each": {"name": "synthetic", "subset": "several"},
}
_SMALL: Mapping[str, Any] = {
    "name": "plugin-test",
    "text": {"skip_header": True, "skip_html": True, "min_occurrences": 100},
    "protocol": {"name": "leave-one-group-out", "held_out": ["cornell"]},
    "methods": ["mnb"],
}


def check_file(path: Path) -> Iterator[tuple[str, str, str]]:
    """Check every component that a plug-in's file names.

    Yields
    ------
    component, check, problem : str
        Kind and name ("kernel chi2"), the claim that is checked ("is symmetric"), and why it fails, or "".

    Raises
    ------
    ConfigError
        If the file can't be loaded.
    """
    with running_user_code_here(), tempfile.TemporaryDirectory(prefix="simplexbench-") as folder:
        context = RunContext(Store(Path(folder), limit=10**9))
        named = Node.of_data({"plugins": [str(path.resolve())]}, "bench plugin test")
        for kind, registry in registries_for(named).each():
            for name, origin in registry.origins.items():
                if origin.file == path.resolve():
                    called = f"{'corpus' if kind == 'corpora' else kind.removesuffix('s')} {name}"
                    yield from ((called, *result) for result in _results(path, kind, name, registry, context))


def _results(path: Path, kind: str, name: str, registry: Registry, context: RunContext) -> Iterator[tuple[str, str]]:
    """Yield checks of a component, each with its problem or ""; what a run can't see is checked once it has run."""
    if name in registry.broken:
        yield "can be used", registry.broken[name]
        return
    component, runs = registry[name], False
    for documents, changes in _configurations(kind, name):
        problem = _problem(component, partial(_run, {"plugins": [str(path.resolve())], **_SMALL, **changes}, context))
        runs |= not problem
        yield f"runs on {documents}", problem
    for claim, (kinds, check) in _PROPERTIES.items() if runs else ():
        if kind in kinds:
            yield claim, _problem(component, partial(check, component))


def _configurations(kind: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the documents, and the other settings, of runs that a component takes part in."""
    methods: dict[str, dict[str, str]] = {
        "kernels": {"kernel": name},
        "classifiers": {"classifier": name},
        "weightings": {"weighting": name, "classifier": "linear-svm"},
        "features": {"features": name, "classifier": "linear-svm"},
        "thresholds": {"classifier": "linear-svm", "threshold": name},
    }
    if kind == "corpora":
        yield "its documents", {"corpus": {"name": name}, "protocol": {"name": "k-fold", "k": 2, "stratified": False}}
    elif kind not in methods:
        section = {"protocol": name} if kind == "protocols" else {kind: [name]}
        yield "documents of four classes", {"corpus": {"name": "synthetic"}, **section}
    else:
        for documents, corpus in _CORPORA.items():
            if kind != "thresholds" or "subset" in corpus:
                yield documents, {"corpus": corpus, "methods": [{"name": "tested", **methods[kind]}]}


def _run(configuration: dict[str, Any], context: RunContext) -> None:
    """Run a configuration, and raise BenchError where something fails."""
    done = run_experiment(experiment_from_mapping(configuration, "the test's configuration"), context)
    for reason in done.failures.values():
        raise BenchError(reason)
    for metric in configuration.get("metrics", ()):
        (value,) = {done.scored.estimate(cell, metric).value for cell in done.experiment.ids}
        if not 0 <= value <= 1:
            raise BenchError(f"a score is {value}, not between 0 and 1")


def _problem(component: Any, check: Callable[[], object]) -> str:
    try:
        with user_code(BenchError, source_location(function_of(component))):
            check()
    except BenchError as error:
        return str(error)
    return ""


# --- What no run can see ---


def keeps_parameters(component: Any) -> None:
    """Raise an error if the constructor changes a parameter, so that no candidate can be made of it."""
    if hasattr(component, "get_params"):
        clone(component())


def is_a_function(component: Any) -> None:
    """Raise an error if the values of a row depend on the rows beside it, or are others when it is fitted again."""
    X, y = _rows(component)
    one, other = (component().fit(X[:40].copy(), y[:40].copy()) for _ in range(2))
    for name in ("transform", "predict", "decision_function", "predict_proba"):
        if hasattr(one, name):
            whole, again = (_dense(getattr(each, name)(X.copy())) for each in (one, other))
            alone = [_dense(getattr(one, name)(X[start : start + 7])) for start in range(0, len(y), 7)]
            _check_equal(whole, again, f"{name} of two that were fitted alike")
            _check_equal(whole, np.concatenate(alone), f"{name} of a document alone and among others")


def is_symmetric(component: Any) -> None:
    """Raise an error unless k(x, y) = k(y, x)."""
    X, _ = _rows(component)
    gram = _dense(component().fit(X).transform(X))
    _check_equal(gram, gram.T, "k(x, y) and k(y, x)")


def repeats_its_splits(component: Any) -> None:
    """Raise an error if a protocol that is called again returns other splits."""
    documents = CORPORA["synthetic"]().outline()
    one, other = (component().splits(documents) for _ in range(2))
    for a, b in zip(one, other, strict=True):
        if not (np.array_equal(a.train, b.train) and np.array_equal(a.test, b.test)):
            problem = f"the split {a.name!r} has other documents when it is called again: let it draw from a seed"
            raise BenchError(problem)


def _rows(component: Any) -> tuple[sp.csr_array, NDArray[np.int32]]:
    """Return 60 rows, counts for a weighting and points for all else, and their classes."""
    rng, y = np.random.default_rng(2005), (np.arange(60) % 3).astype(np.int32)
    counts = sp.csr_array(rng.poisson(rng.gamma(0.5, size=(3, 40)), size=(20, 3, 40)).reshape(60, 40).astype(np.int32))
    tags = tags_of(component)
    if tags.sees_counts or hasattr(component, "factors"):
        return counts, y
    return normalize_rows(counts.astype(np.float64), tags.normalization), y


def _dense(values: Any) -> NDArray[np.float64]:
    return np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64)


def _check_equal(a: NDArray[np.float64], b: NDArray[np.float64], what: str) -> None:
    """Raise BenchError unless two arrays of the same shape are equal but for the rounding of sums."""
    worst = np.abs(a - b).max(initial=0.0)
    if not worst <= _ROUNDING * np.abs(a).max(initial=0.0):
        raise BenchError(f"{what} differ by {worst:.3g}")


#: Claims that no run can see, with the kinds of components that they are on, and their checks.
_LEARNERS = ("kernels", "classifiers", "weightings", "features")
_PROPERTIES: Mapping[str, tuple[tuple[str, ...], Callable[[Any], None]]] = {
    "keeps its parameters": (_LEARNERS, keeps_parameters),
    "is the same for a document alone and again": (_LEARNERS, is_a_function),
    "is symmetric": (("kernels",), is_symmetric),
    "returns the same splits again": (("protocols",), repeats_its_splits),
}
