"""A cell has one name, its id, in every table, picture and sentence of a run."""

from __future__ import annotations

import csv
import html
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from benchmark.cli import app

SHIPPED = Path(__file__).parents[2] / "configs"

#: Experiments on the generated corpus: cells beside published values and claims, and points of curves.
CONFIGS: dict[str, dict[str, Any]] = {
    "webkb": {"corpus": {"name": "synthetic"}, "expect": None},
    "curves": {
        "name": "curves",
        "title": "Terms of each class",
        "corpus": {"name": "synthetic"},
        "tasks": [{"title": "two", "largest": 2}, {"title": "three", "largest": 3}],
        "protocol": {"name": "leave-one-group-out", "held_out": ["cornell"]},
        "terms": {"number": [20, 200], "rank": "information-gain", "aggregate": "sum"},
        "variants": {"average": {"terms": {"aggregate": "average"}}},
        "defaults": {"weighting": "tf", "normalization": "none", "smoothing": 1},
        "methods": ["mnb", "ppt", "eef", "svm"],
        "metrics": ["accuracy"],
        "compare": [["eef", "ppt"], ["eef", "svm"]],
    },
}


@pytest.fixture(scope="module", params=CONFIGS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of one configuration, whose pictures are the data that they are drawn from."""
    top: Path = tmp_path_factory.mktemp(request.param)
    shipped = SHIPPED / f"{request.param}.yaml"
    base = yaml.safe_load(shipped.read_text(encoding="utf-8")) if shipped.exists() else {}
    config = {key: value for key, value in (base | CONFIGS[request.param]).items() if value is not None}
    (top / "made.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    done = CliRunner().invoke(app, ["run", str(top / "made.yaml"), "--out", str(top / "run"), "--quiet"])
    assert done.exit_code == 0, done.output
    return top / "run"


def ids_of(run: Path) -> list[str]:
    rows = list(csv.DictReader((run / "scores.csv").open(encoding="utf-8")))
    return list(dict.fromkeys(row["cell"] for row in rows))


def column(rows: list[dict[str, str]], name: str) -> list[str]:
    return [row[name] for row in rows if row.get(name)]


def test_tables_name_cells_by_their_ids(run: Path) -> None:
    ids = ids_of(run)
    if (run / "table.csv").exists():
        assert column(list(csv.DictReader((run / "table.csv").open(encoding="utf-8"))), "cell") == ids
    pairs = list(csv.DictReader((run / "significance.csv").open(encoding="utf-8")))
    assert {*column(pairs, "a"), *column(pairs, "b")} <= set(ids)
    page = (run / "report.html").read_text(encoding="utf-8")
    of_curves = page.partition(">Scores of every method<")[2].partition("</section>")[0]
    named = re.findall(r"<th scope=row[^>]*>(.*?)</th>", of_curves, re.DOTALL)
    named += re.findall(r'<tr id="cell\d+">\s*<th scope="row"><details><summary>(.*?)</summary>', page)
    assert sorted(html.unescape(name) for name in named) == sorted(ids)
