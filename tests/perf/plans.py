"""`bench plan` against the truth: processor seconds, memory and seconds on the clock, for ten kinds of runs.

    python tests/perf/plans.py [--json FILE] [NAME…]

Each configuration of the folder `plans` is planned, and then run in a fresh process, with a store of its own that has
no results. With a FILE, what was measured is written to it, and runs that it has are not run again: a run takes the
same whatever is forecast. NAME may also be a configuration of the package, or "own": 20 Newsgroups as a table of one's
own.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import zipf
from measure import cpu_seconds, peak_memory

ROOT, PLANS = Path(__file__).parents[2], Path(__file__).with_name("plans")
NAMES = tuple(sorted(path.stem for path in PLANS.glob("*.yaml")))
#: Generated tables: number of documents, and what `zipf.write` takes.
TABLES: dict[str, tuple[int, dict[str, Any]]] = {
    "short-texts": (49_000, {"words_per_document": 24, "spread": 0.9, "n_classes": 39, "skew": 0.8, "n_words": 60_000}),
    "long-texts": (250, {"words_per_document": 15_000, "spread": 0.8, "n_classes": 5, "n_words": 100_000}),
    "many-classes": (8_000, {"words_per_document": 60, "spread": 0.5, "n_classes": 200, "n_words": 50_000}),
    "tags": (6_000, {"words_per_document": 40, "spread": 0.8, "n_classes": 30, "skew": 0.7, "several": 0.5}),
}
#: What is compared, with the unit of its columns: processor seconds, GB, seconds on the clock.
MEASURED = {"cpu": 1.0, "memory": 1e9, "seconds": 1.0}


def configuration(name: str, folder: Path) -> Path:
    """The configuration of a name, in a folder with the tables that it reads."""
    if name == "own":
        return own_table(folder)
    if name not in NAMES:
        return ROOT / "configs" / f"{name}.yaml"
    for path in PLANS.glob("*.yaml"):
        shutil.copy(path, folder)
    table = next((each for each in TABLES if name.startswith(each)), None)
    if table is not None:
        n_documents, how = TABLES[table]
        zipf.write(folder / f"{table}.csv", n_documents, **{"n_words": 50_000, **how})
    return folder / f"{name}.yaml"


def own_table(folder: Path) -> Path:
    """A configuration for 20 Newsgroups as a table of one's own, as `bench init` writes it."""
    from benchmark.corpora import registry

    corpus = registry.load_corpus("20ng")
    names = corpus.documents.classes, corpus.documents.part_names
    with (folder / "own.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label", "split"])
        for text, label, group in zip(corpus, corpus.documents.labels, corpus.documents.parts, strict=True):
            writer.writerow([text.decode("latin-1").replace("\0", ""), names[0][label], names[1][group]])
    bench = [sys.executable, "-m", "benchmark.cli"]
    subprocess.run([*bench, "init", folder / "own.csv", "-o", folder / "own.yaml"], check=True, cwd=folder)
    return folder / "own.yaml"


def planned(config: Path) -> None:
    """Print what is planned, as JSON."""
    from benchmark.commands.plan import plan_run
    from benchmark.experiment.configuration import load_checked
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.store import Store
    from benchmark.system.threads import let_openmp_threads_sleep, n_processors

    let_openmp_threads_sleep()
    found = plan_run(load_checked(config), RunContext(Store(), jobs=n_processors())).forecast
    if found is not None:
        print(json.dumps({"seconds": found.seconds, "cpu": found.cpu, "memory": found.memory, "peak": found.peak}))


def forecast(config: Path, folder: Path) -> dict[str, Any]:
    """What a fresh process forecasts, and the processor seconds that it took to do so."""
    environment, before = {**os.environ, "BENCH_CACHE": str(folder / "store")}, cpu_seconds()
    said = subprocess.run(
        [sys.executable, __file__, "--plan", config], env=environment, check=True, stdout=subprocess.PIPE
    ).stdout
    found = json.loads(said)
    return {
        "cpu": sum(found["cpu"].values()),
        "memory": found["peak"],
        "seconds": sum(found["seconds"].values()),
        "parts": found,
        "took": cpu_seconds() - before,
    }


def run(config: Path, folder: Path) -> dict[str, Any]:
    """What `bench run` takes in a fresh process, after a plan, and the machine's load before and after it."""
    environment, load = {**os.environ, "BENCH_CACHE": str(folder / "store")}, os.getloadavg()[0]
    started, before = time.perf_counter(), cpu_seconds()
    command = [sys.executable, "-m", "benchmark.cli", "run", config, "--out", folder / "run"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    peak = peak_memory(process)
    if process.returncode:
        raise SystemExit(f"{config.stem} failed")
    took = {"seconds": time.perf_counter() - started, "cpu": cpu_seconds() - before, "memory": peak * 1e9}
    return {**took, "load": [load, os.getloadavg()[0]]}


def row(name: str, found: dict[str, Any]) -> str:
    """A line of the forecast, the truth, and their ratio."""
    parts = []
    for what, unit in MEASURED.items():
        forecast_of, truth = found["forecast"][what] / unit, found["run"][what] / unit
        parts.append(f"{forecast_of:8.1f}{truth:8.1f}{forecast_of / truth:6.2f}")
    before, after = found["run"]["load"]
    return f"{name:22}{''.join(parts)}  planning {found['forecast']['took']:5.1f} s, load {before:.1f} to {after:.1f}"


def main() -> None:
    """Forecast and run each configuration, and print a line of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--json", type=Path, help="file of what was measured, read and written")
    parser.add_argument("--plan", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.plan:
        return planned(asked.plan)
    known = json.loads(asked.json.read_text()) if asked.json and asked.json.exists() else {}
    print(f"{'forecast, truth, ratio':22}{'processor seconds':>22}{'GB':>22}{'seconds':>22}")
    for name in asked.names:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            config = configuration(name, folder)
            found = {"forecast": forecast(config, folder), "run": known.get(name, {}).get("run")}
            found["run"] = found["run"] or run(config, folder)
        known[name] = found
        if asked.json:
            asked.json.write_text(json.dumps(known, indent=1))
        print(row(name, found), flush=True)
    return None


if __name__ == "__main__":
    main()
