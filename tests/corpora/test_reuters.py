"""The ModApte split and its subsets, on a few stories; `test_real.py` has the true ones."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from benchmark.corpora import registry, reuters
from benchmark.corpora.archive import CorpusSource, content_digest, find_corpus_in, read_files, verify_digest
from benchmark.corpora.assemble import check_document_counts, select_documents
from benchmark.corpora.card import DatasetCard
from benchmark.corpora.sgml import read_articles
from benchmark.system.errors import ConfigError, DataError
from tests.corpora.small import pack_files, unpack_files


def story(newid, topics, *, split="TRAIN", flag="YES", kind="NORM"):
    listed = "".join(f"<D>{topic}</D>" for topic in topics.split())
    attribute = "" if kind == "NORM" else f' TYPE="{kind}"'
    text = {
        "NORM": f"<TITLE>Title {newid}</TITLE><DATELINE>PARIS</DATELINE><BODY>Body {newid}</BODY>",
        "BRIEF": f"<TITLE>Title {newid}</TITLE>",
        "UNPROC": f"Text {newid}",
    }[kind]
    return (
        f'<REUTERS TOPICS="{flag}" LEWISSPLIT="{split}" NEWID="{newid}">'
        f"<TOPICS>{listed}</TOPICS><TEXT{attribute}>{text}</TEXT></REUTERS>\n"
    ).encode()


FILES = {
    b"reut2-001.sgm": story(11, "earn")
    + story(3, "acq earn", kind="UNPROC")
    + story(12, "", split="TEST")
    + story(13, "acq", split="TEST", kind="BRIEF")
    + story(14, "ship ship", split="TEST"),
    b"reut2-000.sgm": story(1, "earn", split="TEST")
    + story(2, "earn", kind="BRIEF")
    + story(4, "acq", flag="NO")
    + story(5, "acq", split="NOT-USED")
    + story(6, "acq", split="TEST", flag="BYPASS")
    + story(7, "acq"),
}
CARD = DatasetCard.model_validate(
    {
        "name": "reuters",
        "title": "Small Reuters",
        "archives": ["reuters21578.tar.gz"],
        "folders": ["reuters21578"],
        "tops_are": "files",
        "tops": ["reut2-000.sgm", "reut2-001.sgm"],
        "digest": content_digest(FILES),
        "documents": {"train": 4, "test": 4},
        "counts": {
            "earn": {"train": 3, "test": 1},
            "acq": {"train": 2, "test": 1},
            "ship": {"train": 0, "test": 1},
        },
        "subsets": {
            "without-brief": {
                "documents": {"train": 3, "test": 3},
                "counts": {
                    "acq": {"train": 2, "test": 0},
                    "earn": {"train": 2, "test": 1},
                    "ship": {"train": 0, "test": 1},
                },
            },
            "body-and-single-topic": {
                "counts": {
                    "acq": {"train": 1, "test": 0},
                    "earn": {"train": 1, "test": 1},
                    "ship": {"train": 0, "test": 1},
                }
            },
            "r8": {"counts": {"earn": {"train": 2, "test": 1}}},
            "r52": {"counts": {"acq": {"train": 1, "test": 1}, "earn": {"train": 2, "test": 1}}},
            "modapte-90": {"documents": {"train": 3, "test": 1}, "counts": {"earn": {"train": 3, "test": 1}}},
        },
        "licence": "For research only.",
        "citation": "-",
    }
)
IDS = {
    "all": ("2", "3", "7", "11", "1", "12", "13", "14"),
    "without-brief": ("3", "7", "11", "1", "12", "14"),
    "body-and-single-topic": ("7", "11", "1", "14"),
    "r8": ("2", "11", "1"),
    "r52": ("2", "7", "11", "1", "13"),
    "modapte-90": ("2", "3", "11", "1"),
}


def read(subset="all"):
    return reuters.read_reuters(FILES, CARD.subset(subset), CARD.digest)


@pytest.mark.parametrize("subset", IDS)
def test_subsets_have_training_stories_first_then_by_number(subset):
    corpus = read(subset)
    documents = corpus.documents
    assert documents.ids == IDS[subset]
    assert documents.part_names == ("train", "test")
    assert np.all(np.diff(documents.parts) >= 0)
    assert (corpus.dataset, corpus.digest) == ("reuters", CARD.digest)
    check_document_counts(corpus, CARD.subset(subset))


@pytest.mark.parametrize(
    ("topics", "kind", "kept"),
    [("acq", "NORM", True), ("acq ship", "NORM", False), ("", "NORM", False), ("acq", "BRIEF", False)],
)
def test_a_story_with_a_body_and_one_topic_is_single_label(topics, kind, kept):
    (article,) = read_articles(story(1, topics, kind=kind), "reut2-000.sgm")
    assert reuters.SUBSETS["body-and-single-topic"](article, ("acq", "ship")) is kept


@pytest.mark.parametrize(
    ("newid", "topics", "kind", "kept"),
    [
        (1, "acq", "NORM", True),
        (1, "acq", "BRIEF", True),
        (1, "acq", "UNPROC", True),
        (1, "acq ship", "NORM", False),
        (1, "earn", "NORM", False),
        (1, "", "NORM", False),
        (19918, "acq", "NORM", False),
    ],
)
def test_r52_has_the_stories_that_list_one_of_its_topics_once(newid, topics, kind, kept):
    (article,) = read_articles(story(newid, topics, kind=kind), "reut2-000.sgm")
    assert reuters.SUBSETS["r52"](article, ("acq", "ship")) is kept


def test_topics_that_are_no_classes_of_modapte_90_are_dropped():
    documents = read("modapte-90").documents
    assert documents.classes == ("earn",)
    assert documents.topics.tolist() == [[True]] * 4
    assert "acq" in next(a.topics for a in read_articles(FILES[b"reut2-001.sgm"], "-") if a.newid == 3)


def test_every_subset_of_the_reader_has_a_card():
    assert tuple(reuters.SUBSETS) == CARD.subset_names == registry.dataset_card("reuters").subset_names == tuple(IDS)


def test_text_is_title_and_body_or_what_there_is():
    text_of = dict(zip(read().documents.ids, read(), strict=True))
    assert text_of["11"] == b"Title 11\nBody 11"
    assert text_of["13"] == b"Title 13"
    assert text_of["3"] == b"Text 3"


@pytest.mark.parametrize("subset", IDS)
def test_fields_are_the_title_and_the_body_where_a_story_is_divided(subset):
    expected = {"3": (b"", b""), "2": (b"Title 2", b""), "13": (b"Title 13", b"")}
    corpus = read(subset)
    for corpus_of in (corpus, corpus.take(np.arange(len(corpus.documents))[::-1])):
        for name, text in zip(corpus_of.documents.ids, corpus_of, strict=True):
            found = expected.get(name, (f"Title {name}".encode(), f"Body {name}".encode()))
            assert dict(text.fields) == dict(zip(("title", "body"), found, strict=True))


@pytest.mark.parametrize("listed", ["19918", "19919"])
def test_the_story_that_lists_its_topic_twice_is_of_several_topics_in_r8_and_r52_alone(listed):
    files = {name: content.replace(b'NEWID="11"', f'NEWID="{listed}"'.encode()) for name, content in FILES.items()}
    for subset in IDS:
        ids = reuters.read_reuters(files, CARD.subset(subset), "").documents.ids
        assert (listed in ids) == (listed == "19919" or subset not in ("r8", "r52")), subset


def test_multi_label_documents_have_topics_and_no_labels():
    documents = read().documents
    assert documents.classes == ("earn", "acq", "ship")
    assert documents.labels.dtype == documents.parts.dtype == np.int32
    assert set(documents.labels) == {-1}
    assert documents.topics.dtype == np.bool_
    named = [[name for name, has in zip(documents.classes, row, strict=True) if has] for row in documents.topics]
    assert named == [["earn"], ["earn", "acq"], ["acq"], ["earn"], ["earn"], [], ["acq"], ["ship"]]


def test_single_label_documents_have_labels_and_no_topics():
    documents = read("body-and-single-topic").documents
    assert documents.topics is None
    assert [documents.classes[label] for label in documents.labels] == ["acq", "earn", "earn", "ship"]


def test_the_whole_corpus_is_the_subset_all_and_none():
    assert CARD.subset(None) is CARD.subset("all") is CARD
    assert (CARD.total, CARD.subset("without-brief").total, CARD.subset("body-and-single-topic").total) == (8, 6, 4)


def test_an_unknown_subset_is_named_with_the_nearest():
    with pytest.raises(ConfigError, match=r"'reuters' has no subset 'without-breif'.*'without-brief'\?.*: all, wi"):
        CARD.subset("without-breif")
    with pytest.raises(ConfigError, match="It has: without-brief"):  # a part has no parts
        CARD.subset("without-brief").subset("all")


# --- the gate


def test_the_gate_compares_topics_and_documents():
    corpus = read()
    rows = np.arange(len(corpus.documents) - 1)
    with pytest.raises(DataError) as caught:
        check_document_counts(corpus.take(rows), CARD)
    for part in ("Small Reuters:", "ship, test: expected 1, found 0", "documents, test: expected 4, found 3"):
        assert part in str(caught.value)
    assert "earn" not in str(caught.value)


def test_the_gate_sees_a_missing_document_without_topics():
    corpus = read()
    rows = np.flatnonzero(corpus.documents.topics.any(axis=1))
    with pytest.raises(DataError, match="documents, test: expected 4, found 3"):
        check_document_counts(corpus.take(rows), CARD)


def test_the_gate_tells_subsets_apart():
    with pytest.raises(DataError, match=r"Small Reuters, body-and-single-topic: .* disagree"):
        check_document_counts(read("without-brief"), CARD.subset("body-and-single-topic"))
    with pytest.raises(DataError, match="Small Reuters, without-brief: the classes"):
        check_document_counts(read("all"), CARD.subset("without-brief"))


# --- take and select


def test_topics_that_do_not_fit_are_refused():
    documents = read().documents
    with pytest.raises(ValueError, match=r"bool of shape \(8, 3\), not bool of shape \(8, 2\)"):
        replace(documents, topics=documents.topics[:, :2])
    with pytest.raises(ValueError, match=r"not int64 of shape \(8, 3\)"):
        replace(documents, topics=documents.topics.astype(np.int64))
    with pytest.raises(ValueError, match="the label -1"):
        replace(documents, labels=np.zeros(8, dtype=np.int32))


def test_take_takes_topics_along():
    corpus = read()
    rows = np.array([5, 0, 1])
    taken = corpus.take(rows)
    assert taken.documents.ids == ("12", "2", "3")
    assert np.array_equal(taken.documents.topics, corpus.documents.topics[rows])


def test_selecting_classes_of_multi_label_documents_keeps_every_document():
    corpus = read()
    chosen = select_documents(corpus, ["acq", "earn"], exclude=["7"])
    assert chosen.documents.ids == ("2", "3", "11", "1", "12", "13", "14")
    assert chosen.documents.classes == ("acq", "earn")
    kept = [row for row, name in enumerate(corpus.documents.ids) if name != "7"]
    assert np.array_equal(chosen.documents.topics, corpus.documents.topics[kept][:, [1, 0]])
    assert set(chosen.documents.labels) == {-1}
    assert list(chosen) == [text for row, text in enumerate(corpus) if row in kept]


def test_selecting_classes_of_single_label_documents_drops_the_others():
    chosen = select_documents(read("body-and-single-topic"), ["ship", "acq"])
    assert chosen.documents.ids == ("7", "14")
    assert chosen.documents.labels.tolist() == [1, 0]


# --- refusals


def test_broken_stories_are_named_with_their_file():
    broken = {**FILES, b"reut2-001.sgm": FILES[b"reut2-001.sgm"].replace(b"</BODY>", b"", 1)}
    with pytest.raises(DataError, match=r"reut2-001.sgm, NEWID 11: <BODY> is not closed"):
        reuters.read_reuters(broken, CARD, "")


def test_a_number_given_twice_is_refused():
    twice = {**FILES, b"reut2-001.sgm": FILES[b"reut2-001.sgm"] + story(1, "")}
    with pytest.raises(DataError, match="two stories have the NEWID 1"):
        reuters.read_reuters(twice, CARD, "")


def test_an_unknown_topic_is_refused():
    other = {**FILES, b"reut2-001.sgm": FILES[b"reut2-001.sgm"] + story(99, "earm")}
    with pytest.raises(DataError, match="NEWID 99 has the topic 'earm'"):
        reuters.read_reuters(other, CARD, "")


# --- files that hold many documents


@pytest.mark.parametrize("prefix", [b"", b"./", b"reuters21578/", b"./reuters21578/"])
def test_every_packing_gives_the_same_files(tmp_path, prefix):
    path = pack_files(
        {**FILES, b"README.txt": b"x", b"lewis.dtd": b"x"}, tmp_path / "reuters21578.tar.gz", prefix=prefix
    )
    assert find_corpus_in(tmp_path, CARD) == CorpusSource(path)
    files = read_files(CorpusSource(path), CARD)
    assert {relpath: bytes(content) for relpath, content in files.items()} == FILES
    assert verify_digest(files, CARD, CorpusSource(path)) == CARD.digest


@pytest.mark.parametrize("folder", [".", "reuters21578"])
def test_a_folder_is_found_when_all_its_files_are_there(tmp_path, folder):
    place = unpack_files({**FILES, b"README.txt": b"x"}, tmp_path / folder)
    assert find_corpus_in(tmp_path, CARD) == CorpusSource(place)
    assert read_files(CorpusSource(place), CARD) == FILES
    os.remove(place / "reut2-001.sgm")  # noqa: PTH107
    assert find_corpus_in(tmp_path, CARD) is None
    with pytest.raises(DataError, match="can't be read"):
        read_files(CorpusSource(place), CARD)


def test_a_changed_corpus_is_told_by_its_files(tmp_path):
    with pytest.raises(DataError, match=r"expected 2 files.*\n.*found +1 files"):
        verify_digest({b"reut2-000.sgm": b""}, CARD, CorpusSource(tmp_path))
