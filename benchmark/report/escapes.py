"""Escaping of names, notes and titles for each format, so that none is read as a command, a link or a formula."""

from __future__ import annotations

import re

from benchmark.system.checks import is_number

# C0 and C1 control characters except tab and line feed, and characters that change the direction of text.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_MARKDOWN = re.compile(r"[\\|*_`<$]|\](?=[(\[:])|~(?=~)|&(?=#?\w+;)|^>|^(?:#+|[+-]|-{3,})(?=\s|$)")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "<": "$<$",
    ">": "$>$",
    "×": r"$\times$",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}


def escape_controls(text: str) -> str:
    r"""Replace control characters by escapes, since they could move a terminal's cursor; line feeds and tabs stay.

    Examples
    --------
    >>> escape_controls("a\x1b[31m\r\n")
    'a\\x1b[31m\\r\n'
    """
    return _CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text)


def csv_cell(text: str) -> str:
    r"""Escape control characters but carriage returns, which names of WebKB have, and what looks like a formula.

    An apostrophe stands before a text that a spreadsheet would take for a formula, unless it is a number.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell("-2.42"), csv_cell("'+a"), csv_cell("a\x1b")
    ("'=1+1", '-2.42', "''+a", 'a\\x1b')
    """
    plain = "\r".join(map(escape_controls, text.split("\r")))
    return f"'{plain}" if _FORMULA.match(plain) and not is_number(plain) else plain


def csv_unescape(cell: str) -> str:
    """Return the text that `csv_cell` put an apostrophe before."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def markdown_text(text: str) -> str:
    r"""Escape characters that would end a table cell, start formatting, or make a link.

    Examples
    --------
    >>> markdown_text("a|b *c* [1, 2] [d](javascript:e)")
    'a\\|b \\*c\\* [1, 2] [d\\](javascript:e)'
    """
    escaped = _MARKDOWN.sub(r"\\\g<0>", escape_controls(" ".join(text.split())))
    return _NUMBERED.sub(r"\1\\\2", escaped)


def latex_text(text: str) -> str:
    r"""Escape LaTeX's special characters, and set a sign before a number in math mode.

    Brackets are put in braces: after the end of a row, LaTeX would take an opening one for an argument.

    Examples
    --------
    >>> latex_text("50% of tf_idf & -1.5")
    '50\\% of tf\\_idf \\& $-$1.5'
    """
    escaped = "".join(_LATEX.get(char, char) for char in escape_controls(" ".join(text.split())))
    return re.sub(r"(?<![\w}])([+-])(?=\d)", r"$\1$", escaped).replace("[", "{[}").replace("]", "{]}")
