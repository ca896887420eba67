"""The routes that `make perf` compares, each a process of its own: ours, scikit-learn's, LIBSVM's documented one.

    python tests/perf/routes.py {ours,webkb,webkb-again,quickstart,lexing,scikit-learn,documented} OUT

Each writes OUT as JSON: seconds, and the predictions of its cells where it has any.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]


def bench(config: str, folder: Path) -> dict[str, Any]:
    """`bench run` as a user runs it, from process start to the last file."""
    started = time.perf_counter()
    command = [
        sys.executable,
        "-m",
        "benchmark.cli",
        "run",
        str(ROOT / "configs" / f"{config}.yaml"),
        "--out",
        str(folder),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {"seconds": time.perf_counter() - started}


def predictions_of(folder: Path) -> dict[str, list[str]]:
    """Predicted classes by cell, in the order of the test documents."""
    from benchmark.experiment.folder import read_results

    predictions = read_results(folder).predictions  # type: ignore[attr-defined]
    found = {}
    for (variant, task, method, *_), point in predictions.points.items():
        classes = predictions.tasks[variant, task].classes
        found[method] = [classes[code] for codes in point.given for code in codes]
    return found


def solver_share() -> dict[str, Any]:
    """The seconds of one 20NG cell by stage, and LIBSVM's solver's share of them."""
    from benchmark.classifiers.libsvm import NodeMatrix, train
    from benchmark.classifiers.svm import Machines, decide, predict
    from benchmark.compiled import compile_all
    from benchmark.kernels import NegativeGeodesicDistance
    from benchmark.kernels.gram import Gram, InnerProducts
    from benchmark.kernels.products import inner_products, self_products
    from benchmark.representation import NORMALIZATIONS, embed, norms, weight_terms

    import_module("libsvm.svm")  # what a run loads with its first cell is no part of one cell
    compile_all()
    counts, splits = counts_and_splits()
    labels, split = counts.documents.labels, splits[0]
    jobs = len(os.sched_getaffinity(0))
    marks = [time.perf_counter()]
    weights = weight_terms(counts.matrix, None)
    points = embed(weights, 0.5)
    matrix = np.empty((points.shape[0], len(split.train)))
    inner_products(points, points[split.train], out=matrix)
    marks.append(time.perf_counter())
    products = InnerProducts(
        matrix,
        split.train,
        self_products(points),
        {n: norms(weights, n) for n in NORMALIZATIONS},
        0.5,
        points.shape[1],
    )
    kernel, nodes = NegativeGeodesicDistance(), NodeMatrix()
    order = split.train[np.argsort(labels[split.train], kind="stable")]
    nodes.fill(Gram(kernel, products, "l1", order, order), jobs)  # takes the memory, as a run's first cell does
    marks.append(time.perf_counter())
    nodes.fill(Gram(kernel, products, "l1", order, order), jobs)
    marks.append(time.perf_counter())
    bounds = np.concatenate([[0], np.cumsum(np.bincount(labels[split.train]))])
    classes = [np.arange(a, b) for a, b in pairwise(bounds)]
    pairs = [(classes[i], classes[j]) for i in range(len(classes)) for j in range(i + 1, len(classes))]
    machines = Machines("one-vs-one", bounds, tuple(train(nodes, pairs, C=1.0, epsilon=1e-3, cache_mb=200, jobs=jobs)))
    marks.append(time.perf_counter())
    predict(machines, decide(machines, Gram(kernel, products, "l1", split.test, order), jobs))
    marks.append(time.perf_counter())
    names = ("inner products", "first link", "link", "LIBSVM's solver", "test link and decisions")
    return {"stages": dict(zip(names, np.diff(marks).tolist(), strict=True))}


def counts_and_splits() -> tuple[Any, Any]:
    """Counts of 20NG as the configuration lexes them, and its split."""
    from benchmark.experiment.reading import read_counts
    from benchmark.experiment.store import Store
    from benchmark.observer import Observer

    variant = base_of("20ng")
    counts, _, _ = read_counts(variant.collection, Store(), Observer(), download=False)
    return counts, variant.protocol.build().splits(counts.documents)


def base_of(config: str) -> Any:
    """A configuration itself, without variants."""
    from benchmark.config.check import check_experiment
    from benchmark.config.load import read_config
    from benchmark.config.model import BASE
    from benchmark.plugins.gathering import SHIPPED

    return check_experiment(read_config(ROOT / "configs" / f"{config}.yaml"), SHIPPED).variants[BASE]


def lexing() -> dict[str, Any]:
    """20NG read from its archive, verified and lexed, without the store."""
    from benchmark.corpora import registry
    from benchmark.text.vocabulary import count

    collection = base_of("20ng").collection
    count(registry.load("synthetic"), collection.lexing, collection.pruning)  # brings what is compiled along
    started = time.perf_counter()
    corpus = registry.select(registry.load("20ng"), list(collection.classes), collection.exclude)
    count(corpus, collection.lexing, collection.pruning)
    return {"seconds": time.perf_counter() - started}


def weights_of(counts: Any, weighting: str, normalization: str) -> Any:
    """The points that the plain routes start from."""
    from sklearn.preprocessing import normalize

    from benchmark.representation import inverse_document_frequency, weight_terms

    idf = inverse_document_frequency(counts.matrix) if weighting == "tfidf" else None
    return normalize(weight_terms(counts.matrix, idf), norm=normalization)


def plain_products(points: Any, train: Any, *, root: bool) -> np.ndarray:
    """Inner products of all documents with the training documents, by scipy."""
    points = points.sqrt() if root else points
    return (points @ points[train].T).toarray()


def plain_kernel(kernel: str, products: np.ndarray, squares: np.ndarray, train: Any) -> np.ndarray:
    """Kernel values by numpy."""
    if kernel == "linear":
        return products
    if kernel == "ngd":
        return -2 * np.arccos(np.clip(products, 0, 1))
    return -np.sqrt(np.maximum(squares[:, None] + squares[train][None, :] - 2 * products, 0))


def scikit_learn() -> dict[str, Any]:
    """The ten cells by `X @ X.T` for each representation and `SVC(kernel="precomputed")`, after lexing.

    As a careful user would write it: products once a representation, against the training documents only.
    """
    from sklearn.svm import SVC

    counts, splits = counts_and_splits()
    labels, split = counts.documents.labels, splits[0]
    classes = counts.documents.classes
    found = {}
    started = time.perf_counter()
    for weighting in ("tf", "tfidf"):
        for normalization, kernels in (("l1", ("linear", "ned")), ("l1", ("ngd",)), ("l2", ("linear", "ned"))):
            points = weights_of(counts, weighting, normalization)
            products = plain_products(points, split.train, root=kernels == ("ngd",))
            squares = np.asarray(points.multiply(points).sum(axis=1))
            for kernel in kernels:
                gram = plain_kernel(kernel, products, squares, split.train)
                machine = SVC(C=1.0, kernel="precomputed", tol=1e-3).fit(gram[split.train], labels[split.train])
                predicted = machine.predict(gram[split.test])
                found[f"{weighting}-{normalization}-{kernel}"] = [classes[code] for code in predicted]
    return {"seconds": time.perf_counter() - started, "predictions": found}


def documented() -> dict[str, Any]:
    """One cell (TF, L1, NGD) by libsvm-official's documented functions on a numpy array, after lexing and the Gram."""
    from libsvm.svmutil import svm_parameter, svm_predict, svm_problem, svm_train

    counts, splits = counts_and_splits()
    labels, split = counts.documents.labels, splits[0]
    products = plain_products(weights_of(counts, "tf", "l1"), split.train, root=True)
    gram = plain_kernel("ngd", products, products, split.train)
    started = time.perf_counter()
    rows = np.hstack([np.arange(1, len(split.train) + 1)[:, None], gram[split.train]])
    model = svm_train(
        svm_problem(labels[split.train].astype(float), rows, isKernel=True), svm_parameter("-t 4 -c 1 -q")
    )
    tests = np.hstack([np.arange(1, len(split.test) + 1)[:, None], gram[split.test]])
    predicted, _, _ = svm_predict([], tests, model, "-q")
    seconds = time.perf_counter() - started
    classes = counts.documents.classes
    return {"seconds": seconds, "predictions": {"tf-l1-ngd": [classes[int(code)] for code in predicted]}}


def main() -> None:
    """Run one route."""
    route, out = sys.argv[1], Path(sys.argv[2])
    folder = out.with_suffix("")
    if route == "ours":
        result = bench("20ng", folder)
        result["predictions"] = predictions_of(folder)
    elif route == "webkb-again":
        result = bench("webkb", folder)
    elif (ROOT / "configs" / f"{route}.yaml").exists():
        result = bench(route, folder)
    else:
        routes = {"lexing": lexing, "scikit-learn": scikit_learn, "documented": documented, "stages": solver_share}
        result = routes[route]()
    out.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
