"""Small collections, and everything that a configuration can name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.classifiers import CLASSIFIERS
from benchmark.config.components import check_component
from benchmark.config.model import MethodFile, MethodSpec, Representation, TermSelection
from benchmark.corpora.user.text_files import file_digest
from benchmark.kernels import KERNELS, Bhattacharyya, Kernel
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.wrappers import build_method
from benchmark.representation import WEIGHTINGS
from benchmark.representation.features import FEATURE_MAPS
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.splits import Split
    from benchmark.methods.base import FittedMethod, Method
    from benchmark.methods.problem import Problem

#: What a method needs that has no default, or would take long otherwise.
PARAMETERS: dict[str, dict[str, Any]] = {"plsi-fisher": {"n_classes": [2], "tolerance": 1e-2}}


class GramRows(Bhattacharyya):
    """A kernel of its own Gram rows, which the run can't make of inner products."""

    def transform(self, X: Any) -> Any:
        return super().transform(X)


#: Kernels of a configuration, and one as a plug-in has it.
ALL_KERNELS: dict[str, type[Any]] = {**KERNELS, "gram-rows": GramRows}
#: All methods of documents: the half plane's takes points of two coordinates, see `tests/experiment/test_points.py`.
NAMES = [*KERNELS, *(name for name, cls in CLASSIFIERS.items() if not tags_of(cls).needs_kernel)]
NAMES.remove("hyperbolic")
#: Those of which a model can be kept: other kernels learn a model of the documents.
KEPT = [name for name in NAMES if name not in KERNELS or issubclass(KERNELS[name], Kernel)]
SELECTED = TermSelection((20,), "information-gain", "maximum")


def represented(
    weighting: str, normalization: str, idf: str, dirichlet: float = 0.0, features: str | None = None
) -> Representation:
    """A representation by the names of its parts."""
    mapped = None if features is None else check_component("features", FEATURE_MAPS, features)
    weights = check_component("weighting", WEIGHTINGS, weighting)
    return Representation(weights, normalization, idf, dirichlet, mapped, learns=weights.build().learns)


def spec_of(name: str, representation: Representation, **classifier: Any) -> MethodSpec:
    """A method by the name of a kernel or of a classifier."""
    given = {"name": name, **PARAMETERS.get(name, {})}
    if name in ALL_KERNELS:
        svm = check_component("classifier", CLASSIFIERS, {"name": "svm", **classifier})
        return MethodSpec(representation, check_component("kernel", ALL_KERNELS, given), svm)
    return MethodSpec(representation, None, check_component("classifier", CLASSIFIERS, given | classifier))


def default_spec(name: str, idf: str = "collection", **classifier: Any) -> MethodSpec:
    """A method on term frequencies, in its own normalization."""
    cls = ALL_KERNELS.get(name) or CLASSIFIERS[name]
    return spec_of(name, represented("tf", tags_of(cls).normalization, idf), **classifier)


def solved(
    spec: MethodSpec,
    problem: Problem,
    bench: MatrixCache,
    *splits: Split,
    terms: int | None = None,
    aggregate: str = "maximum",
    replicated: bool = False,
) -> list[SettingPredictions]:
    """Build a method and solve the splits."""
    selection = None if terms is None else TermSelection((terms,), "information-gain", aggregate)
    return build_method(spec, problem, selection, replicated=replicated).solve(problem, splits, terms, bench)


def with_documents(problem: Problem, key: str, **changes: Any) -> Problem:
    """The problem with other labels, or other class indicators, of its documents."""
    documents = replace(problem.documents, **changes)
    return replace(problem, counts=replace(problem.counts, documents=documents), key=key)


def file_of(path: Path) -> MethodFile:
    """A file as a configuration names it."""
    return MethodFile(path.name, file_digest(path), path)


def trained(
    method: Method, problem: Problem, split: Split, terms: int | None, bench: MatrixCache
) -> tuple[FittedMethod, Any]:
    """A method that is trained on a split, and what it takes of all documents."""
    data = method.data_of(problem, split, terms, bench)
    return method.fit(data), data.inputs(method.spec)


@pytest.fixture
def bench() -> MatrixCache:
    return MatrixCache(jobs=1)
