"""`make perf`: ours against what a user would pick instead, on the real corpora, in one session.

    python tests/perf/measure.py [FILE.json]

Medians of three runs, in seconds on the clock and of the processors, and the largest peak of memory, each route in a
process of its own. The routes of libraries go from counts, or from texts, to predictions.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
REPEATS = 3
#: Whole runs, each from an empty store; those that are asked again find all in the store.
WHOLE = (
    *("quickstart", "webkb", "webkb-again", "20ng", "webkb-diffusion", "decision-boundaries"),
    *("reuters-hp-top-reduced", "reuters-eef", "reuters-skl"),
)
#: One fold of each configuration.
ONE_FOLD = {"20ng": "fixed-split", "webkb": "{name: leave-one-group-out, held_out: [cornell]}"}
OURS = {
    "ngd": "{weighting: tf, normalization: l1, kernel: ngd}",
    "hellinger": "{weighting: tfidf, idf: training, features: hellinger, "
    "classifier: {name: linear-svm, C: 2, ridge: 0.5708, scheme: one-vs-rest}}",
}
#: The machines of configs/20ng.yaml, under each weighting.
KERNELS = (("l1", "linear"), ("l1", "ned"), ("l1", "ngd"), ("l2", "linear"), ("l2", "ned"))
ROUTES = {
    "ngd": "ours: NGD, one machine a pair",
    "svc": "scikit-learn: NGD's matrix, SVC(precomputed)",
    "libsvm": "LIBSVM: NGD's matrix, svm_train, svm_predict",
    "cells": "scikit-learn: the matrices of the ten cells, SVC(precomputed)",
    "hellinger": "ours: √(TF×IDF), LIBLINEAR",
    "tfidf": "scikit-learn: TfidfVectorizer, LinearSVC",
}


# A route, in a process of its own


def ours(config: str, method: str, folder: Path) -> dict[str, Any]:
    """One method of ours on one fold."""
    shutil.copy(ROOT / "configs" / f"{config}.yaml", folder)
    fold = f"extends: {config}\nname: fold\nprotocol: {ONE_FOLD[config]}\ncompare: []\n"
    (folder / "fold.yaml").write_text(f"{fold}methods: [{OURS[method]}]\n")
    command = [sys.executable, "-m", "benchmark.cli", "run", str(folder / "fold.yaml"), "--out", str(folder / "run")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    scores = pd.read_csv(folder / "run" / "scores.csv").query("metric == 'accuracy' and fold == 'all'")
    predicted = pd.read_parquet(folder / "run" / "predictions.parquet")["predicted"].astype(str)
    return {"accuracy": float(scores["value"].iloc[0]), "predicted": predicted.tolist()}


def others(config: str, how: str) -> dict[str, Any]:
    """What a user would pick instead, on the same documents and split, by the documented functions of a library."""
    from libsvm.svmutil import svm_parameter, svm_predict, svm_problem, svm_train
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize
    from sklearn.svm import SVC, LinearSVC

    from benchmark.config.experiment import check_experiment, read_config
    from benchmark.config.model import BASE_VARIANT
    from benchmark.corpora import registry
    from benchmark.corpora.assemble import select_documents
    from benchmark.plugins.discovery import BUILTIN_REGISTRIES
    from benchmark.text.vocabulary import count_terms

    base = check_experiment(read_config(ROOT / "configs" / f"{config}.yaml"), BUILTIN_REGISTRIES).variants[BASE_VARIANT]
    collection = base.collection
    corpus = select_documents(registry.load_corpus(config), list(collection.classes), collection.exclude)
    split, documents = base.protocol.build().splits(corpus.documents)[0], corpus.documents
    labels = documents.labels[split.train]
    if how == "tfidf":
        texts, words = [text.decode("latin-1") for text in corpus], TfidfVectorizer()
        train = words.fit_transform([texts[row] for row in split.train])
        codes = LinearSVC(random_state=0).fit(train, labels).predict(words.transform([texts[r] for r in split.test]))
    else:
        counts = count_terms(corpus, collection.lexing, collection.pruning, len(os.sched_getaffinity(0)))
        if how == "cells":
            cells = ten_cells(counts, split, labels)
            found = {cell: [documents.classes[code] for code in codes] for cell, codes in cells}
            return {"cells": found, "documents": [str(documents.ids[row]) for row in split.test]}
        points = normalize(counts.matrix.astype(float), norm="l1").sqrt()
        products = (points @ points[split.train].T).toarray()
        gram = -2 * np.arccos(np.clip(products, 0, 1, out=products), out=products)
        if how == "svc":
            machine = SVC(C=1.0, kernel="precomputed", tol=1e-3).fit(gram[split.train], labels)
            codes = machine.predict(gram[split.test])
        else:
            rows = np.hstack([np.arange(1, len(split.train) + 1)[:, None], gram[split.train]])
            problem = svm_problem(labels.astype(float), rows, isKernel=True)
            model = svm_train(problem, svm_parameter("-t 4 -c 1 -q"))
            tests = np.hstack([np.arange(1, len(split.test) + 1)[:, None], gram[split.test]])
            codes = np.array(svm_predict([], tests, model, "-q")[0], dtype=int)
    accuracy = float(np.mean(codes == documents.labels[split.test]))
    return {"accuracy": accuracy, "predicted": [documents.classes[code] for code in codes]}


def ten_cells(counts: Any, split: Any, labels: Any) -> Iterator[tuple[str, Any]]:
    """Yield the predicted codes of each cell of configs/20ng.yaml: a dense matrix of its kernel, and SVC."""
    import scipy.sparse as sp
    from sklearn.metrics.pairwise import euclidean_distances
    from sklearn.preprocessing import normalize
    from sklearn.svm import SVC

    counted = counts.matrix.astype(float)
    idf = np.log(counted.shape[0] / np.diff(counted.tocsc().indptr))
    for weighting, weighted in (("tf", counted), ("tfidf", counted @ sp.diags_array(idf))):
        for norm, kernel in KERNELS:
            points = normalize(weighted, norm=norm)
            if kernel == "ned":
                gram = -euclidean_distances(points, points[split.train])
            else:
                points = points.sqrt() if kernel == "ngd" else points
                gram = (points @ points[split.train].T).toarray()
                gram = -2 * np.arccos(np.clip(gram, 0, 1, out=gram), out=gram) if kernel == "ngd" else gram
            machine = SVC(C=1.0, kernel="precomputed", tol=1e-3).fit(gram[split.train], labels)
            yield f"{weighting}-{norm}-{kernel}", machine.predict(gram[split.test])


# All of them


def once(route: str, folder: Path) -> dict[str, Any]:
    """A route's answer, with its seconds on the clock and of processors, and its peak memory in GB."""
    out = folder / f"{route.replace(':', '-')}.json"
    for made in (out.with_suffix(""), *([] if route.endswith("-again") else [folder / "store"])):
        shutil.rmtree(made, ignore_errors=True)
    config = ROOT / "configs" / f"{route.removesuffix('-again')}.yaml"
    whole = ["-m", "benchmark.cli", "run", config, "--out", out.with_suffix("")]
    cpu, started = cpu_seconds(), time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *([__file__, "--route", route, out] if ":" in route else whole)],
        env={**os.environ, "BENCH_CACHE": str(folder / "store")},
        stdout=subprocess.DEVNULL,
    )
    peak = peak_memory(process)
    if process.returncode:
        raise SystemExit(f"the route {route!r} failed")
    own = {"seconds": time.perf_counter() - started, "cpu": cpu_seconds() - cpu, "gb": peak}
    return own | (json.loads(out.read_text()) if ":" in route else {})


