"""What is shown of a corpus is counted, and of two runs' settings only those that say why their numbers differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.commands.compare import (
    _settings_table,
)
from benchmark.commands.counts import corpus_statistics
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.store import Store
from tests.builders import small_experiment

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.usefixtures("sketched")
SEVERAL = {
    "corpus": {"name": "synthetic", "subset": "several"},
    "protocol": {"name": "k-fold", "k": 2, "stratified": False},
    "metrics": ["micro-f1"],
    "methods": ["mnb"],
}


@pytest.mark.parametrize("several", [False, True])
def test_statistics_of_a_corpus_are_counted_document_by_document(tmp_path: Path, *, several: bool) -> None:
    experiment = small_experiment(**(SEVERAL if several else {}))
    counts, *_ = read_counts(experiment.variants["base"].collection, RunContext(Store(tmp_path)))
    matrix = counts.matrix.toarray()
    matrix[3] = 0
    counts = replace(counts, matrix=type(counts.matrix)(matrix))
    documents, sizes, totals = corpus_statistics(counts)
    own = counts.documents
    assert documents.header == ("class", *own.part_names, "total")
    rows = {name: [0] * len(own.part_names) for name in own.classes}
    extra = {"(no class)": [0] * len(own.part_names), "(all documents)": [0] * len(own.part_names)}
    for row, part in enumerate(own.parts):
        classes = [own.labels[row]] if own.topics is None else np.flatnonzero(own.topics[row])
        for code in classes:
            rows[own.classes[code]][part] += 1
        extra["(no class)"][part] += not len(classes)
        extra["(all documents)"][part] += 1
    rows |= extra if several else {}
    assert list(documents.rows) == [(name, *each, sum(each)) for name, each in rows.items()]
    lengths, distinct = sorted(matrix.sum(axis=1)), sorted((matrix > 0).sum(axis=1))
    names = ("words per document", "distinct words per document")
    assert [row[0] for row in sizes.rows] == list(names)
    for (_, least, lower, median, upper, most), values in zip(sizes.rows, (lengths, distinct), strict=True):
        assert (least, most) == (values[0], values[-1])
        quartiles = [round(np.quantile(values, share)) for share in (0.25, 0.5, 0.75)]
        assert [lower, median, upper] == quartiles
    assert list(totals.rows) == [
        *(("documents", len(matrix)), ("documents without words", int((matrix.sum(axis=1) == 0).sum()))),
        *(("vocabulary", matrix.shape[1]), ("words", int(matrix.sum()))),
    ]
    block_of = (np.arange(matrix.shape[1]) % 3 == 0).astype(np.int32)
    of_blocks = corpus_statistics(replace(counts, blocks=("title", "body"), block_of=block_of))[2].rows
    assert list(of_blocks) == [
        *totals.rows,
        ("vocabulary of title", int((block_of == 0).sum())),
        ("vocabulary of body", int(block_of.sum())),
    ]


def test_settings_that_differ_are_shortened_and_no_numbers_of_the_runs() -> None:
    near = {"base": {"near_duplicates": [{"near": 7, "split": "fold-1"}]}}
    one = {"a": "x" * 60, "b": "y" * 61, "c": None, "d": 1, "cells": {"mnb": 1}, "variants": near}
    two = {"a": "z", "b": "z", "c": 2, "d": 1, "cells": {"eef": 1}}
    settings = [("a", "x" * 60, "z"), ("b", "y" * 59 + "…", "z"), ("c", "absent", "2")]
    table = _settings_table(one, two, ("then", "now"))
    assert (table.header, list(table.rows)) == (("setting", "then", "now"), settings)
