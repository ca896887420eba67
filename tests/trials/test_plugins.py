"""Plug-ins that are changed between two runs, each in a process of its own: never the number of before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.plugins.ways import WAYS, change, written
from tests.trials.limits import chance, some, trial
from tests.trials.processes import bench

if TYPE_CHECKING:
    from pathlib import Path

NAMES = sorted(WAYS)
chance("plugins", 0).shuffle(NAMES)


@pytest.mark.parametrize("name", some(NAMES, 2))
@trial(120)
def test_an_old_store_gives_what_a_new_one_does(name: str, tmp_path: Path) -> None:
    way, folder, words, variables = WAYS[name], tmp_path / "folder", ["--jobs", "1"], {"MY_SHIFT": "0"}
    config, place, kind = written(way, folder), folder, name.partition(",")[0]

    def scores(out: str, store: str) -> str:
        own = {**variables, "BENCH_CACHE": str(tmp_path / store), "PYTHONDONTWRITEBYTECODE": ""}
        done = bench("run", config, "--out", tmp_path / out, *words, folder=place, **own)
        assert not done.code, done.error
        return (tmp_path / out / "scores.csv").read_text()

    scores("first", "store")
    if kind in ("command line", "words of the command line"):
        words.append("--verbose")
    elif kind == "folder":
        place = folder.with_name("folder-b")
    elif "environment" in kind or kind == "getenv":
        variables["MY_SHIFT"] = "1"
    else:
        change(name, way, folder)
    assert scores("old", "store") == scores("new", "another store")
