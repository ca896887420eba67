"""The routes that `make perf` compares, each a process of its own: ours, and what a user would pick instead.

    python tests/perf/routes.py ROUTE OUT STARTED

STARTED is when the process was started, in seconds since 1970. Each route writes OUT as JSON: its seconds, and where it
predicts, those from the counts on, its predictions by cell, and their accuracy. A route of `SIDE_BY_SIDE` is called
after its corpus, too: "webkb:svc".
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
#: One fold of each configuration, and what of ours stands beside the routes of others.
ONE_FOLD = {"20ng": "fixed-split", "webkb": "{name: leave-one-group-out, held_out: [cornell]}"}
OURS = {
    "ngd": "ngd",
    "hellinger": "{weighting: tfidf, idf: training, features: hellinger, "
    "classifier: {name: linear-svm, C: 2, ridge: 0.5708, scheme: one-vs-rest}}",
}


def bench(config: Path, folder: Path) -> dict[str, Any]:
    """`bench run` as a user runs it, from process start to the last file."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "benchmark.cli", "run", str(config), "--out", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {"seconds": time.perf_counter() - started}


def decided(folder: Path) -> dict[str, Any]:
    """What a run's cells decided, in the order of the test documents, and what they booked, added up over splits."""
    from benchmark.evaluation.predictions import TIMERS
    from benchmark.experiment.run_folder import read_run

    predictions = read_run(folder).predictions  # type: ignore[attr-defined]
    found: dict[str, Any] = {"predictions": {}, "accuracy": {}, "ties": {}, "stages": {}}
    for (variant, task, method, _, size, _), point in predictions.settings.items():
        documents, splits = predictions.tasks[variant, task], predictions.splits[variant, task, size]
        truth = np.concatenate([documents.truth[split.test] for split in splits])
        codes = np.concatenate(point.by_split)
        found["predictions"][method] = [documents.classes[code] for code in codes]
        found["accuracy"][method] = float(np.mean(codes == truth))
        found["ties"][method] = int(np.concatenate(point.tied_by_split).sum())
        found["stages"][method] = dict(zip(TIMERS, point.seconds.sum(axis=0).tolist(), strict=True))
    return found


def ours(config: str, method: str, folder: Path) -> dict[str, Any]:
    """One method of ours on one fold; "from_counts" is what its cell books: from weights to predictions."""
    folder.mkdir()
    shutil.copy(ROOT / "configs" / f"{config}.yaml", folder)
    fold = f"extends: {config}\nname: fold\nprotocol: {ONE_FOLD[config]}\ncompare: []\n"
    (folder / "fold.yaml").write_text(f"{fold}defaults: {{weighting: tf}}\nmethods: [{OURS[method]}]\n")
    found = bench(folder / "fold.yaml", folder / "run") | decided(folder / "run")
    (stages,) = found["stages"].values()
    return found | {"from_counts": sum(s for name, s in stages.items() if name != "machines")}


def base_of(config: str) -> Any:
    """A configuration itself, without variants."""
    from benchmark.config.experiment import check_experiment
    from benchmark.config.extends import read_config
    from benchmark.config.model import BASE_VARIANT
    from benchmark.plugins.discovery import BUILTIN_REGISTRIES

    return check_experiment(read_config(ROOT / "configs" / f"{config}.yaml"), BUILTIN_REGISTRIES).variants[BASE_VARIANT]


def corpus_of(config: str) -> Any:
    """The documents of a configuration, read from their archive and verified."""
    from benchmark.corpora import registry

    collection = base_of(config).collection
    return registry.select_documents(registry.load_corpus(config), list(collection.classes), collection.exclude)


def counts_of(config: str) -> Any:
    """Counts of a configuration's documents as it lexes them, without the store."""
    from benchmark.text.vocabulary import count_terms

    collection = base_of(config).collection
    return count_terms(corpus_of(config), collection.lexing, collection.pruning, len(os.sched_getaffinity(0)))


def first_split(config: str, documents: Any) -> Any:
    """The split that all routes are tested on."""
    return base_of(config).protocol.build().splits(documents)[0]


def lexing() -> dict[str, Any]:
    """20NG read from its archive, verified and lexed, without the store."""
    from benchmark.corpora import registry
    from benchmark.text.vocabulary import count_terms

    collection = base_of("20ng").collection
    count_terms(
        registry.load_corpus("synthetic"), collection.lexing, collection.pruning
    )  # brings what is compiled along
    started = time.perf_counter()
    counts_of("20ng")
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
    """Kernel values by numpy; NGD's take the products' place."""
    if kernel == "linear":
        return products
    if kernel == "ngd":
        np.arccos(np.clip(products, 0, 1, out=products), out=products)
        return np.multiply(products, -2, out=products)
    return -np.sqrt(np.maximum(squares[:, None] + squares[train][None, :] - 2 * products, 0))


