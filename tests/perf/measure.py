"""`make perf`: ours against what a user would pick instead, on the real corpora, in one session.

    python tests/perf/measure.py [--repeats 3] [--json FILE] [--only side-by-side]

Medians of seconds, on the clock and of the processors, and the largest peak of memory. scikit-learn-intelex is the
extra `perf`; as the threads that it brings (tbb) change those of everything else, it may stand in an environment of its
own, whose python INTELEX_PYTHON names.
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

ROUTES = Path(__file__).with_name("routes.py")
INTELEX_PYTHON = os.environ.get("INTELEX_PYTHON", sys.executable)
#: Whole runs, and what each is called; those that are asked again find all in the store.
WHOLE = {
    "quickstart": "quickstart, cold store",
    "lexing": "20NG read, verified and lexed",
    "webkb": "WebKB, 40 cells × folds, cold",
    "webkb-again": "WebKB from a full store",
    "20ng": "20NG, ten cells, ours, cold",
    "ten-cells": "20NG, ten cells, scikit-learn, from counts",
    **{
        name: f"{name}, cold"
        for name in ("webkb-diffusion", "decision-boundaries", "reuters-hp-top-reduced", "reuters-eef", "reuters-skl")
    },
}
CORPORA = {"20ng": "20NG by date, tested once", "webkb": "WebKB, Cornell held out"}
ROUTES_OF_USERS = {
    "ngd": "ours: NGD, one machine a pair",
    "svc": "scikit-learn: NGD's matrix, SVC(precomputed)",
    "libsvm": "LIBSVM: NGD's matrix, svm_train, svm_predict",
    "hellinger": "ours: √(TF×IDF), LIBLINEAR",
    "tfidf": "scikit-learn: TfidfVectorizer, LinearSVC",
    "intelex": "scikit-learn-intelex: TfidfVectorizer, SVC(linear)",
}
COLUMNS = ("", "s", "from counts", "CPU s", "GB", "accuracy %")


class Bench:
    """Runs routes in fresh processes, with a store of their own, and remembers what they took."""

    def __init__(self, folder: Path, repeats: int) -> None:
        self.folder, self.repeats = folder, repeats
        self.environment = {**os.environ, "BENCH_CACHE": str(folder / "store")}
        self.found: dict[str, dict[str, Any]] = {}

    def once(self, route: str, *, cold: bool = False) -> dict[str, Any]:
        """A route's result, with its seconds of processors and its peak memory in GB."""
        out = self.folder / f"{route.replace(':', '-')}.json"
        for made in (out.with_suffix(""), *([self.folder / "store"] if cold else [])):
            shutil.rmtree(made, ignore_errors=True)
        python, before = INTELEX_PYTHON if route.endswith(":intelex") else sys.executable, cpu_seconds()
        process = subprocess.Popen([python, ROUTES, route, out, str(time.time())], env=self.environment)
        peak = peak_memory(process)
        if process.returncode:
            raise SystemExit(f"the route {route!r} failed")
        return json.loads(out.read_text()) | {"cpu": cpu_seconds() - before, "gb": peak}

    def measure(self, route: str, *, cold: bool = True) -> None:
        """Medians of seconds, the largest peak, and the last result."""
        done = [self.once(route, cold=cold) for _ in range(self.repeats)]
        seconds = {key: [each[key] for each in done] for key in ("seconds", "cpu", "from_counts") if key in done[0]}
        medians = {key: statistics.median(values) for key, values in seconds.items()}
        self.found[route] = {**done[-1], **medians, "gb": max(each["gb"] for each in done), "all": seconds}
        print(f"  {route}: {', '.join(f'{s:.1f}' for s in seconds['seconds'])} s", file=sys.stderr, flush=True)

    def row(self, route: str, called: str) -> list[str]:
        """A row of the table."""
        own = self.found.get(route)
        if own is None:
            return [called, *[""] * (len(COLUMNS) - 1)]
        accuracy = own.get("accuracy", {})
        share = f"{100 * next(iter(accuracy.values())):.2f}" if len(accuracy) == 1 else ""
        counted = f"{own['from_counts']:.2f}" if "from_counts" in own else ""
        return [called, f"{own['seconds']:.1f}", counted, f"{own['cpu']:.1f}", f"{own['gb']:.1f}", share]


