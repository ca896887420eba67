"""Checks refuse what lies outside a range and nothing else; NaN lies in none."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmark.system.checks import (
    check_dimension,
    check_positive,
    check_positive_parameters,
    check_within,
    digest_without_itself,
    escape_surrogates,
    json_bytes,
)
from benchmark.system.string_arrays import join_names, split_names

POSITIVE = (1e-300, 5), (0, -1, math.inf, math.nan), "t must be a positive .*number, not {}"
WHOLE = "must be a whole number of at least {}, not {{}}"


def check_parameter(value: float) -> None:
    check_positive_parameters(SimpleNamespace(s=1, t=value), "s", "t")


@pytest.mark.parametrize(
    ("check", "good", "bad", "said"),
    [
        (check_dimension, (1, 3.0), (0, 2.5, math.nan, math.inf), WHOLE.format(1)),
        (partial(check_dimension, smallest=2), (2,), (1,), WHOLE.format(2)),
        (partial(check_positive, "t"), *POSITIVE),
        (check_parameter, *POSITIVE),
    ],
)
def test_a_number_lies_in_its_range(check: Any, good: tuple[float, ...], bad: tuple[float, ...], said: str) -> None:
    for value in good:
        check(value)
    for value in bad:
        with pytest.raises(ValueError, match=said.format(value)):
            check(value)


@pytest.mark.parametrize(
    ("values", "slack", "good"),
    [
        ([], 0, True),
        ([0, 1], 0, True),
        ([-0.1, 1], 0, False),
        ([0, 1.1], 0, False),
        ([-0.1, 1.1], 0.1, True),
        ([-0.2, 1], 0.1, False),
        ([0, 1.2], 0.1, False),
        ([0, math.nan], 9, False),
    ],
)
def test_values_lie_within_bounds_up_to_a_slack(values: list[float], slack: float, good: bool) -> None:
    if good:
        check_within("s", np.array(values, dtype=float), 0, 1, slack)
        return
    with pytest.raises(ValueError, match=r"s must lie in \[0, 1\], but the values range over \["):
        check_within("s", np.array(values, dtype=float), 0, 1, slack)


def test_a_digest_is_of_all_but_itself_in_any_order() -> None:
    one = digest_without_itself({"a": 1, "b": (2, 3), "digest": "x"})
    assert one == digest_without_itself({"b": [2, 3], "a": 1})
    assert one != digest_without_itself({"b": [2, 4], "a": 1})
    assert one != digest_without_itself({"b": [2, 3], "digest": "x"})
    assert len(one) == 64


def test_text_is_written_as_utf_8_and_what_is_none_is_escaped() -> None:
    assert json_bytes({"a": "é\udcff"}) == '{\n  "a": "é\\udcff"\n}\n'.encode()
    assert escape_surrogates("é\ud800") == "é\\ud800"


@pytest.mark.parametrize("names", [("a",), ("a", "é", "漢字 b"), ("", "a", ""), ("",)])
def test_names_come_back_from_an_array(names: tuple[str, ...]) -> None:
    assert split_names(join_names(names)) == names
