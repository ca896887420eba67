from __future__ import annotations

import re

import numpy as np
import pytest

from benchmark.corpora import registry, synthetic
from benchmark.corpora.archive import content_digest


@pytest.fixture(scope="module")
def corpus():
    return registry.load_corpus("synthetic")


@pytest.fixture(scope="module")
def multilabel():
    return registry.load_corpus("synthetic", subset="several")


def words_of(page: str) -> list[str]:
    body = re.split(r"\r?\n\r?\n", page, maxsplit=1)[1]
    return re.findall("[a-z]{2,}", re.sub(r"<[^>]*>|&#?\w+;", " ", body).lower())


def test_same_seed_same_bytes_other_seed_others():
    assert synthetic.generate_synthetic(seed=3, size=50) == synthetic.generate_synthetic(seed=3, size=50)
    assert content_digest(synthetic.generate_synthetic(seed=3, size=50)) != content_digest(
        synthetic.generate_synthetic(seed=4, size=50)
    )


class TestSeveral:
    def test_documents_are_of_two_pages_and_have_their_classes(self, multilabel, corpus):
        documents, pages = multilabel.documents, dict(zip(corpus.documents.ids, corpus, strict=True))
        names = [name.split(" ") for name in documents.ids]
        assert sorted(name for own in names for name in own) == sorted(pages), "each page once"
        assert sorted(map(len, names)) == [1] * 2 + [2] * 299
        for own, text, group, topics in zip(names, multilabel, documents.parts, documents.topics, strict=True):
            of = {name.split("/")[0] for name in own}
            assert {name.split("/")[1] for name in own} == {documents.part_names[group]}
            assert [label in of for label in documents.classes] == topics.tolist()
            assert words_of(text.decode("latin-1")) == [
                word for name in own for word in words_of(pages[name].decode("latin-1"))
            ]

    def test_they_have_no_class_one_or_two(self, multilabel):
        assert np.bincount(multilabel.documents.topics.sum(axis=1)).tolist() == [11, 156, 134]
        assert set(multilabel.documents.labels) == {-1}

    def test_their_order_is_not_that_of_the_files(self):
        files, card = synthetic.generate_synthetic(size=60), registry.dataset_card("synthetic", "several")
        one, other = (
            synthetic.read_synthetic(dict(sorted(files.items(), reverse=turned)), card, "0" * 64)
            for turned in (False, True)
        )
        assert one.documents.ids == other.documents.ids
        assert list(one) == list(other)
