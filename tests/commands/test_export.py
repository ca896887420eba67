"""What is exported is what the kernels see, and other tools read it so."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_svmlight_file

from benchmark.commands.counts import export_counts
from benchmark.config.model import BASE_VARIANT
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.store import Store
from tests.builders import small_experiment

ODD = ["course/http:^^y^\r", "a,b", 'say "this"', "caf\xe9", "two\nlines"]


@pytest.fixture
def counts(tmp_path):
    text = {"skip_header": True, "skip_html": True, "stoplist": "smart", "min_documents": 100}
    found, _, _ = read_counts(
        small_experiment(text=text).variants[BASE_VARIANT].collection, RunContext(Store(tmp_path / "store"))
    )
    documents = replace(found.documents, ids=(*ODD, *found.documents.ids[len(ODD) :]))
    return replace(found, documents=documents)


@pytest.fixture
def folder(counts, tmp_path):
    paths = export_counts(counts, tmp_path / "new" / "exported")
    assert [path.name for path in paths] == ["counts.svmlight", "vocabulary.txt", "documents.csv"]
    assert {path.name for path in paths} == {path.name for path in (tmp_path / "new" / "exported").iterdir()}
    return tmp_path / "new" / "exported"


def test_counts_and_labels_are_read_back_by_scikit_learn(counts, folder):
    n_terms = len(counts.vocabulary)
    assert (counts.matrix.toarray().sum(axis=1) == 0).any(), "a document without words must keep its line"
    matrix, labels = load_svmlight_file(str(folder / "counts.svmlight"), n_features=n_terms, zero_based=False)
    np.testing.assert_array_equal(matrix.toarray(), counts.matrix.toarray())
    np.testing.assert_array_equal(labels, counts.documents.labels + 1)


def test_documents_have_a_row_a_row_whoever_reads_them(counts, folder):
    documents = counts.documents
    expected = [
        [name, documents.classes[label], documents.part_names[group]]
        for name, label, group in zip(documents.ids, documents.labels, documents.parts, strict=True)
    ]
    with (folder / "documents.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["id", "label", "group"], *expected]
    assert pd.read_csv(folder / "documents.csv", dtype=str, keep_default_na=False).to_numpy().tolist() == expected


def test_blocks_of_counts_that_were_there_before_are_gone(counts, tmp_path):
    block_of = np.arange(len(counts.vocabulary), dtype=np.int32) // 50
    export_counts(replace(counts, blocks=("all", "all-2", "all-3"), block_of=block_of), tmp_path)
    assert len((tmp_path / "blocks.txt").read_text().splitlines()) == len(counts.vocabulary)
    export_counts(counts, tmp_path)
    assert not (tmp_path / "blocks.txt").exists()


def with_topics(counts, topics):
    labels = np.full(len(topics), -1, dtype=np.int32)
    return replace(counts, documents=replace(counts.documents, labels=labels, topics=topics))


@pytest.fixture
def multi_label(counts):
    """The same documents with any number of classes: without words at least one, with words perhaps none."""
    topics = np.random.default_rng(21578).random((600, len(counts.documents.classes))) < 0.3
    wordless = np.diff(counts.matrix.indptr) == 0
    topics[wordless, 0] = True
    assert set(topics[~wordless].sum(axis=1)) >= {0, 1, 2, 3}
    return with_topics(counts, topics)


def read_back(counts, folder):
    file, n_terms = str(folder / "counts.svmlight"), len(counts.vocabulary)
    return load_svmlight_file(file, n_features=n_terms, zero_based=False, multilabel=True)


def test_documents_with_several_classes_have_them_all(multi_label, tmp_path):
    documents = multi_label.documents
    export_counts(multi_label, tmp_path)
    matrix, labels = read_back(multi_label, tmp_path)
    np.testing.assert_array_equal(matrix.toarray(), multi_label.matrix.toarray())
    assert [set(row) for row in labels] == [set(np.flatnonzero(row) + 1) for row in documents.topics]
    names = np.array(documents.classes)
    expected = [
        [name, " ".join(names[row]), documents.part_names[group]]
        for name, row, group in zip(documents.ids, documents.topics, documents.parts, strict=True)
    ]
    with (tmp_path / "documents.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file))[1:] == expected


def test_a_document_with_neither_class_nor_word_keeps_its_line(counts, tmp_path):
    bare = with_topics(counts, np.zeros((600, len(counts.documents.classes)), dtype=bool))
    export_counts(bare, tmp_path)
    lines = (tmp_path / "counts.svmlight").read_text().splitlines()
    assert [line.strip() == "1:0" for line in lines] == (np.diff(counts.matrix.indptr) == 0).tolist()
