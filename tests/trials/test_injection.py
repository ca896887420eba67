"""Names and texts that are commands elsewhere, in every output: no script, element, cell or control is theirs."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from yaml.reader import Reader

from benchmark.system.checks import is_number
from tests.trials.limits import TRACEBACK, examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

playwright = pytest.importorskip("playwright.sync_api")

#: What stands at the begin of a text, and what is made of HTML, Markdown, TeX, spreadsheets, terminals and formats.
STARTS = (*"=+-@\t\r|#>'\"[`~$%&\\*_ ", "\n=", "- ", "1. ", "\ufeff=", "---\n", "")
PARTS = (
    '<img src=x onerror="window.pwned=1">',
    "</script><script>window.pwned=1</script>",
    "</style></title></textarea></pre></td><svg onload=window.pwned=1>",
    '" autofocus tabindex=0 onfocus="window.pwned=1" x="',
    "&lt;script&gt;window.pwned=1&lt;/script&gt;",
    "{{constructor.constructor('window.pwned=1')()}}${window.pwned=1}",
    "<a href=javascript:window.pwned=1>x</a><iframe src=//pwned.example><base href=//pwned.example>",
    "[x](javascript:window.pwned=1)![x](http://pwned.example/x.png)``` ` ~~x~~ | a | b |\n\n# x\n\n- y\n\n",
    "\\input{/etc/passwd}$\\frac{% \\end{tabular} } & \\\\ [3pt]",
    '=HYPERLINK("http://pwned.example")","=1+1\r\n=1+1',
    "\x1b]0;pwned\x07\x1b[31;7m\x1b[2J\x1b[1;1H\x9b31m\x9d0;pwned\x9c\x1b]8;;http://pwned.example\x1b\\x",
    "\b\b\b\x7f\x0b\x0c\x0e\x85\u202eabc\u2066\u2028\u2029\u200f",
    "[red]x[/red]:smile:%s%(x)d{0}{x!r}{}%n",
)
TEXT = st.builds(
    lambda start, parts: start + "Zq".join(parts),
    st.sampled_from(STARTS),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=2),
)
#: What each drawn text is of.
FIELDS = ("title", "note", "corpus", "configuration", "label", "group", "document", "column", "exception")
#: Of a document: none is a letter, so that the words are the same.
SIGNS = "<!-- </> &#60; ${ {{ \\ | ` % \" ' \x1b[31;7 \x9b \u202e ]]> =1+1"
COMMANDS = [
    ("compare", "run", "mnb", "ngd"),
    ("explain", "run", "mnb"),
    ("validate", "{configuration}"),
    ("data", "stats", "{configuration}"),
    ("run", "{text}"),
    ("--{text}",),
]
PLUGIN = """\
from sklearn.naive_bayes import MultinomialNB

class Fails(MultinomialNB):
    def fit(self, X, y):
        raise ValueError({exception!a})

