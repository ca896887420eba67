"""Ctrl-C while a plug-in's code runs: the first interrupts it, the second ends the process, whatever the code does."""

from __future__ import annotations

import re
import signal
import time
from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.plugins.test_misbehaviour import CLASSIFIER
from tests.processes import Process
from tests.trials.limits import mostly_slow

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

START = "sys.stderr.write('BEGUN\\n'); sys.stderr.flush()"
#: Code that goes on.
LOOPS = [
    "sum(range(10**13))",
    "while True: pass",
    "np.lib.stride_tricks.as_strided(np.zeros(1), (10**13,), (0,)).sum()",
    "exec('while True:\\n try:\\n  while True: pass\\n except BaseException: pass')",
    "time.sleep(10**6)",
]
WAITING = r"bench: waiting for mine\.py:\d+; Ctrl-C again ends the process"
ENDED = r"bench: interrupted; mine\.py:\d+ didn't stop, and the process was ended; what is stored stays so"


def said(process: Process, pattern: str) -> str:
    """Read standard error until a line of it matches, and return the line."""
    for line in process.stderr:
        if re.search(pattern, line):
            return line
    return ""


@pytest.mark.timeout(90)
@pytest.mark.parametrize(("loop", "place"), mostly_slow(product(LOOPS, ("fit", "scores")), 2))
def test_the_second_interrupt_ends_the_process(
    loop: str, place: str, config: Callable[..., Path], plugin: Callable[..., Path], tmp_path: Path
) -> None:
    body = f"{START}\n        {loop}"
    plugin("import time\n" + CLASSIFIER.format(**{"fit": "pass", "scores": "pass"} | {place: body}))
    words = ["run", str(config(files="mine.py", methods="mine")), "--out", str(tmp_path / "out")]
    with Process(*words, variables={"BENCH_CACHE": str(tmp_path / "store")}) as process:
        try:
            assert said(process, "BEGUN")
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            if re.search(WAITING, said(process, f"{WAITING}|bench: interrupted")):
                process.send_signal(signal.SIGINT)
                assert re.search(ENDED, said(process, "bench: "))
            code, _, error = process.finish()
            assert "Traceback" not in error
            assert code == 130
        finally:
            process.send_signal(signal.SIGKILL)
