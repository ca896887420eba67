"""What a run says of itself: failures of diagnostics, and near-duplicates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from tests.builders import Notebook, small_experiment

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.experiment.store import Store


def test_a_diagnostic_that_fails_is_named_with_its_reason_and_costs_no_method(store: Store) -> None:
    seen = Notebook()
    done = run_experiment(small_experiment(methods=["eef"], diagnostics=["coordinates"]), RunContext(store, seen))
    reason = "a figure shows points with 2 or 3 coordinates, not counts of terms"
    assert (done.failures, list(done.scored.chosen)) == ({"coordinates": reason}, ["eef"])
    assert f"coordinates failed: {reason}" in seen.notes


CONFIG = """\
name: small
corpus: {{name: files, path: small.csv, id: id, split: part}}
text: {text}
protocol: {{name: fixed-split, train: train, test: test}}
methods: [mnb]
"""
#: Ten documents to train on, ten to test on, all with words of their own.
TEXTS = [" ".join(f"{letter}{other}{letter}" for other in "abcdefghij") for letter in "klmnopqrstuvwxyzabcd"]


def test_near_duplicates_are_of_the_runs_own_documents_and_words(store: Store, tmp_path: Path) -> None:
    def duplicates(texts: list[str], text: str = "{stoplist: none}") -> list[Any]:
        rows = [f"d{n},{each},{'xy'[n % 2]},{'train' if n < 10 else 'test'}" for n, each in enumerate(texts)]
        (tmp_path / "small.csv").write_text("\n".join(["id,text,label,part", *rows]) + "\n")
        (tmp_path / "small.yaml").write_text(CONFIG.format(text=text))
        run = run_experiment(load_checked(tmp_path / "small.yaml"), RunContext(store))
        (counted,) = run.facts["base"]["near_duplicates"]
        return [counted[key] for key in ("near", "such_as")]

    assert duplicates(TEXTS) == [0, []]
    assert duplicates([*TEXTS[:12], TEXTS[3], *TEXTS[13:]]) == [1, [["d12", "d3"]]]
    assert duplicates([*TEXTS[:10], *TEXTS[:4], *TEXTS[14:]]) == [4, [["d10", "d0"]]]
    alike = [f"{each} common words of all documents{n}" for n, each in enumerate(TEXTS)]
    assert duplicates(alike)[0] == 0
    assert duplicates(alike, "{stoplist: none, min_documents: 5}")[0] == 10, "of the words that are left"
