"""`make perf-scale`: how seconds and memory grow, to results/scale.json and the page docs/scale.md.

    python tests/perf/scale.py [LARGEST]

Corpora are those of `zipf`, of LARGEST documents at most; every route runs from the file to its scores, in a process of
its own. What results/scale.json has is not measured again: remove it, or lines of it, for that. Exponents are of the
processor time, which a busy machine disturbs less than wall-clock time.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import zipf
from measure import cpu_seconds, peak_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ROOT = Path(__file__).parents[2]
RESULT, PAGE = ROOT / "results" / "scale.json", ROOT / "docs" / "scale.md"
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
#: Kernels between all pairs of documents end here: at 20,000, a matrix of 16,000 rows takes 2 GB; `ngd` holds none.
MOST_EXACT = {"ngd": 100_000, "SVC, precomputed": 20_000}
AXES: dict[str, tuple[int, ...]] = {
    "documents": (*SIZES[:3], 20_000, *SIZES[3:]),
    "workers": (1, 2, 4),
}
#: No workers: a run at home, on all cores.
BASE = {"documents": 10_000, "words": 500_000, "classes": 20, "cells": 1, "workers": 0}
HELLINGER = "{weighting: %s, features: hellinger, classifier: {name: linear-svm, ridge: 0.5708, C: 2}}"
NGD = "{weighting: %s, normalization: l1, kernel: ngd, classifier: {C: 2}}"
#: What workers share: cells of one weighting go together, as they share its points.
WEIGHTINGS = "[tf, tfidf, binary, bm25, log-entropy, tf-rf, tf-icf, tf-idf-icsdf]"
#: A configuration's method, or scikit-learn's.
ROUTES = {"hellinger-linear": HELLINGER, "ngd": NGD, "LinearSVC": "", "SVC, precomputed": ""}
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
    sys.argv += ["--dask", f"local:{workers}"] if workers else []
    main()


def scikit_learn(route: str, table: Path) -> None:
    """The plain route: TfidfVectorizer, and LinearSVC or SVC of inner products."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import SVC, LinearSVC

    found = pd.read_csv(table, keep_default_na=False)
    train = (found["split"] == "train").to_numpy()
    vectors = TfidfVectorizer()
    X, Z = vectors.fit_transform(found["text"][train]), vectors.transform(found["text"][~train])
    y = found["label"][train].to_numpy()
    if route in MOST_EXACT:
        SVC(C=2, kernel="precomputed").fit((X @ X.T).toarray(), y).predict((Z @ X.T).toarray())
    else:
        LinearSVC(C=2).fit(X, y).predict(Z)


# --- All of them ---


def points(largest: int) -> Iterator[tuple[str, dict[str, int]]]:
    """What is measured: a route, and how much of everything, the least first; along an axis all else stays."""
    for axis, values in AXES.items():
        for value in values:
            for route, own in ROUTES.items():
                at = BASE | {axis: value}
                fits = at["documents"] <= min(largest, MOST_EXACT.get(route, largest))
                if fits and (own or axis != "workers"):
                    yield route, at


