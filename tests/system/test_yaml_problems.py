"""What is no YAML is explained by what to mend, and a number that YAML reads as text by what it does read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchmark.system.errors import ConfigError
from benchmark.system.yaml_problems import number_hint
from benchmark.system.yaml_source import read_yaml

if TYPE_CHECKING:
    from pathlib import Path

MISTAKES = [
    ("a:\n\tb: 1\n", 2, "a tab stands here: indent by spaces"),
    ("a: {b: 1\nc: 2\nd: 3\n", 2, "the { of line 1 isn't closed by } before here, or a comma is missing"),
    ("a: 1\nb: [x, y\nc: 2\n", 3, "the [ of line 2 isn't closed by ] before here, or a comma is missing"),
    ("alpha: one two three\n b: 2\n", 2, "is indented further than line 1"),
    ("a:\n  b: 1\n   c: 2\n", 3, "is indented further than line 2"),
    ("a: x\n    more\n  b: 2\n", 3, "a key can't stand here: is the line above complete?"),
    ("a:\n  b: 1\n c: 2\n", 3, "a key is expected here, with the indentation of the keys above it"),
    ("// mine\na: 1\n", 1, "a comment begins with #, not with //"),
    ("a: {b: 1} // mine\nc: 1\n", 1, "a comment begins with #, not with //"),
    ("a:1\nb: 2\n", 1, "a space is missing after the colon"),
    ("a:1\n# note: this\n\n  # more\nb: 2\n", 1, "a space is missing after the colon"),
    ("just words\n# note\nb: 2\n", 3, "a key can't stand here: is the line above complete?"),
    ("a: mine: this\n", 1, "has a second ': ' in one value: put the value in quotes"),
    ("a:\n-x\n-y\nb: 1\n", 2, "a space is missing after the dash"),
    ("a: 1\nfree words\nb: 1\n", 2, "is no `key: value`"),
    ("a: 1\n---\nb: 2\n", 2, "another document begins here, and a configuration is one: remove the line ---"),
    ("a: @x\n", 1, "a text can't begin with '@': put it in quotes"),
    ("a: *.csv\n", 1, "a text can't begin with '*': put it in quotes"),
    ("a: [1,\n  {b: 2, c: 3]\n", 2, "the { of line 2 isn't closed by } before here, or a comma is missing"),
    ("a:\n  // mine\n  b: 1\n", 2, "a comment begins with #, not with //"),
    ("- b:1\n  c: 2\n", 1, "a space is missing after the colon"),
    ('a: 1\nb: "x\nc: 1\n', 2, "the quote that opens here isn't closed"),
]


@pytest.mark.parametrize(("text", "line", "said"), MISTAKES)
def test_what_to_mend_is_said_at_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        read_yaml(path)
    assert str(raised.value).startswith(f"{path}:{line}: is not valid YAML: {said}")


@pytest.mark.parametrize(
    ("text", "whole", "said"),
    [
        ("1e3", False, "; YAML reads 1e3 as text: write 1000 or 1.0e+3"),
        ("1e-3", False, "; YAML reads 1e-3 as text: write 0.001 or 1.0e-3"),
        ("2.5e9", True, "; YAML reads 2.5e9 as text: write 2500000000"),
        ("1000", False, "; it is text, since it is in quotes: write 1000 without them"),
        ("1e-3", True, ""),
        ("2.5e0", True, ""),
        ("-2e3", False, "; YAML reads -2e3 as text: write -2000 or -2.0e+3"),
        ("-1e15", False, "; YAML reads -1e15 as text: write -1.0e+15"),
        ("1e16", True, "; YAML reads 1e16 as text: write 1.0e+16"),
        ("9e14", True, "; YAML reads 9e14 as text: write 900000000000000"),
        (" 1e3 ", False, "; YAML reads 1e3 as text: write 1000 or 1.0e+3"),
        (" 12 ", True, "; it is text, since it is in quotes: write 12 without them"),
        ("1.25E+2", False, "; it is text, since it is in quotes: write 1.25E+2 without them"),
        ("inf", False, ""),
        ("1e999", False, ""),
        ("0e5", False, "; YAML reads 0e5 as text: write 0 or 0.0e+0"),
        ("1e-6", False, "; YAML reads 1e-6 as text: write 0.000001 or 1.0e-6"),
        ("1e-7", False, "; YAML reads 1e-7 as text: write 1.0e-7"),
        ("1e15", False, "; YAML reads 1e15 as text: write 1.0e+15"),
        ("many", False, ""),
    ],
)
def test_a_number_that_is_text_is_written_as_one(text: str, whole: bool, said: str) -> None:
    assert number_hint(text, whole=whole) == said


@given(st.integers(-(10**6), 10**6), st.integers(-30, 30), st.sampled_from(["{}e{}", "{}.0e{}", "{}E{}"]))
def test_what_the_hint_says_is_a_number_to_yaml(digits: int, power: int, form: str) -> None:
    """Whoever follows the message doesn't get it again."""
    text = form.format(digits, power)
    for way in number_hint(text, whole=False).partition(": write ")[2].split(" or "):
        found = yaml.safe_load(way.removesuffix(" without them"))
        assert isinstance(found, int | float)
        assert found == pytest.approx(float(text), rel=1e-12)
