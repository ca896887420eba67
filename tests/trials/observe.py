"""What a browser, a terminal, or a reader of tables makes of an output; a harmless one tells what is ours."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from typing import TYPE_CHECKING, Any

import pandas as pd
from markdown_it import MarkdownIt

from benchmark.report.escapes import csv_unescape
from benchmark.system.checks import is_number
from tests.trials.injection import MARK
from tests.trials.processes import BENCH, ENVIRONMENT

if TYPE_CHECKING:
    from pathlib import Path

#: Names of elements with their attributes, and where links lead.
ELEMENTS = """[...document.querySelectorAll('*')].map(each =>
    [each.tagName.toLowerCase(), ...each.getAttributeNames().filter(name => !name.startsWith('data-')).sort()].join(' ')
)"""
LINKS = "[...document.querySelectorAll('[href], [src]')].map(each => each.href?.baseVal ?? each.href ?? each.src)"


def elements(page: Any, path: Path) -> tuple[set[str], set[str]]:
    """Open a page, and return the elements with their attributes, and the protocols that its links have.

    AssertionError if anything was run, asked for, or said on the console.
    """
    asked, said = list[str](), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(path.as_uri())
    page.evaluate("Promise.resolve(window.drawn).then(() => null)")
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert not page.evaluate("window.pwned !== undefined"), "a script of a text was run"
    assert asked == [path.as_uri()]
    assert said == []
    links = {link.partition(":")[0] for link in page.evaluate(LINKS) if link and not link.startswith(path.as_uri())}
    return set(page.evaluate(ELEMENTS)), links


def tokens(markdown: str) -> Counter[str]:
    """Return how often each kind of block and mark occurs as a renderer sees it."""
    found = Counter[str]()
    for token in MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(markdown):
        found[token.type] += 1
        found.update(child.type for child in token.children or () if not child.type.startswith("text"))
    return found


#: Commands that stand for a character of a text.
_CHARACTERS = {
    r"\textbackslash",
    r"\textasciitilde",
    r"\textasciicircum",
    r"\times",
    *(rf"\{sign}" for sign in "&%$#_{}"),
}
_COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)", re.DOTALL)


def tex(text: str) -> list[tuple[set[str], int]]:
    """Return the commands and the number of column separators of each line; AssertionError where braces are odd."""
    found = []
    for whole in text.splitlines():
        line = whole.partition("%")[0] if whole.startswith(("%", "\\newcommand")) else whole  # a comment is ours
        commands = _COMMAND.findall(line)
        bare = _COMMAND.sub(" ", line)
        ours = {each for each in commands if not each.startswith("\\bench")}  # which are named by letters of names
        found.append((ours - _CHARACTERS, bare.count("&")))
        assert bare.count("{") == bare.count("}")
        assert not bare.count("$") % 2
        assert not re.search(r"[#^_~]|\\\\\s*\[", re.sub(r"\$[^$]*\$|\\(?:label|ref)\{[^}]*\}", "", bare))
        assert "%" not in bare
    return found


def cells(text: str) -> pd.DataFrame:
    """Return a table as a program reads it, with its names as they were; AssertionError where a formula stands."""
    found = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, header=None)
    for value in found.to_numpy().ravel():
        assert value[:1] not in tuple("=+-@\t\r\n") or is_number(value) or len(value) == 1, value
    return found.map(csv_unescape)


def svg(text: str) -> set[str]:
    """Return the elements of a picture with their attributes."""
    return {" ".join([each.tag, *sorted(each.attrib)]) for each in ET.fromstring(text).iter()}  # noqa: S314 - our own


#: What colours a text, hides the cursor, clears or leaves a line, and makes a path a link.
_OURS = re.compile(
    r"\r|\x1b\[(?:[0-3]|3[0-7]|2;3[0-7]|38;5;\d+)?m|\x1b\[(?:\?25[lh]|2K|1A)|\x1b\]8;(?:id=\d+)?;(?:file://[!-~]*)?\x1b\\"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def assert_harmless(shown: str) -> None:
    """Fail where a terminal gets a control character that isn't ours."""
    bare = _OURS.sub("", shown)
    found = _CONTROL.search(bare)
    assert not found, ascii(bare[max(0, found.start() - 100) : found.end() + 100])


def on_terminal(*words: str | Path, folder: Path, **variables: str) -> tuple[int, str]:
    """Run a command at a terminal, and return its exit code and all that the terminal shows."""
    ours, its = pty.openpty()
    try:
        process = subprocess.Popen(
            [*BENCH, *map(str, words)],
            cwd=folder,
            env=ENVIRONMENT | {"TERM": "xterm-256color", "COLUMNS": "200", **variables},
            stdin=subprocess.DEVNULL,
            stdout=its,
            stderr=its,
            start_new_session=True,
        )
        os.close(its)
        shown = b""
        while True:
            try:
                read = os.read(ours, 1 << 16)
            except OSError:  # all that had it open have ended
                break
            if not read:
                break
            shown += read
        return process.wait(), shown.decode(errors="backslashreplace")
    finally:
        os.close(ours)


def shape(value: Any) -> Any:
    """Return JSON data with the kinds of its values, and its texts where they are harmless."""
    if isinstance(value, dict):
        return {(MARK.findall(key) or [key])[0]: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    if isinstance(value, str):
        return tuple(MARK.findall(value))
    return type(value).__name__


def json_shape(text: str) -> Any:
    """Return the shape of a document of JSON; AssertionError if it has NaN."""

    def never(name: str) -> None:
        raise AssertionError(name)

    return shape(json.loads(text, parse_constant=never))
