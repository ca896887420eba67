"""`make perf`: ours against the plain routes on the real corpora, in one session; medians, ratios, peak memory.

python tests/perf/measure.py [REPEATS]
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROUTES = Path(__file__).with_name("routes.py")
#: Configurations of other kinds, from process start to the last file.
CURVES = ("webkb-diffusion", "decision-boundaries", "reuters-hp-top-reduced", "reuters-eef", "reuters-skl")


class Bench:
    """Runs routes in fresh processes, with a store of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "BENCH_CACHE": str(folder / "store")}

    def once(self, route: str, *, cold: bool = False) -> tuple[dict[str, Any], float]:
        """A route's result and its peak memory in GB (its own and its children's largest)."""
        if cold:
            shutil.rmtree(self.folder / "store", ignore_errors=True)
        out = self.folder / f"{route}.json"
        process = subprocess.Popen([sys.executable, str(ROUTES), route, str(out)], env=self.environment)
        peak = peak_memory(process)
        if process.returncode:
            raise SystemExit(f"the route {route!r} failed")
        return json.loads(out.read_text()), peak

    def median(self, route: str, repeats: int, *, cold: bool = False) -> tuple[float, float, dict[str, Any]]:
        """Median seconds, largest peak in GB, and the last result."""
        done = [self.once(route, cold=cold) for _ in range(repeats)]
        seconds = [result["seconds"] for result, _ in done]
        print(f"  {route}: {', '.join(f'{s:.1f}' for s in seconds)} s", file=sys.stderr, flush=True)
        return statistics.median(seconds), max(peak for _, peak in done), done[-1][0]


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


def same(a: list[str], b: list[str]) -> str:
    """How many predictions differ."""
    return f"{sum(x != y for x, y in zip(a, b, strict=True))} of {len(a)}"


def main() -> None:
    """Measure and print."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name))
        bench.once("quickstart")  # compiles what isn't compiled yet, which a user pays for once
        quick, _, _ = bench.median("quickstart", repeats, cold=True)
        lexed, _, _ = bench.median("lexing", repeats)
        webkb, webkb_peak, _ = bench.median("webkb", repeats, cold=True)
        again, _, _ = bench.median("webkb-again", repeats)
        ours, ours_peak, mine = bench.median("ours", repeats, cold=True)
        stages = bench.once("stages")[0]["stages"]
        plain, plain_peak, theirs = bench.median("scikit-learn", repeats)
        documented, documented_peak, official = bench.median("documented", 1)
        curves = {name: bench.median(name, repeats, cold=True)[:2] for name in CURVES}
    cell = stages["link"] + stages["LIBSVM's solver"] + stages["test link and decisions"]
    print(f"processors: {len(os.sched_getaffinity(0))}; medians of {repeats}, the documented route once")
    print(f"quickstart, cold store            {quick:7.1f} s")
    print(f"20NG read, verified and lexed     {lexed:7.1f} s")
    print(f"WebKB, 40 cells × folds, cold     {webkb:7.1f} s   {webkb_peak:5.1f} GB")
    print(f"WebKB from a full store           {again:7.1f} s")
    print(f"20NG, ten cells, ours, cold       {ours:7.1f} s   {ours_peak:5.1f} GB   (process start to last figure)")
    print(f"20NG, ten cells, scikit-learn     {plain:7.1f} s   {plain_peak:5.1f} GB   (after lexing)")
    print(f"   ratio                          {plain / ours:7.1f}")
    print(f"20NG, one cell, documented route  {documented:7.1f} s   {documented_peak:5.1f} GB   (from the Gram matrix)")
    print(f"20NG, one cell, ours              {cell:7.1f} s   (from the inner products)")
    print(f"   ratio                          {documented / cell:7.1f}")
    for name, (seconds, peak) in curves.items():
        print(f"{name + ', cold':33} {seconds:7.1f} s   {peak:5.1f} GB")
    print("one cell of ours by stage: " + ", ".join(f"{name} {s:.2f} s" for name, s in stages.items()))
    solver = stages["LIBSVM's solver"]
    print(f"LIBSVM's own solver: {100 * solver / cell:.0f}% of a cell")
    print("predictions that differ, ours against scikit-learn:")
    for cell_id, predicted in theirs["predictions"].items():
        print(f"   {cell_id:16} {same(mine['predictions'][cell_id], predicted)}")
    for cell_id, predicted in official["predictions"].items():
        print(f"ours against the documented route: {cell_id} {same(mine['predictions'][cell_id], predicted)}")


if __name__ == "__main__":
    main()
