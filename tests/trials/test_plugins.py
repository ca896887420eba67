"""Plug-ins that are changed between two runs, each in a process of its own: never the number of before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.plugins.ways import WAYS, Way, change, composed, write_number, written
from tests.trials.limits import chance, numbers, some, trial
from tests.trials.processes import bench

if TYPE_CHECKING:
    from pathlib import Path

NAMES = sorted(WAYS)
chance("plugins", 0).shuffle(NAMES)


@pytest.mark.parametrize("name", some(NAMES, 1))
@trial(120)
def test_an_old_store_gives_what_a_new_one_does(name: str, tmp_path: Path) -> None:
    check(name, WAYS[name], tmp_path)


@pytest.mark.parametrize("number", numbers(60, 1))
@trial(120)
def test_statements_inside_statements_are_seen_too(number: int, tmp_path: Path) -> None:
    check("composed", composed(chance("composed", number)), tmp_path)


def check(name: str, way: Way, tmp_path: Path) -> None:
    """Run a plug-in, change what it reads or is, and fail unless the store's scores are those of a new store."""
    folder, words, variables = tmp_path / "folder", ["--jobs", "1"], {"MY_SHIFT": "0"}
    config, place, kind = written(way, folder), folder, name.partition(",")[0]
    if name == "composed":
        write_number(folder, 0)

    def scores(out: str, store: str) -> str:
        own = {**variables, "BENCH_CACHE": str(tmp_path / store), "PYTHONDONTWRITEBYTECODE": ""}
        done = bench("run", config, "--out", tmp_path / out, *words, folder=place, **own)
        assert not done.code, done.error
        return (tmp_path / out / "scores.csv").read_text()

    first = scores("first", "store")
    if kind in ("command line", "words of the command line"):
        words.append("--verbose")
    elif kind == "folder":
        place = folder.with_name("folder-b")
    elif "environment" in kind or kind == "getenv":
        variables["MY_SHIFT"] = "1"
    else:
        change(name, way, folder)
    old, new = scores("old", "store"), scores("new", "another store")
    assert old == new, way.head
    assert name != "composed" or new != first, "the change changes nothing"
