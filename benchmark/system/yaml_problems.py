"""Explain to a person what libyaml doesn't accept, and how to write a number that YAML reads as text."""

from __future__ import annotations

import math
from typing import Any

import yaml


def explain_yaml_error(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str]:
    """Return the line of an error, from 1 (0 if none is known), and what is wrong, mostly in libyaml's words."""
    problem, mark = error.problem or error.context or "", error.problem_mark or error.context_mark
    if "token" in problem and mark is not None and text.splitlines()[mark.line][mark.column :].startswith("\t"):
        return mark.line + 1, "a tab stands here: indent by spaces"
    if "quoted scalar" in (error.context or "") and error.context_mark is not None:
        return error.context_mark.line + 1, "the quote that opens here isn't closed"
    if error.context and error.context_mark is not None and mark is not None:
        problem = f"{problem} {error.context} that begins in line {error.context_mark.line + 1}"
    return (0 if mark is None else mark.line + 1), problem


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
    way = str(int(number)) if number % 1 == 0 and (whole or abs(number) < 1e15) else _written(number)
    return f"; YAML reads {text.strip()} as text: write {way}"


def _read(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None


def _written(number: float) -> str:
    return str(yaml.safe_dump(number)).partition("\n")[0]
