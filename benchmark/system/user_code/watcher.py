"""Machine code that ends the process at the second Ctrl-C, without the interpreter's lock, which a plug-in may hold.

Importing this module loads numba; `interrupts` imports it when a plug-in's code runs for the first time.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types

#: What is written to the pipe, besides the numbers of signals: a plug-in's code begins, and has ended.
ENTERED, LEFT = 200, 201
#: Number of SIGINT, and exit code of a process that it ended.
_PRESSED, _EXIT_CODE = 2, 130
_POLLIN = 1

_read: Any = types.ExternalFunction("read", types.intp(types.int32, types.intp, types.intp))
_write: Any = types.ExternalFunction("write", types.intp(types.int32, types.intp, types.intp))
_poll: Any = types.ExternalFunction("poll", types.int32(types.intp, types.intp, types.int32))
_exit: Any = types.ExternalFunction("_exit", types.void(types.int32))


@numba.njit("void(int32, int32, uint8[:, ::1], int64[::1])", nogil=True, cache=True)
def watch(pipe: int, patience: int, lines: Any, sizes: Any) -> None:
    """Read a pipe until it is closed; end the process at the second Ctrl-C in the same code of a plug-in.

    Parameters
    ----------
    pipe : int
        Descriptor to read.
    patience : int
        Milliseconds after the first Ctrl-C until the first line is printed, unless the code ends.
    lines : uint8 array, shape (2, n)
        Lines for the first and second Ctrl-C, in UTF-8.
    sizes : int64 array, shape (2,)
        Bytes of each line.
    """
    byte, asked = np.zeros(1, np.uint8), np.zeros(2, np.int32)
    inside, pressed = False, 0
    while True:
        asked[0], asked[1] = pipe, _POLLIN
        if pressed == 1 and _poll(asked.ctypes.data, 1, patience) == 0:
            _write(2, lines[0].ctypes.data, sizes[0])
            pressed = 2  # printed
        if _read(pipe, byte.ctypes.data, 1) < 1:
            return
        if byte[0] == ENTERED or byte[0] == LEFT:
            inside, pressed = byte[0] == ENTERED, 0
        elif byte[0] == _PRESSED and inside:
            if pressed:
                _write(2, lines[1].ctypes.data, sizes[1])
                _exit(_EXIT_CODE)
            pressed = 1
