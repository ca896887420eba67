"""The order of a vocabulary is that of its terms as text."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmark.text.vocabulary import alphabetical

#: Of these, many begin alike, in letters of one to four bytes; some of eight bytes begin longer ones.
TERM = st.text(st.sampled_from("ab zé漢𝔸"), min_size=1, max_size=14)


@given(st.lists(TERM, unique=True))
@example([])
@example(["abcdefghi", "abcdefgh", "abcdefg", "abcdefghh"])
@example(["\U0001f600", "\uffff"])
def test_it_is_that_of_sorted(names: list[str]) -> None:
    assert alphabetical(names) == sorted(range(len(names)), key=names.__getitem__)


@pytest.mark.parametrize("prefix", ["", "inter", "international "])
def test_of_many_that_begin_alike(prefix: str) -> None:
    names = [f"{prefix}{number:x}" for number in range(3_000)]
    random.Random(0).shuffle(names)  # noqa: S311
    assert [names[number] for number in alphabetical(names)] == sorted(names)
