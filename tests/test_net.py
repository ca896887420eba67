"""The comparison of runs with stored numbers finds what changed, and no more."""

from __future__ import annotations

import random
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tests import net

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

DOCUMENTS = [f"document {number}" for number in range(6)]


def write_run(folder: Path, labels: list[str], value: float = 0.5, seed: int = 0) -> None:
    """Write a run's files, its rows in an order of their own."""
    folder.mkdir(exist_ok=True, parents=True)
    rows = [
        (name, "test", "base", "NA", cell, 0, 10.0, label)
        for cell in "ab"
        for name, label in zip(DOCUMENTS, labels, strict=True)
    ]
    random.Random(seed).shuffle(rows)  # noqa: S311 (an order)
    columns = ["document", "split", "variant", "task", "cell", "candidate", "size", "predicted"]
    pd.DataFrame(rows, columns=columns).to_parquet(folder / "predictions.parquet")
    scores = [(cell, fold, "accuracy", value, None) for cell in ("a-10", "b-10") for fold in ("test", "all")]
    scores.append(("a-10", "all", "seconds", random.Random().random(), None))  # noqa: S311 - another in each run
    pd.DataFrame(scores, columns=["cell", "fold", "metric", "value", "low"]).to_csv(folder / "scores.csv", index=False)
    estimates = [("base", "errors", "a", value / 3), ("base", "errors", None, value / 7)]
    frame = pd.DataFrame(estimates, columns=["variant", "diagnostic", "cell", "value"])
    with zipfile.ZipFile(folder / "records.zip", "w") as archive:
        archive.writestr("estimates.parquet", frame.to_parquet())


def test_equal_numbers_are_equal_and_a_changed_one_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs, file = tmp_path / "runs", tmp_path / "net.json"
    labels = list("xyxyxy")
    write_run(runs / "one", labels)
    write_run(runs / "two", labels)
    assert net.main("write", str(runs), str(file)) == 0

    write_run(runs / "one", labels, seed=1)
    assert net.main("compare", str(runs), str(file)) == 0
    assert capsys.readouterr().out == "one: equal (6)\ntwo: equal (6)\n"

    write_run(runs / "one", [*"xyxyx", "x"])
    assert net.main("compare", str(runs), str(file)) == 1
    assert "one: 2 of 6 differ\n  differs: predictions variant=base task=NA cell=a size=10\n" in capsys.readouterr().out

    write_run(runs / "one", labels, value=0.5 + 1e-11)
    assert net.main("compare", str(runs), str(file)) == 1
    assert "one: 2 of 6 differ\n  differs: scores a-10\n  differs: scores b-10\n" in capsys.readouterr().out

    write_run(runs / "one", labels, value=0.5 + 1e-14)
    (runs / "two" / "predictions.parquet").unlink()
    assert net.main("compare", str(runs), str(file)) == 0
    assert capsys.readouterr().out == "one: equal (6)\ntwo: no finished run here\n"


def test_the_classes_of_a_document_count_in_any_order() -> None:
    values = [np.array(["b", "a"]), np.array(["a"]), np.array([])]
    assert net.texts_of(values, 12) == ["a,b", "a", ""]
