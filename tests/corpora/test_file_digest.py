"""Files that are checked against their digests: the digested bytes wherever they are read, or a refusal."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora import file_digest
from benchmark.corpora.file_digest import (
    CheckedFile,
    FileDigest,
    check_file_stamp,
    digest_paths,
    file_stamp,
    files_below,
)
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
        raw = CheckedFile(Path("t"), io.BytesIO(content + more), digest_of(content))
        raw.seek(plain.tell())
        assert raw.seek(offset, whence) == raw.tell() == place
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


def test_a_file_that_can_not_be_digested_is_named(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "none", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(DataError, match=rf"^{path}: can't be read: {said}$"):
            file_digest.file_digest(path)


def test_files_below_a_folder_are_those_that_are_not_hidden(tmp_path: Path) -> None:
    for name in ("b/2", "b/1", "a", "b.x/1", ".git/config", "b/.DS_Store", "b/.git/a/1"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    assert [relpath for relpath, _ in files_below(tmp_path)[0]] == ["a", "b.x/1", "b/1", "b/2"]
    assert all(path.read_text() == relpath for relpath, path in files_below(tmp_path)[0])
    with pytest.raises(DataError, match=r"nowhere: can't be read: No such file or directory$"):
        files_below(tmp_path / "nowhere")


def test_a_digest_is_of_names_parts_and_contents(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()

    def digest(split: str = "", **files: str) -> str:
        for path in folder.iterdir():
            path.unlink()
        for name, content in files.items():
            (folder / name).write_text(content)
        return digest_paths([(split, folder)]).digest

    found = [
        digest(x="1", y="2"),
        digest(x="1"),
        digest(x="2", y="1"),
        digest(x="1", z="2"),
        digest("train", x="1", y="2"),
    ]
    assert len(set(found)) == len(found)
    plain = folder.with_name("b")
    plain.write_bytes(b"1")
    for path in folder.iterdir():
        path.unlink()
    one, *_ = digest_paths([("", plain)]).places
    assert (one.is_folder, one.files[""].sha256) == (False, hashlib.sha256(b"1").digest())
    expected = hashlib.sha256(b"\0\0" + hashlib.sha256(b"1").digest()).hexdigest()
    assert digest_paths([("", plain)]).digest == expected


def test_a_digest_is_written_out_over_parts_paths_and_files(tmp_path: Path) -> None:
    """In the order of the parts as they are given, and of the paths below each."""
    for name in ("one/b/2", "one/a", "two/a"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    whole = hashlib.sha256()
    for split, folder, relpath in (("test", "two", "a"), ("train", "one", "a"), ("train", "one", "b/2")):
        sha256 = hashlib.sha256(f"{folder}/{relpath}".encode()).digest()
        whole.update(f"{split}\0{relpath}\0".encode() + sha256)
    found = digest_paths([("test", tmp_path / "two"), ("train", tmp_path / "one")])
    assert found.digest == whole.hexdigest()
    assert [(place.split, place.path.name, place.is_folder, [*place.files]) for place in found.places] == [
        ("test", "two", True, ["a"]),
        ("train", "one", True, ["a", "b/2"]),
    ]
    found.check_unchanged()
    (tmp_path / "two" / "a").write_text("TWO/A")
    with pytest.raises(DataError, match=rf"^{tmp_path}/two: was changed while it was read; run it again$"):
        found.check_unchanged()
    assert digest_paths([("test", tmp_path / "two"), ("train", tmp_path / "one")]).digest != found.digest


@pytest.mark.parametrize("what", ["size", "time", "name", "more", "inode"])
@pytest.mark.parametrize("folder", [False, True])
def test_each_kind_of_edit_changes_a_stamp(tmp_path: Path, what: str, *, folder: bool) -> None:
    path = tmp_path / "docs" / "x"
    path.parent.mkdir()
    path.write_text("1")
    os.utime(path, ns=(5, 5))
    place = path.parent if folder else path
    before = file_stamp(place)
    if what == "size":
        path.write_text("12")
        os.utime(path, ns=(5, 5))
    elif what == "time":
        os.utime(path, ns=(5, 6))
    elif what == "inode":
        (tmp_path / "y").write_text("1")
        os.utime(tmp_path / "y", ns=(5, 5))
        (tmp_path / "y").replace(path)
    elif folder:
        (path.parent / "y").write_text("")
        if what == "name":
            path.unlink()
    else:
        path.unlink()
    with pytest.raises(DataError, match=rf"^{place}: was changed while it was read; run it again$"):
        check_file_stamp(place, before)


def test_a_stamp_changes_with_every_file_below_a_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1")
    before = file_stamp(tmp_path)
    check_file_stamp(tmp_path, before)
    (tmp_path / "y").write_text("")
    with pytest.raises(DataError, match="was changed while it was read"):
        check_file_stamp(tmp_path, before)
    (tmp_path / "y").unlink()
    check_file_stamp(tmp_path, before)
    (tmp_path / "x").chmod(0o600)  # an inode changes without an edit
    check_file_stamp(tmp_path, before)
    os.utime(tmp_path / "x", (1, 1))
    with pytest.raises(DataError, match="was changed"):
        check_file_stamp(tmp_path, before)
    with pytest.raises(DataError, match="gone: was changed while it was read"):
        check_file_stamp(tmp_path / "gone", before)
