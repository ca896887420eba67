"""What is written for a user beside runs can be listed and removed, and nothing else goes with it."""

from __future__ import annotations

import numpy as np
import platformdirs
import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.experiment import leftovers
from benchmark.experiment.leftovers import place_size, remove_places, user_places
from benchmark.experiment.store import Store, StoreEntry, store_key


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A user's folders and a package with compiled code, all with something in them."""
    for name in ("CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    monkeypatch.setattr(leftovers, "_PACKAGE", tmp_path / "benchmark")
    compiled = tmp_path / "benchmark" / "kernels" / "__pycache__" / "loops.nbi"
    downloads = platformdirs.user_cache_path("simplexbench") / "datasets" / "webkb.tar"
    trusted = platformdirs.user_config_path("simplexbench") / "trusted"
    files = [compiled, downloads, trusted, tmp_path / "benchmark" / "kernels" / "base.py"]
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("12345")
    store = Store(tmp_path / "store")
    store.put(store_key(n=1), StoreEntry({"numbers": np.arange(3)}, {}))
    return store, files


def test_all_of_it_is_listed_and_removed(written, tmp_path):
    store, files = written
    places = user_places(store)
    assert list(places) == ["results", "downloads and digests", "trusted code", "compiled code"]
    assert place_size(places["trusted code"][0]) == 5
    assert remove_places(store, places) == []
    assert [path for path in files if path.exists()] == files[3:], "code stays"
    assert not store.folder.exists()
    assert not user_places(store)


def test_a_folder_of_the_store_with_other_files_stays(written):
    store, _ = written
    (store.folder / "thesis.tex").write_text("mine")
    assert remove_places(store, user_places(store)) == [store.folder]
    assert [path.name for path in store.folder.iterdir()] == ["thesis.tex"]


def test_the_command_lists_asks_and_removes(written, monkeypatch):
    store, files = written
    monkeypatch.setenv("BENCH_CACHE", str(store.folder))
    asked = CliRunner().invoke(app, ["cache", "clear", "--all"])
    assert asked.exit_code == 2
    assert "compiled code: " in asked.stdout
    assert files[0].exists(), "not a terminal: nothing is removed without --yes"
    assert CliRunner().invoke(app, ["cache", "clear", "--all", "--yes"]).stdout.endswith("\nremoved\n")
    assert CliRunner().invoke(app, ["cache", "clear", "--all", "--yes"]).stdout == "nothing is left\n"
    assert not files[0].exists()