def measured(route: str, at: dict[str, int]) -> dict[str, Any]:
    """Run a route on a corpus made for it: wall-clock and processor seconds, and GB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        zipf.write(folder / "zipf.csv", at["documents"], n_words=at["words"], n_classes=at["classes"])
        environment = {**os.environ, "BENCH_CACHE": str(folder / "store")}
        command = [sys.executable, __file__, "--route", route, str(folder), json.dumps(at)]
        before, started = cpu_seconds(), time.perf_counter()
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        memory, seconds = peak_memory(process), time.perf_counter() - started
        if process.returncode:
            raise SystemExit(f"the route {route!r} failed at {at}")
        cpu = cpu_seconds() - before
        size = (folder / "zipf.csv").stat().st_size
    return {"route": route, **at, "bytes": size, "seconds": seconds, "cpu": cpu, "memory": memory}


def machine() -> dict[str, Any]:
    """What they are measured on."""
    info = Path("/proc/cpuinfo").read_text()
    name = next((line.partition(":")[2].strip() for line in info.splitlines() if "model name" in line), "")
    return {"processor": name or platform.machine(), "cores": len(os.sched_getaffinity(0)), "load": os.getloadavg()[0]}


def along(found: dict[str, Any], axis: str) -> dict[str, list[dict[str, Any]]]:
    """By route, the points along an axis."""
    lines = defaultdict(list)
    for point in sorted(found["points"], key=lambda each: each[axis]):
        if all(point[other] == value for other, value in found["base"].items() if other != axis):
            lines[point["route"]].append(point)
    return {route: lines[route] for route in ROUTES if route in lines}


def power(line: list[dict[str, Any]], value: Callable[[dict[str, Any]], float]) -> float:
    """The exponent b of a value as a documents^b, by least squares of the logarithms; NaN of one point."""
    own = [each for each in line if each["documents"] >= FITTED_FROM]
    if len(own) < 2:
        return float("nan")
    return float(np.polyfit(np.log([each["documents"] for each in own]), np.log([value(each) for each in own]), 1)[0])


def slope(line: list[dict[str, Any]], value: str, exponent: int = 1) -> float:
    """What one more document (or one more pair of them, by the exponent 2) takes, by the two largest sizes."""
    less, more = line[-2:]
    return float((more[value] - less[value]) / (more["documents"] ** exponent - less["documents"] ** exponent))


# --- The page ---


def section(found: dict[str, Any]) -> str:
    """What the page says in numbers."""
    lines = along(found, "documents")
    parts = _machine(found["machine"]), _growth(lines), _limits(lines), _workers(along(found, "workers"))
    return "\n\n".join(parts) + "\n"


def page(text: str, found: dict[str, Any]) -> str:
    """The page with these numbers in place of others."""
    before, _, rest = text.partition(OPENS)
    return before + OPENS + "\n\n" + section(found) + "\n" + CLOSES + rest.partition(CLOSES)[2]


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    ruled = ("---", *("---:" for _ in header[1:]))
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, ruled, *rows))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _machine(of: dict[str, Any]) -> str:
    busy = f", which others used too (a load of {of['load']:.1f})" if of["load"] > of["cores"] else ""
    return (
        f"Measured on {of['cores']} cores of {of['processor']}{busy}. "
        "Seconds are processor time over all threads, with wall-clock time in brackets."
    )


def _growth(lines: dict[str, list[dict[str, Any]]]) -> str:
    sizes = sorted({each["documents"] for line in lines.values() for each in line})
    known = {(route, each["documents"]): each for route, line in lines.items() for each in line}

    def cell(route: str, size: int) -> str:
        at = known.get((route, size))
        return "–" if at is None else f"{_number(at['cpu'])} s ({_number(at['seconds'])}), {at['memory']:.2f} GB"

    rows = [(f"{size:,}", *(cell(route, size) for route in lines)) for size in sizes]
    own = [power(line, lambda each: each["cpu"]) for line in lines.values()]
    rows.append(("exponent of the seconds", *(f"{each:.2f}" for each in own)))
    return _table(("documents", *lines), rows)


def _workers(lines: dict[str, list[dict[str, Any]]]) -> str:
    """Eight weightings, by as many processes."""
    shared = {route: [each for each in line if each["workers"]] for route, line in lines.items()}
    routes = [route for route, line in shared.items() if line]
    rows = []
    for at in zip(*(shared[route] for route in routes), strict=True):
        told = (f"{_number(e['seconds'])} s ({_number(e['cpu'])}), {e['memory']:.2f} GB" for e in at)
        rows.append((str(at[0]["workers"]), *told))
    return _table(("workers: wall-clock seconds (processor seconds)", *routes), rows)


def _limits(lines: dict[str, list[dict[str, Any]]]) -> str:
    """Where memory reaches that of a laptop, by the line through the two largest sizes."""
    rows = []
    for route, line in lines.items():
        by = 2 if route in MOST_EXACT else 1
        n, memory, each = line[-1]["documents"], line[-1]["memory"], slope(line, "memory", by)
        ends = [(n**by + (limit - memory) / each) ** (1 / by) for limit in (8, 16)]
        rows.append((route, *(_number(float(f"{end:.2g}")) for end in ends)))
    return _table(("documents that fit", "8 GB", "16 GB"), rows)


def main() -> None:
    """Measure what is not known yet, and write the page."""
    if sys.argv[1:2] == ["--route"]:
        route, folder, at = sys.argv[2], Path(sys.argv[3]), json.loads(sys.argv[4])
        table = folder / "zipf.csv"
        ours(ROUTES[route], table, at, folder) if ROUTES[route] else scikit_learn(route, table)
        return
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else SIZES[-1]
    found = json.loads(RESULT.read_text()) if RESULT.exists() else {"base": BASE, "points": []}
    found["machine"] = found.get("machine") or machine()  # its load before this one's own
    known = {(each["route"], *(each[axis] for axis in BASE)) for each in found["points"]}
    for route, at in points(largest):
        if (route, *at.values()) in known:
            continue
        known.add((route, *at.values()))
        found["points"].append(measured(route, at))
        last = found["points"][-1]
        print(f"{route:18} {at}  {last['seconds']:.1f} s, {last['cpu']:.1f} of processor time, {last['memory']:.2f} GB")
        write(found)
    PAGE.write_text(page(PAGE.read_text(), rounded(found)))


def write(found: dict[str, Any]) -> None:
    """Keep what was measured, four digits of each number."""
    RESULT.write_text(json.dumps(rounded(found), indent=1) + "\n")


def rounded(found: Any) -> Any:
    """Four digits of each number that is not whole."""
    if isinstance(found, dict):
        return {key: rounded(value) for key, value in found.items()}
    if isinstance(found, list):
        return [rounded(each) for each in found]
    return float(f"{found:.4g}") if isinstance(found, float) else found


if __name__ == "__main__":
    main()
