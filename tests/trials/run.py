"""`make trials`: tries to break the tool from fixed seeds, and prints a table of trials and failures.

python tests/trials/run.py [FAMILY...] [--slice] [--only NUMBER] [--jobs N] [--table FILE]
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, deque
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

import archive_trials
import cluster_trials
import environment_trials
import folder_trials
import growth_trials
import numba
import plugin_trials
import reading_trials
import run_trials
import store_trials
import yaml_trials
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits
from trial import REPOSITORY, Family, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOMS = (
    yaml_trials,
    reading_trials,
    growth_trials,
    archive_trials,
    folder_trials,
    environment_trials,
    store_trials,
    run_trials,
    plugin_trials,
    cluster_trials,
)
FAMILIES: dict[str, Family] = {each.name: each for room in ROOMS for each in room.FAMILIES}
SPAWN = multiprocessing.get_context("spawn")
#: A trial that takes more has found something, and the machine is left in peace.
MEMORY = 8 << 30
SHOWN, LAST_LINES = 3, 25


@dataclass
class Outcome:
    """What came of a family: failures by number, reasons of what was skipped, and seconds."""

    family: Family
    trials: int = 0
    failures: dict[int, str] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    seconds: float = 0


class Lane:
    """A process that makes one trial after the other, and is replaced where one of them takes it along."""

    def __init__(self) -> None:
        self.number = -1
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = SPAWN.Pipe()
        self._process = SPAWN.Process(target=_serve, args=(theirs,))
        self._process.start()
        theirs.close()
        self.pipe.recv()

    def begin(self, family: Family, number: int) -> None:
        """Start a trial."""
        self.number, self.deadline = number, time.monotonic() + family.limit
        self.pipe.send((family.name, number))

    def result(self) -> tuple[str, str] | None:
        """("failed" or "skipped", why), or None; where the process has died, that is why."""
        try:
            found: tuple[str, str] | None = self.pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            found = ("failed", f"the process died, exit code {self._process.exitcode}")
            self.end()
            self._start()
        return found

    def stop(self, family: Family) -> tuple[str, str]:
        """End a trial that doesn't."""
        self.end()
        self._start()
        return "failed", f"no end after {family.limit:g} s"

    def end(self) -> None:
        """Kill the process and all that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid or 0, signal.SIGKILL)
        self._process.join()
        self.pipe.close()


def _serve(pipe: Any) -> None:
    """What a lane does: a trial for each question."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    os.chdir(REPOSITORY)
    numba.set_num_threads(1)
    with threadpool_limits(1):
        pipe.send("ready")
        while True:
            try:
                name, number = pipe.recv()
            except EOFError:
                return
            pipe.send(_made(FAMILIES[name], number))


def _made(family: Family, number: int) -> tuple[str, str] | None:
    try:
        failure = family.trial(number)
    except Skipped as reason:
        return "skipped", str(reason)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what the trial looks for
        lines = traceback.format_exc(chain=False).splitlines()[-LAST_LINES:]
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        return "failed", "\n".join([f"{type(error).__name__} at {place}: {str(error)[:200]!a}", *lines])
    return None if failure is None else ("failed", failure)


def make(outcome: Outcome, numbers: Sequence[int], lanes: Sequence[Lane]) -> None:
    """Make trials of one family, and note what comes of each."""
    family, waiting, started = outcome.family, deque(numbers), time.monotonic()
    free, busy = list(lanes[: 1 if family.alone else None]), dict[Any, Lane]()
    while waiting or busy:
        while free and waiting:
            lane = free.pop()
            lane.begin(family, waiting.popleft())
            busy[lane.pipe] = lane
        wait(list(busy), max(0, min(lane.deadline for lane in busy.values()) - time.monotonic()))
        for pipe, lane in list(busy.items()):
            if pipe.poll():
                found = lane.result()
            elif time.monotonic() > lane.deadline:
                found = lane.stop(family)
            else:
                continue
            del busy[pipe]
            free.append(lane)
            outcome.trials += 1
            outcome.seconds = time.monotonic() - started
            if found is not None and found[0] == "skipped":
                outcome.skipped[found[1]] += 1
            elif found is not None:
                outcome.failures[lane.number] = found[1]


