"""Rendering of specifications as PNG and SVG, by vl-convert in a separate process."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from html import escape
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from benchmark.report.drawing.spec import DARK_COLOURS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.report.drawing.spec import VegaSpec

IMAGE_FORMATS = ("png", "svg")
PPI = 200
#: One line of input gives one line of output, so that pictures drawn before the engine ends are not lost.
DRAWING_PROGRAM = """import base64, json, sys, vl_convert
for line in sys.stdin.buffer:
    name, spec = json.loads(line)
    try:
        svg = vl_convert.vegalite_to_svg(spec)
        png = base64.b64encode(vl_convert.svg_to_png(svg, ppi=PPI)).decode()
    except Exception as error:
        print(f"{name}: {error}", file=sys.stderr)
        continue
    print(json.dumps([name, png, svg]), flush=True)
""".replace("PPI", str(PPI))
DRAWING_TIMEOUT = 300
#: Beginning of an SVG, which readers of screens say: its title and its description.
SVG_HEAD = "<title>{title}</title><desc>{description}</desc>"
#: Style of an SVG in a dark theme, whichever page shows it.
DARK_STYLE = "<style>@media (prefers-color-scheme: dark){{{rules}}}</style>".format(
    rules="".join(
        f'[{name}="{light}"]{{{name}:{dark}}}' for light, dark in DARK_COLOURS.items() for name in ("fill", "stroke")
    )
)
#: Ids of clipping paths, which Vega numbers through all pictures of a process.
_CLIP = re.compile(r'(?<=clip-path="url\(#)clip\d+|(?<=<clipPath id=")clip\d+')


def run_vl_convert(code: str, read: bytes = b"") -> tuple[bytes, bool]:
    """Return the output of a Python program that uses vl-convert, and whether the program succeeded.

    vl-convert's JavaScript engine ends a process whose address space is limited, so it runs in a separate process.
    """
    try:
        arguments = [sys.executable, "-P", "-c", code]  # -P: no module of the current folder
        done = subprocess.run(arguments, input=read, capture_output=True, timeout=DRAWING_TIMEOUT, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as stopped:
        return stopped.stdout or b"", False
    except OSError:
        return b"", False
    return done.stdout, not done.returncode


def engine_version() -> str:
    """Return the version of vl-convert, which fixes those of Vega and Vega-Lite; "" if it isn't installed."""
    try:
        return version("vl-convert-python")
    except PackageNotFoundError:
        return ""


def picture_digest(spec: VegaSpec) -> str:
    """Return a digest of everything that determines the bytes of a picture, except the version of the engine."""
    return hashlib.sha256(f"{DRAWING_PROGRAM}{SVG_HEAD}{DARK_STYLE}{json.dumps(spec)}".encode()).hexdigest()


def render_pictures(specs: Mapping[str, VegaSpec]) -> dict[str, dict[str, bytes]]:
    """Render pictures as PNG and SVG: bytes by name and kind. Pictures that can't be drawn are left out."""
    if not specs or not engine_version():
        return {}
    lines = (json.dumps([name, spec]) for name, spec in specs.items())
    files = {}
    drawn, _ = run_vl_convert(DRAWING_PROGRAM, "".join(f"{line}\n" for line in lines).encode())
    for line in drawn.splitlines(keepends=True):
        if line.endswith(b"\n"):  # the last one may be cut
            name, png, svg = json.loads(line)
            files[name] = {"png": base64.b64decode(png), "svg": _settled(svg, specs[name]).encode()}
    return files


def _settled(svg: str, spec: VegaSpec) -> str:
    """Return an SVG with clipping paths numbered from 1, a title and description for readers, and a dark theme."""
    names: dict[str, str] = {}
    svg = _CLIP.sub(lambda match: names.setdefault(match[0], f"clip{len(names) + 1}"), svg)
    start = svg.index(">", svg.index("<svg")) + 1
    description = str(spec.get("description", ""))
    title = spec.get("title", "")
    lines = title.get("text", "") if isinstance(title, dict) else title
    words = lines if isinstance(lines, str) else " ".join(lines)
    head = SVG_HEAD.format(title=escape(words or description), description=escape(description))
    return f"{svg[:start]}{head}{DARK_STYLE}{svg[start:]}"
