"""Archives, stored results and run folders with something broken: the right numbers, or a reason, never others."""

from __future__ import annotations

import functools
import gzip
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.corpora import webkb
from benchmark.corpora.archive import CorpusSource, read_files, verify_digest
from benchmark.corpora.assemble import check_document_counts
from benchmark.evaluation.predictions import RUN_FILES
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from benchmark.system.errors import DataError
from tests.corpora.small import pack_files, small_card, small_files
from tests.strategies import damaged, one
from tests.trials.limits import assert_clear, examples
from tests.trials.processes import SHAPES, Undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable

ARCHIVE = "webkb-data.gtar.gz"
MANIFEST = "manifest.json"
TOKENS = [b"{", b"}", b'"', b",", b"null", b"NaN", b"1e999", b"\\ud800", b"\xff", b"\0" * 40, b"PAR1", b"[" * 5_000]


@functools.cache
def packed(mode: str, layout: int) -> bytes:
    """Pack a small corpus."""
    with tempfile.TemporaryDirectory() as folder:
        return pack_files(small_files("webkb"), Path(folder) / ARCHIVE, mode=mode, format_=layout).read_bytes()


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


@examples(500)
@given(damaged_archives())
def test_a_damaged_archive_is_refused_or_read_rightly(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ARCHIVE
        path.write_bytes(content)
        assert_right_or_refused(path)


def damage(draw: Any, path: Path, entries: list[Path]) -> None:
    """Change a stored entry, or put another one, a link or a folder in its place."""
    content, kind = path.read_bytes(), draw(st.integers(0, 7))
    path.unlink()
    if kind == 0:
        path.symlink_to("/dev/zero")
    elif kind == 1:
        path.mkdir()
    elif kind == 2:
        path.write_bytes(one(draw, entries).read_bytes())
    else:
        path.write_bytes(draw(damaged([content], [b"\0" * 64, b"\xff"])))


@examples(100)
@given(shape=st.sampled_from(sorted(SHAPES)), data=st.data())
def test_damaged_entries_of_the_store_change_nothing(
    undisturbed: Callable[[str], Undisturbed], shape: str, data: Any
) -> None:
    expected = undisturbed(shape)
    with tempfile.TemporaryDirectory() as folder:
        top = Path(shutil.copytree(expected.store, Path(folder) / "store")).parent
        entries = sorted(expected.store.glob("??/*"))
        for path in data.draw(st.lists(st.sampled_from(entries), min_size=1, max_size=3, unique=True)):
            damage(data.draw, top / path.relative_to(expected.folder), entries)
        context = RunContext(Store(top / "store", warn=lambda _: None))
        run_and_write(load_checked(expected.configuration), context, folder=top / "run")
        expected.assert_same(top / "run", top / "store")


@examples(200)
@given(shape=st.sampled_from(sorted(SHAPES)), name=st.sampled_from([MANIFEST, *RUN_FILES]), data=st.data())
def test_a_damaged_run_gives_a_reason_or_its_own_numbers(
    undisturbed: Callable[[str], Undisturbed], shape: str, name: str, data: Any
) -> None:
    original = undisturbed(shape).run
    scores = (original / "scores.csv").read_bytes()
    with tempfile.TemporaryDirectory() as top:
        folder = Path(shutil.copytree(original, Path(top) / "run"))
        (folder / name).write_bytes(data.draw(damaged([(original / name).read_bytes()], TOKENS)))
        for words in (["report", folder], ["compare", folder, original]):
            done = CliRunner().invoke(app, [str(word) for word in words])
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                raise done.exception
            if done.exit_code:
                assert_clear(done.output)
        assert (folder / "scores.csv").read_bytes() == scores
