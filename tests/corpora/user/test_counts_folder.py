"""A folder of counts: documents, terms and blocks as its files say, in an order of their own, and of one version."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.user.counts_folder import CountsFolder
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "vocabulary.txt": "sea\nink\nrum\n",
    "blocks.txt": "title\nbody\ntitle\n",
    "counts.svmlight": "10 1:2 2:1\n9 1:0 3:1 # none\n10 2:4\n",
    "documents.csv": "label,id,group\nbig one,d1,train\nsmall,d2,test\nbig one,d3,train\n",
}


def written(folder: Path, *left_out: str, **changes: str) -> CountsFolder:
    """The folder of these files, some of them with another content; keys have no ending."""
    folder.mkdir(exist_ok=True)
    for name, content in FILES.items():
        (folder / name).unlink(missing_ok=True)
        if name not in left_out:
            (folder / name).write_text(changes.get(name.partition(".")[0], content))
    return CountsFolder(".", base=folder)


def test_documents_and_terms_are_those_of_the_files(tmp_path: Path) -> None:
    """Classes are in the order of their numbers, blocks in that of their first terms, and terms sorted in a block."""
    corpus = written(tmp_path).load(CorpusSource(None))
    documents = corpus.documents
    assert (corpus.vocabulary, corpus.blocks) == (("rum", "sea", "ink"), ("title", "body"))
    assert corpus.block_of.tolist() == [0, 0, 1]
    assert corpus.matrix.toarray().tolist() == [[0, 2, 1], [1, 0, 0], [0, 0, 4]]
    assert (corpus.matrix.nnz, corpus.matrix.dtype) == (4, np.int32)
    assert (documents.ids, documents.classes) == (("d1", "d2", "d3"), ("small", "big one"))
    assert documents.labels.tolist() == [1, 0, 1]
    assert (documents.part_names, documents.parts.tolist()) == (("test", "train"), [1, 0, 1])
    assert list(corpus) == [b"sea sea ink", b"rum", b"ink ink ink ink"]
    some = corpus.take(np.array([2, 0]))
    assert (some.documents.ids, some.matrix.toarray().tolist()) == (("d3", "d1"), [[0, 0, 4], [0, 2, 1]])
    assert written(tmp_path).fields == ("title", "body")


def test_classes_of_a_document_are_separated_by_spaces(tmp_path: Path) -> None:
    reader = written(tmp_path, counts="1,2 1:1\n 2:1\n2 3:1\n", documents="id,label\na,x y\nb,\nc,y\n")
    documents = reader.outline()
    assert reader.multilabel
    assert documents.classes == ("x", "y")
    assert documents.topics is not None
    assert documents.topics.tolist() == [[True, True], [False, False], [False, True]]


@pytest.mark.parametrize("name", ["vocabulary.txt", "counts.svmlight"])
def test_a_file_that_is_needed_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=rf"{name}: can't be read: No such file"):
        written(tmp_path, name).outline()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"counts": "10 1:-1\n9 1:1\n10 1:1\n"}, "counts must be whole numbers, and not negative"),
        ({"counts": "10 1:1.5\n9 1:1\n10 1:1\n"}, "counts must be whole numbers"),
        ({"counts": "10 0:1\n9 1:1\n10 1:1\n"}, "is not svmlight with 3 terms"),
        ({"blocks": "title\nbody\n"}, "blocks.txt: must have 3 lines, one per term"),
        ({"documents": "id,label\na,x\nb,y\n"}, "counts.svmlight has 3 documents, and documents.csv 2"),
        ({"documents": "id,label\na,x\nb,y\nc,y\n"}, "must match one to one"),
        ({"documents": "id,label\na,x\na,y\nc,x\n"}, "documents.csv: two documents have the same id"),
        ({"documents": "id,labels\na,x\nb,y\nc,x\n"}, "documents.csv: has no column 'label'; did you mean 'labels'"),
        ({"documents": "id,label\na,x\nb\nc,x\n"}, "documents.csv:3: has 1 column, and the header has 2"),
        ({"vocabulary": "sea\nink\nsea\n"}, "must have one term per line, each of them once"),
        ({"counts": "x 1:1\n9 1:1\n10 1:1\n"}, "is not svmlight with 3 terms"),
        ({"counts": "", "documents": "id,label\n"}, "counts.svmlight has 0 documents"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, changes: dict[str, str], said: str) -> None:
    with pytest.raises(DataError, match=said):
        written(tmp_path, **changes).outline()


def test_every_file_decides_the_content(tmp_path: Path) -> None:
    changed = [
        {},
        {"vocabulary": "sea\nink\ngin\n"},
        {"blocks": "title\nbody\nbody\n"},
        {"counts": "10 1:2 2:1\n9 3:1\n10 2:5\n"},
        {"documents": FILES["documents.csv"].replace("d3", "d4")},
    ]
    contents = [written(tmp_path, **each).content(CorpusSource(None))["digest"] for each in changed]
    assert len(set(contents)) == len(changed)
