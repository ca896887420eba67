"""`corpus` and `text`: which documents, and how they become counts."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.config.documents import expected_documents, several_labels
from benchmark.config.model import BASE
from benchmark.corpora import registry


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("corpus:\n  name: synthetc # HERE\n", "unknown corpus 'synthetc'; did you mean 'synthetic'? (allowed: webkb,"),
        (
            "corpus:\n  name: synthetic\n  classes:\n    - student\n    - facluty # HERE\n",
            "unknown class of synthetic: 'facluty'; did you mean 'faculty'? (allowed: course, faculty, project",
        ),
        (
            "corpus:\n  name: reuters\n  subset: body-and-single-topics # HERE\n",
            "unknown subset of reuters: 'body-and-single-topics'; did you mean 'body-and-single-topic'? (allowed: all,",
        ),
        ("corpus:\n  name: synthetic\n  subset: brief # HERE\n", "unknown subset of synthetic: 'brief' (allowed: all"),
        ("corpus:\n  name: synthetic\n  classes: [student] # HERE\n", "classes must be two or more different ones"),
        ("corpus:\n  name: synthetic\n  classes: [student, student] # HERE\n", "two or more different ones"),
        (
            "text:\n  digits: tokens # HERE\n",
            "did you mean 'token'? (allowed: drop, run-length, token, joined, literal)",
        ),
        ("text:\n  digits: token\n  stoplist: smrt # HERE\n", "'smrt'; did you mean 'smart'? (allowed: smart, none)"),
        (
            "text:\n  counted_in: texsa # HERE\n",
            "unknown group 'texsa'; did you mean 'texas'? (allowed: cornell, misc, texas, washington, wisconsin)",
        ),
    ],
)
def test_what_the_card_does_not_have_is_refused(refusal, fragment, said):
    assert said in refusal(fragment)


def test_little_needs_to_be_said(checked):
    collection = checked().variants[BASE].collection
    assert collection.classes == registry.card("synthetic").classes
    assert (collection.subset, collection.exclude) == (None, ())
    assert (collection.lexing.digits, collection.lexing.stoplist, collection.pruning.min_documents) == (
        "drop",
        "smart",
        1,
    )


def test_what_is_said_is_taken(checked):
    collection = (
        checked(
            "corpus: {name: synthetic, classes: [student, course], exclude: [a/b/c]}\n"
            "text: {digits: token, skip_html: true, min_documents: 3, counted_in: misc}\n"
        )
        .variants[BASE]
        .collection
    )
    assert (collection.classes, collection.exclude) == (("student", "course"), ("a/b/c",))
    assert (collection.lexing.digits, collection.lexing.skip_html, collection.lexing.skip_header) == (
        "token",
        True,
        False,
    )
    assert (collection.pruning.min_documents, collection.pruning.group) == (3, "misc")


def test_tasks_of_named_classes_name_those_of_the_corpus_too(checked):
    variant = checked("tasks: [[student, course], [student, faculty]]\n").variants[BASE]
    assert variant.collection.classes == ("student", "course", "faculty")


def test_documents_are_expected_as_the_card_counts_them(checked):
    collection = (
        checked("corpus: {name: webkb, classes: [student, faculty, course, project]}\n").variants[BASE].collection
    )
    documents = expected_documents(collection)
    assert len(documents) == 4199
    assert np.bincount(documents.labels).tolist() == [1641, 1124, 930, 504]
    assert not several_labels(collection)


def test_documents_with_several_classes_are_expected_without_them(checked):
    fragment = "corpus: {name: reuters, subset: without-brief, classes: [earn, acq]}\nprotocol: fixed-split\n"
    collection = checked(fragment).variants[BASE].collection
    documents = expected_documents(collection)
    assert several_labels(collection)
    assert (len(documents), documents.topics.shape, documents.topics.any()) == (11839, (11839, 2), False)
    single = checked(
        "corpus: {name: reuters, subset: body-and-single-topic, classes: [earn, acq]}\nprotocol: fixed-split\n"
    )
    assert not several_labels(single.variants[BASE].collection)