def cpu_seconds() -> float:
    """Of the processors, by all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_memory(process: subprocess.Popen[bytes]) -> float:
    """Wait for a process; the largest resident set among it and its children, in GB."""
    import psutil

    peak, whole = 0, psutil.Process(process.pid)
    while process.poll() is None:
        for each in (whole, *whole.children(recursive=True)):
            try:
                status = Path(f"/proc/{each.pid}/status").read_text()
            except OSError:
                continue
            peak = max(peak, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)
        time.sleep(0.05)
    return peak / 1e6


def main() -> None:
    """Measure, print a table, and write everything as JSON."""
    if sys.argv[1:2] == ["--route"]:
        (config, _, how), out = sys.argv[2].partition(":"), Path(sys.argv[3])
        out.with_suffix("").mkdir()
        out.write_text(json.dumps(ours(config, how, out.with_suffix("")) if how in OURS else others(config, how)))
        return
    print(f"Medians of {REPEATS}; {len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f}")
    print(f"{'':60}{'s':>9}{'CPU s':>9}{'GB':>9}{'accuracy %':>12}")
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        once("quickstart", Path(name))  # compiles what isn't compiled yet, which a user pays for once
        one_fold = [f"{corpus}:{how}" for corpus in ONE_FOLD for how in ROUTES if how != "cells"]
        for route in (*WHOLE, "20ng:cells", *one_fold):
            done = [once(route, Path(name)) for _ in range(REPEATS)]
            medians = {key: statistics.median(each[key] for each in done) for key in ("seconds", "cpu")}
            found[route] = own = done[-1] | medians | {"gb": max(each["gb"] for each in done)}
            config, _, how = route.partition(":")
            share = f"{100 * own['accuracy']:.2f}" if "accuracy" in own else ""
            title = f"{config}, {ROUTES[how]}" if how else route
            print(f"{title:60}{own['seconds']:9.1f}{own['cpu']:9.1f}{own['gb']:9.1f}{share:>12}", flush=True)
        made = pd.read_parquet(Path(name) / "20ng" / "predictions.parquet").astype({"cell": str, "predicted": str})
    theirs, times = found["20ng:cells"], found["20ng:cells"]["seconds"] / found["20ng"]["seconds"]
    print(f"20ng: {times:.2f} times as fast as scikit-learn's ten cells; predictions that differ, by cell:")
    for cell, predicted in theirs["cells"].items():
        of_cell = made[made["cell"] == cell].set_index("document")["predicted"]
        print(f"  {cell}: {sum(of_cell[theirs['documents']].to_numpy() != predicted)} of {len(predicted)}")
    for corpus in ONE_FOLD:
        for how in ("svc", "libsvm"):
            ngd, other = (found[f"{corpus}:{each}"]["predicted"] for each in ("ngd", how))
            differ = sum(a != b for a, b in zip(ngd, other, strict=True))
            print(f"{corpus}: {differ} of {len(other)} predictions of {how} differ from ours")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
        Path(sys.argv[1]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
