"""Near-duplicates of a run: those of its own documents and words, also from a store that has those of others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.evaluation.splits import Split
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.near_duplicates import find_near_duplicates
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from tests.toy_data import toy_problem

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = """\
name: {name}
corpus: {{name: files, path: {name}.csv, id: id, split: part}}
text: {text}
protocol: {{name: fixed-split, train: train, test: test}}
methods: [mnb]
"""
#: Ten documents to train on, ten to test on, all with words of their own.
OWN = [" ".join(f"{letter}{other}{letter}" for other in "abcdefghij") for letter in "klmnopqrstuvwxyzabcd"]


def found(folder: Path, store: str, name: str, texts: list[str], text: str = "{stoplist: none}") -> dict[str, Any]:
    """Count the near-duplicates of documents of which the first half are trained on."""
    rows = [f"d{n},{each},{'xy'[n % 2]},{'train' if n < len(texts) // 2 else 'test'}" for n, each in enumerate(texts)]
    (folder / f"{name}.csv").write_text("\n".join(["id,text,label,part", *rows]) + "\n")
    (folder / f"{name}.yaml").write_text(CONFIG.format(name=name, text=text))
    run = run_experiment(load_checked(folder / f"{name}.yaml"), RunContext(Store(folder / store)))
    (counted,) = run.facts["base"]["near_duplicates"]
    return {key: counted[key] for key in ("tested", "near", "same", "such_as")}


def test_they_are_of_the_runs_own_documents(tmp_path: Path) -> None:
    assert found(tmp_path, "store", "one", OWN) == {"tested": 10, "near": 0, "same": 0, "such_as": []}
    repeated = [*OWN[:12], OWN[3], *OWN[13:]]
    expected = {"tested": 10, "near": 1, "same": 1, "such_as": [["d12", "d3", 1.0]]}
    assert found(tmp_path, "store", "other", repeated) == expected


def test_other_words_of_the_same_documents_may_have_others(tmp_path: Path) -> None:
    """Without the words that are in one document alone, two documents have the same words."""
    texts = [f"{each} common words of all documents{n}" for n, each in enumerate(OWN)]
    assert found(tmp_path, "store", "one", texts)["near"] == 0
    pruned = found(tmp_path, "store", "one", texts, "{stoplist: none, min_documents: 5}")
    assert (pruned["near"], pruned["same"]) == (10, 10)


def test_three_examples_stand_for_all(tmp_path: Path) -> None:
    counted = found(tmp_path, "store", "one", [*OWN[:10], *OWN[:4], *OWN[14:]])
    assert (counted["tested"], counted["near"], counted["same"]) == (10, 4, 4)
    assert counted["such_as"] == [["d10", "d0", 1.0], ["d11", "d1", 1.0], ["d12", "d2", 1.0]]


def test_up_to_twenty_splits_are_searched(tmp_path: Path) -> None:
    problem = toy_problem(multilabel=False)
    rows = np.arange(60)
    for n, searched in ((1, 1), (20, 20), (21, 0)):
        splits = tuple(Split(f"s{i}", rows[rows != i], rows[i : i + 1]) for i in range(n))
        work: Any = SimpleNamespace(splits={10: splits[:1], None: splits[1:]}, problem=problem)
        counted, _ = find_near_duplicates(work, Store(tmp_path / "store"))
        assert [each["split"] for each in counted] == [split.name for split in splits][:searched]
