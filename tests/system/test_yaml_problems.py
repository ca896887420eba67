"""A number that YAML reads as text is explained by what YAML does read."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchmark.system.yaml_problems import number_hint


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
