"""Processes of their own, of the command line or of a script."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: What alone may know when a run was made, and what clock and memory said.
OF_THE_MOMENT = ("manifest.json", "timings.parquet")
PAGE, MEASURED = "report.html", re.compile(rb'(<[^>]* class="[^"]*\bmeasured">)[^<]*')


def files_of(folder: Path) -> dict[str, bytes]:
    """Contents of all files in a folder and in its folders, by path."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def contents_of(folder: Path) -> dict[str, bytes]:
    """Files of a run that must be the same wherever, whenever and after whatever it was computed."""
    found = {name: content for name, content in files_of(folder).items() if name not in OF_THE_MOMENT}
    return found | ({PAGE: MEASURED.sub(rb"\1", found[PAGE])} if PAGE in found else {})


class Process:
    """A process of the command line, or of a script's `code`; modules are first looked for in the folders of `path`."""

    def __init__(
        self,
        *arguments: str,
        code: str = "from benchmark.cli import main; main()",
        path: Sequence[Path] = (),
        folder: Path | None = None,
        variables: dict[str, str] | None = None,
    ) -> None:
        paths = os.pathsep.join([*map(str, path), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._stdout = tempfile.TemporaryFile()  # noqa: SIM115 - `finish` closes it
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=self._stdout,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=os.environ | (variables or {}) | ({"PYTHONPATH": paths} if paths else {}),
            # Tests that run in the background of a shell ignore Ctrl-C, and what they start would, too.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
            text=True,
        )
        assert self._process.stderr is not None
        self.stderr, self.pid, self.send_signal = self._process.stderr, self._process.pid, self._process.send_signal

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    @property
    def returncode(self) -> int | None:
        return self._process.poll()

    def finish(self) -> tuple[int | None, str, str]:
        """Exit code, standard output, and what was said on standard error and not read yet."""
        error = "" if self.stderr.closed else self.stderr.read()
        self.stderr.close()
        self._process.wait(120)
        if self._stdout.closed:
            return self.returncode, "", error
        with self._stdout as printed:
            printed.seek(0)
            return self.returncode, printed.read().decode(), error
