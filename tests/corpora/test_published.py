"""Corpora with a card, in small: found, downloaded, read, verified, and parts of them selected."""

from __future__ import annotations

import os
import tarfile
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora import card as cards
from benchmark.corpora import registry
from benchmark.corpora.archive import CorpusSource, read_files
from benchmark.corpora.assemble import check_document_counts, read_newsgroups, read_webkb, select_documents
from benchmark.corpora.corpus import Corpus, Documents, FieldedText, concatenate_texts
from benchmark.system.errors import ConfigError, DataError
from tests.corpora.small import LONG, pack_files, small_card, small_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES, CARD = small_files("webkb"), small_card("webkb")


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository of small cards, and no corpus anywhere."""
    folder = tmp_path / "repository" / "datasets"
    folder.mkdir(parents=True)
    monkeypatch.setattr(registry, "CHECKOUT", tmp_path / "repository")
    monkeypatch.setattr(cards, "CARDS", folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(registry.DATASETS_VARIABLE, raising=False)
    for name in ("webkb", "20ng"):
        write_card(folder, name)
    return folder


def write_card(folder: Path, name: str = "webkb", **changes: Any) -> None:
    facts = small_card(name, **{"addresses": ["http://example.org/x"], **changes}).model_dump(mode="json")
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(facts, sort_keys=False))


# --- Archives


@pytest.mark.parametrize("prefix", [b"", b"./", b"webkb/", b"./some-folder/"])
@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_every_packing_gives_the_same_files(tmp_path: Path, prefix: bytes, mode: str) -> None:
    hidden = {b"course/misc/.DS_Store": b"", b"readme": b"", b"course/misc/._y": b""}
    folder = tarfile.TarInfo((prefix + b"course/misc").decode())
    folder.type = tarfile.DIRTYPE
    packed = pack_files({**FILES, **hidden}, tmp_path / "a.tar", prefix=prefix, mode=mode, members=[folder])
    source = CorpusSource(packed)
    assert dict(read_files(source, CARD)) == FILES
    assert any(LONG in name for name in FILES)


@pytest.mark.parametrize("damage", ["truncated", "no gzip", "no tar", "gone", "changed"])
def test_a_damaged_corpus_never_loads(datasets: Path, tmp_path: Path, damage: str) -> None:
    path = pack_files(FILES, tmp_path / "a.tar.gz")
    content = path.read_bytes()
    damaged = {"truncated": content[:-20], "no gzip": content[:20] + b"\0" * 40, "no tar": b"<html>" * 200}
    if damage == "gone":
        path.unlink()
    elif damage == "changed":
        pack_files({**FILES, next(iter(FILES)): b"another page"}, path)
    else:
        path.write_bytes(damaged[damage])
    with pytest.raises(DataError) as raised:
        registry.load_corpus("webkb", CorpusSource(path))
    problem = "holds another corpus than its card describes" if damage == "changed" else "can't be read"
    assert str(raised.value).startswith(f"{path} {problem}")
    assert "Replace or remove it. Small webkb can be downloaded from:\n  http://example.org/x" in str(raised.value)


# --- Finding and downloading


def test_places_are_searched_in_order(datasets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = os.pathsep.join([str(tmp_path / "first"), "", str(tmp_path / "second")])
    for place in ("cache/simplexbench/datasets", "shared/datasets", "repository/datasets", "second", "first"):
        pack_files(FILES, tmp_path / place / "webkb-data.tar")
        monkeypatch.setenv(registry.DATASETS_VARIABLE, named)
        assert registry.locate_corpus("webkb").path == tmp_path / place / "webkb-data.tar"
    monkeypatch.setenv(registry.DATASETS_VARIABLE, str(tmp_path / "second" / "webkb-data.tar"))
    assert registry.locate_corpus("webkb").path == tmp_path / "second" / "webkb-data.tar"


@contextmanager
def served(archive: bytes) -> Iterator[tuple[str, list[str]]]:
    """Serve /good, /wrong and /flaky (fails once), and refuse the rest; yield address and requested paths."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = {"/good": archive, "/wrong": b"<html>", "/flaky": archive}.get(self.path)
            if body is None or asked.count("/flaky") == 1:
                self.send_error(403)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    http = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}", asked
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.mark.parametrize("sha256", [None, "right", "0" * 64])
def test_a_corpus_is_downloaded_from_the_first_good_address(
    datasets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sha256: str | None
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    packed = pack_files(FILES, tmp_path / "made" / "a.tar.gz").read_bytes()
    if sha256 == "right":
        sha256 = registry.archive.source_key(CorpusSource(tmp_path / "made" / "a.tar.gz"), CARD)
    notes: list[str] = []
    with served(packed) as (address, asked):
        write_card(
            datasets, addresses=[f"{address}/{name}" for name in ("wrong", "none", "flaky")], archive_sha256=sha256
        )
        with pytest.raises(DataError, match="The corpus webkb is not here"):
            registry.locate_corpus("webkb")
        assert not asked
        if sha256 == "0" * 64:
            with pytest.raises(
                DataError, match=r"(?s)could not be downloaded:.*/wrong: .*/none: .*403.*/flaky: .*hash"
            ):
                registry.locate_corpus("webkb", download=True, notify=notes.append)
            assert len(list(datasets.iterdir())) == 2, "nothing is left"
            return
        source = registry.locate_corpus("webkb", download=True, notify=notes.append)
    assert source.path == datasets / "webkb-data.gtar.gz"
    assert (notes[0], notes[1]) == ("Small webkb. Free.", f"Downloading {address}/wrong")
    assert registry.load_corpus("webkb").digest == CARD.digest
    assert sorted(path.name for path in datasets.iterdir()) == ["20ng.yaml", "webkb-data.gtar.gz", "webkb.yaml"]


# --- Documents


def test_webkb_is_sorted_by_name_with_universities_as_parts(datasets: Path, tmp_path: Path) -> None:
    corpus = registry.load_corpus("webkb", CorpusSource(pack_files(FILES, tmp_path / "a.tar")))
    names = sorted(FILES)
    assert corpus.documents.ids == tuple(name.decode("latin-1") for name in names)
    assert list(corpus) == [FILES[name] for name in names]
    assert corpus.documents.classes == ("course", "faculty")
    assert (corpus.documents.labels.tolist(), corpus.documents.parts.tolist()) == ([0, 0, 1, 1, 1], [0, 1, 0, 0, 1])


def test_newsgroups_have_training_posts_first_and_authors_as_groups() -> None:
    heads = [b"From: A B <a@b.c>\n", b"From: a@B.C (A B)\n", b"Subject: x\nFROM: nobody\n", b"from: Nobody \n", b"\n"]
    files = {name: head + b"\nbody\n" for name, head in zip(small_files("20ng"), heads, strict=True)}
    documents = read_newsgroups(files, small_card("20ng"), "").documents
    assert documents.parts.tolist() == [0, 0, 0, 1, 1]
    assert documents.groups is not None
    assert documents.dates is not None
    assert documents.dated_by_class
    assert documents.dates.tolist() == [49960, 51060, 57110, 53068, 59284]
    assert documents.groups.tolist() == [2, 2, 0, 1, 1], "nobody twice, none, and an address twice"


def test_the_gate_lists_every_number_that_differs() -> None:
    files = {**FILES, b"course/misc/new": b""}
    del files[b"faculty/misc/z"]
    corpus = read_webkb(files, CARD, "")
    with pytest.raises(DataError) as raised:
        check_document_counts(corpus, CARD)
    wrong = "\n  course, misc: expected 1, found 2\n  faculty, misc: expected 1, found 0"
    assert str(raised.value) == f"Small webkb: the numbers of documents differ from the card's.{wrong}"
    with pytest.raises(DataError, match="the classes or groups are not those of the card"):
        check_document_counts(select_documents(corpus, ["faculty"]), CARD)
    several = CARD.model_copy(update={"documents": {"cornell": 3, "misc": 2}})
    with pytest.raises(DataError, match="disagree on whether a document has exactly one class"):
        check_document_counts(corpus, several)


@given(st.lists(st.binary(max_size=6), max_size=12), st.lists(st.integers(0, 11), max_size=8), st.integers(1, 9))
def test_texts_stay_with_their_documents(texts: list[bytes], rows: list[int], size: int) -> None:
    n, (text, bounds) = len(texts), concatenate_texts(texts)
    numbers = np.arange(n)
    documents = Documents(
        tuple(map(str, range(n))), numbers % 2, numbers * 0, ("a", "b"), ("all",), None, numbers, numbers
    )
    spans = np.column_stack([numbers * 0, np.minimum(np.diff(bounds), 2)])
    corpus = Corpus("own", documents, text, bounds, "", {"title": spans})
    chunks = list(corpus.chunks(size))
    assert (
        [part[start:stop].tobytes() for part, cuts in chunks for start, stop in pairwise(cuts)] == texts == list(corpus)
    )
    assert all(len(part) >= size or cuts is chunks[-1][1] for part, cuts in chunks)
    rows = [row for row in rows if row < n]
    some = corpus.take(np.array(rows, dtype=np.intp))
    assert list(some) == [texts[row] for row in rows]
    assert [each.fields["title"] for each in some if isinstance(each, FieldedText)] == [texts[row][:2] for row in rows]
    assert some.documents.groups is not None
    assert some.documents.dates is not None
    assert some.documents.groups.tolist() == some.documents.dates.tolist() == rows


# --- Cards and readers


def test_a_missing_card_or_subset_is_named_with_the_nearest(datasets: Path) -> None:
    (datasets / "20ng.yaml").unlink()
    with pytest.raises(ConfigError, match=r"20ng\.yaml.*No such file"):
        registry.dataset_card("20ng")
    with pytest.raises(ConfigError, match=r"unknown corpus 'webbk'; did you mean 'webkb'\? \(allowed: webkb, 20ng, "):
        registry.dataset_card("webbk")
    few = {"counts": {"course": {"cornell": 1, "misc": 0}}}
    write_card(datasets, subsets={"few": few})
    card = registry.dataset_card("webkb", "few")
    assert (card.kept, card.classes, card.total, card.subset_names) == ("few", ("course",), 1, ("few",))
    with pytest.raises(ConfigError, match=r"unknown subset of webkb: 'fwe'; did you mean 'few'\?"):
        registry.dataset_card("webkb", "fwe")
    with pytest.raises(ConfigError, match="unknown subset of webkb"):
        registry.CORPORA["webkb"](subset="fwe").check()  # type: ignore[call-arg, attr-defined]


@pytest.mark.parametrize("name", registry.corpus_names())
def test_outlines_have_the_numbers_of_their_cards(name: str) -> None:
    for subset in registry.dataset_card(name).subset_names:
        reader, card = registry.CORPORA[name](subset=subset), registry.dataset_card(name, subset)  # type: ignore[call-arg]
        outline = reader.outline()
        assert (outline.classes, outline.part_names, len(outline)) == (card.classes, card.parts, card.total)
        assert (reader.classes, reader.parts, reader.multilabel) == (
            card.classes,
            card.parts,
            outline.topics is not None,
        )
        if outline.topics is None:
            assert outline.sizes().tolist() == [list(row.values()) for row in card.counts.values()]
        assert card.addresses or name == "synthetic"
        assert card.licence
        assert card.citation
