from __future__ import annotations

import gzip
import os
import tarfile
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.corpora.archive import (
    CorpusSource,
    content_digest,
    find_corpus_in,
    read_files,
    source_key,
    verify_digest,
)
from benchmark.system.errors import DataError
from tests.corpora.small import pack_files, small_card, small_files, unpack_files

if TYPE_CHECKING:
    from pathlib import Path


def read(path, card):
    return {relpath: bytes(content) for relpath, content in read_files(CorpusSource(path), card).items()}


# --- layouts: whatever it is packed in, the files are the same


@pytest.mark.parametrize("format_", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("mode", ["w:gz", "w:"])
@pytest.mark.parametrize("prefix", [b"", b"./", b"webkb/", b"./webkb/", b"any/"])
def test_every_packing_gives_the_same_files(tmp_path, files, card, prefix, mode, format_):
    path = pack_files(files, tmp_path / "webkb-data.gtar.gz", prefix=prefix, mode=mode, format_=format_)
    assert read(path, card) == files


def test_folder_gives_the_same_files(tmp_path, files, card):
    assert read(unpack_files(files, tmp_path), card) == files


def test_odd_names_survive(tmp_path, files, card):
    names = set(read(pack_files(files, tmp_path / "a.tar"), card))
    assert {b"course/misc/http:^^y^\r", b"faculty/cornell/caf\xe9"} < names
    assert max(len(name) for name in names) > 100


@pytest.mark.parametrize(
    "extra", [b"README", b"webkb/readme.txt", b".DS_Store", b"course/misc/.DS_Store", b"course/._misc"]
)
def test_what_is_no_document_is_left_out(tmp_path, files, card, extra):
    assert read(pack_files({**files, extra: b"x"}, tmp_path / "a.tar"), card) == files
    assert read(unpack_files({**files, extra: b"x"}, tmp_path / "folder"), card) == files


def test_folders_and_empty_files_are_read(tmp_path, files, card):
    folders = [tarfile.TarInfo(name) for name in ("webkb/course", ".", "./")]
    for folder in folders:
        folder.type = tarfile.DIRTYPE
    with_empty = {**files, b"course/misc/empty": b""}
    assert read(pack_files(with_empty, tmp_path / "a.tar", prefix=b"webkb/", members=folders), card) == with_empty


@pytest.mark.parametrize("packing", ["w:", "w:gz", "folder"])
def test_as_many_members_as_a_card_allows_are_read_and_no_more(tmp_path, files, card, packing):
    """A card allows twice its documents, and 1,000 for folders and notes."""
    most = 2 * card.total + 1000
    assert card.most_members == most
    if packing == "folder":
        here = unpack_files(files, tmp_path / "folder")
        tops = {here / top for top in card.tops}
        seen = sum(1 for top in tops for _ in top.rglob("*"))
        place = min(tops)
        for number in range(most - seen):
            (place / f".{number}").touch()
        assert read(here, card) == files
        (place / ".more").touch()
    else:
        notes = [tarfile.TarInfo(f"note{number}") for number in range(most - len(files))]
        here = pack_files(files, tmp_path / "a.tar", mode=packing, members=notes)
        assert read(here, card) == files
        here = pack_files(files, tmp_path / "b.tar", mode=packing, members=[*notes, tarfile.TarInfo("more")])
    with pytest.raises(
        DataError, match=rf"is too large for .*: it holds more than {most:,} (members|files and folders)"
    ):
        read(here, card)


@pytest.mark.parametrize("packing", ["w:", "w:gz", "folder"])
def test_as_many_bytes_as_a_card_allows_are_read_and_no_more(tmp_path, files, card, packing):
    """A card allows twice its bytes, and 2 KiB a member."""
    card = card.model_copy(update={"size": 2**16})
    most = 2 * card.size + 2048 * card.most_members
    assert card.most_bytes == most
    if packing == "folder":
        here = unpack_files(files, tmp_path / "folder")
        (here / max(card.tops) / "large").write_bytes(bytes(most - sum(map(len, files.values()))))
        assert len(read(here, card)) == len(files) + 1
        (here / min(card.tops) / "more").write_bytes(b"x")
    else:
        plain = pack_files(files, tmp_path / "plain.tar", mode="w:").read_bytes()
        for name, size in (("exact.tar", most), ("more.tar", most + 1)):
            content = plain + bytes(size - len(plain))
            (tmp_path / name).write_bytes(gzip.compress(content, 1) if packing == "w:gz" else content)
        assert read(tmp_path / "exact.tar", card) == files
        here = tmp_path / "more.tar"
    with pytest.raises(DataError, match=rf"is too large for .*: it holds more than {most:,} bytes"):
        read(here, card)


# --- finding


@pytest.mark.parametrize("name", ["webkb", "20ng"])
@pytest.mark.parametrize("place", [".", "outer"])
def test_folder_is_found_with_and_without_its_outer_folder(tmp_path, name, place):
    card = small_card(name)
    folder = unpack_files(small_files(name), tmp_path / card.folders[0])
    assert find_corpus_in(tmp_path if place == "outer" else folder, card) == CorpusSource(folder)
    assert find_corpus_in(tmp_path / "absent", card) is None


@pytest.mark.parametrize("name", ["webkb", "20ng"])
def test_archive_is_found_by_its_folder_and_by_itself(tmp_path, name):
    card = small_card(name)
    path = pack_files(small_files(name), tmp_path / card.archives[0])
    assert find_corpus_in(tmp_path, card) == find_corpus_in(path, card) == CorpusSource(path)
    assert find_corpus_in(path, small_card("20ng" if name == "webkb" else "webkb")) is None


def test_archive_goes_before_folder(tmp_path, files, card):
    unpack_files(files, tmp_path)
    path = pack_files(files, tmp_path / card.archives[0])
    assert find_corpus_in(tmp_path, card) == CorpusSource(path)


def test_half_a_folder_is_not_found(tmp_path, card):
    unpack_files({b"course/misc/x": b""}, tmp_path)
    assert find_corpus_in(tmp_path, card) is None


# --- digest


relpaths = st.binary(min_size=1, max_size=120).map(lambda raw: raw.replace(b"/", b"^").replace(b"\0", b"^"))
documents = st.dictionaries(relpaths.filter(lambda n: not n.startswith(b".")).map(b"course/misc/".__add__), st.binary())


@settings(max_examples=50)
@given(documents, st.randoms(use_true_random=False))
def test_digest_and_files_do_not_depend_on_the_order(tmp_path_factory, contents, random):
    card = SimpleNamespace(tops=("course",), most_bytes=2**20, most_members=1000)
    order = list(contents)
    random.shuffle(order)
    shuffled = pack_files(
        {name: contents[name] for name in order}, tmp_path_factory.getbasetemp() / "shuffled.tar", mode="w:"
    )
    assert read(shuffled, card) == contents
    assert content_digest(read(shuffled, card)) == content_digest(contents)


@given(documents.filter(lambda d: any(d.values())), st.data())
def test_a_changed_byte_changes_the_digest(contents, data):
    name = data.draw(st.sampled_from(sorted(n for n in contents if contents[n])))
    at = data.draw(st.integers(0, len(contents[name]) - 1))
    byte = data.draw(st.integers(1, 255))
    changed = bytearray(contents[name])
    changed[at] ^= byte
    assert content_digest({**contents, name: bytes(changed)}) != content_digest(contents)
    assert content_digest({**contents, b"course/misc/zz": b""}) != content_digest({**contents, b"course/misc/zy": b""})


def test_digest_of_nothing_is_that_of_no_records():
    assert content_digest({}) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_wrong_content_is_told_from_the_right(tmp_path, files, card):
    source = CorpusSource(pack_files({**files, b"course/misc/more": b""}, tmp_path / "webkb-data.tar"))
    assert verify_digest(files, card, source) == card.digest
    with pytest.raises(DataError) as caught:
        verify_digest(read_files(source, card), card, source)
    for part in (str(source), card.digest, content_digest(read_files(source, card)), "5 documents", "6 documents"):
        assert part in str(caught.value)


@pytest.mark.parametrize("kind", ["documents", "files"])
def test_another_corpus_is_told_word_by_word(tmp_path, card, kind):
    """With the numbers of documents, or of files where each has many."""
    tops = {"tops_are": "files", "tops": ("a.sgm", "b.sgm", "c.sgm")} if kind == "files" else {}
    card = card.model_copy(update={**tops, "addresses": ("https://a.org/x", "http://b.org/y")})
    found, source = {b"a.sgm": b"", b"b.sgm": b"1"}, CorpusSource(tmp_path)
    with pytest.raises(DataError) as caught:
        verify_digest(found, card, source)
    assert str(caught.value).splitlines() == [
        f"{tmp_path} holds another corpus than its card describes, or a changed one:",
        f"  expected {3 if kind == 'files' else 5} {kind}, content digest {card.digest}",
        f"  found    2 {kind}, content digest {content_digest(found)}",
        "Replace or remove it. Small webkb can be downloaded from:",
        "  https://a.org/x",
        "  http://b.org/y",
        f"Its content digest is {card.digest}.",
    ]


def test_fingerprint_follows_the_content(tmp_path, files, card):
    one, two = pack_files(files, tmp_path / "1.tar", mode="w:"), pack_files(files, tmp_path / "2.tar", mode="w:")
    other = pack_files({**files, b"course/misc/more": b""}, tmp_path / "3.tar", mode="w:")
    assert (
        source_key(CorpusSource(one), card)
        == source_key(CorpusSource(two), card)
        != source_key(CorpusSource(other), card)
    )
    assert source_key(CorpusSource(unpack_files(files, tmp_path / "folder")), card) == card.digest
    assert source_key(CorpusSource(None), card) == card.digest


# --- refusals


def member(name, kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize(
    "bad",
    [
        member("../escaped"),
        member("webkb/../../escaped"),
        member("/tmp/escaped"),  # noqa: S108
        member("course/misc/link", tarfile.SYMTYPE, "/etc/passwd"),
        member("course/misc/link", tarfile.LNKTYPE, "course/cornell/http:^^x^"),
        member("course/misc/device", tarfile.CHRTYPE),
        member("course/misc/pipe", tarfile.FIFOTYPE),
        member("elsewhere/link", tarfile.SYMTYPE, ".."),
    ],
    ids=lambda info: f"{info.name}-{info.type.decode()}",
)
def test_unsafe_members_are_refused_and_nothing_is_written(tmp_path, files, card, bad, monkeypatch):
    path = pack_files(files, tmp_path / "in" / "a.tar.gz", members=[bad])
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    with pytest.raises(DataError, match="is refused") as caught:
        read_files(CorpusSource(path), card)
    assert repr(bad.name) in str(caught.value)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a.tar.gz", "cwd", "in"]


def test_a_pipe_in_a_folder_is_refused(tmp_path, files, card):
    os.mkfifo(unpack_files(files, tmp_path) / "course" / "misc" / "pipe")
    with pytest.raises(DataError, match="neither a plain file"):
        read_files(CorpusSource(tmp_path), card)


@pytest.mark.parametrize("kind", ["a folder", "nothing", "a file"])
def test_a_link_in_a_folder_is_read_if_it_leads_to_a_file(tmp_path, files, card, kind):
    folder, outside = unpack_files(files, tmp_path / "webkb"), tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_bytes(b"linked")
    link = folder / "course" / "misc" / "link"
    link.symlink_to({"a folder": outside, "nothing": outside / "none", "a file": outside / "x"}[kind])
    if kind == "a file":
        assert read(folder, card) == {**files, b"course/misc/link": b"linked"}
        return
    with pytest.raises(DataError) as caught:
        read_files(CorpusSource(folder), card)
    assert str(caught.value) == (
        f"{folder} is refused because of 'course/misc/link': it is neither a plain file nor a folder."
    )


def test_what_is_hidden_in_a_folder_is_left_out_whatever_it_is(tmp_path, files, card):
    folder = unpack_files(files, tmp_path / "webkb")
    os.mkfifo(folder / "course" / ".pipe")
    (folder / "course" / "misc" / ".link").symlink_to("none")
    assert read(folder, card) == files


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read all")
def test_a_file_that_may_not_be_read_is_named(tmp_path, files, card):
    folder = unpack_files(files, tmp_path / "webkb")
    (folder / "course" / "misc").chmod(0)
    with pytest.raises(DataError, match="can't be read: Permission denied"):
        read_files(CorpusSource(folder), card)


def test_a_generated_corpus_has_no_files(card):
    with pytest.raises(ValueError, match="a generated corpus has no files"):
        read_files(CorpusSource(None), card)


def damage(path: Path, how: str) -> None:
    raw = path.read_bytes()
    middle = len(raw) // 2
    flipped = raw[:middle] + bytes(byte ^ 0xFF for byte in raw[middle : middle + 40]) + raw[middle + 40 :]
    made = {"truncated": raw[:middle], "empty": b"", "corrupt": flipped, "garbage": b"<html>403</html>" * 100}
    path.write_bytes(made[how])


@pytest.mark.parametrize("how", ["truncated", "empty", "corrupt", "garbage"])
@pytest.mark.parametrize("mode", ["w:gz", "w:"])
def test_damaged_archives_are_explained(tmp_path, card, how, mode):
    many = {b"course/misc/%d" % number: os.urandom(1000) for number in range(50)}
    source = CorpusSource(pack_files(many, tmp_path / "webkb-data.tar", mode=mode))
    card = card.model_copy(update={"digest": content_digest(many), "addresses": ("http://example.org/webkb",)})
    verify_digest(read_files(source, card), card, source)
    damage(source.path, how)
    with pytest.raises(DataError) as caught:
        verify_digest(read_files(source, card), card, source)
    for part in (str(source.path), "http://example.org/webkb", card.digest):
        assert part in str(caught.value)


@pytest.mark.parametrize("kept", [1024, 1536, 1100, 513])
def test_no_truncation_of_a_plain_archive_goes_unnoticed(tmp_path, files, card, kept):
    source = CorpusSource(pack_files(files, tmp_path / "webkb-data.tar", mode="w:"))
    source.path.write_bytes(source.path.read_bytes()[:kept])
    with pytest.raises(DataError):
        verify_digest(read_files(source, card), card, source)


def test_gzip_with_a_wrong_checksum_is_corrupt(tmp_path, files, card):
    path = pack_files(files, tmp_path / "a.tar", mode="w:")
    raw = bytearray(gzip.compress(path.read_bytes()))
    raw[-6] ^= 1
    path.write_bytes(raw)
    with pytest.raises(DataError, match="corrupt"):
        read_files(CorpusSource(path), card)


def test_a_vanished_source_is_explained(tmp_path, card):
    for use in (read_files, source_key):
        with pytest.raises(DataError, match="can't be read"):
            use(CorpusSource(tmp_path / "gone.tar"), card)


def test_source_says_where_it_is(tmp_path):
    assert str(CorpusSource(tmp_path)) == str(tmp_path)
    assert "generated" in str(CorpusSource(None))
