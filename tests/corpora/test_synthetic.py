from __future__ import annotations

import re

import numpy as np

from benchmark.corpora import registry, synthetic
from benchmark.corpora.archive import content_digest


def words_of(page: bytes) -> list[str]:
    body = re.split(r"\r?\n\r?\n", page.decode("latin-1"), maxsplit=1)[1]
    return re.findall("[a-z]{2,}", re.sub(r"<[^>]*>|&#?\w+;", " ", body).lower())


def test_another_seed_has_other_bytes():
    one, same, other = (content_digest(synthetic.generate_synthetic(seed=seed, size=50)) for seed in (3, 3, 4))
    assert (one == same, one == other) == (True, False)


def test_documents_of_several_classes_are_two_pages_and_have_their_classes():
    corpus, multilabel = registry.load_corpus("synthetic"), registry.load_corpus("synthetic", subset="several")
    documents, pages = multilabel.documents, dict(zip(corpus.documents.ids, corpus, strict=True))
    names = [name.split(" ") for name in documents.ids]
    assert sorted(name for own in names for name in own) == sorted(pages), "each page once"
    assert sorted(map(len, names)) == [1] * 2 + [2] * 299
    for own, text, group, topics in zip(names, multilabel, documents.parts, documents.topics, strict=True):
        of = {name.split("/")[0] for name in own}
        assert {name.split("/")[1] for name in own} == {documents.part_names[group]}
        assert [label in of for label in documents.classes] == topics.tolist()
        assert words_of(text) == [word for name in own for word in words_of(pages[name])]
    assert np.bincount(documents.topics.sum(axis=1)).tolist() == [11, 156, 134], "none, one or two"
    assert set(documents.labels) == {-1}
