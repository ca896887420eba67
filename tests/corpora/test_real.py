"""The true corpora, pinned by their first, tenth and last documents."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.corpora import registry

pytestmark = pytest.mark.corpus

PINS = {
    "webkb": (
        "course/cornell/http:^^cs.cornell.edu^Info^Courses^Current^CS415^CS414.html",
        "course/cornell/http:^^www.cs.cornell.edu^Info^Courses^Current^CS212^outline.html",
        "student/wisconsin/http:^^www.cs.wisc.edu^~zmudzin^zmudzin.html",
    ),
    "20ng": (
        "20news-bydate-train/alt.atheism/49960",
        "20news-bydate-train/alt.atheism/51126",
        "20news-bydate-test/talk.religion.misc/84570",
    ),
}


def load(name):
    if registry.find(name) is None:
        pytest.skip(f"the corpus {name} is not here")
    return registry.load(name)


@pytest.mark.parametrize("name", PINS)
def test_first_tenth_and_last_document(name):
    ids = load(name).documents.ids
    assert (ids[0], ids[9], ids[-1]) == PINS[name]


def test_webkb():
    corpus = load("webkb")
    documents = corpus.documents
    assert corpus.digest == "3d0c965f176ad9a4043d947c3c0bb6e7b466272a11d4b86115fc509500ded938"
    assert np.bincount(documents.labels).tolist() == [930, 182, 1124, 3764, 504, 137, 1641]
    assert documents.group_names == ("cornell", "misc", "texas", "washington", "wisconsin")
    assert np.bincount(documents.groups).tolist() == [867, 4120, 827, 1205, 1263]
    assert [name for name in documents.ids if name.endswith("\r")] == [
        "other/misc/http:^^athos.rutgers.edu^~josh^\r",
        "other/misc/http:^^swissnet.ai.mit.edu^index.html\r",
    ]
    assert next(iter(corpus)).startswith(b"MIME-Version: 1.0\r\nServer: CERN/3.0\r\n")
    top4 = registry.select(corpus, ["student", "faculty", "course", "project"])
    assert np.bincount(top4.documents.labels).tolist() == [1641, 1124, 930, 504]


def test_20ng():
    corpus = load("20ng")
    documents = corpus.documents
    assert corpus.digest == "dadc696c3f64aa6b67639c89b45daccc033839ba8bbe5237fe65eb48df797482"
    assert np.bincount(documents.groups).tolist() == [11314, 7532]
    assert np.all(np.diff(documents.groups) >= 0)
    assert documents.classes == tuple(sorted(documents.classes))
    assert np.bincount(documents.labels[documents.groups == 1])[:3].tolist() == [319, 389, 394]
    assert next(iter(corpus)).startswith(b"From: mathew <mathew@mantis.co.uk>")
    without = registry.select(corpus, exclude=["20news-bydate-test/sci.crypt/16017"])
    assert len(without.documents) == 18845
