"""Files that are checked against their digests: the digested bytes wherever they are read, or a refusal."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora import file_digest
from benchmark.corpora.file_digest import CheckedFile, FileDigest
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 16


@pytest.fixture(autouse=True, scope="module")
def blocks() -> Iterator[None]:
    """Blocks of a few bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_digest, "DIGEST_BLOCK_BYTES", BLOCK)
        yield


def digest_of(content: bytes) -> FileDigest:
    return FileDigest.of(content[start : start + BLOCK] for start in range(0, len(content), BLOCK))


MOVES = st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.integers(-70, 70), st.integers(0, 70)), max_size=8)


@given(st.binary(max_size=60), MOVES, st.binary(max_size=20))
def test_a_file_reads_as_it_was_digested_whatever_was_added_since(content: bytes, moves: Any, more: bytes) -> None:
    checked = CheckedFile(Path("t"), io.BytesIO(content + more), digest_of(content))
    plain, buffered = io.BytesIO(content), io.BufferedReader(checked, 5)
    assert digest_of(content).sha256 == hashlib.sha256(content).digest()
    for whence, offset, length in moves:
        place = max(0, offset + (0, plain.tell(), len(content))[whence])
        assert buffered.seek(place) == plain.seek(place)
        assert buffered.read(length) == plain.read(length)
        assert buffered.tell() == plain.tell()


@given(st.binary(min_size=1, max_size=60), st.data())
def test_a_block_that_was_edited_is_never_read(content: bytes, data: Any) -> None:
    place = data.draw(st.integers(0, len(content) - 1))
    edited = bytearray(content)
    edited[place] ^= data.draw(st.integers(1, 255))
    checked = CheckedFile(Path("t"), io.BytesIO(edited), digest_of(content))
    whole = place // BLOCK * BLOCK
    assert b"".join(checked.read(BLOCK) or b"" for _ in range(whole // BLOCK)) == content[:whole]
    checked.seek(place)
    with pytest.raises(DataError, match=r"^t: was changed while it was read; run it again$"):
        checked.read(1)


@given(st.binary(min_size=1, max_size=60), st.data())
def test_a_file_that_was_cut_is_refused_at_its_end(content: bytes, data: Any) -> None:
    cut = content[: data.draw(st.integers(0, len(content) - 1))]
    with pytest.raises(DataError, match="was changed"):
        io.BufferedReader(CheckedFile(Path("t"), io.BytesIO(cut), digest_of(content))).read()
