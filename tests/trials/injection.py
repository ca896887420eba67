"""An experiment of a user's names and texts: harmless ones, or such as a page, a table or a terminal obeys."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from benchmark.system.yaml_source import UNPRINTABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

#: What stands at the begin of a text, what is made of HTML, Markdown, TeX and other languages, and what ends it.
STARTS = (*"=+-@\t\r|#>'\"[`~$%&\\*_ ", "\n=", "- ", "1. ", "''=", "＝", "\ufeff=", "```\n", "---\n", "")
PARTS = (
    # HTML
    '<img src=x onerror="window.pwned=1">',
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=1</script>",
    "</style></title></textarea></pre></td><svg onload=window.pwned=1>",
    '" autofocus tabindex=0 onfocus="window.pwned=1" x="',
    "' onmouseover='window.pwned=1' x='",
    "<!--<script>",
    "--><b>",
    "]]></text><script>window.pwned=1</script>",
    "&lt;script&gt;window.pwned=1&lt;/script&gt;",
    "{{constructor.constructor('window.pwned=1')()}}${window.pwned=1}",
    "javascript:window.pwned=1",
    "\\u003cscript\\u003e",
    "<a href=javascript:window.pwned=1>x</a><iframe src=//pwned.example><base href=//pwned.example>",
    # Markdown
    "[x](javascript:window.pwned=1)",
    "![x](http://pwned.example/x.png)",
    "[x]: http://pwned.example",
    "<http://pwned.example>",
    "| a | b |",
    "``` ` ~~x~~ **y** __z__",
    "\n\n# x\n\n- y\n\n",
    "&#60;b&#62;",
    "\\| \\",
    # TeX
    "\\input{/etc/passwd}",
    "\\immediate\\write18{touch pwned}",
    "$\\frac{",
    "^^5cinput{x}",
    "% \\end{tabular} } & \\\\ [3pt]",
    "{\\catcode`\\%=0",
    # Spreadsheets
    '=HYPERLINK("http://pwned.example")',
    "=cmd|' /C calc'!A0",
    '","=1+1',
    "\r\n=1+1",
    # Terminals
    "\x1b]0;pwned\x07",
    "\x1b[31;7m\x1b[2J\x1b[1;1H",
    "\x9b31m\x9d0;pwned\x9c",
    "\x1b]8;;http://pwned.example\x1b\\x\x1b]8;;\x1b\\",
    "\b\b\b\x7f\x0b\x0c\x0e\x85",
    "\u202eabc\u2066\u2028\u2029\u200f",
    # Formats of this language and its libraries
    "[red]x[/red][link=http://pwned.example]y[/link]:smile:",
    "%s%(x)d{0}{x!r}{}%n",
    "\n",
    "é中文🙂\u0301",
)
#: A text is known by its number.
MARK = re.compile(r"Zq\d{3}q")
#: A name of a file has at most so many bytes with its suffix.
LONGEST_NAME = 200


def harmless(number: int) -> str:
    """Return a text that means nothing to anyone."""
    return f"Zq{number:03d}q"


def harmful(random: Random) -> Callable[[int], str]:
    """Return what makes texts with commands, formulas, marks and controls at random places."""

    def make(number: int) -> str:
        parts = [random.choice(PARTS) for _ in range(random.choice((1, 1, 2)))]
        parts.insert(random.randint(0, len(parts)), harmless(number))
        return random.choice(STARTS) + "".join(parts)

    return make


@dataclass
class Texts:
    """The texts of an experiment by what they are of; each is made once."""

    make: Callable[[int], str]
    made: dict[str, str] = field(default_factory=dict)

    def __call__(self, what: str) -> str:
        """Return a text, which no other equals after its white space is normalized."""
        return self.made.setdefault(what, self.make(len(self.made)))

    def printed(self, what: str) -> str:
        """Return a text without what YAML refuses."""
        self.made[what] = UNPRINTABLE.sub("", self(what))
        return self.made[what]

    def signs(self, what: str) -> str:
        """Return a text without other letters and digits than its number's: the letters of a title name cells."""
        self.made[what] = (
            "".join(each for each in self.printed(what) if not each.isalnum()) + MARK.findall(self(what))[0]
        )
        return self.made[what]

    def bare(self, what: str) -> str:
        """Return a text that neither begins nor ends with white space or a byte order mark."""
        self.made[what] = self.printed(what).strip().strip("\ufeff").strip()
        return self.made[what]

    def name(self, what: str) -> str:
        """Return the name of a file, which has no slash."""
        whole = self(what).replace("/", "\N{FRACTION SLASH}").replace("\0", "").lstrip("-~.")
        short = whole.encode()[:LONGEST_NAME].decode(errors="ignore")
        mark = MARK.findall(whole)[0]
        self.made[what] = short if mark in short else f"{short}{mark}"
        return self.made[what]

    def printed_name(self, what: str) -> str:
        """Return the name of a file that a configuration can name."""
        self.printed(what)
        return self.name(what)


