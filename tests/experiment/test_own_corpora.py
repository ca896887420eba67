"""Experiments on one's own files: every protocol, and results that outlive the files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from benchmark.commands.counts import export_counts
from benchmark.corpora import registry
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.run import report_again, run_and_write
from tests.processes import files_of
from tests.trials.limits import mostly_slow

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.experiment.store import Store

pytestmark = pytest.mark.usefixtures("sketched")
CONFIG = """
name: mine
corpus: {name: files, path: NAME, id: id, split: side, group: university, date: day}
text: {lexer: rainbow, skip_header: true, skip_html: true, stoplist: none, min_occurrences: 2}
protocol: {name: fixed-split, train: misc, test: texas}
defaults: {classifier: {C: 1}}
methods: [ngd, mnb, {weighting: tfidf, classifier: linear-svm}]
compare: [[ngd, mnb]]
"""


@pytest.fixture(scope="module")
def table() -> bytes:
    """The generated corpus, as a person would have it."""
    corpus = registry.load_corpus("synthetic")
    documents, numbers = corpus.documents, np.arange(len(corpus.documents))
    side = np.array(documents.part_names)[documents.parts]
    frame = pd.DataFrame({"id": documents.ids, "text": [text.decode("latin-1") for text in corpus]})
    frame = frame.assign(label=np.array(documents.classes)[documents.labels], university=side, side=side)
    day = [f"2024-{1 + row % 12:02}-{1 + row % 28:02}" for row in numbers]
    return frame.assign(day=day).to_csv(index=False).encode()


def configured(folder: Path, name: str, **changes: str) -> Path:
    text = CONFIG.replace("NAME", name)
    for old, new in changes.items():
        text = re.sub(rf"(?m)^{old}: .*$", lambda _, old=old, new=new: f"{old}: {new}", text)  # type: ignore[misc]
    path = folder / f"{name.replace('.', '-')}-{abs(hash(text))}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


PROTOCOLS = [
    "{name: k-fold, k: 3, grouped: true}",
    "{name: hold-out, replicates: 2}",
    "{name: hold-out, replicates: 2, grouped: true, stratified: false}",
    "by-date",
    "{name: random-subsets, train_size: [50, 100], replicates: 2}",
    "leave-one-group-out",
]


@pytest.mark.parametrize("protocol", mostly_slow(PROTOCOLS, 3))
def test_every_protocol_runs_and_is_read_again_without_the_files(
    table: bytes, protocol: str, store: Store, tmp_path: Path
) -> None:
    data = tmp_path / "mine.csv"
    data.write_bytes(table)
    done = run_and_write(
        load_checked(configured(tmp_path, "mine.csv", protocol=protocol)), RunContext(store), folder=tmp_path / "run"
    )
    assert not done.summary.failures
    before = files_of(done.folder)
    data.unlink()
    report_again(done.folder)
    assert files_of(done.folder) == before


@pytest.mark.parametrize("subset", ["all", "several"])
def test_counts_that_were_exported_give_the_same_scores(store: Store, tmp_path: Path, subset: str) -> None:
    protocol = f"{{name: k-fold, k: 3, stratified: {str(subset == 'all').lower()}}}"
    fields = {"text": "{skip_html: true, stoplist: smart, min_documents: 2}", "protocol": protocol}
    given = configured(tmp_path, "given", corpus=f"{{name: synthetic, subset: {subset}}}", **fields)
    first = run_and_write(load_checked(given), RunContext(store), folder=tmp_path / "first")
    collection = load_checked(given).variants["base"].collection
    export_counts(read_counts(collection, RunContext(store))[0], tmp_path / "exported")
    own = configured(tmp_path, "own", corpus="{name: counts, path: exported}", **fields | {"text": "{stoplist: none}"})
    again = run_and_write(load_checked(own), RunContext(store), folder=tmp_path / "again")
    assert (first.folder / "scores.csv").read_bytes() == (again.folder / "scores.csv").read_bytes()
