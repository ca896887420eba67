"""What is told of a number agrees with the run's files, and with other ways to the same."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from benchmark.commands.explain import explain_cell, shorten_text
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from benchmark.system.errors import DataError
from benchmark.text.lexer import Lexing
from tests.shapes import sketch

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.experiment.run import RunResult

CONFIG = """
name: told
corpus: {name: synthetic}
text: {skip_header: true, skip_html: true, stoplist: none, min_occurrences: 2}
protocol: {name: leave-one-group-out, held_out: [cornell, texas]}
choose: {by: cross-validation, folds: 3, grid_keys: [text]}
methods:
  - {normalization: l2, kernel: linear, classifier: {C: [0.1, 10]}}
  - mnb
  - {kernel: ngd}
  - {text: {min_occurrences: [100, 50], stoplist: smart}, kernel: ngd}
  - {name: words, weighting: tfidf, classifier: linear-svm}
  - {fuse: [mnb, words], name: both}
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"), limit=10**9)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, store: Store) -> RunResult:
    folder = tmp_path_factory.mktemp("told")
    (folder / "told.yaml").write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch:
        sketch(patch)
        return run_and_write(load_checked(folder / "told.yaml"), RunContext(store), folder=folder / "run")


@pytest.mark.parametrize("cell", ["l2-linear-cv", "mnb-cv", "ngd-cv", "stoplist-smart-ngd-cv", "both-cv"])
def test_what_was_given_has_the_largest_value_and_its_words_stand_in_the_text(
    told: RunResult, store: Store, cell: str
) -> None:
    found = {part.title: part for part in explain_cell(told.folder, cell, RunContext(store), shown=2)}
    wrong = told.summary.confusions.query("cell == @cell and truth != predicted and n > 0")
    ranked = wrong.sort_values(["n", "truth", "predicted"], ascending=[False, True, True])
    assert list(found["Confusions"].rows) == [
        *ranked[["truth", "predicted", "n"]][:10].itertuples(index=False, name=None)
    ]
    for title, part in list(found.items())[-2:]:
        rows = dict(part.rows)
        assert "wrong" in title
        predicted, tie, _ = rows["predicted"].partition(", after a tie")
        assert tie or rows["decision values"].split()[0] == predicted
        assert rows["true"] in rows["decision values"]
        if cell != "both-cv":  # a sum of methods has no words
            words = rows[f"words for {predicted}"].split(", ")
            assert all(word in rows["text"].lower() for word in words[:2])


def test_own_files_are_found_again_and_refused_once_they_have_changed(tmp_path: Path, store: Store) -> None:
    rows = [{"text": f"{word} number {n}", "label": word} for n in range(20) for word in ("alpha", "beta")]
    rows += [{"text": "beta beta", "label": "alpha"}] * 3
    data, config = tmp_path / "data" / "own.jsonl", tmp_path / "own.yaml"
    data.parent.mkdir()
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config.write_text(
        "name: own\ncorpus: {name: files, path: data/own.jsonl}\ntext: {stoplist: none}\n"
        "protocol: {name: k-fold, k: 3}\nmethods: [mnb]\n"
    )
    done = run_and_write(load_checked(config), RunContext(store), folder=tmp_path / "run")
    parts = [part for part in explain_cell(done.folder, "mnb", RunContext(store)) if "wrong" in part.title]
    told, document = [dict(part.rows) for part in parts], parts[0].title.partition(" (one of")[0]
    assert told
    assert {each["text"] for each in told} == {"beta beta"}
    data.write_text(data.read_text().replace("number 3", "number three"))
    found = explain_cell(done.folder, "mnb", RunContext(store))
    assert [next(found).title for _ in range(2)] == ["mnb", "Confusions"]  # told without the documents
    assert re.search("aren't in the folder: .*changed since the run", next(found).empty)
    with pytest.raises(DataError, match="changed since the run"):
        list(explain_cell(done.folder, "mnb", RunContext(store), document=document))


def test_a_text_is_what_the_lexer_reads_without_blank_lines_and_cut() -> None:
    assert shorten_text(b"one <b>two</b>  x \n\n&amp;  y", Lexing(skip_html=True), 100) == "one two x\n& y"
    assert shorten_text(b"Head: a\n\nbody", Lexing(skip_header=True), 100) == "body"
    assert shorten_text(b"Head: a\n\n\nbody", Lexing(), 9) == "Head: a\nb …"
