"""The ModApte split and its subsets, on a few stories; `test_real.py` has the true ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.corpora import registry, reuters
from benchmark.corpora.archive import content_digest
from benchmark.corpora.assemble import check_document_counts
from benchmark.corpora.card import DatasetCard
from benchmark.corpora.reuters import Article, decode_entities, read_articles

if TYPE_CHECKING:
    from benchmark.corpora.corpus import Corpus


def story(newid: int, topics: str, *, split: str = "TRAIN", flag: str = "YES", kind: str = "NORM") -> bytes:
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
#: Stories of each class, and all stories where several classes are possible, by subset: training and test.
SIZES: dict[str, dict[str, tuple[int, int]]] = {
    "all": {"earn": (3, 1), "acq": (2, 1), "ship": (0, 1), "": (4, 4)},
    "without-brief": {"acq": (2, 0), "earn": (2, 1), "ship": (0, 1), "": (3, 3)},
    "body-and-single-topic": {"acq": (1, 0), "earn": (1, 1), "ship": (0, 1)},
    "r8": {"earn": (2, 1)},
    "r52": {"acq": (1, 1), "earn": (2, 1)},
    "modapte-90": {"earn": (3, 1), "": (3, 1)},
}


def facts_of(subset: str) -> dict[str, Any]:
    """What a card says of a subset."""
    rows = {name: dict(zip(("train", "test"), pair, strict=True)) for name, pair in SIZES[subset].items()}
    documents = rows.pop("", None)
    return {"counts": rows, "documents": documents}


CARD = DatasetCard.model_validate(
    {
        "name": "reuters",
        "title": "Small Reuters",
        "archives": ["reuters21578.tar.gz"],
        "tops": ["reut2-000.sgm", "reut2-001.sgm"],
        "digest": content_digest(FILES),
        "subsets": {subset: facts_of(subset) for subset in SIZES if subset != "all"},
        "licence": "For research only.",
        "citation": "-",
        **facts_of("all"),
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


def read(subset: str = "all") -> Corpus:
    return reuters.read_reuters(FILES, CARD.subset(subset), CARD.digest)


@pytest.mark.parametrize("subset", IDS)
def test_subsets_have_training_stories_first_then_by_number(subset: str) -> None:
    corpus, card = read(subset), CARD.subset(subset)
    documents = corpus.documents
    assert (documents.ids, documents.part_names, documents.classes) == (IDS[subset], ("train", "test"), card.classes)
    assert np.all(np.diff(documents.parts) >= 0)
    check_document_counts(corpus, card)
    assert (documents.topics is None) == (card.documents is None)
    for name, text in zip(documents.ids, corpus, strict=True):
        divided = {"3": (b"", b""), "2": (b"Title 2", b""), "13": (b"Title 13", b"")}
        parts = divided.get(name, (f"Title {name}".encode(), f"Body {name}".encode()))
        assert text == (b"Text 3" if name == "3" else b"\n".join(filter(None, parts)))
        assert text.fields == dict(zip(("title", "body"), parts, strict=True))  # type: ignore[attr-defined]


def test_every_subset_of_the_reader_has_a_card() -> None:
    assert tuple(reuters.SUBSETS) == CARD.subset_names == registry.dataset_card("reuters").subset_names == tuple(IDS)


@pytest.mark.parametrize("listed", ["19918", "19919"])
def test_the_story_that_lists_its_topic_twice_is_of_several_topics_in_r8_and_r52_alone(listed: str) -> None:
    files = {name: content.replace(b'NEWID="11"', f'NEWID="{listed}"'.encode()) for name, content in FILES.items()}
    for subset in IDS:
        ids = reuters.read_reuters(files, CARD.subset(subset), "").documents.ids
        assert (listed in ids) == (listed == "19919" or subset not in ("r8", "r52")), subset


def test_an_article_is_divided_by_its_tags_with_entities_decoded() -> None:
    content = (
        b'<!DOCTYPE lewis SYSTEM "lewis.dtd">\n'
        b'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="5544" NEWID="7">\n'
        b"<DATE>26-FEB-1987</DATE>\n<TOPICS><D>cocoa</D><D>tea</D><D>cocoa</D></TOPICS>\n<PLACES><D>usa</D></PLACES>\n"
        b"<UNKNOWN>\n&#5;&#22;reute</UNKNOWN>\n<TEXT>&#2;\n<TITLE>COCOA &lt;UP></TITLE>\n"
        b"<DATELINE>    SALVADOR, Feb 26 - </DATELINE><BODY>AT&amp;T &eacute; &bogus;\n&#3;</BODY></TEXT>\n</REUTERS>\n"
        b'<REUTERS TOPICS="NO" LEWISSPLIT="NOT-USED" NEWID="8">\n<TOPICS></TOPICS>\n'
        b'<TEXT TYPE="UNPROC">&lt;TITLE> is no tag</TEXT></REUTERS>\n'
    )
    assert list(read_articles(content)) == [
        Article(7, "TRAIN", "YES", ("cocoa", "tea"), "NORM", b"COCOA <UP>", b"AT&T \xe9 &bogus;\n\x03", None),
        Article(8, "NOT-USED", "NO", (), "UNPROC", None, None, b"<TITLE> is no tag"),
    ]
    assert decode_entities(b"&#255;&#256;&euro;&amp") == b"\xff&#256;&euro;&amp"
