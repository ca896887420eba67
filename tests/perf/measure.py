"""`make perf`: ours against what a user would pick instead, on the real corpora, in one session.

    python tests/perf/measure.py [--repeats 3] [--json FILE] [--only side-by-side]

Medians of seconds, on the clock and of the processors, and the largest peak of memory, each route in a process of its
own.
"""

from __future__ import annotations

import argparse
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
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
#: Whole runs, each from an empty store; those that are asked again find all in the store.
WHOLE = (
    *("quickstart", "webkb", "webkb-again", "20ng", "webkb-diffusion", "decision-boundaries"),
    *("reuters-hp-top-reduced", "reuters-eef", "reuters-skl"),
)
#: One fold of each configuration.
ONE_FOLD = {"20ng": "fixed-split", "webkb": "{name: leave-one-group-out, held_out: [cornell]}"}
OURS = {
    "ngd": "ngd",
    "hellinger": "{weighting: tfidf, idf: training, features: hellinger, "
    "classifier: {name: linear-svm, C: 2, ridge: 0.5708, scheme: one-vs-rest}}",
}
ROUTES = {
    "ngd": "ours: NGD, one machine a pair",
    "svc": "scikit-learn: NGD's matrix, SVC(precomputed)",
    "libsvm": "LIBSVM: NGD's matrix, svm_train, svm_predict",
    "hellinger": "ours: √(TF×IDF), LIBLINEAR",
    "tfidf": "scikit-learn: TfidfVectorizer, LinearSVC",
}


# A route, in a process of its own


