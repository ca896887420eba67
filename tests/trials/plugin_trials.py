"""Plug-ins that are changed between two runs, each in a process of its own: never the number of before."""

from __future__ import annotations

import tempfile
from pathlib import Path

from processes import bench
from trial import Family, borrowed, chance


def changed(number: int) -> str | None:
    """Run a plug-in, change what it computes, and run it with the same store and with a new one."""
    ways = borrowed("plugins/ways")
    names = sorted(ways["WAYS"])
    chance("plugins", number // len(names)).shuffle(names)
    name = names[number % len(names)]
    way, top = ways["WAYS"][name], Path(tempfile.mkdtemp())
    folder, words, variables = top / "folder", ["--jobs", "1"], {"MY_SHIFT": "0"}
    config = ways["written"](way, folder)

    def scores(out: str, store: str) -> str:
        own = {**variables, "BENCH_CACHE": str(top / store), "PYTHONDONTWRITEBYTECODE": ""}
        done = bench("run", config, "--out", top / out, *words, folder=place, variables=own)
        return (top / out / "scores.csv").read_text() if not done.code else f"exit code {done.code}: {done.error}"

    place, kind = folder, name.partition(",")[0]
    first = scores("first", "store")
    if kind in ("command line", "words of the command line"):
        words.append("--verbose")
    elif kind == "folder":
        place = folder.with_name("folder-b")
    elif "environment" in kind or kind == "getenv":
        variables["MY_SHIFT"] = "1"
    else:
        ways["change"](name, way, folder)
    with_old, with_new = scores("old", "store"), scores("new", "another store")
    for each in (first, with_old, with_new):
        if each.startswith("exit code"):
            return f"{name}: {each}"
    if with_old != with_new:
        return f"{name}: the scores are those of before" if with_old == first else f"{name}: the scores are others"
    return None


FAMILIES = (Family("plugins", "plug-ins that are changed between two runs", changed, full=108, slice=4, limit=60),)
