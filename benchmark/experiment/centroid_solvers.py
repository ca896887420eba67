"""The gradient flow against the exact solution: the SKL centroids of all documents, by each solver, and their cost."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.classifiers.centroids.divergence import ClassStatistics, class_statistics, mean_skl
from benchmark.classifiers.centroids.exact import skl_centroid
from benchmark.classifiers.centroids.flow import flow
from benchmark.classifiers.centroids.graphs import GRAPHS
from benchmark.experiment.plan import code_digest
from benchmark.experiment.store import Entry, key_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.centroid_curves import CentroidCurves
    from benchmark.observer import Observer
    from benchmark.experiment.store import Store
    from benchmark.text.counts import Counts

    Array = NDArray[np.float64]

EXACT = "exact"


@dataclass(frozen=True, eq=False)
class Solved:
    """What one solver made of each class.

    Parameters
    ----------
    energies : float64 array, shape (k,)
        Mean SKL of the documents to the centroid, in nats.
    gaps : float64 array, shape (k,)
        Upper bounds of what the energies lie above the smallest there is; 0 of the closed form.
    steps, edges : int64 arrays, shapes (k,), ()
        Of the flow.
    """

    energies: Array
    gaps: Array
    steps: NDArray[np.int64]
    edges: NDArray[np.int64]


def solver_keys(study: CentroidCurves, counts_id: str) -> dict[str, str]:
    """Store keys of the closed form and of each flow."""
    content = {"counts": counts_id, "smoothing": study.settings[0].smoothing, "tolerance": study.tolerance}
    return {
        name: key_of(stage="centroids", code=code_digest("centroids"), solver=name, **content)
        for name in (EXACT, *study.graphs)
    }


def run_solvers(
    study: CentroidCurves,
    counts: Counts,
    counts_id: str,
    store: Store,
    observer: Observer,
    found: tuple[dict[str, Solved], dict[str, str], dict[str, Any]],
) -> None:
    """Solve for the classes of the base setting; fill in what was found, what failed, and the seconds of each solver.

    The seconds of a solver that the store has are those that it took when it was run.
    """
    solved, failures, timings = found
    labels = counts.documents.labels
    statistics = None
    for name, key in solver_keys(study, counts_id).items():
        entry = store.get(key)
        if entry is None:
            if statistics is None:
                rows = [(labels == code) & (np.diff(counts.matrix.indptr) > 0) for code in range(len(study.classes))]
                statistics = [class_statistics(counts.matrix[own], study.settings[0].smoothing) for own in rows]
            try:
                entry = _exact(statistics) if name == EXACT else _flows(name, statistics, counts, study.tolerance)
            except RuntimeError as error:
                failures[f"flow-{name}"] = str(error)
                observer.note(f"flow-{name} failed: {error}")
                continue
            store.put(key, entry)
        solved[name] = Solved(*(entry.arrays[each] for each in ("energies", "gaps", "steps", "edges")))
        timings[name] = entry.facts["seconds"]
        if name != EXACT:
            observer.step(f"flow-{name}")


def _exact(statistics: list[ClassStatistics]) -> Entry:
    started = time.perf_counter()
    centroids = [skl_centroid(each) for each in statistics]
    seconds = time.perf_counter() - started
    k = len(statistics)
    arrays = {
        "energies": np.array([mean_skl(each, q) for each, q in zip(statistics, centroids, strict=True)]),
        "gaps": np.zeros(k),
        "steps": np.zeros(k, dtype=np.int64),
        "edges": np.array(0),
    }
    return Entry(arrays, {"seconds": {"centroids": seconds}})


def _flows(name: str, statistics: list[ClassStatistics], counts: Counts, tolerance: float) -> Entry:
    started = time.perf_counter()
    edges = GRAPHS[name](counts.matrix)
    drawn = time.perf_counter()
    ends = [flow(each, edges, tolerance=tolerance) for each in statistics]
    seconds = {"graph": drawn - started, "centroids": time.perf_counter() - drawn}
    arrays = {
        "energies": np.array([end.energies[-1] for end in ends]),
        "gaps": np.array([end.gap for end in ends]),
        "steps": np.array([len(end.times) - 1 for end in ends], dtype=np.int64),
        "edges": np.array(len(edges)),
    }
    return Entry(arrays, {"seconds": seconds})
