"""`bench plan` against the truth: seconds on the clock and of the processors, and memory, for all kinds of runs.

    python tests/perf/plans.py [CONFIG…]

Each configuration is planned and then run, in processes and with a store of their own. "own" is 20 Newsgroups as a
table of one's own.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import cpu_seconds, peak_memory

ROOT = Path(__file__).parents[2]
CONFIGS = (
    *("quickstart", "all-methods", "webkb", "20ng", "reuters-eef-reduced", "reuters-hp-top-reduced"),
    *("reuters-skl-reduced", "webkb-diffusion-reduced", "all-methods-webkb", "own"),
)


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
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.run import load_checked
    from benchmark.experiment.store import Store
    from benchmark.system.threads import let_openmp_threads_sleep, n_processors

    let_openmp_threads_sleep()
    found = plan_run(load_checked(config), RunContext(Store(), jobs=n_processors())).forecast
    print(json.dumps({"seconds": found.seconds, "cpu": found.cpu, "memory": found.memory} if found else {}))


def once(config: Path, folder: Path) -> tuple[dict[str, Any], float, dict[str, float]]:
    """The plan, the seconds on the clock that planning took, and what the run took."""
    environment = {**os.environ, "BENCH_CACHE": str(folder / "store")}
    started = time.perf_counter()
    said = subprocess.run(
        [sys.executable, __file__, "--plan", config], env=environment, check=True, stdout=subprocess.PIPE
    ).stdout
    planning, started, before = time.perf_counter() - started, time.perf_counter(), cpu_seconds()
    command = [sys.executable, "-m", "benchmark.cli", "run", config, "--out", folder / "run"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = peak_memory(process)
    took = {"seconds": time.perf_counter() - started, "cpu": cpu_seconds() - before, "memory": peak * 1e9}
    return json.loads(said), planning, took


def main() -> None:
    """Plan and run each configuration, and print a line of both."""
    if sys.argv[1:2] == ["--plan"]:
        return planned(Path(sys.argv[2]))
    print(f"{'configuration':24}{'seconds':>17}{'of processors':>17}{'GB':>15}  planning took")
    print(f"{'':24}{'  plan  truth  ×':>17}{'  plan  truth  ×':>17}{'plan truth   ×':>15}")
    for name in sys.argv[1:] or CONFIGS:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            config = own_table(folder) if name == "own" else ROOT / "configs" / f"{name}.yaml"
            plan, planning, took = once(config, folder)
        line = f"{name:24}"
        for what, scale in (("seconds", 1), ("cpu", 1), ("memory", 1e9)):
            sum_, truth = sum(plan[what].values()) / scale, took[what] / scale
            line += f"{sum_:7.1f}{truth:6.1f}{sum_ / truth:4.1f}"
        print(f"{line}  {planning:5.1f} s   load {os.getloadavg()[0]:.1f}", flush=True)
    return None


if __name__ == "__main__":
    main()
