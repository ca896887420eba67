from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmark.corpora import newsgroups, webkb
from benchmark.corpora.assemble import check_document_counts, select_documents
from benchmark.system.errors import ConfigError, DataError
from tests.corpora.small import small_card, small_files

READ = {"webkb": webkb.read_webkb, "20ng": newsgroups.read_newsgroups}


@pytest.fixture
def corpus(files, card):
    return webkb.read_webkb(files, card, card.digest)


@pytest.mark.parametrize("name", ["webkb", "20ng"])
def test_documents_keep_their_bytes_and_names(name):
    files, card = small_files(name), small_card(name)
    corpus = READ[name](files, card, card.digest)
    assert {i.encode("latin-1"): text for i, text in zip(corpus.documents.ids, corpus, strict=True)} == files
    assert (corpus.dataset, corpus.digest, corpus.bounds[0]) == (name, card.digest, 0)
    check_document_counts(corpus, card)


def test_webkb_is_ordered_bytewise_with_the_university_as_group(corpus):
    documents = corpus.documents
    assert list(documents.ids) == sorted(documents.ids)
    assert documents.labels.tolist() == [0, 0, 1, 1, 1]
    assert documents.parts.tolist() == [0, 1, 0, 0, 1]
    assert documents.classes == ("course", "faculty")
    assert documents.part_names == ("cornell", "misc")


def test_newsgroups_have_training_posts_first():
    corpus = newsgroups.read_newsgroups(small_files("20ng"), small_card("20ng"), "")
    assert corpus.documents.ids[0] == "20news-bydate-train/alt.atheism/49960"
    assert corpus.documents.ids[-1] == "20news-bydate-test/sci.med/59284"
    assert corpus.documents.parts.tolist() == [0, 0, 0, 1, 1]
    assert corpus.documents.labels.tolist() == [0, 0, 1, 0, 1]
    assert corpus.documents.part_names == ("train", "test")
    assert corpus.documents.dated_by_class
    assert corpus.documents.dates.tolist() == [49960, 51060, 57110, 53068, 59284]


def test_posts_of_an_author_are_a_group_by_the_address_whatever_else_the_line_says():
    """Where a line has no address, it is the author; posts without such a line have one author."""
    heads = [
        b"From: ann@sea.org (Ann)\n",
        b"Subject: x\nFROM: Ann <ANN@Sea.org>\n",
        b"From:  Ann Other \n",
        b"from: ann other\nFrom: late@sea.org\n",
        b"Subject: From: ann@sea.org\n",
    ]
    files = {name: head + b"\nbody\n" for name, head in zip(small_files("20ng"), heads, strict=True)}
    documents = newsgroups.read_newsgroups(files, small_card("20ng"), "").documents
    authors = dict(zip(documents.ids, documents.groups.tolist(), strict=True))
    one, same, plain, again, none = (authors[name.decode()] for name in files)
    assert one == same
    assert plain == again
    assert len({one, plain, none}) == 3


def test_a_post_without_a_number_is_refused():
    for name in ("readme", "1a", "-1", "1.5", "", "9" * 19, "deep/1"):
        path = f"20news-bydate-test/sci.med/{name}".encode()
        with pytest.raises(DataError, match=rf"sci.med/{name}' lies where the corpus has no documents\. Get a fresh"):
            newsgroups.read_newsgroups({**small_files("20ng"), path: b""}, small_card("20ng"), "")
    for path in (b"20news-bydate-dev/sci.med/1", b"20news-bydate-test/sci.space/1", b"20news-bydate-test/1"):
        with pytest.raises(DataError, match=f"^Small 20ng: '{path.decode()}' lies where the corpus has no documents"):
            newsgroups.read_newsgroups({**small_files("20ng"), path: b""}, small_card("20ng"), "")
    number = b"20news-bydate-test/sci.med/" + b"9" * 18
    documents = newsgroups.read_newsgroups({**small_files("20ng"), number: b""}, small_card("20ng"), "").documents
    assert documents.dates.max() == int("9" * 18)


@pytest.mark.parametrize("stray", [b"course/readme", b"course/harvard/x", b"course/misc/deep/x"])
def test_a_stray_file_is_refused(files, card, stray):
    with pytest.raises(DataError, match=stray.decode()):
        webkb.read_webkb({**files, stray: b""}, card, "")


def test_the_gate_shows_expected_and_found(files, card):
    del files[b"course/misc/http:^^y^\r"]
    with pytest.raises(DataError, match="course, misc: expected 1, found 0") as caught:
        check_document_counts(webkb.read_webkb(files, card, ""), card)
    assert "faculty" not in str(caught.value)


def test_the_gate_refuses_a_document_too_many(files, card):
    files[b"course/misc/http:^^z^"] = b""
    with pytest.raises(DataError, match="course, misc: expected 1, found 2"):
        check_document_counts(webkb.read_webkb(files, card, ""), card)


def test_the_gate_refuses_other_classes(corpus, card):
    with pytest.raises(DataError, match="classes"):
        check_document_counts(select_documents(corpus, ["faculty"]), card)


