"""JavaScript that draws Vega-Lite specifications: made by vl-convert in two seconds, and cached for the user."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING

import platformdirs

from benchmark.report.drawing.render import engine_version, run_vl_convert
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import BenchError

if TYPE_CHECKING:
    from pathlib import Path


#: Python program that writes the script as UTF-8 bytes, whatever the encoding of the terminal.
BUNDLE_PROGRAM = """import sys, vl_convert
sys.stdout.buffer.write(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").encode())"""


def vega_script() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script for use inside a page.

    The script depends only on the version of vl-convert. A cached file starts with its digest, and a damaged file is
    made again. The result is "" if the script can't be made; the page then points to the image files beside it.
    """
    path = platformdirs.user_cache_path("simplexbench") / f"vega-{engine_version()}.js"
    return _cached_script(path) or _made(path)


def _cached_script(path: Path) -> str:
    try:
        digest, _, script = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, ValueError):
        return ""
    return script if digest == _digest(script) else ""


def _made(path: Path) -> str:
    """Return the script from vl-convert, or "" if it fails."""
    made, done = run_vl_convert(BUNDLE_PROGRAM)
    if not done:
        return ""
    script = made.decode().replace("</script", r"<\/script")
    with suppress(BenchError):  # a page needs no cache
        write_atomically(path, f"{_digest(script)}\n{script}".encode())
    return script


def _digest(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()
