"""What is shown of a corpus is counted, and of two runs' settings only those that say why their numbers differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from benchmark.commands.compare import _settings_table
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
    documents, sizes, totals = corpus_statistics(counts)
    own, n_words = counts.documents, counts.matrix.sum(axis=1)
    assert documents.header == ("class", *own.part_names, "total")
    part = np.array(own.part_names)[own.parts]
    pairs = pd.DataFrame([(name, part[row]) for row in range(len(own)) for name in own.classes_of(row)])
    expected = pd.crosstab(pairs[0], pairs[1])
    rows = {name: counted for name, *counted in documents.rows}
    for name in own.classes:
        assert rows[name] == [*expected.loc[name, list(own.part_names)], expected.loc[name].sum()]
    none = sum(not own.classes_of(row) for row in range(len(own)))
    extra = {"(no class)": none, "(all documents)": len(own)} if several else {}
    assert {name: counted[-1] for name, counted in rows.items() if name not in own.classes} == extra
    described = pd.Series(n_words).describe()[["min", "25%", "50%", "75%", "max"]].round().astype(int).tolist()
    assert list(sizes.rows[0]) == ["words per document", *described]
    found = dict(totals.rows)
    assert (found["documents"], found["words"], found["vocabulary"]) == (
        len(own),
        n_words.sum(),
        len(counts.vocabulary),
    )
    block_of = (np.arange(len(counts.vocabulary)) % 3 == 0).astype(np.int32)
    of_blocks = dict(corpus_statistics(replace(counts, blocks=("title", "body"), block_of=block_of))[2].rows)
    assert [of_blocks[f"vocabulary of {name}"] for name in ("title", "body")] == np.bincount(block_of).tolist()


def test_settings_that_differ_are_shortened_and_no_numbers_of_the_runs() -> None:
    near = {"base": {"near_duplicates": [{"near": 7, "split": "fold-1"}]}}
    one = {"a": "x" * 60, "b": "y" * 61, "c": None, "d": 1, "cells": {"mnb": 1}, "variants": near}
    two = {"a": "z", "b": "z", "c": 2, "d": 1, "cells": {"eef": 1}}
    settings = [("a", "x" * 60, "z"), ("b", "y" * 59 + "…", "z"), ("c", "absent", "2")]
    table = _settings_table(one, two, ("then", "now"))
    assert (table.header, list(table.rows)) == (("setting", "then", "now"), settings)
