"""The machine code that ends a process at the second Ctrl-C in the same code of a plug-in, and at no other."""

from __future__ import annotations

import pytest

from benchmark.system.user_code.watcher import ENTERED, LEFT
from tests.processes import Process

CTRL_C, OTHER_SIGNAL = 2, 14
WATCH = """
import os, sys
import numpy as np
from benchmark.system.user_code import watcher
reads, writes = os.pipe()
os.write(writes, bytes(map(int, sys.argv[1:])))
os.close(writes)
watcher.watch(reads, 500, np.full((2, 5), ord("x"), np.uint8), np.array([0, 5]))
"""


@pytest.mark.parametrize(
    ("read", "code"),
    [
        ([ENTERED, CTRL_C, CTRL_C], 130),
        ([ENTERED, CTRL_C, LEFT, ENTERED, CTRL_C, CTRL_C], 130),
        ([ENTERED, CTRL_C, OTHER_SIGNAL, CTRL_C], 130),
        ([ENTERED, CTRL_C, LEFT, CTRL_C], 0),
        ([ENTERED, CTRL_C, LEFT, ENTERED, CTRL_C, LEFT], 0),
        ([CTRL_C, CTRL_C, ENTERED, CTRL_C], 0),
        ([ENTERED, OTHER_SIGNAL, OTHER_SIGNAL], 0),
    ],
    ids=str,
)
def test_the_second_in_the_same_code_ends_the_process(read: list[int], code: int) -> None:
    with Process(*map(str, read), code=WATCH) as process:
        found, _, said = process.finish()
    assert (found, said) == (code, "xxxxx" if code else "")