def ours(config: str, method: str, folder: Path) -> dict[str, Any]:
    """One method of ours on one fold; "from_counts" is what its cell books: from weights to predictions."""
    from benchmark.evaluation.predictions import TIMERS
    from benchmark.experiment.run_folder import read_run

    shutil.copy(ROOT / "configs" / f"{config}.yaml", folder)
    fold = f"extends: {config}\nname: fold\nprotocol: {ONE_FOLD[config]}\ncompare: []\n"
    (folder / "fold.yaml").write_text(f"{fold}defaults: {{weighting: tf}}\nmethods: [{OURS[method]}]\n")
    command = [sys.executable, "-m", "benchmark.cli", "run", str(folder / "fold.yaml"), "--out", str(folder / "run")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    predictions: Any = read_run(folder / "run").predictions
    ((variant, task, _, _, size, _), point), *_ = predictions.settings.items()
    documents, splits = predictions.tasks[variant, task], predictions.splits[variant, task, size]
    truth, codes = np.concatenate([documents.truth[split.test] for split in splits]), np.concatenate(point.by_split)
    seconds = dict(zip(TIMERS, point.seconds.sum(axis=0).tolist(), strict=True))
    return answer(documents, truth, codes, sum(s for name, s in seconds.items() if name != "machines"))


def answer(documents: Any, truth: Any, codes: Any, from_counts: float) -> dict[str, Any]:
    predicted = [documents.classes[code] for code in codes]
    return {"from_counts": from_counts, "accuracy": float(np.mean(codes == truth)), "predicted": predicted}


def others(config: str, how: str) -> dict[str, Any]:
    """What a user would pick instead, on the same documents and split, by the documented functions of a library."""
    from libsvm.svmutil import svm_parameter, svm_predict, svm_problem, svm_train
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize
    from sklearn.svm import SVC, LinearSVC

    from benchmark.config.experiment import check_experiment
    from benchmark.config.extends import read_config
    from benchmark.config.model import BASE_VARIANT
    from benchmark.corpora import registry
    from benchmark.corpora.assemble import select_documents
    from benchmark.plugins.discovery import BUILTIN_REGISTRIES
    from benchmark.text.vocabulary import count_terms

    experiment = check_experiment(read_config(ROOT / "configs" / f"{config}.yaml"), BUILTIN_REGISTRIES)
    base = experiment.variants[BASE_VARIANT]
    collection = base.collection
    corpus = select_documents(registry.load_corpus(config), list(collection.classes), collection.exclude)
    split, documents = base.protocol.build().splits(corpus.documents)[0], corpus.documents
    labels = documents.labels[split.train]
    if how == "tfidf":
        texts = [text.decode("latin-1") for text in corpus]
        words = TfidfVectorizer()
        train = words.fit_transform([texts[row] for row in split.train])
        test = words.transform([texts[row] for row in split.test])
        started = time.perf_counter()
        codes = LinearSVC(random_state=0).fit(train, labels).predict(test)
    else:
        counts = count_terms(corpus, collection.lexing, collection.pruning, len(os.sched_getaffinity(0)))
        documents = counts.documents
        started = time.perf_counter()
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
    return answer(documents, documents.labels[split.test], codes, time.perf_counter() - started)


def run_route(route: str, out: Path) -> None:
    """Run a route, and write what it answers as JSON."""
    config, _, how = route.partition(":")
    folder = out.with_suffix("")
    folder.mkdir()
    out.write_text(json.dumps(ours(config, how, folder) if how in OURS else others(config, how)))


# All of them


class Bench:
    """Runs routes in fresh processes, with a store of their own, and remembers what they took."""

    def __init__(self, folder: Path, repeats: int) -> None:
        self.folder, self.repeats = folder, repeats
        self.found: dict[str, dict[str, Any]] = {}

    def once(self, route: str) -> dict[str, Any]:
        """A route's answer, with its seconds on the clock and of processors, and its peak memory in GB."""
        out = self.folder / f"{route.replace(':', '-')}.json"
        for made in (out.with_suffix(""), *([] if route.endswith("-again") else [self.folder / "store"])):
            shutil.rmtree(made, ignore_errors=True)
        config = ROOT / "configs" / f"{route.removesuffix('-again')}.yaml"
        whole = ["-m", "benchmark.cli", "run", config, "--out", out.with_suffix("")]
        command = [sys.executable, *([__file__, "--route", route, "--json", out] if ":" in route else whole)]
        environment = {**os.environ, "BENCH_CACHE": str(self.folder / "store")}
        cpu, started = cpu_seconds(), time.perf_counter()
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        peak = peak_memory(process)
        if process.returncode:
            raise SystemExit(f"the route {route!r} failed")
        own = {"seconds": time.perf_counter() - started, "cpu": cpu_seconds() - cpu, "gb": peak}
        return own | (json.loads(out.read_text()) if ":" in route else {})

    def measure(self, route: str) -> list[str]:
        """A row of the table: medians of seconds, and the largest peak."""
        done = [self.once(route) for _ in range(self.repeats)]
        numbers = {
            key: [each[key] for each in done] for key in ("seconds", "from_counts", "cpu", "gb") if key in done[0]
        }
        self.found[route] = own = done[-1] | {key: statistics.median(values) for key, values in numbers.items()}
        self.found[route] |= {"gb": max(numbers["gb"]), "all": numbers}
        print(f"  {route}: {', '.join(f'{s:.1f}' for s in numbers['seconds'])} s", file=sys.stderr, flush=True)
        counted = f"{own['from_counts']:.2f}" if "from_counts" in own else ""
        share = f"{100 * own['accuracy']:.2f}" if "accuracy" in own else ""
        title = f"{route.partition(':')[0]}, {ROUTES[route.partition(':')[2]]}" if ":" in route else route
        return [title, f"{own['seconds']:.1f}", counted, f"{own['cpu']:.1f}", f"{own['gb']:.1f}", share]


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
    parser = argparse.ArgumentParser(description="Ours against what a user would pick instead.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="a file for all that was measured")
    parser.add_argument("--only", choices=["side-by-side"], help="without whole runs")
    parser.add_argument("--route", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.route:
        run_route(asked.route, asked.json)
        return
    with tempfile.TemporaryDirectory() as name:
        perf = Bench(Path(name), asked.repeats)
        perf.once("quickstart")  # compiles what isn't compiled yet, which a user pays for once
        routes = [*(() if asked.only else WHOLE), *(f"{corpus}:{how}" for corpus in ONE_FOLD for how in ROUTES)]
        rows = [perf.measure(route) for route in routes]
    processors = f"{len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f}"
    print(f"Medians of {asked.repeats}; {processors}. s: from process start to predictions, ours to the last file.")
    print("From counts: weights, kernel, training and predictions; of TfidfVectorizer, after its rows.\n")
    for first, *rest in ["", "s", "from counts", "CPU s", "GB", "accuracy %"], *rows:
        print(f"{first:52}", *(f"{each:>11}" for each in rest))
    for corpus in ONE_FOLD:
        predicted = {how: perf.found[f"{corpus}:{how}"]["predicted"] for how in ("ngd", "svc", "libsvm")}
        for how in ("svc", "libsvm"):
            differ = sum(a != b for a, b in zip(predicted["ngd"], predicted[how], strict=True))
            print(f"{corpus}: {differ} of {len(predicted[how])} predictions of {how} differ from ours")
    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        asked.json.write_text(json.dumps({"repeats": asked.repeats, "machine": processors, "routes": perf.found}))


if __name__ == "__main__":
    main()
