"""A store behind an address keeps what one in a folder keeps, and says in a line why it can't."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store, StoreEntry, store_key
from benchmark.system.errors import ConfigError
from tests.builders import small_experiment

if TYPE_CHECKING:
    from pathlib import Path

KEY, OTHER = store_key(what="this"), store_key(what="that")
ALIKE = next(key for n in itertools.count() if (key := store_key(n=n))[:2] == KEY[:2])  # of the same folder
ENTRY = StoreEntry({"numbers": np.arange(12.0).reshape(3, 4), "none": np.empty((0, 3))}, {"n": 3})


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def far(bucket: str, request: pytest.FixtureRequest, notes: list[str]) -> Store:
    return Store(f"{bucket}/{request.node.name}", limit=10**9, warn=notes.append)


def test_what_was_put_is_listed_and_given_back_to_whoever_asks_unless_it_is_damaged(
    far: Store, notes: list[str]
) -> None:
    assert far.get(KEY) is None
    assert far.put(KEY, ENTRY)
    assert not far.has(ALIKE)
    other = Store(far.address, limit=10**9, warn=notes.append)
    system, path = type(far._files), str(far.path(KEY))
    system.clear_instance_cache()  # as of another process
    assert Store(far.address, limit=10**9).put(ALIKE, ENTRY)
    assert far.has(ALIKE)
    found = other.get(KEY)
    assert found is not None
    assert found.facts == ENTRY.facts
    assert all(np.array_equal(found.arrays[name], array) for name, array in ENTRY.arrays.items())
    assert {path.name for path, size, time in far.entries() if size > 96 and time > 1e9} == {KEY, ALIKE}
    assert notes == []
    whole = far._files.cat_file(path)
    for content in (whole[:-1] + b"\x07", whole[:100], b""):
        far._files.pipe_file(path, content)
        assert far.get(KEY) is None
        assert "is damaged" in notes.pop()
        assert not far.has(KEY)
    far.clear()
    assert far.entries() == []


def test_what_is_not_there_keeps_nothing_and_says_so_once(
    bucket: str, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_CACHE", f"{bucket}/named/")
    assert (Store().address, Store().local) == (f"{bucket}/named", False)
    with pytest.raises(ConfigError, match=r"is 's4://x/y': Protocol not known: s4; name a folder, or .* s3://"):
        Store("s4://x/y")
    store = Store("s3://nowhere/store", warn=notes.append)
    assert not store.put(KEY, ENTRY)
    assert not store.put(OTHER, ENTRY)
    (note,) = notes
    assert "s3://nowhere/store" in note
    assert "does not exist" in note
    notes.clear()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    files = type(store._files)
    files.clear_instance_cache()
    assert not Store("s3://bucket/gone", warn=notes.append).has(KEY)
    (note,) = notes
    assert note.startswith("the store s3://bucket/gone can't be read: ")
    assert note.endswith("; the rest is done without it")
    files.clear_instance_cache()


@pytest.mark.usefixtures("sketched")
def test_a_run_gives_the_same_bytes_and_goes_on_without_an_address_that_fails(
    far: Store, notes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It finds its results again; and then an address fails from the first, fourth or tenth request on."""
    experiment = small_experiment()

    def same(store: Store, name: str) -> Any:
        done = run_and_write(experiment, RunContext(store), folder=tmp_path / name)
        for each in ("predictions.parquet", "scores.csv"):
            assert (tmp_path / name / each).read_bytes() == (tmp_path / "near" / each).read_bytes()
        return done

    same(near := Store(tmp_path / "store"), "near")
    same(far, "far")
    assert {path.name for path, _, _ in far.entries()} == {path.name for path, _, _ in near.entries()}
    assert same(Store(far.address), "again").results.stored_cells == tuple(experiment.ids)
    assert notes == []
    for first in (0, 3, 9):
        store, asked = Store(f"memory://failing-{first}", warn=notes.append), itertools.count()

        def failing(method: Any, *given: Any, first: int = first, asked: Any = asked, **how: Any) -> Any:
            if next(asked) >= first:
                raise TimeoutError("no answer")
            return method(*given, **how)

        with monkeypatch.context() as patch:
            for name in ("info", "open", "pipe_file", "find"):
                patch.setattr(store._files, name, partial(failing, getattr(store._files, name)))
            assert not same(store, f"failing-{first}").results.failures
        assert "no answer" in (note := notes.pop())
        assert "done without it" in note or "no longer kept" in note
        assert notes == []