COLUMNS = ("family", "what is tried", "trials", "failed", "seconds", "skipped")


def row(outcome: Outcome) -> tuple[str, ...]:
    """A line of the table."""
    family = outcome.family
    skipped = "; ".join(f"{number}: {reason}" for reason, number in outcome.skipped.items())
    tried = outcome.trials - sum(outcome.skipped.values())
    return family.name, family.tries, f"{tried:,}", str(len(outcome.failures)), f"{outcome.seconds:.0f}", skipped


def markdown(outcomes: Sequence[Outcome]) -> str:
    """The table, for a page."""
    rows = [COLUMNS, ("---", "---", "---:", "---:", "---:", "---"), *map(row, outcomes)]
    if not any(outcome.skipped for outcome in outcomes):
        rows = [cells[:-1] for cells in rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def explained(outcome: Outcome) -> Iterator[str]:
    """The failures of a family: each kind once, whole, with the numbers that it is of."""
    alike: dict[str, list[int]] = {}
    for number, text in sorted(outcome.failures.items()):
        alike.setdefault(text.partition("\n")[0], []).append(number)
    for numbers in alike.values():
        shown = ", ".join(map(str, numbers[:SHOWN])) + (", …" if len(numbers) > SHOWN else "")
        yield f"\n{outcome.family.name} {shown} ({len(numbers)} alike): {outcome.failures[numbers[0]]}"
        yield f"again: python tests/trials/run.py {outcome.family.name} --only {numbers[0]}"


def shown(outcomes: Sequence[Outcome]) -> Table:
    """The table, for a terminal."""
    table = Table(box=None, pad_edge=False)
    for name in COLUMNS:
        table.add_column(name, justify="right" if name in ("trials", "failed", "seconds") else "left")
    for outcome in outcomes:
        table.add_row(*row(outcome))
    return table


def main() -> None:
    """Make the trials that were asked for, and exit with 1 if one failed."""
    parser = argparse.ArgumentParser(description="Try to break the tool, from fixed seeds.")
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(FAMILIES)}; all unless named")
    parser.add_argument("--slice", action="store_true", help="the first few of each family, for continuous integration")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one trial of one family")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (2)")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the table as Markdown too")
    given = parser.parse_args()
    if unknown := [name for name in given.families if name not in FAMILIES]:
        parser.error(f"there is no family {unknown[0]!r}; there are {', '.join(FAMILIES)}")
    if given.only is not None and len(given.families) != 1:
        parser.error("--only is of one family: name it")
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # to leave no process and no file behind
    console, outcomes = Console(highlight=False, markup=False, emoji=False, soft_wrap=True), []
    with tempfile.TemporaryDirectory(prefix="trials-") as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        os.environ["BENCH_CACHE"] = f"{folder}/store"
        lanes = [Lane() for _ in range(1 if given.only is not None else given.jobs)]
        try:
            for family in map(FAMILIES.__getitem__, given.families or FAMILIES):
                numbers = range(family.slice if given.slice else family.full)
                outcomes.append(outcome := Outcome(family))
                make(outcome, [given.only] if given.only is not None else numbers, lanes)
                console.print(f"{family.name}: {outcome.trials:,} trials, {len(outcome.failures)} failed")
        finally:  # those that were made are told, if others are cut short
            for lane in lanes:
                lane.end()
            console.print(shown(outcomes), *(line for outcome in outcomes for line in explained(outcome)), sep="\n")
    if given.table:
        given.table.write_text(markdown(outcomes), encoding="utf-8")
    sys.exit(any(outcome.failures for outcome in outcomes))


if __name__ == "__main__":
    main()
