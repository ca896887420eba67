"""A script in a process forked for it (see `Forked` in conftest.py), which tells what to do as `GIVEN`."""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

given: dict[str, Any] = globals()["GIVEN"]

# As a shell starts a command: interrupts are heeded, and the streams lead elsewhere.
signal.signal(signal.SIGINT, signal.default_int_handler)
for stream, path in ((sys.stdout, given["stdout"]), (sys.stderr, given["stderr"])):
    with Path(path).open("w") as file:
        os.dup2(file.fileno(), stream.fileno())
if given["largest_file"]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (given["largest_file"], given["largest_file"]))
os.environ.clear()
os.environ |= given["variables"]
os.chdir(given["folder"])
sys.path[:0] = given["path"]
if any(Path(folder, "benchmark").exists() for folder in given["path"]):  # another one than was imported for all
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmark"]:
        del sys.modules[name]
sys.argv = given["arguments"]
exec(compile(given["code"], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102