PLUGIN = """\
{docstring of the plug-in}
import warnings
from sklearn.naive_bayes import MultinomialNB

class Mine(MultinomialNB):
    __doc__ = {docstring}
    def fit(self, X, y):
        warnings.warn({warning})
        return super().fit(X, y)

class Fails(MultinomialNB):
    def fit(self, X, y):
        raise ValueError({exception})

CLASSIFIERS = {{"mine": Mine, "fails": Fails}}
"""
PLUGIN_TEXTS = ("docstring of the plug-in", "docstring", "warning", "exception")
#: Of a document: none is a letter, so that the words are the same.
SIGNS = "<!-- </> &#60; ${ {{ \\ | ` % \" ' \x1b[31;7 \x9b \u202e ]]> =1+1"
COLUMNS = ("text", "label", "id", "group")
#: The paper's values and what it says, of the configuration.
NAME, METRIC = "injected", "accuracy"


def paper_of(texts: Texts) -> dict[str, Any]:
    """Return the file of a paper's values."""
    value = {"config": NAME, "cell": "mnb", "metric": METRIC}
    compared = {"metric": METRIC, "comparisons": [{"config": NAME, "a": "mine", "b": "mnb"}]}
    because = {"margin": "0.5", "because": texts.printed("reason"), "aside": texts.printed("aside")}
    return {
        "paper": "of2003",
        "unit": "percent",
        **{key: texts.printed(f"the paper's {key}") for key in ("title", "reference", "finding")},
        "values": [value | {"table": 1, "value": "50.00"}],
        "reference_values": [
            {
                "method": texts.printed("reference method"),
                "source": texts.printed("source"),
                "transductive": True,
                "unlike": texts.printed("unlike"),
                "values": [value | {"value": "66.00"}],
            }
        ],
        "claims": [
            compared | {"id": texts.printed("claim's id"), "text": texts.printed("claim"), "relation": "greater"},
            compared | {"id": "second", "text": texts.printed("second claim"), "relation": "equivalent"} | because,
        ],
    }


def written(folder: Path, texts: Texts, *, by_class: bool) -> Path:
    """Write the experiment and all that it reads into a folder, and return its configuration."""
    folder = folder / texts.name("folder")
    folder.mkdir(parents=True)
    labels = [f"{(texts.printed if by_class else texts)('labels')}{i}" for i in range(3)]
    text = "" if texts.make is harmless else SIGNS
    ids = [texts(f"document {i}") for i in range(36)]
    rows = [(f"alpha {'xyv'[i % 3 if i % 5 else 0]}z w{'abc'[i % 3]} {text}", labels[i % 3], ids[i]) for i in range(36)]
    columns = [texts.bare(f"column {name}") for name in COLUMNS]
    corpus, theirs = texts.printed_name("corpus") + ".csv", texts.printed_name("predictions") + ".csv"
    with (folder / corpus).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *((*row, f"{texts('groups')}{i % 4}") for i, row in enumerate(rows))])
    with (folder / theirs).open("w", newline="", encoding="utf-8") as file:
        given = ((name, labels[i % 3 if i % 7 else 1]) for i, name in enumerate(ids))
        csv.writer(file).writerows([("id", "label"), *given])
    plugin, paper = "mine.py", f"papers/{texts.printed_name('paper')}.yaml"
    (folder / "papers").mkdir()  # `bench reproduce` reads all configurations of a folder
    code = PLUGIN.format(**{each: ascii(texts(each)) for each in PLUGIN_TEXTS})
    (folder / plugin).write_text(code, encoding="utf-8")
    (folder / paper).write_text(yaml.safe_dump(paper_of(texts)))
    readings = {"base": texts.printed("reading"), "other": texts.printed("second reading")}
    config = {
        "name": NAME,
        "title": texts.printed("title"),
        "notes": [texts.printed("note"), texts.printed("second note")],
        **({} if by_class else {"paper": f"./{paper}", "readings": readings}),
        "plugins": [plugin],
        "corpus": {"name": "files", "path": corpus, **dict(zip(COLUMNS, columns, strict=True))},
        "text": {"stoplist": "none"},
        "protocol": {"name": "k-fold", "k": 2},
        "methods": ["mnb", "mine", "fails", {"predictions": theirs, "name": "theirs"}],
        "metrics": ["macro-f1" if by_class else METRIC, "macro-recall"],
        "per_class": by_class,
        "tasks": [{"title": texts.signs("task"), "classes": labels}] if by_class else [],
        "compare": [["mine", "mnb"]],
        "tuned_to_published": [{"cells": "*theirs", "choice": texts.printed("choice"), "to": texts.printed("to")}],
        "variants": {"other": {"text": {"min_documents": 2}}},
    }
    path = folder / (texts.name("configuration") + ".yaml")
    path.write_text(yaml.safe_dump(config))
    return path
