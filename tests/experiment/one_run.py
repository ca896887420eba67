"""A run in a process forked for it (see `Run` in test_resilience.py), which tells the script `GIVEN`."""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

from benchmark.cli import main

given: dict[str, Any] = globals()["GIVEN"]

# As a shell starts a command: interrupts are heeded, and the streams lead elsewhere.
signal.signal(signal.SIGINT, signal.default_int_handler)
for stream, path in ((sys.stdout, os.devnull), (sys.stderr, given["stderr"])):
    with Path(path).open("w") as file:
        os.dup2(file.fileno(), stream.fileno())
if given["largest_file"]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (given["largest_file"], given["largest_file"]))
os.environ |= given["variables"]
sys.argv = ["bench", *given["arguments"]]
main()
