"""Experiments on one's own files: every format the same numbers, every protocol, and results that outlive the files."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from benchmark.commands.counts import export_counts
from benchmark.corpora import registry
from benchmark.corpora.user.counts_folder import CountsFolder
from benchmark.experiment.configuration import load_checked, write_card
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.run import report_again, run_and_write
from benchmark.system.errors import ConfigError, DataError
from benchmark.text.stoplist import stop_words
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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generated corpus, as a person would have it."""
    folder = tmp_path_factory.mktemp("mine")
    corpus = registry.load_corpus("synthetic")
    documents = corpus.documents
    rows = [
        {
            "id": name,
            "text": text.decode("latin-1"),
            "label": documents.classes[label],
            "university": documents.part_names[group],
            "side": documents.part_names[group],
            "day": f"2024-{1 + row % 12:02}-{1 + row % 28:02}",
        }
        for row, (name, text, label, group) in enumerate(
            zip(documents.ids, corpus, documents.labels, documents.parts, strict=True)
        )
    ]
    with (folder / "mine.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    pd.DataFrame(rows).to_parquet(folder / "mine.parquet")
    return folder


def configured(folder: Path, name: str, **changes: str) -> Path:
    text = CONFIG.replace("NAME", name)
    for old, new in changes.items():
        line = next(each for each in text.splitlines() if each.startswith(f"{old}:"))
        text = text.replace(line, f"{old}: {new}")
    path = folder / f"{name.replace('.', '-')}-{abs(hash(text))}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_format_gives_the_same_scores(folder: Path, store: Store, tmp_path: Path) -> None:
    one, *others = (
        run_and_write(load_checked(configured(folder, each)), RunContext(store), folder=tmp_path / each)
        for each in ("mine.csv", "mine.jsonl", "mine.parquet")
    )
    for other in others:
        assert (one.folder / "scores.csv").read_bytes() == (other.folder / "scores.csv").read_bytes()


def test_the_counts_are_those_of_the_corpus_that_the_files_were_made_of(folder: Path, store: Store) -> None:
    own = load_checked(configured(folder, "mine.csv")).variants["base"].collection
    counts, _, _ = read_counts(own, RunContext(store))
    given = configured(folder, "given", corpus="{name: synthetic}", protocol="leave-one-group-out")
    expected, _, _ = read_counts(load_checked(given).variants["base"].collection, RunContext(store))
    order = [counts.documents.ids.index(name) for name in expected.documents.ids]
    assert counts.vocabulary == expected.vocabulary
    assert (counts.matrix[order] != expected.matrix).nnz == 0


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
    folder: Path, protocol: str, store: Store, tmp_path: Path
) -> None:
    data = tmp_path / "mine.csv"
    data.write_bytes((folder / "mine.csv").read_bytes())
    done = run_and_write(
        load_checked(configured(tmp_path, "mine.csv", protocol=protocol)), RunContext(store), folder=tmp_path / "run"
    )
    assert not done.summary.failures
    before = files_of(done.folder)
    data.unlink()
    report_again(done.folder)
    assert files_of(done.folder) == before


