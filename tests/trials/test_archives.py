"""Archives with a flipped bit or without their end: refused with a reason, or the right corpus, never a wrong one."""

from __future__ import annotations

import functools
import gzip
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora import webkb
from benchmark.corpora.archive import CorpusSource, read_files, verify_digest
from benchmark.corpora.assemble import check_document_counts
from benchmark.system.errors import DataError
from tests.corpora.small import pack_files, small_card, small_files
from tests.strategies import one
from tests.trials.limits import assert_clear, examples, trial

NAME = "webkb-data.gtar.gz"


@functools.cache
def packed(mode: str, layout: int) -> bytes:
    """Pack a small corpus."""
    with tempfile.TemporaryDirectory() as folder:
        return pack_files(small_files("webkb"), Path(folder) / NAME, mode=mode, format_=layout).read_bytes()


@st.composite
def damaged_archives(draw: Any) -> bytes:
    """Draw an archive with one bit flipped or cut short; what isn't packed may be packed then."""
    content = packed(one(draw, ("w:gz", "w:")), one(draw, (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)))
    at = draw(st.integers(0, len(content) - 1))
    if draw(st.integers(0, 4)) == 0:
        content = content[:at]
    else:  # most of a small archive is padding, of which a few bits are enough
        at = one(draw, [at] + 20 * [one(draw, [place for place, byte in enumerate(content) if byte])])
        content = content[:at] + bytes([content[at] ^ 1 << draw(st.integers(0, 7))]) + content[at + 1 :]
    return gzip.compress(content) if content[:2] != b"\x1f\x8b" and draw(st.integers(0, 2)) == 0 else content


def assert_right_or_refused(path: Path) -> None:
    """Read a small corpus, and fail unless it is refused with a reason, or the right one."""
    card, source = small_card("webkb"), CorpusSource(path)
    try:
        files = read_files(source, card)
        corpus = webkb.read_webkb(files, card, verify_digest(files, card, source))
        check_document_counts(corpus, card)
    except DataError as error:
        assert_clear(str(error))
        return
    found = {name.encode("latin-1"): text for name, text in zip(corpus.documents.ids, corpus, strict=True)}
    assert found == small_files("webkb"), "a wrong corpus was read"


@examples(500, 100)
@given(damaged_archives())
@trial()
def test_a_damaged_archive_is_refused_or_read_rightly(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        path.write_bytes(content)
        assert_right_or_refused(path)
