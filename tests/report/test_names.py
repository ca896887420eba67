"""A cell has one name, its id, in every table and picture of a run."""

from __future__ import annotations

import csv
import html
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.shapes import ShapedRun


def column(path: Path, name: str) -> list[str]:
    """Return the values of a column, each once."""
    with path.open(encoding="utf-8") as file:
        return list(dict.fromkeys(row[name] for row in csv.DictReader(file) if row[name]))


@pytest.mark.parametrize("shape", ["table", "curves"])
def test_tables_name_cells_by_their_ids(shaped: Callable[[str], ShapedRun], shape: str) -> None:
    run = shaped(shape).folder
    ids = column(run / "scores.csv", "cell")
    if (run / "table.csv").exists():
        assert column(run / "table.csv", "cell") == ids
    assert {*column(run / "significance.csv", "a"), *column(run / "significance.csv", "b")} <= set(ids)
    page = (run / "report.html").read_text(encoding="utf-8")
    of_curves = page.partition(">Scores of every method<")[2].partition("</section>")[0]
    named = re.findall(r"<th scope=row[^>]*>(.*?)</th>", of_curves, re.DOTALL)
    named += re.findall(r'<tr id="cell\d+">\s*<th scope="row"><details><summary>(.*?)</summary>', page)
    assert sorted(html.unescape(name) for name in named) == sorted(ids)
