"""`make perf`: whole runs, and 20 Newsgroups by scikit-learn, on the real corpora, in one session.

    python tests/perf/measure.py [FILE.json]

Medians of three runs: seconds on the clock and of the processors, and the peak of memory, each in a process of
its own. scikit-learn's route goes from counts to the predictions of the ten cells of configs/20ng.yaml.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
BENCH = Path(sys.executable).with_name("bench")
REPEATS = 3
#: Whole runs, each from an empty store; those that are asked again find all in the store.
WHOLE = (
    *("quickstart", "webkb", "webkb-again", "20ng", "webkb-diffusion", "decision-boundaries"),
    *("reuters-hp-top-reduced", "reuters-eef", "reuters-skl"),
)
OTHERS = "20ng by scikit-learn"
#: The machines of configs/20ng.yaml, under each weighting.
KERNELS = (("l1", "linear"), ("l1", "ned"), ("l1", "ngd"), ("l2", "linear"), ("l2", "ned"))


def ten_cells() -> dict[str, dict[str, str]]:
    """Return the predicted class of each document by the cells of configs/20ng.yaml: a dense matrix each, and SVC."""
    import scipy.sparse as sp
    from sklearn.metrics.pairwise import euclidean_distances
    from sklearn.preprocessing import normalize
    from sklearn.svm import SVC

    from benchmark.config.experiment import check_experiment, read_config
    from benchmark.config.model import BASE_VARIANT
    from benchmark.corpora import registry
    from benchmark.corpora.assemble import select_documents
    from benchmark.plugins.discovery import BUILTIN_REGISTRIES
    from benchmark.text.vocabulary import count_terms

    base = check_experiment(read_config(ROOT / "configs" / "20ng.yaml"), BUILTIN_REGISTRIES).variants[BASE_VARIANT]
    collection = base.collection
    corpus = select_documents(registry.load_corpus("20ng"), list(collection.classes), collection.exclude)
    split, documents = base.protocol.build().splits(corpus.documents)[0], corpus.documents
    counts = count_terms(corpus, collection.lexing, collection.pruning, len(os.sched_getaffinity(0)))
    counted, found = counts.matrix.astype(float), {}
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
            machine = SVC(C=1.0, kernel="precomputed", tol=1e-3).fit(gram[split.train], documents.labels[split.train])
            codes = machine.predict(gram[split.test])
            names = zip(split.test, codes, strict=True)
            cell = {str(documents.ids[row]): documents.classes[code] for row, code in names}
            found[f"{weighting}-{norm}-{kernel}"] = cell
    return found


def once(route: str, folder: Path) -> dict[str, float]:
    """Return what a route takes, which writes to the folder."""
    out = folder / route.removesuffix("-again")
    for made in (out, *([] if route.endswith("-again") else [folder / "store"])):
        shutil.rmtree(made, ignore_errors=True)
    bench = [BENCH, "run", ROOT / "configs" / f"{out.name}.yaml", "--out", out]
    return taken_by([sys.executable, __file__, "--cells", folder / "cells.json"] if route == OTHERS else bench, folder)


def taken_by(command: Sequence[str | Path], folder: Path) -> dict[str, float]:
    """Run a command with a store in the folder; return its seconds, those of the processors, and its memory in GB.

    The memory is the largest resident set among the process and its children.
    """
    import psutil

    cpu, started, peak = cpu_seconds(), time.perf_counter(), 0
    environment = {**os.environ, "BENCH_CACHE": str(folder / "store")}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    whole = psutil.Process(process.pid)
    while process.poll() is None:
        for each in (whole, *whole.children(recursive=True)):
            with suppress(OSError):
                status = Path(f"/proc/{each.pid}/status").read_text()
                peak = max(peak, *map(int, re.findall(r"VmHWM:\s+(\d+)", status)), 0)
        time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(map(str, command))}")
    return {"seconds": time.perf_counter() - started, "cpu": cpu_seconds() - cpu, "memory": peak / 1e6}


def cpu_seconds() -> float:
    """Of the processors, by all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure, print a table, and write everything as JSON."""
    if sys.argv[1:2] == ["--cells"]:
        Path(sys.argv[2]).write_text(json.dumps(ten_cells()))
        return
    print(f"Medians of {REPEATS}; {len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f}")
    print(f"{'':30}{'s':>9}{'CPU s':>9}{'GB':>9}")
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        once("quickstart", Path(name))  # compiles what isn't compiled yet, which a user pays for once
        for route in (*WHOLE, OTHERS):
            done = [once(route, Path(name)) for _ in range(REPEATS)]
            found[route] = own = {key: statistics.median(each[key] for each in done) for key in done[0]}
            print(f"{route:30}{own['seconds']:9.1f}{own['cpu']:9.1f}{own['memory']:9.1f}", flush=True)
        made = pd.read_parquet(Path(name) / "20ng" / "predictions.parquet").astype({"cell": str, "predicted": str})
        theirs = json.loads((Path(name) / "cells.json").read_text())
    times = found[OTHERS]["seconds"] / found["20ng"]["seconds"]
    print(f"20ng: {times:.2f} times as fast as scikit-learn's ten cells; predictions that differ, by cell:")
    for cell, predicted in theirs.items():
        ours = made[made["cell"] == cell].set_index("document")["predicted"]
        print(f"  {cell}: {sum(ours[document] != label for document, label in predicted.items())} of {len(predicted)}")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
        Path(sys.argv[1]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
