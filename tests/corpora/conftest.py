"""A small corpus in the format of a true one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.corpora.small import small_card, small_files

if TYPE_CHECKING:
    from benchmark.corpora.card import DatasetCard


@pytest.fixture
def files() -> dict[bytes, bytes]:
    return small_files("webkb")


@pytest.fixture
def card() -> DatasetCard:
    return small_card("webkb")
