"""A store that several users share takes the permissions of its folder, whatever their umask."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from benchmark.experiment.store import Store, StoreEntry, store_key

ENTRY = StoreEntry({"numbers": np.arange(3)}, {})
KEYS = [store_key(n=n) for n in range(4)]
GROUP = 4000


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def user(number):
    """Another user of the group, with what root may do taken away."""
    os.setegid(GROUP)
    os.seteuid(number)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def modes(folder):
    return {
        kind: {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_dir() == (kind == "folders")}
        for kind in ("folders", "files")
    }


@pytest.mark.parametrize("mask", [0o022, 0o077])
@pytest.mark.parametrize(
    ("mode", "folders", "files"),
    [(0o2770, {0o2770}, {0o660}), (0o1777, {0o1777}, {0o666}), (0o775, {0o775}, {0o664})],
)
def test_a_shared_folder_gives_its_permissions(tmp_path, mask, mode, folders, files):
    folder = tmp_path / "store"
    folder.mkdir()
    folder.chmod(mode)
    with umask(mask):
        for key in KEYS:
            assert Store(folder).put(key, ENTRY)
    assert modes(folder) == {"folders": folders, "files": files}


@pytest.mark.parametrize(("mask", "files"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_users_own_store_keeps_to_the_umask(tmp_path, mask, files):
    with umask(mask):
        assert Store(tmp_path / "store").put(KEYS[0], ENTRY)
    assert modes(tmp_path / "store")["files"] == {files}


@pytest.fixture
def shared():
    """A folder that other users can reach, which pytest's own isn't."""
    folder = Path(tempfile.mkdtemp(prefix="shared-store-"))
    os.chown(folder, 0, GROUP)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can be two users")
@pytest.mark.parametrize("mode", [0o2770, 0o1777])
def test_two_users_read_and_write_one_store(shared, mode):
    shared.chmod(mode)
    said = []
    for number, key in ((4001, KEYS[0]), (4002, KEYS[1]), (4001, KEYS[2]), (4002, KEYS[0])):
        with umask(0o077), user(number):
            store = Store(shared, warn=said.append)
            assert store.put(key, ENTRY)
            assert all(store.get(each) is not None for each in KEYS if store.has(each))
    assert not said
    assert {path.name for path, _, _ in Store(shared).entries()} == set(KEYS[:3])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can be two users")
def test_a_folder_that_is_not_shared_says_how_to_share_it(shared):
    shared.chmod(0o755)
    os.chown(shared, 4001, GROUP)
    with umask(0o077), user(4001):
        assert Store(shared).put(KEYS[0], ENTRY)
        (shared / KEYS[0][:2]).chmod(0o755)
    said = []
    with user(4002):
        store = Store(shared, warn=said.append)
        assert store.get(KEYS[0]) is None
        assert not store.put(KEYS[1], ENTRY)
    assert [message.partition(":")[0] for message in said] == [
        "stored results of another user can't be read, and are computed again",
        "results are no longer kept",
    ]
    assert all("chmod 2770" in message for message in said)
