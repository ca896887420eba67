"""Make slices of the trials, each with another seed, for some minutes: `python -m tests.trials MINUTES [SEED]`."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import time
from collections import Counter

PYTEST = (sys.executable, "-m", "pytest", "-m", "slow", "-q", "--tb=short")
GROWTH = "tests/trials/test_growth.py"
#: Tests that are made together, and those that measure seconds, alone.
PARTS = (("-n", "3", "--dist", "worksteal", "tests/trials", "--ignore", GROWTH), (GROWTH,))
COUNTED = re.compile(r"(\w+): ([\d,]+) trials, (\d+) tests failed, ([\d,]+) s$")


def make_slice(seed: int, numbers: dict[str, Counter[str]]) -> list[str]:
    """Make a slice of the trials, and add up its numbers; return the lines that repeat what failed."""
    again = []
    for part in PARTS:
        variables = {**os.environ, "SLICE": "1", "SEED": str(seed)}
        with subprocess.Popen([*PYTEST, *part], env=variables, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                if found := COUNTED.match(line):
                    made = zip(("trials", "failed", "seconds"), found.groups()[1:], strict=True)
                    numbers.setdefault(found[1], Counter()).update({k: int(n.replace(",", "")) for k, n in made})
                again += [line.strip()] if line.startswith("again: ") else []
        if process.returncode and not again:
            again = [f"again: SLICE=1 SEED={seed} {' '.join(map(str, process.args[1:]))}"]  # type: ignore[index]
    return again


def main() -> None:
    """Go on with new seeds until the minutes are over; print the numbers of all, and what failed."""
    end, first = time.monotonic() + 60 * float(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else int(time.time() / 60)
    numbers, again = dict[str, Counter[str]](), list[str]()
    for seed in itertools.count(first):
        print(f"seed {seed}", flush=True)
        again += make_slice(seed, numbers)
        if time.monotonic() >= end:
            break
    print(f"\nseeds {first} to {seed}")
    for family, each in sorted(numbers.items()):
        print(f"{family}: {each['trials']:,} trials, {each['failed']} tests failed, {each['seconds']:,} s")
    print("\n".join(again) or "nothing failed")
    sys.exit(bool(again))


if __name__ == "__main__":
    main()
