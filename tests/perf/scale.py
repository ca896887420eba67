"""`make perf-scale`: how seconds and memory grow, to results/scale.json and the page docs/scale.md.

    python tests/perf/scale.py [LARGEST]

Corpora are those of `zipf`, of LARGEST documents at most; every route runs from the file to its scores, in a process of
its own. What results/scale.json has is not measured again: remove it, or lines of it, for that. Exponents are of the
processor time, which a busy machine disturbs less than wall-clock time. LIBSVM's `svm-train` is measured where it is
on the PATH, and scikit-learn-intelex where it is installed.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import zipf
from measure import cpu_seconds, peak_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[2]
RESULT, PAGE = ROOT / "results" / "scale.json", ROOT / "docs" / "scale.md"
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
#: The largest that is measured unless another is named.
DEFAULT = 300_000
#: Routes that compare all pairs of documents end here, where they take minutes; SVC holds a matrix of 2 GB there.
MOST_EXACT = {"ngd": 100_000, "SVC": 20_000, "svm-train": 10_000, "intelex": 30_000}
AXES: dict[str, tuple[int, ...]] = {
    "documents": (*SIZES[:3], 20_000, *SIZES[3:]),
    "classes": (2, 20, 200),
    "workers": (1, 2, 4),
}
#: No workers: a run at home, on all cores.
BASE = {"documents": 10_000, "classes": 20, "workers": 0}
HELLINGER = "{weighting: %s, features: hellinger, classifier: {name: linear-svm, ridge: 0.5708, C: 2}}"
NGD = "{weighting: %s, normalization: l1, kernel: ngd, classifier: {C: 2}}"
#: What workers share: cells of one weighting go together, as they share its points.
WEIGHTINGS = "[tf, tfidf, binary, bm25, log-entropy, tf-rf, tf-icf, tf-idf-icsdf]"
#: A configuration's method, or one of another tool.
ROUTES = {"hellinger-linear": HELLINGER, "ngd": NGD, "LinearSVC": "", "SVC": "", "svm-train": "", "intelex": ""}
#: Whether tools that need not be here are.
INSTALLED = {"svm-train": bool(shutil.which("svm-train")), "intelex": bool(find_spec("sklearnex"))}
#: Between these the page has what is measured.
OPENS, CLOSES = "<!-- measured: make perf-scale -->", "<!-- end of what is measured -->"
#: From so many documents on the exponents are fitted: below, what a run takes to start is most of it.
FITTED_FROM = 10_000


# --- A route ---


def ours(method: str, table: Path, at: dict[str, int], folder: Path) -> None:
    """`bench run`, with workers if there are any."""
    workers = at["workers"]
    config = folder / "scale.yaml"
    config.write_text(
        f"name: scale\ncorpus: {{name: files, path: {table}, split: split}}\n"
        "text: {stoplist: none, min_occurrences: 2}\nprotocol: fixed-split\n"
        f"methods: [{method % (WEIGHTINGS if workers else 'tf')}]\n"
    )
    from benchmark.cli import main

    sys.argv = ["bench", "run", str(config), "--out", str(folder / "run")]
    with ExitStack() as stack:
        if workers:
            from distributed import LocalCluster

            how = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0"}
            cluster = stack.enter_context(LocalCluster(n_workers=workers, **how))
            threads = max(1, len(os.sched_getaffinity(0)) // workers)
            sys.argv += ["--dask", cluster.scheduler_address, "--jobs", str(threads)]
        main()


def others(route: str, table: Path) -> None:
    """Another tool on the points of TfidfVectorizer: LinearSVC, or LIBSVM's machine of their inner products."""
    if route == "intelex":
        from sklearnex import patch_sklearn

        patch_sklearn()
    from sklearn.datasets import dump_svmlight_file
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import SVC, LinearSVC

    found = pd.read_csv(table, keep_default_na=False)
    train = (found["split"] == "train").to_numpy()
    vectors = TfidfVectorizer()
    X, Z = vectors.fit_transform(found["text"][train]), vectors.transform(found["text"][~train])
    y = found["label"][train].to_numpy()
    if route == "LinearSVC":
        LinearSVC(C=2).fit(X, y).predict(Z)
    elif route == "SVC":
        SVC(C=2, kernel="precomputed").fit((X @ X.T).toarray(), y).predict((Z @ X.T).toarray())
    elif route == "intelex":
        SVC(C=2, kernel="linear").fit(X, y).predict(Z)
    else:
        codes, files = pd.factorize(found["label"])[0], {name: str(table.with_name(name)) for name in ("train", "test")}
        dump_svmlight_file(X, codes[train], files["train"])
        dump_svmlight_file(Z, codes[~train], files["test"])
        model = str(table.with_name("model"))
        subprocess.run(["svm-train", "-q", "-t", "0", "-c", "2", files["train"], model], check=True)
        subprocess.run(["svm-predict", "-q", files["test"], model, str(table.with_name("out"))], check=True)


# --- All of them ---


def points(largest: int) -> Iterator[tuple[str, dict[str, int]]]:
    """What is measured: a route, and how much of everything, the least first; along an axis all else stays."""
    for axis, values in AXES.items():
        for value in values:
            for route, own in ROUTES.items():
                at = BASE | {axis: value}
                fits = at["documents"] <= min(largest, MOST_EXACT.get(route, largest))
                if fits and INSTALLED.get(route, True) and (own or axis != "workers"):
                    yield route, at


