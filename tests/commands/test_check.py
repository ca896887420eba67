"""A number may move by what its ties and rounding can, and no further, in either direction."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from benchmark.analysis.document_predictions import document_predictions
from benchmark.analysis.summary import HEADLINE_FOLD, summary_table
from benchmark.commands.check import PINNED, deviations, label_deviations, pin, pin_predictions, pinned_configs
from benchmark.evaluation.intervals import wilson
from benchmark.evaluation.public_test_sets import TEST_SETS, PublicTestSet, encode_labels, read_labels
from benchmark.papers.load import load_published
from benchmark.papers.published import PUBLISHED_FOLDER
from benchmark.system.errors import BenchError

if TYPE_CHECKING:
    from benchmark.experiment.run import RunResult

CELL, OTHER = "tf-l1-ngd", "tf-l1-linear"
#: Documents, right ones and ties of each fold.
FOLDS = {"cornell": (200, 180, 4), "texas": (100, 70, 0), "wisconsin": (400, 300, 2)}
#: What the mean over the folds may move by.
SHARE = (4 / 200 + 0 / 100 + 2 / 400) / 3


def made(
    finished: RunResult, moved: Any = None, cells: Any = (CELL, OTHER), verdict: str = "equal", folds: Any = FOLDS
) -> RunResult:
    """Return a run of made scores and verdicts; `moved` adds to the number of right documents by (cell, fold)."""
    rows = list[Any]()
    for cell in cells:
        shares = {fold: (right + (moved or {}).get((cell, fold), 0)) / n for fold, (n, right, _) in folds.items()}
        for fold, value in shares.items():
            rows.append((cell, fold, "accuracy", value, 0.0, 1.0, folds[fold][0], folds[fold][2]))
        headline = sum(shares.values()) / len(shares) + (moved or {}).get((cell, HEADLINE_FOLD), 0.0)
        rows += [(cell, HEADLINE_FOLD, name, headline, 0.0, 1.0, 700, 6) for name in ("accuracy", "macro-f1")]
    ours = ("90.0", "percent", 90.0, 89.0, 91.0, "100 documents", None, None, 0.0, 1.0, verdict, "same", "")
    verdicts = [(CELL, "accuracy", "result", reading, *ours) for reading in ("", "another")]
    frames = {"scores": summary_table("scores", rows), "verdicts": summary_table("verdicts", verdicts)}
    return replace(finished, summary=replace(finished.summary, **frames))


@pytest.fixture
def folder(finished: RunResult, tmp_path: Path) -> Path:
    pin(made(finished).summary, tmp_path)
    return tmp_path


#: Changes of a run; the cells and folds, or metrics, that deviate from what is pinned.
CHANGES: list[tuple[dict[str, Any], set[tuple[str, str]]]] = [
    ({}, set()),
    *(
        ({"moved": moved}, found)
        for sign in (1, -1)
        for moved, found in (
            ({(CELL, "texas"): sign * 4e-10}, set()),
            ({(CELL, "cornell"): 4 * sign, (CELL, "wisconsin"): 2 * sign}, set()),
            # The mean over the folds moved by 5/600, its ties allow 5/600: that is the bound itself.
            ({(CELL, "cornell"): 5 * sign}, {(CELL, "cornell")}),
            ({(OTHER, "texas"): sign}, {(OTHER, "texas")}),
            ({(CELL, HEADLINE_FOLD): sign * (SHARE + 1e-12)}, set()),
            ({(CELL, HEADLINE_FOLD): sign * (SHARE + 1e-9)}, {(CELL, HEADLINE_FOLD)}),
        )
    ),
    ({"folds": FOLDS | {"texas": (100, 71, 50)}}, {(CELL, "texas"), (OTHER, "texas")}),  # new ties allow nothing
    ({"folds": FOLDS | {"texas": (10, 7, 0)}}, {(CELL, "texas"), (OTHER, "texas")}),  # other documents, same score
    ({"cells": [CELL]}, {(OTHER, fold) for fold in (*FOLDS, HEADLINE_FOLD)}),
    ({"cells": [CELL, OTHER, "new"]}, {("new", fold) for fold in (*FOLDS, HEADLINE_FOLD)}),
    ({"verdict": "consistent"}, {(CELL, "accuracy"), (CELL, "accuracy, another reading")}),
]


@pytest.mark.parametrize(("changes", "found"), CHANGES)
def test_what_deviates_is_named(finished: RunResult, folder: Path, changes: Any, found: set[tuple[str, str]]) -> None:
    table = deviations(made(finished, **changes), folder)
    assert {(cell, fold) for cell, fold, *_ in table.rows} == found
    if changes.get("moved") == {(CELL, "cornell"): 5}:
        assert table.rows == ((CELL, "cornell", "0.900000", "0.925000", "0.020000"),)
    if "cells" in changes:
        assert all("missing" in row for row in table.rows)


@pytest.mark.parametrize("name", ["small.csv", "small-verdicts.csv"])
def test_a_gap_does_not_hold_and_a_missing_or_damaged_file_is_named(
    finished: RunResult, folder: Path, name: str
) -> None:
    path = folder / "small.csv"
    path.write_text(path.read_text().replace(f"{CELL},cornell,accuracy,0.9,", f"{CELL},cornell,accuracy,,"))
    assert [row[:2] for row in deviations(made(finished), folder).rows] == [(CELL, "cornell")]
    for damage in (lambda path: path.write_text(""), lambda path: path.write_text("cell\na\n"), Path.unlink):
        damage(folder / name)
        with pytest.raises(BenchError, match=f"{name}: can't be read"):
            deviations(made(finished), folder)
    names = sorted(path.name for path in PINNED.glob("*.csv") if "-verdicts" not in path.name)
    assert [f"{name}.csv" for name in pinned_configs()] == names


def test_what_the_page_beside_published_scores_says_is_in_the_files() -> None:
    text = (Path(__file__).parents[2] / "docs" / "published.md").read_text(encoding="utf-8")
    census = load_published(PUBLISHED_FOLDER / "reference-values.yaml").census
    counts = Counter(entry.metric for entry in census)
    n, macro, micro = (counts[metric] for metric in ("accuracy", "macro-f1", "micro-f1"))
    words = " ".join(text.split())
    assert f"{n} papers give an accuracy, {macro} a macro-averaged and {micro} a micro-averaged F1" in words
    ngd = next(entry for entry in census if "Negative Geodesic" in entry.method)
    above = sum(float(entry.value) > float(ngd.value) for entry in census if entry.metric == "accuracy")
    assert f"at rank {above + 1} with {ngd.value}%" in text
    scores = pd.read_csv(PINNED / "simplex-20ng.csv").query("fold == 'all'").set_index("cell")["value"]
    for method in ("simplex", "plain"):
        right = round(scores[f"{method}-temporal-holdout"] * 7531)
        low, high = wilson(right, 7531)
        assert f"{100 * right / 7531:.2f}% [{100 * low:.2f}, {100 * high:.2f}]" in text


@pytest.fixture
def shipped(finished: RunResult, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Folder with the labels of a run on a public test set, here the small one."""
    monkeypatch.setitem(TEST_SETS, "small", PublicTestSet("small", "Small", ("small",), "pages", "Train."))
    assert pin_predictions(finished.results, "1.0", tmp_path) == tmp_path / "small.parquet"
    return tmp_path


