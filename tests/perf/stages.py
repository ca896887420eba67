"""Where the seconds of a run go: `python tests/perf/stages.py [OTHER_CHECKOUT]`.

Wall-clock seconds by stage, medians of five runs, each in a process of its own; with another checkout, its runs
alternate with those of this one, and its seconds stand first. A thread looks every four milliseconds at what the others
do: the time since its last look counts for the stages of the threads that work, in equal parts.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

ROOT = Path(__file__).parents[2]
REPEATS, INTERVAL = 5, 0.004
#: Commands; those that are asked again find everything in the store.
JOBS = {"20ng": "run", "webkb": "run", "webkb, again": "run", "quickstart": "run", "webkb, validate": "validate"}
START, TESTING, OTHER = "start-up", "testing", "other"
#: By stage, where in the package it is. The innermost place on a stack decides.
PLACES = {
    "reading": ("corpora/",),
    "counting": ("text/",),
    "digests": ("experiment/code_digest.py", "plugins/trust.py"),
    "products": ("representation/", "kernels/products.py", "system/row_blocks.py"),
    "kernels": ("kernels/",),
    "training": ("classifiers/",),
    TESTING: (),
    "scoring": ("evaluation/",),
    "figures": ("report/drawing/",),
    "page": ("report/html/", "report/page.py", "report/environment.py"),
    "tables": ("analysis/", "papers/", "report/", "commands/"),
}
STAGES = (START, *PLACES, OTHER)


def stage_of(frame: FrameType | None) -> str:
    """Return the stage that a stack is in; "" if no function of the package is on it."""
    places, imports = list[tuple[str, str]](), False
    while frame is not None:
        file = frame.f_code.co_filename
        imports |= file.startswith("<frozen importlib")
        _, inside, place = file.rpartition("/benchmark/")
        if inside and "site-packages" not in file:
            places.append((place, frame.f_code.co_name))
        frame = frame.f_back
    if imports or ("system/numba_jit.py", "load") in places:
        return START
    for place, _ in places:
        for stage, own in PLACES.items():
            if place.startswith(own):
                tested = any("decision" in function or "predict" in function for _, function in places)
                return TESTING if stage == "training" and tested else stage
    return OTHER if places else ""


def run_here(out: Path, arguments: list[str]) -> None:
    """Run a command in this process, and write its seconds by stage."""
    seconds, ended, started = Counter[str](), threading.Event(), time.perf_counter()
    main_thread = threading.get_ident()

    def look() -> None:
        last = started
        while not ended.wait(INTERVAL):
            frames, now = sys._current_frames(), time.perf_counter()
            main = stage_of(frames.pop(main_thread)) or START
            frames.pop(threading.get_ident())
            stages = [stage for frame in frames.values() if (stage := stage_of(frame))] or [main]
            for stage in stages:
                seconds[stage] += (now - last) / len(stages)
            last = now

    threading.Thread(target=look, daemon=True).start()
    sys.argv = ["bench", *arguments]
    try:
        from benchmark.cli import main

        main()
    except SystemExit as end:
        if end.code:
            raise
    ended.set()
    out.write_text(json.dumps(seconds))


def measured(tree: Path, job: str, folder: Path) -> dict[str, float]:
    """Return the seconds of a job by stage, and of the whole process; its start counts for the first stage."""
    config, _, again = job.partition(", ")
    if again != "again":
        shutil.rmtree(folder / "store", ignore_errors=True)
    command = [sys.executable, __file__, "--run", str(folder / "stages.json"), JOBS[job], f"configs/{config}.yaml"]
    command += [] if JOBS[job] == "validate" else ["--out", str(folder / config)]
    environment = {**os.environ, "PYTHONPATH": str(tree), "BENCH_CACHE": str(folder / "store")}
    started = time.perf_counter()
    subprocess.run(command, check=True, cwd=tree, env=environment, stdout=subprocess.DEVNULL)
    whole = time.perf_counter() - started
    found = json.loads((folder / "stages.json").read_text())
    return found | {START: whole - sum(found.values()) + found.get(START, 0), "all": whole}


def main() -> None:
    """Measure every job, and print a table."""
    if sys.argv[1:2] == ["--run"]:
        run_here(Path(sys.argv[2]), sys.argv[3:])
        return
    trees = [*(Path(other).resolve() for other in sys.argv[1:]), ROOT]
    cells = dict[tuple[str, str], str]()
    with tempfile.TemporaryDirectory() as name:
        folders = {tree: Path(name) / str(number) for number, tree in enumerate(trees)}
        for folder in folders.values():
            folder.mkdir()
        for tree in trees:
            measured(tree, "quickstart", folders[tree])  # compiles what isn't compiled yet
        for job in JOBS:
            runs: dict[Path, list[dict[str, float]]] = {tree: [] for tree in trees}
            for _ in range(REPEATS):
                for tree in trees:
                    runs[tree].append(measured(tree, job, folders[tree]))
            for stage in (*STAGES, "all"):
                medians = [statistics.median(each.get(stage, 0) for each in runs[tree]) for tree in trees]
                cells[stage, job] = " → ".join(f"{median:.2f}" for median in medians)
    print(f"Seconds, medians of {REPEATS} runs; {len(os.sched_getaffinity(0))} processors")
    for row in (("", *JOBS), *((stage, *(cells[stage, job] for job in JOBS)) for stage in (*STAGES, "all"))):
        print(f"{row[0]:12}", *(f"{cell:>17}" for cell in row[1:]))


if __name__ == "__main__":
    main()
