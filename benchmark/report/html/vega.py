"""The script that draws Vega-Lite's specifications: made by vl-convert in two seconds, and kept in the user's cache."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING

import platformdirs

from benchmark.environment import write_whole
from benchmark.errors import BenchError
from benchmark.report.drawing.render import engine, engine_version

if TYPE_CHECKING:
    from pathlib import Path


#: Bytes, whatever the encoding of the terminal.
MAKE = """import sys, vl_convert
sys.stdout.buffer.write(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").encode())"""


def vega_script() -> str:
    """Vega, Vega-Lite and vega-embed as one script, to stand inside a page; the same of one version of vl-convert.

    What is kept begins with its digest: a damaged file is made again. "" where it can't be made: the page then says
    that its pictures stand beside it.
    """
    path = platformdirs.user_cache_path("simplexbench") / f"vega-{engine_version()}.js"
    return _kept(path) or _made(path)


def _kept(path: Path) -> str:
    try:
        digest, _, script = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, ValueError):
        return ""
    return script if digest == _digest(script) else ""


def _made(path: Path) -> str:
    """Return what vl-convert makes, "" where it fails."""
    made, done = engine(MAKE)
    if not done:
        return ""
    script = made.decode().replace("</script", r"<\/script")
    with suppress(BenchError):  # a page needs no cache
        write_whole(path, f"{_digest(script)}\n{script}".encode())
    return script


def _digest(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()
