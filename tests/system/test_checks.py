"""Values within bounds, what is written of text that is none, and messages that a person can read."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmark.system.arrays import join_names, split_names
from benchmark.system.checks import check_within, digest_without_itself, json_bytes
from benchmark.system.errors import MAX_VALUE_LENGTH, did_you_mean, one_line, quote_value, unknown_name


def test_values_lie_within_bounds_up_to_a_slack() -> None:
    for values, slack in (([], 0), ([0, 1], 0), ([-0.1, 1.1], 0.1)):
        check_within("s", np.array(values, dtype=float), 0, 1, slack)
    for values, slack in (([-0.2, 1], 0.1), ([0, 1.2], 0.1), ([0, math.nan], 9)):
        with pytest.raises(ValueError, match=r"s must lie in \[0, 1\], but the values range over \["):
            check_within("s", np.array(values, dtype=float), 0, 1, slack)


def test_text_is_written_as_utf_8_and_what_is_none_is_escaped() -> None:
    assert json_bytes({"a": "é\udcff"}) == '{\n  "a": "é\\udcff"\n}\n'.encode()
    assert digest_without_itself({"a": 1, "b": (2, 3), "digest": "x"}) == digest_without_itself({"b": [2, 3], "a": 1})
    for names in (("a",), ("a", "é", "漢字 b"), ("", "a", ""), ("",)):
        assert split_names(join_names(names)) == names


def test_a_message_is_for_a_person() -> None:
    half = MAX_VALUE_LENGTH // 2
    assert quote_value("a" * 2 * half + "b" * 2 * half) == f"'{'a' * (half - 1)} … {'b' * (half - 1)}'"
    assert quote_value("a" * (2 * half - 2)) == repr("a" * (2 * half - 2))
    assert one_line("it's – \\ a\u202eb\x07\t") == "it's – \\ a\\u202eb\\x07\\t"
    assert did_you_mean("STRASSE", ["street", "straße"]) == "; did you mean 'straße'?"
    assert did_you_mean("last", [*map(str, range(10**5)), "last"]) == ""
    words = "unknown kernel 'ngb'; did you mean 'ngd'? (allowed: linear, ngd)"
    assert unknown_name("kernel", "ngb", ["linear", "ngd"]) == words