def test_labels_of_a_run_are_those_that_it_wrote_and_a_changed_one_is_named(finished: RunResult, shipped: Path) -> None:
    run, labels = finished.results, read_labels("small", shipped)
    cell = run.experiment.cells[0]
    assert not list(label_deviations(run, shipped))
    assert tuple(labels.columns[3:]) == run.experiment.ids
    expected = finished.summary.scores.query("cell == @cell.id and metric == 'accuracy' and fold != 'all'")
    right = (labels[cell.id] == labels["label"]).groupby(labels["group"], sort=False).mean()
    assert right.tolist() == pytest.approx(expected["value"].tolist())

    tied = {each.document for each in document_predictions(run, cell) if each.tied}
    changed = labels.copy()
    rows = changed.index[~changed["id"].isin(tied)][:3]
    changed.loc[rows, cell.id] = ["student" if label != "student" else "course" for label in changed.loc[rows, cell.id]]
    for frame, otherwise in ((changed, 3), (labels.drop(columns=cell.id), len(labels) - len(tied))):
        (shipped / "small.parquet").write_bytes(encode_labels(frame, labels.attrs["classes"], "0", "1.0"))
        found = (cell.id, "labels", f"{len(labels):,} documents", f"{otherwise:,} otherwise")
        assert [row[:4] for row in label_deviations(run, shipped)] == [found]
