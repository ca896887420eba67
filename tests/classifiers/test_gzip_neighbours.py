"""Nearest neighbours by compression: distances by hand, ties, and limits."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest

import benchmark as sb
from benchmark.classifiers.gzip_neighbours import GzipNeighbours

TEXTS = [
    "wheat corn harvest tonnes export of grain wheat corn harvest",
    "oil",
    "grain and wheat prices rose on the export market of the harvest, traders said, as corn fell",
    "crude oil barrels opec output crude oil barrels opec output crude oil barrels",
    "the central bank cut its interest rate",
    "opec ministers meet on crude output",
]
LABELS = np.array([7, 3, 7, 3, 5, 3])
ASKED = ["corn and wheat harvest", "crude oil of opec", "bank rate", "", "oil oil oil oil oil oil oil oil oil"]


def distance(x: str, y: str) -> float:
    def size(text: str) -> int:
        return len(gzip.compress(text.encode()))

    both = size(x), size(y)
    return (size(f"{x} {y}") - min(both)) / max(both)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_it_is_the_class_of_most_of_the_nearest_and_of_equals_the_nearest(k: int) -> None:
    found = GzipNeighbours(k=k).fit(TEXTS, LABELS).predict(ASKED)
    for text, label in zip(ASKED, found.tolist(), strict=True):
        near = sorted(range(len(TEXTS)), key=lambda i: distance(text, TEXTS[i]))[:k]
        votes = [int(LABELS[i]) for i in near]
        assert label == max(dict.fromkeys(votes), key=votes.count)
    assert found.shape == (5,)
    assert found.dtype.kind == "i"


def votes_of(text: str) -> list[int]:
    return [LABELS[row] for row in np.argsort([distance(text, other) for other in TEXTS], kind="stable")[:2]]


def test_printed_ties_go_to_the_first_of_a_set() -> None:
    """A set of small numbers lists them in ascending order."""
    nearest, printed = (GzipNeighbours(2, ties).fit(TEXTS, LABELS) for ties in ("nearest", "printed"))
    split = [text for text in (*ASKED, *TEXTS) if len(set(votes_of(text))) == 2]
    assert split
    assert printed.predict(split).tolist() == [min(votes_of(text)) for text in split]
    assert nearest.predict(split).tolist() == [votes_of(text)[0] for text in split]
    assert (printed.predict(split) != nearest.predict(split)).any()


def test_equal_numbers_of_neighbours_are_counted_as_ties_of_a_run() -> None:
    words = ["wheat corn harvest", "crude oil opec", "bank interest rate"]
    texts = [f"{words[n % 3]} {words[n * n % 3]} {'x' * (n % 5)} {n}" for n in range(36)]
    labels = [n % 2 for n in range(36)]
    frame = pd.DataFrame({"text": texts, "label": [f"c{n}" for n in labels], "id": [f"d{n}" for n in range(36)]})
    gzip_of = {"name": "benchmark.classifiers.gzip_neighbours.GzipNeighbours"}
    found = sb.run(corpus=frame, protocol={"name": "k-fold", "k": 3}, methods=[{"name": "gz", "pipeline": gzip_of}])
    rows = found.predictions("gz")
    split = []
    for fold, own in rows.groupby("split", observed=True):
        tested = frame["id"].isin(own["document"].astype(str))
        model = GzipNeighbours().fit(frame["text"][~tested].tolist(), np.array(labels)[~tested.to_numpy()])
        votes = model.decision_function(frame["text"][tested].tolist())
        assert votes.sum(axis=1).tolist() == [2] * len(own), fold
        split += frame["id"][tested][votes.max(axis=1) == 1].tolist()
    assert sorted(rows["document"][rows["tied"]].astype(str)) == sorted(split)
    assert split