def test_a_run_is_refused_once_the_corpus_has_changed_from_its_card(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "mine.csv"
    data.write_bytes((folder / "mine.csv").read_bytes())
    config = configured(tmp_path, "mine.csv")
    card = write_card(config)
    assert card.parent == tmp_path / "cards"
    load_checked(config)
    data.write_bytes(data.read_bytes().replace(b",student,", b",faculty,", 1))
    with pytest.raises(DataError, match="documents on the card"):
        load_checked(config)
    write_card(config)
    load_checked(config)


@pytest.mark.parametrize("subset", ["all", "several"])
def test_counts_that_were_exported_give_the_same_scores(store: Store, tmp_path: Path, subset: str) -> None:
    how = "stratified: false, " if subset == "several" else ""
    fields = {
        "text": "{skip_html: true, stoplist: smart, min_documents: 2}",
        "protocol": f"{{name: k-fold, {how}k: 3}}",
    }
    given = configured(tmp_path, "given", corpus=f"{{name: synthetic, subset: {subset}}}", **fields)
    first = run_and_write(load_checked(given), RunContext(store), folder=tmp_path / "first")
    collection = load_checked(given).variants["base"].collection
    export_counts(read_counts(collection, RunContext(store))[0], tmp_path / "exported")
    own = configured(tmp_path, "own", corpus="{name: counts, path: exported}", **fields | {"text": "{stoplist: none}"})
    again = run_and_write(load_checked(own), RunContext(store), folder=tmp_path / "again")
    assert (first.folder / "scores.csv").read_bytes() == (again.folder / "scores.csv").read_bytes()
    pruned = configured(
        tmp_path,
        "own",
        corpus="{name: counts, path: exported}",
        text="{min_occurrences: 5}",
        protocol=fields["protocol"],
    )
    counts, _, _ = read_counts(load_checked(pruned).variants["base"].collection, RunContext(store))
    assert counts.matrix.sum(axis=0).min() >= 5


def test_counts_of_classes_whose_names_have_spaces_are_read_back(store: Store, tmp_path: Path) -> None:
    rows = [
        (f"{word} {word} {n}", name) for n in range(6) for word, name in (("card", "credit card, lost"), ("a b", "x"))
    ]
    pd.DataFrame(rows, columns=["text", "label"]).to_csv(tmp_path / "mine.csv", index=False)
    fields = {"corpus": "{name: files, path: mine.csv}", "protocol": "{name: k-fold, k: 2}"}
    given = configured(tmp_path, "mine.csv", text="{stoplist: none}", **fields)
    counts, _, _ = read_counts(load_checked(given).variants["base"].collection, RunContext(store))
    export_counts(counts, tmp_path / "exported")
    again = CountsFolder("exported", base=tmp_path)
    assert not again.multilabel
    assert again.outline().classes == ("credit card, lost", "x")
    np.testing.assert_array_equal(again.outline().labels, counts.documents.labels)
    wordless = configured(tmp_path, "mine.csv", text="{min_occurrences: 1000}", **fields)
    counts, _, _ = read_counts(load_checked(wordless).variants["base"].collection, RunContext(store))
    with pytest.raises(ConfigError, match="no term to export"):
        export_counts(counts, tmp_path / "nothing")


def test_counts_of_documents_with_one_class_or_none_are_read(tmp_path: Path) -> None:
    (tmp_path / "vocabulary.txt").write_text("a\nb\n")
    (tmp_path / "counts.svmlight").write_text("1 1:2\n 2:1\n2 1:1\n")
    topics = CountsFolder(".", base=tmp_path).outline().topics
    np.testing.assert_array_equal(topics, [[True, False], [False, False], [False, True]])


def test_counts_have_a_card_too(tmp_path: Path) -> None:
    (tmp_path / "vocabulary.txt").write_text("a\nb\n")
    (tmp_path / "counts.svmlight").write_text("1 1:2\n2 2:1\n1 1:2\n2 2:1\n")
    config = configured(tmp_path, "own", corpus="{name: counts, path: .}", protocol="{name: k-fold, k: 2}")
    card = write_card(config)
    load_checked(config)
    (tmp_path / "counts.svmlight").write_text("1 1:2\n2 2:1\n1 1:2\n2 2:2\n")
    with pytest.raises(DataError, match="but other content"):
        load_checked(config)
    assert card.exists()


def test_counts_of_several_blocks_come_back_in_their_blocks(store: Store, tmp_path: Path) -> None:
    fields = {"protocol": "{name: k-fold, k: 3}", "text": "{stoplist: none, min_documents: 9, ngrams: [1, 2]}"}
    given = configured(tmp_path, "given", corpus="{name: synthetic}", **fields)
    first = read_counts(load_checked(given).variants["base"].collection, RunContext(store))[0]
    names = [path.name for path in export_counts(first, tmp_path / "exported")]
    assert names == ["counts.svmlight", "vocabulary.txt", "documents.csv", "blocks.txt"]

    own = configured(tmp_path, "own", corpus="{name: counts, path: exported}", **fields)
    again = read_counts(load_checked(own).variants["base"].collection, RunContext(store))[0]
    assert (again.vocabulary, again.blocks) == (first.vocabulary, first.blocks)
    assert again.block_of.tolist() == first.block_of.tolist()
    assert (again.matrix != first.matrix).nnz == 0

    smart = configured(
        tmp_path, "own", corpus="{name: counts, path: exported}", **fields | {"text": "{ngrams: [1, 2]}"}
    )
    left = read_counts(load_checked(smart).variants["base"].collection, RunContext(store))[0]
    assert set(first.vocabulary) - set(left.vocabulary) == stop_words("smart") & set(first.vocabulary)
    assert any(word in stop_words("smart") for pair in left.vocabulary if " " in pair for word in pair.split())

    words = configured(tmp_path, "own", corpus="{name: counts, path: exported}", **fields | {"text": "{}"})
    with pytest.raises(ConfigError, match="the counts are of all, all-2, and the configuration asks for all;"):
        read_counts(load_checked(words).variants["base"].collection, RunContext(store))
    (tmp_path / "exported" / "blocks.txt").write_text("all\n")
    with pytest.raises(DataError, match="has 1 lines, but"):
        CountsFolder("exported", base=tmp_path).outline()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("vocabulary.txt", "a\na\n", "each of them once"),
        ("counts.svmlight", "1 9:1\n", "is not svmlight with 2 terms"),
        ("counts.svmlight", "1 1:0.5\n2 1:1\n", "whole number"),
        ("counts.svmlight", "x 1:1\n", "is not svmlight"),
        ("documents.csv", "id,label\na,x\n", "has 1 documents, but"),
        ("documents.csv", "id,label\na,x\na,y\n", "the same id"),
        ("documents.csv", "id,label\na,x\nb,x\n", "must match one to one"),
        ("counts.svmlight", "1 1:2\n1 2:1\n", "must match one to one"),
        ("counts.svmlight", "1,2 1:2\n2 2:1\n", "must match one to one"),
        ("counts.svmlight", "1.5 1:2\n2 2:1\n", "the class 1.5 is not a whole number"),
        ("counts.svmlight", "nan 1:2\n2 2:1\n", "is not a whole number"),
        ("counts.svmlight", "", "counts.svmlight"),
    ],
)
def test_counts_that_do_not_fit_are_refused(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / "vocabulary.txt").write_text("a\nb\n")
    (tmp_path / "counts.svmlight").write_text("1 1:2\n2 2:1\n")
    assert CountsFolder(".", base=tmp_path).outline().classes == ("1", "2")
    if name == "counts.svmlight":
        (tmp_path / "documents.csv").write_text("id,label\na,x\nb,y\n")
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=said):
        CountsFolder(".", base=tmp_path).outline()
