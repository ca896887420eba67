"""Coverage of the papers: what it names is there, and every table, figure and claim is among its parts."""

from __future__ import annotations

import fnmatch
import re
from functools import cache
from pathlib import Path

import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.papers.load import load_published
from benchmark.papers.published import PUBLISHED_FOLDER
from tests.papers.test_rules import CLAIM, paper

TOP = Path(__file__).parents[2]
PAPERS = ["zhang2005", "lafferty2002", "takamura2004", "chen2018", "tang2016"]


@cache
def names_of(config: str) -> frozenset[str]:
    """Names of the cells, figures and diagnostics of a configuration."""
    found = load_checked(TOP / "configs" / f"{config}.yaml")
    return frozenset({*found.ids, *(each.name for each in (*found.figures, *found.diagnostics))})


@pytest.mark.parametrize("key", PAPERS)
def test_what_runs_a_part_is_there(key: str) -> None:
    published = load_published(PUBLISHED_FOLDER / f"{key}.yaml")
    wrong = [
        (part.part, config, pattern)
        for part in published.coverage
        for config, patterns in part.configs.items()
        for pattern in (patterns or ("*",))
        if not fnmatch.filter(names_of(config), pattern)
    ]
    wrong += [(part.part, "", file) for part in published.coverage for file in part.tests if not (TOP / file).is_file()]
    assert not wrong


@pytest.mark.parametrize("key", PAPERS)
def test_every_table_figure_and_claim_is_listed(key: str) -> None:
    published = load_published(PUBLISHED_FOLDER / f"{key}.yaml")
    parts = " ".join(each.part for each in published.coverage).replace("Table I", "Table 1")
    printed = {f"Table {value.table}" for value in published.values if value.table}
    assert all(name in parts for name in printed | {f"Figure {each.figure}" for each in published.ranges})
    listed = {name for part in published.coverage for name in part.claims}
    assert {each.id for each in published.claims if not each.aside} <= listed


@pytest.mark.parametrize(
    ("part", "said"),
    [({}, "reason why there are none"), ({"claims": ["d"]}, "unknown claim 'd'")],
)
def test_a_part_has_what_runs_it_or_a_reason(part: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        paper(claims=[CLAIM], coverage=[{"part": "Table 1", "says": "scores", **part}])
