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
    (
        "a: 1\nb: [x, y\nc: 2\n",
        3,
        "did not find expected ',' or ']' while parsing a flow sequence that begins in line 2",
    ),
    ("a:\n  b: 1\n   c: 2\n", 3, "mapping values are not allowed"),
    ("a:\n  b: 1\n c: 2\n", 3, "did not find expected key while parsing a block mapping that begins in line 1"),
    ("a: mine: this\n", 1, "mapping values are not allowed"),
    ("a: 1\nfree words\nb: 1\n", 3, "could not find expected ':'"),
    ("a: 1\n---\nb: 2\n", 2, "but found another document"),
    ("a: @x\n", 1, "found character that cannot start any token"),
    ('a: 1\nb: "x\nc: 1\n', 2, "the quote that opens here isn't closed"),
]


@pytest.mark.parametrize(("text", "line", "said"), MISTAKES)
def test_what_to_mend_is_said_at_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        read_yaml(path)
    assert str(raised.value).startswith(f"{path}:{line}: is not valid YAML: ")
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("text", "whole", "said"),
    [
        ("1e3", False, "; YAML reads 1e3 as text: write 1000"),
        ("1e-3", False, "; YAML reads 1e-3 as text: write 0.001"),
        ("2.5e9", True, "; YAML reads 2.5e9 as text: write 2500000000"),
        ("-1e-7", False, "; YAML reads -1e-7 as text: write -1.0e-07"),
        ("1000", False, "; it is text, since it is in quotes: write 1000 without them"),
        ("1.5e0", True, ""),
        ("1e999", False, ""),
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