def measured(route: str, at: dict[str, int]) -> dict[str, Any]:
    """Run a route on a corpus made for it: wall-clock and processor seconds, and GB, of four digits each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        zipf.write(folder / "zipf.csv", at["documents"], n_classes=at["classes"])
        environment = {**os.environ, "BENCH_CACHE": str(folder / "store")}
        command = [sys.executable, __file__, "--route", route, str(folder), json.dumps(at)]
        before, started = cpu_seconds(), time.perf_counter()
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        memory, seconds = peak_memory(process), time.perf_counter() - started
        if process.returncode:
            raise SystemExit(f"the route {route!r} failed at {at}")
        numbers = {"seconds": seconds, "cpu": cpu_seconds() - before, "memory": memory}
        size = (folder / "zipf.csv").stat().st_size
    return {"route": route, **at, "bytes": size, **{key: float(f"{each:.4g}") for key, each in numbers.items()}}


def machine() -> dict[str, Any]:
    """What they are measured on."""
    info = Path("/proc/cpuinfo").read_text()
    name = next((line.partition(":")[2].strip() for line in info.splitlines() if "model name" in line), "")
    return {"processor": name or platform.machine(), "cores": len(os.sched_getaffinity(0))}


def along(found: dict[str, Any], axis: str) -> dict[str, list[dict[str, Any]]]:
    """By route, the points along an axis."""
    lines = defaultdict(list)
    for point in sorted(found["points"], key=lambda each: each[axis]):
        if all(point[other] == value for other, value in found["base"].items() if other != axis):
            lines[point["route"]].append(point)
    return {route: lines[route] for route in ROUTES if route in lines}


def power(line: list[dict[str, Any]]) -> float:
    """The exponent b of seconds as a documents^b, by least squares of the logarithms; NaN of one point."""
    own = [each for each in line if each["documents"] >= FITTED_FROM]
    if len(own) < 2:
        return float("nan")
    return float(np.polyfit(np.log([each["documents"] for each in own]), np.log([each["cpu"] for each in own]), 1)[0])


# --- The page ---


def section(found: dict[str, Any]) -> str:
    """What the page says in numbers."""
    lines, of = along(found, "documents"), found["machine"]
    about = f"Measured on {of['cores']} cores of {of['processor']}. "
    about += "Seconds are processor time over all threads, with wall-clock time in brackets."
    tables = (_growth(lines, "documents"), _growth(along(found, "classes"), "classes"), _limits(lines))
    return "\n\n".join((about, *tables, _workers(along(found, "workers")))) + "\n"


def page(text: str, found: dict[str, Any]) -> str:
    """The page with these numbers in place of others."""
    before, _, rest = text.partition(OPENS)
    return f"{before}{OPENS}\n\n{section(found)}\n{CLOSES}{rest.partition(CLOSES)[2]}"


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    ruled = ("---", *("---:" for _ in header[1:]))
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, ruled, *rows))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _growth(lines: dict[str, list[dict[str, Any]]], axis: str) -> str:
    sizes = sorted({each[axis] for line in lines.values() for each in line})
    cells = {
        (route, at[axis]): f"{_number(at['cpu'])} s ({_number(at['seconds'])}), {at['memory']:.2f} GB"
        for route, line in lines.items()
        for at in line
    }
    rows = [(f"{size:,}", *(cells.get((route, size), "–") for route in lines)) for size in sizes]
    if axis == "documents":
        powers = (power(line) for line in lines.values())
        rows.append(("exponent of the seconds", *("–" if np.isnan(each) else f"{each:.2f}" for each in powers)))
    return _table((axis, *lines), rows)


def _workers(lines: dict[str, list[dict[str, Any]]]) -> str:
    """Eight weightings, by as many processes."""
    shared = {route: own for route, line in lines.items() if (own := [each for each in line if each["workers"]])}
    rows = [
        (str(at[0]["workers"]), *(f"{_number(e['seconds'])} s ({_number(e['cpu'])}), {e['memory']:.2f} GB" for e in at))
        for at in zip(*shared.values(), strict=True)
    ]
    return _table(("workers: wall-clock seconds (processor seconds)", *shared), rows)


def _limits(lines: dict[str, list[dict[str, Any]]]) -> str:
    """Where memory reaches that of a laptop, by the line through the two largest sizes."""
    rows = []
    for route, line in ((route, line) for route, line in lines.items() if route not in INSTALLED):
        by, (less, more) = 2 if route in ("ngd", "SVC") else 1, line[-2:]
        each = (more["memory"] - less["memory"]) / (more["documents"] ** by - less["documents"] ** by)
        ends = [(more["documents"] ** by + (limit - more["memory"]) / each) ** (1 / by) for limit in (8, 16)]
        rows.append((route, *(_number(float(f"{end:.2g}")) for end in ends)))
    return _table(("documents that fit", "8 GB", "16 GB"), rows)


def main() -> None:
    """Measure what is not known yet, and write the page."""
    if sys.argv[1:2] == ["--route"]:
        route, folder, at = sys.argv[2], Path(sys.argv[3]), json.loads(sys.argv[4])
        table = folder / "zipf.csv"
        ours(ROUTES[route], table, at, folder) if ROUTES[route] else others(route, table)
        return
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    found = json.loads(RESULT.read_text()) if RESULT.exists() else {"base": BASE, "machine": machine(), "points": []}
    known = {(each["route"], *(each[axis] for axis in BASE)) for each in found["points"]}
    for route, at in points(largest):
        if (route, *at.values()) not in known:
            known.add((route, *at.values()))
            found["points"].append(measured(route, at))
            print(found["points"][-1], flush=True)
            RESULT.write_text(json.dumps(found, indent=1) + "\n")
    lines = along(found, "documents")
    found["exponents"] = {route: value for route in lines if not np.isnan(value := power(lines[route]))}
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    PAGE.write_text(page(PAGE.read_text(), found))


if __name__ == "__main__":
    main()
