"""What is exported is what the kernels see, and other tools read it so."""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from benchmark.commands.counts import export_counts
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.store import Store
from tests.builders import small_experiment

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.text.counts import Counts

ODD = ["course/http:^^y^\r", "a,b", 'say "this"', "caf\xe9", "two\nlines"]


@pytest.fixture(scope="module", name="counts")
def fixture_counts(tmp_path_factory: pytest.TempPathFactory) -> Counts:
    """Counts of documents with odd names, of which some have no word."""
    text = {"skip_header": True, "skip_html": True, "stoplist": "smart", "min_documents": 100}
    collection = small_experiment(text=text).variants["base"].collection
    found = read_counts(collection, RunContext(Store(tmp_path_factory.mktemp("store"))))[0]
    assert (np.diff(found.matrix.indptr) == 0).any()
    return replace(found, documents=replace(found.documents, ids=(*ODD, *found.documents.ids[len(ODD) :])))


def with_topics(counts: Counts, topics: Any) -> Counts:
    labels = np.full(len(topics), -1, dtype=np.int32)
    return replace(counts, documents=replace(counts.documents, labels=labels, topics=topics))


@pytest.mark.parametrize("several", [False, True])
def test_counts_labels_and_names_are_read_back(counts: Counts, tmp_path: Path, several: bool) -> None:
    """Where documents may have several classes, those without words have at least one, others perhaps none."""
    if several:
        topics = np.random.default_rng(21578).random((600, len(counts.documents.classes))) < 0.3
        topics[np.diff(counts.matrix.indptr) == 0, 0] = True
        counts = with_topics(counts, topics)
    folder, documents = tmp_path / "new" / "exported", counts.documents
    paths = export_counts(counts, folder)
    assert [path.name for path in paths] == ["counts.svmlight", "vocabulary.txt", "documents.csv"]
    assert {*paths} == {*folder.iterdir()}
    how = {"n_features": len(counts.vocabulary), "zero_based": False, "multilabel": several}
    matrix, labels = load_svmlight_file(str(folder / "counts.svmlight"), **how)
    np.testing.assert_array_equal(matrix.toarray(), counts.matrix.toarray())
    classes = [[documents.classes.index(name) for name in documents.classes_of(row)] for row in range(600)]
    assert [{int(each) - 1 for each in np.atleast_1d(row)} for row in labels] == [*map(set, classes)]
    names = [" ".join(documents.classes[code] for code in row) for row in classes]
    parts = [documents.part_names[part] for part in documents.parts]
    with (folder / "documents.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file))[1:] == [*map(list, zip(documents.ids, names, parts, strict=True))]


def test_a_document_with_neither_class_nor_word_keeps_its_line(counts: Counts, tmp_path: Path) -> None:
    export_counts(with_topics(counts, np.zeros((600, len(counts.documents.classes)), dtype=bool)), tmp_path)
    lines = (tmp_path / "counts.svmlight").read_text().splitlines()
    assert [line.strip() == "1:0" for line in lines] == (np.diff(counts.matrix.indptr) == 0).tolist()


def test_blocks_of_counts_that_were_there_before_are_gone(counts: Counts, tmp_path: Path) -> None:
    block_of = np.arange(len(counts.vocabulary), dtype=np.int32) // 50
    export_counts(replace(counts, blocks=("all", "all-2", "all-3"), block_of=block_of), tmp_path)
    assert len((tmp_path / "blocks.txt").read_text().splitlines()) == len(counts.vocabulary)
    export_counts(counts, tmp_path)
    assert not (tmp_path / "blocks.txt").exists()