def cpu_seconds() -> float:
    """Of the processors, by all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_memory(process: subprocess.Popen[bytes]) -> float:
    """Wait for a process; the largest resident set among it and its children, in GB."""
    peak = 0
    while process.poll() is None:
        peak = max([peak, *(resident(pid) for pid in family(process.pid))])
        time.sleep(0.05)
    return peak / 1e6


def family(pid: int) -> list[int]:
    """A process and its children, by Linux's process table."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(member for child in children for member in family(int(child)))]


def resident(pid: int) -> int:
    """Peak resident kB of a process."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def table(rows: list[list[str]]) -> str:
    """Rows under `COLUMNS`, in at most 100 columns."""
    widths = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]
    sides = (str.ljust, *[str.rjust] * (len(widths) - 1))
    lines = (zip(sides, line, widths, strict=True) for line in (COLUMNS, *rows))
    return "\n".join("  ".join(side(word, width) for side, word, width in line).rstrip() for line in lines)


def notes(found: dict[str, dict[str, Any]]) -> list[str]:
    """What the table doesn't say: ratios, stages of a cell, and how many predictions differ."""
    said = []
    for corpus in CORPORA:
        one = {how: found[f"{corpus}:{how}"] for how in ROUTES_OF_USERS if f"{corpus}:{how}" in found}
        predicted = {how: next(iter(own["predictions"].values())) for how, own in one.items()}
        for how in ("svc", "libsvm"):
            ratio = one[how]["from_counts"] / one["ngd"]["from_counts"]
            said.append(f"{corpus}: {how} takes {ratio:.1f} times ours from counts; {same(predicted, how)}")
        (ties,), (stages,) = one["ngd"]["ties"].values(), one["ngd"]["stages"].values()
        stages = ", ".join(f"{name} {s:.2f} s" for name, s in stages.items() if s)
        said.append(f"{corpus}: ours by stage: {stages}; ties, for the class that comes first: {ties}")
    if "ten-cells" in found:
        mine, theirs = found["20ng"], found["ten-cells"]
        differ = [_differ(mine["predictions"][cell], own) for cell, own in theirs["predictions"].items()]
        said.append(
            f"20ng, ten cells: scikit-learn takes {theirs['seconds'] / mine['seconds']:.1f} times ours; "
            f"predictions that differ, by cell: {', '.join(map(str, differ))}"
        )
    return said


def same(predicted: dict[str, list[str]], how: str) -> str:
    """How many predictions of a route differ from ours."""
    return f"{_differ(predicted['ngd'], predicted[how])} of {len(predicted[how])} predictions differ"


def _differ(a: list[str], b: list[str]) -> int:
    return sum(x != y for x, y in zip(a, b, strict=True))


def has_intelex() -> bool:
    """Whether scikit-learn-intelex is there; a line that says what to do, where not."""
    there = not subprocess.run([INTELEX_PYTHON, "-c", "import sklearnex"], check=False, capture_output=True).returncode
    if not there:
        print("scikit-learn-intelex is skipped: it isn't installed (pip install 'simplexbench[perf]')")
    return there


def main() -> None:
    """Measure, print a table, and write everything as JSON."""
    parser = argparse.ArgumentParser(description="Ours against what a user would pick instead.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="a file for all that was measured")
    parser.add_argument("--only", choices=["side-by-side"], help="without whole runs")
    asked = parser.parse_args()
    routes = [how for how in ROUTES_OF_USERS if how != "intelex" or has_intelex()]
    with tempfile.TemporaryDirectory() as name:
        perf = Bench(Path(name), asked.repeats)
        perf.once("quickstart")  # compiles what isn't compiled yet, which a user pays for once
        for route in () if asked.only else WHOLE:
            perf.measure(route, cold=not route.endswith("-again"))
        for corpus in CORPORA:
            for how in routes:
                perf.measure(f"{corpus}:{how}")
    rows = [perf.row(route, called) for route, called in WHOLE.items() if route in perf.found]
    for corpus, title in CORPORA.items():
        rows += [perf.row("", title), *(perf.row(f"{corpus}:{how}", f"  {ROUTES_OF_USERS[how]}") for how in routes)]
    processors = f"{len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f}"
    print(f"Medians of {asked.repeats}; {processors}. s: from process start to predictions, ours to the last file.")
    print("From counts: weights, kernel, training and predictions; of TfidfVectorizer, after its rows.\n")
    print(table(rows), *notes(perf.found), sep="\n")
    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        asked.json.write_text(json.dumps({"repeats": asked.repeats, "machine": processors, "routes": perf.found}))


if __name__ == "__main__":
    main()