CLASSIFIERS = {{"fails": Fails}}
"""
#: What colours a text, hides the cursor, clears or leaves a line, and makes a path a link.
CONTROLS_OF_OURS = re.compile(
    r"\r|\x1b\[(?:[0-3]|3[0-7]|2;3[0-7]|38;5;\d+)?m|\x1b\[(?:\?25[lh]|2K|1A)|\x1b\]8;(?:id=\d+)?;(?:file://[!-~]*)?\x1b\\"
)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printed(text: str) -> str:
    """Return a text without what YAML refuses."""
    return Reader.NON_PRINTABLE.sub("", text)


def file_name(text: str, suffix: str) -> str:
    """Return a text as the name of a file, which has no slash and at most so many bytes."""
    whole = text.replace("/", "\N{FRACTION SLASH}").lstrip("-~.")
    return f"Zq{whole.encode()[:180].decode(errors='ignore')}{suffix}"


def write_experiment(folder: Path, texts: Sequence[str]) -> dict[str, str]:
    """Write an experiment and all that it reads; return the names of its files and one of its texts."""
    text = dict(zip(FIELDS, texts, strict=True))
    columns = {key: f"{printed(text['column']).strip()}Zq{key}" for key in ("text", "label", "id", "group")}
    names = {
        "corpus": file_name(printed(text["corpus"]), ".csv"),
        "configuration": file_name(text["configuration"], ".yaml"),
        "text": text["note"].replace("\0", ""),
    }
    with (folder / names["corpus"]).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns.values())
        for i in range(36):
            words = f"alpha {'xyv'[i % 3 if i % 5 else 0]}z w{'abc'[i % 3]} {SIGNS}"
            writer.writerow(
                [words, *(f"{text[key]}{n}" for key, n in (("label", i % 3), ("document", i), ("group", i % 4)))]
            )
    (folder / "mine.py").write_text(PLUGIN.format(exception=text["exception"]))
    config = {
        "name": "injected",
        "title": printed(text["title"]),
        "notes": [printed(text["note"])],
        "plugins": ["mine.py"],
        "corpus": {"name": "files", "path": names["corpus"], **columns},
        "text": {"stoplist": "none"},
        "protocol": {"name": "k-fold", "k": 2},
        "methods": ["mnb", "ngd", "fails"],
        "compare": [["mnb", "ngd"]],
        "metrics": ["macro-f1", "macro-recall"],
    }
    (folder / names["configuration"]).write_text(yaml.safe_dump(config))
    return names


def on_terminal(*words: str, folder: Path) -> tuple[int, str]:
    """Run a command at a terminal, and return its exit code and all that the terminal shows."""
    variables = {"TERM": "xterm-256color", "COLUMNS": "200", "BENCH_CACHE": str(folder / "store")}
    command = shlex.join([sys.executable, "-c", "from benchmark.cli import main; main()", *words])
    at_terminal = ["script", "--quiet", "--return", "--flush", "--command", command, "/dev/null"]
    done = subprocess.run(
        at_terminal, cwd=folder, env=os.environ | variables, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return done.returncode, done.stdout.decode(errors="backslashreplace")


def check_command(words: Sequence[str], names: dict[str, str], folder: Path) -> int:
    """Run a command at a terminal; AssertionError where that gets a control character that isn't ours."""
    code, shown = on_terminal(*(word.format(**names) for word in words), folder=folder)
    assert TRACEBACK not in shown
    assert code >= 0
    found = CONTROL.search(CONTROLS_OF_OURS.sub("", shown))
    assert not found, ascii(shown)
    return code


def check_table(path: Path) -> None:
    """Fail where a cell of a table is a formula."""
    found = pd.read_csv(path, dtype=str, keep_default_na=False, header=None)
    for value in found.to_numpy().ravel():
        assert value[:1] not in tuple("=+-@\t\r\n") or is_number(value) or len(value) == 1, value


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


def open_page(browser: Any, path: Path) -> None:
    """Open a page; AssertionError if anything was run or asked for."""
    page, asked, said = browser.new_page(), list[str](), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    for event in ("pageerror", "console", "dialog"):
        page.on(event, lambda each: said.append(str(each)))
    page.goto(path.as_uri())
    page.evaluate("Promise.resolve(window.drawn).then(() => null)")
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert not page.evaluate("window.pwned !== undefined"), "a script of a text was run"
    assert not page.query_selector("iframe, base, [onerror], [onload], [onfocus], a[href^=javascript]")
    assert asked == [path.as_uri()]
    assert said == []
    page.close()


@examples(10, shrink=False)
@given(texts=st.lists(TEXT, min_size=len(FIELDS), max_size=len(FIELDS)), command=st.sampled_from(COMMANDS))
def test_no_output_obeys_a_name_or_text(browser: Any, texts: list[str], command: tuple[str, ...]) -> None:
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top)
        names = write_experiment(folder, texts)
        assert check_command(("run", "{configuration}", "--out", "run"), names, folder) == 1  # one method fails
        for path in (folder / "run").glob("*.html"):
            open_page(browser, path)
        for path in (folder / "run").glob("*.svg"):
            assert not [each.tag for each in ET.parse(path).iter() if each.tag.endswith(("script", "image"))]  # noqa: S314
        for path in (folder / "run").glob("*.csv"):
            check_table(path)
        check_command(command, names, folder)
