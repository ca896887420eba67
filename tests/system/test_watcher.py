"""The machine code that ends a process at the second Ctrl-C in the same code of a plug-in, and at no other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmark.system.user_code.watcher import ENTERED, LEFT
from tests.processes import Process

CTRL_C, OTHER_SIGNAL = 2, 14
#: Until the first line is printed nothing more is read.
PATIENCE = None
#: Each case in a fork of one process, which loads numba once: what is read, then the exit code and what is printed.
WATCH = """
import json, os, sys
import numpy as np
from benchmark.system.user_code import watcher
lines = np.array([[ord("w")] * 5, [ord("x")] * 5], np.uint8)
for read in json.loads(sys.argv[1]):
    reads, writes = os.pipe()
    said, says = os.pipe()
    child = os.fork()
    if not child:
        os.close(writes)
        os.dup2(says, 2)
        watcher.watch(reads, 20 if None in read else 60_000, lines, np.array([3, 5]))
        os._exit(0)
    os.close(says)
    printed = b""
    for each in read:
        if each is None:
            printed += os.read(said, 3)
        else:
            os.write(writes, bytes([each]))
    os.close(writes)
    printed += os.fdopen(said, "rb").read()
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), printed.decode()]))
    os.close(reads)
"""
CASES: list[tuple[list[int | None], int, str]] = [
    ([ENTERED, CTRL_C, CTRL_C], 130, "xxxxx"),
    ([ENTERED, CTRL_C, LEFT, ENTERED, CTRL_C, CTRL_C], 130, "xxxxx"),
    ([ENTERED, CTRL_C, OTHER_SIGNAL, CTRL_C], 130, "xxxxx"),
    ([ENTERED, CTRL_C, LEFT, CTRL_C], 0, ""),
    ([ENTERED, CTRL_C, LEFT, ENTERED, CTRL_C, LEFT], 0, ""),
    ([CTRL_C, CTRL_C, ENTERED, CTRL_C], 0, ""),
    ([ENTERED, OTHER_SIGNAL, OTHER_SIGNAL], 0, ""),
    ([ENTERED, CTRL_C, PATIENCE, CTRL_C], 130, "wwwxxxxx"),
    ([ENTERED, CTRL_C, PATIENCE, LEFT, ENTERED, CTRL_C, LEFT], 0, "www"),
]


@pytest.fixture(scope="module")
def watched() -> list[Any]:
    """The exit code and what was printed in each case."""
    with Process(json.dumps([read for read, _, _ in CASES]), code=WATCH) as process:
        code, printed, said = process.finish()
    assert (code, said) == (0, "")
    return [json.loads(line) for line in printed.splitlines()]


@pytest.mark.parametrize("number", range(len(CASES)), ids=[str(read) for read, _, _ in CASES])
def test_the_second_in_the_same_code_ends_the_process(number: int, watched: list[Any]) -> None:
    _, code, said = CASES[number]
    assert watched[number] == [code, said]