def ten_cells() -> dict[str, Any]:
    """20NG's cells by `X @ X.T` for each representation and `SVC(kernel="precomputed")`, after lexing.

    As a careful user would write it: products once a representation, against the training documents only.
    """
    from sklearn.svm import SVC

    counts = counts_of("20ng")
    split = first_split("20ng", counts.documents)
    labels, classes = counts.documents.labels, counts.documents.classes
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


# --- What a user would pick instead: documents, split, predicted codes, seconds from counts ---


def svc(config: str) -> tuple[Any, Any, Any, float]:
    """NGD's Gram matrix by scipy and numpy, and `SVC(kernel="precomputed")`."""
    from sklearn.svm import SVC

    counts = counts_of(config)
    documents, split = counts.documents, first_split(config, counts.documents)
    started = time.perf_counter()
    gram = _ngd(counts, split)
    machine = SVC(C=1.0, kernel="precomputed", tol=1e-3).fit(gram[split.train], documents.labels[split.train])
    predicted = machine.predict(gram[split.test])
    return documents, split, predicted, time.perf_counter() - started


def libsvm(config: str) -> tuple[Any, Any, Any, float]:
    """The same matrix as a numpy array to libsvm-official's documented functions."""
    from libsvm.svmutil import svm_parameter, svm_predict, svm_problem, svm_train

    counts = counts_of(config)
    documents, split = counts.documents, first_split(config, counts.documents)
    started = time.perf_counter()
    gram = _ngd(counts, split)
    rows = np.hstack([np.arange(1, len(split.train) + 1)[:, None], gram[split.train]])
    problem = svm_problem(documents.labels[split.train].astype(float), rows, isKernel=True)
    model = svm_train(problem, svm_parameter("-t 4 -c 1 -q"))
    tests = np.hstack([np.arange(1, len(split.test) + 1)[:, None], gram[split.test]])
    predicted = np.array(svm_predict([], tests, model, "-q")[0], dtype=int)
    return documents, split, predicted, time.perf_counter() - started


def _ngd(counts: Any, split: Any) -> np.ndarray:
    products = plain_products(weights_of(counts, "tf", "l1"), split.train, root=True)
    return plain_kernel("ngd", products, products, split.train)


def tfidf(config: str) -> tuple[Any, Any, Any, float]:
    """`TfidfVectorizer` and `LinearSVC`, as they are, on the documents as they lie."""
    from sklearn.svm import LinearSVC

    return _on_tfidf(config, LinearSVC(random_state=0))


def intelex(config: str) -> tuple[Any, Any, Any, float]:
    """`TfidfVectorizer` and scikit-learn-intelex's `SVC(kernel="linear")`, which takes its sparse rows."""
    from sklearnex.svm import SVC

    return _on_tfidf(config, SVC(kernel="linear"))


def _on_tfidf(config: str, machine: Any) -> tuple[Any, Any, Any, float]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    corpus = corpus_of(config)
    documents, split = corpus.documents, first_split(config, corpus.documents)
    texts = [text.decode("latin-1") for text in corpus]
    words = TfidfVectorizer()
    train = words.fit_transform([texts[row] for row in split.train])
    test = words.transform([texts[row] for row in split.test])
    started = time.perf_counter()
    predicted = machine.fit(train, documents.labels[split.train]).predict(test)
    return documents, split, predicted, time.perf_counter() - started


SIDE_BY_SIDE = {"svc": svc, "libsvm": libsvm, "tfidf": tfidf, "intelex": intelex}


def side(config: str, how: str, folder: Path, started: float) -> dict[str, Any]:
    """One route of the table on one fold."""
    if how in OURS:
        return ours(config, how, folder)
    documents, split, codes, from_counts = SIDE_BY_SIDE[how](config)
    return {
        "seconds": time.time() - started,
        "from_counts": from_counts,
        "accuracy": {how: float(np.mean(codes == documents.labels[split.test]))},
        "predictions": {how: [documents.classes[code] for code in codes]},
    }


def main() -> None:
    """Run one route."""
    route, out, started = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    folder, config = out.with_suffix(""), ROOT / "configs" / f"{route.removesuffix('-again')}.yaml"
    if ":" in route:
        result = side(*route.split(":"), folder, started)
    elif config.exists():
        result = bench(config, folder)
        if route == "20ng":
            result |= decided(folder)
    else:
        result = {"lexing": lexing, "ten-cells": ten_cells}[route]()
    out.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
