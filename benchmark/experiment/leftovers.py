"""What this package writes for a user beside runs: places that outlast it when it is uninstalled."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from benchmark.experiment.store import Store

_PACKAGE = Path(__file__).parents[1]
#: numba's files of compiled code, which no installer knows.
_COMPILED = ("*.nbi", "*.nbc")


def user_places(store: Store) -> dict[str, list[Path]]:
    """Return the files and folders that are there, by what they have: the store, the user's folders, compiled code.

    An address of a store isn't among them.
    """
    places = {
        "results": [Path(store.folder)] if store.local else [],
        "downloads and digests": [platformdirs.user_cache_path("simplexbench")],
        "trusted code": [platformdirs.user_config_path("simplexbench")],
        "compiled code": sorted(path for pattern in _COMPILED for path in _PACKAGE.rglob(pattern)),
    }
    there = {what: [path for path in paths if path.exists()] for what, paths in places.items()}
    return {what: paths for what, paths in there.items() if paths}


def place_size(path: Path) -> int:
    """Return the bytes of a file, or of all files below a folder."""
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.stat().st_size for each in files)


def remove_places(store: Store, places: dict[str, list[Path]]) -> list[Path]:
    """Remove the store's entries and all other places; return what is left, such as other users' entries.

    The folder of the store goes only if nothing else is in it, since $BENCH_CACHE may name any folder.
    """
    if store.local:
        store.clear()
        shutil.rmtree(Path(store.folder) / "parts", ignore_errors=True)
    for what, paths in places.items():
        for path in paths:
            if what == "results":
                _remove_empty(path)
            elif path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
    return [path for paths in places.values() for path in paths if path.exists()]


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return
