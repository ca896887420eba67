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


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a:\n\tb: 1\n", 2, "a tab stands here: indent by spaces"),
        (
            "a: 1\nb: [x, y\nc: 2\n",
            3,
            "did not find expected ',' or ']' while parsing a flow sequence that begins in l",
        ),
        ("a: mine: this\n", 1, "mapping values are not allowed"),
        ("a: 1\nfree words\nb: 1\n", 3, "could not find expected ':'"),
        ('a: 1\nb: "x\nc: 1\n', 2, "the quote that opens here isn't closed"),
    ],
)
def test_what_to_mend_is_said_at_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        read_yaml(path)
    assert str(raised.value).startswith(f"{path}:{line}: is not valid YAML: ")
    assert said in str(raised.value)


@given(st.integers(-(10**6), 10**6), st.integers(-30, 30), st.sampled_from(["{}e{}", "{}.0e{}", "{}E{}"]))
def test_what_the_hint_says_is_a_number_to_yaml(digits: int, power: int, form: str) -> None:
    """Whoever follows the message doesn't get it again."""
    text = form.format(digits, power)
    for way in number_hint(text, whole=False).partition(": write ")[2].split(" or "):
        found = yaml.safe_load(way.removesuffix(" without them"))
        assert isinstance(found, int | float)
        assert found == pytest.approx(float(text), rel=1e-12)
    assert number_hint("2.5e9", whole=True) == "; YAML reads 2.5e9 as text: write 2500000000"
    assert [number_hint(each, whole=True) for each in ("1.5e0", "1e999", "many")] == [""] * 3
