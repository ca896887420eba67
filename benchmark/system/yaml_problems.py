"""Explain to a person what libyaml doesn't accept, and where to mend it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SECOND = "another document begins here, and a configuration is one: remove the line ---"
_TAB = "a tab stands here: indent by spaces"
_COMMENT = "a comment begins with #, not with //"
_NO_SPACE = re.compile(r"\s*-[^\s-]")


def explain_yaml_error(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str]:
    """Return the line to mend, from 1 (0 if none is known), and what is wrong with it."""
    problem, mark = error.problem or error.context or "", error.problem_mark or error.context_mark
    if mark is None:
        return 0, problem
    lines = [*text.splitlines(), *[""] * (mark.line + 1)]
    explain = next((explain for words, explain in _EXPLANATIONS if words in problem), None)
    if "quoted scalar" in (error.context or "") and error.context_mark is not None:
        return error.context_mark.line + 1, "the quote that opens here isn't closed"
    return (mark.line + 1, problem) if explain is None else explain(error, lines, mark.line, mark.column)


def _bad_beginning(_: yaml.MarkedYAMLError, lines: Sequence[str], row: int, column: int) -> tuple[int, str]:
    """Explain a character that no value begins with; of an alias, libyaml marks what follows the asterisk."""
    here = lines[row]
    if here[column : column + 1] == "\t":
        return row + 1, _TAB
    at = column - 1 if here[column - 1 : column] in ("*", "&") else column
    return row + 1, f"a text can't begin with {here[at : at + 1]!r}: put it in quotes"


def _unclosed(error: yaml.MarkedYAMLError, lines: Sequence[str], row: int, _: int) -> tuple[int, str]:
    """Explain a bracket without its end, or items without a comma between them."""
    if " //" in lines[row]:
        return row + 1, _COMMENT
    begin, end = "{}" if "}" in (error.problem or "") else "[]"
    opened = row if error.context_mark is None else error.context_mark.line
    problem = f"the {begin} of line {opened + 1} isn't closed by {end} before here, or a comma is missing"
    return row + 1, problem


def _no_key(_: yaml.MarkedYAMLError, lines: Sequence[str], row: int, __: int) -> tuple[int, str]:
    """Explain a line where a key is expected."""
    what = "a key is expected here, with the indentation of the keys above it"
    return row + 1, _COMMENT if " //" in lines[row] else what


def _misplaced_colon(_: yaml.MarkedYAMLError, lines: Sequence[str], row: int, column: int) -> tuple[int, str]:
    """Explain a colon where no mapping can begin: the line before it may be the wrong one."""
    here, (before, above) = lines[row], _line_above(lines, row)
    if ": " in here[:column]:
        return row + 1, "has a second ': ' in one value: put the value in quotes, or each key on a line of its own"
    if above.lstrip().startswith("//"):
        return before + 1, _COMMENT
    if re.match(r"\s*(- )?[\w-]+:\S", above):
        return before + 1, "a space is missing after the colon"
    if _indentation(here) > _indentation(above):
        return row + 1, f"is indented further than line {before + 1}: keys of one mapping begin in one column"
    return row + 1, "a key can't stand here: is the line above complete?"


def _without_colon(_: yaml.MarkedYAMLError, lines: Sequence[str], row: int, __: int) -> tuple[int, str]:
    """Explain a line without a colon where keys are expected; libyaml notices it on a later line."""
    before, above = _line_above(lines, row)
    first, problem = (row, lines[row]) if ":" in above and not _NO_SPACE.match(above) else (before, above)
    while first > 0 and _NO_SPACE.match(problem) and _NO_SPACE.match(lines[first - 1]):
        first -= 1
    return first + 1, "a space is missing after the dash" if _NO_SPACE.match(problem) else "is no `key: value`"


def _line_above(lines: Sequence[str], row: int) -> tuple[int, str]:
    """Return the nearest line above that has more than a comment, with its number from 0."""
    for number in range(row - 1, -1, -1):
        if lines[number].strip() and not lines[number].lstrip().startswith("#"):
            return number, lines[number]
    return row, ""


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


#: Explanations by words of libyaml's messages.
_EXPLANATIONS: tuple[tuple[str, Callable[[yaml.MarkedYAMLError, Sequence[str], int, int], tuple[int, str]]], ...] = (
    ("tab character", lambda _, __, row, ___: (row + 1, _TAB)),
    ("cannot start any token", _bad_beginning),
    ("alphabetic or numeric character", _bad_beginning),
    ("another document", lambda _, __, row, ___: (row + 1, _SECOND)),
    ("mapping values are not allowed", _misplaced_colon),
    ("expected <document start>", _misplaced_colon),
    ("expected ',' or", _unclosed),
    ("could not find expected ':'", _without_colon),
    ("did not find expected key", _no_key),
)


def number_hint(text: str, *, whole: bool) -> str:
    """Explain how to write a number that YAML has read as text; "" if the text is no finite number.

    YAML 1.1 reads a power of ten as a number only with a point and a sign: 1.0e+3, and neither 1e3 nor 1.0e3.
    """
    try:
        number = float(text)
    except ValueError:
        return ""
    if not math.isfinite(number):
        return ""
    if isinstance(_read(text), int | float):
        return f"; it is text, since it is in quotes: write {text.strip()} without them"
    if whole and number % 1:
        return ""
    digits, _, power = f"{number:.15e}".partition("e")
    digits = digits.rstrip("0")
    scientific = f"{digits}{'0' if digits.endswith('.') else ''}e{int(power):+d}"
    plain = f"{number:.15f}".rstrip("0").rstrip(".") if 1e-6 <= abs(number) < 1e15 or not number else ""
    ways = [way for way in (plain, "" if whole else scientific) if way] or [scientific]
    return f"; YAML reads {text.strip()} as text: write {' or '.join(ways)}"


def _read(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None