def test_the_gate_refuses_other_groups_or_another_order_of_them(corpus, card):
    for documents in (
        replace(corpus.documents, part_names=("cornell", "texas")),
        replace(corpus.documents, part_names=("misc", "cornell"), parts=1 - corpus.documents.parts),
        replace(corpus.documents, classes=("faculty", "course"), labels=1 - corpus.documents.labels),
    ):
        with pytest.raises(DataError, match=r"^Small webkb: the classes or groups are not those of the card\.$"):
            check_document_counts(replace(corpus, documents=documents), card)


@pytest.mark.parametrize("several", [False, True])
def test_the_gate_lists_every_number_that_differs_and_no_other(corpus, card, *, several):
    counts = {"course": {"cornell": 1, "misc": 2}, "faculty": {"cornell": 1234, "misc": 1}}
    wrong = card.model_copy(update={"counts": counts})
    documents, more = corpus.documents, ""
    with pytest.raises(DataError, match="the card and the corpus disagree on whether a document has exactly one class"):
        check_document_counts(corpus, card.model_copy(update={"documents": {"cornell": 3, "misc": 2}}))
    if several:  # a document of both classes counts twice, and once among the documents
        topics = np.eye(2, dtype=bool)[documents.labels]
        topics[0] = True
        documents = replace(documents, labels=np.full(5, -1), topics=topics)
        wrong = wrong.model_copy(update={"documents": {"cornell": 3, "misc": 3}})
        more = "\n  documents, misc: expected 3, found 2"
        with pytest.raises(DataError, match="the card and the corpus disagree"):
            check_document_counts(replace(corpus, documents=documents), card)
    with pytest.raises(DataError) as caught:
        check_document_counts(replace(corpus, documents=documents), wrong)
    assert str(caught.value) == (
        "Small webkb: the numbers of documents differ from the card's."
        "\n  course, misc: expected 2, found 1"
        f"\n  faculty, cornell: expected 1,234, found {3 if several else 2}{more}"
    )
    kept = wrong.model_copy(update={"kept": "few"})
    with pytest.raises(DataError, match=r"^Small webkb, few: the numbers of documents differ from the card's\."):
        check_document_counts(replace(corpus, documents=documents), kept)


# --- select


def test_select_without_wishes_changes_nothing(corpus):
    same = select_documents(corpus)
    assert list(same) == list(corpus)
    assert same.documents.ids == corpus.documents.ids
    assert np.array_equal(same.documents.labels, corpus.documents.labels)
    assert same.text is corpus.text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the fixture is never changed
@given(order=st.permutations(["course", "faculty"]), kept=st.integers(1, 2), dropped=st.sets(st.integers(0, 4)))
def test_select_recodes_classes_and_keeps_the_order_of_documents(corpus, order, kept, dropped):
    old, classes = corpus.documents, order[:kept]
    new = select_documents(corpus, classes, {old.ids[row] for row in dropped})
    class_of = {name: old.classes[label] for name, label in zip(old.ids, old.labels, strict=True)}
    text_of = dict(zip(old.ids, corpus, strict=True))
    expected = [name for row, name in enumerate(old.ids) if class_of[name] in classes and row not in dropped]
    assert list(new.documents.ids) == expected
    assert new.documents.classes == tuple(classes)
    assert [classes[label] for label in new.documents.labels] == [class_of[name] for name in expected]
    assert list(new) == [text_of[name] for name in expected]
    assert new.digest == corpus.digest
    assert new.documents.labels.dtype == new.documents.parts.dtype == np.int32


def test_what_there_is_none_of_is_refused_with_the_nearest_and_with_what_there_is(corpus):
    for how, said in (
        ({"classes": ["facluty"]}, "no class 'facluty'. Did you mean 'faculty'? Allowed: course, faculty."),
        ({"classes": ["fac"]}, "no class 'fac'. Did you mean 'faculty'? Allowed: course, faculty."),
        ({"classes": ["zzz"]}, "no class 'zzz'. Allowed: course, faculty."),
        (
            {"exclude": ["faculty/misc/zz"]},
            "no document 'faculty/misc/zz'. Did you mean 'faculty/misc/z'? Documents are named like 'course/corn…'.",
        ),
        ({"exclude": ["0"]}, "no document '0'. Documents are named like 'course/corn…'."),
    ):
        with pytest.raises(ConfigError) as caught:
            select_documents(corpus, **how)
        assert str(caught.value).replace("cornell/http:^^x^", "corn…") == f"The corpus has {said}"


def test_select_names_the_nearest_class(corpus):
    with pytest.raises(ConfigError, match=r"'faculty'.*course, faculty") as caught:
        select_documents(corpus, ["facluty"])
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("classes", [[], ["course", "course"]])
def test_select_refuses_no_class_and_a_class_twice(corpus, classes):
    with pytest.raises(ConfigError, match="each named once"):
        select_documents(corpus, classes)


def test_select_names_the_nearest_document(corpus):
    with pytest.raises(ConfigError, match="faculty/misc/z"):
        select_documents(corpus, exclude=["faculty/misc/zz"])
